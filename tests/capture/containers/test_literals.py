"""Tuples, lists and dicts that the function makes: read without a look at them, made once, never out of date."""

import gc
import tracemalloc

import numpy as np
import pytest

from tests.harness import assert_nothing_breaks, check, fail_unless_captured, jitted, kernel_count

X = np.linspace(0.5, 4.0, 11)
Y = np.linspace(3.0, -1.0, 11)


def read(a, b):
    t = [a * 2.0, b + 1.0, 3]
    return t[0] + t[-2] * len(t)


def returned(a, b):
    return [a * 2.0 + 1.0, b, 1, 2.5, None, "x", True, a[0], [b]]


def mapped(a, b):
    return {"sum": a * b + 1.0, "parts": {1: a, -2: b}, "n": len("abc")}


def starred(xs):
    first, *rest = xs
    a, *middle, b = xs
    return first * rest[0] + len(middle) + b, rest, middle


def sliced(xs):
    return xs[1:][0] * xs[:2][1] + xs[-1], xs[:], xs[::-1]


def chained(xs, a):
    t = [*xs, a * 2.0, *xs]
    u = (*xs, a)
    return t[0] * u[1] + t[-1], t, u


def asked(a):
    d = {"p": a * 2.0, "q": {"r": a + 1.0}}
    empty = {}
    if "p" in d and "z" not in d and not empty:
        return d["p"] + d["q"]["r"], d.get("k"), d.get("p")
    return None


def tuples(a, b):
    t = a, (b, 2.0)
    u = t + (a,)
    return u[0] * u[1][1] + u[2], t, u, (), u[1:]


WHOLE = [
    (read, (X, Y), [(X, 2.0)]),
    (returned, (X, Y), [(Y, 3)]),
    (mapped, (X, Y), [(X, 2)]),
    (starred, ([X, Y, X],), [((X, Y),), ([X, Y, 1, Y],)]),
    (sliced, ([X, Y, X],), [((X, Y, 2.0),)]),
    (chained, ([X, Y], X), [((X, 2.0), Y)]),
    (asked, (X,), []),
    (tuples, (X, Y), [(X, 2)]),
]


@pytest.mark.parametrize("f, args, others", WHOLE, ids=[row[0].__name__ for row in WHOLE])
def test_one_kernel(f, args, others):
    with fail_unless_captured() as watched:
        check(f, *args, others=others)
    assert all(not entry.reports.breaks for entry in watched[0].state.entries)


WRONG = [(starred, ([],), [([X],)]), (sliced, ([X],), [([],), (X,)]), (chained, (3, X), [(None, X), (X, X), ({"a": X}, X)])]


@pytest.mark.parametrize("f, args, others", WRONG, ids=[row[0].__name__ for row in WRONG])
def test_what_raises(f, args, others):
    check(f, *args, others=others)


def two_names(a, b):
    s = t = [a * 1.5 + b, b]
    s.append(a)
    return s, t, [t, t], len(t)


def grows(a, n):
    t = [a * 2.0, a]
    for i in range(n):
        if i == 3:
            t.append(a + 1.0)
        a = a + t[0]
    return a, t


def by_path(a, flag):
    if flag:
        t = [a * 2.0 + 1.0]
    else:
        t = [a * 3.0 - 1.0]
    u = t
    return t[0] * 2.0, t, u


def of_two_lengths(a, flag):
    t = [a * 2.0 + 1.0]
    if flag:
        t = [a * 3.0 - 1.0, 2]
    return a * 2.0, t, t[0]


def changed_by_a_callee(a, change):
    t = [a * 2.0, a]
    u = (t, 1)
    change(t)
    return t[0] * 3.0 + u[0][0], t


def changed_in_a_loop(a, change, n):
    t = [a * 2.0]
    for _ in range(n):
        a = a + t[0] * 0.5
        change(t)
        a = a * 2.0 - t[0]
    return a


def replace(t):
    t[0] = t[0] + 1.0


