"""A/B timing of entries against the original function (the option perf_statistics).

Entries that lose are retired. `function_state` calls this module, which decides which entries are timed and acts on
the result. The clock is in core/native/function/tiering/entry_timing.c.
"""

from __future__ import annotations

import weakref
from typing import Any, Callable, Iterable, Optional

from pijit.core._hook import EntryTiming
from pijit.core.capture.build.segment import Captured
from pijit.core.entries.entry import Entry
from pijit.core.graph.gil import has_fast_loop
from pijit.core.reasons import reason

LIMIT_NS = {"auto": 1000000, True: 0}
"""Limits in nanoseconds, by value of the option: longer calls are not timed. Plain Python may be 1000 times slower."""
WITHOUT_LOOPS = 200
"""Factor of the limit if no loop was compiled: then plain Python is hardly slower than NumPy."""
WITH_OBJECTS = 50
"""Factor of the limit if all loops touch Python objects in each iteration, which costs nearly as much as bytecode."""


def timing_of(entry: Entry, config: Any, on_result: Callable[[Entry, Optional[str]], None]) -> Optional[EntryTiming]:
    """The cache's payload for an entry while it is timed; None if the entry is not to be timed.

    ``on_result`` is called with the entry and the reason why it lost, or None. Neither ``on_result`` nor the entry is
    kept alive.
    """
    if entry.payload is None or not is_measured(config):
        return None
    limit = LIMIT_NS[config.perf_statistics]
    limit *= entry.patience
    weak_entry, weak_on_result = weakref.ref(entry), weakref.WeakMethod(on_result)

    def tell_result(lost: bool, kernels: int, plain: int) -> None:
        alive, tell = weak_entry(), weak_on_result()
        if alive is not None and tell is not None:
            tell(alive, reason("PJ402", compiled=time_text(kernels), bytecode=time_text(plain)) if lost else None)

    return EntryTiming(entry.payload, tell_result, limit)


def patience(config: Any, kept: Iterable[Captured]) -> int:
    """The factor by which calls that are timed may take longer than others, if these segments are compiled."""
    if not is_measured(config):
        return 1
    loops = [captured.graph for captured in kept if captured.has_loop]
    if not loops:
        return WITHOUT_LOOPS
    return 1 if any(map(has_fast_loop, loops)) else WITH_OBJECTS


def is_measured(config: Any) -> bool:
    """Whether code compiled with these options is timed at all."""
    return config.perf_statistics in LIMIT_NS and config.backend == "numba" and config.force_breaks is None


def time_text(ns: int) -> str:
    return "%.2f us" % (ns / 1000) if ns < 1000000 else "%.2f ms" % (ns / 1000000)
