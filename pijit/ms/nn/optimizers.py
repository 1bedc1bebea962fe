"""Optimizers: cells that update parameters by their gradients."""

from __future__ import annotations

from typing import Any, List

from pijit.ms.cell import Cell
from pijit.ms.parameter import Parameter, ParameterTuple


class Optimizer(Cell):
    """Base class of optimizers, which update parameters by their gradients; a subclass defines `step`.

    Args:
        learning_rate: the step size.
        parameters: the parameters.
        weight_decay: factor by which the parameters are added to their gradients.

    Raises:
        TypeError: an item of `parameters` is not a `Parameter`.
        ValueError: `learning_rate` is negative.
    """

    def __init__(self, learning_rate: float, parameters: Any, weight_decay: float = 0.0) -> None:
        super().__init__(auto_prefix=False)
        self.parameters: Any = ParameterTuple(parameters)
        if float(learning_rate) < 0:
            raise ValueError("{}: learning_rate must not be negative; not {!r}".format(
                type(self).__name__, learning_rate))
        self.learning_rate, self.weight_decay = float(learning_rate), float(weight_decay)

    def construct(self, gradients: Any) -> bool:
        """Update the parameters by gradients in the same order."""
        for place, (one, g) in enumerate(zip(self.parameters, gradients)):
            change = g._array + one._array * one._array.dtype.type(self.weight_decay) if self.weight_decay else g._array
            self.step(place, one, change)
        return True

    def step(self, place: int, parameter: Parameter, g: Any) -> None:
        """Update one parameter in place."""
        raise NotImplementedError("{}: an Optimizer needs a step method".format(type(self).__name__))


class SGD(Optimizer):
    """Stochastic gradient descent, optionally with momentum."""

    def __init__(self, params: Any, learning_rate: float = 0.1, momentum: float = 0.0, dampening: float = 0.0,
                 weight_decay: float = 0.0, nesterov: bool = False, loss_scale: float = 1.0) -> None:
        super().__init__(learning_rate, params, weight_decay)
        self.momentum, self.dampening, self.nesterov = momentum, dampening, nesterov
        self.moments: List[Any] = [None for _ in self.parameters]

    def step(self, place: int, parameter: Parameter, g: Any) -> None:
        a = parameter._array
        number = a.dtype.type
        if self.momentum:
            before = self.moments[place]
            v = g * number(1) if before is None else before * number(self.momentum) + g * number(1 - self.dampening)
            self.moments[place] = v
            g = g + v * number(self.momentum) if self.nesterov else v
        a -= g * number(self.learning_rate)


class Momentum(SGD):
    """Stochastic gradient descent with momentum."""

    def __init__(self, params: Any, learning_rate: float, momentum: float, weight_decay: float = 0.0,
                 loss_scale: float = 1.0, use_nesterov: bool = False) -> None:
        super().__init__(params, learning_rate, momentum, 0.0, weight_decay, use_nesterov)
