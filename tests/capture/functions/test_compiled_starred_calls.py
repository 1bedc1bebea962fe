"""Functions that are compiled on their own for calls with star arguments, whatever object runs them."""

import numpy as np
import pytest

from tests.capture.functions.test_compiled_callees import callees_of, kernels_run
from tests.harness import jitted


class Scale:
    """A callable object, and its maker."""

    def __init__(self, x, factor=2.0):
        self.norm = (x * x * factor + x).sum()

    def __call__(self, x, factor=2.0):
        y = x * factor + self.norm
        return (y * y + x).sum()

    def method(self, x, factor=2.0):
        y = x * factor - self.norm
        return (y * x - y).sum()


def function(x, factor=2.0):
    y = x * factor + 1.0
    return (y * y + x).sum()


def calls_function(scale, *given, **named):
    return function(*given, **named)


def calls_object(scale, *given, **named):
    return scale(*given, **named)


def calls_method(scale, *given, **named):
    return scale.method(*given, **named)


def calls_class(scale, *given, **named):
    return Scale(*given, **named).norm


@pytest.mark.parametrize("outer, inner", [
    (calls_function, "function"), (calls_object, "__call__"), (calls_method, "method"), (calls_class, "__init__")])
def test_star_arguments(outer, inner):
    x = np.linspace(0.0, 1.0, 50)
    scale, f = Scale(x), jitted(outer, {"max_inline_depth": 0})
    for _ in range(3):
        for given, named in (((x,), {}), ((x, 3.0), {}), ((x,), {"factor": 0.5})):
            assert f(scale, *given, **named) == outer(scale, *given, **named)
    assert kernels_run(callees_of(f)[inner]) >= 3
    for wrong in ((), (x, 1.0, 2.0)):
        with pytest.raises(TypeError) as mine:
            f(scale, *wrong)
        with pytest.raises(TypeError) as right:
            outer(scale, *wrong)
        assert str(mine.value) == str(right.value)
