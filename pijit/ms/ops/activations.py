"""Further activations on tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from pijit.ms.ops.elementwise import floating
from pijit.ms.tensor import Tensor, array_of, made


def hardtanh(input: Any, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """Values kept between two bounds."""
    x = array_of(input)
    return made(np.minimum(np.maximum(x, x.dtype.type(min_val)), x.dtype.type(max_val)))


def hardsigmoid(input: Any) -> Tensor:
    """`(x + 3) / 6`, kept between 0 and 1."""
    x = floating(array_of(input))
    return made(np.minimum(np.maximum((x + 3) / 6, x.dtype.type(0)), x.dtype.type(1)))


def hardswish(input: Any) -> Tensor:
    """Values times `hardsigmoid`."""
    x = floating(array_of(input))
    return made(x * np.minimum(np.maximum((x + 3) / 6, x.dtype.type(0)), x.dtype.type(1)))


def mish(x: Any) -> Tensor:
    """Values times the hyperbolic tangent of `softplus`."""
    a = floating(array_of(x))
    return made(a * np.tanh(np.log1p(np.exp(-np.absolute(a))) + np.maximum(a, a.dtype.type(0))))


def selu(input_x: Any) -> Tensor:
    """Scaled `elu` that keeps mean and variance (Klambauer and others, 2017)."""
    x = floating(array_of(input_x))
    scale, alpha = x.dtype.type(1.0507009873554805), x.dtype.type(1.6732632423543772)
    return made(scale * np.where(x > 0, x, alpha * np.expm1(np.minimum(x, x.dtype.type(0)))))


def celu(x: Any, alpha: float = 1.0) -> Tensor:
    """Values; negative ones as `alpha * (exp(x / alpha) - 1)`."""
    a = floating(array_of(x))
    factor = a.dtype.type(alpha)
    return made(np.where(a > 0, a, factor * np.expm1(np.minimum(a, a.dtype.type(0)) / factor)))


def softsign(x: Any) -> Tensor:
    """Values divided by 1 plus their absolute values."""
    a = floating(array_of(x))
    return made(a / (1 + np.absolute(a)))


def softshrink(input: Any, lambd: float = 0.5) -> Tensor:
    """Values moved towards 0 by `lambd`; 0 for those nearer to it."""
    x = array_of(input)
    edge = x.dtype.type(lambd)
    return made(np.where(x > edge, x - edge, np.where(x < -edge, x + edge, x.dtype.type(0))))


def hardshrink(input: Any, lambd: float = 0.5) -> Tensor:
    """Values; 0 for those nearer to 0 than `lambd`."""
    x = array_of(input)
    return made(np.where(np.absolute(x) > lambd, x, x.dtype.type(0)))


def tanhshrink(input: Any) -> Tensor:
    """Values minus their hyperbolic tangents."""
    x = floating(array_of(input))
    return made(x - np.tanh(x))


def logsigmoid(x: Any) -> Tensor:
    """Logarithms of logistic functions."""
    a = floating(array_of(x))
    return made(np.minimum(a, a.dtype.type(0)) - np.log1p(np.exp(-np.absolute(a))))


def threshold(input: Any, thr: float, value: float) -> Tensor:
    """Values above a threshold, another value for the rest."""
    x = array_of(input)
    return made(np.where(x > thr, x, x.dtype.type(value)))


def glu(x: Any, axis: int = -1) -> Tensor:
    """One half of the values times the logistic functions of the other half."""
    first, second = np.split(floating(array_of(x)), 2, axis=axis)
    return made(first / (1 + np.exp(-second)))


def prelu(input: Any, weight: Any) -> Tensor:
    """Values; negative ones times a weight per channel, the second dimension."""
    x, w = array_of(input), array_of(weight)
    if w.size > 1 and x.ndim > 1:
        w = np.reshape(w, (1, x.shape[1]) + (1,) * (x.ndim - 2))
    return made(np.where(x > 0, x, x * w))
