"""Floating-point intrinsics: IEEE operations of fixed type, and tests for the flags that NumPy reports.

intrinsics.py defines an intrinsic. The emitter (kernel_emitter.py) offers these names to kernel source; the builders of
nests use the functions directly.
"""

from __future__ import annotations

import platform
import struct
from typing import Any, Callable, Dict, cast

import numpy as np
from llvmlite import ir

from pijit.core.kernel.llvm.half_precision import overflows, rounded, underflows
from pijit.core.kernel.llvm.intrinsics import (
    BOOL,
    F4,
    F4_TYPE,
    F8,
    F8_TYPE,
    I1,
    I64,
    INT,
    UINT,
    Intrinsic,
    llvm_binary,
    same_kind,
    unary,
)

_LARGEST = {F4: float(np.finfo(np.float32).max), F8: float(np.finfo(np.float64).max)}
SMALLEST = {F4: float(np.finfo(np.float32).tiny), F8: float(np.finfo(np.float64).tiny)}


def real(like: Any, value: float) -> Any:
    return ir.Constant(like.type, value)


def float_call(builder: Any, name: str, *args: Any) -> Any:
    kind = args[0].type
    function = builder.module.declare_intrinsic(name, [kind], ir.FunctionType(kind, [kind] * len(args)))
    return builder.call(function, args)


_REGISTER = {"x86_64": "x", "AMD64": "x", "aarch64": "w", "arm64": "w"}.get(platform.machine(), "r")


def unknown(builder: Any, constant: Any) -> Any:
    """A float constant that LLVM cannot fold.

    LLVM ignores the signs of NaNs: it turns ``-x + y`` into ``y - x``, and ``x * -1.0`` into ``-x``.
    """
    with builder.goto_entry_block():
        return _hidden(builder, constant, _REGISTER)


def unknown_bits(builder: Any, value: Any) -> Any:
    """A 16-bit word that LLVM cannot fold: a constant, or a value that is computed outside of loops."""
    if isinstance(value, ir.Constant):
        with builder.goto_entry_block():
            return _hidden(builder, value, "r")
    return builder.asm(ir.FunctionType(value.type, [value.type]), "", "=r,0", [value], False)


def unknown_byte(builder: Any, number: int) -> Any:
    """A byte constant that LLVM cannot fold."""
    with builder.goto_entry_block():
        return builder.trunc(_hidden(builder, ir.Constant(ir.IntType(32), number), "r"), ir.IntType(8))


def unknown_word(builder: Any, constant: Any) -> Any:
    """A 64-bit integer constant that LLVM cannot fold."""
    with builder.goto_entry_block():
        return _hidden(builder, constant, "r")


def _hidden(builder: Any, constant: Any, register: str) -> Any:
    """The result of an empty assembly of the entry block, one per constant: so equal operations stay equal to LLVM."""
    kind = constant.type
    for known in builder.block.instructions:
        if isinstance(known, ir.CallInstr) and isinstance(known.callee, ir.InlineAsm) \
                and str(known.args[0]) == str(constant) and known.type == kind:
            return known
    return builder.asm(ir.FunctionType(kind, [kind]), "", "=%s,0" % register, [constant], False)


