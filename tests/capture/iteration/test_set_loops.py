"""Loops over sets and frozensets, in CPython's own order."""

import numpy as np
import pytest

from tests.harness import check, fail_unless_captured, jitted, kernel_count, mode_config, nothing_breaks

X = np.random.RandomState(8).randint(0, 10 ** 6, 70)
PYTHON = {"backend": "python"}


def filled(x):
    seen = set()
    for v in x.tolist():
        seen.add(v % 97)
    for v in range(0, 97, 5):
        seen.discard(v)
    t = 0
    for v in seen:
        t = t * 3 % 10007 + v
    return t, seen


def made_at_once(x):
    t = 0.0
    for v in set(x.tolist()):
        t = t * 0.5 + v
    for v in {v * 0.5 for v in x.tolist()}:
        t = t * 0.5 + v
    frozen = frozenset(x.tolist())
    for i, v in enumerate(frozen):
        t = t * 0.5 + i * v
    return t, frozen, len({*x.tolist()}), sum(frozen), max(frozen), 7 in frozen, [v for v in frozen][:3]


def of_others(s, u):
    """Sets from outside, in each other."""
    t = 0
    for a in s:
        for b in u:
            if b > a:
                break
            t += a - b
    return t + len(s) + len(u), sorted(s), sum(v * v for v in u), min(s, key=lambda v: -v)


def pairs(x):
    seen = set()
    for i in range(len(x) - 1):
        seen.add((int(x[i]) % 5, int(x[i + 1]) % 3))
    t = 0
    for a, b in seen:
        t = t * 3 % 10007 + a - b
    return t


def leaving(s, log):
    """Bytecode takes some of the rounds, and gets the iterator as it is."""
    t = 0
    for v in s:
        t += v
        if v % 20 == 7:
            log.append(repr(v))
    return t, log


def stepped_by_name(s):
    it = iter(s)
    first = next(it)
    t = 0
    for v in it:
        t += v * first
        if t > 400:
            break
    return t, list(it)


def changing(s, what):
    t = 0
    for v in s:
        t += v
        if v == 40:
            if what == 1:
                s.add(1000)
            elif what == 2:
                s.discard(3)
            elif what == 3:
                s.clear()
    return t, s


def takes_out_what_it_has(s, n):
    """A tuple that is a member lives on in a variable."""
    last = None
    for v in s:
        a, b = v
        if b == n:
            last = v
            s.discard(v)
            break
    return last, len(s)


def other_members(s):
    t = 0
    for v in s:
        t += v
    return t


MANY = set(range(0, 90, 2))
OTHERS = [(X[:5],), (X.astype(float),), (X[:0],), (X - 10 ** 5,)]
CASES = [
    (filled, (X,), OTHERS), (made_at_once, (X,), OTHERS),
    (of_others, (MANY, frozenset(range(30))), [(set(), {3}), ({5, 2}, {1.5, 2}), (frozenset([3, 9]), {4})]),
    (pairs, (X,), OTHERS), (leaving, (set(range(90)), []), [({7, 27, 3}, [])]),
    (stepped_by_name, (set(MANY),), [({3, 1},), (set(),)]),
    (changing, (set(MANY), 0), [(set(MANY), 1), (set(MANY) | {3}, 2), (set(MANY), 3)]),
    (takes_out_what_it_has, ({(k * 0.5, k) for k in range(50)}, 30), [({(k + 0.5, k) for k in range(50)}, 9)]),
    (other_members, (set(range(50)),), [({1, 2.5},), ({"a"},), ({True, 2},), (frozenset([1]),)]),
]


@pytest.mark.parametrize("f, args, others", CASES, ids=[case[0].__name__ for case in CASES])
def test_same_answers(f, args, others, polls):
    check(f, *args, others=others, config=PYTHON)


test_nothing_breaks = nothing_breaks(CASES[:4])


@fail_unless_captured()
def test_in_machine_code():
    for f, args, others in CASES[:3] + CASES[5:8]:
        check(f, *args, others=others[:3])


def test_kernels_begin_in_the_middle():
    def f(s, log):
        t = 0.0
        for v in s:
            t += v * 1.5 - t * 0.25
            t += (v + t) * 0.5
            if v == 10:
                log.append(globals())
            t -= v * 3.0 + t * 0.125
            t += (v - t) * 0.25
        return t

    j = jitted(f)
    log = []
    s = set(range(0, 300, 5))
    assert [j(s, log) for _ in range(4)] == [f(s, [])] * 4 and len(log) == 4
    if "force_breaks" not in mode_config():
        assert kernel_count(j)


def test_frozensets_that_are_found_by_identity():
    def f(xs):
        total = 0.0
        for x in xs:
            total += x * 2.0
        return total, len(frozenset(xs)), frozenset() is frozenset(), frozenset(frozenset(xs)) == frozenset(xs)

    nan = float("nan")
    check(f, [0.5, 1.5, 0.5], others=[([nan, nan, 1.0],), ([],), ([0.0, -0.0, 1.0],)], config=PYTHON)


def two_parts(a, b, x):
    return sorted({*a, *b}), x * 2.0 + 1.0


def test_sets_of_parts_that_were_empty_once():
    for empty, other in ((set(), {2}), ([], [2, 3]), (frozenset(), frozenset([7])), ((), (4,)), ({}, {2: 1})):
        check(two_parts, empty, {1}, np.arange(5.0), others=[(other, {1}, np.arange(5.0))], config={"backend": "python"})
