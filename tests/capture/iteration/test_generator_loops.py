"""Loops over generators, maps and filters: steps are inlined, and the objects appear where a kernel leaves."""

import sys

import numpy as np
import pytest

from tests.harness import assert_nothing_breaks, check, fail_unless_captured, jitted, kernel_count, mode_config

X = np.array([2.5, -1.0, 7.0, 0.5, 3.0, -0.0, 4.0])
I = np.array([3, 0, -2, 7, 7, 1])
M = X[:6].reshape(2, 3)
PYTHON = {"backend": "python"}
SCALE = 2.0


def squared(v):
    return v * v + SCALE


def positive(x, k=2.0, *, shift=0):
    i = 0
    for v in x:
        if v > 0:
            yield v * k + i
        i += 1 + shift


def fibonacci(n):
    a, b = 0, 1
    while a < n:
        yield a
        a, b = b, a + b


def endless(start):
    while True:
        yield start
        start += 1


def in_parts(n):
    yield 1
    for i in range(n):
        for j in range(i):
            yield i * j
    if n > 3:
        return
    yield n


def over_map(x):
    s = 0.0
    for v in map(squared, x):
        s += v
    for a, b in zip(map(abs, x), x):
        s += a * b
    return s


def over_map_of_two(x, y):
    s = 0.0
    for v in map(lambda a, b: a * b - SCALE, x, y):
        s += v
    for i, v in enumerate(map(squared, y), 3):
        s -= i * v
    return s


def over_filter(x, k):
    s = 0.0
    for v in filter(lambda v: v > k, x):
        s += v
    for v in filter(None, x):
        s += v
    for v in map(squared, filter(lambda v: v < k, x)):
        s += v
    return s


def over_expression(x, k):
    s = 0.0
    for v in (w * k for w in x if w > 0 if w < 5):
        s += v
        k += 1.0
    for a in (p * q for p in x for q in range(3)):
        s -= a
    return s, k


def over_function(x, n):
    s = 0.0
    for i, v in enumerate(positive(x, shift=n)):
        s += v * i
        if s > 60:
            break
    else:
        s = -s
    return s


def over_numbers(n):
    total = 0
    for a in fibonacci(n):
        total += a
    for b in endless(total):
        if b % 7 == 0:
            break
        total += b
    for c in in_parts(n % 5):
        total += c
    return total, a, b


def nested(x, n):
    s = 0
    for a in fibonacci(n):
        for b in (a * i for i in range(a % 4)):
            for c in map(lambda v: v + a, range(3)):
                s += a * b + c
    return s


def consumed(x, n):
    parts = [v + 1 for v in in_parts(3)], tuple(in_parts(2))
    return sum(positive(x)), list(fibonacci(n)), max(positive(x, 3.0)), parts


def rows(m):
    s = 0.0
    for row in (r * 2.0 for r in m):
        s += row.sum()
    return s


def swallowing(xs, out):
    """Effects of the loop between those of the generator."""
    def noted(v):
        out.append(("made", v))
        return v * 2

    for v in map(noted, xs):
        out.append(("used", v))
    return out


def logged(xs, out):
    for v in xs:
        out.append(v)
        yield v + 1


def in_turn(xs, out):
    for v in logged(xs, out):
        out.append(-v)
    return out


def left_early(xs, out):
    for v in logged(xs, out):
        if v > 4:
            break
    return out


def rebinding(x):
    k, s = 1.0, 0.0
    for v in (w * k for w in x):
        s += v
        k = -k + 0.5
    for v in map(lambda w: w + k, x):
        s += v * k
        k += 1
    return s, k


def helper(x):
    s = 0.0
    for v in map(squared, x):
        s += v
    for v in positive(x):
        s += v
    return s


def in_a_helper(x):
    return helper(x) + helper(x[::2])


def handed_over(v, it):
    s = v
    for w in it:
        s += w
    return s


def as_arguments(x, y):
    return handed_over(1.0, positive(x)) + handed_over(0.0, map(squared, x)) + handed_over(2.0, (v * v for v in y))


def named(x):
    g = positive(x)
    s = 0.0
    for v in g:
        s += v
        if v > 10:
            break
    return s, list(g)


