"""Deferred floating-point warnings: NumPy reports flags after it has written the result.

The kernel exits after the operation, with a tuple of the written array and the flags on the stack. Linked code calls
the reporter with the tuple, on the operation's line, and gets the array::

    LOAD_CONST <reporter>; ROT_TWO; CALL_FUNCTION 1
    JUMP_ABSOLUTE <after the operation>

The linker and the exits of graphs use it. It must not change the array.
"""

from __future__ import annotations

from typing import List

from pijit.core.bytecode.assembler import natives
from pijit.core.bytecode.assembler.emit import Emit
from pijit.core.bytecode.codec.encode import CodeItem
from pijit.core.named_tuples import NamedTuple


class FlagReport(NamedTuple):
    """Report flags in the way the ufunc of this name does."""

    ufunc: str

    def __str__(self) -> str:
        return "the flags of %s" % self.ufunc


def call_report(emit: Emit, report: FlagReport) -> List[CodeItem]:
    """Code that replaces the tuple on top of the stack by the array, after NumPy has reported the flags."""
    return emit.call_on_top(natives.reporter(report.ufunc))
