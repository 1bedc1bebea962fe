"""Learning rates that change with the step: lists of rates, and schedules, which are cells."""

from __future__ import annotations

import math
from typing import Any, Callable, List, Sequence

import numpy as np

from pijit.ms.cell import Cell
from pijit.ms.tensor import Tensor, array_of, made

NUMBER = np.float32
"""The type in which schedules compute."""


def _whole(caller: str, **given: Any) -> None:
    for name, value in given.items():
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError("{}: {} must be an int; not {!r}".format(caller, name, value))
        if value < 1:
            raise ValueError("{}: {} must be positive; not {!r}".format(caller, name, value))


def _real(caller: str, zero_allowed: bool = False, **given: Any) -> None:
    for name, value in given.items():
        if not isinstance(value, float):
            raise TypeError("{}: {} must be a float; not {!r}".format(caller, name, value))
        if value < 0 or value == 0 and not zero_allowed:
            raise ValueError("{}: {} must be {}; not {!r}".format(
                caller, name, "at least 0" if zero_allowed else "positive", value))


def _flag(caller: str, **given: Any) -> None:
    for name, value in given.items():
        if not isinstance(value, bool):
            raise TypeError("{}: {} must be a bool; not {!r}".format(caller, name, value))


def piecewise_constant_lr(milestone: Sequence[int], learning_rates: Sequence[float]) -> List[float]:
    """A list of learning rates that are constant between milestones.

    Args:
        milestone: the steps at which a rate ends; increasing.
        learning_rates: a rate per milestone.

    Returns:
        The rate of each step; as many as the last milestone.

    Raises:
        TypeError, ValueError: an argument is not accepted.

    Example:
        >>> piecewise_constant_lr([2, 5], [0.1, 0.05])
        [0.1, 0.1, 0.05, 0.05, 0.05]
    """
    for name, value in (("milestone", milestone), ("learning_rates", learning_rates)):
        if not isinstance(value, (list, tuple)):
            raise TypeError("piecewise_constant_lr: {} must be a list or tuple; not {!r}".format(name, value))
    if len(milestone) != len(learning_rates):
        raise ValueError("piecewise_constant_lr: milestone and learning_rates must have the same length; not {} and "
                         "{}".format(len(milestone), len(learning_rates)))
    rates: List[float] = []
    for end, rate in zip(milestone, learning_rates):
        _whole("piecewise_constant_lr", milestone=end)
        _real("piecewise_constant_lr", learning_rates=rate)
        if end <= len(rates):
            raise ValueError("piecewise_constant_lr: milestone must increase; not {!r}".format(milestone))
        rates += [rate] * (end - len(rates))
    return rates


