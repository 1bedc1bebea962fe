"""Lists that grow by append, and arrays made of lists and tuples of numbers."""

import numpy as np
import pytest

from tests.harness import assert_nothing_breaks, check, fail_unless_captured, same_answers

X = np.array([2.5, -1.0, 7.0, 0.5, 3.0, -0.0])
I = np.array([3, 0, -2, 7, 7, 1])
LONG = [0.5 * k for k in range(40)]
PYTHON = {"backend": "python"}


def collected(x):
    ys, flags = [], []
    for v in x:
        ys.append(v * 2)
        flags.append(bool(v > 1))
    return np.array(ys), np.asarray(flags), sum(ys), max(ys), len(ys), ys, np.array(ys, dtype=np.float64)


def rows(x):
    pairs, lists = [(0, 1.5)], []
    for i in range(len(x)):
        pairs.append((i, float(x[i])))
        lists.append([x[i], x[i] + 1, x[i]])
    return np.array(pairs), np.array(lists), pairs[0][1] + lists[-1][0]


def of_unlike(x, n):
    ys = [0]
    for v in x:
        ys.append(v)
    zs = []
    for i in range(n):
        if i % 2:
            zs.append(i)
        else:
            zs.append(0.5)
    return np.array(ys), np.array(zs), ys, zs, x * 2.0 + 1.0


def statistics(x):
    ys = []
    for v in x:
        if v > 0:
            ys.append(float(v))
    return np.mean(ys), np.std(ys), np.max(ys), np.sum(ys), np.cumsum(ys), np.dot(ys, ys), np.argsort(ys)


def changed(x, other):
    ys = [v * 2.0 for v in x]
    zs = []
    for v in x:
        zs.append(v)
    ys[0] = other
    zs[-1] = other
    return np.array(ys), np.array(zs), x * 2.0


def literals(x, n):
    s = x[:3] * [1.0, 2.0, 3.0] - (n, 2, 3)
    r = np.array([[x[0], -x[1]], [x[1], n]]) @ np.asarray((x[2], 1))
    s[:2] = [x[3], n]
    t = np.array([n, 1], dtype=np.float32)
    return s, r, np.maximum(x[:2], [n, 0.25]), x[:2] > [1, 2], np.max([x[0], x[1]]), t


def given(xs, x):
    return np.array(xs), np.sum(xs), np.array(xs, float), x * 2.0 + np.mean(xs)


def ragged(x, n):
    rows = []
    for i in range(n):
        rows.append([x[i], x[i + 1]])
    rows.append([x[k] for k in range(n)])
    s = 0.0
    for row in rows:
        for v in row:
            s += v
    return np.array(rows), s


def read(text):
    return [[float(part) for part in line.split(",")] for line in text.split(";")]


def of_rows(text, x):
    rows = read(text)
    s, cubes = 0.0, [[[v, v], [v, 1.0]] for v in x] + [[[0.0]]]
    for row in rows:
        for v in row:
            s += v * 2.0
    for cube in cubes:
        for pair in cube:
            s += pair[0] + len(pair)
    return np.array(rows), s, rows[0][1] + rows[-1][0], [row[0] for row in rows]


CASES = [
    (of_rows, ("1,2;3,4.5;5,6", X), [("1,2", X), ("1,2;3", I)]),
    (collected, (X,), [(I,), (X[:0],), (X.astype("f"),), (I.astype("u1"),), (list(X),)]),
    (rows, (X,), [(I,), (X[:1],)]),
    (of_unlike, (X, 5), [(I, 1), (X[:0], 0)]),
    (statistics, (X,), [(I,), (-X[:2],), (np.array([1.5]),)]),
    (changed, (X, 2.5), [(X, 1), (X, np.float64(3.0)), (X, "a"), (X, None), (X, [1.0]), (X, 2 ** 70)]),
    (literals, (X, 4), [(X, 2.5), (I, 3), (X.astype("f"), 1), (X, np.float32(2.0)), (X[:2], 1), (X, 2 ** 60), (X, 1j),
                        (X, 2 ** 64), (X * np.nan, 1), (X, True)]),
    (given, (LONG, X), [(LONG + [3], X), (LONG + ["text"], X), (list(range(30)), X), ([1.5], X), ([], X),
                        (LONG + [X], X), ([2 ** 70] * 20, X)]),
    (ragged, (X, 2), [(X, 3), (X, 1)]),
]


test_same_answers = same_answers(CASES, PYTHON)


@pytest.mark.parametrize("f, args", [(collected, (X,)), (rows, (X,)), (statistics, (X,)), (literals, (X, 4)),
                                     (given, (LONG, X)), (ragged, (X, 2))])
def test_nothing_breaks(f, args):
    assert_nothing_breaks(f, *args)


@pytest.mark.parametrize("f, args, others", [(collected, (X,), [(I,), (X[:0],)]), (rows, (X,), [(I,)]),
                                             (literals, (X, 4), [(X, 2.5), (X.astype("f"), 1)]),
                                             (given, (LONG, X), [(LONG + [3], X), ([1.5] * 20 + [None], X)])])
@fail_unless_captured()
def test_in_machine_code(f, args, others):
    check(f, *args, others=others)


def test_items_are_asked_for_nothing():
    asked = []

    class Number(float):
        def __float__(self):
            asked.append(self)
            return 1.0

    class Array:
        def __array__(self, *args, **kwargs):
            asked.append(self)
            return np.ones(1)

    def f(xs, x):
        ys = []
        for v in x:
            ys.append(v)
        ys.extend(xs)
        return np.array(ys), np.sum(ys), x * 2.0

    for items in ([Number(2.0)], [2.0, Number(3.0)], [np.float64(1.0)]):
        check(f, items, X, config=PYTHON)
    j = check(lambda xs, x: (np.array(xs), x * 2.0 + 1.0), LONG, X, config=PYTHON)
    del asked[:]
    j([1.5] * 20 + [Number(2.0)], X)
    once = len(asked)
    del asked[:]
    np.array([1.5] * 20 + [Number(2.0)])
    assert len(asked) == once


def test_a_list_in_two_variables():
    def f(x, n):
        ys = zs = []
        other = []
        for i in range(n):
            ys.append(x[i])
            other.append(i)
            if i == 2:
                zs.append("text" if n > 4 else x[0])
        return ys is zs, ys, other, np.array(other), np.array(ys), len(zs)

    check(f, X, 3, others=[(X, 5), (X, 0)], config=PYTHON)
