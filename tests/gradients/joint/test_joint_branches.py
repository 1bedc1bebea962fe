"""Gradients of functions with branches by kernels: the tape's bits, whichever way the branches go."""

import math

import numpy as np
import pytest

from pijit.core.pythons import why_not_python
from tests.gradients.joint.joint_gradient import Gradient, is_kernel

pytestmark = pytest.mark.skipif(why_not_python() is not None, reason="nothing is compiled here")

R = np.random.RandomState(11)
X, Y = R.uniform(-1.0, 1.0, 19), R.uniform(0.2, 1.1, 19)
M = R.uniform(-1.0, 1.0, (6, 5))


def two_sides(x, a):
    s = 0.0
    for i in range(len(x)):
        if x[i] > 0.0:
            s += x[i] * a
        else:
            s -= x[i] * x[i]
    return s


def one_side(x, a):
    s = a * x[0]
    for i in range(len(x)):
        if x[i] > 0.2:
            s = s * x[i]
    return s * s


def of_state(x, a):
    y = a * 0.1
    for i in range(len(x)):
        if y > 0.0:
            y = y * 0.9 - abs(x[i]) * a
        else:
            y = y * 1.1 + x[i] * x[i]
    return y * y


def huber(x, y, a, b):
    s = 0.0
    for i in range(len(x)):
        r = a * x[i] + b - y[i]
        if abs(r) < 0.5:
            s += 0.5 * r * r
        else:
            s += 0.5 * (abs(r) - 0.25)
    return s


def stores(x, a):
    y = np.zeros(len(x))
    b = a * 2.0
    for i in range(len(x)):
        if x[i] > 0.3:
            y[i] = x[i] * b
        elif x[i] > -0.3:
            y[i] = x[i] * x[i]
    return (y * y).sum() + y[0]


def alternating(x, a, steps):
    y = x
    for k in range(steps):
        if k % 2:
            y = y * a
        else:
            y = np.sin(y)
    return y.sum()


def in_place(x, a, steps):
    u = x.copy()
    for k in range(steps):
        if k % 3 == 0:
            u[1:-1] = u[1:-1] * u[:-2] + a
        elif u[0] > 0.0:
            u *= 0.5
    return (u * u).sum()


def both_conditions(x, a):
    s = x[0] * 2.0
    for i in range(len(x)):
        if x[i] > -0.5 and a * x[i] < 0.6:
            s = s + x[i] * a
        if x[i] < 0.0 or s > 2.0:
            s = s * 0.5
    return s


def continued(x, a):
    s = x[0] * a
    for i in range(len(x)):
        if x[i] < 0.0:
            continue
        s = s + math.pi * x[i]
        if i % 3 == 0:
            s = s * a
            continue
        s = s - x[i] * s
    return s


def nested(m, a):
    s = a * m[0, 0]
    for i in range(m.shape[0]):
        p = m[i, 0] * 1.0
        if m[i, 1] > 0.0:
            for j in range(m.shape[1]):
                if m[i, j] > s:
                    p = p * m[i, j]
                else:
                    p = p + s
        else:
            p = p * a
        s = s + p * 0.5
    return s


def outside(x, a):
    if a > 1.0:
        y = np.sin(x) * a
    else:
        y = x * x
    return (y * y).sum() + y[0]


def early(x, a):
    if x[0] > 0.0:
        return (x * x).sum() * a
    y = np.exp(x)
    return y.sum()


def constant_side(x, a):
    s = x[0] * x[1]
    if a > 1.0:
        s = np.float64(0.5)
    return s * s + (x * x).sum()


def loops_inside(x, a, steps):
    u = x * 1.0
    if a > 1.0:
        for _ in range(steps):
            u = u * x + a
    else:
        for _ in range(steps):
            u[1:] = u[1:] * u[:-1]
    return u.sum()


def largest(x):
    m = x[0] * 1.0
    for i in range(1, len(x)):
        if x[i] > m:
            m = x[i]
    return m * m


def absent_zero(x, a, b):
    t = a * b
    u = t * t
    s = x[0] * x[0]
    for i in range(len(x)):
        if x[i] > 0.9:
            s = s + u * x[i]
    return s


def carried(x, a):
    p, q = x[0] * 1.0, x[1] * a
    for i in range(len(x)):
        if x[i] > 0.0:
            p, q = q * x[i], p + 0.0
        else:
            p = p * a
    return p * q


def of_part_of_row(m, a):
    s = m[0, 0] * a
    for i in range(m.shape[0]):
        r = m[i] * 2.0
        q = r[1:] if r[0] > 0.0 else r[:-1]
        if s > 0.1:
            s = s + q.sum() * s
    return s


def of_rows(m, a):
    s, y = m[0, 0] * a, np.zeros(m.shape[1])
    for i in range(m.shape[0]):
        r = m[i]
        if r[0] > 0.0:
            y = y + r * a
            s += np.dot(r, y)
        else:
            y = y * 0.5
    return s + y.sum()


