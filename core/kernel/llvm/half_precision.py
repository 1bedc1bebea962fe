"""float16 numbers in LLVM: conversions from and to float32 by integer arithmetic.

NumPy computes with float32 and rounds each result to float16. Conversions by the processor's instructions, or by calls
of a library, are not used: LLVM's vectoriser knows integer arithmetic alone on all targets, and LLVM would compute with
float16 itself where it can. The processor's flags tell of overflow. They do not tell of underflow, so kernels ask
before whether the program hears of one. intrinsics.py, float_intrinsics.py and nest/half_elements.py call this.

In memory and in nests a number is its 16 bits. In kernel source it is a float32 that a float16 can hold.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

I16, I32, I64 = ir.IntType(16), ir.IntType(32), ir.IntType(64)
F4, F8 = ir.FloatType(), ir.DoubleType()

SPECIAL = 0x7C00
"""The bits of infinity; those of the size of NaN are above."""

OVERFLOW = 65520.0
"""The least size that is rounded to infinity."""

NORMAL = 2.0 ** -14
"""The least size that has all bits of the fraction."""

_FRACTION, _FRACTION_OF_DOUBLE = 13, 42
"""The bits of a float32's and of a float64's fraction that a float16 lacks."""

_REBIAS = 112
"""The difference between the exponent fields of a float32 and a float16."""


def is_exact(instruction: Any) -> bool:
    """Whether fast-math flags must not change an instruction, because it rounds."""
    return bool(vars(instruction).get("rounds"))


def _exact(instruction: Any) -> Any:
    vars(instruction)["rounds"] = True
    return instruction


def _word(number: int) -> Any:
    return ir.Constant(I32, number)


def _at(field: int) -> Any:
    """The bits of a float32 with an exponent field, and no fraction."""
    return _word(field << 23)


def single_of(builder: Any, bits: Any) -> Any:
    """The float32 of a float16."""
    known = vars(bits).get("single")
    if known is not None:
        return known
    word = builder.and_(builder.shl(builder.sext(bits, I32), _word(_FRACTION)), _word(0x8FFFE000))
    size = builder.and_(word, _word(0x0FFFE000))
    special = builder.icmp_unsigned(">=", size, _word(SPECIAL << _FRACTION))
    usual = builder.add(word, builder.select(special, _at(2 * _REBIAS), _at(_REBIAS)))
    tiny = builder.bitcast(builder.or_(size, _at(_REBIAS + 1)), F4)
    tiny = builder.bitcast(_exact(builder.fsub(tiny, ir.Constant(F4, NORMAL))), I32)
    tiny = builder.or_(tiny, builder.xor(word, size))
    is_tiny = builder.icmp_unsigned("<", size, _word(1 << 23))
    return builder.bitcast(builder.select(is_tiny, tiny, usual), F4)


def half_of(builder: Any, value: Any) -> Any:
    """The float16 that a float32 or float64 is rounded to: its bits."""
    if value.type == F8:
        value = builder.fptrunc(_short(builder, value), F4)
    word = builder.bitcast(value, I32)
    size = builder.and_(word, _word(0x7FFFFFFF))
    sign = builder.xor(word, size)
    field = builder.and_(size, _word(0x7F800000))
    field = _bounded(builder, field, _at(_REBIAS + 1), _at(200))
    step = builder.bitcast(builder.add(field, _at(_FRACTION)), F4)
    moved = _exact(builder.fadd(builder.bitcast(size, F4), step))  # the last bit of the sum is that of the float16
    rounded = _exact(builder.fsub(moved, step))
    scaled = _exact(builder.fmul(rounded, ir.Constant(F4, 2.0 ** _REBIAS)))  # overflows as the float16 does
    usual = builder.and_(builder.lshr(builder.bitcast(scaled, I32), _word(_FRACTION)), _word(0x7FFF))
    tiny = builder.sub(builder.bitcast(moved, I32), _at(126))
    number = builder.select(builder.icmp_unsigned("<", size, _at(_REBIAS + 1)), tiny, usual)
    bits = builder.trunc(builder.or_(number, builder.lshr(sign, _word(16))), I16)
    single = _exact(builder.fmul(scaled, ir.Constant(F4, 2.0 ** -_REBIAS)))
    vars(bits)["single"] = builder.bitcast(builder.or_(builder.bitcast(single, I32), sign), F4)
    return bits


def _bounded(builder: Any, number: Any, least: Any, most: Any) -> Any:
    number = builder.select(builder.icmp_unsigned("<", number, least), least, number)
    return builder.select(builder.icmp_unsigned(">", number, most), most, number)


def rounded(builder: Any, value: Any) -> Any:
    """A float32 or float64 rounded to float16, as a float32."""
    return single_of(builder, half_of(builder, value))


def _short(builder: Any, value: Any) -> Any:
    """A float64 with the precision of a float16: the conversion to float32 does not round again."""
    word = builder.bitcast(value, I64)
    size = builder.and_(word, ir.Constant(I64, 2 ** 63 - 1))
    sign = builder.xor(word, size)
    field = builder.and_(size, ir.Constant(I64, 0x7FF << 52))
    least, most = (ir.Constant(I64, one << 52) for one in (1023 - 14, 1023 + 200))
    field = _bounded(builder, field, least, most)
    step = builder.bitcast(builder.add(field, ir.Constant(I64, _FRACTION_OF_DOUBLE << 52)), F8)
    short = _exact(builder.fsub(_exact(builder.fadd(builder.bitcast(size, F8), step)), step))
    return builder.bitcast(builder.or_(builder.bitcast(short, I64), sign), F8)


def overflows(builder: Any, value: Any) -> Any:
    """Whether a finite number is rounded to infinity."""
    size = _size(builder, value)
    return builder.and_(builder.fcmp_ordered(">=", size, ir.Constant(value.type, OVERFLOW)),
                        builder.fcmp_ordered("<", size, ir.Constant(value.type, float("inf"))))


def underflows(builder: Any, value: Any) -> Any:
    """Whether NumPy calls the conversion an underflow: the number is tiny before it is rounded, and changes."""
    same = rounded(builder, value)
    same = builder.fpext(same, F8) if value.type == F8 else same
    return builder.and_(builder.fcmp_ordered("<", _size(builder, value), ir.Constant(value.type, NORMAL)),
                        builder.fcmp_unordered("!=", value, same))


def _size(builder: Any, value: Any) -> Any:
    kind = value.type
    function = builder.module.declare_intrinsic("llvm.fabs", [kind], ir.FunctionType(kind, [kind]))
    return builder.call(function, [value])
