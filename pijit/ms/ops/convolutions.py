"""Convolution of images."""

from __future__ import annotations

from typing import Any

import numpy as np

from pijit.ms.ops.windows import padded, paddings, pair, window_elements
from pijit.ms.tensor import Tensor, array_of, made, operands


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
    x = padded(x, paddings(pad_mode, padding, (x.shape[2], x.shape[3]), kernel, steps, gaps))
    cols = window_elements(x, kernel, steps, gaps)
    n, rows, columns = x.shape[0], cols.shape[3], cols.shape[4]
    cols = np.reshape(cols, (n, groups, w.shape[1] * kernel[0] * kernel[1], rows * columns))
    by_group = np.reshape(w, (groups, w.shape[0] // groups, w.shape[1] * kernel[0] * kernel[1]))
    r = np.reshape(np.matmul(by_group, cols), (n, w.shape[0], rows, columns))
    return made(r) if bias is None else made(r + np.reshape(array_of(bias), (1, w.shape[0], 1, 1)))


def conv2d_of(x: Any, weight: Any, out_channel: int, kernel_size: Any, mode: int = 1, pad_mode: str = "valid",
              pad: Any = 0, stride: Any = 1, dilation: Any = 1, group: int = 1, data_format: str = "NCHW") -> Tensor:
    """Convolution of images; the sizes are those of the weight."""
    return conv2d(x, weight, None, stride, pad_mode, pad, dilation, group)
