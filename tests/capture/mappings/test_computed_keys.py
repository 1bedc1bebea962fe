"""Dicts and sets with computed keys: stores, reads, questions, comprehensions, and sets that a function makes."""

import numpy as np
import pytest

import pijit
from tests.harness import check, fail_unless_captured, same_answers

X = np.array([2.5, -1.0, 7.0, 0.5, 3.0, -0.0, 7.0])
NAN = float("nan")
TABLE = {k: 0.5 * k for k in range(30)}
GRID = {(i, j): float(i - j) for i in range(5) for j in range(5)}
PYTHON = {"backend": "python"}


def counted(x):
    d = {}
    for v in x:
        k = int(v)
        d[k] = d.get(k, 0) + 1
    return d, len(d), 7 in d


def looked_up(x, d):
    s = 0.0
    for i in range(len(x)):
        if i in d and -i not in d:
            s += d[i] * x[i]
        s += d.get(i * 7, 0.0)
    return s


def by_place(x, d):
    s = 0.0
    for i in range(5):
        for j in range(5):
            s += d[i, j] * x[i] + ((j, i) in d)
    return s


def stored(x, d):
    for i in range(len(x)):
        d[i] = x[i]
        d["last"] = i
        d[i, "pair"] = x
        d[x[i]] = 1
    return len(d), d


def comprehensions(x, n):
    squares = {i: x[i] * 2.0 for i in range(n)}
    seen = {int(v) for v in x if v > 0}
    named = {v: i for i, v in enumerate(x)}
    small = {k % 3 for k in (1, 2, 3, 4)}
    return squares, seen, named, small, {(i, i + 1): i for i in range(n)}, {1, n, "a"}, {n: 1, x[0]: 2}


def sets(x, s):
    seen = set()
    for v in x:
        if int(v) in seen:
            s.add(v)
        seen.add(int(v))
    return seen, len(s), 3 in s, set(x), set([1, 2, 2]), set(), set(i // 2 for i in range(len(x)))


def dicts(x, d):
    both = dict(zip(("a", "b"), (x * 2.0, x + 1.0)))
    more = dict(d, c=1.0)
    return both["a"] + both["b"], more, dict([("p", x), ("q", 2)]), dict(()), more["c"] * x


CASES = [
    (counted, (X,), [(X[:0],), (np.arange(9.0) % 3,), (np.array([1e30, 1.0]),), (np.array([NAN]),)]),
    (looked_up, (X, TABLE), [(X, {}), (X, {k: k for k in range(9)}), (X, {"a": 1.0}), (X, dict(TABLE, **{"x": X})),
                             (X, {True: 2.0, 3: 1.0})]),
    (by_place, (X, GRID), [(X, {}), (X, {(i, j): X for i in range(5) for j in range(5)})]),
    (stored, (X, {}), [(X, {0: 1.0, "last": X}), (np.array([NAN, NAN]), {}), (X.astype("f"), {})]),
    (comprehensions, (X, 4), [(X, 0), (np.array([NAN, NAN, 1.0, 2.0]), 2), (X.astype(int), 3), (X, 99)]),
    (sets, (X, {1.5}), [(X, {"a", 3}), (X[:0], set()), (np.array([1.0, 1.0, NAN]), set())]),
    (dicts, (X, {"a": 1}), [(X, {}), (X, {"c": X}), (X, {k: 1.0 for k in "abcdefghijklmnopqrstuv"})]),
]
IDS = [case[0].__name__ for case in CASES]


test_same_answers = same_answers(CASES, PYTHON)


@pytest.mark.parametrize("f, args", [case[:2] for case in CASES], ids=IDS)
def test_nothing_breaks(f, args):
    j = pijit.jit(f, jit_config=PYTHON)
    j(*args)
    report = pijit.explain(j, *args)
    assert report.kernels and not report.breaks, str(report)


@fail_unless_captured()
def test_in_machine_code():
    def f(x, d, grid):
        seen, s = {}, 0.0
        for i, v in enumerate(x):
            seen[int(v)] = seen.get(int(v), 0) + 1
            s += d[i] * grid[i % 5, 1]
            if v in d:
                s += 1.0
        return s, seen, {int(v) for v in x}, {i: v for i, v in enumerate(x)}

    check(f, X, TABLE, GRID, others=[(X, {0: 1.0}, GRID), (np.array([NAN, 1.0]), TABLE, GRID)])


def test_the_order_of_keys():
    def f(x):
        d = {}
        for v in x:
            d[v] = d.get(v, 0.0) + 1.0
        return list(d), [type(k) for k in d], list({int(v) for v in x})

    with fail_unless_captured():
        check(f, X, others=[(-X,), (X * 1000.0,)], config=PYTHON)


def test_keys_of_the_program_compare_themselves():
    class Key:
        def __hash__(self):
            return 3

        def __eq__(self, other):
            return other == 3

    class Bad(Key):
        __hash__ = Key.__hash__

        def __eq__(self, other):
            raise KeyError("bad")

    check(looked_up, X, {Key(): 1.0, 1: 2.0}, others=[(X, TABLE)], config=PYTHON)
    with fail_unless_captured():
        check(looked_up, X, TABLE, others=[(X, {Bad(): 1.0, 1: 2.0})])
