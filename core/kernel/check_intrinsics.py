"""The two questions of float_checks.py in LLVM: whether operations may have raised a floating-point flag, which costs
little, and whether they did."""

from __future__ import annotations

import functools
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Tuple

from llvmlite import ir
from pijit.core.kernel.complex_intrinsics import WRITTEN, Steps
from pijit.core.kernel.float_checks import CODES, LAST, QUOTIENTS, SUMS
from pijit.core.kernel.float_intrinsics import (
    finite,
    float_call,
    new_special,
    product_flags,
    quotient_flags,
    real,
)
from pijit.core.kernel.intrinsics import BOOL, I1, Intrinsic, rare

_NAMES = {code: name for name, code in CODES.items()}
_CERTAIN: Dict[str, Callable[..., Any]] = {"sum": new_special, "product": product_flags, "quotient": quotient_flags}


class _Checked(NamedTuple):
    """An operation that is asked about: its last ones of real numbers, and all of them."""

    shown: List[Any]
    done: List[Tuple[Callable[..., Any], Any, Any, Any]]
    compared: Any = None


def _checks(builder: Any, args: Any) -> Iterator[_Checked]:
    """The operations that the arguments name: a code, and the values of the result and the operands."""
    for at in range(1, len(args), 4):
        code, (result, a, b) = args[at][1].constant, [value for _, value in args[at + 1:at + 4]]
        name = _NAMES[code & ~LAST]
        if name in _CERTAIN:
            yield _Checked([result] if code & LAST else [], [(_CERTAIN[name], result, a, b)])
            continue
        parts = [[builder.extract_value(value, part) for part in (0, 1)] for value in (result, a, b)]
        shown = parts[0] if code & LAST else []
        if name in SUMS:
            yield _Checked(shown, [(new_special,) + step for step in zip(*parts)])
            continue
        steps = Steps(builder)
        WRITTEN[name](steps, parts[1], parts[2])
        yield _Checked([step[1] for step in steps.done] if name in QUOTIENTS else shown, steps.done, steps.compared)


def _float_suspect(builder: Any, args: Any) -> Any:
    """Whether one of some operations may have raised a floating-point flag; seldom."""
    suspicious, smallest, least = ir.Constant(I1, 0), None, args[0][1]
    for check in _checks(builder, args):
        for value in check.shown:
            suspicious = builder.or_(suspicious, builder.not_(finite(builder, value)))
        for flags, result, _, _ in check.done:
            if flags is not new_special:
                size = float_call(builder, "llvm.fabs", result)
                smallest = size if smallest is None else builder.select(
                    builder.fcmp_ordered("<", smallest, size), smallest, size)
    if smallest is not None:
        suspicious = builder.or_(suspicious, builder.fcmp_ordered("<", smallest, least))
    return rare(builder, suspicious)


def _float_flags(builder: Any, args: Any) -> Any:
    """Whether one of some operations raised a floating-point flag that NumPy reports."""
    listened = builder.fcmp_ordered(">", args[0][1], real(args[0][1], 0.0))
    answers = []
    for check in _checks(builder, args):
        answers += [flags(builder, result, a, b, *[listened] * (flags is not new_special))
                    for flags, result, a, b in check.done]
        answers += [check.compared] * (check.compared is not None)
    return functools.reduce(builder.or_, answers)


CHECK_INTRINSICS: Dict[str, Intrinsic] = {
    "float_suspect": Intrinsic(BOOL, None, _float_suspect),
    "float_flags": Intrinsic(BOOL, None, _float_flags),
}
