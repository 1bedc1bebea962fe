"""Exits inside of a call, after an effect, while a callable that is no method waits on the operand stack."""

import traceback

import numpy as np
import pytest

from pijit.core import _hook
from tests.harness import fail_unless_captured, jitted, mode_config


class Scale:
    """A callable object."""

    def __init__(self, factor):
        self.factor = factor

    def __call__(self, x):
        return x * self.factor


class Tools:
    """Attributes that are callables, but no methods."""

    def __init__(self):
        self.scaled, self.root = Scale(3.0), np.sqrt


def noted(x, k, seen):
    seen.append(k)
    return x[k] / x[k + 1]


def of_module(tools, x, seen):
    total = 0.0
    for k in range(4):
        total = total + np.sqrt(noted(x, k, seen)) * 2.0
    return total


def of_object(tools, x, seen):
    total = 0.0
    for k in range(4):
        total = total + tools.scaled(noted(x, k, seen)) * 2.0
    return total


def nested(tools, x, seen):
    total = 0.0
    for k in range(4):
        total = total + tools.scaled(np.maximum(tools.root(noted(x, k, seen) + 1.0), noted(x, k, seen))) * 2.0
    return total


def outcome(f, x):
    seen = []
    try:
        result = f(Tools(), x, seen)
        return type(result), np.asarray(result).tobytes(), seen
    except (IndexError, ZeroDivisionError) as error:
        lines = [(one.name, one.lineno) for one in traceback.extract_tb(error.__traceback__)]
        return type(error), str(error), lines[1:], seen


VALUES = ([1.0, 2.0, 4.0, 1.5, 3.0], [1.0, 2.0, 4.0], [4.0, 0.5, 0.25, 2.0, 8.0], [1.0, 2.0, 0.0, 4.0, 5.0], [1.0])


@pytest.mark.parametrize("function", [of_module, of_object, nested])
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_exits_after_effects_make_the_call_and_repeat_nothing(function):
    f = jitted(function)
    for given in VALUES + VALUES:
        x = np.array(given)
        assert outcome(f, x) == outcome(function, x)
    fail_unless_captured(f)
    assert mode_config().get("force_breaks") or not f.state.entries[0].reports.breaks


def test_call_calls():
    assert _hook.call(dict, [(1, 2)], x=3) == {1: 2, "x": 3} and _hook.call(len, "abc") == 3
    with pytest.raises(TypeError, match="callable is missing"):
        _hook.call()
    with pytest.raises(TypeError, match="not callable"):
        _hook.call(3)
