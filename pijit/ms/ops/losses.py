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
    return made(_reduction(r, reduction, caller))


def _reduction(r: Any, reduction: str, caller: str) -> Any:
    """`reduced` as an array or a NumPy number; captured code computes with numbers, not with arrays of shape ()."""
    if reduction not in REDUCTIONS:
        raise ValueError("{}: reduction must be 'mean', 'sum' or 'none'; not {!r}".format(caller, reduction))
    return np.mean(r) if reduction == "mean" else np.sum(r) if reduction == "sum" else r


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
    return made(_at_targets(array_of(inputs), array_of(target), weight, ignore_index, reduction, "nll_loss"))


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
        chosen = _at_targets(logs, y, weight, ignore_index, reduction, "cross_entropy")
        return made((1 - eps) * chosen - eps * _reduction(np.mean(logs, axis=1), reduction, "cross_entropy"))
    return made(_at_targets(logs, y, weight, ignore_index, reduction, "cross_entropy"))


def _at_targets(logs: Any, y: Any, weight: Any, ignore_index: int, reduction: str, caller: str) -> Any:
    axis = 1 if logs.ndim > 1 else 0
    counted = y != ignore_index
    places = np.where(counted, y, 0)
    chosen = np.squeeze(np.take_along_axis(logs, np.expand_dims(places, axis), axis=axis), axis=axis)
    factor = counted.astype(logs.dtype) if weight is None else np.take(array_of(weight), places) * counted
    r = -chosen * factor
    if reduction == "mean":
        return np.sum(r) / np.sum(factor)
    return _reduction(r, reduction, caller)


def softmax_cross_entropy_with_logits(logits: Any, labels: Any) -> Tensor:
    """Cross entropies of logits and probabilities of classes, one per row."""
    x, y = operands(logits, labels)
    return made(-np.sum(y * log_softmax_of(x, -1), axis=-1))


def kl_div(logits: Any, labels: Any, reduction: str = "mean") -> Tensor:
    """Kullback-Leibler divergences: `labels * (log(labels) - logits)`, and 0 where a label is 0.

    Args:
        logits: logarithms of probabilities.
        labels: probabilities, of the same shape.
        reduction: "mean", "sum", "none", or "batchmean": the sum divided by the length of the first dimension.

    Returns:
        A number, or with "none" a tensor of the shape of the arguments.

    Raises:
        ValueError: `reduction` is none of these.

    Example:
        >>> kl_div(Tensor([0.0, -1.0]), Tensor([0.0, 1.0]), "sum")
        Tensor(shape=[], dtype=Float32, value=  1.00000000e+00)
    """
    x, y = operands(logits, labels)
    r = y * (np.log(np.where(y == 0, y.dtype.type(1), y)) - x)
    if reduction == "batchmean":
        return made(np.sum(r) / x.dtype.type(x.shape[0]))
    return reduced(r, reduction, "kl_div")


def huber_loss(input: Any, target: Any, reduction: str = "mean", delta: float = 1.0) -> Tensor:
    """Half of the squared differences; linear in differences above `delta` (Huber, 1964).

    Args:
        input, target: tensors of shapes that broadcast.
        reduction: "mean", "sum" or "none".
        delta: the difference from which on the loss is linear, a positive number.

    Returns:
        A number, or with "none" a tensor of the shape of the differences.

    Raises:
        ValueError: `reduction` is none of these, or `delta` is not positive.

    Example:
        >>> huber_loss(Tensor([1.0, 5.0]), Tensor([0.0, 2.0]), "none")
        Tensor(shape=[2], dtype=Float32, value= [ 5.00000000e-01,  2.50000000e+00])
    """
    if not delta > 0:
        raise ValueError("huber_loss: delta must be positive")
    a, b = operands(input, target)
    d, edge, half = np.absolute(a - b), a.dtype.type(delta), a.dtype.type(0.5)
    return reduced(np.where(d <= edge, half * d * d, edge * (d - half * edge)), reduction, "huber_loss")


def cosine_embedding_loss(input1: Any, input2: Any, target: Any, margin: float = 0.0,
                          reduction: str = "mean") -> Tensor:
    """Losses of pairs of vectors by their cosine: 1 minus it for pairs that belong together, otherwise its excess.

    Args:
        input1, input2: vectors along the second dimension, of shape (batch, length, ...).
        target: 1 if a pair belongs together, -1 if not; of shape (batch, ...).
        margin: from -1 to 1; the cosine above which a pair that does not belong together has a loss.
        reduction: "mean", "sum" or "none".

    Returns:
        A number, or with "none" a tensor of the shape of `target`.

    Raises:
        ValueError: `margin` or `reduction` is not accepted.

    Example:
        >>> cosine_embedding_loss(Tensor([[3.0, 4.0]]), Tensor([[4.0, -3.0]]), Tensor([1]))
        Tensor(shape=[], dtype=Float32, value=  1.00000000e+00)
    """
    if not -1 <= margin <= 1:
        raise ValueError("cosine_embedding_loss: margin must be from -1 to 1")
    a, b = operands(input1, input2)
    y = array_of(target)
    cosine = np.sum(a * b, axis=1) / np.sqrt(np.sum(a * a, axis=1) * np.sum(b * b, axis=1))
    zero = cosine.dtype.type(0)
    apart = np.where(y == -1, np.maximum(cosine - cosine.dtype.type(margin), zero), zero)
    return reduced(np.where(y == 1, 1 - cosine, apart), reduction, "cosine_embedding_loss")


def margin_ranking_loss(input1: Any, input2: Any, target: Any, margin: float = 0.0, reduction: str = "mean") -> Tensor:
    """Losses of pairs in the wrong order: `max(0, -target * (input1 - input2) + margin)`.

    Args:
        input1, input2: tensors of one shape.
        target: 1 if the first should be greater, -1 if the second should; of the same shape.
        margin: the difference that has no loss.
        reduction: "mean", "sum" or "none".

    Returns:
        A number, or with "none" a tensor of the shape of the arguments.

    Raises:
        ValueError: `reduction` is none of these.

    Example:
        >>> margin_ranking_loss(Tensor([1.0, 2.0]), Tensor([2.0, 1.0]), Tensor([1, 1]), 0.5, "none")
        Tensor(shape=[2], dtype=Float32, value= [ 1.50000000e+00,  0.00000000e+00])
    """
    a, b = operands(input1, input2)
    y = array_of(target).astype(a.dtype)
    return reduced(np.maximum(a.dtype.type(margin) - y * (a - b), a.dtype.type(0)), reduction, "margin_ranking_loss")


def soft_margin_loss(input: Any, target: Any, reduction: str = "mean") -> Tensor:
    """Losses of two classes: `log(1 + exp(-target * input))`.

    Args:
        input: predictions.
        target: 1 or -1, of the same shape.
        reduction: "mean", "sum" or "none".

    Returns:
        A number, or with "none" a tensor of the shape of the arguments.

    Raises:
        ValueError: `reduction` is none of these.

    Example:
        >>> soft_margin_loss(Tensor([0.0, 1000.0]), Tensor([1, -1]), "none")
        Tensor(shape=[2], dtype=Float32, value= [ 6.93147182e-01,  1.00000000e+03])
    """
    x = floating(array_of(input))
    z = x * array_of(target).astype(x.dtype)
    return reduced(np.log1p(np.exp(-np.absolute(z))) + np.maximum(-z, z.dtype.type(0)), reduction, "soft_margin_loss")
