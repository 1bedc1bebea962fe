"""Operations on single elements of nests, in LLVM: table by name, conversions, and tests of results.

nest.py applies them to scalars and to vectors. It must convert operands to the dtypes that the step names before.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List

import numpy as np
from llvmlite import ir

from pijit.core.kernel.llvm.float_intrinsics import other_sign, unknown, unknown_bits, unknown_byte, without_sign
from pijit.core.kernel.llvm.half_precision import half_of, single_of
from pijit.core.kernel.llvm.intrinsics import F4, F8, I1, I16
from pijit.core.kernel.llvm.nest.description import CONVERT, Step
from pijit.core.kernel.llvm.nest.half_elements import HALF_OPERATIONS, ONE, in_single, special


def memory_type(dtype: np.dtype[Any]) -> Any:
    """The LLVM type of an element in memory."""
    if dtype.kind == "f" and dtype.itemsize > 2:
        return F8 if dtype.itemsize == 8 else F4
    return ir.IntType(8 * dtype.itemsize)


def value_type(dtype: np.dtype[Any]) -> Any:
    """The LLVM type of an element as an operand."""
    return I1 if dtype.kind == "b" else memory_type(dtype)


def can_convert(source: np.dtype[Any], target: np.dtype[Any]) -> bool:
    """Whether one conversion turns ``source`` into ``target`` without wrapping. It raises a flag for float16 alone."""
    if "c" in (source.kind, target.kind):
        return False
    return (source == target or np.can_cast(source, target, "safe")
            or target.kind == "f" and target.itemsize > 2 and source.kind in "iub" or target.char == "e")


def narrowed(builder: Any, value: Any, code: str) -> Any:
    """A scalar variable, truncated to the width of its dtype. A float16 is its bits, of which LLVM knows nothing."""
    kind = value_type(np.dtype(code))
    if code == "e":
        return unknown_bits(builder, half_of(builder, value))
    if isinstance(kind, ir.IntType) and value.type.width > kind.width:
        return builder.trunc(value, kind)
    return value


def converted(builder: Any, value: Any, source: np.dtype[Any], target: np.dtype[Any]) -> Any:
    """An element converted to another dtype."""
    kind = value_type(target)
    if source == target:
        return value
    if source.char == "e":
        return converted(builder, single_of(builder, value), np.dtype("f"), target)
    if target.char == "e":
        return half_of(builder, value if source.kind == "f" else converted(builder, value, source, np.dtype("f")))
    if value.type == kind and source.kind != "b":
        return value
    if target.kind == "f":
        if source.kind == "f":
            return builder.fpext(value, kind)
        return (builder.sitofp if source.kind == "i" else builder.uitofp)(value, kind)
    return (builder.sext if source.kind == "i" else builder.zext)(value, kind)


# ---- operations ----


def _llvm(name: str) -> Callable[..., Any]:
    return lambda builder, dtype, *args: getattr(builder, name)(*args)


def _function(name: str) -> Callable[..., Any]:
    def build(builder: Any, dtype: np.dtype[Any], value: Any) -> Any:
        element, lanes = value.type, ""
        if isinstance(element, ir.VectorType):
            element, lanes = element.element, "v%d" % element.count
        symbol = "%s.%s%s" % (name, lanes, element.intrinsic_name)
        function = builder.module.globals.get(symbol)
        if function is None:
            function = ir.Function(builder.module, ir.FunctionType(value.type, [value.type]), symbol)
        return builder.call(function, [value])
    return build


def _compare(symbol: str) -> Callable[..., Any]:
    def build(builder: Any, dtype: np.dtype[Any], left: Any, right: Any) -> Any:
        if dtype.kind == "f":
            return (builder.fcmp_unordered if symbol == "!=" else builder.fcmp_ordered)(symbol, left, right)
        return (builder.icmp_signed if dtype.kind == "i" else builder.icmp_unsigned)(symbol, left, right)
    return build


def _pick(symbol: str) -> Callable[..., Any]:
    def build(builder: Any, dtype: np.dtype[Any], left: Any, right: Any) -> Any:
        return builder.select(_compare(symbol)(builder, dtype, left, right), left, right)
    return build


def _clip(builder: Any, dtype: np.dtype[Any], value: Any, low: Any, high: Any) -> Any:
    value = builder.select(_compare("<")(builder, dtype, value, low), low, value)
    return builder.select(_compare(">")(builder, dtype, value, high), high, value)


def _sign(builder: Any, dtype: np.dtype[Any], value: Any) -> Any:
    """0.0 for zeros of both signs; NaN stays what it is."""
    zero = ir.Constant(value.type, 0.0)
    result = builder.select(builder.fcmp_ordered("==", value, zero), zero, value)
    for symbol, sign in ((">", 1.0), ("<", -1.0)):
        result = builder.select(builder.fcmp_ordered(symbol, value, zero), ir.Constant(value.type, sign), result)
    return result


def _infinity(value: Any) -> Any:
    return ir.Constant(value.type, float("inf"))


def fits(builder: Any, value: Any, target: np.dtype[Any]) -> Any:
    """Whether a float is certain to fit into an integer dtype once its fraction is dropped."""
    bits = 8 * target.itemsize
    low, high = (-2.0 ** (bits - 1), 2.0 ** (bits - 1)) if target.kind == "i" else (-1.0, 2.0 ** bits)
    above = builder.fcmp_ordered(">=" if target.kind == "i" else ">", value, ir.Constant(value.type, low))
    return builder.and_(above, builder.fcmp_ordered("<", value, ir.Constant(value.type, high)))


def _truncated(builder: Any, target: np.dtype[Any], value: Any) -> Any:
    """A float without its fraction as an integer; 0 where it may not fit."""
    value = builder.select(fits(builder, value, target), value, ir.Constant(value.type, 0.0))
    if target.itemsize < 4:
        return builder.trunc(builder.fptosi(value, ir.IntType(32)), memory_type(target))
    return (builder.fptosi if target.kind == "i" else builder.fptoui)(value, memory_type(target))


def _negative(builder: Any, dtype: np.dtype[Any], value: Any) -> Any:
    return other_sign(builder, value) if dtype.kind == "f" else builder.neg(value)


def _absolute(builder: Any, dtype: np.dtype[Any], value: Any) -> Any:
    if dtype.kind == "f":
        return without_sign(builder, value)
    if dtype.kind == "u":
        return value
    below = builder.icmp_signed("<", value, ir.Constant(value.type, 0))
    return builder.select(below, builder.neg(value), value)


def _reciprocal(builder: Any, dtype: np.dtype[Any], value: Any) -> Any:
    return builder.fdiv(ir.Constant(value.type, 1.0), value)


def _by_kind(floating: str, integer: str) -> Callable[..., Any]:
    return lambda builder, dtype, *args: getattr(builder, floating if dtype.kind == "f" else integer)(*args)


def _times(name: str, integer: str = "") -> Callable[..., Any]:
    """A product or quotient; integers use another instruction, if any."""
    def build(builder: Any, dtype: np.dtype[Any], *args: Any) -> Any:
        if dtype.kind != "f":
            return getattr(builder, integer)(*args)
        return getattr(builder, name)(*[own_sign(builder, value) for value in args])
    return build


def own_sign(builder: Any, value: Any) -> Any:
    """A factor that LLVM cannot recognise as -1.0: it would negate instead, which changes the sign of NaN, too."""
    return unknown(builder, value) if isinstance(value, ir.Constant) and value.constant == -1.0 else value


def _picked(builder: Any, dtype: np.dtype[Any], condition: Any, value: Any) -> Any:
    """A number where a mask is set, else 1.

    LLVM must not fold this choice. It would drop it if another choice by the mask follows. It might also compute with
    elements that are not picked, which may raise a flag.
    """
    byte = builder.zext(condition, ir.IntType(8))
    chosen = builder.icmp_unsigned("!=", byte, unknown_byte(builder, 0))
    if dtype.char == "e":
        return builder.select(chosen, value, unknown_bits(builder, ir.Constant(I16, ONE)))
    one = ir.Constant(value.type, 1)
    return builder.select(chosen, value, unknown(builder, one) if dtype.kind == "f" else one)


OPERATIONS: Dict[str, Callable[..., Any]] = {
    "add": _by_kind("fadd", "add"), "sub": _by_kind("fsub", "sub"), "mul": _times("fmul", "mul"),
    "truediv": _times("fdiv"), "neg": _negative, "abs": _absolute, "sqrt": _function("llvm.sqrt"),
    "square": lambda builder, dtype, a: OPERATIONS["mul"](builder, dtype, a, a),
    "reciprocal": _reciprocal, "and": _llvm("and_"), "or": _llvm("or_"), "xor": _llvm("xor"),
    "where": lambda builder, dtype, condition, a, b: builder.select(condition, a, b),
    "picked": _picked,
    "invert": lambda builder, dtype, a: builder.not_(a),
    "clip": _clip, "sign": _sign, CONVERT: _truncated,
}
_EXTREMES = {"minimum": "<", "maximum": ">"}
OPERATIONS.update((name, _pick(symbol)) for name, symbol in _EXTREMES.items())
PREDICATES = {
    "isnan": lambda builder, dtype, a: builder.fcmp_unordered("uno", a, a),
    "isinf": lambda builder, dtype, a: builder.fcmp_ordered("==", _absolute(builder, dtype, a), _infinity(a)),
    "isfinite": lambda builder, dtype, a: builder.fcmp_ordered("<", _absolute(builder, dtype, a), _infinity(a)),
}
OPERATIONS.update(PREDICATES)
COMPARISONS = {"less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=", "equal": "==",
               "not_equal": "!="}
OPERATIONS.update((name, _compare(symbol)) for name, symbol in COMPARISONS.items())


def _dtype(step: Step) -> np.dtype[Any]:
    """The dtype that an operation is built for: that of the results of a conversion, else that of the operands."""
    return np.dtype(step.target or step.codes[-1])


def computed(builder: Any, step: Step, operands: List[Any]) -> Any:
    """The result of a step for operands of its dtypes, except for gathered elements."""
    dtype, operation = _dtype(step), OPERATIONS[step.operation]
    if step.operation == CONVERT:
        operands = [_computable(builder, step, operands[0])]
    if dtype.char != "e" or step.operation == "picked":
        return operation(builder, dtype, *operands)
    return HALF_OPERATIONS.get(step.operation, in_single(lambda *args: operation(args[0], np.dtype("f"), *args[1:])))(
        builder, *operands)


def _computable(builder: Any, step: Step, value: Any) -> Any:
    """An operand of a conversion as a number that LLVM knows."""
    return single_of(builder, value) if step.codes[-1] == "e" else value


def result_dtype(step: Step) -> np.dtype[Any]:
    """The dtype of a step's result, except for gathered elements."""
    return np.dtype(bool) if step.operation in COMPARISONS or step.operation in PREDICATES else _dtype(step)


