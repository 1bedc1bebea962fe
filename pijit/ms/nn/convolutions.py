"""Convolution layers."""

from __future__ import annotations

from typing import Any, Optional

from pijit.ms.cell import Cell
from pijit.ms.dtype import float32
from pijit.ms.initializer import HeUniform, Uniform, initializer
from pijit.ms.nn.arguments import positive
from pijit.ms.ops import convolutions, windows
from pijit.ms.parameter import Parameter


class Conv2d(Cell):
    """Convolution of images of shape (batch, channels, height, width).

    Args:
        in_channels, out_channels: the numbers of channels before and after.
        kernel_size, stride, dilation: an int or a tuple of two.
        pad_mode: "same", "valid" or "pad".
        padding: with "pad": an int or (top, bottom, left, right).
        group: number of channel groups that are convolved separately.
        has_bias: whether there is a bias.
        weight_init, bias_init: initializers; by default that of He and others (2015), and uniform.
        data_format: "NCHW".

    Raises:
        TypeError, ValueError: an argument is not accepted.

    Example:
        >>> Conv2d(3, 4, 3)(Tensor(np.ones((1, 3, 5, 5), np.float32))).shape
        (1, 4, 5, 5)
    """

    bias: Optional[Parameter] = None

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, pad_mode: str = "same",
                 padding: Any = 0, dilation: Any = 1, group: int = 1, has_bias: bool = False, weight_init: Any = None,
                 bias_init: Any = None, data_format: str = "NCHW", dtype: Any = float32) -> None:
        super().__init__()
        self.in_channels = positive("Conv2d", "in_channels", in_channels)
        self.out_channels = positive("Conv2d", "out_channels", out_channels)
        self.group = positive("Conv2d", "group", group)
        if in_channels % group or out_channels % group:
            raise ValueError("Conv2d: in_channels and out_channels must be multiples of group {}; not {} and {}".format(
                group, in_channels, out_channels))
        if pad_mode not in windows.PAD_MODES:
            raise ValueError("Conv2d: pad_mode must be 'same', 'valid' or 'pad'; not {!r}".format(pad_mode))
        if data_format != "NCHW":
            raise ValueError("Conv2d: data_format must be 'NCHW'; not {!r}".format(data_format))
        self.kernel_size = windows.pair("Conv2d: kernel_size", kernel_size)
        self.stride, self.dilation = windows.pair("Conv2d: stride", stride), windows.pair("Conv2d: dilation", dilation)
        self.pad_mode, self.padding, self.has_bias = pad_mode, padding, bool(has_bias)
        shape = (out_channels, in_channels // group) + self.kernel_size
        self.weight = Parameter(initializer(HeUniform(5 ** 0.5) if weight_init is None else weight_init, shape, dtype),
                                name="weight")
        bound = 1 / (shape[1] * shape[2] * shape[3]) ** 0.5
        if has_bias:
            self.bias = Parameter(
                initializer(Uniform(bound) if bias_init is None else bias_init, [out_channels], dtype), name="bias")

    def construct(self, x: Any) -> Any:
        """The convolved images."""
        return convolutions.conv2d(x, self.weight, self.bias, self.stride, self.pad_mode, self.padding, self.dilation,
                             self.group)

    def extend_repr(self) -> str:
        return "input_channels={}, output_channels={}, kernel_size={}, stride={}, pad_mode={}, padding={}, " \
            "dilation={}, group={}, has_bias={}".format(
                self.in_channels, self.out_channels, self.kernel_size, self.stride, self.pad_mode, self.padding,
                self.dilation, self.group, self.has_bias)
