"""Escape analysis: an array that never leaves its kernel gets memory from a buffer pool.

A result that leaves belongs to NumPy's allocator. Other arrays may borrow pool memory
(native/runtime/arrays/buffer_pool.h), whose pages are mapped already. A side exit that needs such an array takes a
copy. emit/borrowed_buffers.py asks here when arrays are allocated; a borrowed buffer must never become a result.
"""

from __future__ import annotations

from collections import Counter
from typing import Dict, List, Set, cast

from pijit.core.graph.ir import Graph, Op, Value
from pijit.core.graph.ops import HIDES_OPERANDS, HIDES_OTHERS, MAKERS, VIEWS
from pijit.core.graph.types import Array
from pijit.core.kernel.plan.graph_facts import GraphFacts

MOST_SLOTS = 8
"""The most stack arrays of one kernel, because Python's threads may have small stacks."""

MOST_EXITS = 8
"""The most side exits that need one stack array: each has its own code that makes an object."""

_MOST_AXES = 4
"""With more axes, the product of sizes that fit one by one may overflow."""


class EscapeAnalysis:
    """The escape analysis of one graph; ``private`` are the arrays that the kernel makes and that never escape."""

    def __init__(self, graph: Graph, facts: GraphFacts) -> None:
        self._facts = facts
        self._users: Dict[Value, List[Op]] = {}
        ops = [op for block in graph.blocks for op in block.ops]
        for op in ops:
            for value in op.args:
                self._users.setdefault(value, []).append(op)
        shown = _shown(graph, ops)
        made = (cast(Value, op.result) for op in ops if op.name in MAKERS)
        self.private = {value for value in made if isinstance(value.type, Array)} - shown
        self._exits = Counter(value for op in ops if op.exit is not None for value in set(op.exit.values()))

    def is_private(self, value: Value) -> bool:
        """Whether an array that the kernel makes leaves it at side exits only, if at all."""
        return value in self.private

    def may_borrow(self, value: Value) -> bool:
        """Whether a new array may borrow a buffer: not if an escaping result may be computed into its memory."""
        if not self.is_private(value):
            return False
        return not any(
            op.name == "ufunc" and not self._facts.is_grouped(op) and cast(Value, op.result).type == value.type
            and not self.is_private(cast(Value, op.result)) for op in self._users.get(value, ()))

    def exits_with(self, value: Value) -> int:
        """The number of side exits whose values include an array itself."""
        return self._exits[value]


def may_be_on_stack(kind: Array, exits: int) -> bool:
    """Whether an array that leaves at this number of side exits only may live on the kernel's stack."""
    return kind.layout == "C" and kind.ndim <= _MOST_AXES and exits <= MOST_EXITS


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
