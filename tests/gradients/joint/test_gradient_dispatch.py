"""Calls of gradient functions by the dispatch in C: which calls it runs, and what follows when a kernel leaves."""

import signal
import sys

import numpy as np
import pytest

import pijit
from pijit.core.error_states import states
from pijit.core.pythons import why_not_python
from pijit.gradient_kernels import MOST_LEFT, WARM
from tests.gradients.joint.joint_gradient import Gradient, bits

pytestmark = pytest.mark.skipif(why_not_python() is not None, reason="nothing is compiled here")
needs_states = pytest.mark.skipif(states() is None, reason="NumPy before 2.0 has no error states that C can enter")

X = np.linspace(0.2, 1.7, 9)


def product(x, y):
    return (x * x * y).sum()


def ready(function, argnums, *args):
    """A gradient whose calls with such arguments the dispatch runs, and a list of what it answers."""
    gradient = pijit.value_and_grad(function, argnums)
    for _ in range(WARM + 1):
        gradient(*args)
    return gradient, gradient._kernels._dispatch


@needs_states
def test_calls_are_run_in_c():
    gradient, dispatch = ready(product, (0, 1), X, 2.0)
    value, gradients, number = dispatch.run((X, 2.0))
    assert bits((value, tuple(gradients))) == bits(gradient(X, 2.0)) and number == 0 and type(gradients[1]) is float
    assert dispatch.run((X[::2], 2.0)) is None and dispatch.run((X, 2)) is None
    with np.errstate(over="raise"):
        assert dispatch.run((X, 2.0)) is None
    gradient.__wrapped__ = None
    assert bits(gradient(X, 2.0)) == bits((value, tuple(gradients)))


@pytest.mark.parametrize("number", [2.5, np.float32(2.5), np.float64(2.5)])
def test_gradients_of_numbers(number):
    gradient = Gradient(product, (0, 1)).warm(X, number)
    assert [gradient.compare(X, number) for _ in range(3)] == [True] * 3
    assert type(gradient.f(X, number)[1][1]) is type(number)


def test_a_closure():
    def scaled_by(factor):
        def scaled(x):
            return (factor * x).sum()

        def change(to):
            nonlocal factor
            factor = to
        return scaled, change

    scaled, change = scaled_by(3.0)
    gradient = Gradient(scaled, 0).warm(X)
    assert gradient.compare(X)
    change(4.0)
    gradient.compare(X)
    assert gradient.f(X)[1][0] == 4.0


def test_keywords_and_defaults():
    def powers(x, scale=2.0):
        return (x * scale).sum()

    gradient = pijit.grad(powers)
    for _ in range(WARM + 3):
        assert gradient(X)[0] == 2.0 and gradient(X, 3.0)[0] == 3.0 and gradient(X, scale=4.0)[0] == 4.0


def test_other_code_of_the_function():
    def changing(x):
        return (x * 2.0).sum()

    gradient = Gradient(changing, 0).warm(X)
    assert gradient.compare(X) and gradient.f(X)[1][0] == 2.0
    changing.__code__ = (lambda x: (x * 5.0).sum()).__code__
    gradient.compare(X)
    assert gradient.f(X)[1][0] == 5.0


def test_traced_calls_use_the_tape():
    gradient = Gradient(product, 0).warm(X, 2.0)
    assert gradient.compare(X, 2.0)
    lines = []

    def trace(frame, event, arg):
        if frame.f_code is product.__code__:
            lines.append(event)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        gradient.f(X, 2.0)
    finally:
        sys.settrace(before)
    assert "PJ510" in gradient.why


def test_a_stance_of_python_uses_the_tape():
    gradient = Gradient(product, 0).warm(X, 2.0)
    with pijit.stance("python"):
        assert not gradient.compare(X, 2.0)
    assert gradient.compare(X, 2.0)


def test_gradients_within_gradients_use_the_tape():
    inner = pijit.grad(product)
    for _ in range(WARM + 2):
        inner(X, 2.0)
    outer = pijit.grad(lambda x: inner(x, 2.0).sum())
    assert np.array_equal(outer(X), np.full(9, 4.0))


def test_exceptions_of_kernels_are_the_programs():
    gradient = Gradient(product, 0).warm(X, 2.0)
    assert gradient.compare(X, 2.0)
    large = X * 1e200
    for _ in range(2):
        with np.errstate(over="raise"), pytest.raises(FloatingPointError, match="overflow encountered in multiply"):
            gradient.f(large, 2.0)
        with pytest.warns(RuntimeWarning, match="overflow encountered in multiply"):
            gradient.f(large, 2.0)
        assert "left this call" in gradient.why
    assert gradient.compare(X, 2.0)


def test_a_kernel_that_leaves_all_calls_is_given_up():
    gradient = Gradient(product, 0).warm(X, 2.0)
    assert gradient.compare(X, 2.0)
    large = X * 1e200
    for _ in range(MOST_LEFT + 2):
        with pytest.warns(RuntimeWarning):
            gradient.f(large, 2.0)
    assert "left %d calls in a row" % MOST_LEFT in gradient.why
    assert not gradient.compare(X, 2.0)


@needs_states
@pytest.mark.skipif(not hasattr(signal, "raise_signal"), reason="there is no raise_signal")
def test_exceptions_of_signal_handlers_are_the_programs():
    class Expired(Exception):
        pass

    def handler(number, frame):
        raise Expired("late")

    def interrupted(*inputs):
        signal.raise_signal(signal.SIGINT)

    gradient, dispatch = ready(product, 0, X, 2.0)
    dispatch.set_entries(((gradient._kernels.entries[0].program, interrupted, None, ()),))
    before = signal.signal(signal.SIGINT, handler)
    try:
        with pytest.raises(Expired, match="late"):
            gradient(X, 2.0)
    finally:
        signal.signal(signal.SIGINT, before)


def heat(u0, steps):
    u = u0.copy()
    for _ in range(steps):
        u[1:-1] += 0.1 * (u[:-2] - 2.0 * u[1:-1] + u[2:]) * u[1:-1]
    return (u * u).sum()


def test_loops_that_save_too_much_have_checkpoints():
    gradient = pijit.value_and_grad(heat, tape_limit=4000)
    tape = pijit.value_and_grad(heat)
    for steps in (2, 2, 2, 2, 60, 2, 60, 60):
        assert bits(gradient(X, steps)) == bits((lambda found: (found.value, found.gradients[0]))(tape._run((X, steps), {})))
    assert gradient._kernels.why == ""
