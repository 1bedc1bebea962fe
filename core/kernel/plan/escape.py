"""Escape analysis: which arrays leave their kernel.

A side exit that needs an array may take a copy, so an array that only side exits need does not escape. memory_plan.py
decides about the memory of arrays that do not escape.
"""

from __future__ import annotations

from collections import Counter
from typing import List, Set, cast

from pijit.core.graph.ir import Graph, Op, Value
from pijit.core.graph.ops import HIDES_OPERANDS, HIDES_OTHERS, MAKERS, VIEWS
from pijit.core.graph.types import Array


class EscapeAnalysis:
    """The escape analysis of one graph; ``private`` are the arrays that the kernel makes and that never escape."""

    def __init__(self, graph: Graph) -> None:
        ops = [op for block in graph.blocks for op in block.ops]
        shown = _shown(graph, ops)
        made = (cast(Value, op.result) for op in ops if op.name in MAKERS)
        self.private = {value for value in made if isinstance(value.type, Array)} - shown
        self._exits = Counter(value for op in ops if op.exit is not None for value in set(op.exit.values()))

    def is_private(self, value: Value) -> bool:
        """Whether an array that the kernel makes leaves it at side exits only, if at all."""
        return value in self.private

    def exits_with(self, value: Value) -> int:
        """The number of side exits whose values include an array itself."""
        return self._exits[value]


def _shown(graph: Graph, ops: List[Op]) -> Set[Value]:
    """The arrays that escape. Side exits receive copies, so arrays that only they need do not; views of arrays do."""
    shown = {value for block in graph.blocks for value in block.terminator.values()}
    shown.update(value for block in graph.blocks for jump in block.terminator.targets() for value in jump.args)
    at_exits = {value for op in ops if op.exit is not None for value in op.exit.values()}
    for op in ops:
        if op.name not in HIDES_OPERANDS and op.name not in VIEWS:
            shown.update(op.args[:1] if op.name in HIDES_OTHERS else op.args)
    count = -1
    while count != len(shown):
        count = len(shown)
        shown.update(op.args[0] for op in ops if op.name in VIEWS and (op.result in shown or op.result in at_exits))
    return shown
