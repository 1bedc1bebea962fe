"""What bytecode does behind an operation that has raised floating-point flags: NumPy reports them when it has written.

The kernel leaves to behind the operation with a tuple of the array that was written and the flags on the stack; linked
code calls the reporter with it, on the operation's line, and gets the array::

    LOAD_CONST <reporter>; ROT_TWO; CALL_FUNCTION 1
    JUMP_ABSOLUTE <behind the operation>
"""

from __future__ import annotations

from typing import List, NamedTuple, Optional

from pijit.core._launcher import reporter
from pijit.core.bytecode.encode import Assembler, Item, Op


class Report(NamedTuple):
    """Report flags as the ufunc of this name does."""

    ufunc: str

    def __str__(self) -> str:
        return "the flags of %s" % self.ufunc


def call_report(assembler: Assembler, report: Report, line: Optional[int]) -> List[Item]:
    """Code that turns the tuple on top of the stack into the array, when NumPy has reported the flags."""
    return [Op("LOAD_CONST", assembler.const(reporter(report.ufunc)), line), Op("ROT_TWO", None, line),
            Op("CALL_FUNCTION", 1, line)]
