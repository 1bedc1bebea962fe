"""Elementwise operations on tensors."""

from __future__ import annotations

import math
from typing import Any, Callable

import numpy as np

from pijit.core.graph import special_functions
from pijit.ms.arrays import FLOAT, promoted
from pijit.ms.dtype import as_numpy
from pijit.ms.tensor import Tensor, array_of, binary, divide, made, operands

Operation = Callable[..., Any]


def floating(array: Any) -> Any:
    """The array itself if it is floating-point or complex; otherwise converted to float32."""
    return array if array.dtype.kind in "fc" else array.astype(FLOAT)


def _unary(name: str, ufunc: Any, text: str) -> Operation:
    def operation(input: Any) -> Tensor:
        return made(ufunc(array_of(input)))
    return _named(operation, name, text)


def _float_unary(name: str, ufunc: Any, text: str) -> Operation:
    def operation(input: Any) -> Tensor:
        return made(ufunc(floating(array_of(input))))
    return _named(operation, name, text)


def _binary(name: str, ufunc: Any, text: str) -> Operation:
    def operation(input: Any, other: Any) -> Tensor:
        r = binary(ufunc, input, other)
        if r is NotImplemented:
            raise TypeError("{}: input and other must be tensors or numbers; not {!r} and {!r}".format(
                name, input, other))
        return r  # type: ignore[no-any-return]
    return _named(operation, name, text)


def _named(operation: Any, name: str, text: str) -> Operation:
    operation.__name__ = operation.__qualname__ = name
    operation.__doc__ = text
    return operation  # type: ignore[no-any-return]


abs = _unary("abs", np.absolute, "Absolute values.")
neg = _unary("neg", np.negative, "Negated values.")
sign = _unary("sign", np.sign, "-1, 0 or 1 by the sign.")
square = _unary("square", np.square, "Squares.")
floor = _unary("floor", np.floor, "The greatest whole numbers that are not above.")
ceil = _unary("ceil", np.ceil, "The least whole numbers that are not below.")
trunc = _unary("trunc", np.trunc, "Values without their fractions.")
rint = _unary("rint", np.rint, "The nearest whole numbers, halves to even ones.")
conj = _unary("conj", np.conjugate, "Conjugates.")
logical_not = _unary("logical_not", np.logical_not, "True where a value is zero.")
invert = _unary("invert", np.invert, "Bitwise complements.")
isnan = _unary("isnan", np.isnan, "Where values are not numbers.")
isinf = _unary("isinf", np.isinf, "Where values are infinite.")
isfinite = _unary("isfinite", np.isfinite, "Where values are finite.")
exp = _float_unary("exp", np.exp, "Exponentials.")
expm1 = _float_unary("expm1", np.expm1, "Exponentials minus 1.")
exp2 = _float_unary("exp2", np.exp2, "Powers of 2.")
log = _float_unary("log", np.log, "Natural logarithms.")
log1p = _float_unary("log1p", np.log1p, "Natural logarithms of 1 plus the values.")
log2 = _float_unary("log2", np.log2, "Logarithms to base 2.")
log10 = _float_unary("log10", np.log10, "Logarithms to base 10.")
sqrt = _float_unary("sqrt", np.sqrt, "Square roots.")
sin = _float_unary("sin", np.sin, "Sines.")
cos = _float_unary("cos", np.cos, "Cosines.")
tan = _float_unary("tan", np.tan, "Tangents.")
asin = _float_unary("asin", np.arcsin, "Inverse sines.")
acos = _float_unary("acos", np.arccos, "Inverse cosines.")
atan = _float_unary("atan", np.arctan, "Inverse tangents.")
sinh = _float_unary("sinh", np.sinh, "Hyperbolic sines.")
cosh = _float_unary("cosh", np.cosh, "Hyperbolic cosines.")
tanh = _float_unary("tanh", np.tanh, "Hyperbolic tangents.")
asinh = _float_unary("asinh", np.arcsinh, "Inverse hyperbolic sines.")
acosh = _float_unary("acosh", np.arccosh, "Inverse hyperbolic cosines.")
atanh = _float_unary("atanh", np.arctanh, "Inverse hyperbolic tangents.")
reciprocal = _float_unary("reciprocal", np.reciprocal, "Reciprocals.")

