"""Methods of lists that search, sort and copy, and slices of long ones."""

import numpy as np
import pytest

import pijit
from tests.harness import check, fail_unless_captured, same_answers

X = np.array([2.5, -1.0, 7.0, 0.5, 3.0, -0.0])
LONG = [0.5 * k for k in range(40)]
NAN = float("nan")
PYTHON = {"backend": "python"}


def searched(xs, v, x):
    found = v in xs, v not in xs, xs.count(v), "text" in xs, None in xs
    return found, xs.index(v), x * 2.0 + 1.0


def removed(xs, v, x):
    xs.remove(v)
    return xs, len(xs), x * 2.0 + 1.0


def in_order(xs, x):
    ys = [v * 2.0 for v in x]
    ys.sort()
    xs.sort(reverse=True)
    return ys, xs, ys[0] * 2.0 + ys[-1], x * 2.0


def copied(xs, n, x):
    ys, zs = xs.copy(), list(xs)
    ys[0] = x[0]
    part, every = xs[n:], xs[::2]
    s = ys[0]
    for v in part:
        s += v
    return ys, zs, part, every, xs[:-n], s, xs[-3:n]


def by_key(xs, x):
    return (sorted(xs, key=lambda v: -v), sorted(xs, key=lambda v: v % 3, reverse=True), sorted(x, key=abs),
            sorted([(1, 2.0), (0, 3.0)], key=lambda p: p[0]), sorted(xs, key=None)[0], x * 2.0)


def multiplied(xs, n, x):
    """The list stays the same object."""
    made, other = [0.0], xs
    made *= n
    xs *= n
    for i in range(len(made)):
        made[i] += x[i] * 2.0
    return made, xs, other is xs, len(other)


def lists_taken_out(rows, x):
    s, own = 0.0, [[1, 2], [3, 4]]
    while own:
        row = own.pop()
        s += x[row[0]] * row[1]
        if len(row) < 4:
            row.append(len(row))
            own.append(row)
    while rows:
        row = rows.pop()
        s += x[row[0]] + x[row[1]]
    return s, rows


CASES = [
    (searched, (LONG, 1.5, X), [(LONG, -1, X), (LONG, NAN, X), (LONG, np.float64(2.0), X), (LONG + ["text"], "text", X),
                                (LONG + [None], True, X), ([NAN] * 20, NAN, X), ([X] + LONG, 1.5, X), ([1, 2], 2, X),
                                (LONG + [2 ** 70], 3, X), (LONG, X, X)]),
    (removed, (LONG, 1.5, X), [(LONG, -1, X), ([1, 1.0, True] * 9, 1, X), ([X, 1.5], 1.5, X), ([1.5], 1.5, X)]),
    (in_order, (LONG, X), [([3, 1, 2], X), (["b", "a"], X), ([1, 2.0], X), ([NAN, 1.0, NAN, 0.0], X), ([], X[:0]),
                           ([X, X], X), (list(X), np.array([NAN, 1.0, -0.0, 0.0]))]),
    (copied, (LONG, 3, X), [(LONG, 0, X), (LONG, -2, X), (LONG, 100, X), (list(range(30)), 5, X), ([1.0, 2.0], 1, X)]),
    (by_key, (LONG, X), [(list(range(30)), X), ([NAN, 1.0] * 10, X), (LONG + ["text"], X), ([1, 2], X[:0])]),
]
CASES += [
    (multiplied, ([1.0, 2.0], 4, X), [([1.0], 0, X), ([1, "a"], -3, X), ([], 5, X), ([2.5], 2.0, X), ([X], 2, X),
                                      ([1.0], True, X)]),
    (lists_taken_out, ([[1, 2], [0, 1]], X), [([[1, 2], [0]], X), ([[0, 1.5]], X), ([], X), ([(0, 1)], X)]),
]
IDS = [case[0].__name__ for case in CASES]


test_same_answers = same_answers(CASES, PYTHON)


@pytest.mark.parametrize("f, args", [case[:2] for case in CASES], ids=IDS)
def test_nothing_breaks(f, args):
    j = pijit.jit(f, jit_config=PYTHON)
    for _ in range(3):
        j(*[list(arg) if type(arg) is list else arg for arg in args])
    report = pijit.explain(j, *[list(arg) if type(arg) is list else arg for arg in args])
    assert report.kernels and not report.breaks, str(report)


@fail_unless_captured()
def test_in_machine_code():
    def f(xs, v, x):
        ys, s = xs[2:], 0.0
        ys.remove(v)
        for i in range(len(ys)):
            s += ys[i] * ys.count(ys[i]) + (x[0] in ys) + ys.index(ys[i])
        ys.sort(reverse=True)
        return s, ys, xs.copy(), sorted(xs, key=lambda u: -u)

    check(f, LONG, 1.5, X, others=[(LONG, -7, X), (LONG[:10] + ["a"] * 9, 1.5, X)])


def test_numbers_compare_as_the_program_says():
    asked = []

    class Number(float):
        def __eq__(self, other):
            asked.append(other)
            return True

    def f(xs, x):
        return xs.index(0.25), 0.25 in xs, x * 2.0 + 1.0

    j = pijit.jit(f, jit_config=PYTHON)
    with pytest.raises(ValueError):
        j(LONG, X)
    for _ in range(3):
        del asked[:]
        assert j(LONG + [Number(1.0)], X)[:2] == (40, True)
        assert asked == [0.25, 0.25]
