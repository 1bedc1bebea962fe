"""Generators that delegate to others by ``yield from``: their steps are inlined, and left anywhere."""

import pytest

from tests.capture.iteration.test_generator_loops import PYTHON, M, X
from tests.harness import assert_nothing_breaks, check, fail_unless_captured


def chained(x, n):
    yield from x
    for i in range(n):
        yield from multiples(x, i)


def multiples(x, k):
    for v in x:
        yield v * k


def sends_back(x):
    total = yield from counts(x)
    yield total


def counts(x):
    k = 0
    for v in x:
        yield v
        k += 1
    return k


def delegates(x, n, last):
    s = 0.0
    for k, v in enumerate(chained(x, n)):
        s = s * 0.5 + v
        if k == last:
            break
    return s + sum(chained(x, 2)), [v for v in chained(x, 1)]


def takes_what_is_sent_back(x, n, last):
    return sum(sends_back(x)) + x[0] * 2.0


@pytest.mark.parametrize("f", [delegates, takes_what_is_sent_back])
def test_yield_from(f):
    check(f, X, 3, 99, calls=4, config=PYTHON, others=[(X, 3, 12), (X.tolist(), 2, 4), (X[:0], 3, 99), (M, 2, 99)])


@pytest.mark.parametrize("last", [99, 8, 20])
def test_yield_from_is_left_anywhere(last, polls, leaves_often):
    with fail_unless_captured():
        check(delegates, X, 4, last, calls=4, config=PYTHON, others=[(X[:2], 6, 30)])
    assert leaves_often


def doubled(x):
    yield from multiples(x, 2)


def once(x):
    s = 0.0
    for i, v in enumerate(doubled(x)):
        s = s * 0.5 + v * i
    return s + sum(doubled(x))


def test_yield_from_breaks_nothing():
    assert_nothing_breaks(once, X, one_segment=False)
    check(once, X, others=[(X[:0],), (X.tolist(),), (M,)])
