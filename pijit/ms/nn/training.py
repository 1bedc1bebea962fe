"""Training: cells that compute gradients, optimizers, and training steps."""

from __future__ import annotations

from typing import Any, Callable, List, Tuple

from pijit.ms.cell import Cell
from pijit.ms.gradient_functions import GradOperation, value_and_grad
from pijit.ms.parameter import Parameter, ParameterTuple


class WithLossCell(Cell):
    """A network and its loss: `loss(network(data), label)`."""

    def __init__(self, backbone: Cell, loss_fn: Callable[..., Any]) -> None:
        super().__init__(auto_prefix=False)
        self._backbone = backbone
        self._loss_fn = loss_fn

    def construct(self, data: Any, label: Any) -> Any:
        """The loss."""
        return self._loss_fn(self._backbone(data), label)

    @property
    def backbone_network(self) -> Cell:
        """The network."""
        return self._backbone


class ForwardValueAndGrad(Cell):
    """Computes the value of a network and its gradients.

    Args:
        network: a cell or a function.
        weights: differentiated parameters.
        get_all, get_by_list, sens_param: as for `GradOperation`.

    Returns:
        In calls (value, gradients).
    """

    def __init__(self, network: Any, weights: Any = None, get_all: bool = False, get_by_list: bool = False,
                 sens_param: bool = False) -> None:
        super().__init__(auto_prefix=False)
        self.network = network
        self.weights = weights
        self.grad = GradOperation(get_all, get_by_list, sens_param)

    def construct(self, *inputs: Any) -> Tuple[Any, Any]:
        """The value and the gradients."""
        return self.grad.with_value(self.network, inputs, self.weights)


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


class TrainOneStepCell(Cell):
    """One training step: computes the loss and its gradients, and updates the parameters.

    Args:
        network: a cell that returns the loss.
        optimizer: updates the parameters.
        sens: the adjoint of the loss.
    """

    def __init__(self, network: Cell, optimizer: Optimizer, sens: float = 1.0) -> None:
        super().__init__(auto_prefix=False)
        self.network = network
        self.network.set_train()
        self.optimizer = optimizer
        self.weights = optimizer.parameters
        self.sens = sens

    def construct(self, *inputs: Any) -> Any:
        """The loss before the step."""
        loss, gradients = value_and_grad(self.network, None, self.weights)(*inputs)
        if self.sens != 1.0:
            gradients = tuple(one * self.sens for one in gradients)
        self.optimizer(gradients)
        return loss

