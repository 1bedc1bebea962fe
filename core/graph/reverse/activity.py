"""Activity analysis: the values of a graph that depend on an active input and reach its result.

Values are *varied* if they depend on an active input, and *useful* if the result depends on them. Only values that are
both carry adjoints.
"""

from __future__ import annotations

from typing import Collection, List, Set

from pijit.core.graph.ir import Graph, Jump, Leave, Op, Value
from pijit.core.graph.types import Array, Scalar


def straight_line(graph: Graph) -> List[Op]:
    """The operations of a graph in order; [] if its blocks do not follow each other."""
    ops: List[Op] = []
    for block, following in zip(graph.blocks, graph.blocks[1:] + [None]):
        ops += block.ops
        end = block.terminator
        if isinstance(end, Leave) and following is None:
            return ops
        if not isinstance(end, Jump) or end.block is not following or end.args:
            break
    return []


def is_float(value: Value) -> bool:
    """Whether a value can carry an adjoint: a real number or an array of these."""
    return isinstance(value.type, (Array, Scalar)) and value.type.dtype.kind == "f"


def active_values(ops: List[Op], wanted: Collection[Value], result: Value) -> Set[Value]:
    """The values that are varied and useful.

    Args:
        ops: a straight line of operations.
        wanted: the active inputs.
        result: the value that is differentiated.
    """
    varied = set(wanted)
    for op in ops:
        if op.result is not None and is_float(op.result) and not varied.isdisjoint(op.args):
            varied.add(op.result)
    useful = {result}
    for op in reversed(ops):
        if op.result in useful:
            useful.update(arg for arg in op.args if is_float(arg))
    return varied & useful
