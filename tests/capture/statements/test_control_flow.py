"""Branches and loops of every form are part of the kernel."""

import numpy as np
import pytest

from tests.harness import check, fail_unless_captured

X = np.linspace(-2.0, 3.0, 53)


def while_else(x, n):
    i, s = 0, 0.0
    while i < n:
        if x[i] > 2.5:
            s += 100.0
            break
        s += x[i]
        i += 1
    else:
        s -= 1.0
    return s


def for_else(x, limit):
    s = 0.0
    for v in x:
        if v > limit:
            break
        elif v < -1.0:
            continue
        s += v
    else:
        s = s * 2.0
    return s


def returns_inside(x, limit):
    for i in range(len(x)):
        for j in range(i):
            if x[i] - x[j] > limit:
                return x[i] * 2.0 + j
    return x[0] * 0.5


def chained(x, low, high):
    s = 0
    for v in x:
        if low < v <= high < 10.0:
            s += 1
        if not (v < low or v > high) and v != 0.0:
            s += 10
    return s


def ternary(x):
    s = 0.0
    for v in x:
        s += v * 2.0 if v > 0.0 else -v if v < -1.0 else 0.25
    return s


CASES = [(while_else, (X, 20), (X, 53)), (for_else, (X, 1.0), (X, 5.0)), (returns_inside, (X, 3.0), (X, 99.0)),
         (chained, (X, -1.0, 1.0), (X, 1.0, -1.0)), (ternary, (X,), (X[::-1],))]


@pytest.mark.parametrize("function, args, other", CASES, ids=lambda value: getattr(value, "__name__", ""))
def test_forms_of_control_flow(function, args, other):
    with fail_unless_captured():
        check(function, *args, others=[other])


def deleted_before_a_loop(x, s):
    del s
    for i in range(3):
        x[i] += 1.0
    return x, s


def test_a_variable_that_is_deleted_before_a_loop_has_no_value_behind_it():
    with fail_unless_captured():
        check(deleted_before_a_loop, X.copy(), 0.5, others=[(X.copy(), 2), (X[:2].copy(), 0.5)], config={"backend": "python"})