def _by_epoch(total_step: int, step_per_epoch: int, rate: Callable[[int], float]) -> List[float]:
    return [rate(step // step_per_epoch) for step in range(total_step)]


def exponential_decay_lr(learning_rate: float, decay_rate: float, total_step: int, step_per_epoch: int,
                         decay_epoch: int, is_stair: bool = False) -> List[float]:
    """A list of learning rates that decay exponentially: `learning_rate * decay_rate ** (epoch / decay_epoch)`.

    Args:
        learning_rate: the first rate.
        decay_rate: the factor of `decay_epoch` epochs.
        total_step: the number of rates.
        step_per_epoch: the number of steps with the same rate.
        decay_epoch: the number of epochs of one decay.
        is_stair: round the exponent down.

    Returns:
        The rate of each step.

    Raises:
        TypeError, ValueError: an argument is not accepted.

    Example:
        >>> exponential_decay_lr(0.1, 0.5, total_step=3, step_per_epoch=1, decay_epoch=1)
        [0.1, 0.05, 0.025]
    """
    _real("exponential_decay_lr", learning_rate=learning_rate, decay_rate=decay_rate)
    _whole("exponential_decay_lr", total_step=total_step, step_per_epoch=step_per_epoch, decay_epoch=decay_epoch)
    _flag("exponential_decay_lr", is_stair=is_stair)
    return _by_epoch(total_step, step_per_epoch, lambda epoch: learning_rate * decay_rate ** (
        epoch // decay_epoch if is_stair else epoch / decay_epoch))


def cosine_decay_lr(min_lr: float, max_lr: float, total_step: int, step_per_epoch: int,
                    decay_epoch: int) -> List[float]:
    """A list of learning rates along half a cosine from `max_lr` to `min_lr` (Loshchilov and Hutter, 2017).

    Args:
        min_lr: the last rate.
        max_lr: the first rate; greater than `min_lr`.
        total_step: the number of rates.
        step_per_epoch: the number of steps with the same rate.
        decay_epoch: the epoch from which the rate is `min_lr`.

    Returns:
        The rate of each step.

    Raises:
        TypeError, ValueError: an argument is not accepted.

    Example:
        >>> cosine_decay_lr(0.0, 1.0, total_step=3, step_per_epoch=1, decay_epoch=2)
        [1.0, 0.5, 0.0]
    """
    _check_range("cosine_decay_lr", min_lr, max_lr)
    _whole("cosine_decay_lr", total_step=total_step, step_per_epoch=step_per_epoch, decay_epoch=decay_epoch)
    return _by_epoch(total_step, step_per_epoch, lambda epoch: min_lr + 0.5 * (max_lr - min_lr) * (
        1.0 + math.cos(math.pi * min(epoch, decay_epoch) / decay_epoch)))


def _check_range(caller: str, min_lr: Any, max_lr: Any) -> None:
    _real(caller, True, min_lr=min_lr)
    _real(caller, max_lr=max_lr)
    if min_lr >= max_lr:
        raise ValueError("{}: max_lr must be greater than min_lr; not {!r} and {!r}".format(caller, max_lr, min_lr))


class LearningRateSchedule(Cell):
    """Base class of schedules; a subclass defines `construct`, which gives the rate of a step.

    Example:
        >>> class Halved(LearningRateSchedule):
        ...     def construct(self, global_step):
        ...         return 0.1 * 0.5 ** ops.cast(global_step, float32)
    """

    def construct(self, global_step: Any) -> Tensor:
        """The learning rate of a step, a tensor of the shape of `global_step`."""
        raise NotImplementedError("{}: a LearningRateSchedule needs a construct method".format(type(self).__name__))

    def rate(self, step: Any) -> Any:
        """The learning rate of a step; both are NumPy numbers."""
        return np.reshape(self(Tensor(np.int32(step)))._array, (1,))[0]


class _Formula(LearningRateSchedule):
    """Base class of schedules that define `rate`; `rate` takes numbers and arrays. Updates with it are captured."""

    def construct(self, global_step: Any) -> Tensor:
        """The learning rate of a step, a tensor of the shape of `global_step`."""
        return made(self.rate(array_of(global_step).astype(NUMBER)))


class ExponentialDecayLR(_Formula):
    """Exponential decay: `learning_rate * decay_rate ** (step / decay_steps)`.

    Args:
        learning_rate: the first rate.
        decay_rate: the factor of `decay_steps` steps.
        decay_steps: the number of steps of one decay.
        is_stair: round the exponent down.

    Raises:
        TypeError, ValueError: an argument is not accepted.

    Example:
        >>> ExponentialDecayLR(0.5, 0.5, 4)(Tensor(4, int32))
        Tensor(shape=[], dtype=Float32, value=  2.50000000e-01)
    """

    def __init__(self, learning_rate: float, decay_rate: float, decay_steps: int, is_stair: bool = False) -> None:
        super().__init__()
        _real("ExponentialDecayLR", learning_rate=learning_rate, decay_rate=decay_rate)
        _whole("ExponentialDecayLR", decay_steps=decay_steps)
        _flag("ExponentialDecayLR", is_stair=is_stair)
        self.learning_rate, self.decay_rate = learning_rate, decay_rate
        self.decay_steps, self.is_stair = decay_steps, is_stair

    def rate(self, step: Any) -> Any:
        p = step / NUMBER(self.decay_steps)
        if self.is_stair:
            p = np.floor(p)
        return NUMBER(self.learning_rate) * np.power(NUMBER(self.decay_rate), p)


class CosineDecayLR(_Formula):
    """Half a cosine from `max_lr` at step 0 to `min_lr` at `decay_steps` (Loshchilov and Hutter, 2017).

    Args:
        min_lr: the last rate.
        max_lr: the first rate; greater than `min_lr`.
        decay_steps: the step from which the rate is `min_lr`.

    Raises:
        TypeError, ValueError: an argument is not accepted.

    Example:
        >>> CosineDecayLR(0.0, 1.0, 4)(Tensor(0, int32))
        Tensor(shape=[], dtype=Float32, value=  1.00000000e+00)
    """

    def __init__(self, min_lr: float, max_lr: float, decay_steps: int) -> None:
        super().__init__()
        _check_range("CosineDecayLR", min_lr, max_lr)
        _whole("CosineDecayLR", decay_steps=decay_steps)
        self.min_lr, self.max_lr, self.decay_steps = min_lr, max_lr, decay_steps

    def rate(self, step: Any) -> Any:
        p = np.minimum(step, NUMBER(self.decay_steps)) / NUMBER(self.decay_steps)
        half = NUMBER(0.5 * (self.max_lr - self.min_lr))
        return NUMBER(self.min_lr) + half * (NUMBER(1) + np.cos(NUMBER(math.pi) * p))


class PolynomialDecayLR(_Formula):
    """Polynomial decay: `(learning_rate - end_learning_rate) * (1 - step / decay_steps) ** power + end_learning_rate`.

    Args:
        learning_rate: the first rate.
        end_learning_rate: the last rate.
        decay_steps: the number of steps of the decay.
        power: the exponent.
        update_decay_steps: after `decay_steps` steps, decay over the next multiple of `decay_steps`; otherwise the rate
            stays `end_learning_rate`.

    Raises:
        TypeError, ValueError: an argument is not accepted.

    Example:
        >>> PolynomialDecayLR(0.5, 0.0, 4, 1.0)(Tensor(2, int32))
        Tensor(shape=[], dtype=Float32, value=  2.50000000e-01)
    """

    def __init__(self, learning_rate: float, end_learning_rate: float, decay_steps: int, power: float,
                 update_decay_steps: bool = False) -> None:
        super().__init__()
        _real("PolynomialDecayLR", learning_rate=learning_rate, power=power)
        _real("PolynomialDecayLR", True, end_learning_rate=end_learning_rate)
        _whole("PolynomialDecayLR", decay_steps=decay_steps)
        _flag("PolynomialDecayLR", update_decay_steps=update_decay_steps)
        self.learning_rate, self.end_learning_rate, self.power = learning_rate, end_learning_rate, power
        self.decay_steps, self.update_decay_steps = decay_steps, update_decay_steps

    def rate(self, step: Any) -> Any:
        period = NUMBER(self.decay_steps)
        if self.update_decay_steps:
            p = step / (np.maximum(np.ceil(step / period), NUMBER(1)) * period)
        else:
            p = np.minimum(step, period) / period
        fall = NUMBER(self.learning_rate - self.end_learning_rate)
        return fall * np.power(NUMBER(1) - p, NUMBER(self.power)) + NUMBER(self.end_learning_rate)


class WarmUpLR(_Formula):
    """Linear growth: `learning_rate * min(step, warmup_steps) / warmup_steps` (Goyal and others, 2017).

    Args:
        learning_rate: the last rate.
        warmup_steps: the number of steps of the growth.

    Raises:
        TypeError, ValueError: an argument is not accepted.

    Example:
        >>> WarmUpLR(0.5, 4)(Tensor(2, int32))
        Tensor(shape=[], dtype=Float32, value=  2.50000000e-01)
    """

    def __init__(self, learning_rate: float, warmup_steps: int) -> None:
        super().__init__()
        _real("WarmUpLR", True, learning_rate=learning_rate)
        _whole("WarmUpLR", warmup_steps=warmup_steps)
        self.learning_rate, self.warmup_steps = learning_rate, warmup_steps

    def rate(self, step: Any) -> Any:
        p = np.minimum(step, NUMBER(self.warmup_steps)) / NUMBER(self.warmup_steps)
        return NUMBER(self.learning_rate) * p
