"""Loss scalers of `amp`.

Scaling keeps small gradients above the range in which float16 rounds to zero (Micikevicius and others, 2018).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pijit.ms.dtype import float32, int32
from pijit.ms.nn.loss_scales import check_counts
from pijit.ms.parameter import Parameter
from pijit.ms.tensor import Tensor, made


def all_finite(inputs: Any, status: Any = None) -> Tensor:
    """Whether all elements of tensors are finite.

    Args:
        inputs: a tuple or list of tensors.
        status: accepted without effect.

    Returns:
        A bool tensor of shape ().

    Example:
        >>> bool(all_finite((Tensor([1.0]), Tensor([np.inf]))))
        False
    """
    finite = True
    for one in inputs:
        finite = finite and bool(np.all(np.isfinite(one._array)))
    return made(np.asarray(finite))


def _scaled(x: Any, factor: Any) -> Any:
    """Tensors multiplied by a number in their own types."""
    if isinstance(x, (tuple, list)):
        return tuple([_scaled(one, factor) for one in x])
    return made(x._array * x._array.dtype.type(factor))


class LossScaler:
    """Base class of loss scalers; a subclass defines `scale`, `unscale` and `adjust`.

    Attributes:
        scale_value: the factor, a `Parameter`.
    """

    scale_value: Parameter

    def scale(self, inputs: Any) -> Any:
        """A tensor, or a tuple of tensors, times the factor."""
        return _scaled(inputs, np.reshape(self.scale_value._array, (1,))[0])

    def unscale(self, inputs: Any) -> Any:
        """A tensor, or a tuple of tensors, divided by the factor."""
        return _scaled(inputs, 1 / np.reshape(self.scale_value._array, (1,))[0])

    def adjust(self, grads_finite: Any) -> bool:
        """Adjust the factor; returns whether it may change."""
        raise NotImplementedError("{}: a LossScaler needs an adjust method".format(type(self).__name__))


def _scale_parameter(caller: str, scale_value: Any) -> Parameter:
    if isinstance(scale_value, bool) or not isinstance(scale_value, (int, float)):
        raise TypeError("{}: scale_value must be a float or an int; not {!r}".format(caller, scale_value))
    if scale_value < 1:
        raise ValueError("{}: scale_value must be at least 1; not {!r}".format(caller, scale_value))
    return Parameter(Tensor(scale_value, float32), name="scale_value", requires_grad=False)


class StaticLossScaler(LossScaler):
    """Scales losses by a constant.

    Args:
        scale_value: the factor; at least 1.

    Raises:
        TypeError, ValueError: `scale_value` is not accepted.

    Example:
        >>> StaticLossScaler(1024).scale(Tensor([1.0]))
        Tensor(shape=[1], dtype=Float32, value= [ 1.02400000e+03])
    """

    def __init__(self, scale_value: float) -> None:
        self.scale_value = _scale_parameter("StaticLossScaler", scale_value)

    def adjust(self, grads_finite: Any) -> bool:
        """False; the factor is constant."""
        return False


class DynamicLossScaler(LossScaler):
    """Scales losses by a factor that grows while gradients are finite, and falls when they are not.

    Args:
        scale_value: the first factor; at least 1.
        scale_factor: an int by which `adjust` multiplies or divides the factor.
        scale_window: the number of finite steps in a row before the factor grows.

    Raises:
        TypeError, ValueError: an argument is not accepted.

    Example:
        >>> scaler = DynamicLossScaler(1024, 2, 1)
        >>> scaler.adjust(Tensor(False)), float(scaler.scale_value)
        (True, 512.0)
    """

    def __init__(self, scale_value: float, scale_factor: int, scale_window: int) -> None:
        self.scale_value = _scale_parameter("DynamicLossScaler", scale_value)
        check_counts("DynamicLossScaler", scale_factor=scale_factor, scale_window=scale_window)
        self.scale_factor, self.scale_window = scale_factor, scale_window
        self.counter = Parameter(Tensor(0, int32), name="counter", requires_grad=False)

    def adjust(self, grads_finite: Any) -> bool:
        """Multiply or divide the factor; it stays finite and at least 1."""
        scale, count = self.scale_value._array, self.counter._array
        number = scale.dtype.type(self.scale_factor)
        if not bool(grads_finite):
            scale[...] = max(scale[()] / number, scale.dtype.type(1))
            count[...] = 0
            return True
        if count == self.scale_window - 1 and np.isfinite(scale * number):
            scale[...] = scale * number
        count[...] = (count + 1) % self.scale_window
        return True
