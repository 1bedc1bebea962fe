"""Ranges that variables hold: made, iterated, asked, returned, and taken from outside."""

import numpy as np

from tests.harness import check, fail_unless_captured, jitted, nothing_breaks, same, same_answers

X = np.array([2.5, -1.0, 7.0, 0.5, 3.0, -0.0])
PYTHON = {"backend": "python"}
STEPS = range(1, 6, 2)


def nested(x, h, w):
    rows, columns = range(h), range(w)
    s = 0.0
    for i in rows:
        for j in columns:
            s = s * 0.5 + x[i] * x[j]
    return s, rows, columns


def from_outside(r, x):
    s = 0.0
    for i in r:
        s = s * 0.5 + x[i]
    for i, j in zip(reversed(r), STEPS):
        s = s * 0.5 + x[i] * j
    return s, len(r), r, sum(r), list(r), [i * 2 for i in r]


def beyond_a_word(r):
    last = None
    for last in r:
        pass
    return last, list(r), [i for i in reversed(r)], sum(r), r[-1], len(r)


def asked(r, x, k):
    s = 0.0
    for i in range(len(r)):
        s += x[r[i]] * r[-1 - i]
        if i in r:
            s *= 0.5
        if k in range(2, 9, 3) and -i not in r:
            s += 1.0
    return s, r[k], k in r


def chosen(x, n, forwards):
    order = range(n) if forwards else range(n - 1, -1, -1)
    s = 0.0
    for k in range(3):
        for i in order:
            s = s * 0.5 + x[i]
        order = range(k, n, k + 1)
    return s, order


def helper(x, n):
    inner = range(1, n)
    return sum(x[i] for i in inner) + len(inner)


def in_callee(x, n):
    return helper(x, n) * 2.0 + helper(x, 3)


def kept(x, n):
    r = range(n)
    held = [r, r]
    return held, (r, n), {"r": r}, x * 2.0 + 1.0


def in_a_cell(x, n):
    r = range(n)
    later = lambda: r  # noqa: E731
    rows = [r, x]
    for i in r:
        rows.append([x[j] * i for j in r] + [j for j in rows[0]])
    return rows, later()


CASES = [
    (nested, (X, 4, 5), [(X, 0, 3), (X, 6, 9), (X, np.int64(3), True), (X, 2.5, 1), (X, -1, 2), (X, 2 ** 70, 3)]),
    (from_outside, (range(1, 5), X), [(range(5, -1, -2), X), (range(0), X), (range(9), X), ([1, 2], X),
                                      (range(0, 2 ** 70, 2 ** 69), X), (range(3, 10, 100), X)]),
    (beyond_a_word, (range(5, 25, 3),), [(range(2 ** 63 - 15, 2 ** 63 + n, 3),) for n in (0, 1, 99)]
     + [(range(-2 ** 63 + 15, -2 ** 63 - n, -3),) for n in (0, 1, 2, 99)] + [(range(2 ** 63 - 1, 2 ** 63 - 1),)]),
    (asked, (range(0, 6, 2), X, 2), [(range(0), X, 2), (range(5), X, -2), (range(5), X, 7), (range(5), X, True),
                                     (range(5), X, 1.0), (range(5), X, np.int64(2)), (range(5), X, "a"),
                                     (range(5, 0, -1), X, -5), (range(2 ** 62), X, 0), (range(5), X, slice(1, 3))]),
    (chosen, (X, 5, True), [(X, 5, False), (X, 0, True), (X, 9, False), (X, "a", True)]),
    (in_callee, (X, 5), [(X, 1), (X, 9), (X, 2.0)]),
    (in_a_cell, (X, 4), [(X, 0), (X, 9), (X, "a")]),
    (kept, (X, 4), [(X, 0), (X, "a")]),
]

test_same_answers = same_answers(CASES, PYTHON)
test_nothing_breaks = nothing_breaks([case for case in CASES if case[0] not in (chosen, in_a_cell)])


def test_another_range_is_no_other_capture():
    def f(r, x):
        s = 0.0
        for i in r:
            s = s * 0.5 + x[i]
        return s

    j = jitted(f, PYTHON)
    for r in (range(4), range(1, 6), range(5, 0, -2), range(0)):
        same(f(r, X), j(r, X))
    assert len(j.state.entries) == 1


@fail_unless_captured()
def test_in_machine_code():
    def f(r, x, n):
        own = range(n)
        s = 0.0
        for i in r:
            for k in own:
                s = s * 0.5 + x[i] * x[k]
            if i in own and len(own) > 2:
                s += own[-1]
        return s, own

    check(f, range(1, 6, 2), X, 4, others=[(range(5, -1, -1), X, 2), (range(9), X, 3), (range(2), X, 0)])
