"""How the kernels of a function are made beyond what their graphs say."""

from __future__ import annotations

from typing import Any, NamedTuple

from pijit.core.graph.ir import Graph
from pijit.core.graph.loops import loops_of
from pijit.core.graph.verify import dominators
from pijit.core.kernel.emit.array_ops import ARRAY_OPERATIONS
from pijit.core.kernel.emit.linear_algebra import GUFUNC_OPERATIONS
from pijit.core.kernel.emit.scalars import ROWS
from pijit.core.kernel.llvm.nest.threads import LEAST


class Flavour(NamedTuple):
    """``nogil``: kernels that touch no Python objects run without the GIL. ``least``: from how much work on threads
    share a loop nest; 0: never. ``fast``: floating-point arithmetic may be rearranged, and its flags are not looked
    at."""

    nogil: bool = False
    least: int = 0
    fast: bool = False


PLAIN = Flavour()

FAST = "# fastmath"
"""The first line of a kernel's source whose floating-point arithmetic may be rearranged."""


def flavour_of(config: Any) -> Flavour:
    """What the options of a function say."""
    if config.backend != "numba":
        return PLAIN
    return Flavour(config.nogil, LEAST[config.parallel], config.fastmath)


_AT_ONCE = (frozenset("new_instance changed_instance new_tuple new_list new_dict new_set new_slice bound_method new_cell "
                      "new_function new_object box invoke item".split())
            | GUFUNC_OPERATIONS.keys())
"""Operations that need the GIL no longer than they take: what they make is nobody else's yet."""


_PURE = (frozenset("const cast same flag compare compare_size libm power iterator_part origin require poll where".split())
         | {"gather"}
         | ARRAY_OPERATIONS.keys() | {name for name, _, _ in ROWS})


def touches_objects(graph: Graph) -> bool:
    """Whether operations read or change Python objects other than arrays, which other threads may change."""
    names = {op.name for block in graph.blocks for op in block.ops}
    return not names <= _PURE | _AT_ONCE


def has_fast_loop(graph: Graph) -> bool:
    """Whether there is a loop that need not touch a Python object in each of its rounds."""
    over = dominators(graph)
    slow = {block for block in graph.blocks if any(op.name not in _PURE for op in block.ops)}
    return any(not slow & loop.body & set.intersection(*(over[block] for block, _ in loop.back))
               for loop in loops_of(graph, over))