def repeated(builder: Any, value: Any, count: int) -> Any:
    """A vector with the same number in each lane."""
    kind, words = ir.VectorType(value.type, count), ir.VectorType(ir.IntType(32), count)
    first = builder.insert_element(ir.Constant(kind, ir.Undefined), value, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(first, ir.Constant(kind, ir.Undefined), ir.Constant(words, [0] * count))


def _with_word(builder: Any, value: Any, constant: float, change: Callable[[Any, Any], Any]) -> Any:
    """A float, or a vector of floats, with the bits ``change(bits, those of constant)``. LLVM knows no constant."""
    wide = isinstance(value.type, ir.VectorType)
    kind = value.type.element if wide else value.type
    bits = ir.IntType(64 if isinstance(kind, ir.DoubleType) else 32)
    word = builder.bitcast(unknown(builder, ir.Constant(kind, constant)), bits)
    if wide:
        word, bits = repeated(builder, word, value.type.count), ir.VectorType(bits, value.type.count)
    return builder.bitcast(change(builder.bitcast(value, bits), word), value.type)


def unfolded(builder: Any, value: Any) -> Any:
    """The same float, or vector of floats, which LLVM cannot take for a constant.

    LLVM knows that ``i - i`` is 0 for integers, and computes ``1.0 / (i - i)`` itself. That raises no flag.
    """
    return _with_word(builder, value, 0.0, builder.xor)


def other_sign(builder: Any, value: Any) -> Any:
    """``-value``, also for NaN, whatever the result is used for."""
    return _with_word(builder, value, -0.0, builder.xor)


def without_sign(builder: Any, value: Any) -> Any:
    """``abs(value)``, also for NaN, whatever the result is used for."""
    return _with_word(builder, value, -0.0, lambda word, sign: builder.and_(word, builder.not_(sign)))


def finite(builder: Any, value: Any) -> Any:
    return builder.fcmp_ordered("<=", float_call(builder, "llvm.fabs", value), real(value, _LARGEST[value.type]))


def _all_finite(builder: Any, a: Any, b: Any) -> Any:
    return builder.and_(finite(builder, a), finite(builder, b))


def rarely(builder: Any, suspicious: Any, certain: Callable[[], Any]) -> Any:
    """``suspicious and certain()``; the exact test ``certain`` is on a cold path."""
    before = builder.block
    with builder.if_then(suspicious, likely=False):
        answer = certain()
        after = builder.block
    found = builder.phi(answer.type)
    found.add_incoming(ir.Constant(answer.type, 0), before)
    found.add_incoming(answer, after)
    return found


def not_normal(builder: Any, value: Any) -> Any:
    """Whether a float is NaN, infinite, subnormal or zero."""
    size = float_call(builder, "llvm.fabs", value)
    return builder.not_(builder.and_(builder.fcmp_ordered("<=", size, real(value, _LARGEST[value.type])),
                                     builder.fcmp_ordered(">=", size, real(value, SMALLEST[value.type]))))


def new_special(builder: Any, result: Any, a: Any, b: Any) -> Any:
    """Whether the result is NaN without a NaN operand, or infinite with finite operands."""
    invalid = builder.and_(builder.fcmp_unordered("uno", result, result), builder.fcmp_ordered("ord", a, b))
    overflow = builder.and_(builder.not_(finite(builder, result)), _all_finite(builder, a, b))
    return builder.or_(invalid, overflow)


def _tiny(builder: Any, value: Any) -> Any:
    return builder.fcmp_ordered("<", float_call(builder, "llvm.fabs", value), real(value, SMALLEST[value.type]))


def _is_not_zero(builder: Any, value: Any) -> Any:
    return builder.fcmp_unordered("!=", value, real(value, 0.0))


def product_flags(builder: Any, result: Any, a: Any, b: Any, underflow: Any = ir.Constant(I1, 1)) -> Any:
    lost = builder.and_(_tiny(builder, result), builder.and_(_is_not_zero(builder, a),
                                                             _is_not_zero(builder, b)))
    return builder.or_(new_special(builder, result, a, b), builder.and_(lost, underflow))


def quotient_flags(builder: Any, result: Any, a: Any, b: Any, underflow: Any = ir.Constant(I1, 1)) -> Any:
    lost = builder.and_(_tiny(builder, result), builder.and_(_is_not_zero(builder, a), finite(builder, b)))
    by_zero = builder.fcmp_ordered("==", b, real(b, 0.0))
    lost = builder.and_(lost, underflow)
    return builder.or_(by_zero, builder.or_(new_special(builder, result, a, b), lost))


def _float_division(builder: Any, a: Any, b: Any) -> Any:
    """CPython's float_divmod, which NumPy's npy_divmod copies: (floor quotient, remainder, plain quotient)."""
    zero = real(a, 0.0)
    rest = builder.frem(a, b)
    plain = builder.fdiv(builder.fsub(a, rest), b)
    inexact = builder.fcmp_unordered("!=", rest, zero)
    signs_differ = builder.xor(builder.fcmp_ordered("<", b, zero), builder.fcmp_ordered("<", rest, zero))
    adjust = builder.and_(inexact, signs_differ)
    exact_rest = builder.select(inexact, rest, float_call(builder, "llvm.copysign", zero, b))
    remainder = builder.select(adjust, builder.fadd(rest, b), exact_rest)
    quotient = builder.select(adjust, builder.fsub(plain, real(a, 1.0)), plain)
    floor = float_call(builder, "llvm.floor", quotient)
    too_low = builder.fcmp_ordered(">", builder.fsub(quotient, floor), real(a, 0.5))
    rounded = builder.select(too_low, builder.fadd(floor, real(a, 1.0)), floor)
    signed_zero = float_call(builder, "llvm.copysign", zero, builder.fdiv(a, b))
    result = builder.select(builder.fcmp_unordered("!=", quotient, zero), rounded, signed_zero)
    return result, remainder, plain


def _division_flags(builder: Any, a: Any, b: Any) -> Any:
    """Whether NumPy's ``//`` or ``%`` could raise a flag.

    It could if b == 0, if an operand or a result is not finite, or if an intermediate result underflows.
    """
    quotient, remainder, plain = _float_division(builder, a, b)
    fine = builder.and_(_all_finite(builder, a, b), _all_finite(builder, quotient, remainder))
    rest = builder.frem(a, b)
    lost = builder.and_(_tiny(builder, plain), builder.fcmp_unordered("!=", a, rest))
    by_zero = builder.fcmp_ordered("==", b, real(b, 0.0))
    return builder.or_(builder.or_(by_zero, lost), builder.not_(fine))


def _makes_special(builder: Any, result: Any, a: Any, b: Any) -> Any:
    """Whether a result is NaN or infinite although no operand is."""
    return rarely(builder, builder.not_(finite(builder, result)), lambda: new_special(builder, result, a, b))


def _makes_odd(builder: Any, result: Any, a: Any, b: Any) -> Any:
    """As ``makes_special``, or NaN: CPython's NaN is a constant of its own."""
    def certain() -> Any:
        is_nan = builder.fcmp_unordered("uno", result, result)
        return builder.or_(is_nan, new_special(builder, result, a, b))

    return rarely(builder, builder.not_(finite(builder, result)), certain)


def _odd_size(builder: Any, result: Any, a: Any, b: Any) -> Any:
    """As ``makes_special``, or subnormal: a function that rounds once may then have reported a flag or an error."""
    odd = builder.and_(_tiny(builder, result), _is_not_zero(builder, result))
    return builder.or_(_makes_special(builder, result, a, b), odd)


def _power_leaves(reports: bool) -> Callable[..., Any]:
    """The builder of a test whether Python may raise for ``result``, the C library's power of ``a`` and ``b``.

    With ``reports``: whether NumPy may report a floating-point flag. CPython ignores an underflow to zero.
    """
    def certain(builder: Any, result: Any, a: Any, b: Any) -> Any:
        infinity = real(a, float("inf"))
        is_zero = builder.fcmp_ordered("==", result, real(result, 0.0))
        is_infinite = [builder.fcmp_ordered("==", float_call(builder, "llvm.fabs", value), infinity)
                       for value in (a, b)]
        is_nan = builder.xor(*[builder.fcmp_unordered("uno", value, value) for value in (a, b)])
        if reports:
            is_zero = builder.and_(is_zero, builder.fcmp_ordered("==", a, real(a, 0.0)))
        usual = builder.and_(builder.or_(*is_infinite), builder.and_(builder.fcmp_ordered("ord", b, b),
                                                                     builder.fcmp_ordered("!=", a, real(a, 0.0))))
        return builder.not_(builder.or_(is_zero, builder.or_(is_nan, usual)))

    return lambda builder, result, a, b: rarely(builder, not_normal(builder, result),
                                                lambda: certain(builder, result, a, b))


def _power_underflows(builder: Any, result: Any, a: Any, b: Any) -> Any:
    """Whether a power can have raised underflow only."""
    return builder.and_(_tiny(builder, result), builder.and_(_all_finite(builder, a, b), _is_not_zero(builder, a)))


def _narrow_flags(builder: Any, value: Any) -> Any:
    """Whether the conversion to float32 overflows or underflows."""
    result = builder.fptrunc(value, F4)
    overflow = builder.and_(finite(builder, value), builder.not_(finite(builder, result)))
    return builder.or_(overflow, builder.and_(_tiny(builder, result), _is_not_zero(builder, value)))


def _half_special(builder: Any, value: Any, a: Any, b: Any) -> Any:
    """Whether a result, rounded to float16, is NaN or infinite although no operand is."""
    return _makes_special(builder, rounded(builder, value), a, b)


def _half_rows() -> Dict[str, Any]:
    return {"half": unary(F4_TYPE, F4_TYPE, rounded), "half_of_double": unary(F4_TYPE, F8_TYPE, rounded),
            "half_special": same_kind(3, _half_special, BOOL), "half_overflows": same_kind(1, overflows, BOOL),
            "half_underflows": same_kind(1, underflows, BOOL)}


def _float_rows() -> Dict[str, Any]:
    def special(builder: Any, value: Any) -> Any:
        return builder.not_(finite(builder, value))

    rows: Dict[str, Any] = {
        name: same_kind(2, llvm_binary(name)) for name in ("fadd", "fsub", "fmul", "fdiv")}
    rows["ffma"] = same_kind(3, lambda builder, a, b, c: float_call(builder, "llvm.fma", a, b, c))
    rows["ffloordiv"] = same_kind(2, lambda builder, a, b: _float_division(builder, a, b)[0])
    rows["fmod"] = same_kind(2, lambda builder, a, b: _float_division(builder, a, b)[1])
    rows["fdivision_flags"] = same_kind(2, _division_flags, BOOL)
    rows["special"] = same_kind(1, special, BOOL)
    rows["makes_special"] = same_kind(3, _makes_special, BOOL)
    rows["makes_odd"] = same_kind(3, _makes_odd, BOOL)
    rows["power_underflows"] = same_kind(3, _power_underflows, BOOL)
    rows["power_raises"] = same_kind(3, _power_leaves(False), BOOL)
    rows["power_reports"] = same_kind(3, _power_leaves(True), BOOL)
    rows["fsqrt"] = unary(F8_TYPE, F8_TYPE, lambda builder, a: float_call(builder, "llvm.sqrt", a))
    rows["narrow_flags"] = unary(BOOL, F8_TYPE, _narrow_flags)
    rows["narrow"] = unary(F4_TYPE, F8_TYPE, lambda builder, a: builder.fptrunc(a, F4))
    rows["widen"] = unary(F8_TYPE, F4_TYPE, lambda builder, a: builder.fpext(a, F8))
    rows["i_to_f8"] = unary(F8_TYPE, INT, lambda builder, a: builder.sitofp(a, F8))
    rows["i_to_f4"] = unary(F4_TYPE, INT, lambda builder, a: builder.sitofp(a, F4))
    rows["u_to_f8"] = unary(F8_TYPE, UINT, lambda builder, a: builder.uitofp(a, F8))
    rows["u_to_f4"] = unary(F4_TYPE, UINT, lambda builder, a: builder.uitofp(a, F4))
    rows["f8_to_i"] = unary(INT, F8_TYPE, lambda builder, a: builder.fptosi(a, I64))
    rows["f8_to_u"] = unary(UINT, F8_TYPE, lambda builder, a: builder.fptoui(a, I64))
    rows["f8_bits"] = unary(F8_TYPE, INT, lambda builder, a: builder.bitcast(a, F8))
    return rows


def float_bits(value: float) -> int:
    """The bits of a double as a signed integer."""
    return cast(int, struct.unpack("<q", struct.pack("<d", value))[0])


FLOAT_INTRINSICS: Dict[str, Intrinsic] = {
    "fneg": same_kind(1, other_sign),
    "froot": same_kind(1, lambda builder, a: float_call(builder, "llvm.sqrt", a)),
    "fabs": same_kind(1, lambda builder, a: float_call(builder, "llvm.fabs", a)),
    "unknown_word": unary(INT, INT, unknown_word),
    "odd_size": same_kind(3, _odd_size, BOOL),
    "float32": unary(F4_TYPE, F8_TYPE, lambda builder, a: builder.fptrunc(a, F4)),
}
FLOAT_INTRINSICS.update(_float_rows())
FLOAT_INTRINSICS.update(_half_rows())
