"""Derivatives of NumPy's float ufuncs and of the functions of `math`.

For complex operands the tape passes conjugates of the operands and the result. A function that is real on the real axis
has f(conj(z)) = conj(f(z)). So the same rule then gives the product with the conjugated partial. `derivatives` imports
it. A rule must be plain NumPy code.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pijit.core.graph.derivatives.table import ELEMENTWISE, cut, derivative, elementwise
from pijit.core.graph.special_functions import erf

LN2, LN10 = math.log(2.0), math.log(10.0)
DEGREES = 180.0 / math.pi
TWO_OVER_ROOT_PI = 2.0 / math.sqrt(math.pi)


def _power_base(g: Any, r: Any, x: Any, y: Any) -> Any:
    if np.ndim(x) == np.ndim(y) == 0:
        return g * (y * np.power(x, y - 1)) if y != 0 else g * np.zeros_like(r)[()]
    return g * np.where(y == 0, np.zeros_like(r), y * np.power(x, np.where(y == 0, np.ones_like(y), y - 1)))


def _power_exponent(g: Any, r: Any, x: Any, y: Any) -> Any:
    if np.iscomplexobj(r):
        return g * np.where(x == 0, np.zeros_like(r), r * np.log(np.where(x == 0, np.ones_like(x), x)))
    zero = (x == 0) & (y >= 0)
    return g * np.where(zero, np.zeros_like(r), r * np.log(np.where(zero, np.ones_like(x), x)))


def _larger(x: Any, y: Any, r: Any) -> Any:
    """The share of the adjoint that the first operand of an extreme gets: 1, 0.5 if both are equal, or 0."""
    equal = (x == y) | ((x != x) & (y != y))
    return np.where(equal, 0.5, np.where((r == x) | (x != x) & (r != r), 1.0, 0.0))


def _first_of_extreme(g: Any, r: Any, x: Any, y: Any) -> Any:
    return g * _larger(x, y, r)


def _second_of_extreme(g: Any, r: Any, x: Any, y: Any) -> Any:
    return g * _larger(y, x, r)


def _absolute(g: Any, r: Any, x: Any) -> Any:
    if np.iscomplexobj(x):
        return g * np.where(r == 0, np.zeros_like(x), x / np.where(r == 0, 1.0, r))
    return g * np.sign(x)


def _angle(g: Any, r: Any, x: Any) -> Any:
    return g * 1j * x / np.square(np.abs(x)) if np.iscomplexobj(x) else np.zeros_like(x)


# Arithmetic.
elementwise(np.add, "g; g", lambda g, r, x, y: g, lambda g, r, x, y: g)
elementwise(np.subtract, "g; -g", lambda g, r, x, y: g, lambda g, r, x, y: -g)
elementwise(np.multiply, "g y; g x", lambda g, r, x, y: g * y, lambda g, r, x, y: g * x)
elementwise(np.divide, "g / y; -(g / y) r", lambda g, r, x, y: g / y, lambda g, r, x, y: -(g / y * r), singular=True)
elementwise(np.power, "g y x^(y-1); g r log x, 0 where x = 0 and y >= 0", _power_base, _power_exponent, singular=True)
elementwise(np.float_power, "g y x^(y-1); g r log x, 0 where x = 0 and y >= 0", _power_base, _power_exponent,
            singular=True)
elementwise(np.negative, "-g", lambda g, r, x: -g)
elementwise(np.positive, "g", lambda g, r, x: g)
elementwise(np.square, "2 g x", lambda g, r, x: g * (2 * x))
elementwise(np.sqrt, "g / (2 r)", lambda g, r, x: g * 0.5 / r, singular=True)
elementwise(np.cbrt, "g / (3 r^2)", lambda g, r, x: g / (3 * r * r), singular=True)
elementwise(np.reciprocal, "-(g r) r", lambda g, r, x: -(g * r) * r, singular=True)
elementwise(np.remainder, "g; -g floor(x / y)", lambda g, r, x, y: g, lambda g, r, x, y: -g * np.floor(x / y))
elementwise(np.fmod, "g; -g trunc(x / y)", lambda g, r, x, y: g, lambda g, r, x, y: -g * np.trunc(x / y))

# Exponentials and logarithms.
elementwise(np.exp, "g r", lambda g, r, x: g * r)
elementwise(np.exp2, "g r ln 2", lambda g, r, x: g * (r * LN2))
elementwise(np.expm1, "g (r + 1)", lambda g, r, x: g * (r + 1))
elementwise(np.log, "g / x", lambda g, r, x: g / x, singular=True)
elementwise(np.log2, "g / (x ln 2)", lambda g, r, x: g / (x * LN2), singular=True)
elementwise(np.log10, "g / (x ln 10)", lambda g, r, x: g / (x * LN10), singular=True)
elementwise(np.log1p, "g / (1 + x)", lambda g, r, x: g / (1 + x), singular=True)
elementwise(np.logaddexp, "g exp(x - r); g exp(y - r)", lambda g, r, x, y: g * np.exp(x - r),
            lambda g, r, x, y: g * np.exp(y - r), singular=True)
elementwise(np.logaddexp2, "g 2^(x - r); g 2^(y - r)", lambda g, r, x, y: g * np.exp2(x - r),
            lambda g, r, x, y: g * np.exp2(y - r), singular=True)

# Trigonometric and hyperbolic functions.
elementwise(np.sin, "g cos x", lambda g, r, x: g * np.cos(x))
elementwise(np.cos, "-g sin x", lambda g, r, x: -g * np.sin(x))
elementwise(np.tan, "g (1 + r^2)", lambda g, r, x: g * (1 + r * r))
elementwise(np.sinh, "g cosh x", lambda g, r, x: g * np.cosh(x))
elementwise(np.cosh, "g sinh x", lambda g, r, x: g * np.sinh(x))
elementwise(np.tanh, "g (1 - r^2)", lambda g, r, x: g * (1 - r * r))
elementwise(np.arcsin, "g / sqrt(1 - x^2)", lambda g, r, x: g / np.sqrt(1 - x * x), singular=True)
elementwise(np.arccos, "-g / sqrt(1 - x^2)", lambda g, r, x: -g / np.sqrt(1 - x * x), singular=True)
elementwise(np.arctan, "g / (1 + x^2)", lambda g, r, x: g / (1 + x * x))
elementwise(np.arcsinh, "g / sqrt(1 + x^2)", lambda g, r, x: g / np.sqrt(1 + x * x))
elementwise(np.arccosh, "g / (sqrt(x - 1) sqrt(x + 1))", lambda g, r, x: g / (np.sqrt(x - 1) * np.sqrt(x + 1)),
            singular=True)
elementwise(np.arctanh, "g / (1 - x^2)", lambda g, r, x: g / (1 - x * x), singular=True)
elementwise(np.arctan2, "g y / (x^2 + y^2); -g x / (x^2 + y^2)", lambda g, r, x, y: g * (y / (x * x + y * y)),
            lambda g, r, x, y: -g * (x / (x * x + y * y)), singular=True)
elementwise(np.hypot, "g x / r; g y / r", lambda g, r, x, y: g * (x / r), lambda g, r, x, y: g * (y / r), singular=True)
elementwise(np.deg2rad, "g pi / 180", lambda g, r, x: g / DEGREES)
elementwise(np.radians, "g pi / 180", lambda g, r, x: g / DEGREES)
elementwise(np.rad2deg, "g 180 / pi", lambda g, r, x: g * DEGREES)
elementwise(np.degrees, "g 180 / pi", lambda g, r, x: g * DEGREES)

# Choices between operands.
for _extreme in (np.maximum, np.minimum, np.fmax, np.fmin):
    elementwise(_extreme, "g to the operand that is the result, half each where both are equal", _first_of_extreme,
                _second_of_extreme)
elementwise(np.copysign, "g sign(x) sign(r); 0", lambda g, r, x, y: g * (np.sign(x) * np.copysign(1.0, y)),
            lambda g, r, x, y: np.zeros_like(r))
elementwise(np.nextafter, "g; 0", lambda g, r, x, y: g, lambda g, r, x, y: np.zeros_like(r))
elementwise(np.ldexp, "g 2^y", lambda g, r, x, y: g * np.ldexp(np.ones_like(x), y), lambda g, r, x, y: np.zeros_like(r))

# Functions that are not holomorphic: the rule gets the operands themselves.
elementwise(np.absolute, "g sign(x); g x / |x|", _absolute, holomorphic=False)
elementwise(np.fabs, "g sign(x)", _absolute, holomorphic=False)
elementwise(np.conjugate, "conj(g)", lambda g, r, x: np.conj(g), holomorphic=False)

# Functions of math have the same rules.
for _mathematical, _ufunc in ((math.exp, np.exp), (math.expm1, np.expm1), (math.log1p, np.log1p), (math.log2, np.log2),
                              (math.log10, np.log10), (math.sqrt, np.sqrt), (math.sin, np.sin), (math.cos, np.cos),
                              (math.tan, np.tan), (math.asin, np.arcsin), (math.acos, np.arccos),
                              (math.atan, np.arctan), (math.sinh, np.sinh), (math.cosh, np.cosh),
                              (math.tanh, np.tanh), (math.asinh, np.arcsinh),
                              (math.acosh, np.arccosh), (math.atanh, np.arctanh), (math.atan2, np.arctan2),
                              (math.pow, np.power), (math.fabs, np.fabs),
                              (math.copysign, np.copysign), (math.fmod, np.fmod), (math.degrees, np.degrees),
                              (math.radians, np.radians), (math.ldexp, np.ldexp)):
    _rule = ELEMENTWISE[_ufunc]
    elementwise(_mathematical, _rule.formula, *_rule.partials, singular=_rule.singular, holomorphic=_rule.holomorphic)


@derivative(math.hypot, operands=0)
def _hypot(g: Any, r: Any, *coordinates: Any) -> Any:
    return tuple(np.where(r == 0, 0.0, g * (x / np.where(r == 0, 1.0, r))) for x in coordinates)


for _erf in (math.erf, erf):
    elementwise(_erf, "g 2 exp(-x^2) / sqrt(pi)", lambda g, r, x: g * (TWO_OVER_ROOT_PI * np.exp(-x * x)))
elementwise(math.erfc, "-g 2 exp(-x^2) / sqrt(pi)", lambda g, r, x: -g * (TWO_OVER_ROOT_PI * np.exp(-x * x)))

cut("constant between its steps", np.floor, np.ceil, np.trunc, np.rint, np.sign, np.floor_divide, np.heaviside,
    math.floor, math.ceil, math.trunc, np.spacing)
cut("the result is a truth value", np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal,
    np.isnan, np.isinf, np.isfinite, np.signbit, np.logical_and, np.logical_or, np.logical_xor, np.logical_not,
    math.isnan, math.isinf, math.isfinite, math.isclose, np.isclose, np.allclose, np.array_equal)
