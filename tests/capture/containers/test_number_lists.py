"""Lists of numbers that a function collects, and long ones that it is given: read again in the kernel."""

import numpy as np
import pytest

import pijit
from tests.harness import assert_nothing_breaks, check, fail_unless_captured

X = np.array([2.5, -1.0, 7.0, 0.5, 3.0, -0.0])
I = np.array([3, 0, -2, 7, 7, 1])
LONG = [float(k) * 0.5 for k in range(40)]
PYTHON = {"backend": "python"}


def reduced(x):
    y = [v * v for v in x]
    return sum(y), max(y), min(y, key=lambda v: -v), len(y), any(v > 40 for v in y), len([v for v in x if v > 0])


def converted(x, n):
    a = np.array([v * 2 for v in x])
    b = np.array([i for i in range(n)])
    c = np.array([v > 1 for v in x])
    return a, b, c, a + np.array([float(i) for i in range(len(x))]), np.sum([v for v in x])


def indexed(x, k):
    y = [v + 1 for v in x]
    s = y[0] * y[-1]
    for i in range(len(y)):
        s = s + y[i] * y[k]
    return s, y


def ordered(x):
    y = sorted(x)
    return y, sorted([v * v for v in x], reverse=True), sorted(-v for v in x), y[0], sorted((3, 1, 2))


def given(xs, x):
    return sum(xs), max(xs), [v * 2 for v in xs], [a * b for a, b in zip(xs, x)], np.array([v + 1 for v in xs])


def twice(x):
    y = [v for v in x]
    z = [a + b for a, b in zip(y, [v * 2 for v in y])]
    return z, tuple(z), list(z), len(tuple(v for v in y)), [v for v in reversed(x)]


def mixed(x):
    y = [v if v > 0 else 0 for v in x]
    return y, sum(y), len(y)


CASES = [
    (reduced, (X,), [(I,), (X.astype("f"),), (X[:0],), ([1.0, 2.0],), (LONG,)]),
    (converted, (X, 4), [(I, 3), (X[:0], 0), (X.astype("f"), 1)]),
    (indexed, (X, 2), [(I, -1), (X, 99), (X[:0], 0)]),
    (ordered, (X,), [(I,), (np.array([np.nan, 1.0, 0.0, np.nan, -1.0]),), (X[:0],)]),
    (given, (LONG, X), [(LONG[:20] + [3], X), (LONG[:20] + ["text"], X), (list(range(30)), I), (LONG[:3], X),
                        ([10 ** 30] * 20, X), ([None] * 30, X)]),
    (twice, (X,), [(I,), (X[:0],)]),
    (mixed, (X,), [(I,), (X + 10,), (-X,)]),
]


@pytest.mark.parametrize("f, args, others", CASES, ids=[case[0].__name__ for case in CASES])
def test_same_answers(f, args, others):
    check(f, *args, others=others, config=PYTHON)


@pytest.mark.parametrize("f, args", [case[:2] for case in CASES if case[0] is not mixed],
                         ids=[case[0].__name__ for case in CASES if case[0] is not mixed])
def test_nothing_breaks(f, args):
    assert_nothing_breaks(f, *args)


@fail_unless_captured()
def test_in_machine_code():
    def f(x, xs, n):
        y = [v * n for v in x]
        a = np.array(y)
        s = sum(y) + sum(xs) + y[n]
        return a * s, sorted(y), len(y), [v for v in xs if v < 2], np.array([i * i for i in range(n)])

    check(f, X, LONG, 3, others=[(X, LONG[:20] + [True], 3), (I, list(range(30)), -2), (X, LONG, 9)])


def test_a_list_that_others_change():
    def append(y):
        y.append("text")

    def f(x):
        y = [v for v in x]
        append(y)
        return y, [v for v in y]

    check(f, X, config=PYTHON)


def test_a_long_list_changes_between_calls():
    xs = list(LONG)
    f = pijit.jit(given, jit_config=PYTHON)
    for change in (lambda: None, lambda: xs.append(1.0), lambda: xs.__setitem__(3, 7), lambda: xs.clear(),
                   lambda: xs.extend([1, 2, 3] * 10)):
        change()
        for _ in range(2):
            try:
                want = given(xs, X)
            except ValueError as error:
                with pytest.raises(ValueError, match=str(error).replace("(", "\\(").replace(")", "\\)")):
                    f(xs, X)
            else:
                got = f(xs, X)
                assert got[:4] == want[:4] and np.array_equal(got[4], want[4]) and got[4].dtype == want[4].dtype
                assert list(map(type, got[2])) == list(map(type, want[2]))
