"""Optimizers: cells that update parameters by their gradients.

Each update stores into the arrays of the parameter and of its moments. The moments are parameters of the optimizer, so
that checkpoints of it hold them.
"""

from __future__ import annotations

from typing import Any, Dict

import numpy as np

from pijit.ms.cell import Cell
from pijit.ms.nn.parameter_groups import arranged
from pijit.ms.parameter import Parameter, ParameterTuple
from pijit.ms.tensor import made

LIMITS: Dict[str, Any] = {
    "positive": lambda value: value > 0, "at least 0": lambda value: value >= 0,
    "between 0 and 1": lambda value: 0 < value < 1}


def check_flags(caller: str, **given: Any) -> None:
    """Raise TypeError for an argument that is not a bool."""
    for name, value in given.items():
        if not isinstance(value, bool):
            raise TypeError("{}: {} must be a bool; not {!r}".format(caller, name, value))


def check_numbers(caller: str, limits: str, **given: Any) -> None:
    """Raise TypeError for an argument that is not a number, ValueError for one outside of its limits."""
    for name, value in given.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise TypeError("{}: {} must be a float; not {!r}".format(caller, name, value))
        if not LIMITS[limits](value):
            raise ValueError("{}: {} must be {}; not {!r}".format(caller, name, limits, value))


class Optimizer(Cell):
    """Base class of optimizers, which update parameters by their gradients; a subclass defines `step`.

    Args:
        learning_rate: a number; a list or 1-d Tensor with a rate per step, of which the last one stays; or a
            `LearningRateSchedule`, which is called with the number of steps so far.
        parameters: parameters, or groups: dicts with "params" and optionally "lr" and "weight_decay". A dict with
            "order_params" gives the order of the gradients.
        weight_decay: factor by which the parameters are added to their gradients. Without groups, it does not apply to
            parameters whose names contain "beta" or "gamma".
        loss_scale: the gradients are divided by it.

    Attributes:
        parameters: the parameters, in the order of the gradients.
        learning_rate: the learning rate of parameters whose group has none: a `Parameter`, or a schedule.
        global_step: the number of steps so far.

    Raises:
        TypeError: an item of `parameters` is not a `Parameter`, or another argument has a wrong type.
        ValueError: `learning_rate` or `weight_decay` is negative, `loss_scale` is not positive, or a group is wrong.

    Example:
        >>> class Plain(Optimizer):
        ...     def step(self, place, a, g, rate):
        ...         a -= g * rate
    """

    def __init__(self, learning_rate: Any, parameters: Any, weight_decay: float = 0.0,
                 loss_scale: float = 1.0) -> None:
        super().__init__(auto_prefix=False)
        name = type(self).__name__
        check_numbers(name, "positive", loss_scale=loss_scale)
        items, rates = arranged(name, parameters, learning_rate, weight_decay)
        self.parameters: Any = ParameterTuple(item[0] for item in items)
        self.decays = tuple(item[2] or None for item in items)  # captured code tests for None by type
        self.rate_of = tuple(item[1] for item in items)
        self.learning_rate, self.weight_decay, self.loss_scale = rates[0], float(weight_decay), float(loss_scale)
        self.unscale = None if loss_scale == 1 else 1 / float(loss_scale)
        for number, one in enumerate(rates[1:]):
            setattr(self, "learning_rate_group_{}".format(number), one)
        self.rates = tuple(rates)
        self.is_group_lr = len(rates) > 1
        self.global_step = Parameter(np.zeros(1, np.int32), name="global_step", requires_grad=False)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "learning_rate" and isinstance(value, (int, float)) and name in self._params:
            self.learning_rate.set_data(np.float32(value))
        else:
            super().__setattr__(name, value)

    def moments_of(self, prefix: str, init: Any = "zeros") -> Any:
        """A moment per parameter, which the optimizer owns; its name is that of the parameter with a prefix."""
        found = self.parameters.clone(prefix, init)
        for one in found:
            one.requires_grad = False
            self.insert_param_to_cell(one.name, one)
        return found

    def construct(self, gradients: Any) -> bool:
        """Update the parameters by gradients in the same order."""
        steps = self.global_step._array
        rates = [_rate_now(one, steps) for one in self.rates]
        self.begin()
        for place, one in enumerate(self.parameters):
            a, g = one._array, gradients[place]._array
            number = a.dtype.type
            if self.unscale is not None:
                g = g * number(self.unscale)
            if self.decays[place] is not None:
                g = self.decayed(a, g, number(self.decays[place]))
            self.step(place, a, g, number(rates[self.rate_of[place]]))
        steps += 1
        return True

    def get_lr(self) -> Any:
        """The learning rate of the next step; with groups that have rates, a tuple with one per parameter."""
        rates = [made(np.array(_rate_now(one, self.global_step._array))) for one in self.rates]
        return tuple(rates[number] for number in self.rate_of) if self.is_group_lr else rates[0]

    def begin(self) -> None:
        """Update what all parameters share, before the first of them."""

    def decayed(self, a: Any, g: Any, decay: Any) -> Any:
        """The gradient with weight decay."""
        return g + a * decay

    def step(self, place: int, a: Any, g: Any, rate: Any) -> None:
        """Update the array of one parameter in place.

        Args:
            place: the position of the parameter in `parameters`.
            a: its array.
            g: its gradient, with weight decay.
            rate: its learning rate, a NumPy number of the array's type.
        """
        raise NotImplementedError("{}: an Optimizer needs a step method".format(type(self).__name__))


