"""Calls of generator functions that have a name before a loop over them."""

import numpy as np
import pytest

from tests.capture.exits.test_polls import NATIVE
from tests.harness import assert_nothing_breaks, check, fail_unless_captured, jitted, kernel_count

X = np.linspace(0.5, 4.0, 12)


def pairs(x, first=0):
    for i in range(first, len(x) - 1):
        yield x[i], x[i + 1]


def above(x):
    yield 1.0
    total = 0.0
    for v in x:
        total += v
        if v > 1.0:
            yield total
    yield -total


def over_pairs(x):
    g = pairs(x)
    s = 0.0
    for a, b in g:
        s += a * b
    return s


def other_variables_in_between(x, n):
    g = above(x)
    y = x[n]
    x = x * 2.0
    s = 0.0
    for v in g:
        s += v * y + x[0]
    return s


def stops_and_goes_on(x):
    g = above(x)
    s = 0.0
    for v in g:
        s += v
        if s > 5.0:
            break
    return s, next(g, None), list(g)


def made_in_a_loop(x):
    s = 0.0
    for k in range(3):
        g = pairs(x, k)
        for a, b in g:
            s += a
            if a > 2.0 - k:
                break
    return s, next(g)


def has_two_names(x):
    g = pairs(x)
    h = g
    s = 0.0
    for a, b in g:
        s += a
        if a > 1.5:
            print(next(h, None))
    return s


def prints_before(x):
    g = pairs(x, 1)
    s = x[0] * 2.0
    print("break")
    for a, b in g:
        s += a * b
    return s, next(g, "end")


PROGRAMS = [
    (over_pairs, (X,), [(X[:1],), (np.arange(5),), ([1.0, 2.0, "a"],), (3,)]),
    (other_variables_in_between, (X, 2), [(X, 200), (X[:0], 0)]),
    (stops_and_goes_on, (X,), [(X[:1],), (np.arange(3),)]),
    (made_in_a_loop, (X,), [(X[:3],)]),
    (has_two_names, (X,), [(X[:1],)]),
    (prints_before, (X,), [(X[:0],), (X[:3],)]),
]


@pytest.mark.parametrize("f, args, others", PROGRAMS, ids=[row[0].__name__ for row in PROGRAMS])
def test_named_generators(f, args, others):
    check(f, *args, others=others)


@pytest.mark.parametrize("f, args", [(over_pairs, (X,)), (other_variables_in_between, (X, 2))])
def test_their_loops_are_kernels(f, args):
    with fail_unless_captured():
        check(f, *args, config=NATIVE)
    assert_nothing_breaks(f, *args)
    j = jitted(f, NATIVE)
    j(*args)
    assert kernel_count(j)