def first_iteration_differs(x, a, n):
    s = a
    for i in range(n):
        s = s * 0.9 + (x * x).sum() * a
        if i % 2 == 0:
            s = s * 1.1
    return s


CASES = [
    (first_iteration_differs, (0, 1), (X, 0.3, 5)), (two_sides, (0, 1), (X, 1.5)), (one_side, (0, 1), (X, 1.5)), (of_state, (0, 1), (X, 0.4)),
    (huber, (0, 2, 3), (X, Y, 0.7, 0.1)), (stores, (0, 1), (X, 1.5)), (alternating, (0, 1), (X, 1.25, 6)),
    (in_place, (0, 1), (Y, 0.3, 7)), (both_conditions, (0, 1), (X, 1.5)), (continued, (0, 1), (X, 1.5)),
    (nested, (0, 1), (M, 0.8)), (outside, (0, 1), (X, 1.5)), (early, 0, (Y, 1.5)),
    (constant_side, 0, (X, 0.5)), (loops_inside, (0, 1), (X, 1.5, 4)), (largest, 0, (X,)),
    (absent_zero, (0, 1, 2), (X, 1.5, 0.5)), (carried, (0, 1), (X, 0.75)), (of_rows, (0, 1), (M, 0.8)),
    (of_part_of_row, (0, 1), (M, 0.8))]


@pytest.mark.parametrize("f, argnums, args", CASES, ids=lambda one: getattr(one, "__name__", ""))
def test_bits_are_the_tapes(f, argnums, args):
    gradient = Gradient(f, argnums).warm(*args)
    for _ in range(3):
        assert gradient.compare(*args), gradient.why
    for sign in (-1.0, 0.0, 2.0, -3.0):
        gradient.compare(*[one * sign if isinstance(one, (float, np.ndarray)) else one for one in args])
    gradient.compare(*[one.astype("f") if isinstance(one, np.ndarray) else one for one in args])
    assert gradient.compare(*args), gradient.why
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
        gradient.compare(*[random.choice(special, one.shape) if isinstance(one, np.ndarray) else
                           float(random.choice(special)) if isinstance(one, float) else one for one in args])


@pytest.mark.parametrize("f, args", [(two_sides, (X, 1.5)), (of_state, (X, 0.4)), (stores, (X, 1.5)),
                                     (both_conditions, (X, 1.5))], ids=lambda one: getattr(one, "__name__", ""))
def test_lengths(f, args):
    gradient = Gradient(f, (0, 1)).warm(*args)
    for size in (19, 3, 2, 1, 7):
        gradient.compare(args[0][:size].copy(), *args[1:])
    assert gradient.compare(*args), gradient.why


def test_a_call_of_either_way_uses_the_kernel():
    for f, others in ((two_sides, [(X + 3.0, 1.5), (X - 3.0, 1.5)]), (outside, [(X, 0.5), (X, 1.5)]),
                      (loops_inside, [(X, 0.5, 4), (X, 1.5, 4)]), (early, [(Y, 1.5), (-Y, 1.5)])):
        gradient = Gradient(f, 0).warm(*others[0])
        for args in others * 2:
            assert gradient.compare(*args), gradient.why


def test_adjoints_that_may_not_exist_make_no_zeros():
    """Where nothing flows to ``t``, its rules do not run: 0 * inf would be NaN."""
    gradient = Gradient(absent_zero, (0, 1, 2)).warm(X, 1.5, 0.5)
    assert gradient.compare(X, 1.5, 0.5), gradient.why
    small = np.minimum(X, 0.5)
    assert gradient.compare(small, 1e200, 1e-200)
    assert gradient.compare(np.append(small, 0.95), 1e100, -0.0)


def test_checkpoints(monkeypatch):
    monkeypatch.setattr("pijit.core.graph.reverse.rows.limits.KEPT", 1)
    monkeypatch.setattr("pijit.core.graph.reverse.rows.limits.KEPT_OF_CHEAP", 1)
    for f, args in ((alternating, (X, 1.25, 11)), (in_place, (Y, 0.3, 11))):
        gradient = Gradient(f, (0, 1)).warm(*args)
        for _ in range(2):
            assert gradient.compare(*args), gradient.why
        assert gradient.f._kernels.entries[0].larger


def chosen(x, a):
    b = x[0] * a
    s = b * 1.0
    for i in range(len(x)):
        d = b
        if x[i] > 0.0:
            d = x[i]
        s += d * b * d
    return s


def chosen_array(x, a):
    u = x * 1.0
    v = u
    if a > 1.0:
        v = x * 2.0
    u[0] = 3.0
    return (u * v).sum()


@pytest.mark.parametrize("f, text", [(chosen, "chooses a value"), (chosen_array, "chooses an array")],
                         ids=lambda one: getattr(one, "__name__", ""))
def test_other_branches_use_the_tape(f, text):
    gradient = Gradient(f, 0)
    for _ in range(5):
        gradient.compare(X, 1.5)
    assert text in gradient.why, gradient.why
