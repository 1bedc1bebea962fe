"""Parameter groups of an optimizer: which learning rate and which weight decay each parameter has."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

import numpy as np

from pijit.ms.nn.learning_rates import LearningRateSchedule
from pijit.ms.parameter import Parameter
from pijit.ms.tensor import Tensor

KEYS = ("params", "lr", "weight_decay", "grad_centralization", "order_params")
UNDECAYED = ("beta", "gamma")
"""Parts of names of parameters without weight decay, unless they are in a group."""

Item = Tuple[Parameter, int, float]
"""A parameter, the number of its learning rate, and its weight decay."""


def rate_source(caller: str, learning_rate: Any, name: str) -> Any:
    """A learning rate as an optimizer keeps it: a `Parameter` with one rate or a rate per step, or a schedule.

    Raises:
        TypeError: `learning_rate` is not a number, Tensor, list or schedule.
        ValueError: it is negative or empty, or has more than one dimension.
    """
    if isinstance(learning_rate, LearningRateSchedule):
        return learning_rate
    if isinstance(learning_rate, bool) or not isinstance(learning_rate, (int, float, Tensor, list, tuple, np.number)):
        raise TypeError("{}: learning_rate must be a number, a Tensor, a list of floats or a LearningRateSchedule; "
                        "not {!r}".format(caller, learning_rate))
    values = np.array(learning_rate._array if isinstance(learning_rate, Tensor) else learning_rate, np.float32)
    if values.ndim > 1 or not values.size:
        raise ValueError("{}: learning_rate must be a number or a list of numbers; not of shape {}".format(
            caller, values.shape))
    if not (values >= 0).all():
        raise ValueError("{}: learning_rate must not be negative; not {!r}".format(caller, learning_rate))
    return Parameter(values, name=name, requires_grad=False)


def checked_decay(caller: str, weight_decay: Any) -> float:
    """A weight decay.

    Raises:
        TypeError: it is not a number.
        ValueError: it is negative.
    """
    if isinstance(weight_decay, bool) or not isinstance(weight_decay, (int, float)):
        raise TypeError("{}: weight_decay must be a float or an int; not {!r}".format(caller, weight_decay))
    if weight_decay < 0:
        raise ValueError("{}: weight_decay must not be negative; not {!r}".format(caller, weight_decay))
    return float(weight_decay)


def arranged(caller: str, parameters: Any, learning_rate: Any, weight_decay: Any) -> Tuple[List[Item], List[Any]]:
    """The parameters with their learning rates and weight decays.

    Args:
        caller: the name of the optimizer, for errors.
        parameters: a list of parameters, or a list of groups, which are dicts.
        learning_rate, weight_decay: those of parameters whose group has none.

    Returns:
        (an item per parameter, the learning rates); the first rate is `learning_rate`.

    Raises:
        TypeError: a parameter or a group has a wrong type.
        ValueError: a group has an unknown key, a parameter is in two groups, or `order_params` names other parameters.
    """
    listed = list(parameters)
    rates = [rate_source(caller, learning_rate, "learning_rate")]
    decay = checked_decay(caller, weight_decay)
    if not listed:
        raise ValueError("{}: params must not be empty".format(caller))
    if not isinstance(listed[0], dict):
        return [(_parameter(caller, one), 0, _default_decay(one, decay)) for one in listed], rates
    items: List[Item] = []
    order: Optional[List[Any]] = None
    for group in listed:
        if "order_params" in _checked_group(caller, group):
            order = list(group["order_params"])
            continue
        place = 0
        if "lr" in group:
            place = len(rates)
            rates.append(rate_source(caller, group["lr"], "learning_rate_group_{}".format(place - 1)))
        own = checked_decay(caller, group["weight_decay"]) if "weight_decay" in group else decay
        items += [(_parameter(caller, one), place, own) for one in group["params"]]
    return _ordered(caller, items, order), rates


def _default_decay(parameter: Parameter, decay: float) -> float:
    return 0.0 if any(part in parameter.name for part in UNDECAYED) else decay


def _parameter(caller: str, one: Any) -> Parameter:
    if not isinstance(one, Parameter):
        raise TypeError("{}: each item of params must be a Parameter; not {!r}".format(caller, one))
    return one


def _checked_group(caller: str, group: Any) -> Dict[str, Any]:
    if not isinstance(group, dict):
        raise TypeError("{}: params must contain parameters or dicts, not both; not {!r}".format(caller, group))
    for key in group:
        if key not in KEYS:
            raise ValueError("{}: keys of a parameter group must be {}; not {!r}".format(caller, ", ".join(KEYS), key))
    if group.get("grad_centralization"):
        raise ValueError("{}: grad_centralization must be False".format(caller))
    if "order_params" not in group and not group.get("params"):
        raise ValueError("{}: a parameter group needs params".format(caller))
    return group


def _ordered(caller: str, items: List[Item], order: Optional[List[Any]]) -> List[Item]:
    by_id = {id(item[0]): item for item in items}
    if len(by_id) != len(items):
        raise ValueError("{}: a parameter must be in one group only".format(caller))
    if order is None:
        return items
    if len(order) != len(items) or any(id(one) not in by_id for one in order):
        raise ValueError("{}: order_params must be the parameters of all groups".format(caller))
    return [by_id[id(one)] for one in order]
