"""Which arrays most likely have rows of elements that lie close together: loop nests (fused_nest.py) go along rows.

Layout "A" says nothing of that, neither for parts of arrays that are passed on nor for what a loop has from its round
before. But a part has rows like the whole, and what is computed elementwise from arrays with rows has rows, as NumPy
lays it out. A wrong guess costs time, and nothing else: nests take strides as they are, and go along another axis where
they know none.
"""

from __future__ import annotations

from typing import Dict, List, Set

from pijit.core.graph.ir import Graph, Op, Value
from pijit.core.graph.types import Array

FOLLOWING = frozenset(("ufunc", "where", "view", "same"))
"""Operations whose result has rows where all arrays that they read have."""


def likely_by_rows(graph: Graph) -> Set[Value]:
    """Of the arrays that come from outside, or that ways into a block bring: those that most likely have rows."""
    sources = {op.result: _operands(op) for block in graph.blocks for op in block.ops
               if op.result is not None and isinstance(op.result.type, Array)}
    brought: Dict[Value, List[Value]] = {param: [] for block in graph.blocks[1:] for param in block.params
                                         if isinstance(param.type, Array)}
    for block in graph.blocks:
        for jump in block.terminator.targets():
            for param, value in zip(jump.block.params, jump.args):
                if param in brought:
                    brought[param].append(value)
    sources.update(brought)
    outside = {value for value in graph.inputs if isinstance(value.type, Array) and value.type.layout == "A"}
    found = outside.union(sources)
    while True:
        wrong = {value for value, given in sources.items() if value in found and not _has_rows(value, given, found)}
        if not wrong:
            return found.intersection(outside.union(brought))
        found -= wrong


def _operands(op: Op) -> List[Value]:
    return [value for value in op.args if isinstance(value.type, Array)] if op.name in FOLLOWING else []


def _has_rows(value: Value, given: List[Value], found: Set[Value]) -> bool:
    kind = value.type
    if kind.ndim < 2 or kind.layout == "C":
        return True
    return kind.layout == "A" and bool(given) and all(
        one in found or one.type.layout == "C" or one.type.ndim < 2 for one in given)
