"""Computations of layers: convolution, pooling, normalisation, softmax, losses.

Windows are gathered as columns (im2col), one strided view per position in the window. A convolution is then a matrix
product.
"""

from __future__ import annotations

from typing import Any, List, Optional, Tuple

import numpy as np

from pijit.ms.ops.elementwise import floating
from pijit.ms.ops.reductions import axes
from pijit.ms.tensor import Tensor, array_of, made, operands

PAD_MODES = ("same", "valid", "pad")
REDUCTIONS = ("mean", "sum", "none")

MOST = 9

LAST = {count: {ndim: tuple(range(ndim - count, ndim)) for ndim in range(count, MOST)} for count in range(1, MOST)}
"""The last axes, by their number and the number of dimensions; capture folds the dict lookup."""

ALL_BUT_CHANNELS = {ndim: (0,) + tuple(range(2, ndim)) for ndim in range(2, MOST)}
"""All axes except the second, by the number of dimensions."""

Pair = Tuple[int, int]
Padding = Tuple[Pair, Pair]


def pair(name: str, value: Any) -> Pair:
    """A pair of integers, from an integer, two integers, or the last two of four.

    Raises:
        TypeError: `value` is none of these.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return value, value
    if isinstance(value, (tuple, list)) and len(value) == 2:
        return int(value[0]), int(value[1])
    if isinstance(value, (tuple, list)) and len(value) == 4:
        return int(value[2]), int(value[3])
    raise TypeError("{} must be an int or a tuple of two; not {!r}".format(name, value))


def paddings(pad_mode: str, padding: Any, lengths: Pair, kernel: Pair, stride: Pair,
             dilation: Pair = (1, 1)) -> Padding:
    """The numbers of padding elements before and after each of two axes.

    Args:
        pad_mode: "same": the length of the result is the length divided by the stride, rounded up; "valid": no padding;
            "pad": as `padding` says.
        padding: an int, (top, bottom, left, right), or (vertical, horizontal).

    Raises:
        ValueError: `pad_mode` is none of these.
    """
    if pad_mode == "valid":
        return (0, 0), (0, 0)
    if pad_mode == "same":
        found = []
        for n, k, s, d in zip(lengths, kernel, stride, dilation):
            total = max((-(-n // s) - 1) * s + d * (k - 1) + 1 - n, 0)
            found.append((total // 2, total - total // 2))
        return found[0], found[1]
    if pad_mode != "pad":
        raise ValueError("pad_mode must be 'same', 'valid' or 'pad'; not {!r}".format(pad_mode))
    if isinstance(padding, int):
        return (padding, padding), (padding, padding)
    given = tuple(int(one) for one in padding)
    if len(given) == 2:
        return (given[0], given[0]), (given[1], given[1])
    return (given[0], given[1]), (given[2], given[3])


def _padded(x: Any, padding: Padding, value: Any = 0) -> Any:
    (top, bottom), (left, right) = padding
    if not (top or bottom or left or right):
        return x
    r = np.full(x.shape[:2] + (x.shape[2] + top + bottom, x.shape[3] + left + right), value, x.dtype)
    r[:, :, top:top + x.shape[2], left:left + x.shape[3]] = x
    return r


def _windows(x: Any, kernel: Pair, stride: Pair, dilation: Pair) -> Any:
    """The elements of each window, with the axes (batch, channel, position in the window, row, column)."""
    rows = (x.shape[2] - dilation[0] * (kernel[0] - 1) - 1) // stride[0] + 1
    columns = (x.shape[3] - dilation[1] * (kernel[1] - 1) - 1) // stride[1] + 1
    parts: List[Any] = []
    for i in range(kernel[0]):
        for j in range(kernel[1]):
            top, left = i * dilation[0], j * dilation[1]
            parts.append(x[:, :, top:top + (rows - 1) * stride[0] + 1:stride[0],
                           left:left + (columns - 1) * stride[1] + 1:stride[1]])
    return np.stack(parts, axis=2)


def conv2d(input: Any, weight: Any, bias: Any = None, stride: Any = 1, pad_mode: str = "valid", padding: Any = 0,
           dilation: Any = 1, groups: int = 1) -> Tensor:
    """Convolution of images.

    Args:
        input: of shape (batch, channels, height, width).
        weight: of shape (out channels, channels / groups, kernel height, kernel width).
        bias: a number per out channel, or None.
        stride, dilation: an int or a tuple of two.
        pad_mode, padding: see `paddings`.
        groups: number of channel groups that are convolved separately.
    """
    x, w = operands(input, weight)
    kernel, steps, gaps = (w.shape[2], w.shape[3]), pair("conv2d: stride", stride), pair("conv2d: dilation", dilation)
    x = _padded(x, paddings(pad_mode, padding, (x.shape[2], x.shape[3]), kernel, steps, gaps))
    cols = _windows(x, kernel, steps, gaps)
    n, rows, columns = x.shape[0], cols.shape[3], cols.shape[4]
    cols = np.reshape(cols, (n, groups, w.shape[1] * kernel[0] * kernel[1], rows * columns))
    by_group = np.reshape(w, (groups, w.shape[0] // groups, w.shape[1] * kernel[0] * kernel[1]))
    r = np.reshape(np.matmul(by_group, cols), (n, w.shape[0], rows, columns))
    return made(r) if bias is None else made(r + np.reshape(array_of(bias), (1, w.shape[0], 1, 1)))


def conv2d_of(x: Any, weight: Any, out_channel: int, kernel_size: Any, mode: int = 1, pad_mode: str = "valid",
              pad: Any = 0, stride: Any = 1, dilation: Any = 1, group: int = 1, data_format: str = "NCHW") -> Tensor:
    """Convolution of images; the sizes are those of the weight."""
    return conv2d(x, weight, None, stride, pad_mode, pad, dilation, group)


def max_pool2d(x: Any, kernel_size: Any = 1, strides: Any = None, pad_mode: str = "valid", padding: Any = 0,
               dilation: Any = 1) -> Tensor:
    """The greatest element of each window."""
    a = array_of(x)
    kernel = pair("max_pool2d: kernel_size", kernel_size)
    steps, gaps = (kernel if strides is None else pair("max_pool2d: strides", strides),
                   pair("max_pool2d: dilation", dilation))
    least = -np.inf if a.dtype.kind == "f" else np.iinfo(a.dtype).min
    around = paddings(pad_mode.lower(), padding, (a.shape[2], a.shape[3]), kernel, steps, gaps)
    return made(np.max(_windows(_padded(a, around, least), kernel, steps, gaps), axis=2))


def max_pool(x: Any, kernel_size: Any = 1, strides: Any = 1, pad_mode: str = "valid",
             data_format: str = "NCHW") -> Tensor:
    """The greatest element of each window."""
    return max_pool2d(x, kernel_size, strides, pad_mode)


def avg_pool2d(x: Any, kernel_size: Any = 1, strides: Any = 1, pad_mode: str = "valid", padding: Any = 0) -> Tensor:
    """The mean of each window; with "same", padding does not count."""
    a = floating(array_of(x))
    kernel, steps = pair("avg_pool2d: kernel_size", kernel_size), pair("avg_pool2d: strides", strides)
    around = paddings(pad_mode.lower(), padding, (a.shape[2], a.shape[3]), kernel, steps)
    total = np.sum(_windows(_padded(a, around), kernel, steps, (1, 1)), axis=2)
    there = _padded(np.ones((1, 1, a.shape[2], a.shape[3]), a.dtype), around, 1 if pad_mode.lower() == "pad" else 0)
    return made(total / np.sum(_windows(there, kernel, steps, (1, 1)), axis=2))


def avg_pool(x: Any, kernel_size: Any = 1, strides: Any = 1, pad_mode: str = "valid",
             data_format: str = "NCHW") -> Tensor:
    """The mean of each window."""
    return avg_pool2d(x, kernel_size, strides, pad_mode)


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
        _move(running_var, var * (count / max(count - 1, 1)), momentum)
    else:
        mean, var = array_of(running_mean), array_of(running_var)
    scaled = (x - np.reshape(mean, lengths)) / np.sqrt(np.reshape(var, lengths) + x.dtype.type(eps))
    r = scaled * np.reshape(array_of(weight), lengths) + np.reshape(array_of(bias), lengths)
    return made(r if r.dtype == x.dtype else r.astype(x.dtype))


def _move(running: Any, towards: Any, momentum: float) -> None:
    """Update a running number in place; gradients do not flow through it."""
    a = running._array
    a[...] = a * a.dtype.type(1 - momentum) + np.array(towards) * a.dtype.type(momentum)


def layer_norm(input: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Tensor:
    """Layer normalisation over the last dimensions."""
    x = floating(array_of(input))
    last = LAST[len(normalized_shape)][x.ndim]
    centred = x - np.mean(x, axis=last, keepdims=True)
    r = centred / np.sqrt(np.mean(np.square(centred), axis=last, keepdims=True) + x.dtype.type(eps))
    if weight is not None:
        r = r * array_of(weight)
    return made(r) if bias is None else made(r + array_of(bias))


def softmax(input: Any, axis: Any = -1) -> Tensor:
    """Exponentials divided by their sum along an axis."""
    x = floating(array_of(input))
    e = np.exp(x - np.max(x, axis=axes(axis), keepdims=True))
    return made(e / np.sum(e, axis=axes(axis), keepdims=True))


def log_softmax(logits: Any, axis: int = -1) -> Tensor:
    """Logarithms of `softmax`."""
    return made(_log_softmax(floating(array_of(logits)), axis))


def _log_softmax(x: Any, axis: int) -> Any:
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
    logs = _log_softmax(x, 1 if x.ndim > 1 else 0)
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
    return made(-np.sum(y * _log_softmax(x, -1), axis=-1))


def layer_norm_of(input_x: Any, gamma: Any, beta: Any, begin_norm_axis: int = 1, begin_params_axis: int = 1,
                  epsilon: float = 1e-7) -> Any:
    """Layer normalisation over the dimensions from `begin_norm_axis` on; also returns the mean and the variance."""
    x = floating(array_of(input_x))
    last = tuple(range(begin_norm_axis % x.ndim, x.ndim))
    mean = np.mean(x, axis=last, keepdims=True)
    var = np.mean(np.square(x - mean), axis=last, keepdims=True)
    r = (x - mean) / np.sqrt(var + x.dtype.type(epsilon)) * array_of(gamma) + array_of(beta)
    return made(r), made(mean), made(var)