# ---- watched results ----


def oddness(builder: Any, step: Step, result: Any, operands: List[Any]) -> Any:
    """A word that is not 0 if the result of a step is odd, so that NumPy might give another one or raise a flag.

    Odd are infinity and NaN from arithmetic, and floats that may not fit into an integer. An extreme is odd if NumPy's
    version and the element's position decide which operand it is.
    """
    name, kind = step.operation, _word_type(operands[0].type)
    if name == CONVERT:
        return builder.zext(builder.not_(fits(builder, _computable(builder, step, operands[0]), _dtype(step))), kind)
    if step.codes[-1] == "e":
        return builder.zext(special(builder, result), kind)
    if name in _EXTREMES:  # of a NaN and of equal operands the second one is picked
        other = _pick(_EXTREMES[name])(builder, np.dtype(float), *reversed(operands))
        return builder.xor(builder.bitcast(result, kind), builder.bitcast(other, kind))
    if name != "clip":
        return builder.bitcast(builder.fsub(result, result), kind)  # 0.0 except for infinity and NaN
    value, low, high = operands
    odd = builder.sext(builder.fcmp_unordered("uno", low, high), kind)
    odd = builder.or_(odd, _unlike(builder, builder.fcmp_ordered("==", low, high), low, high))
    unwanted = _other_zero(builder, low, _other_zero(builder, high, _everywhere(kind, -2)))
    return builder.or_(odd, builder.sext(builder.icmp_unsigned("==", builder.bitcast(value, kind), unwanted), kind))


