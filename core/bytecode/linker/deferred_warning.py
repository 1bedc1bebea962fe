"""What bytecode does behind an operation that has raised floating-point flags: NumPy reports them when it has written.

The kernel leaves to behind the operation with a tuple of the array that was written and the flags on the stack; linked
code calls the reporter with it, on the operation's line, and gets the array::

    LOAD_CONST <reporter>; ROT_TWO; CALL_FUNCTION 1
    JUMP_ABSOLUTE <behind the operation>
"""

from __future__ import annotations

from typing import List, NamedTuple

from pijit.core.bytecode.assembler import natives
from pijit.core.bytecode.assembler.emit import Emit
from pijit.core.bytecode.codec.encode import Item


class Report(NamedTuple):
    """Report flags as the ufunc of this name does."""

    ufunc: str

    def __str__(self) -> str:
        return "the flags of %s" % self.ufunc


def call_report(emit: Emit, report: Report) -> List[Item]:
    """Code that turns the tuple on top of the stack into the array, when NumPy has reported the flags."""
    return emit.call_on_top(natives.reporter(report.ufunc))
