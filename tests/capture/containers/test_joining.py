"""Tuples and lists joined, repeated and unpacked, and arrays unpacked."""

import numpy as np

from tests.harness import check, fail_unless_captured, nothing_breaks, same_answers

X = np.linspace(-2.0, 3.0, 12)
ROWS = np.arange(12.0).reshape(6, 2)
LONG = [0.5 * k for k in range(40)]
PYTHON = {"backend": "python"}


def joined(x, t, xs):
    s = x.shape + (2,) + t
    made = xs + [1.0] + xs
    return s, made, [x[0]] + [2.0], t + (), () + t, np.zeros((1,) + x.shape)


def repeated(x, t, n):
    zeros = [0.0] * n
    for i in range(n):
        zeros[i] = x[i] * 2.0
    return zeros, t * 2, 2 * [x[0], 1], t * n, [x] * 3, (1,) * 0, t * 1


def rows(r):
    s = 0.0
    for a, b in r:
        s += a * b - b
    for i, (a, b) in enumerate(r, 1):
        s += i * a
    (a, b), c = r[0], r[1]
    return s, a, b, c


def numbers(x, xs):
    a, b, c = sorted((3.0, 1.0, 2.0))
    d, e = [v * 2 for v in x[:2]]
    return a + b * c, d - e, x * 2.0


def columns(x, pairs):
    a, b = zip(*pairs)
    (i, p), (j, q) = enumerate((x, 2.0))
    return x * a[0] + b[1], a, b, i, p, j, q


def in_place(x, xs):
    ys = xs
    ys += [x[0]]
    t = (1, 2)
    t += (3,)
    return ys, xs, t, x * 2.0 + len(ys)


CASES = [
    (joined, (X, (1, 2), LONG), [(X, (), [1]), (ROWS, (X,), [X, None]), (X, [1], LONG), (X, (1,), (2,))]),
    (repeated, (X, (1, X), 5), [(X, (), 3), (X, (2.0,), 0), (X, (1,), -2), (X, (1,), 99), (X, [1], 2)]),
    (rows, (ROWS,), [(ROWS.astype(int),), (np.ones((3, 3)),), (np.ones((3, 1)),), (ROWS.T[:, :2],),
                     (np.ones((2, 2, 4)),)]),
    (numbers, (X, 0), [(X[:1], 0), (X.astype(int), 0)]),
    (columns, (X, ((1.0, 2), (3.0, 4))), [(X, ((1, 2, 3), (4, 5, 6))), (X, [(1.0, 2)] * 20), (X, ((X, X), (X, X)))]),
    (in_place, (X, [1.0, 2.0]), [(X, [3])]),
]

test_same_answers = same_answers(CASES, PYTHON)
test_nothing_breaks = nothing_breaks(CASES)


@fail_unless_captured()
def test_in_machine_code():
    def f(r, xs, n):
        s, made = 0.0, [0.0] * n
        for i, (a, b) in enumerate(r):
            s += a * b
            made[i % n] = s
        a, b, c = sorted((3.0, s, 2.0))
        return s, made, xs + [a], (a,) * 2 + (b, c)

    check(f, ROWS, LONG, 4, others=[(ROWS, LONG[:2], 1), (np.ones((2, 3)), LONG, 4), (ROWS, LONG, 0)])


def test_new_lists_are_objects_of_their_own():
    def f(x, n):
        kept = []
        for i in range(n):
            row = [0.0] * n
            row[i] = x[i]
            kept.append(row)
        return kept, kept[0] is kept[1]

    with fail_unless_captured():
        check(f, X, 3, others=[(X, 5)], config=PYTHON)


def test_repeating_in_place_keeps_the_list():
    def f(x, xs):
        ys = xs
        ys *= 2
        return ys is xs, len(xs), x * 2.0 + 1.0

    check(f, X, [1.0, 2.0], config=PYTHON)
