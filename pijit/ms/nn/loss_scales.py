"""Training steps that scale the loss, for gradients in float16 (Micikevicius and others, 2018)."""

from __future__ import annotations

from typing import Any, Tuple

import numpy as np

from pijit.ms.cell import Cell
from pijit.ms.dtype import float32, int32
from pijit.ms.gradient_functions import GradOperation
from pijit.ms.nn.optimizers import Optimizer
from pijit.ms.nn.training import TrainOneStepCell
from pijit.ms.parameter import Parameter
from pijit.ms.tensor import Tensor, made


def check_counts(caller: str, **given: Any) -> None:
    """Raise TypeError for an argument that is not an int, ValueError for one that is not positive."""
    for name, value in given.items():
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError("{}: {} must be an int; not {!r}".format(caller, name, value))
        if value < 1:
            raise ValueError("{}: {} must be positive; not {!r}".format(caller, name, value))


def _scale(caller: str, loss_scale_value: Any) -> float:
    if isinstance(loss_scale_value, bool) or not isinstance(loss_scale_value, (int, float)):
        raise TypeError("{}: loss_scale_value must be a float; not {!r}".format(caller, loss_scale_value))
    if loss_scale_value <= 0:
        raise ValueError("{}: loss_scale_value must be positive; not {!r}".format(caller, loss_scale_value))
    return loss_scale_value


class FixedLossScaleUpdateCell(Cell):
    """Keeps the loss scale.

    Args:
        loss_scale_value: the loss scale; positive.

    Raises:
        TypeError, ValueError: `loss_scale_value` is not accepted.

    Example:
        >>> TrainOneStepWithLossScaleCell(network, optimizer, FixedLossScaleUpdateCell(2 ** 12))
    """

    def __init__(self, loss_scale_value: float) -> None:
        super().__init__()
        self.loss_scale_value = _scale("FixedLossScaleUpdateCell", loss_scale_value)

    def get_loss_scale(self) -> float:
        """The loss scale."""
        return self.loss_scale_value

    def construct(self, loss_scale: Any, overflow: Any) -> Any:
        """`overflow`, whether a gradient is not finite."""
        return overflow


class DynamicLossScaleUpdateCell(Cell):
    """Multiplies the loss scale by a factor after a number of steps without overflow, divides it after an overflow.

    Args:
        loss_scale_value: the first loss scale; positive.
        scale_factor: the factor, an int.
        scale_window: the number of steps without overflow.

    Raises:
        TypeError, ValueError: an argument is not accepted.

    Example:
        >>> update = DynamicLossScaleUpdateCell(2 ** 12, 2, 1000)
        >>> TrainOneStepWithLossScaleCell(network, optimizer, update)
    """

    def __init__(self, loss_scale_value: float, scale_factor: int, scale_window: int) -> None:
        super().__init__()
        check_counts("DynamicLossScaleUpdateCell", scale_factor=scale_factor, scale_window=scale_window)
        self.loss_scale_value = _scale("DynamicLossScaleUpdateCell", loss_scale_value)
        self.scale_factor, self.scale_window = scale_factor, scale_window
        self.cur_iter = Parameter(Tensor(1, int32), name="current_iterator_step", requires_grad=False)
        self.last_overflow_iter = Parameter(Tensor(0, int32), name="last_overflow_iterator_step", requires_grad=False)

    def get_loss_scale(self) -> float:
        """The first loss scale."""
        return self.loss_scale_value

    def construct(self, loss_scale: Any, overflow: Any) -> Any:
        """Update the loss scale, a `Parameter`; returns `overflow`, whether a gradient is not finite."""
        scale, now, last = loss_scale._array, self.cur_iter._array, self.last_overflow_iter._array
        factor = scale.dtype.type(self.scale_factor)
        over, due = bool(overflow), int(now - last) >= self.scale_window
        if over:
            scale[...] = np.maximum(scale / factor, 1)
        elif due:
            scale[...] = scale * factor
        if over or due:
            last[...] = now
        now[...] = now + 1
        return overflow


class TrainOneStepWithLossScaleCell(TrainOneStepCell):
    """One training step with a scaled loss; no update if a gradient is not finite.

    Args:
        network: a cell that returns the loss.
        optimizer: updates the parameters.
        scale_sense: the loss scale, a tensor of shape () or (1,); or a cell such as `DynamicLossScaleUpdateCell`.

    Returns:
        In calls (loss, whether a gradient is not finite, loss scale of the step).

    Raises:
        TypeError: `scale_sense` is neither a tensor nor a cell.
        ValueError: its shape is another.

    Example:
        >>> step = TrainOneStepWithLossScaleCell(network, optimizer, Tensor(1024.0))
        >>> loss, overflow, scale = step(inputs, labels)
    """

    def __init__(self, network: Cell, optimizer: Optimizer, scale_sense: Any) -> None:
        super().__init__(network, optimizer)
        self.loss_scaling_manager = scale_sense if isinstance(scale_sense, Cell) else None
        if isinstance(scale_sense, Cell):
            scale_sense = Tensor(scale_sense.get_loss_scale(), float32)  # type: ignore[attr-defined]
        if not isinstance(scale_sense, Tensor):
            raise TypeError("TrainOneStepWithLossScaleCell: scale_sense must be a Cell or a Tensor; not {!r}".format(
                scale_sense))
        self.scale_sense = Parameter(_of_one_number(scale_sense), name="scale_sense", requires_grad=False)
        self.grad = GradOperation(get_by_list=True, sens_param=True)

    def construct(self, *inputs: Any) -> Tuple[Any, Any, Any]:
        """The loss before the step, whether a gradient is not finite, and the loss scale."""
        scale = Tensor(self.scale_sense)
        loss, scaled = self.grad.with_value(self.network, inputs + (made(np.reshape(scale._array, ())),),
                                            self.weights)
        return loss, self._update_unscaled(scaled, scale), scale

    def _update_unscaled(self, scaled: Any, scale: Tensor) -> Tensor:
        """Update the parameters and the loss scale by scaled gradients; whether one of these is not finite.

        Captured code calls it as a function of its own, which knows the types of the gradients by its arguments.
        """
        factor = 1 / scale._array.reshape(-1)[0]
        gradients = tuple([made(one._array * one._array.dtype.type(factor)) for one in scaled])
        overflow = Tensor(not all([bool(np.all(np.isfinite(one._array))) for one in gradients]))
        if self.loss_scaling_manager is not None:
            self.loss_scaling_manager(self.scale_sense, overflow)
        if not bool(overflow):
            self.optimizer(gradients)
        return overflow

    def set_sense_scale(self, sens: Any) -> None:
        """Set the loss scale to a tensor of the same shape.

        Raises:
            TypeError: `sens` is not a tensor.
            ValueError: its shape is another.
        """
        if not isinstance(sens, Tensor):
            raise TypeError("set_sense_scale: sens must be a Tensor; not {!r}".format(sens))
        if sens.shape != self.scale_sense.shape:
            raise ValueError("set_sense_scale: sens must have the shape {}; not {}".format(
                self.scale_sense.shape, sens.shape))
        self.scale_sense.set_data(sens)


def _of_one_number(scale_sense: Tensor) -> Tensor:
    if scale_sense.shape not in ((), (1,)):
        raise ValueError("TrainOneStepWithLossScaleCell: scale_sense must have the shape () or (1,); not {}".format(
            scale_sense.shape))
    return Tensor(scale_sense, float32)
