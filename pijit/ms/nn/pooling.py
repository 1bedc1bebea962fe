"""Pooling layers."""

from __future__ import annotations

from typing import Any

from pijit.ms.cell import Cell
from pijit.ms.ops import movement, pooling, windows


class MaxPool2d(Cell):
    """Max pooling: the greatest element of each window.

    Args:
        kernel_size, stride: an int or a tuple of two.
        pad_mode, padding: as for `Conv2d`.
    """

    def __init__(self, kernel_size: Any = 1, stride: Any = 1, pad_mode: str = "valid", padding: Any = 0,
                 dilation: Any = 1, return_indices: bool = False, ceil_mode: bool = False,
                 data_format: str = "NCHW") -> None:
        super().__init__()
        if return_indices or ceil_mode:
            raise ValueError("MaxPool2d: return_indices and ceil_mode must be False")
        if pad_mode.lower() not in windows.PAD_MODES:
            raise ValueError("MaxPool2d: pad_mode must be 'same', 'valid' or 'pad'; not {!r}".format(pad_mode))
        self.kernel_size = windows.pair("MaxPool2d: kernel_size", kernel_size)
        self.stride = windows.pair("MaxPool2d: stride", stride)
        self.pad_mode, self.padding, self.dilation = (
            pad_mode.lower(), padding, windows.pair("MaxPool2d: dilation", dilation))

    def construct(self, x: Any) -> Any:
        """The greatest elements."""
        if x.ndim == 3:
            return movement.squeeze(self.construct(movement.expand_dims(x, 0)), 0)
        return pooling.max_pool2d(x, self.kernel_size, self.stride, self.pad_mode, self.padding, self.dilation)

    def extend_repr(self) -> str:
        return "kernel_size={}, stride={}, pad_mode={}".format(self.kernel_size, self.stride, self.pad_mode.upper())


class AvgPool2d(Cell):
    """Average pooling: the mean of each window; arguments as for `MaxPool2d`."""

    def __init__(self, kernel_size: Any = 1, stride: Any = 1, pad_mode: str = "valid", padding: Any = 0,
                 data_format: str = "NCHW") -> None:
        super().__init__()
        self.kernel_size = windows.pair("AvgPool2d: kernel_size", kernel_size)
        self.stride = windows.pair("AvgPool2d: stride", stride)
        self.pad_mode, self.padding = pad_mode.lower(), padding

    def construct(self, x: Any) -> Any:
        """The means."""
        return pooling.avg_pool2d(x, self.kernel_size, self.stride, self.pad_mode, self.padding)

    def extend_repr(self) -> str:
        return "kernel_size={}, stride={}, pad_mode={}".format(self.kernel_size, self.stride, self.pad_mode.upper())
