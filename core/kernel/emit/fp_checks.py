"""Shared floating-point checks: one comparison tests the results of several operations for raised flags.

plan/fp_check_plan.py decides which operations share a check. The writers of operations call `write_check_before` and
`write_checks_after`.

Infinity and NaN persist in sums, products and quotients, so only the last result of a chain of operations is compared.
A quotient by infinity is finite, so divisors are compared, too. Products and quotients that are too small show in the
smallest of them; those of complex numbers have several products inside.

If a result is suspicious, each operation is checked for a raised flag. Zeros are suspicious, too, and NumPy ignores
underflows unless it is told not to. So a kernel that has met enough of them asks NumPy, and looks for underflows no
more if NumPy ignores them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Dict, List

from pijit.core.graph.ir import Op
from pijit.core.kernel.emit.expressions import Expression, listed
from pijit.core.kernel.llvm.fp_check_codes import CODES, LAST, QUOTIENTS, UNDERFLOW
from pijit.core.kernel.plan.fp_check_plan import SharedCheck
from pijit.core.kernel.plan.operands import Operand, result_of

if TYPE_CHECKING:
    from pijit.core.kernel.emit.kernel_emitter import KernelEmitter


def write_check_before(emitter: KernelEmitter, op: Op) -> None:
    """Write the check that must precede an operation, except in a loop that is written without checks."""
    check = emitter.plan.fp_checks.before.get(op)
    if check is not None and emitter.unchecked is None:
        _write(emitter, check)


def write_checks_after(emitter: KernelEmitter, op: Op) -> None:
    """Write the checks that follow an operation, except in a loop that is written without checks."""
    if emitter.unchecked is None:
        for check in emitter.plan.fp_checks.after.get(op, ()):
            _write(emitter, check)


def _write(emitter: KernelEmitter, check: SharedCheck) -> None:
    kinds, text = emitter.plan.fp_checks.kinds, emitter.text
    operands: Dict[Op, List[Operand]] = {op: [text[value] for value in op.args] for op in check.ops}
    shown = {operand for op in check.ops for operand in operands[op][:1 if kinds[op] in QUOTIENTS else 2]}
    items: List[Expression] = []
    for op in check.ops:
        result = text[result_of(op)]
        items.append("(%d)" % (CODES[kinds[op]] + (0 if result in shown else LAST)))
        items += [result, *operands[op]]
    underflow = "(%d)" % any(op.attrs.get("always_checked", 0) & UNDERFLOW for op in check.ops)
    emitter.line("if float_suspect(%s):" % listed([underflow, *items]))
    emitter.depth += 1
    emitter.line("if float_raised(%s):" % listed([underflow, emitter.runtime_address("flags_listened"), *items]))
    emitter.depth += 1
    emitter.take_because(check.ops, check.exit)
    emitter.depth -= 2
