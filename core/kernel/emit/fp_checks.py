"""Deferred floating-point checks: one comparison tests the results of several operations for raised flags.

Infinity and NaN persist in sums, products and quotients, so only the last result of a chain of operations is compared.
A quotient by infinity is finite, so divisors are compared, too. Products and quotients that are too small show in the
smallest of them; those of complex numbers have several products inside.

If a result is suspicious, each operation is checked for a raised flag. Zeros are suspicious, too, and NumPy ignores
underflows unless it is told not to. So a kernel that has met enough of them asks NumPy, and looks for underflows no
more if NumPy ignores them.

Pending checks are written before an operation that has an effect or must not see infinity or NaN. An operation with
another exit, such as one of the next statement, takes the exit of the first pending check: nothing was done since.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, List, Optional

import numpy as np

from pijit.core.graph.ir import Op, SideExit
from pijit.core.graph.ops import PRECEDES_CHECKS
from pijit.core.graph.types import half_of
from pijit.core.kernel.emit.expressions import Expression, listed
from pijit.core.kernel.llvm.fp_check_codes import CODES, LAST, QUOTIENTS, UNDERFLOW
from pijit.core.kernel.plan.operands import Name, Operand, scalar_type
from pijit.core.named_tuples import NamedTuple

if TYPE_CHECKING:
    from pijit.core.kernel.emit.kernel_emitter import KernelEmitter

ENOUGH = 16
"""The largest number of pending checks."""


class PendingCheck(NamedTuple):
    """A pending check: an operation that may have raised a flag, and the variables of its result and operands."""

    what: str
    result: Name
    operands: List[Operand]
    kind: np.dtype[Any]
    always_checked: int
    op: Op


class FpChecks:
    """The pending checks of one kernel."""

    __slots__ = ("emitter", "waiting", "exit")

    def __init__(self, emitter: KernelEmitter) -> None:
        self.emitter = emitter
        self.waiting: List[PendingCheck] = []
        self.exit: Optional[SideExit] = None

    def add(self, op: Op, what: str, result: Name, operands: List[Operand]) -> None:
        if op.exit is None:
            return
        operand = scalar_type(op.args[0])
        kind = half_of(operand).dtype if operand.dtype.kind == "c" else operand.dtype
        if self.waiting and (self.waiting[0].kind != kind or len(self.waiting) >= ENOUGH):
            self.write()
        self.exit = self.exit if self.waiting else op.exit
        self.waiting.append(PendingCheck(what, result, operands, kind, op.attrs.get("always_checked", 0), op))

    def check_before(self, op: Op) -> Op:
        """Write the checks that must precede an operation. Returns the operation, with the exit of pending checks."""
        if self.waiting and op.name not in PRECEDES_CHECKS:
            self.write()
        if not self.waiting or op.exit is None or op.exit.is_same(self.exit):
            return op
        return Op(op.name, op.args, op.attrs, op.result, self.exit, op.lineno, op.origin)

    def write(self) -> None:
        """Write the check of all pending operations."""
        checks, exit = self.waiting, self.exit
        if not checks or exit is None:
            return
        self.waiting, self.exit = [], None
        shown = {operand for check in checks for operand in check.operands[:1 if check.what in QUOTIENTS else 2]}
        items: List[Expression] = []
        for check in checks:
            items.append("(%d)" % (CODES[check.what] + (0 if check.result in shown else LAST)))
            items += [check.result, *check.operands]
        underflow = "(%d)" % any(check.always_checked & UNDERFLOW for check in checks)
        emitter = self.emitter
        emitter.line("if float_suspect(%s):" % listed([underflow, *items]))
        emitter.depth += 1
        emitter.line("if float_raised(%s):" % listed([underflow, emitter.runtime_address("flags_listened"), *items]))
        emitter.depth += 1
        emitter.take_because([check.op for check in checks], exit)
        emitter.depth -= 2
