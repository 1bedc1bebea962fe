"""Gradients of functions with loops by kernels: the tape's bits, what is saved, and what the tape does instead."""

import numpy as np
import pytest

import pijit
from pijit.core.pythons import why_not_python
from pijit.gradient_kernels import MOST_LEFT
from tests.gradients.joint.joint_gradient import Gradient, is_kernel

pytestmark = pytest.mark.skipif(why_not_python() is not None, reason="nothing is compiled here")

R = np.random.RandomState(8)
X, Y = R.uniform(0.2, 1.1, 23), R.uniform(-1.0, 1.0, 23)
M = R.uniform(-1.0, 1.0, (9, 7))
W = R.normal(size=(5, 5)) * 0.4


def heat(u0, steps):
    u = u0.copy()
    for _ in range(steps):
        u[1:-1] = u[1:-1] + 0.1 * (u[:-2] - 2.0 * u[1:-1] + u[2:])
    return (u * u).sum()


def burgers(u0, steps):
    u = u0.copy()
    for _ in range(steps):
        u[1:] = u[1:] - 0.1 * u[1:] * (u[1:] - u[:-1])
    return (u * u).sum()


def plate(u0, steps):
    u = u0 * 1.0
    for _ in range(steps):
        u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) ** 2
    return u.sum()


def leapfrog(u0, v0, steps):
    u, v = u0.copy(), v0.copy()
    for _ in range(steps):
        u += 0.1 * v
        v -= 0.1 * np.sin(u)
    return u @ v


def wave(u0, steps):
    old, now = u0, u0 * 1.0
    for _ in range(steps):
        new = 2.0 * now - old
        new[1:-1] += 0.2 * (now[2:] - 2.0 * now[1:-1] + now[:-2])
        old, now = now, new
    return (now * old).sum()


def runge_kutta(y0, h, steps):
    y, t = y0, 0.0
    for _ in range(steps):
        k1 = -y * t
        k2 = -(y + 0.5 * h * k1) * (t + 0.5 * h)
        y = y + h * k2
        t += h
    return np.sum(y)


def recurrence(x, steps):
    y = x
    for _ in range(steps):
        y = y * x + np.sin(y)
    return y.sum()


def network(h0, w, steps):
    h = h0
    for _ in range(steps):
        h = np.tanh(w @ h)
    return h.sum()


def squares(x):
    s = 0.0
    for i in range(len(x)):
        s += x[i] * x[i]
    return s


def horner(x, z):
    s = 0.0
    for i in range(len(x)):
        s = s * z + x[i]
    return s


def rows(m, x):
    s = 0.0
    for i in range(m.shape[0]):
        s += (m[i] * x).sum() * m[i, 0]
    return s


def nested(m):
    s = 0.0
    for i in range(m.shape[0]):
        p = 1.0
        for j in range(m.shape[1]):
            p = p * m[i, j] + s
        s = s + p * 0.5
    return s


def elements(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = x[i] * x[i] + 1.0
    return (y * y).sum()


def multiplied(x, steps):
    u = x.copy()
    for _ in range(steps):
        u *= x
        u += 1.0
    return u.sum()


def swapped(x, y, steps):
    a, b = x * 1.0, y * 1.0
    for _ in range(steps):
        a, b = b, a * b
    return (a * b).sum()


def last_only(x, steps):
    t = x.sum()
    y = x
    for k in range(steps):
        y = x * t + k
    return y.sum()


def passes(x, steps):
    u = x.copy()
    for _ in range(steps):
        v = u * x
        v[1:] += u[:-1]
        u[:] = v * 0.5
    w = u * u
    w[0] = 3.0
    return (w * u).sum()


def two_loops(x, steps):
    u = x.copy()
    for _ in range(steps):
        u[1:] += u[:-1] * x[1:]
    total = 0.0
    for i in range(len(x)):
        total += u[i] * x[i]
    return total


def counted(x, first, last):
    s = x[0]
    for k in range(first, last):
        s = s * x[k] + k
    return s


def rewritten(x, steps):
    total = 0.0
    for _ in range(steps):
        u = x * x
        v = u + 1.0
        u[...] = v * 0.5
        total = total + (u * v).sum()
    w = x * total
    w[...] = w * x
    return w.sum()


def index_afterwards(x, last):
    s, k = 0.0, 0
    for k in range(last):
        s = s + x[k] * 2.0
    return s * k + x[k]


CASES = [
    (heat, 0, (X, 6)), (burgers, 0, (X, 6)), (plate, 0, (M, 4)), (leapfrog, (0, 1), (X, Y, 5)), (wave, 0, (X, 5)),
    (runge_kutta, (0, 1), (X, 0.1, 5)), (recurrence, 0, (X, 4)), (network, (0, 1), (X[:5].copy(), W, 4)),
    (squares, 0, (X,)), (horner, (0, 1), (X, 0.75)), (rows, (0, 1), (M, M[0] + 1.0)), (nested, 0, (M,)),
    (elements, 0, (X,)), (multiplied, 0, (X, 4)), (swapped, (0, 1), (X, Y, 5)), (last_only, 0, (X, 4)),
    (passes, 0, (X, 4)), (two_loops, 0, (X, 3)), (counted, 0, (X, 2, 9)),
    (rewritten, 0, (X, 4)), (index_afterwards, 0, (X, 9))]


@pytest.mark.parametrize("f, argnums, args", CASES, ids=lambda one: getattr(one, "__name__", ""))
def test_bits_are_the_tapes(f, argnums, args):
    gradient = Gradient(f, argnums).warm(*args)
    for _ in range(4):
        assert gradient.compare(*args), gradient.why
    single = [one.astype("f") if isinstance(one, np.ndarray) else one for one in args]
    for _ in range(3):
        gradient.compare(*single)
    entry = gradient.f._kernels.entries[0]
    for function in (entry.function, entry.backward):
        assert is_kernel(function)


@pytest.mark.parametrize("f, argnums, args", CASES, ids=lambda one: getattr(one, "__name__", ""))
def test_special_values(f, argnums, args):
    gradient = Gradient(f, argnums).warm(*args)
    gradient.compare(*args)
    special = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e200, 5e-324, 0.5, -2.5]
    random = np.random.RandomState(4)
    for _ in range(6):
        gradient.compare(*[random.choice(special, one.shape) if isinstance(one, np.ndarray) else one for one in args])


