"""Pooling layers."""

from __future__ import annotations

from typing import Any

from pijit.ms.cell import Cell
from pijit.ms.nn.arguments import dimensions, positive
from pijit.ms.ops import pooling, windows


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


class _SequencePool(Cell):
    """Common base of pooling of sequences: windows of `kernel_size` elements, `stride` apart.

    The attributes are those of images with one row.
    """

    def __init__(self, kernel_size: Any, stride: Any, pad_mode: str, padding: Any, ceil_mode: bool) -> None:
        super().__init__()
        layer = type(self).__name__
        if ceil_mode:
            raise ValueError("{}: ceil_mode must be False".format(layer))
        if not isinstance(pad_mode, str) or pad_mode.lower() not in windows.PAD_MODES:
            raise ValueError("{}: pad_mode must be 'same', 'valid' or 'pad'; not {!r}".format(layer, pad_mode))
        self.kernel_size = (1, positive(layer, "kernel_size", windows.sequence_number(
            layer + ": kernel_size", kernel_size)))
        self.stride = (1, positive(layer, "stride", windows.sequence_number(layer + ": stride", stride)))
        self.pad_mode, self.padding = pad_mode.lower(), windows.around_sequence(layer, padding)
        if min(self.padding) < 0 or (max(self.padding) > 0 and self.pad_mode != "pad"):
            raise ValueError("{}: padding must be 0, or positive with pad_mode 'pad'; not {!r}".format(layer, padding))

    def extend_repr(self) -> str:
        return "kernel_size={}, stride={}, pad_mode={}".format(self.kernel_size, self.stride, self.pad_mode.upper())


class MaxPool1d(_SequencePool):
    """Max pooling of sequences: the greatest element of each window.

    Args:
        kernel_size, stride, dilation: ints.
        pad_mode: "valid": no padding; "same": the length of the result is the length divided by the stride, rounded up;
            "pad": as `padding` says. In upper or lower case.
        padding: with "pad": an int, or a tuple of two for the start and the end; otherwise 0.
        return_indices, ceil_mode: False.

    Returns:
        In calls, for x of shape (batch, channels, length) or (channels, length), a tensor with as many dimensions.

    Raises:
        TypeError, ValueError: an argument is not accepted.

    Example:
        >>> MaxPool1d(3, 2)(Tensor([[[1.0, 5.0, 2.0, 0.0, 3.0]]]))
        Tensor(shape=[1, 1, 2], dtype=Float32, value=
        [[[ 5.00000000e+00,  3.00000000e+00]]])
    """

    def __init__(self, kernel_size: int = 1, stride: int = 1, pad_mode: str = "valid", padding: Any = 0,
                 dilation: int = 1, return_indices: bool = False, ceil_mode: bool = False) -> None:
        super().__init__(kernel_size, stride, pad_mode, padding, ceil_mode)
        if return_indices:
            raise ValueError("MaxPool1d: return_indices must be False")
        self.dilation = (1, positive("MaxPool1d", "dilation", windows.sequence_number("MaxPool1d: dilation", dilation)))

    def construct(self, x: Any) -> Any:
        """The greatest elements."""
        dimensions("MaxPool1d", x, 2, 3)
        return pooling.max_pool_by_row(x, self.kernel_size, self.stride, self.pad_mode, self.padding, self.dilation)


