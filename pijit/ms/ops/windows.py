"""Windows of convolution and pooling: their padding, and their elements as columns.

Windows are gathered as columns (im2col), one strided view per position in the window. A convolution is then a matrix
product.
"""

from __future__ import annotations

from typing import Any, List, Tuple

import numpy as np

PAD_MODES = ("same", "valid", "pad")

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


def padded(x: Any, padding: Padding, value: Any = 0) -> Any:
    """Images with elements of this value around them."""
    (top, bottom), (left, right) = padding
    if not (top or bottom or left or right):
        return x
    r = np.full(x.shape[:2] + (x.shape[2] + top + bottom, x.shape[3] + left + right), value, x.dtype)
    r[:, :, top:top + x.shape[2], left:left + x.shape[3]] = x
    return r


def window_elements(x: Any, kernel: Pair, stride: Pair, dilation: Pair) -> Any:
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


def sequence_number(name: str, value: Any) -> int:
    """An integer for a sequence, from an integer or a tuple of one.

    Raises:
        TypeError: `value` is neither.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, (tuple, list)) and len(value) == 1:
        return int(value[0])
    raise TypeError("{} must be an int or a tuple of one; not {!r}".format(name, value))


def around_sequence(caller: str, padding: Any) -> Tuple[int, int, int, int]:
    """The padding of a sequence as that of an image with one row.

    Args:
        caller: the name of a layer or function, for errors.
        padding: an int, or a tuple of two for the start and the end.

    Raises:
        TypeError: `padding` is neither.
    """
    if isinstance(padding, int) and not isinstance(padding, bool):
        return 0, 0, padding, padding
    if isinstance(padding, (tuple, list)) and len(padding) in (1, 2):
        return 0, 0, int(padding[0]), int(padding[-1])
    raise TypeError("{}: padding must be an int or a tuple of two; not {!r}".format(caller, padding))
