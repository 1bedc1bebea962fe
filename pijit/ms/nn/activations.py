"""Activation functions as cells."""

from __future__ import annotations

from typing import Any, Callable, Dict

from pijit.ms.cell import Cell
from pijit.ms.nn.activations_with_arguments import ELU, HShrink, LeakyReLU, PReLU, SoftShrink
from pijit.ms.ops import activations, elementwise, layers
from pijit.names import closest


def _activation(name: str, function: Callable[..., Any], text: str) -> Any:
    class Activation(Cell):
        __doc__, __module__, __qualname__ = text, "pijit.ms.nn", name

        def construct(self, x: Any) -> Any:
            return function(x)
    Activation.__name__ = name
    return Activation


ReLU = _activation("ReLU", elementwise.relu, "Values, and 0 for negative ones.")
ReLU6 = _activation("ReLU6", elementwise.relu6, "Values kept between 0 and 6.")
Sigmoid = _activation("Sigmoid", elementwise.sigmoid, "Logistic functions.")
Tanh = _activation("Tanh", elementwise.tanh, "Hyperbolic tangents.")
SiLU = _activation("SiLU", elementwise.silu, "Values times their logistic functions.")
HSigmoid = _activation("HSigmoid", activations.hardsigmoid, "`(x + 3) / 6`, limited to the range from 0 to 1.")
HSwish = _activation("HSwish", activations.hardswish, "Values times `HSigmoid` (Howard and others, 2019).")
Mish = _activation("Mish", activations.mish, "Values times the hyperbolic tangent of `softplus` (Misra, 2020).")
LogSigmoid = _activation("LogSigmoid", activations.logsigmoid, "Logarithms of logistic functions.")
SeLU = _activation("SeLU", activations.selu, "Scaled `ELU` that keeps mean and variance (Klambauer and others, 2017).")
Softsign = _activation("Softsign", activations.softsign, "Values divided by 1 plus their absolute values.")
Tanhshrink = _activation("Tanhshrink", activations.tanhshrink, "Values minus their hyperbolic tangents.")


class GELU(Cell):
    """Gaussian error linear unit: values times the normal distribution function.

    Args:
        approximate: approximate the distribution by a hyperbolic tangent.
    """

    def __init__(self, approximate: bool = True) -> None:
        super().__init__()
        self.approximate = "tanh" if approximate else "none"

    def construct(self, x: Any) -> Any:
        """The results."""
        return elementwise.gelu(x, self.approximate)


class Softmax(Cell):
    """Exponentials divided by their sum along an axis."""

    def __init__(self, axis: Any = -1) -> None:
        super().__init__()
        self.axis = axis

    def construct(self, x: Any) -> Any:
        """The results."""
        return layers.softmax(x, self.axis)


class LogSoftmax(Cell):
    """Logarithms of `Softmax`."""

    def __init__(self, axis: int = -1) -> None:
        super().__init__()
        self.axis = axis

    def construct(self, x: Any) -> Any:
        """The results."""
        return layers.log_softmax(x, self.axis)


BY_NAME: Dict[str, Any] = {"relu": ReLU, "relu6": ReLU6, "sigmoid": Sigmoid, "tanh": Tanh, "silu": SiLU, "gelu": GELU,
                           "leakyrelu": LeakyReLU, "elu": ELU, "softmax": Softmax, "logsoftmax": LogSoftmax,
                           "hswish": HSwish, "hsigmoid": HSigmoid, "logsigmoid": LogSigmoid, "mish": Mish,
                           "softsign": Softsign, "softshrink": SoftShrink, "hshrink": HShrink, "prelu": PReLU}


def get_activation(name: str, prim_name: Any = None) -> Cell:
    """The activation with this name.

    Raises:
        KeyError: there is none.
    """
    if name not in BY_NAME:
        raise KeyError("get_activation: name must be {}".format(closest(name, BY_NAME)))
    return BY_NAME[name]()  # type: ignore[no-any-return]
