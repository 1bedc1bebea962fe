"""Iterators that variables hold: ``next`` takes the first items, a loop the others."""

import numpy as np
import pytest

import pijit
from tests.capture.containers.effects_common import CUT, launches
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


def of_maps(x, a):
    doubled, large = map(lambda v: v * a, x), filter(lambda v: v > 1.0, x)
    total = 0.0
    for v in doubled:
        total += v
    for v in large:
        total = total * 0.5 + v
    roots = map(abs, x)
    kept = filter(None, x)
    return total, list(roots), sum(kept), [v for v in map(lambda u, v: u * v, x, x[::-1])]


def of_generators(x, a):
    k = 2.0
    squares = (v * v + k for v in x)
    k = a  # read when an item is wanted
    x[0] += 1.0
    total = 0.0
    for v in squares:
        total += v
        k += 1.0
    pairs = ((i, v) for i, v in enumerate(x) if v > 1.0)
    for i, v in pairs:
        total -= i * v
    halves = (v * 0.5 for v in x[:3])
    p, q, r = halves
    products = (u * v for u in x for v in x)
    return total, p + q * r, sum(products), max(v for v in x)


def taken_in_part(x, a):
    big = (v * a for v in x)
    for v in big:
        if v > 1.0:
            break
    rest = map(lambda v: v - a, x)
    log = []
    for u in rest:
        log.append(u)
        if len(log) == 2:
            print(log)
    return v, log


def given_on(x, a):
    gone = (v / (v - a) for v in x)
    twice = map(lambda v: v * 2.0, x)
    s = x[0] * a + x[1]
    print(next(gone), s)
    return list(gone), twice, next(twice), [(v, w) for v, w in zip(twice, x)]


def raises_in_a_step(x, a):
    seen = []
    inverse = (1.0 / float(v - a) for v in x)
    try:
        for v in inverse:
            seen.append(v)
    except ZeroDivisionError as error:
        return seen, str(error), error.__traceback__.tb_next is None
    return seen, list(map(int, seen))


LISTS = [[1.0, 2.0, 4.0], [X, X * 2.0, X], [1, 2.5, 3], [2.0], [], [X, 1.0]]
OTHERS = [(X * 3, 4.0), (X, 3), (X.astype(int), 2.0), (X[:2], 2), (X[:1], 2.0), (X[:0], 2.0), (list(X), 2.0), (3, 2)]
WHOLE = [(f, (X, 2.0), OTHERS) for f in (over_an_array, over_a_list, two_by_two, with_a_default, of_pairs, of_maps,
                                               of_generators)]
WHOLE += [(over_a_given_list, (X, 2.0, [1.0, 2.0, 4.0]), [(X, 2.0, one) for one in LISTS])]
CASES = WHOLE + [(f, (X, 2.0), OTHERS) for f in (
    ends, leaves_with_it, steps_inside_its_loop, kept_in_two, taken_in_part, raises_in_a_step)]

test_same_answers = same_answers(CASES, PYTHON)
test_nothing_breaks = nothing_breaks(WHOLE)


@pytest.mark.parametrize("f", [over_an_array, two_by_two, of_pairs, leaves_with_it, of_maps, of_generators],
                         ids=lambda f: f.__name__)
def test_in_machine_code(f):
    with fail_unless_captured():
        j = check(f, X, 2.0, others=OTHERS[:4])
    assert CUT or f is leaves_with_it or launches(j, X, 2.0) == 1, str(pijit.explain(j, X, 2.0))


def test_iterators_are_where_kernels_leave(leaves_often):
    for f in (over_an_array, over_a_list, two_by_two, with_a_default, of_pairs, ends, leaves_with_it, of_maps,
              of_generators, taken_in_part, raises_in_a_step):
        check(f, X, 2.0, config=PYTHON)
    assert leaves_often


def test_generators_that_others_get():
    def made(f, *args):
        gone, twice, first, pairs = f(*args)
        return gone, type(twice), first, pairs, list(twice)
    j = pijit.jit(given_on, jit_config=PYTHON)
    for x in (X, X[:3], list(X), X):
        assert made(j, x, 9.0) == made(given_on, x, 9.0)
