"""Gradient kernels of functions with handlers of exceptions, error states of NumPy, and selections by masks."""

import contextlib
import sys
import warnings

import numpy as np
import pytest

import pijit
from pijit.core.pythons import why_not_python
from tests.gradients.joint.joint_gradient import Gradient, bits

pytestmark = pytest.mark.skipif(why_not_python() is not None, reason="nothing is compiled here")

X = np.linspace(0.1, 2.0, 50)
Y = np.cos(X) * 2.0


def state_at_the_end(x, y):
    with np.errstate(all="ignore"):
        s = (x * y).sum()
    return s


def state_in_the_middle(x, y):
    with np.errstate(over="ignore", invalid="ignore"):
        s = (x * x / y).sum()
        t = s * 2.0
    return t + s * y.sum()


def return_inside(x, y):
    with np.errstate(divide="ignore"):
        return (1.0 / x + y).sum()


def state_in_a_loop(x, y):
    for _ in range(12):
        with np.errstate(divide="ignore"):
            x = x * 0.5 + y / (x * x + 1e-3)
    return x.sum()


def loop_in_a_state(x, y):
    z = x.copy()
    with np.errstate(over="ignore"):
        for _ in range(10):
            z *= 1.01
            z += x * y
    return z.sum()


def handler(x, y):
    try:
        s = (x * x).sum()
    except ValueError:
        s = 0.0
    return s * y.sum()


def last_clause(x, y):
    try:
        s = (x * y).sum()
    finally:
        t = y.sum()
    return s * t


def suppressed(x, y):
    s = 0.0
    with contextlib.suppress(ZeroDivisionError):
        s = (x * y).sum()
    return s * 2.0


BYTECODE = (last_clause,) + (return_inside,) * (sys.version_info < (3, 8))
"""Functions that are no kernels: CPython 3.7 returns from a with block by code that also ends exceptions."""

EACH = (state_at_the_end, state_in_the_middle, return_inside, state_in_a_loop, loop_in_a_state, handler, suppressed)


@pytest.mark.parametrize("f", EACH + (last_clause,))
def test_gradients_have_the_bits_of_the_tape(f):
    gradient = Gradient(f, (0, 1)).warm(X, Y)
    used = [gradient.compare(*args) for args in ((X, Y), (X, Y), (X * 1e200, Y), (X * 0.0, Y), (-X, Y * 0.0), (X, Y))]
    assert all(used[:2]) or f in BYTECODE, gradient.why


@pytest.mark.parametrize("f", EACH)
def test_warnings_are_those_of_the_program(f):
    for args in ((X * 1e200, Y), (X * 0.0, Y), (X, Y * 1e300), (X, Y)):
        seen = []
        gradient = Gradient(f, (0, 1)).warm(X, Y)
        gradient.f(X, Y)
        for call in (gradient.f, gradient.tape):
            with warnings.catch_warnings(record=True) as found:
                warnings.simplefilter("always")
                result = call(*args)
            seen.append(([str(one.message) for one in found], bits(result)))
        assert seen[0] == seen[1]


def test_ignored_flags_do_not_leave_the_kernel():
    """A division by zero that the program ignores is no reason for the tape."""
    def f(x, y):
        with np.errstate(divide="ignore"):
            r = 1.0 / x + y
        return r.sum()

    gradient = Gradient(f, 0).warm(X, Y)
    zeros = X.copy()
    zeros[3] = 0.0
    assert all(gradient.compare(zeros, Y) for _ in range(3)), gradient.why


def test_exceptions_that_are_raised_and_caught():
    def f(x, n):
        try:
            if n > 3:
                raise ValueError(n)
            s = (x * x).sum()
        except ValueError:
            s = x.sum()
        return s * 2.0

    gradient = Gradient(f, 0).warm(X, 1)
    for n in (1, 2, 4, 5, 1):
        gradient.compare(X, n)


def test_exceptions_of_the_program_reach_it():
    def f(x, y):
        with np.errstate(over="ignore"):
            s = (x * y).sum()
        return s

    gradient = Gradient(f, 0).warm(X, Y)
    gradient.f(X, Y)
    with pytest.raises(ValueError, match="broadcast"):
        gradient.f(X, Y[:7])
    with np.errstate(over="raise"), pytest.raises(FloatingPointError, match="overflow"):
        pijit.value_and_grad(lambda x: (x * 1e300).sum())(X * 1e300)


def chosen(x, y):
    return np.where(x > 0.5, x * y, y).sum()


def or_a_number(x, y):
    return (np.where(x > y, x, 0.0) * y).sum()


def in_a_loop(x, y):
    for _ in range(8):
        x = np.where(x > 0.5, x * 0.9, x + 0.1 * y)
    return (x * x).sum()


def by_an_earlier_mask(x, y):
    mask = x > 0.5
    for _ in range(8):
        y = np.where(mask, y * 0.9 + x, 0.5 * y)
    return (x * y).sum()


def broadcast(x, y):
    return np.where(x[:, None] > y, x[:, None] * y, 2.0).sum()


def of_numbers(x, y):
    return np.where(x > 0.5, 3.0, y.sum()).sum() + x.sum()


def nested(x, y):
    mask = x > 0.5
    return np.where(mask & (y < 1.0), x, -y).sum() * np.where(mask, 1.0, x).sum()


@pytest.mark.parametrize("dtype", (np.float64, np.float32))
@pytest.mark.parametrize("f", (chosen, or_a_number, in_a_loop, by_an_earlier_mask, broadcast, of_numbers, nested))
def test_selections(f, dtype):
    x, y = X.astype(dtype), Y.astype(dtype)
    gradient = Gradient(f, (0, 1)).warm(x, y)
    for args in ((x, y), (x, y), (x * 0, y), (x, -y * 0), (-x, y)):
        assert gradient.compare(*args), gradient.why
