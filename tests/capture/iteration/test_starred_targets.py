"""``a, *b = c`` of arrays and of lists that are not short."""

import numpy as np
import pytest

from tests.harness import assert_nothing_breaks, check, fail_unless_captured

PYTHON = {"backend": "python"}
X = np.linspace(-2.0, 3.0, 24)


def first_and_rest(x):
    first, *rest = x
    rest.append(first)
    return first, rest, sum(rest)


def around(x):
    p, q, *rest, r = x
    s = 0.0
    for v in rest:
        s += v * q
    return p - r, s, len(rest)


def rows(m):
    top, *others = m
    s = top.sum()
    for row in others:
        s += row[0]
    return s, others[0], len(others)


def pairs(x):
    *rest, (u, v) = x
    return u * v, len(rest), rest[0]


def in_a_loop(m):
    s = 0.0
    for row in m:
        a, *b = row
        s += a * sum(b)
    return s


def writing(m):
    top, *others = m
    others[0][1] = 7.0
    top[0] = 5.0
    return m


CASES = [
    (first_and_rest, lambda: (X,), [lambda: (X[::2],), lambda: (X[:1],), lambda: (X[:0],), lambda: (X > 0,)]),
    (first_and_rest, lambda: (X.tolist(),), [lambda: (list(range(24)),), lambda: (X.tolist()[:20] + ["x"],)]),
    (around, lambda: (X,), [lambda: (X[:3],), lambda: (X[:2],), lambda: (np.arange(20),)]),
    (around, lambda: (X.tolist(),), [lambda: (X.tolist()[:3],), lambda: ([],)]),
    (rows, lambda: (X.reshape(6, 4),), [lambda: (X.reshape(6, 4).T,), lambda: (X.reshape(2, 3, 4)[0],)]),
    (pairs, lambda: ([(k, k + 1) for k in range(30)],), [lambda: ([(k, 0.5) for k in range(30)],)]),
    (in_a_loop, lambda: (X.reshape(6, 4),), [lambda: (X.reshape(4, 6)[:, :1],)]),
    (writing, lambda: (X.copy().reshape(6, 4),), []),
]
IDS = ["%s%d" % (case[0].__name__, number) for number, case in enumerate(CASES)]


@pytest.mark.parametrize("f, args, others", CASES, ids=IDS)
def test_same_answers(f, args, others):
    check(f, *args(), others=[make() for make in others], config=PYTHON)


@pytest.mark.parametrize("f, args", [case[:2] for case in CASES if case[0] not in (rows, writing)],
                         ids=[name for name, case in zip(IDS, CASES) if case[0] not in (rows, writing)])
def test_nothing_breaks(f, args):
    assert_nothing_breaks(f, *args(), one_segment=False)


@fail_unless_captured()
def test_in_machine_code():
    def f(x, xs):
        a, *b, c = x
        p, *q = xs
        s = a * c + p
        for v in b:
            s += v
        return s, q, b

    check(f, X, X.tolist(), others=[(X[:2], X.tolist()), (X[:1], X.tolist()), (X, [])])