class AvgPool1d(_SequencePool):
    """Average pooling of sequences: the mean of each window.

    Args:
        kernel_size, stride: ints.
        pad_mode, padding: as for `MaxPool1d`.
        ceil_mode: False.
        count_include_pad: with "pad": whether the padding counts as zeros.

    Returns:
        In calls, for x of shape (batch, channels, length) or (channels, length), a tensor with as many dimensions.

    Raises:
        TypeError, ValueError: an argument is not accepted.

    Example:
        >>> AvgPool1d(2, 2)(Tensor([[[1.0, 5.0, 2.0, 0.0]]]))
        Tensor(shape=[1, 1, 2], dtype=Float32, value=
        [[[ 3.00000000e+00,  1.00000000e+00]]])
    """

    def __init__(self, kernel_size: int = 1, stride: int = 1, pad_mode: str = "valid", padding: Any = 0,
                 ceil_mode: bool = False, count_include_pad: bool = True) -> None:
        super().__init__(kernel_size, stride, pad_mode, padding, ceil_mode)
        self.count_include_pad = bool(count_include_pad)

    def construct(self, x: Any) -> Any:
        """The means."""
        dimensions("AvgPool1d", x, 2, 3)
        return pooling.avg_pool_by_row(x, self.kernel_size, self.stride, self.pad_mode, self.padding,
                                       1 if self.count_include_pad else 0)


class AdaptiveAvgPool1d(Cell):
    """The mean of each part of sequences that are divided into `output_size` parts.

    Args:
        output_size: the length of the result.

    Returns:
        In calls, for x of shape (batch, channels, length) or (channels, length), a tensor with this last dimension.

    Raises:
        TypeError, ValueError: `output_size` is not accepted.

    Example:
        >>> AdaptiveAvgPool1d(2)(Tensor([[[1.0, 5.0, 2.0, 0.0]]]))
        Tensor(shape=[1, 1, 2], dtype=Float32, value=
        [[[ 3.00000000e+00,  1.00000000e+00]]])
    """

    def __init__(self, output_size: int) -> None:
        super().__init__()
        self.output_size = pooling.output_length(type(self).__name__, output_size)

    def construct(self, input: Any) -> Any:
        """The means."""
        return pooling.adaptive_avg_pool1d(input, self.output_size)

    def extend_repr(self) -> str:
        return "output_size={}".format(self.output_size)


class AdaptiveMaxPool1d(AdaptiveAvgPool1d):
    """The greatest element of each part of sequences; arguments, result and errors as for `AdaptiveAvgPool1d`.

    Example:
        >>> AdaptiveMaxPool1d(2)(Tensor([[[1.0, 5.0, 2.0, 0.0]]]))
        Tensor(shape=[1, 1, 2], dtype=Float32, value=
        [[[ 5.00000000e+00,  2.00000000e+00]]])
    """

    def construct(self, input: Any) -> Any:
        """The greatest elements."""
        return pooling.adaptive_max_pool1d(input, self.output_size)


class AdaptiveAvgPool2d(Cell):
    """The mean of each part of images that are divided into a given number of parts.

    Args:
        output_size: the height and width of the result: an int, or a tuple of two; None is that of the input.

    Returns:
        In calls, for x of shape (batch, channels, height, width) or (channels, height, width), a tensor with these
        last dimensions.

    Raises:
        TypeError, ValueError: `output_size` is not accepted.

    Example:
        >>> AdaptiveAvgPool2d((3, None))(Tensor(np.ones((1, 2, 5, 7), np.float32))).shape
        (1, 2, 3, 7)
    """

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = pooling.output_lengths(type(self).__name__, output_size)

    def construct(self, input: Any) -> Any:
        """The means."""
        return pooling.adaptive_avg_pool2d(input, self.output_size)

    def extend_repr(self) -> str:
        return "output_size={}".format(self.output_size)


class AdaptiveMaxPool2d(AdaptiveAvgPool2d):
    """The greatest element of each part of images; arguments, result and errors as for `AdaptiveAvgPool2d`.

    Args:
        output_size: the height and width of the result.
        return_indices: False.

    Example:
        >>> AdaptiveMaxPool2d(3)(Tensor(np.ones((1, 2, 5, 7), np.float32))).shape
        (1, 2, 3, 3)
    """

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__(output_size)
        if return_indices:
            raise ValueError("AdaptiveMaxPool2d: return_indices must be False")

    def construct(self, input: Any) -> Any:
        """The greatest elements."""
        return pooling.adaptive_max_pool2d(input, self.output_size)