def _other_zero(builder: Any, bound: Any, otherwise: Any) -> Any:
    """The bits of the zero of opposite sign, if a bound is zero; otherwise the word ``otherwise``.

    That word is the one of the other bound, or that of a NaN, which hardly any element is. If both bounds are zeros,
    either their bits are equal, or the bounds themselves are odd.
    """
    kind = otherwise.type
    word = kind.element if isinstance(kind, ir.VectorType) else kind
    other = builder.xor(builder.bitcast(bound, kind), _everywhere(kind, 1 << word.width - 1))
    return builder.select(builder.fcmp_ordered("==", bound, ir.Constant(bound.type, None)), other, otherwise)


def _unlike(builder: Any, equal: Any, one: Any, other: Any) -> Any:
    """The bits in which two equal floats differ; 0 where they are not equal."""
    kind = _word_type(one.type)
    unlike = builder.xor(builder.bitcast(one, kind), builder.bitcast(other, kind))
    return builder.select(equal, unlike, ir.Constant(kind, None))


def _word_type(kind: Any) -> Any:
    """The integer type as wide as a float type, or a vector of it. A float16 has such a type already."""
    if isinstance(kind, ir.VectorType):
        return ir.VectorType(_word_type(kind.element), kind.count)
    if isinstance(kind, ir.IntType):
        return kind
    return ir.IntType(64 if isinstance(kind, ir.DoubleType) else 32)


def _everywhere(kind: Any, number: int) -> Any:
    """An integer constant, or a vector with it in each lane."""
    return ir.Constant(kind, [number] * kind.count if isinstance(kind, ir.VectorType) else number)
