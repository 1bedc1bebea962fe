"""Orders of tuples and lists, and forms of the methods that change lists and dicts."""

import operator

import numpy as np
import pytest

from tests.harness import assert_nothing_breaks, check, fail_unless_captured, same_answers

X = np.array([2.5, -1.0, 7.0, 0.5, 3.0, -0.0])
I = np.array([3, 0, -2, 7, 7, 1])
LONG = [0.5 * k for k in range(40)]
NAN = float("nan")
PYTHON = {"backend": "python"}


def in_order(x, n):
    best, found = (0.0, 0), 0
    for i in range(len(x)):
        one = (float(x[i]) % 2.0, i)
        if one > best:
            best = one
        if [i, n] <= [n, i] or (i, n) >= (n, i, 0):
            found += 1
        if (x[i], i) < (x[0], n):
            found += 10
    return best, found, (n, 1.5) < (n, 1.5, 0), [n] >= [n], ("a", n) < ("b", 0), (x[0] * 2.0, n)


def extremes(x, n):
    pairs = [(v, -i) for i, v in enumerate(x)]
    return max(pairs), min(pairs), sorted(pairs)[0], max((n - i, i) for i in range(4)), x * 2.0


def answers(x, n):
    return (x[0], n) < (x[1], n), (n, 1) < (2, 1), x * 2.0 + 1.0


def updated(d, x, n):
    s = x[0] * 2.0
    d.update({"b": s}, c=s)
    d.update([("f", s), ("a", 3.0), ("f", n)])
    d.update(zip(["j", "k"], [s, 1.0]), b=n)
    d.update((("l", s),))
    return d, list(d), s


def extended(xs, x, n):
    ys = []
    ys.extend(v * 2.0 for v in x)
    ys.extend(range(n))
    ys += [1.5]
    xs.extend(map(float, range(n)))
    xs.extend(x)
    zs = []
    zs += [v for v in x]
    zs.extend([v + 1 for v in x])
    return xs, ys, np.array(zs), sum(zs), len(ys)


def by_key(xs, pairs, x):
    xs.sort(key=lambda v: -v)
    pairs.sort(key=lambda p: p[1] % 3.0, reverse=True)
    ys = [v for v in x]
    ys.sort(key=abs)
    s = 0.0
    for i, v in enumerate(xs):
        s += v * i
    return xs, pairs, ys, s, np.array(ys)


def looked_up(d, x, n):
    s = 0.0
    for i in range(n):
        v = d.get(i)
        s += v * x[0]
    return s, max(d, key=d.get)


PAIRS = [(i, i * 7.0 % 5.0) for i in range(20)]
DICT = {k: 1.5 * k for k in range(30)}
CASES = [
    (in_order, (X, 3), [(I, 3), (X * np.nan, 3), (X[:0], 1), (X, 2.5), (X, "a"), (X, None)]),
    (extremes, (X, 3), [(I, 3), (np.array([1.0, 1.0, NAN]), 2), (X[:0], 3)]),
    (answers, (X, 3), [(X, NAN), (X[:1], 3), (X, "a"), (X, X)]),
    (updated, ({"a": 1.0}, X, 3), [({}, X, "x"), ({"f": X}, X, None), ({"a": 1.0}, X[:0], 1)]),
    (extended, (LONG, X, 4), [([], X, 0), ([1, "a"], I, 2), (LONG, X, -1), (LONG, X, 2.5), (LONG, X[:0], 1)]),
    (by_key, (LONG, PAIRS, X), [(list(range(30)), PAIRS, I), ([NAN, 1.0] * 10, PAIRS, X), (LONG + ["a"], PAIRS, X),
                                (LONG, PAIRS + [(1,)], X), ([1], [], X[:0])]),
    (looked_up, (DICT, X, 20), [(DICT, X, 31), ({k: k for k in range(30)}, X, 3), ({}, X, 0), ({0: None}, X, 1)]),
]


test_same_answers = same_answers(CASES, PYTHON)


@pytest.mark.parametrize("f, args", [case[:2] for case in CASES if case[0] is not answers])
def test_nothing_breaks(f, args):
    assert_nothing_breaks(f, *args, one_segment=False)


@pytest.mark.parametrize("f, args, others", [CASES[0], (by_key, (LONG, PAIRS, X), [(LONG + ["a"], PAIRS, X)]),
                                             (extended, (LONG, X, 4), [([1, "a"], I, 2)])])
@fail_unless_captured()
def test_in_machine_code(f, args, others):
    check(f, *args, others=others)


SEEN = [3.0, 1.0, 2.0]


def grown_by_what_sees_it(x):
    SEEN.extend(v + len(SEEN) for v in x)
    return len(SEEN), list(SEEN), x * 2.0 + 1.0


def sorted_by_what_sees_it(x):
    SEEN.sort(key=lambda v: (len(SEEN), v))
    return list(SEEN), x * 2.0 + 1.0


def grown_by_itself(xs, ys, x):
    xs.extend(ys[k] for k in range(len(ys)))
    xs.sort(key=operator.neg)
    return xs, ys, x * 2.0 + 1.0


@pytest.mark.parametrize("f", [grown_by_what_sees_it, sorted_by_what_sees_it])
def test_what_sees_the_list_meanwhile(f):
    check(f, X, config=PYTHON)
    del SEEN[3:]


def test_two_names_of_a_list():
    xs = [1.0, 2.0]
    check(grown_by_itself, [1.0], [2.0, 3.0], X, aliased=[(xs, xs, X)], config=PYTHON)


def test_a_mapping_is_no_pairs():
    class Mapping:
        def __iter__(self):
            return iter(["ab", "cd"])

        def keys(self):
            return ["ab", "cd"]

        def __getitem__(self, key):
            return 1.0

    def f(m, x):
        d = {"a": 2.0}
        d.update(m)
        return d, dict(m), x * 2.0 + 1.0

    check(f, Mapping(), X, others=[(["ab", "cd"], X)], config=PYTHON)