add = _binary("add", np.add, "Sums of two operands, broadcast.")
sub = _binary("sub", np.subtract, "Differences of two operands, broadcast.")
mul = _binary("mul", np.multiply, "Products of two operands, broadcast.")
floor_div = _binary("floor_div", np.floor_divide, "Quotients rounded down.")
floor_mod = _binary("floor_mod", np.remainder, "Remainders with the sign of the divisor.")
fmod = _binary("fmod", np.fmod, "Remainders with the sign of the dividend.")
pow = _binary("pow", np.power, "Powers.")
maximum = _binary("maximum", np.maximum, "The greater one of two values.")
minimum = _binary("minimum", np.minimum, "The smaller one of two values.")
atan2 = _binary("atan2", np.arctan2, "Angles of the points (other, input).")
hypot = _binary("hypot", np.hypot, "Lengths of the hypotenuses.")
fmax = _binary("fmax", np.fmax, "The greater one of two values; a value goes before what is not a number.")
fmin = _binary("fmin", np.fmin, "The smaller one of two values; a value goes before what is not a number.")
logaddexp = _binary("logaddexp", np.logaddexp, "Logarithms of sums of exponentials.")
remainder = _binary("remainder", np.remainder, "Remainders with the sign of the divisor.")
equal = _binary("equal", np.equal, "Where two values are equal.")
not_equal = _binary("not_equal", np.not_equal, "Where two values differ.")
less = _binary("less", np.less, "Where the first value is smaller.")
less_equal = _binary("less_equal", np.less_equal, "Where the first value is not greater.")
greater = _binary("greater", np.greater, "Where the first value is greater.")
greater_equal = _binary("greater_equal", np.greater_equal, "Where the first value is not smaller.")
logical_and = _binary("logical_and", np.logical_and, "Where both values are true.")
logical_or = _binary("logical_or", np.logical_or, "Where a value is true.")
logical_xor = _binary("logical_xor", np.logical_xor, "Where one value alone is true.")
bitwise_and = _binary("bitwise_and", np.bitwise_and, "Bits that both have.")
bitwise_or = _binary("bitwise_or", np.bitwise_or, "Bits that one has.")
bitwise_xor = _binary("bitwise_xor", np.bitwise_xor, "Bits that one alone has.")


def div(input: Any, other: Any, *, rounding_mode: Any = None) -> Tensor:
    """Quotients; rounded down for "floor", truncated for "trunc"."""
    if rounding_mode not in (None, "floor", "trunc"):
        raise ValueError("div: rounding_mode must be None, 'floor' or 'trunc'; not {!r}".format(rounding_mode))
    r = divide(input, other)
    if r is NotImplemented:
        raise TypeError("div: input and other must be tensors or numbers; not {!r} and {!r}".format(input, other))
    if rounding_mode is None:
        return r  # type: ignore[no-any-return]
    a, b = operands(input, other)
    rounded = np.floor(r._array) if rounding_mode == "floor" else np.trunc(r._array)
    return made(rounded.astype(promoted(a.dtype, b.dtype)))


true_divide = divide


def rsqrt(input: Any) -> Tensor:
    """Reciprocals of square roots."""
    return made(1 / np.sqrt(floating(array_of(input))))


def round(input: Any, decimals: int = 0) -> Tensor:
    """Values rounded to a number of decimals, ties to even."""
    return made(np.round(array_of(input), decimals))


def squared_difference(x: Any, y: Any) -> Tensor:
    """Squares of differences."""
    a, b = operands(x, y)
    return made(np.square(a - b))


def addn(x: Any) -> Tensor:
    """The sum of several tensors."""
    total = x[0]
    for one in x[1:]:
        total = total + one
    return total  # type: ignore[no-any-return]


