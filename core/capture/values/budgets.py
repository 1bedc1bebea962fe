"""Budgets of one capture: a first call may take seconds, not minutes.

The counts do not depend on the machine, so that a function is partitioned alike everywhere. When the budget is used up,
capture starts again with less: calls are inlined one deep, and in a third attempt nothing is inlined or unrolled. At
last the function stays bytecode. A kernel ends where it reaches its size limit. Where all kernels together exceed
theirs, those without loops stay bytecode first.
"""

from __future__ import annotations

from typing import List, Tuple

from pijit.core.errors import Break
from pijit.core.graph.ir import Graph, Op
from pijit.core.graph.ops import VIEWS
from pijit.core.graph.types import Array

MAX_STEPS = 50000
"""Instructions interpreted, repetitions included; each takes about 25 microseconds. The largest benchmark needs 2845.
"""
MAX_KERNEL = 8000
"""Size limit of a kernel. A unit takes about a millisecond to compile; the largest kernel of the benchmarks has 511."""
MAX_KERNELS = 16000
"""Limit of the total size of the kernels of one capture."""
ARRAY_SIZE = 20
"""The size of an operation on arrays, which becomes a loop; other operations have size 1."""
VIEW_SIZE = 4
"""The size of a view, which has no loop."""
LARGER = 4
"""The factor of all limits for kernels that give calls up: side exits hand out nothing, so that they are short."""
TRIES: Tuple[Tuple[int, bool], ...] = ((1, True), (0, False))
"""The settings of later attempts: how deep calls are inlined, and whether loops are unrolled."""


class Exhausted(Exception):
    """The budget is used up. It is no Break, since no single instruction is the cause."""


class CaptureBudget:
    """The work of one attempt; ``factor`` multiplies all limits."""

    __slots__ = ("steps", "factor")

    def __init__(self, factor: int = 1) -> None:
        self.steps, self.factor = 0, factor

    def step(self) -> None:
        """Count an instruction. Raises Exhausted when the budget is used up."""
        self.steps += 1
        if self.steps > MAX_STEPS * self.factor:
            raise Exhausted

    def check_size(self, size: int, inlined: bool) -> None:
        """Stop the growth of a kernel beyond the size limit.

        Raises:
            Break: the kernel ends before the instruction.
            Exhausted: the instruction is in an inlined callee, so capture inlines less.
        """
        if size > MAX_KERNEL * self.factor:
            raise Exhausted if inlined else Break("PJ405")

    def too_many(self, graphs: List[Graph], loops: List[bool]) -> List[int]:
        """The numbers of the kernels beyond the total limit. Kernels with loops are served first."""
        left, beyond = MAX_KERNELS * self.factor, []
        for number in sorted(range(len(graphs)), key=lambda number: not loops[number]):
            size = graph_size(graphs[number])
            if size > left:
                beyond.append(number)
            else:
                left -= size
        return beyond


def size_of(op: Op) -> int:
    """The size of the code of an operation."""
    if op.name in VIEWS or op.name == "dim":
        return VIEW_SIZE if op.name in VIEWS else 1
    values = op.args if op.result is None else (*op.args, op.result)
    return ARRAY_SIZE if any(isinstance(value.type, Array) for value in values) else 1


def graph_size(graph: Graph) -> int:
    """The size of the code of a kernel."""
    return sum(size_of(op) for block in graph.blocks for op in block.ops)
