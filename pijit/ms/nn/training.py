"""Training: cells that compute gradients, and training steps."""

from __future__ import annotations

from typing import Any, Callable, Tuple

from pijit.ms.cell import Cell
from pijit.ms.gradient_functions import GradOperation, value_and_grad
from pijit.ms.nn.optimizers import Optimizer


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
        self._update(gradients)
        return loss

    def _update(self, gradients: Any) -> None:
        """Update the parameters.

        Captured code calls it as a function of its own, which knows the types of the gradients by its argument.
        """
        if self.sens != 1.0:
            gradients = tuple([one * self.sens for one in gradients])
        self.optimizer(gradients)

