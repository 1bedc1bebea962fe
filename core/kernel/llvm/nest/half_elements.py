"""Operations on single float16 numbers of nests: NumPy's arithmetic in float32, and its tests of bits.

A number is its 16 bits. Arithmetic rounds each result. Comparisons and extremes are those of NumPy's own loops, which
raise no flag. elements.py looks operations up in HALF_OPERATIONS.
"""

from __future__ import annotations

from typing import Any, Callable, Dict

from llvmlite import ir

from pijit.core.kernel.llvm.half_precision import I16, SPECIAL, half_of, single_of

SIGN, ONE = 0x8000, 0x3C00
"""The bits of the sign, and of 1."""


def _bits(number: int) -> Any:
    return ir.Constant(I16, number)


def in_single(operation: Callable[..., Any]) -> Callable[..., Any]:
    """An operation on float32 numbers, for float16: the result is rounded again."""
    def build(builder: Any, *args: Any) -> Any:
        return half_of(builder, operation(builder, *[single_of(builder, value) for value in args]))
    return build


def _size(builder: Any, value: Any) -> Any:
    return builder.and_(value, _bits(SIGN - 1))


def _is_nan(builder: Any, value: Any) -> Any:
    return builder.icmp_signed(">", _size(builder, value), _bits(SPECIAL))


def _place(builder: Any, value: Any) -> Any:
    """An integer that orders numbers; it is equal for zeros of both signs."""
    sign = builder.ashr(value, _bits(15))
    return builder.sub(builder.xor(_size(builder, value), sign), sign)


def _compare(symbol: str) -> Callable[..., Any]:
    def build(builder: Any, left: Any, right: Any) -> Any:
        found = builder.icmp_signed(symbol, _place(builder, left), _place(builder, right))
        strange = builder.or_(_is_nan(builder, left), _is_nan(builder, right))
        return builder.or_(found, strange) if symbol == "!=" else builder.and_(found, builder.not_(strange))
    return build


def _extreme(symbol: str) -> Callable[..., Any]:
    """The first operand if it is NaN, or the comparison holds; otherwise the second."""
    def build(builder: Any, left: Any, right: Any) -> Any:
        takes = builder.or_(_is_nan(builder, left), _compare(symbol)(builder, left, right))
        return builder.select(takes, left, right)
    return build


def _clip(builder: Any, value: Any, low: Any, high: Any) -> Any:
    return _extreme("<=")(builder, _extreme(">=")(builder, value, low), high)


def _sign(builder: Any, value: Any) -> Any:
    """0.0 for zeros of both signs; NaN stays what it is."""
    signed = builder.or_(builder.and_(value, _bits(SIGN)), _bits(ONE))
    found = builder.select(builder.icmp_signed("==", _size(builder, value), _bits(0)), _bits(0), signed)
    return builder.select(_is_nan(builder, value), value, found)


def special(builder: Any, value: Any) -> Any:
    """Whether a number is infinite or NaN."""
    return builder.icmp_signed(">=", _size(builder, value), _bits(SPECIAL))


HALF_OPERATIONS: Dict[str, Callable[..., Any]] = {
    "neg": lambda builder, a: builder.xor(a, _bits(SIGN)), "abs": _size, "sign": _sign,
    "minimum": _extreme("<="), "maximum": _extreme(">="), "clip": _clip,
    "where": lambda builder, condition, a, b: builder.select(condition, a, b),
    "isnan": _is_nan, "isfinite": lambda builder, a: builder.not_(special(builder, a)),
    "isinf": lambda builder, a: builder.icmp_signed("==", _size(builder, a), _bits(SPECIAL)),
    "less": _compare("<"), "less_equal": _compare("<="), "greater": _compare(">"), "greater_equal": _compare(">="),
    "equal": _compare("=="), "not_equal": _compare("!="),
}
"""By the name of the operation: the builder of its instructions. Other operations compute in float32."""
