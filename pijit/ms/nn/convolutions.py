"""Convolution layers. A sequence is convolved as an image with one row."""

from __future__ import annotations

from typing import Any, Optional, Tuple

from pijit.ms.cell import Cell
from pijit.ms.dtype import float32
from pijit.ms.initializer import HeUniform, Uniform, initializer
from pijit.ms.nn.arguments import dimensions, positive
from pijit.ms.ops import convolutions, movement, windows
from pijit.ms.parameter import Parameter
from pijit.ms.tensor import Tensor


class _Convolution(Cell):
    """Common base of the convolutions: their arguments and parameters.

    Args:
        kernel, stride, dilation: (height, width).
        padding: an int, or (top, bottom, left, right).
        transposed: whether the weight has the channels before first, then those after.
        others: as for `Conv2d`.
    """

    bias: Optional[Parameter] = None

    def __init__(self, in_channels: int, out_channels: int, kernel: Tuple[int, int], stride: Tuple[int, int],
                 pad_mode: str, padding: Any, dilation: Tuple[int, int], group: int, has_bias: bool, weight_init: Any,
                 bias_init: Any, dtype: Any, transposed: bool = False) -> None:
        super().__init__()
        layer = type(self).__name__
        self.in_channels = positive(layer, "in_channels", in_channels)
        self.out_channels = positive(layer, "out_channels", out_channels)
        self.group = positive(layer, "group", group)
        if in_channels % group or out_channels % group:
            raise ValueError("{}: in_channels and out_channels must be multiples of group {}; not {} and {}".format(
                layer, group, in_channels, out_channels))
        if pad_mode not in windows.PAD_MODES:
            raise ValueError("{}: pad_mode must be 'same', 'valid' or 'pad'; not {!r}".format(layer, pad_mode))
        for name, pair in (("kernel_size", kernel), ("stride", stride), ("dilation", dilation)):
            for one in pair:
                positive(layer, name, one)
        _check_padding(layer, "padding", padding, pad_mode)
        self.kernel_size, self.stride, self.dilation = kernel, stride, dilation
        self.pad_mode, self.padding, self.has_bias = pad_mode, padding, bool(has_bias)
        channels = (in_channels, out_channels // group) if transposed else (out_channels, in_channels // group)
        shape = channels + kernel
        self.weight = Parameter(initializer(HeUniform(5 ** 0.5) if weight_init is None else weight_init, shape, dtype),
                                name="weight")
        bound = 1 / (shape[1] * shape[2] * shape[3]) ** 0.5
        if has_bias:
            self.bias = Parameter(
                initializer(Uniform(bound) if bias_init is None else bias_init, [out_channels], dtype), name="bias")

    def extend_repr(self) -> str:
        return "input_channels={}, output_channels={}, kernel_size={}, stride={}, pad_mode={}, padding={}, " \
            "dilation={}, group={}, has_bias={}".format(
                self.in_channels, self.out_channels, self.kernel_size, self.stride, self.pad_mode, self.padding,
                self.dilation, self.group, self.has_bias)


def _check_padding(layer: str, name: str, padding: Any, pad_mode: str) -> None:
    given = padding if isinstance(padding, (tuple, list)) else (padding,)
    for one in given:
        if isinstance(one, bool) or not isinstance(one, int):
            raise TypeError("{}: {} must be an int or a tuple of ints; not {!r}".format(layer, name, padding))
    if min(given) < 0:
        raise ValueError("{}: {} must not be negative; not {!r}".format(layer, name, padding))
    if pad_mode != "pad" and max(given) > 0:
        raise ValueError("{}: {} must be 0 unless pad_mode is 'pad'; not {!r}".format(layer, name, padding))


def _row(layer: str, name: str, value: Any) -> Tuple[int, int]:
    """(1, value): a length along a sequence, as that of an image with one row."""
    return 1, positive(layer, name, windows.sequence_number("{}: {}".format(layer, name), value))


def _as_image(weight_init: Any) -> Any:
    """An initializer of the weight of sequences; a tensor of three dimensions gets the row."""
    if isinstance(weight_init, Tensor) and weight_init.ndim == 3:
        return movement.expand_dims(weight_init, 2)
    return weight_init


class Conv2d(_Convolution):
    """Convolution of images of shape (batch, channels, height, width).

    Args:
        in_channels, out_channels: the numbers of channels before and after.
        kernel_size, stride, dilation: an int or a tuple of two.
        pad_mode: "same": the length of the result is the length divided by the stride, rounded up; "valid": no padding;
            "pad": as `padding` says.
        padding: with "pad": an int or (top, bottom, left, right); otherwise 0.
        group: number of channel groups that are convolved separately.
        has_bias: whether there is a bias.
        weight_init, bias_init: initializers; by default that of He and others (2015), and uniform.
        data_format: "NCHW".
        dtype: the element type of the parameters.

    Raises:
        TypeError, ValueError: an argument is not accepted.

    Example:
        >>> Conv2d(3, 4, 3)(Tensor(np.ones((1, 3, 5, 5), np.float32))).shape
        (1, 4, 5, 5)
    """

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, pad_mode: str = "same",
                 padding: Any = 0, dilation: Any = 1, group: int = 1, has_bias: bool = False, weight_init: Any = None,
                 bias_init: Any = None, data_format: str = "NCHW", dtype: Any = float32) -> None:
        if data_format != "NCHW":
            raise ValueError("Conv2d: data_format must be 'NCHW'; not {!r}".format(data_format))
        super().__init__(in_channels, out_channels, windows.pair("Conv2d: kernel_size", kernel_size),
                         windows.pair("Conv2d: stride", stride), pad_mode, padding,
                         windows.pair("Conv2d: dilation", dilation), group, has_bias, weight_init, bias_init, dtype)

    def construct(self, x: Any) -> Any:
        """The convolved images."""
        return convolutions.conv2d(x, self.weight, self.bias, self.stride, self.pad_mode, self.padding, self.dilation,
                                   self.group)