@pytest.mark.parametrize("f", [heat, burgers, recurrence, multiplied, last_only, passes, two_loops],
                         ids=lambda f: f.__name__)
def test_numbers_of_iterations_and_sizes(f):
    gradient = Gradient(f, 0).warm(X, 5)
    assert gradient.compare(X, 5), gradient.why
    for steps in (3, 2, 1, 0, 8):
        for size in (23, 5, 3):
            gradient.compare(X[:size].copy(), steps)
    assert gradient.compare(X, 5), gradient.why


def test_lengths_of_loops_over_elements():
    for f in (squares, elements):
        gradient = Gradient(f, 0).warm(X)
        for size in (23, 2, 1, 0, 4):
            gradient.compare(X[:size].copy())
        assert gradient.compare(X), gradient.why


def powers(x, steps):
    y = x
    for _ in range(steps):
        y = y * x
    return y.sum()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_tape_runs_calls_that_a_kernel_always_leaves():
    gradient, large = Gradient(powers, 0).warm(X, 4), X * 1e200
    assert gradient.compare(X, 4)
    for number in range(MOST_LEFT):
        gradient.f(large, 4)
        assert "left this call" in gradient.why
    gradient.f(large, 4)
    assert "left %d calls in a row" % MOST_LEFT in gradient.why
    assert not gradient.compare(X, 4)


def test_saved_rows_count_for_the_limit_of_the_tape():
    gradient = pijit.value_and_grad(burgers, tape_limit=4000)
    for steps in (2, 2, 2, 2, 3):
        value, g = gradient(X, steps)
    assert gradient._kernels.why == ""
    value, g_of_200 = gradient(X, 200)
    assert gradient._kernels.why == ""
    expected = pijit.value_and_grad(burgers)(X, 200)
    assert value == expected[0] and g_of_200.tobytes() == expected[1].tobytes()
    with pytest.raises(pijit.GradientError, match="PJ506"):
        gradient(X, 2000)
    assert gradient(X, 3)[1].tobytes() == g.tobytes() and gradient._kernels.why == ""


def guarded(x, most):
    s = 0.0
    for i in range(len(x)):
        if x[i] > most:
            raise ValueError("element %d is too large" % i)
        s += x[i] * x[i]
    return s


def test_exceptions_in_loops_are_the_programs():
    gradient = Gradient(guarded, 0).warm(X, 5.0)
    gradient.compare(X, 5.0)
    large = X.copy()
    large[7] = 6.0
    for call in (gradient.tape, gradient.f):
        with pytest.raises(ValueError, match="element 7 is too large"):
            call(large, 5.0)
    gradient.compare(X, 5.0)


def in_place(x, steps):
    for _ in range(steps):
        x += 1.0
    return (x * x).sum()


def shared(x, steps):
    a, b = x * 1.0, x * 2.0
    for _ in range(steps):
        b = a * b
        a = b
    return (a * b).sum()


def overwritten(x):
    y = x.copy()
    for i in range(1, len(x)):
        y[i] = y[i] * y[i - 1]
    return y.sum()


def test_a_short_loop_that_carries_one_value_twice_is_unrolled():
    gradient = Gradient(shared, 0).warm(X, 3)
    for steps in (3, 4, 3):
        assert gradient.compare(X, steps), gradient.why
    assert not gradient.compare(X, 20) and "one value twice" in gradient.why


@pytest.mark.parametrize("f, args, text", [
    (in_place, (X, 3), "a store into an array"), (shared, (X, 20), "one value twice"),
    (overwritten, (X,), "overwrites elements")], ids=lambda one: getattr(one, "__name__", ""))
def test_other_loops_use_the_tape(f, args, text):
    gradient = Gradient(f, 0)
    for _ in range(5):
        fresh = [one.copy() if isinstance(one, np.ndarray) else one for one in args]
        wanted = gradient.tape(*[one.copy() if isinstance(one, np.ndarray) else one for one in args])
        got = gradient.f(*fresh)
        assert got[0] == wanted[0] and got[1].tobytes() == wanted[1].tobytes()
    assert text in gradient.why, gradient.why
