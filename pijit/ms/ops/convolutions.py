"""Convolutions and transposed convolutions of sequences and images.

Sequences are images with one row. A transposed convolution is one matrix product, whose columns are added to the
windows that they belong to.
"""

from __future__ import annotations

from typing import Any, Tuple

import numpy as np

from pijit.ms.ops.windows import (
    Padding,
    Pair,
    around_sequence,
    padded,
    paddings,
    pair,
    sequence_number,
    window_elements,
)
from pijit.ms.tensor import Tensor, array_of, made, operands


def _convolved(x: Any, w: Any, around: Padding, steps: Pair, gaps: Pair, groups: int) -> Any:
    """The convolution of an array of images."""
    kernel = (w.shape[2], w.shape[3])
    x = padded(x, around)
    cols = window_elements(x, kernel, steps, gaps)
    n, rows, columns = x.shape[0], cols.shape[3], cols.shape[4]
    cols = np.reshape(cols, (n, groups, w.shape[1] * kernel[0] * kernel[1], rows * columns))
    by_group = np.reshape(w, (groups, w.shape[0] // groups, w.shape[1] * kernel[0] * kernel[1]))
    return np.reshape(np.matmul(by_group, cols), (n, w.shape[0], rows, columns))


def _with_bias(r: Any, bias: Any) -> Tensor:
    """The images or sequences plus a number per channel, unless that is None."""
    if bias is None:
        return made(r)
    return made(r + np.reshape(array_of(bias), (1, r.shape[1]) + (1,) * (r.ndim - 2)))


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
    around = paddings(pad_mode, padding, (x.shape[2], x.shape[3]), kernel, steps, gaps)
    return _with_bias(_convolved(x, w, around, steps, gaps, groups), bias)


def conv2d_of(x: Any, weight: Any, out_channel: int, kernel_size: Any, mode: int = 1, pad_mode: str = "valid",
              pad: Any = 0, stride: Any = 1, dilation: Any = 1, group: int = 1, data_format: str = "NCHW") -> Tensor:
    """Convolution of images; the sizes are those of the weight."""
    return conv2d(x, weight, None, stride, pad_mode, pad, dilation, group)


def conv1d(input: Any, weight: Any, bias: Any = None, stride: Any = 1, pad_mode: str = "valid", padding: Any = 0,
           dilation: Any = 1, groups: int = 1) -> Tensor:
    """Convolution of sequences.

    Args:
        input: of shape (batch, channels, length).
        weight: of shape (out channels, channels / groups, kernel length).
        bias: a number per out channel, or None.
        stride, dilation: an int or a tuple of one.
        pad_mode: "same", "valid" or "pad"; see `paddings`.
        padding: with "pad": an int, or a tuple of two for the start and the end.
        groups: number of channel groups that are convolved separately.

    Returns:
        A tensor of shape (batch, out channels, length of the result).

    Raises:
        TypeError, ValueError: an argument is not accepted.

    Example:
        >>> conv1d(Tensor(np.ones((1, 2, 5), np.float32)), Tensor(np.ones((3, 2, 2), np.float32))).shape
        (1, 3, 4)
    """
    x, w = operands(input, weight)
    r = _convolved_sequences(x, np.expand_dims(w, 2), (1, sequence_number("conv1d: stride", stride)), pad_mode,
                             around_sequence("conv1d", padding),
                             (1, sequence_number("conv1d: dilation", dilation)), groups)
    return _with_bias(r, bias)


def conv1d_by_row(x: Any, weight: Any, bias: Any, stride: Pair, pad_mode: str, padding: Any, dilation: Pair,
                  groups: int) -> Tensor:
    """Convolution of sequences; weight, stride, padding and dilation are those of images with one row."""
    a, w = operands(x, weight)
    return _with_bias(_convolved_sequences(a, w, stride, pad_mode, padding, dilation, groups), bias)


def _convolved_sequences(x: Any, w: Any, steps: Pair, pad_mode: str, padding: Any, gaps: Pair, groups: int) -> Any:
    around = paddings(pad_mode, padding, (1, x.shape[2]), (w.shape[2], w.shape[3]), steps, gaps)
    r = _convolved(np.expand_dims(x, 2), w, around, steps, gaps, groups)
    return np.reshape(r, (r.shape[0], r.shape[1], r.shape[3]))


def result_part(pad_mode: str, padding: Any, lengths: Pair, kernel: Pair, steps: Pair, gaps: Pair,
                extra: Pair = (0, 0)) -> Tuple[Pair, Pair]:
    """The part of all sums that is the result of a transposed convolution.

    Args:
        pad_mode: "same": the length is multiplied by the stride; "valid": all sums, and zeros up to that length;
            "pad": without `padding` elements at the edges.
        padding: as for `paddings`.
        lengths: height and width of the images.
        kernel, steps, gaps: height and width of windows, strides, dilations.
        extra: numbers of elements added at the bottom and on the right.

    Returns:
        (first, length) of the rows and of the columns.

    Raises:
        ValueError: `pad_mode` is not accepted, or nothing is left of the sums.
    """
    grown = (lengths[0] * steps[0], lengths[1] * steps[1])
    (top, bottom), (left, right) = paddings(pad_mode, padding, grown, kernel, steps, gaps)
    height = _kept(pad_mode, lengths[0], steps[0], gaps[0] * (kernel[0] - 1) + 1, extra[0] - top - bottom)
    width = _kept(pad_mode, lengths[1], steps[1], gaps[1] * (kernel[1] - 1) + 1, extra[1] - left - right)
    return (top, height), (left, width)


def _kept(pad_mode: str, length: int, step: int, reach: int, change: int) -> int:
    """The length of the result along an axis; `reach` is the length of a window with its gaps."""
    if pad_mode == "same":
        return length * step
    if pad_mode == "valid":
        return length * step + max(reach - step, 0)
    if (length - 1) * step + reach + change < 1:
        raise ValueError("conv_transpose2d: padding must leave a result")
    return (length - 1) * step + reach + change


def transposed(x: Any, w: Any, part: Tuple[Pair, Pair], steps: Pair, gaps: Pair, groups: int) -> Any:
    """The transposed convolution of an array of images.

    Args:
        x: of shape (batch, channels, height, width).
        w: of shape (channels, out channels / groups, kernel height, kernel width).
        part: the part of the sums that is the result; see `result_part`.
        steps, gaps: strides and dilations.
        groups: number of channel groups that are convolved separately.
    """
    n, channels, rows, columns = x.shape
    kernel, outs = (w.shape[2], w.shape[3]), w.shape[1] * groups
    (top, height), (left, width) = part
    by_group = np.reshape(w, (groups, channels // groups, w.shape[1] * kernel[0] * kernel[1]))
    images = np.reshape(x, (n, groups, channels // groups, rows * columns))
    cols = np.reshape(np.matmul(np.swapaxes(by_group, 1, 2), images),
                      (n, outs, kernel[0], kernel[1], rows, columns))
    all_rows, all_columns = (rows - 1) * steps[0] + 1, (columns - 1) * steps[1] + 1
    sums = np.zeros((n, outs, max(all_rows + gaps[0] * (kernel[0] - 1), top + height),
                     max(all_columns + gaps[1] * (kernel[1] - 1), left + width)), cols.dtype)
    for i in range(kernel[0]):
        for j in range(kernel[1]):
            down, right = i * gaps[0], j * gaps[1]
            sums[:, :, down:down + all_rows:steps[0], right:right + all_columns:steps[1]] += cols[:, :, i, j]
    return np.array(sums[:, :, top:top + height, left:left + width])


def transposed_conv2d(x: Any, weight: Any, bias: Any, stride: Any, pad_mode: str, padding: Any, output_padding: Any,
                      dilation: Any, groups: int) -> Tensor:
    """Transposed convolution of images with all modes of padding; see `conv_transpose2d`."""
    a, w = operands(x, weight)
    steps, gaps = pair("stride", stride), pair("dilation", dilation)
    part = result_part(pad_mode, padding, (a.shape[2], a.shape[3]), (w.shape[2], w.shape[3]), steps, gaps,
                       pair("output_padding", output_padding))
    return _with_bias(transposed(a, w, part, steps, gaps, groups), bias)


def transposed_conv1d(x: Any, weight: Any, bias: Any, stride: Pair, pad_mode: str, padding: Any, dilation: Pair,
                      groups: int) -> Tensor:
    """Transposed convolution of sequences; weight, stride, padding and dilation are those of images with one row."""
    a, w = operands(x, weight)
    part = result_part(pad_mode, padding, (1, a.shape[2]), (w.shape[2], w.shape[3]), stride, dilation)
    r = transposed(np.expand_dims(a, 2), w, part, stride, dilation, groups)
    return _with_bias(np.reshape(r, (r.shape[0], r.shape[1], r.shape[3])), bias)


def conv_transpose2d(input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0,
                     output_padding: Any = 0, groups: int = 1, dilation: Any = 1) -> Tensor:
    """Transposed convolution of images: the linear map that is the gradient of `conv2d` by its input.

    Args:
        input: of shape (batch, channels, height, width).
        weight: of shape (channels, out channels / groups, kernel height, kernel width).
        bias: a number per out channel, or None.
        stride, dilation: an int or a tuple of two.
        padding: number of elements left out at each edge: an int or a tuple of two.
        output_padding: number of elements added at the bottom and on the right: an int or a tuple of two.
        groups: number of channel groups that are convolved separately.

    Returns:
        A tensor of shape (batch, out channels, height of the result, width of the result).

    Raises:
        TypeError, ValueError: an argument is not accepted.

    Example:
        >>> x, w = Tensor(np.ones((1, 2, 3, 3), np.float32)), Tensor(np.ones((2, 1, 2, 2), np.float32))
        >>> conv_transpose2d(x, w, stride=2).shape
        (1, 1, 6, 6)
    """
    return transposed_conv2d(input, weight, bias, stride, "pad", padding, output_padding, dilation, groups)
