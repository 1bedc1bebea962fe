"""Activation functions as cells."""

from __future__ import annotations

from typing import Any, Callable, Dict

from pijit.ms.cell import Cell
from pijit.ms.ops import elementwise, layers
from pijit.names import closest


def _activation(name: str, function: Callable[..., Any], text: str) -> Any:
    def construct(self: Cell, x: Any) -> Any:
        return function(x)
    return type(name, (Cell,), {"construct": construct, "__doc__": text, "__module__": "pijit.ms.nn"})


ReLU = _activation("ReLU", elementwise.relu, "Values, and 0 for negative ones.")
ReLU6 = _activation("ReLU6", elementwise.relu6, "Values kept between 0 and 6.")
Sigmoid = _activation("Sigmoid", elementwise.sigmoid, "Logistic functions.")
Tanh = _activation("Tanh", elementwise.tanh, "Hyperbolic tangents.")
SiLU = _activation("SiLU", elementwise.silu, "Values times their logistic functions.")


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
                           "leakyrelu": LeakyReLU, "elu": ELU, "softmax": Softmax, "logsoftmax": LogSoftmax}


def get_activation(name: str, prim_name: Any = None) -> Cell:
    """The activation with this name.

    Raises:
        KeyError: there is none.
    """
    if name not in BY_NAME:
        raise KeyError("get_activation: name must be {}".format(closest(name, BY_NAME)))
    return BY_NAME[name]()  # type: ignore[no-any-return]