def _rate_now(source: Any, steps: Any) -> Any:
    """The learning rate of a step as a NumPy number."""
    if not isinstance(source, Parameter):
        return source.rate(np.float32(steps[0]))
    rates = source._array
    return np.reshape(rates, (1,))[0] if rates.ndim == 0 else rates[min(int(steps[0]), rates.size - 1)]


class SGD(Optimizer):
    """Stochastic gradient descent, optionally with momentum (Sutskever and others, 2013).

    `v = momentum * v + (1 - dampening) * g`, in the first step `v = g`; then `w -= rate * v`, or with `nesterov`
    `w -= rate * (g + momentum * v)`.

    Args:
        params, learning_rate, weight_decay, loss_scale: as for `Optimizer`.
        momentum, dampening: at least 0.
        nesterov: look ahead; needs a positive `momentum` and `dampening` 0.

    Raises:
        TypeError, ValueError: an argument is not accepted.

    Example:
        >>> SGD(net.trainable_params(), learning_rate=0.1, momentum=0.9)
    """

    def __init__(self, params: Any, learning_rate: Any = 0.1, momentum: float = 0.0, dampening: float = 0.0,
                 weight_decay: float = 0.0, nesterov: bool = False, loss_scale: float = 1.0) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        check_numbers("SGD", "at least 0", momentum=momentum, dampening=dampening)
        check_flags("SGD", nesterov=nesterov)
        if nesterov and (not momentum or dampening):
            raise ValueError("SGD: with nesterov momentum must be positive and dampening 0; not {!r} and {!r}".format(
                momentum, dampening))
        self.momentum, self.dampening, self.nesterov = float(momentum), float(dampening), nesterov
        self.accum = self.moments_of("accum") if momentum else None
        self.stat = self.moments_of("stat", "ones") if momentum and dampening else None

    def step(self, place: int, a: Any, g: Any, rate: Any) -> None:
        if self.accum is None:
            a -= g * rate
            return
        v, number = self.accum[place]._array, a.dtype.type
        if self.stat is not None:
            first = self.stat[place]._array
            v[...] = np.where(first > 0, g, v * number(self.momentum) + g * number(1 - self.dampening))
            first[...] = 0
        else:
            v[...] = v * number(self.momentum) + g
        a -= (g + v * number(self.momentum) if self.nesterov else v) * rate


