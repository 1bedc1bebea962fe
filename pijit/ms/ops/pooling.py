"""Pooling: the greatest element or the mean of each window."""

from __future__ import annotations

from typing import Any

import numpy as np

from pijit.ms.ops.elementwise import floating
from pijit.ms.ops.windows import padded, paddings, pair, window_elements
from pijit.ms.tensor import Tensor, array_of, made


def max_pool2d(x: Any, kernel_size: Any = 1, strides: Any = None, pad_mode: str = "valid", padding: Any = 0,
               dilation: Any = 1) -> Tensor:
    """The greatest element of each window."""
    a = array_of(x)
    kernel = pair("max_pool2d: kernel_size", kernel_size)
    steps, gaps = (kernel if strides is None else pair("max_pool2d: strides", strides),
                   pair("max_pool2d: dilation", dilation))
    least = -np.inf if a.dtype.kind == "f" else np.iinfo(a.dtype).min
    around = paddings(pad_mode.lower(), padding, (a.shape[2], a.shape[3]), kernel, steps, gaps)
    return made(np.max(window_elements(padded(a, around, least), kernel, steps, gaps), axis=2))


def max_pool(x: Any, kernel_size: Any = 1, strides: Any = 1, pad_mode: str = "valid",
             data_format: str = "NCHW") -> Tensor:
    """The greatest element of each window."""
    return max_pool2d(x, kernel_size, strides, pad_mode)


def avg_pool2d(x: Any, kernel_size: Any = 1, strides: Any = 1, pad_mode: str = "valid", padding: Any = 0) -> Tensor:
    """The mean of each window; with "same", padding does not count."""
    a = floating(array_of(x))
    kernel, steps = pair("avg_pool2d: kernel_size", kernel_size), pair("avg_pool2d: strides", strides)
    around = paddings(pad_mode.lower(), padding, (a.shape[2], a.shape[3]), kernel, steps)
    total = np.sum(window_elements(padded(a, around), kernel, steps, (1, 1)), axis=2)
    there = padded(np.ones((1, 1, a.shape[2], a.shape[3]), a.dtype), around, 1 if pad_mode.lower() == "pad" else 0)
    return made(total / np.sum(window_elements(there, kernel, steps, (1, 1)), axis=2))


def avg_pool(x: Any, kernel_size: Any = 1, strides: Any = 1, pad_mode: str = "valid",
             data_format: str = "NCHW") -> Tensor:
    """The mean of each window."""
    return avg_pool2d(x, kernel_size, strides, pad_mode)
