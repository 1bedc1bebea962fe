"""Gradients of loops whose number of iterations is known at run time only: `while`, `break`, and a return in a loop."""

import numpy as np
import pytest

import pijit
from pijit.core.graph.reverse.uncounted import MOST_ROWS
from pijit.core.pythons import why_not_python
from tests.gradients.joint.joint_gradient import Gradient, is_kernel

pytestmark = pytest.mark.skipif(why_not_python() is not None, reason="nothing is compiled here")

R = np.random.RandomState(1)
X = R.uniform(-0.7, 0.9, 20)
X[:2], X[15] = (0.9, 0.8), 0.99
W = R.normal(size=(20, 20)) * 0.05


def newton(a, tol):
    s = a
    for _ in range(100):
        t = s
        s = 0.5 * (s + a / s)
        if abs(t - s) < tol:
            break
    return s


def decay(x, a):
    s = x[0] * a
    while s > 0.1:
        s = s * 0.9 * x[1]
    return s * a


def fixed_point(x, w, most):
    u = x * 1.0
    for _ in range(most):
        new = np.tanh(w @ u) + x
        e = np.abs(new - u).max()
        u = new
        if e < 1e-8:
            break
    return (u * u).sum()


def march(x, a):
    t, y = a * 0.0, x * 1.0
    while t < 1.0:
        y = y - 0.1 * np.sin(y) * a
        t = t + 0.07 * a
    return y.sum() * t


def until_large(x, a):
    s = x[0] * a
    for i in range(len(x)):
        if x[i] > 0.95:
            break
        if x[i] < -0.3:
            continue
        s = s * 0.9 + x[i] * a
    return s


def returns(x, a):
    s = x[0] * a
    for i in range(len(x)):
        s = s * 0.9 + x[i] * a
        if s > 2.0:
            return s * s
    return s


def nested_exit(x, a):
    s = x[0] * a
    k = 0
    while True:
        if s > 0.5:
            if k > 5:
                break
            s = s * 0.9
        else:
            s = s + a * abs(x[k % len(x)])
        k += 1
    return s * s


def inner(x, a):
    s = x[0] * a
    for i in range(len(x)):
        p = x[i] * x[i] + 0.1
        while p < 8.0:
            p = p * 1.5 + a * 0.1
        s = s + p * x[i]
    return s


def stores_while(x, a):
    u, s = x * a, x[0] * a
    while s < 3.0:
        s = s * 1.3
        u[1:] = u[1:] * u[:-1] + s
    return u.sum() * s


CASES = [
    (newton, 0, (2.0, 1e-10)), (decay, (0, 1), (X, 1.5)), (fixed_point, (0, 1), (X, W, 100)), (march, (0, 1), (X, 0.8)),
    (until_large, (0, 1), (X, 1.5)), (returns, (0, 1), (X, 0.5)), (nested_exit, (0, 1), (X, 0.8)),
    (inner, (0, 1), (X, 0.5)), (stores_while, (0, 1), (X, 0.5))]


@pytest.mark.parametrize("f, argnums, args", CASES, ids=lambda one: getattr(one, "__name__", ""))
def test_bits_are_the_tapes(f, argnums, args):
    gradient = Gradient(f, argnums).warm(*args)
    for _ in range(3):
        assert gradient.compare(*args), gradient.why
    for factor in (0.9, 1.1, 1.2):
        gradient.compare(*[one * factor if isinstance(one, np.ndarray) and one is not W else one for one in args])
    assert gradient.compare(*args), gradient.why
    entry = gradient.f._kernels.entries[0]
    for function in (entry.function, entry.backward):
        assert is_kernel(function)


@pytest.mark.parametrize("f, args", [(until_large, (X, 1.5)), (returns, (X, 0.5))],
                         ids=lambda one: getattr(one, "__name__", ""))
def test_numbers_of_iterations(f, args):
    gradient = Gradient(f, (0, 1)).warm(*args)
    for size in (20, 16, 15, 3, 2, 1):
        gradient.compare(args[0][:size].copy(), *args[1:])
    assert gradient.compare(*args), gradient.why


def test_rows_count_for_the_limit_of_the_tape():
    gradient = pijit.value_and_grad(march, tape_limit=40000)
    for _ in range(4):
        value, g = gradient(X, 0.8)
    assert gradient._kernels.why == ""
    assert gradient(X, 0.2)[1].tobytes() == pijit.value_and_grad(march)(X, 0.2)[1].tobytes()
    assert gradient._kernels.why == ""
    with pytest.raises(pijit.GradientError, match="PJ506"):
        gradient(X, 0.002)
    assert gradient(X, 0.8)[1].tobytes() == g.tobytes() and gradient._kernels.why == ""


def test_more_rows_than_the_first_kernel_has(monkeypatch):
    monkeypatch.setitem(MOST_ROWS, 1, 800)
    gradient = Gradient(march, (0, 1)).warm(X, 0.8)
    for _ in range(2):
        assert gradient.compare(X, 0.8), gradient.why
    assert gradient.f._kernels.entries[0].larger


def test_a_store_in_the_iteration_that_leaves_uses_the_tape():
    gradient = Gradient(in_place, 0)
    for _ in range(4):
        gradient.compare(X, 30)
    assert "leaves its loop" in gradient.why, gradient.why


def in_place(x, most):
    u = x * 1.0
    for _ in range(most):
        u[1:] = 0.5 * (u[1:] + u[:-1])
        if u[3] > 0.7:
            break
    return (u * u).sum()
