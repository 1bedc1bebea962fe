"""Sums that grow by so much a round at most need no check of overflow where the rounds are counted."""

import re

import numpy as np
import pytest

import pijit
from pijit.core.graph.passes import recorded
from tests.harness import check, fail_unless_captured

X = np.array([0.5, 2.0, -1.0, 3.0, 3.0, -2.0, 0.0, 5.0, 1.5])
BIG = 2 ** 63 - 1


def count(x):
    n = 0
    for i in range(len(x)):
        if x[i] > 1.0:
            n += 1
    return n


def count_from(x, n):
    for i in range(len(x)):
        if x[i] > 1.0:
            n += 1
    return n


def up_and_down(x):
    n = m = 0
    for value in x:
        if value > 1.0:
            n += 1
        elif value < 0.0:
            m -= 3
        else:
            m += 2
    return n, m


def longest(x):
    n = best = 0
    for i in range(len(x)):
        if x[i] > 1.0:
            n += 1
        else:
            n = 0
        best = max(best, n)
    return best


def near_the_end(x):
    n = 2 ** 63 - 3
    for i in range(len(x)):
        n += 1 if x[i] > 1.0 else 0
    return n


def too_many_at_once(x):
    """As NumPy has no more than 2 ** 60 such elements, 8 a round are the most that cannot be too much."""
    n = 0
    for i in range(len(x)):
        n += 9 if x[i] > 1.0 else 2
    return n


def seldom_counted(x, step):
    """The other variable counts rounds backwards, or not at all."""
    n = i = 0
    while n < 40:
        n += 1 if x[i] > 1.0 else 2
        i += step if 0 <= i + step < len(x) else 0
    return n, i


def doubled(x):
    n = 1
    for i in range(len(x) * 8):
        n += n
    return n


def two_lists_deep(x):
    n = 0
    for i in range(len(x)):
        for j in range(len(x)):
            if x[i] > x[j]:
                n += 1
    return n


CASES = [
    (count, (X,), [(X[:0],), (-X,)], 0),
    (count_from, (X, 3), [(X, BIG - 2), (X, BIG), (X, np.int64(BIG - 1)), (X, np.int64(-4))], None),
    (up_and_down, (X,), [(X[:0],), (-X,)], 0),
    (longest, (X,), [(X[:0],), (np.abs(X) + 2.0,)], 0),
    (near_the_end, (X,), [(X[:2],), (X[:4],)], 1),
    (too_many_at_once, (X,), [(X[:0],)], 1),
    (seldom_counted, (X, 1), [(X, -1), (X, 0)], None),
    (doubled, (X,), [(X[:7],), (X[:8],)], 1),
    (two_lists_deep, (X,), [(X[:0],)], 1),
]
NAMES = [case[0].__name__ for case in CASES]


@pytest.mark.parametrize("backend", ["python", "numba"])
@pytest.mark.parametrize("f, args, others, left", CASES, ids=NAMES)
@fail_unless_captured()
def test_same_answers(f, args, others, left, backend):
    check(f, *args, others=others, config={"backend": backend})


@pytest.mark.parametrize("f, args, left", [(f, args, left) for f, args, _, left in CASES if left is not None])
def test_what_is_left(f, args, left):
    with recorded() as stages:
        pijit.jit(f, jit_config={"backend": "python"})(*args)
    text = next(iter(stages.values()))[-1].text
    assert len(re.findall(r"(?:add|sub) [^\n]*?else exit\d", text)) == left
