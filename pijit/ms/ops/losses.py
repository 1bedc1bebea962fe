"""Losses."""

from __future__ import annotations

from typing import Any

import numpy as np

from pijit.ms.ops.elementwise import floating
from pijit.ms.ops.layers import log_softmax_of
from pijit.ms.tensor import Tensor, array_of, made, operands

REDUCTIONS = ("mean", "sum", "none")


def reduced(r: Any, reduction: str, caller: str) -> Tensor:
    """The mean or the sum of losses, or the losses themselves.

    Raises:
        ValueError: `reduction` is none of these.
    """
    if reduction not in REDUCTIONS:
        raise ValueError("{}: reduction must be 'mean', 'sum' or 'none'; not {!r}".format(caller, reduction))
    return made(np.mean(r) if reduction == "mean" else np.sum(r) if reduction == "sum" else r)


def mse_loss(input: Any, target: Any, reduction: str = "mean") -> Tensor:
    """Squared differences."""
    a, b = operands(input, target)
    return reduced(np.square(a - b), reduction, "mse_loss")


def l1_loss(input: Any, target: Any, reduction: str = "mean") -> Tensor:
    """Absolute differences."""
    a, b = operands(input, target)
    return reduced(np.absolute(a - b), reduction, "l1_loss")


def smooth_l1_loss(input: Any, target: Any, beta: float = 1.0, reduction: str = "none") -> Tensor:
    """Absolute differences; squared below `beta`."""
    a, b = operands(input, target)
    d, edge = np.absolute(a - b), a.dtype.type(beta)
    return reduced(np.where(d < edge, d * d / (2 * edge), d - edge / 2), reduction, "smooth_l1_loss")


def binary_cross_entropy(logits: Any, labels: Any, weight: Any = None, reduction: str = "mean") -> Tensor:
    """Cross entropies of probabilities; their logarithms are at least -100."""
    p, y = operands(logits, labels)
    least = p.dtype.type(-100)
    r = -(y * np.maximum(np.log(p), least) + (1 - y) * np.maximum(np.log(1 - p), least))
    return reduced(r if weight is None else r * array_of(weight), reduction, "binary_cross_entropy")


def binary_cross_entropy_with_logits(logits: Any, label: Any, weight: Any = None, pos_weight: Any = None,
                                     reduction: str = "mean") -> Tensor:
    """Cross entropies of the logistic functions of logits."""
    x, y = operands(logits, label)
    factor = 1 if pos_weight is None else (array_of(pos_weight) - 1) * y + 1
    r = (1 - y) * x + factor * (np.log1p(np.exp(-np.absolute(x))) + np.maximum(-x, x.dtype.type(0)))
    return reduced(r if weight is None else r * array_of(weight), reduction, "binary_cross_entropy_with_logits")


def nll_loss(inputs: Any, target: Any, weight: Any = None, ignore_index: int = -100, reduction: str = "mean") -> Tensor:
    """Negative log-probabilities of the targets; the second dimension holds the classes."""
    return _at_targets(array_of(inputs), array_of(target), weight, ignore_index, reduction, "nll_loss")


def cross_entropy(input: Any, target: Any, weight: Any = None, ignore_index: int = -100, reduction: str = "mean",
                  label_smoothing: float = 0.0) -> Tensor:
    """Cross entropies of logits; the targets are classes, or probabilities of classes."""
    x, y = floating(array_of(input)), array_of(target)
    logs = log_softmax_of(x, 1 if x.ndim > 1 else 0)
    if y.dtype.kind == "f":
        smoothed = y * (1 - label_smoothing) + label_smoothing / x.shape[1]
        r = -np.sum(logs * smoothed.astype(x.dtype), axis=1)
        return reduced(np.sum(r) / x.shape[0] if reduction == "mean" else r, reduction, "cross_entropy")
    if label_smoothing:
        eps = x.dtype.type(label_smoothing)
        chosen = _at_targets(logs, y, weight, ignore_index, reduction, "cross_entropy")._array
        return made((1 - eps) * chosen - eps * reduced(np.mean(logs, axis=1), reduction, "cross_entropy")._array)
    return _at_targets(logs, y, weight, ignore_index, reduction, "cross_entropy")


def _at_targets(logs: Any, y: Any, weight: Any, ignore_index: int, reduction: str, caller: str) -> Tensor:
    axis = 1 if logs.ndim > 1 else 0
    counted = y != ignore_index
    places = np.where(counted, y, 0)
    chosen = np.squeeze(np.take_along_axis(logs, np.expand_dims(places, axis), axis=axis), axis=axis)
    factor = counted.astype(logs.dtype) if weight is None else np.take(array_of(weight), places) * counted
    r = -chosen * factor
    if reduction == "mean":
        return made(np.sum(r) / np.sum(factor))
    return reduced(r, reduction, caller)


def softmax_cross_entropy_with_logits(logits: Any, labels: Any) -> Tensor:
    """Cross entropies of logits and probabilities of classes, one per row."""
    x, y = operands(logits, labels)
    return made(-np.sum(y * log_softmax_of(x, -1), axis=-1))
