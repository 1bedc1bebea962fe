"""Floating-point flags of statements that are checked together: warnings and errors stay where bytecode has them."""

import numpy as np
import pytest

from tests.harness import check, fail_unless_captured

HUGE, TINY = 1.5e308, 3e-200
SPECIAL = [0.0, -0.0, 1.0, -2.5, HUGE, -HUGE, TINY, 5e-324, np.inf, -np.inf, np.nan]


def chain(x, y, out):
    for i in range(len(x)):
        out[i] = x[i] * y[i] + x[i] * 2.0 - y[i] * 0.5


def quotients(x, y, out):
    for i in range(len(x)):
        out[i] = x[i] / (y[i] * 2.0) + y[i] / 3.0


def unused(x, y, out):
    """Results that no later operation shows."""
    for i in range(len(x)):
        big = x[i] + y[i]
        small = x[i] * y[i]
        if big > 1.0:
            out[i] = x[i] - y[i]
        del small


def of_statements(x, y, out):
    for i in range(len(x)):
        a = x[i] * y[i]
        b = a + 1.0
        out[i] = b
        out[i] = a * a + b


def maxima(x, y, out):
    for i in range(len(x)):
        out[i] = max(x[i] + y[i], x[i] * y[i]) - abs(x[i])


def pairs(dtype, special=SPECIAL):
    with np.errstate(all="ignore"):
        x, y = np.meshgrid(np.array(special, dtype), np.array(special, dtype))
    return x.ravel().copy(), y.ravel().copy(), np.zeros(x.size, dtype)


def zeros_and(tail, dtype=float):
    """Enough zeros for the kernel to ask NumPy, and then something else."""
    x = np.concatenate([np.zeros(200), np.array(tail)]).astype(dtype)
    return x, np.full(x.size, TINY, dtype), np.zeros(x.size, dtype)


FUNCTIONS = [chain, quotients, unused, of_statements, maxima]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
@fail_unless_captured()
def test_special_values(f):
    check(f, *pairs(float), others=[pairs(float, SPECIAL[:4]), zeros_and([TINY, 1.0, HUGE])])


@pytest.mark.parametrize("under", ["warn", "raise", "ignore"])
@pytest.mark.parametrize("f", [chain, quotients], ids=lambda f: f.__name__)
@fail_unless_captured()
def test_underflows_are_told_if_wanted(f, under):
    with np.errstate(under=under, over="raise"):
        check(f, *zeros_and([TINY, 1.0, TINY]), others=[zeros_and([1.0, HUGE, TINY])])


@fail_unless_captured()
def test_single_precision():
    special = [0.0, 1.0, 3e38, -3e38, 1e-30, np.inf, np.nan]
    with np.errstate(under="warn"):
        check(chain, *pairs(np.float32, special), others=[zeros_and([1e-30, 1.0], np.float32)])