class Conv1d(_Convolution):
    """Convolution of sequences of shape (batch, channels, length).

    The weight has the shape (out_channels, in_channels / group, 1, kernel_size).

    Args:
        in_channels, out_channels: the numbers of channels before and after.
        kernel_size, stride, dilation: ints.
        pad_mode: "same": the length of the result is the length divided by the stride, rounded up; "valid": no padding;
            "pad": as `padding` says.
        padding: with "pad": an int, or a tuple of two for the start and the end; otherwise 0.
        group: number of channel groups that are convolved separately.
        has_bias: whether there is a bias.
        weight_init, bias_init: initializers; by default that of He and others (2015), and uniform. A tensor may have
            the shape of the weight without the third dimension.
        dtype: the element type of the parameters.

    Returns:
        In calls a tensor of shape (batch, out_channels, length of the result).

    Raises:
        TypeError, ValueError: an argument is not accepted.

    Example:
        >>> Conv1d(3, 4, 3, stride=2)(Tensor(np.ones((1, 3, 5), np.float32))).shape
        (1, 4, 3)
    """

    def __init__(self, in_channels: int, out_channels: int, kernel_size: int, stride: int = 1, pad_mode: str = "same",
                 padding: Any = 0, dilation: int = 1, group: int = 1, has_bias: bool = False, weight_init: Any = None,
                 bias_init: Any = None, dtype: Any = float32) -> None:
        super().__init__(in_channels, out_channels, _row("Conv1d", "kernel_size", kernel_size),
                         _row("Conv1d", "stride", stride), pad_mode, windows.around_sequence("Conv1d", padding),
                         _row("Conv1d", "dilation", dilation), group, has_bias, _as_image(weight_init), bias_init,
                         dtype)

    def construct(self, x: Any) -> Any:
        """The convolved sequences."""
        dimensions("Conv1d", x, 3)
        return convolutions.conv1d_by_row(x, self.weight, self.bias, self.stride, self.pad_mode, self.padding,
                                          self.dilation, self.group)


