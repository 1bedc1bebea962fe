"""Several kernels of one place in linked code: which one is asked first."""

import operator

import numpy as np

from pijit.differential import plain_twin
from tests.harness import jitted

X = np.linspace(-1.0, 2.0, 7)
stay = operator.methodcaller("__abs__")
"""A call that stays bytecode."""


def changes_type_once(n, x):
    total = 0.0
    for i in range(n):
        total = total + x[i % 7] * 2.0 - x[i % 5] * x[0]
        stay(-1)
    return total


def test_the_kernel_of_later_iterations_is_asked_first():
    f = jitted(plain_twin(changes_type_once))
    for _ in range(3):
        assert f(500, X) == changes_type_once(500, X)
    launchers = f.state.entries[-1].launchers
    calls, misses = [sum(getattr(one, name) for one in launchers) for name in ("calls", "misses")]
    assert calls >= 500 and misses <= 20
