"""Activation functions with arguments, as cells."""

from __future__ import annotations

from typing import Any

from pijit.ms.cell import Cell
from pijit.ms.nn.arguments import positive
from pijit.ms.ops import activations, elementwise
from pijit.ms.parameter import Parameter
from pijit.ms.tensor import Tensor


class LeakyReLU(Cell):
    """Leaky rectifier: negative values are multiplied by `alpha`."""

    def __init__(self, alpha: float = 0.2) -> None:
        super().__init__()
        self.alpha = alpha

    def construct(self, x: Any) -> Any:
        """The results."""
        return elementwise.leaky_relu(x, self.alpha)


class ELU(Cell):
    """Exponential linear unit: negative values become `alpha * (exp(x) - 1)`."""

    def __init__(self, alpha: float = 1.0) -> None:
        super().__init__()
        self.alpha = alpha

    def construct(self, x: Any) -> Any:
        """The results."""
        return elementwise.elu(x, self.alpha)


class CELU(Cell):
    """Exponential linear unit with a scaled argument: negative values become `alpha * (exp(x / alpha) - 1)`.

    The method is that of Barron (2017), "Continuously Differentiable Exponential Linear Units".

    Args:
        alpha: a number except 0.

    Returns:
        In calls a tensor of the input's shape.

    Raises:
        ValueError: `alpha` is 0.

    Example:
        >>> CELU()(Tensor([0.0, 2.0]))
        Tensor(shape=[2], dtype=Float32, value= [ 0.00000000e+00,  2.00000000e+00])
    """

    def __init__(self, alpha: float = 1.0) -> None:
        super().__init__()
        if alpha == 0:
            raise ValueError("CELU: alpha must not be 0")
        self.alpha = alpha

    def construct(self, x: Any) -> Any:
        """The results."""
        return activations.celu(x, self.alpha)


class _Shrink(Cell):
    """Common base of the shrinking functions, which set values within `lambd` of 0 to 0."""

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        if isinstance(lambd, bool) or not isinstance(lambd, (int, float)):
            raise TypeError("{}: lambd must be a number; not {!r}".format(type(self).__name__, lambd))
        self.lambd = lambd

    def extend_repr(self) -> str:
        return "lambd={}".format(self.lambd)


class SoftShrink(_Shrink):
    """Values moved towards 0 by `lambd`; values within `lambd` of 0 become 0.

    Args:
        lambd: a number that is not negative.

    Returns:
        In calls a tensor of the input's shape.

    Raises:
        TypeError, ValueError: `lambd` is not accepted.

    Example:
        >>> SoftShrink()(Tensor([0.25, 2.0]))
        Tensor(shape=[2], dtype=Float32, value= [ 0.00000000e+00,  1.50000000e+00])
    """

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__(lambd)
        if lambd < 0:
            raise ValueError("SoftShrink: lambd must not be negative; not {!r}".format(lambd))

    def construct(self, input_x: Any) -> Any:
        """The results."""
        return activations.softshrink(input_x, self.lambd)


class HShrink(_Shrink):
    """Values within `lambd` of 0 become 0; the others are unchanged.

    Args:
        lambd: a number.

    Returns:
        In calls a tensor of the input's shape.

    Raises:
        TypeError: `lambd` is no number.

    Example:
        >>> HShrink()(Tensor([0.25, 2.0]))
        Tensor(shape=[2], dtype=Float32, value= [ 0.00000000e+00,  2.00000000e+00])
    """

    def construct(self, input_x: Any) -> Any:
        """The results."""
        return activations.hardshrink(input_x, self.lambd)


class Hardtanh(Cell):
    """Values limited to the range between two bounds.

    Args:
        min_val, max_val: the bounds.

    Returns:
        In calls a tensor of the input's shape.

    Raises:
        ValueError: `min_val` is not below `max_val`.

    Example:
        >>> Hardtanh()(Tensor([0.25, 2.0]))
        Tensor(shape=[2], dtype=Float32, value= [ 2.50000000e-01,  1.00000000e+00])
    """

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0) -> None:
        super().__init__()
        if not min_val < max_val:
            raise ValueError("Hardtanh: min_val must be below max_val; not {!r} and {!r}".format(min_val, max_val))
        self.min_val, self.max_val = min_val, max_val

    def construct(self, x: Any) -> Any:
        """The results."""
        return activations.hardtanh(x, self.min_val, self.max_val)


class Threshold(Cell):
    """Values above a threshold; the others are replaced by `value`.

    Args:
        threshold, value: numbers.

    Returns:
        In calls a tensor of the input's shape.

    Example:
        >>> Threshold(1.0, -1.0)(Tensor([0.25, 2.0]))
        Tensor(shape=[2], dtype=Float32, value= [-1.00000000e+00,  2.00000000e+00])
    """

    def __init__(self, threshold: float, value: float) -> None:
        super().__init__()
        self.threshold, self.value = threshold, value

    def construct(self, input_x: Any) -> Any:
        """The results."""
        return activations.threshold(input_x, self.threshold, self.value)


class GLU(Cell):
    """Gated linear unit: the first half of the values times the logistic function of the second half.

    The method is that of Dauphin and others (2017).

    Args:
        axis: the axis that is halved; its length is even.

    Returns:
        In calls a tensor with half the length along the axis.

    Raises:
        ValueError: the length along the axis is odd.

    Example:
        >>> GLU()(Tensor([3.0, 0.0]))
        Tensor(shape=[1], dtype=Float32, value= [ 1.50000000e+00])
    """

    def __init__(self, axis: int = -1) -> None:
        super().__init__()
        self.axis = axis

    def construct(self, x: Any) -> Any:
        """The results."""
        return activations.glu(x, self.axis)


class PReLU(Cell):
    """Leaky rectifier whose factor for negative values is trained (He and others, 2015).

    Args:
        channel: the number of factors: 1, or the number of channels, which are the second dimension.
        w: the initial factors: a number, a list, or a tensor of `channel` elements.

    Returns:
        In calls a tensor of the input's shape.

    Raises:
        TypeError, ValueError: an argument is not accepted.

    Example:
        >>> PReLU()(Tensor([-2.0, 2.0]))
        Tensor(shape=[2], dtype=Float32, value= [-5.00000000e-01,  2.00000000e+00])
    """

    def __init__(self, channel: int = 1, w: Any = 0.25) -> None:
        super().__init__()
        positive("PReLU", "channel", channel)
        if isinstance(w, (int, float)):
            w = [float(w)] * channel
        factors = Tensor(w)
        if factors.shape != (channel,):
            raise ValueError("PReLU: w must be a number or have channel={} elements; not {!r}".format(channel, w))
        self.w = Parameter(factors, name="a")

    def construct(self, x: Any) -> Any:
        """The results."""
        return activations.prelu(x, self.w)