class Conv2dTranspose(_Convolution):
    """Transposed convolution of images: the linear map that is the gradient of `Conv2d` by its input.

    The weight has the shape (in_channels, out_channels / group, kernel height, kernel width). The method is that of
    Zeiler and others (2010), "Deconvolutional Networks".

    Args:
        in_channels, out_channels: the numbers of channels before and after.
        kernel_size, stride, dilation: an int or a tuple of two.
        pad_mode: "same": the length is multiplied by the stride; "valid": all sums; "pad": as `padding` says.
        padding: with "pad": number of elements left out at the edges, an int or (top, bottom, left, right);
            otherwise 0.
        output_padding: with "pad": number of elements added at the bottom and on the right, an int or a tuple of two;
            otherwise 0.
        group: number of channel groups that are convolved separately.
        has_bias: whether there is a bias.
        weight_init, bias_init: initializers; by default that of He and others (2015), and uniform.
        dtype: the element type of the parameters.

    Returns:
        In calls a tensor of shape (batch, out_channels, height of the result, width of the result).

    Raises:
        TypeError, ValueError: an argument is not accepted.

    Example:
        >>> Conv2dTranspose(3, 4, 3, stride=2)(Tensor(np.ones((1, 3, 5, 5), np.float32))).shape
        (1, 4, 10, 10)
    """

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, pad_mode: str = "same",
                 padding: Any = 0, output_padding: Any = 0, dilation: Any = 1, group: int = 1, has_bias: bool = False,
                 weight_init: Any = None, bias_init: Any = None, dtype: Any = float32) -> None:
        name = "Conv2dTranspose"
        super().__init__(in_channels, out_channels, windows.pair(name + ": kernel_size", kernel_size),
                         windows.pair(name + ": stride", stride), pad_mode, padding,
                         windows.pair(name + ": dilation", dilation), group, has_bias, weight_init, bias_init, dtype,
                         transposed=True)
        _check_padding(name, "output_padding", output_padding, pad_mode)
        self.output_padding = windows.pair(name + ": output_padding", output_padding)

    def construct(self, x: Any) -> Any:
        """The images of the transposed convolution."""
        dimensions("Conv2dTranspose", x, 4)
        return convolutions.transposed_conv2d(x, self.weight, self.bias, self.stride, self.pad_mode, self.padding,
                                              self.output_padding, self.dilation, self.group)


class Conv1dTranspose(_Convolution):
    """Transposed convolution of sequences: the linear map that is the gradient of `Conv1d` by its input.

    The weight has the shape (in_channels, out_channels / group, 1, kernel_size).

    Args:
        in_channels, out_channels: the numbers of channels before and after.
        kernel_size, stride, dilation: ints.
        pad_mode: "same": the length is multiplied by the stride; "valid": all sums; "pad": as `padding` says.
        padding: with "pad": number of elements left out at both ends, an int; otherwise 0.
        group: number of channel groups that are convolved separately.
        has_bias: whether there is a bias.
        weight_init, bias_init: initializers; by default that of He and others (2015), and uniform. A tensor may have
            the shape of the weight without the third dimension.
        dtype: the element type of the parameters.

    Returns:
        In calls a tensor of shape (batch, out_channels, length of the result).

    Raises:
        TypeError, ValueError: an argument is not accepted.

    Example:
        >>> Conv1dTranspose(3, 4, 3, pad_mode="valid")(Tensor(np.ones((1, 3, 5), np.float32))).shape
        (1, 4, 7)
    """

    def __init__(self, in_channels: int, out_channels: int, kernel_size: int, stride: int = 1, pad_mode: str = "same",
                 padding: int = 0, dilation: int = 1, group: int = 1, has_bias: bool = False, weight_init: Any = None,
                 bias_init: Any = None, dtype: Any = float32) -> None:
        name = "Conv1dTranspose"
        super().__init__(in_channels, out_channels, _row(name, "kernel_size", kernel_size),
                         _row(name, "stride", stride), pad_mode, windows.around_sequence(name, padding),
                         _row(name, "dilation", dilation), group, has_bias, _as_image(weight_init), bias_init, dtype,
                         transposed=True)

    def construct(self, x: Any) -> Any:
        """The sequences of the transposed convolution."""
        dimensions("Conv1dTranspose", x, 3)
        return convolutions.transposed_conv1d(x, self.weight, self.bias, self.stride, self.pad_mode, self.padding,
                                              self.dilation, self.group)
