"""How much one capture may do: a first call may take seconds, not minutes.

What is counted does not depend on the machine, so that a function is split alike everywhere. Where the work is used
up, capture begins again and tries less: calls are inlined one deep, then nothing is inlined or unrolled; at last the
function stays bytecode. What is captured may still be too much to compile: a kernel ends where it has grown to its
limit, and where all kernels of a function are beyond theirs, those without loops are the first to stay bytecode.
"""

from __future__ import annotations

from typing import List, Tuple

from pijit.core.errors import Break
from pijit.core.graph.ir import Graph, Op
from pijit.core.graph.types import Array

MAX_STEPS = 50000
"""Instructions interpreted, each time counted: about 25 microseconds each. The largest benchmark needs 2845."""
MAX_KERNEL = 8000
"""The size of a kernel; the largest of the benchmarks has 511. It takes about a millisecond to compile 1."""
MAX_KERNELS = 16000
"""The size of all kernels of one capture."""
ARRAY_SIZE = 20
"""The size of an operation on arrays, which is a loop; others have size 1."""
TRIES: Tuple[Tuple[int, bool], ...] = ((1, True), (0, False))
"""What is tried when the work is used up: how deep calls are inlined, and whether loops are unrolled."""


class Exhausted(Exception):
    """The work is used up. No Break, since no instruction is to blame."""


class Work:
    """What one try has done."""

    __slots__ = ("steps",)

    def __init__(self) -> None:
        self.steps = 0

    def step(self) -> None:
        """Count an instruction. Raises Exhausted."""
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise Exhausted


def size_of(op: Op) -> int:
    """How much code an operation becomes."""
    values = op.args if op.result is None else (*op.args, op.result)
    return ARRAY_SIZE if any(isinstance(value.type, Array) for value in values) else 1


def graph_size(graph: Graph) -> int:
    """How much code a kernel has."""
    return sum(size_of(op) for block in graph.blocks for op in block.ops)


def check_size(size: int, inlined: bool) -> None:
    """What to do about a kernel that has grown to this size: it ends, or less is inlined.

    Raises:
        Break: it ends before the instruction.
        Exhausted: it is in an inlined callee.
    """
    if size > MAX_KERNEL:
        raise Exhausted if inlined else Break("PJ405")


def too_many(graphs: List[Graph], loops: List[bool]) -> List[int]:
    """Which kernels are too many, by their number: those with loops go first."""
    left, beyond = MAX_KERNELS, []
    for number in sorted(range(len(graphs)), key=lambda number: not loops[number]):
        size = graph_size(graphs[number])
        if size > left:
            beyond.append(number)
        else:
            left -= size
    return beyond
