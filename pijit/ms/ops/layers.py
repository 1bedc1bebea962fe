"""Computations of layers that have no family of their own: softmax and dropout."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from pijit.ms.ops.elementwise import floating
from pijit.ms.ops.reductions import axes
from pijit.ms.tensor import Tensor, array_of, made


def softmax(input: Any, axis: Any = -1) -> Tensor:
    """Exponentials divided by their sum along an axis."""
    x = floating(array_of(input))
    e = np.exp(x - np.max(x, axis=axes(axis), keepdims=True))
    return made(e / np.sum(e, axis=axes(axis), keepdims=True))


def log_softmax(logits: Any, axis: int = -1) -> Tensor:
    """Logarithms of `softmax`."""
    return made(log_softmax_of(floating(array_of(logits)), axis))


def log_softmax_of(x: Any, axis: int) -> Any:
    """Logarithms of `softmax` of an array."""
    shifted = x - np.max(x, axis=axis, keepdims=True)
    return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))


def dropout(input: Any, p: float = 0.5, training: bool = True, seed: Optional[int] = None) -> Tensor:
    """Elements set to 0 with probability `p`, the others scaled up; the input if not `training`.

    Raises:
        ValueError: `p` is not from 0 to below 1.
    """
    from pijit.ms.ops.creation import generator

    if not 0 <= p < 1:
        raise ValueError("dropout: p must be from 0 to below 1; not {!r}".format(p))
    x = array_of(input)
    if not training or p == 0:
        return made(np.array(x))
    source = generator() if seed is None else np.random.RandomState(seed)
    kept = source.random_sample(x.shape) >= p
    return made(np.where(kept, x / x.dtype.type(1 - p), x.dtype.type(0)))
