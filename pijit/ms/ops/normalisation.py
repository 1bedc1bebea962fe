"""Normalisation of batches, layers, groups and instances."""

from __future__ import annotations

from typing import Any

import numpy as np

from pijit.ms.ops.elementwise import floating
from pijit.ms.tensor import Tensor, array_of, made

MOST = 9

LAST = {count: {ndim: tuple(range(ndim - count, ndim)) for ndim in range(count, MOST)} for count in range(1, MOST)}
"""The last axes, by their number and the number of dimensions; capture folds the dict lookup."""

ALL_BUT_CHANNELS = {ndim: (0,) + tuple(range(2, ndim)) for ndim in range(2, MOST)}
"""All axes except the second, by the number of dimensions."""


def batch_norm(input_x: Any, running_mean: Any, running_var: Any, weight: Any, bias: Any, training: bool = False,
               momentum: float = 0.1, eps: float = 1e-5) -> Tensor:
    """Batch normalisation per channel, the second dimension.

    Args:
        running_mean, running_var: a number per channel; used without `training`, otherwise updated from the batch.
        weight, bias: a factor and a summand per channel.
        momentum: weight of the batch in an update of the running numbers.
        eps: added to the variance.
    """
    x = floating(array_of(input_x))
    lengths = (1, x.shape[1]) + (1,) * (x.ndim - 2)
    if training:
        others = ALL_BUT_CHANNELS[x.ndim]
        mean = np.mean(x, axis=others)
        var = np.mean(np.square(x - np.reshape(mean, lengths)), axis=others)
        _move(running_mean, mean, momentum)
        count = x.size // x.shape[1]
        _move(running_var, var * x.dtype.type(count / max(count - 1, 1)), momentum)
    else:
        mean, var = array_of(running_mean), array_of(running_var)
    scaled = (x - np.reshape(mean, lengths)) / np.sqrt(np.reshape(var, lengths) + x.dtype.type(eps))
    r = scaled * np.reshape(array_of(weight), lengths) + np.reshape(array_of(bias), lengths)
    return made(r if r.dtype == x.dtype else r.astype(x.dtype))


def _move(running: Any, towards: Any, momentum: float) -> None:
    """Update a running number in place; gradients do not flow through it."""
    a = running._array
    a[...] = a * a.dtype.type(1 - momentum) + np.array(towards, dtype=a.dtype) * a.dtype.type(momentum)


def layer_norm(input: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Tensor:
    """Layer normalisation over the last dimensions."""
    x = floating(array_of(input))
    last = LAST[len(normalized_shape)][x.ndim]
    centred = x - np.mean(x, axis=last, keepdims=True)
    r = centred / np.sqrt(np.mean(np.square(centred), axis=last, keepdims=True) + x.dtype.type(eps))
    if weight is not None:
        r = r * array_of(weight)
    return made(r) if bias is None else made(r + array_of(bias))


def group_norm(input: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Tensor:
    """Group normalisation: over the channels of each group and the positions (Wu and He, 2018).

    Args:
        input: of shape (batch, channels, ...).
        num_groups: number of groups of channels; divides the number of channels.
        weight, bias: a factor and a summand per channel, or None.
        eps: added to the variance.

    Returns:
        A tensor of the input's shape.

    Raises:
        ValueError: the number of channels is no multiple of `num_groups`.

    Example:
        >>> group_norm(Tensor(np.ones((1, 4, 2, 2), np.float32)), 2).shape
        (1, 4, 2, 2)
    """
    x = floating(array_of(input))
    if x.shape[1] % num_groups:
        raise ValueError("group_norm: the number of channels must be a multiple of num_groups")
    groups = np.reshape(x, (x.shape[0], num_groups, x.size // (x.shape[0] * num_groups)))
    centred = groups - np.mean(groups, axis=2, keepdims=True)
    r = centred / np.sqrt(np.mean(np.square(centred), axis=2, keepdims=True) + x.dtype.type(eps))
    lengths = (1, x.shape[1]) + (1,) * (x.ndim - 2)
    r = np.reshape(r, x.shape)
    if weight is not None:
        r = r * np.reshape(array_of(weight), lengths)
    return made(r) if bias is None else made(r + np.reshape(array_of(bias), lengths))


def instance_norm(input_x: Any, running_mean: Any, running_var: Any, weight: Any, bias: Any, training: bool = False,
                  momentum: float = 0.9, eps: float = 1e-5) -> Tensor:
    """Normalisation of each channel of each item of a batch (Ulyanov and others, 2016).

    Args:
        input_x: of shape (batch, channels, ...).
        running_mean, running_var: a number per channel; with `training` updated from the mean over the batch.
        weight, bias: a factor and a summand per channel.
        momentum: weight of the batch in an update of the running numbers.
        eps: added to the variance.

    Returns:
        A tensor of the input's shape.
    """
    x = floating(array_of(input_x))
    rows = np.reshape(x, (x.shape[0], x.shape[1], x.size // (x.shape[0] * x.shape[1])))
    mean = np.mean(rows, axis=2, keepdims=True)
    centred = rows - mean
    var = np.mean(np.square(centred), axis=2, keepdims=True)
    if training:
        _move(running_mean, np.mean(mean, axis=(0, 2)), momentum)
        count = rows.shape[2]
        _move(running_var, np.mean(var, axis=(0, 2)) * x.dtype.type(count / max(count - 1, 1)), momentum)
    r = centred / np.sqrt(var + x.dtype.type(eps))
    lengths = (1, x.shape[1], 1)
    r = r * np.reshape(array_of(weight), lengths) + np.reshape(array_of(bias), lengths)
    return made(np.reshape(r, x.shape))


def layer_norm_of(input_x: Any, gamma: Any, beta: Any, begin_norm_axis: int = 1, begin_params_axis: int = 1,
                  epsilon: float = 1e-7) -> Any:
    """Layer normalisation over the dimensions from `begin_norm_axis` on; also returns the mean and the variance."""
    x = floating(array_of(input_x))
    last = tuple(range(begin_norm_axis % x.ndim, x.ndim))
    mean = np.mean(x, axis=last, keepdims=True)
    var = np.mean(np.square(x - mean), axis=last, keepdims=True)
    r = (x - mean) / np.sqrt(var + x.dtype.type(epsilon)) * array_of(gamma) + array_of(beta)
    return made(r), made(mean), made(var)