def clip_by_value(x: Any, clip_value_min: Any = None, clip_value_max: Any = None) -> Tensor:
    """Values limited to the range between two bounds."""
    if clip_value_min is None and clip_value_max is None:
        raise ValueError("clip_by_value: clip_value_min or clip_value_max must be given")
    if clip_value_min is not None:
        x = maximum(x, clip_value_min)
    return x if clip_value_max is None else minimum(x, clip_value_max)  # type: ignore[no-any-return]


def clamp(input: Any, min: Any = None, max: Any = None) -> Tensor:
    """Values limited to the range between two bounds."""
    return clip_by_value(input, min, max)


def cast(input: Any, dtype: Any) -> Tensor:
    """The tensor converted to another element type."""
    return made(array_of(input).astype(as_numpy(dtype, "cast")))


def where(condition: Any, input: Any, other: Any) -> Tensor:
    """Elements of `input` if a condition holds, otherwise of `other`."""
    a, b = operands(input, other) if isinstance(input, Tensor) or isinstance(other, Tensor) else (
        array_of(input), array_of(other))
    return made(np.where(array_of(condition), a, b))


def select(condition: Any, input: Any, other: Any) -> Tensor:
    """The same as `where`."""
    return where(condition, input, other)


def relu(input: Any) -> Tensor:
    """Rectifier: negative values become 0."""
    x = array_of(input)
    return made(np.where(x > 0, x, x.dtype.type(0)))


def relu6(x: Any) -> Tensor:
    """Values limited to the range from 0 to 6."""
    return clip_by_value(x, 0, 6)


def leaky_relu(input: Any, alpha: float = 0.2) -> Tensor:
    """Leaky rectifier: negative values are multiplied by `alpha`."""
    x = array_of(input)
    return made(np.where(x > 0, x, x * x.dtype.type(alpha)))


def elu(input_x: Any, alpha: float = 1.0) -> Tensor:
    """Exponential linear unit: negative values become `alpha * (exp(x) - 1)`."""
    x = array_of(input_x)
    return made(np.where(x > 0, x, x.dtype.type(alpha) * np.expm1(np.minimum(x, x.dtype.type(0)))))


def sigmoid(input: Any) -> Tensor:
    """Logistic function."""
    x = floating(array_of(input))
    return made(1 / (1 + np.exp(-x)))


def softplus(input: Any, beta: float = 1, threshold: float = 20) -> Tensor:
    """Smooth approximation of `relu`."""
    x = floating(array_of(input))
    scaled = x * x.dtype.type(beta)
    return made(np.where(scaled > threshold, x, np.log1p(np.exp(np.minimum(
        scaled, x.dtype.type(threshold)))) / x.dtype.type(beta)))


def silu(input: Any) -> Tensor:
    """Values times their logistic function."""
    x = floating(array_of(input))
    return made(x / (1 + np.exp(-x)))


def gelu(input: Any, approximate: str = "none") -> Tensor:
    """Values times the normal distribution function; "tanh" approximates it."""
    x = floating(array_of(input))
    if approximate not in ("none", "tanh"):
        raise ValueError("gelu: approximate must be 'none' or 'tanh'; not {!r}".format(approximate))
    if approximate == "tanh":
        inner = x.dtype.type(math.sqrt(2 / math.pi)) * (x + x.dtype.type(0.044715) * x * x * x)
        return made(x.dtype.type(0.5) * x * (1 + np.tanh(inner)))
    return made(x.dtype.type(0.5) * x * (1 + _erf(x * x.dtype.type(math.sqrt(0.5)))))


def erf(input: Any) -> Tensor:
    """Error function."""
    return made(_erf(floating(array_of(input))))


def _erf(x: Any) -> Any:
    return special_functions.erf(x).astype(x.dtype, copy=False)


def identity(x: Any) -> Tensor:
    """A copy."""
    return made(np.array(array_of(x)))


def real(input: Any) -> Tensor:
    """Real parts."""
    return made(np.array(np.real(array_of(input))))


def imag(input: Any) -> Tensor:
    """Imaginary parts."""
    return made(np.array(np.imag(array_of(input))))
