"""Filters as loops: weights in a list while another one collects, and divisors that are 0 on some paths."""

import numpy as np
import pytest

from tests.harness import check, fail_unless_captured, nothing_breaks, same_answers

X = np.array([2.5, -1.0, 7.0, 0.5, 3.0, -0.0, 1.5, -2.0])
LONG = np.sin(np.arange(60.0)) * 3.0
PYTHON = {"backend": "python"}


def weighted(x):
    weights, found = [0.1, 0.2, 0.4, 0.2, 0.1], []
    for i in range(len(x)):
        total = 0.0
        for k, weight in enumerate(weights):
            j = i + k - 2
            if j < 0 or j >= len(x):
                continue
            total += weight * x[j]
        found.append(total)
    return found


def normalised(x):
    weights, found = [0.1, 0.2, 0.4, 0.2, 0.1], []
    for i in range(len(x)):
        total = norm = 0.0
        for k, weight in enumerate(weights):
            j = i + k - 2
            if j < 0 or j >= len(x) or x[j] > 6.0:
                continue
            total += weight * x[j]
            norm += weight
        found.append(total / norm)
    return found


def of_two_kinds(x):
    first, second = [0.5, 2.0], []
    for v in x:
        second.append(0)
        second.append(v)
        second.append(first[0] * v)
        first[0] += 0.5
    return first, second, sum(first)


def one_of_two(x):
    here, there = [], []
    last = here
    for i, v in enumerate(x):
        last = here if v > 1.0 else there
        last.append(i)
        here.append(v)
        total = 0
        for item in there:
            total += item
        for item in here[:2]:
            total -= item
        last.append(total)
    return here, there, last is here


def mean_of_some(x):
    total, count = 0.0, 0
    for v in x:
        if v > 1.0:
            total += v
            count += 1
    return total / count, total // count, total % count


def caught(x):
    found = []
    for k in range(len(x)):
        count = 0
        for v in x[:k]:
            if v > 1.0:
                count += 1
        try:
            found.append(10 // count)
        except ZeroDivisionError:
            found.append(k % 3)
    return found


def always(x):
    n = 0.0
    y = x * 2.0 + 1.0
    y += 1.5 % n
    return y


OTHERS = [(LONG,), (X[:0],), (X[:2],), (X.astype(int),), (-abs(X),), (list(X),), (X.astype("f"),)]
CASES = [(f, (X,), OTHERS) for f in (weighted, normalised, of_two_kinds, one_of_two, mean_of_some, caught, always)]
WHOLE = [case for case in CASES if case[0] in (weighted, normalised, mean_of_some)]

test_same_answers = same_answers(CASES, PYTHON)
test_nothing_breaks = nothing_breaks(WHOLE)


@pytest.mark.parametrize("f", [weighted, normalised, one_of_two, mean_of_some])
def test_in_machine_code(f):
    with fail_unless_captured():
        check(f, X, others=[(LONG,), (X[:0],), (-X,)])