def over_tuples(x, t):
    s = 0.0
    for v in filter(None, t):
        s += v
    for i, v in enumerate(w * 2 for w in t if w > 1):
        s += v * i
    return x * s, [v + 1 for v in filter(lambda w: w > 1, t)], [v for v in (w - 1 for w in t if w)]


PROGRAMS = [
    (over_tuples, lambda: (X, (1, 0, 2, 5)), [lambda: (X, (0, 0, 0, 0)), lambda: (I, (3, 1.5, 0)), lambda: (X, ())]),
    (over_map, lambda: (X,), [lambda: (I,), lambda: (X[:0],)]),
    (over_map_of_two, lambda: (X, X[::-1]), [lambda: (X, I), lambda: (I, X[:2])]),
    (over_filter, lambda: (X, 2.5), [lambda: (I, 2), lambda: (X[:0], 0.0)]),
    (over_expression, lambda: (X, 1.5), [lambda: (I, 2), lambda: (X[:1], 1.0)]),
    (over_function, lambda: (X, 0), [lambda: (I, 1), lambda: (X * 9, 0), lambda: (X[:0], 0)]),
    (over_numbers, lambda: (1000,), [lambda: (2,), lambda: (10**6 + 4,)]),
    (nested, lambda: (X, 40), [lambda: (X, 3)]),
    (consumed, lambda: (X, 50), [lambda: (I, 2)]),
    (rows, lambda: (M,), [lambda: (I.reshape(2, 3),)]),
    (rebinding, lambda: (X,), [lambda: (I,)]),
    (in_a_helper, lambda: (X,), [lambda: (I,)]),
    (as_arguments, lambda: (X, X), [lambda: (X, I)]),
]
OTHERS = [
    (swallowing, lambda: (X, []), [lambda: (I, [])]),
    (in_turn, lambda: (X, []), [lambda: (I, []), lambda: ([1, 2, 3], [])]),
    (left_early, lambda: (X, []), [lambda: (I, [])]),
    (named, lambda: (X,), [lambda: (I,)]),
]


@pytest.mark.parametrize("f, args, others", PROGRAMS + OTHERS, ids=[row[0].__name__ for row in PROGRAMS + OTHERS])
def test_same_answers(f, args, others):
    check(f, *args(), others=[make() for make in others], config=PYTHON)


@pytest.mark.parametrize("f, args", [row[:2] for row in PROGRAMS if row[0] not in (over_map,)],
                         ids=[row[0].__name__ for row in PROGRAMS if row[0] not in (over_map,)])
def test_nothing_breaks(f, args):
    assert_nothing_breaks(f, *args(), one_segment=False)


def everything(x, k, n):
    s = 0.0
    for v in map(lambda a, b: a * b + k, x, x):
        s += v
    for i, v in enumerate(filter(lambda v: v > k, x)):
        s += v * i
    for v in (w * k for w in x if w > 0):
        s += v
        k += 1.0
    for a in in_parts(n):
        s += a
    for v in positive(x):
        s -= v
    return s, sum(fibonacci(n)), [v for v in in_parts(4)]


@fail_unless_captured()
def test_all_of_them_natively():
    check(everything, X, 1.5, 30, others=[(X[:0], 2.0, 3), (np.array([np.nan, 1e300, np.inf]), 3.0, 0), (I, 2, 5)])


@pytest.mark.parametrize("f, args, others", PROGRAMS, ids=[row[0].__name__ for row in PROGRAMS])
def test_polls_leave_the_objects_behind(f, args, others, polls):
    check(f, *args(), others=[make() for make in others], config=PYTHON)


def failing(n):
    for i in range(n, -3, -1):
        yield 10 // i


def raising_in_the_generator(n):
    s = 0
    for v in failing(n):
        s += v
    return s