def forget(t):
    del t[:]


CHANGED = [
    (two_names, (X, Y), []),
    (grows, (X, 6), [(X, 2), (X, 0)]),
    (by_path, (X, True), [(X, False), (X, 1)]),
    (of_two_lengths, (X, True), [(X, False)]),
    (changed_by_a_callee, (X, replace), [(X, len), (X, forget)]),
    (changed_in_a_loop, (X, replace, 3), [(X, len, 2), (X, forget, 2)]),
]


@pytest.mark.parametrize("f, args, others", CHANGED, ids=[row[0].__name__ for row in CHANGED])
def test_identity_and_changes(f, args, others):
    with fail_unless_captured():
        check(f, *args, others=others)


def pairs(x, n):
    out = []
    for i in range(n):
        t = [x[i], i]
        out.append(t[0] * 2.0 + t[1])
    return out


def test_a_dict_that_is_too_long_for_one_instruction():
    def numbered(x):
        a = x[0] * 2.0 + x[1]
        return {0: a, 1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 6: 6, 7: 7, 8: 8, 9: 9, 10: 10, 11: 11, 12: 12, 13: 13, 14: 14, 15: 15,
                16: 16, 17: 17, 18: a + x[2], 19: x}

    check(numbered, X)


def test_lists_in_loops():
    with fail_unless_captured():
        check(pairs, X, 11, others=[(X, 0), (X, 12)])


def many(x, n):
    total = 0.0
    for i in range(n):
        t = [x, total, i]
        total = total + t[0][i % 3] * t[2]
    return total


def test_a_loop_lets_go_of_its_lists():
    with fail_unless_captured():
        j = jitted(many, {"force_breaks": None})
        for _ in range(3):
            assert j(X, 10) == many(X, 10)
    tracemalloc.start()
    try:
        j(X, 20000)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 500000  # the lists of all rounds would take some millions
    assert kernel_count(j) >= 1


def test_calls_leave_nothing_behind():
    j = jitted(returned)
    for _ in range(100):
        j(X, Y)
    gc.collect()  # what other tests have left goes now
    grown = []
    tracemalloc.start()
    try:
        for _ in range(8):  # a leak grows each time; what other threads do and caches do not
            before = tracemalloc.get_traced_memory()[0]
            for _ in range(500):
                j(X, Y)
            grown.append(tracemalloc.get_traced_memory()[0] - before)
    finally:
        tracemalloc.stop()
    assert min(grown) < 20000


def test_slices_and_ranges_that_are_returned():
    def f(x, n):
        return x[1:n] * 2.0, slice(1, n), range(n), (slice(n), range(2, n, -1)), slice(None, None, n)

    def g(x, n):
        return slice(n, len(x)), {"a": slice(1, n), "r": range(n)}, x + 1.0

    with fail_unless_captured():
        check(f, X, 3, others=[(X, 7)])
        check(g, X, 3, others=[(X, True)])
    assert_nothing_breaks(f, X, 3)


class Seen:
    def __init__(self):
        self.keys = []

    def __getitem__(self, key):
        self.keys.append(key)
        return 1.0

    def __setitem__(self, key, value):
        self.keys.append(value)
        self.keys.append(key)


def test_one_slice_for_a_read_and_a_store():
    def f(x, n):
        seen = Seen()
        y = x * 2.0
        seen[1:n] += y[0]
        return seen.keys[0] is seen.keys[2], seen.keys, y

    check(f, X, 3)


def test_nested_sequences_equal_constant_ones():
    def f(x, n):
        t = (2, n)
        return ((1, (2, n)) == (1, (2, 5)), (t,) != ((2, 5),), (1, t) == (1, (2, 5)), [1, (n, 2)] == [1, (5, 2)],
                (t, None) == ((2, 5), None), (t, 1) == (None, 1), (t, t) == ((2, 5), "ab"), x + 1.0)

    with fail_unless_captured():
        check(f, X, 5, others=[(X, 6), (X, 5.0)], calls=4)
