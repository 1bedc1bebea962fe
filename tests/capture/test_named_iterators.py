"""Iterators that variables hold: ``next`` takes the first items, a loop the others."""

import numpy as np
import pytest

import pijit
from tests.capture.effects_common import CUT, launches
from tests.harness import check, fail_unless_captured, nothing_breaks, same_answers

X = np.linspace(0.5, 3.0, 6)
PYTHON = {"backend": "python"}


def over_an_array(x, a):
    it = iter(x)
    first = next(it)
    total = first * a
    for v in it:
        total += v * first
    return total


def over_a_list(x, a):
    it = iter(list(x))
    previous = next(it)
    total = 0.0
    for v in it:
        total += abs(v - previous)
        previous = v
    return total * a


def over_a_given_list(x, a, rows):
    it = iter(rows)
    r = next(it)
    for v in it:
        r = r + v * a
    return r


def two_by_two(x, a):
    it = iter(range(len(x)))
    total = 0.0
    for _ in range(len(x) // 2):
        i = next(it)
        total += x[i] * a - x[next(it)]
    return total, next(it, -1)


def with_a_default(x, a):
    it = iter(x)
    total = 0.0
    for _ in range(4):
        total += next(it, 2.0) * a
    return total, next(it, None)


def of_pairs(x, a):
    pairs, counted = zip(x, x[1:]), enumerate(x, 1)
    u, v = next(pairs)
    i, w = next(counted)
    total = u * v + i * w
    for u, v in pairs:
        total += u * v * a
    for i, w in counted:
        total -= i * w
    return total


def ends(x, a):
    it = iter(x)
    total = next(it) + next(it)
    try:
        total += next(it) * next(it)
    except StopIteration as error:
        return "ended", str(error), total
    return total, next(it), [v for v in it]


def leaves_with_it(x, a):
    it = iter(x)
    total = next(it) * a + next(it)
    print(total)
    total += next(it) * a
    return total, list(it)


def steps_inside_its_loop(x, a):
    it = iter(x)
    total = 0.0
    for v in it:
        total += v * next(it, a)
    return total


def kept_in_two(x, a):
    it = iter(x)
    other = it
    return next(it) * a + next(other), next(it)


LISTS = [[1.0, 2.0, 4.0], [X, X * 2.0, X], [1, 2.5, 3], [2.0], [], [X, 1.0]]
OTHERS = [(X * 3, 4.0), (X, 3), (X.astype(int), 2.0), (X[:2], 2), (X[:1], 2.0), (X[:0], 2.0), (list(X), 2.0), (3, 2)]
WHOLE = [(f, (X, 2.0), OTHERS) for f in (over_an_array, over_a_list, two_by_two, with_a_default, of_pairs)]
WHOLE += [(over_a_given_list, (X, 2.0, [1.0, 2.0, 4.0]), [(X, 2.0, one) for one in LISTS])]
CASES = WHOLE + [(f, (X, 2.0), OTHERS) for f in (ends, leaves_with_it, steps_inside_its_loop, kept_in_two)]

test_same_answers = same_answers(CASES, PYTHON)
test_nothing_breaks = nothing_breaks(WHOLE)


@pytest.mark.parametrize("f", [over_an_array, two_by_two, of_pairs, leaves_with_it], ids=lambda f: f.__name__)
def test_in_machine_code(f):
    with fail_unless_captured():
        j = check(f, X, 2.0, others=OTHERS[:4])
    assert CUT or f is leaves_with_it or launches(j, X, 2.0) == 1, str(pijit.explain(j, X, 2.0))


def test_iterators_are_where_kernels_leave(leaves_often):
    for f in (over_an_array, over_a_list, two_by_two, with_a_default, of_pairs, ends, leaves_with_it):
        check(f, X, 2.0, config=PYTHON)
    assert leaves_often