def raising_in_the_function(x):
    s = 0.0
    for v in map(lambda v: 1 // int(v), x):
        s += v
    return s


def raising_in_the_body(x, log):
    s = 0
    try:
        for v in (w * 2 for w in x):
            log.append(int(v))
            s += 1 // (int(v) - 6)
    except ZeroDivisionError:
        log.append("caught")
    return s, log


def stopping(x):
    def stop(v):
        if v > 5:
            raise StopIteration
        return v
    s = 0.0
    for v in map(stop, x):
        s += v
    return s


def stopped_generator(x):
    for v in x:
        if v > 5:
            raise StopIteration("early")
        yield v


def over_a_stopped_generator(x):
    s = 0.0
    for v in stopped_generator(x):
        s += v
    return s


def growing(n):
    s = 1
    for v in (i * 4611686018427387904 for i in range(n)):
        s += v
    return s


@pytest.mark.parametrize("f, args, others", [
    (raising_in_the_generator, (5,), [(-5,)]), (raising_in_the_function, (X,), [(X + 9,)]),
    (raising_in_the_body, (I, []), [(I + 1, [])]), (stopping, (X,), [(X / 9,)]),
    (over_a_stopped_generator, (X,), [(X / 9,)]), (growing, (5,), [(2,)]),
], ids=lambda value: getattr(value, "__name__", ""))
def test_what_raises_raises_in_bytecode(f, args, others):
    check(f, *args, others=others, config=PYTHON)


def test_tracebacks_are_those_of_the_generator():
    def trace(f):
        with pytest.raises(ZeroDivisionError) as caught:
            for _ in range(3):
                f(5)
        return [(entry.name, entry.lineno, entry.frame.f_locals.get("i")) for entry in caught.traceback[1:]]

    j = jitted(raising_in_the_generator)
    expected = trace(raising_in_the_generator)
    for _ in range(3):
        assert trace(j)[-2:] == expected[-2:]
    if "force_breaks" not in mode_config():
        assert kernel_count(j)


def test_the_generator_is_the_programs_own():
    """What bytecode goes on with has the names, the code and the globals of the generator that a call gives."""
    seen = []

    def probe(v):
        if v > 6:
            frame = sys._getframe(1)
            seen.append((frame.f_code is positive.__code__, frame.f_globals is globals(), sorted(frame.f_locals)))
        return v

    def f(x):
        s = 0.0
        for v in positive(x):
            s += v
            if v > 14:
                s += int("12")
        return s

    check(f, X, others=[(I,)], config=PYTHON)
    del seen[:]


def test_a_function_that_changes_is_seen(monkeypatch):
    def f(x):
        s = 0.0
        for v in map(squared, x):
            s += v
        for v in positive(x):
            s += v
        return s

    j = jitted(f)
    assert [j(X) for _ in range(4)] == [f(X)] * 4
    monkeypatch.setitem(globals(), "SCALE", 5.0)
    assert j(X) == f(X)
    monkeypatch.setitem(globals(), "positive", fibonacci_of)
    assert j(X) == f(X)


def fibonacci_of(x):
    return fibonacci(len(x) * 100)


def test_what_is_left_as_bytecode():
    """Generators with handlers, with inner functions, and loops with a break: they run as ever."""
    def guarded(x):
        try:
            for v in x:
                yield v
        finally:
            closed.append(1)

    def sharing(x):
        k = 2.0
        for v in map(lambda w: w * k, x):
            yield v

    def f(x, n):
        s = 0.0
        for v in guarded(x):
            s += v
            if s > n:
                break
        for v in sharing(x):
            s += v
        for i, v in enumerate(positive(x)):
            if i == 2:
                seen.append(repr(v))
            s += v
        return s

    closed, seen = [], []
    expected = f(X, 5.0), len(closed), len(seen)
    del closed[:], seen[:]
    j = jitted(f)
    for _ in range(4):
        assert (j(X, 5.0), len(closed), len(seen)) == expected
        del closed[:], seen[:]


class Bag:
    def __init__(self, x):
        self.x = x

    def __iter__(self):
        for v in self.x:
            yield v * 2

    def above(self, k):
        for v in self:
            if v > k:
                yield v


def over_objects(bag):
    s = 0.0
    for v in bag:
        s += v
    for v in bag.above(s / 9):
        s -= v
    return s


def test_objects_whose_methods_are_generators():
    check(over_objects, Bag(X), others=[(Bag(I),)], config=PYTHON)
    assert_nothing_breaks(over_objects, Bag(X), one_segment=False)
