"""How the kernels of a function are made beyond what their graphs say."""

from __future__ import annotations

from typing import Any, NamedTuple

from pijit.core.graph.ir import Graph
from pijit.core.kernel.library_ops import LIBRARY_OPERATIONS
from pijit.core.kernel.object_ops import OBJECT_OPERATIONS


class Flavour(NamedTuple):
    """``nogil``: kernels that touch no Python objects run without the GIL."""

    nogil: bool = False


PLAIN = Flavour()


def flavour_of(config: Any) -> Flavour:
    """What the options of a function say."""
    return Flavour(config.nogil and config.backend == "numba")


_AT_ONCE = frozenset(("new_tuple", "new_list", "new_dict", "new_set", "box", "invoke", "item"))
"""Operations that need the GIL no longer than they take: what they make is nobody else's yet."""


def touches_objects(graph: Graph) -> bool:
    """Whether operations read or change Python objects, other than arrays, that another thread may change meanwhile."""
    names = {op.name for block in graph.blocks for op in block.ops}
    return bool(names & (OBJECT_OPERATIONS.keys() | LIBRARY_OPERATIONS.keys()) - _AT_ONCE)
