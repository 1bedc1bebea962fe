"""Less common activation functions on tensors; the common ones are in `elementwise`."""

from __future__ import annotations

from typing import Any

import numpy as np

from pijit.ms.ops.elementwise import floating
from pijit.ms.tensor import Tensor, array_of, made


def hardtanh(input: Any, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """Values limited to the range between two bounds."""
    x = array_of(input)
    return made(np.minimum(np.maximum(x, x.dtype.type(min_val)), x.dtype.type(max_val)))


def hardsigmoid(input: Any) -> Tensor:
    """`(x + 3) / 6`, limited to the range from 0 to 1."""
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
    """`elu` with scaled argument: negative values become `alpha * (exp(x / alpha) - 1)`."""
    a = floating(array_of(x))
    factor = a.dtype.type(alpha)
    return made(np.where(a > 0, a, factor * np.expm1(np.minimum(a, a.dtype.type(0)) / factor)))


def softsign(x: Any) -> Tensor:
    """Values divided by 1 plus their absolute values."""
    a = floating(array_of(x))
    return made(a / (1 + np.absolute(a)))


def softshrink(input: Any, lambd: float = 0.5) -> Tensor:
    """Values moved towards 0 by `lambd`; values within `lambd` of 0 become 0."""
    x = array_of(input)
    edge = x.dtype.type(lambd)
    return made(np.where(x > edge, x - edge, np.where(x < -edge, x + edge, x.dtype.type(0))))


def hardshrink(input: Any, lambd: float = 0.5) -> Tensor:
    """Values within `lambd` of 0 become 0; the others are unchanged."""
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
    """Values above a threshold; the others are replaced by `value`."""
    x = array_of(input)
    return made(np.where(x > thr, x, x.dtype.type(value)))


def glu(x: Any, axis: int = -1) -> Tensor:
    """Gated linear unit: the first half of the values times the logistic function of the second half."""
    first, second = np.split(floating(array_of(x)), 2, axis=axis)
    return made(first / (1 + np.exp(-second)))


def prelu(input: Any, weight: Any) -> Tensor:
    """Leaky rectifier with a weight per channel, the second dimension, for negative values."""
    x, w = array_of(input), array_of(weight)
    if w.size > 1 and x.ndim > 1:
        w = np.reshape(w, (1, x.shape[1]) + (1,) * (x.ndim - 2))
    return made(np.where(x > 0, x, x * w))
