"""The GIL: which graphs need it, because their operations read or change objects that other threads may have."""

from __future__ import annotations

from pijit.core.graph.ir import Graph
from pijit.core.graph.loops import loops_of
from pijit.core.graph.ops import NEEDS_GIL, SHARES_OBJECTS
from pijit.core.graph.verify import dominators


def touches_objects(graph: Graph) -> bool:
    """Whether operations read or change Python objects other than arrays, which other threads may change."""
    return any(op.name in SHARES_OBJECTS for block in graph.blocks for op in block.ops)


def has_fast_loop(graph: Graph) -> bool:
    """Whether there is a loop that need not touch a Python object in each iteration."""
    over = dominators(graph)
    slow = {block for block in graph.blocks if any(op.name in NEEDS_GIL for op in block.ops)}
    return any(not (slow & loop.body).intersection(*(over[block] for block, _ in loop.back))
               for loop in loops_of(graph, over))
