"""Calls of Python functions that run inside the caller's kernel."""

import traceback

import numpy as np
import pytest

import pijit
from tests.harness import check, fail_unless_captured, jitted, kernel_count

X = np.linspace(-2.0, 3.0, 40)
N = np.arange(40)


def scale_and_shift(a, b):
    return a * b + 1.0


def clamp(v, low=-1.0, *, high=2.0):
    if v < low:
        return v * 0.5
    if v > high:
        return v - high
    return v


def norm(x):
    total = 0.0
    for i in range(len(x)):
        total += x[i] * x[i]
    return total


def both(a, b):
    return a + b, a - b


def swap(pair):
    a, b = pair
    return b, a


def nothing(x):
    y = x * 2.0


def same(x):
    return x


def fill(x, v):
    x[:] = v


def count_down(n):
    while n > 3:
        n = n - 2
    return n


def smooth(x):
    y = np.zeros_like(x)
    y[1:-1] = (x[:-2] + x[2:]) * 0.5
    return y


def chosen(x, mode="double", flag=None):
    if flag is None and mode == "double":
        return x * 2.0
    return undefined_name(x)  # noqa: F821


def summed(*values):
    total = values[0]
    for k in range(1, 2):
        total = total + values[1] * k
    return total


def outermost(a, b):
    return scale_and_shift(clamp(a), clamp(b, high=1.0))


def per_element(x, y):
    s = 0.0
    for i in range(len(x)):
        s = s + scale_and_shift(x[i], y[i])
    return s


def of_branches(x):
    out = np.empty(len(x))
    for i in range(len(x)):
        out[i] = clamp(x[i]) + clamp(x[i], 0.0) + clamp(x[i], high=0.5) + clamp(high=1.5, low=-2.0, v=x[i])
    return out


def of_loops(x):
    return norm(x) + norm(x[::2]) * 2.0, count_down(len(x))


def of_tuples(x):
    p, q = both(x, 2.0)
    r, s = swap(both(p, q))
    return r * s, p, q


def without_result(x):
    y = x + 1.0
    r = nothing(y)
    return y * 2.0, r


def aliases(x):
    y = same(x)
    y[0] = 5.0
    return y, same(same(x)), same(None)


def writes(x, v):
    y = x * 2.0
    fill(y, v)
    return y * x


def nested(x, y):
    s = 0.0
    for i in range(len(x)):
        s += outermost(x[i], y[i])
    return s


def array_steps(x):
    y = smooth(x)
    for _ in range(3):
        y = smooth(y) + x
    return y


def pruned(x):
    return chosen(x) + chosen(x, mode="double")


def variadic(x):
    return summed(x, 2.0) + summed(x, x, x)


def integers(n):
    s = 0
    for i in range(n):
        s += count_down(i)
    return s


PROGRAMS = [
    (per_element, (X, X), [(X, X[::-1]), (X.astype("f"), X), (N, N), (X, X[:3]), (X[:0], X), (list(X), X)]),
    (of_branches, (X,), [(X * 0.0,), (X.astype("f"),), (X * np.nan,)]),
    (of_loops, (X,), [(X[::-1],), (N,), (X[:0],)]),
    (of_tuples, (X,), [(X.reshape(5, 8),), (X[:1],), ("a",)]),
    (without_result, (X,), [(X[::2],), (3.0,)]),
    (aliases, (X,), [(X[::2],), (N,), (X[:0],)]),
    (writes, (X, 3.0), [(X, 4), (X, X), (X, X[:3]), (X, "a")]),
    (nested, (X, X), [(X, X * 2.0), (N, X)]),
    (array_steps, (X,), [(X.astype("f"),), (X[:2],), (X[:0],)]),
    (pruned, (X,), [(X * 2,), (N,)]),
    (variadic, (X,), [(X[::2],), (2.0,)]),
    (integers, (30,), [(0,), (31,), (2.0,)]),
]


@pytest.mark.usefixtures("little_work")
@pytest.mark.parametrize("f, args, others", PROGRAMS, ids=[row[0].__name__ for row in PROGRAMS])
def test_the_call_is_part_of_the_kernel(f, args, others):
    with fail_unless_captured():
        j = check(f, *args, others=others)
    found = pijit.explain(f, *args)
    assert not found.breaks, found
    assert kernel_count(j) >= 1


def frames_of(f, *args):
    """Type, text and the frames of the exception that a call raises."""
    try:
        f(*args)
    except Exception as error:
        return type(error), str(error), [(one.name, one.lineno) for one in traceback.extract_tb(error.__traceback__)][1:]
    return None


def checked(v, limit):
    if v > limit:
        raise ValueError("{} is above {}".format(v, limit))
    assert v > -5.0, "too low"
    return v * 2.0


def divided(a, b):
    c = a // b
    return c + 1


def raising(x, limit):
    s = 0.0
    for i in range(len(x)):
        s += checked(x[i], limit)
    return s


def dividing(n, b):
    s = 0
    for i in range(n):
        s += divided(i, b - i)
    return s


def test_exceptions_come_from_the_callee():
    j, k = jitted(raising), jitted(dividing)
    for _ in range(3):
        assert j(X, 10.0) == raising(X, 10.0)
        assert frames_of(j, X, 2.0) == frames_of(raising, X, 2.0) is not None
        assert frames_of(j, X * 10.0, 100.0) == frames_of(raising, X * 10.0, 100.0) is not None
        assert k(10, 20) == dividing(10, 20)
        assert frames_of(k, 10, 5) == frames_of(dividing, 10, 5) is not None
    assert kernel_count(j) and kernel_count(k)
    assert not pijit.explain(raising, X, 10.0).breaks


def test_integers_that_grow_beyond_a_word_in_the_callee():
    def power(a, b):
        return a * b

    def f(n):
        p = 1
        for _ in range(n):
            p = power(p, 7)
        return p

    with fail_unless_captured():
        check(f, 5, others=[(40,), (22,), (23,)])


def written_then_raised(x, i):
    x[0] = 1.0
    x[i] = 2.0


def writing(x, i):
    y = x * 2.0 + 1.0
    written_then_raised(x, i)
    return y - x


def test_what_may_raise_after_a_write():
    with fail_unless_captured():
        check(writing, X, 1, others=[(X, 50), (X, -1), (X[:0], 0), (N, 2)])
    assert not pijit.explain(writing, X, 1).breaks


def recursive(x, n):
    if n == 0:
        return x * 1.0
    return recursive(x, n - 1) * 0.5 + x


def constant_recursion(x):
    return recursive(x, 3) + 1.0


def test_recursion():
    check(recursive, X, 3, others=[(X, 0), (X, 12)])
    with fail_unless_captured():
        check(constant_recursion, X, others=[(X[::2],)])
    assert not pijit.explain(constant_recursion, X).breaks
    limited = jitted(constant_recursion, {"max_inline_depth": 3})
    np.testing.assert_array_equal(limited(X), constant_recursion(X))
    assert "max_inline_depth is 3" in str(limited.explain(X))
