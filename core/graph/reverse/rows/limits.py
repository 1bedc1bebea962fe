"""Limits of saved rows: how many bytes of all iterations loops save before they have checkpoints.

Rows in memory are slower than arithmetic on elements, so the limits of loops of such arithmetic follow from the sizes
of the caches. `Forward` and `Checkpoints` call this.
"""

from __future__ import annotations

import functools
from typing import Optional

from pijit.core.graph.ir import Op
from pijit.core.graph.ops import APPLIES_UFUNC, STORES
from pijit.core.graph.passes.fusion import FLOAT_LOOPS
from pijit.core.graph.reverse.regions import LoopRegion, all_ops
from pijit.core.graph.reverse.roots import Roots
from pijit.core.graph.types import Array

KEPT = 256 << 20
"""The most bytes of rows that a loop saves of all iterations. With more, it has checkpoints."""

LAST_CACHE = "/sys/devices/system/cpu/cpu0/cache/index3/size"
SECOND_CACHE = "/sys/devices/system/cpu/cpu0/cache/index2/size"
"""Where Linux tells the sizes of the processor's caches, such as ``32768K``."""


def _cache_size(path: str) -> int:
    """The bytes of a cache; 0 if the system does not tell."""
    try:
        with open(path, encoding="ascii") as file:
            return int(file.read().strip().rstrip("K")) << 10
    except (OSError, ValueError):
        return 0


KEPT_OF_CHEAP: Optional[int] = None
"""The same for loops whose body takes less time than to save rows outside of caches. None: a quarter of the last cache,
because other cores and the program's own arrays use it, too."""


@functools.lru_cache(maxsize=None)
def _kept_in_cache() -> int:
    """A quarter of the processor's last cache, at least 8 MiB."""
    return max(8 << 20, _cache_size(LAST_CACHE) // 4)


@functools.lru_cache(maxsize=None)
def kept_in_second_cache() -> int:
    """The size of a core's second cache, at least 512 KiB."""
    return max(512 << 10, _cache_size(SECOND_CACHE))


def most_kept(loop: LoopRegion, roots: Roots) -> int:
    """The most bytes of rows that a loop saves of all iterations."""
    if not is_cheap(loop, roots):
        return KEPT
    return _kept_in_cache() if KEPT_OF_CHEAP is None else KEPT_OF_CHEAP


def is_cheap(loop: LoopRegion, roots: Roots) -> bool:
    """Whether the body of a loop is arithmetic on elements."""
    return all(_is_cheap(op, roots) for op in all_ops(loop.items))


def _is_cheap(op: Op, roots: Roots) -> bool:
    """Whether an operation is arithmetic on elements, a store, a view, or computes a number."""
    if op.name in APPLIES_UFUNC:
        return op.attrs["ufunc"] in FLOAT_LOOPS
    return op.name in STORES or op.result in roots.view or not isinstance(getattr(op.result, "type", None), Array)