class Momentum(Optimizer):
    """Stochastic gradient descent with momentum (Sutskever and others, 2013).

    `v = momentum * v + g`; then `w -= rate * v`, or with `use_nesterov` `w -= rate * (g + momentum * v)`.

    Args:
        params, learning_rate, weight_decay, loss_scale: as for `Optimizer`.
        momentum: at least 0.
        use_nesterov: look ahead.

    Raises:
        TypeError, ValueError: an argument is not accepted.

    Example:
        >>> Momentum(net.trainable_params(), learning_rate=0.1, momentum=0.9)
    """

    def __init__(self, params: Any, learning_rate: Any, momentum: float, weight_decay: float = 0.0,
                 loss_scale: float = 1.0, use_nesterov: bool = False) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        check_numbers("Momentum", "at least 0", momentum=momentum)
        check_flags("Momentum", use_nesterov=use_nesterov)
        self.momentum, self.use_nesterov = float(momentum), use_nesterov
        self.moments = self.moments_of("moments")

    def step(self, place: int, a: Any, g: Any, rate: Any) -> None:
        v, factor = self.moments[place]._array, a.dtype.type(self.momentum)
        v[...] = v * factor + g
        a -= (g + v * factor if self.use_nesterov else v) * rate


class Adagrad(Optimizer):
    """Adagrad (Duchi and others, 2011): `h += g * g`, then `w -= rate * g / (sqrt(h) + 1e-6)`.

    Args:
        params, learning_rate, weight_decay, loss_scale: as for `Optimizer`.
        accum: the first value of `h`; at least 0.
        update_slots: update `h`; otherwise it keeps its first value.

    Raises:
        TypeError, ValueError: an argument is not accepted.

    Example:
        >>> Adagrad(net.trainable_params(), learning_rate=0.1)
    """

    def __init__(self, params: Any, accum: float = 0.1, learning_rate: Any = 0.001, update_slots: bool = True,
                 loss_scale: float = 1.0, weight_decay: float = 0.0) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        check_numbers("Adagrad", "at least 0", accum=accum)
        check_flags("Adagrad", update_slots=update_slots)
        self.update_slots = update_slots
        self.accum = self.moments_of("accum", float(accum))

    def step(self, place: int, a: Any, g: Any, rate: Any) -> None:
        h = self.accum[place]._array
        if self.update_slots:
            h += g * g
        a -= g * rate / (np.sqrt(h) + a.dtype.type(1e-6))


class RMSProp(Optimizer):
    """RMSProp (Tieleman and Hinton, 2012): the gradient divided by the root of a moving mean of its square.

    `s = decay * s + (1 - decay) * g * g`, `m = momentum * m + rate * g / sqrt(s + epsilon)`, then `w -= m`. With
    `centered` (Graves, 2013) the root is that of `s - b * b + epsilon`, where `b = decay * b + (1 - decay) * g`.

    Args:
        params, learning_rate, weight_decay, loss_scale: as for `Optimizer`.
        decay, momentum: at least 0.
        epsilon: positive.
        use_locking: accepted without effect.
        centered: divide by the deviation instead of the root mean square.

    Raises:
        TypeError, ValueError: an argument is not accepted.

    Example:
        >>> RMSProp(net.trainable_params(), learning_rate=0.01)
    """

    def __init__(self, params: Any, learning_rate: Any = 0.1, decay: float = 0.9, momentum: float = 0.0,
                 epsilon: float = 1e-10, use_locking: bool = False, centered: bool = False, loss_scale: float = 1.0,
                 weight_decay: float = 0.0) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        check_numbers("RMSProp", "at least 0", decay=decay, momentum=momentum)
        check_numbers("RMSProp", "positive", epsilon=epsilon)
        check_flags("RMSProp", use_locking=use_locking, centered=centered)
        self.decay, self.momentum, self.epsilon = float(decay), float(momentum), float(epsilon)
        self.ms, self.moment = self.moments_of("mean_square", "ones"), self.moments_of("moment")
        self.mg = self.moments_of("mean_grad") if centered else None

    def step(self, place: int, a: Any, g: Any, rate: Any) -> None:
        s, m, number = self.ms[place]._array, self.moment[place]._array, a.dtype.type
        s[...] = s * number(self.decay) + g * g * number(1 - self.decay)
        spread = s
        if self.mg is not None:
            b = self.mg[place]._array
            b[...] = b * number(self.decay) + g * number(1 - self.decay)
            spread = s - b * b
        m[...] = m * number(self.momentum) + g * rate / np.sqrt(spread + number(self.epsilon))
        a -= m
