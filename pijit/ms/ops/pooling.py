"""Pooling: the greatest element or the mean of each window, or of each part of an image."""

from __future__ import annotations

from typing import Any, Callable, List

import numpy as np

from pijit.ms.ops.elementwise import floating
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
from pijit.ms.tensor import Tensor, array_of, made


def _greatest(a: Any, kernel: Pair, steps: Pair, gaps: Pair, around: Padding) -> Any:
    least = -np.inf if a.dtype.kind == "f" else np.iinfo(a.dtype).min
    return np.max(window_elements(padded(a, around, least), kernel, steps, gaps), axis=2)


def _means(a: Any, kernel: Pair, steps: Pair, around: Padding, counted: int) -> Any:
    """The means of windows; `counted` is 1 if padding counts, otherwise 0."""
    total = np.sum(window_elements(padded(a, around), kernel, steps, (1, 1)), axis=2)
    there = padded(np.ones((1, 1, a.shape[2], a.shape[3]), a.dtype), around, counted)
    return total / np.sum(window_elements(there, kernel, steps, (1, 1)), axis=2)


def max_pool2d(x: Any, kernel_size: Any = 1, strides: Any = None, pad_mode: str = "valid", padding: Any = 0,
               dilation: Any = 1) -> Tensor:
    """The greatest element of each window."""
    array = array_of(x)
    a = np.expand_dims(array, 0) if array.ndim == 3 else array
    kernel = pair("max_pool2d: kernel_size", kernel_size)
    steps, gaps = (kernel if strides is None else pair("max_pool2d: strides", strides),
                   pair("max_pool2d: dilation", dilation))
    around = paddings(pad_mode.lower(), padding, (a.shape[2], a.shape[3]), kernel, steps, gaps)
    r = _greatest(a, kernel, steps, gaps, around)
    return made(np.reshape(r, r.shape[1:]) if array.ndim == 3 else r)


def max_pool(x: Any, kernel_size: Any = 1, strides: Any = 1, pad_mode: str = "valid",
             data_format: str = "NCHW") -> Tensor:
    """The greatest element of each window."""
    return max_pool2d(x, kernel_size, strides, pad_mode)


def max_pool_by_row(x: Any, kernel: Pair, steps: Pair, pad_mode: str, padding: Any, gaps: Pair) -> Tensor:
    """The greatest element of each window of sequences; the sizes are those of images with one row."""
    a = array_of(x)
    around = paddings(pad_mode, padding, (1, a.shape[-1]), kernel, steps, gaps)
    r = _greatest(_with_row(a), kernel, steps, gaps, around)
    return made(np.reshape(r, a.shape[:-1] + (r.shape[3],)))


def avg_pool2d(x: Any, kernel_size: Any = 1, strides: Any = 1, pad_mode: str = "valid", padding: Any = 0) -> Tensor:
    """The mean of each window; with "same", padding does not count."""
    a = floating(array_of(x))
    kernel, steps = pair("avg_pool2d: kernel_size", kernel_size), pair("avg_pool2d: strides", strides)
    around = paddings(pad_mode.lower(), padding, (a.shape[2], a.shape[3]), kernel, steps)
    return made(_means(a, kernel, steps, around, 1 if pad_mode.lower() == "pad" else 0))


def avg_pool(x: Any, kernel_size: Any = 1, strides: Any = 1, pad_mode: str = "valid",
             data_format: str = "NCHW") -> Tensor:
    """The mean of each window."""
    return avg_pool2d(x, kernel_size, strides, pad_mode)


def avg_pool_by_row(x: Any, kernel: Pair, steps: Pair, pad_mode: str, padding: Any, counted: int) -> Tensor:
    """The mean of each window of sequences; the sizes are those of images with one row.

    Args:
        counted: with pad_mode "pad": 1 if padding counts, otherwise 0.
    """
    a = floating(array_of(x))
    around = paddings(pad_mode, padding, (1, a.shape[-1]), kernel, steps)
    r = _means(_with_row(a), kernel, steps, around, counted if pad_mode == "pad" else 0)
    return made(np.reshape(r, a.shape[:-1] + (r.shape[3],)))


def avg_pool1d(input_x: Any, kernel_size: Any = 1, stride: Any = 1, padding: Any = 0, ceil_mode: bool = False,
               count_include_pad: bool = True) -> Tensor:
    """The mean of each window of sequences.

    Args:
        input_x: of shape (batch, channels, length) or (channels, length).
        kernel_size, stride: an int or a tuple of one.
        padding: an int, or a tuple of two for the start and the end.
        ceil_mode: False.
        count_include_pad: whether the padding counts as zeros.

    Returns:
        A tensor with the number of windows as its last dimension.

    Raises:
        TypeError, ValueError: an argument is not accepted.

    Example:
        >>> avg_pool1d(Tensor([[[1.0, 3.0, 5.0]]]), 2, 1)
        Tensor(shape=[1, 1, 2], dtype=Float32, value=
        [[[ 2.00000000e+00,  4.00000000e+00]]])
    """
    if ceil_mode:
        raise ValueError("avg_pool1d: ceil_mode must be False")
    return avg_pool_by_row(input_x, (1, sequence_number("avg_pool1d: kernel_size", kernel_size)),
                           (1, sequence_number("avg_pool1d: stride", stride)), "pad",
                           around_sequence("avg_pool1d", padding), 1 if count_include_pad else 0)


