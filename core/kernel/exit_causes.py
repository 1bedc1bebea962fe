"""Exit causes: the operations because of which a kernel leaves, as numbers that launchers count.

A kernel returns the number of its exit and, ``SHIFT`` bits above, that of the cause. The cause is 0 at the end of the
captured code. Both are constants, so a kernel that does not leave spends no time on them. `core/exit_counts.py` turns
the launchers' counters into records.
"""

from __future__ import annotations

from typing import Any, Dict, List, Sequence, Tuple

from pijit.core._launcher import ABI_NUMBERS
from pijit.core.graph.ir import HERE, Op
from pijit.core.graph.ops import CALLS_LIBRARY, DIVIDES, OPS, SYMBOLS
from pijit.core.named_tuples import NamedTuple

SHIFT = ABI_NUMBERS["CAUSE_SHIFT"]
MOST = ABI_NUMBERS["MOST_CAUSES"]
"""The largest number of a cause. Further causes are not counted."""


class Cause(NamedTuple):
    """An exit, and the operations because of which a kernel may take it. The line is 0 in an inlined function."""

    exit: int
    line: int
    operation: str
    why: str


_OTHERWISE = "what it needs is missing or of another type, or it would raise"


def cause_of(ops: Sequence[Op], exit: int) -> Cause:
    """The cause for an exit that one of these operations takes. Its line is the first known one."""
    line = next((op.lineno for op in ops if op.origin == HERE and op.lineno), 0)
    name = " or ".join(dict.fromkeys(map(_operation, ops)))
    return Cause(exit, line, name, " or ".join(dict.fromkeys(map(_why, ops))))


def _operation(op: Op) -> str:
    if op.name in SYMBOLS:
        return SYMBOLS[op.name]
    if op.name == "libm" or op.name in CALLS_LIBRARY:
        return str(op.attrs["function"])
    ufunc = op.attrs.get("ufunc")
    return ufunc.__name__ if ufunc is not None else op.name


def _why(op: Op) -> str:
    kind = getattr(op.args[0], "type", None) if op.args else None
    dtype, family = getattr(kind, "dtype", None), getattr(kind, "family", None)
    known = OPS[op.name].why_exit
    if known or dtype is None or family is None:
        return known or _OTHERWISE
    if op.name in DIVIDES and (dtype.kind in "iu" or family == "py"):
        return "the divisor is zero" if dtype.kind == "f" else "the divisor is zero, or the result does not fit"
    if dtype.kind in "iu":
        return "the result does not fit %d bits" % (8 * dtype.itemsize)
    if dtype.kind in "fc":
        return "a floating-point flag is raised"
    return _OTHERWISE


class Causes:
    """The causes of one kernel, numbered from 1 as they are met."""

    def __init__(self) -> None:
        self._numbers: Dict[Any, int] = {}
        self._found: List[Cause] = []

    @property
    def found(self) -> Tuple[Cause, ...]:
        return tuple(self._found)

    def answer(self, exit: int, ops: Sequence[Op]) -> int:
        """The value that a kernel returns at an exit that it takes because of one of these operations, or of none."""
        if not ops:
            return exit
        cause = cause_of(ops, exit)
        if cause not in self._numbers and len(self._found) < MOST:
            self._found.append(cause)
            self._numbers[cause] = len(self._found)
        return exit | self._numbers.get(cause, 0) << SHIFT