def _with_row(a: Any) -> Any:
    """Sequences as images with one row; without a batch, as a batch of one."""
    return np.expand_dims(a, 2) if a.ndim == 3 else np.expand_dims(a, (0, 2))


# Adaptive pooling. Part k of `count` of an axis begins at k * length / count, rounded down, and ends at
# (k + 1) * length / count, rounded up.


def by_parts(a: Any, count: int, reduction: Callable[..., Any]) -> Any:
    """A reduction such as `np.mean` of each part of the last axis."""
    parts: List[Any] = []
    for k in range(count):
        parts.append(reduction(a[..., k * a.shape[-1] // count:-(-(k + 1) * a.shape[-1] // count)], axis=-1))
    return np.stack(parts, axis=-1)


def by_parts_of_images(a: Any, output_size: Any, reduction: Callable[..., Any]) -> Any:
    """A reduction of each part of images; None in `output_size` is the length itself."""
    if output_size[0] is not None:
        a = np.swapaxes(by_parts(np.swapaxes(a, -1, -2), output_size[0], reduction), -1, -2)
    if output_size[1] is not None:
        a = by_parts(a, output_size[1], reduction)
    return np.array(a, order="C")


def output_lengths(caller: str, output_size: Any) -> Any:
    """(height, width) of the result of adaptive pooling, each an int or None.

    Raises:
        TypeError: `output_size` is no int, None, or tuple of two of them.
        ValueError: a length is not positive.
    """
    given = tuple(output_size) if isinstance(output_size, (tuple, list)) else (output_size, output_size)
    for one in given:
        if len(given) != 2 or isinstance(one, bool) or not (one is None or isinstance(one, int)):
            raise TypeError("{}: output_size must be an int, None or a tuple of two; not {!r}".format(
                caller, output_size))
        if one is not None and one < 1:
            raise ValueError("{}: output_size must be positive; not {!r}".format(caller, output_size))
    return given


def output_length(caller: str, output_size: Any) -> int:
    """The length of the result of adaptive pooling of sequences.

    Raises:
        TypeError: `output_size` is no int.
        ValueError: it is not positive.
    """
    if isinstance(output_size, bool) or not isinstance(output_size, int):
        raise TypeError("{}: output_size must be an int; not {!r}".format(caller, output_size))
    if output_size < 1:
        raise ValueError("{}: output_size must be positive; not {!r}".format(caller, output_size))
    return output_size


def adaptive_avg_pool2d(input: Any, output_size: Any) -> Tensor:
    """The mean of each part of images that are divided into a given number of parts.

    Args:
        input: of shape (batch, channels, height, width) or (channels, height, width).
        output_size: the height and width of the result: an int, or a tuple of two; None is that of the input.

    Returns:
        A tensor with these lengths as its last dimensions.

    Raises:
        TypeError, ValueError: `output_size` is not accepted.

    Example:
        >>> adaptive_avg_pool2d(Tensor(np.ones((1, 2, 5, 7), np.float32)), (3, None)).shape
        (1, 2, 3, 7)
    """
    return made(by_parts_of_images(floating(array_of(input)), output_lengths("adaptive_avg_pool2d", output_size),
                                   np.mean))


def adaptive_max_pool2d(input: Any, output_size: Any, return_indices: bool = False) -> Tensor:
    """The greatest element of each part of images that are divided into a given number of parts.

    Args:
        input, output_size: as for `adaptive_avg_pool2d`.
        return_indices: False.

    Returns:
        A tensor with these lengths as its last dimensions.

    Raises:
        TypeError, ValueError: an argument is not accepted.

    Example:
        >>> adaptive_max_pool2d(Tensor(np.ones((1, 2, 5, 7), np.float32)), 3).shape
        (1, 2, 3, 3)
    """
    if return_indices:
        raise ValueError("adaptive_max_pool2d: return_indices must be False")
    return made(by_parts_of_images(array_of(input), output_lengths("adaptive_max_pool2d", output_size), np.max))


def adaptive_avg_pool1d(input: Any, output_size: int) -> Tensor:
    """The mean of each part of sequences that are divided into `output_size` parts.

    Args:
        input: of shape (batch, channels, length) or (channels, length).
        output_size: the length of the result.

    Returns:
        A tensor with this length as its last dimension.

    Raises:
        TypeError, ValueError: `output_size` is not accepted.

    Example:
        >>> adaptive_avg_pool1d(Tensor(np.ones((1, 2, 5), np.float32)), 3).shape
        (1, 2, 3)
    """
    return made(by_parts(floating(array_of(input)), output_length("adaptive_avg_pool1d", output_size), np.mean))


def adaptive_max_pool1d(input: Any, output_size: int) -> Tensor:
    """The greatest element of each part of sequences; arguments, result and errors as for `adaptive_avg_pool1d`."""
    return made(by_parts(array_of(input), output_length("adaptive_max_pool1d", output_size), np.max))
