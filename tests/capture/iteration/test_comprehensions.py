"""Comprehensions, generator expressions that a builtin consumes, and iterators that have a name."""

import sys

import numpy as np
import pytest

from tests.harness import assert_nothing_breaks, check, fail_unless_captured, jitted, kernel_count, mode_config

X = np.array([2.5, -1.0, 7.0, 0.5, 3.0, -0.0])
I = np.array([3, 0, -2, 7, 7, 1])
M = X.reshape(2, 3)
PYTHON = {"backend": "python"}
OFFSET = 0.25


def everything(x, n, k):
    """Most of what there is, in one kernel."""
    big = [v * k for v in x if v > 1.0]
    table = [[i * j for i in range(j)] for j in range(n)]
    total = sum(v * v + OFFSET for v in x)
    found = any(v > 6.0 for v in x), all(v < 6.0 for v in x)
    best = max(x), min(abs(v) for v in x), max(x, key=lambda v: -abs(v - k))
    best += (min((v for v in x if v > 99.0), default=5),)
    pairs = tuple(a - b for a, b in zip(x, x[::-1]))
    counted = sum(i * v for i, v in enumerate(x)), sum(range(n)), sum(map(lambda v: v + k, x))
    return big, table, total, found, best, pairs, counted, list(filter(None, x)), list(x)


def squares(x):
    return [v * v for v in x]


def chosen(x, k):
    return [v * k if v > 0 else k for v in x if v < 5 if v != 3]


def products(x, y):
    return [a * b for a in x for b in y if a < b]


def nested(x, y):
    return [[a * b for b in y] for a in x]


def rows(m):
    return [row.sum() for row in m], sum(m), [row for row in m], list(m)


def shadowed(x, v):
    y = [v + 1 for v in x]
    return v, y


def of_containers(xs, ys):
    both = sum(x * y for x, y in zip(xs, ys))
    return [x + 1 for x in xs], both, tuple(y for y in ys), max(xs), sorted_pair(min(ys), 2)


def sorted_pair(a, b):
    return [v for v in (a, b) if v > 0]


def of_objects(xs):
    return [x for x in xs], [(x, 1) for x in xs], [None for _ in xs]


def running(x):
    return [sum(x[j] for j in range(i)) for i in range(len(x))]


def in_a_loop(x, n):
    s = 0.0
    for i in range(n):
        s += sum([v * i for v in x if v > 0][:1]) if i < 2 else max(v * i for v in x)
    return s


def changing_cell(x):
    k = 1.0
    first = sum(v * k for v in x)
    k = x[0]
    second = sum(v * k for v in x)
    k = 3
    return first, second, [v * k for v in x]


def written_by_the_comprehension(x):
    last = 0.0

    def note(v):
        nonlocal last
        last = v
        return v

    return [note(v) for v in x], last


def helper(x, k):
    return sum(v * k for v in x) + len(x)


def in_a_helper(x):
    return helper(x, 2.0) + helper(x, x[0])


def lambdas(x):
    return [(lambda a, b: a * b + v)(v, 2.0) for v in x], max(x, key=lambda v: v % 3)


def named(x, y, cut):
    it = iter(x)
    s = 0.0
    for v in it:
        s += v
        if s > cut:
            break
    z = zip(x, y)
    for a, b in z:
        s += a * b
    e = enumerate(x, 3)
    return s, [i * v for i, v in e]


def shared(x):
    it = iter(x)
    first = [v for v, _ in zip(it, range(2))]
    return first, [v for v in it], list(it)


def escaping(x, seen):
    it = iter(x)
    seen.append(it)
    next(it)
    s = 0.0
    for v in it:
        s += v
    return s, sum(1 for _ in seen[0])


def changing_a_known_list(x):
    out = [1.0]
    done = any(out.append(k) for k in (2.0,))
    size, last = len(out), out[-1]
    more = [other.append(k) for other in (out,) for k in (x[0],)]
    return done, size, last, more, len(out), sum(out), x * 2 + 1


def consumed_twice(x):
    g = (v for v in x)
    return sum(g), sum(g)


CASES = [
    (squares, (X,), [(I,), (X.astype("f"),), (X[:0],), (I > 0,)]),
    (chosen, (X, 2.5), [(I, 3), (X, 2), (X[::2], 1.0)]),
    (products, (X, X), [(X, I), (X[:0], X)]),
    (nested, (X, I), [(I, I), (X, X[:0])]),
    (rows, (M,), [(I.reshape(2, 3),), (M.T,)]),
    (shadowed, (X, "kept"), [(I, 1.5)]),
    (of_containers, ((1.0, 2.5), (3, -4)), [([1, 2], (3.0, 4.0)), ((1.0, 2.5), (3, 5)), ((1.0,), (2,))]),
    (of_objects, ((X, "a"),), [([None, 3],), ((),)]),
    (running, (X,), [(I,)]),
    (in_a_loop, (X, 5), [(I, 3), (X[:0], 2)]),
    (changing_cell, (X,), [(I,)]),
    (written_by_the_comprehension, (X,), []),
    (in_a_helper, (X,), [(I,)]),
    (lambdas, (X,), [(I,), (X[:0],)]),
    (named, (X, I, 3.0), [(X, I, 99.0), (I, X, 2)]),
    (shared, (X,), [(X[:1],)]),
    (escaping, (X, []), []),
    (changing_a_known_list, (X,), [(I,)]),
    (consumed_twice, (X,), [(I,)]),
    (everything, (X, 3, 2.0), [(I, 4, 2), (X[:0], 0, 1.0), (X, 2.0, 1)]),
]


@pytest.mark.parametrize("f, args, others", CASES, ids=[case[0].__name__ for case in CASES])
def test_same_answers(f, args, others):
    check(f, *args, others=others, config=PYTHON)


@fail_unless_captured()
def test_one_kernel_holds_them_all():
    f = check(everything, X, 3, 2.0, others=[(X + 1, 2, 2.0), (np.array([np.nan, 1.0]), 2, 2.0)])
    if mode_config() == {"backend": "numba"}:
        assert not f.state.entries[0].reports.breaks


CAPTURED = [squares, chosen, products, nested, rows, running, in_a_helper]
if sys.version_info < (3, 12):  # later, cells that a comprehension makes are made while the function runs, by bytecode
    CAPTURED.append(lambdas)


@pytest.mark.parametrize("f, args", [case[:2] for case in CASES if case[0] in CAPTURED],
                         ids=[case[0].__name__ for case in CASES if case[0] in CAPTURED])
def test_nothing_breaks(f, args):
    assert_nothing_breaks(f, *args)


def without_values(x, t):
    for v in t:
        pass
    y = [v + 1 for v in t]
    return x * 2.0, y, [v for v in t], [w * v for w in t for v in t]


@pytest.mark.parametrize("config", [PYTHON, dict(PYTHON, force_breaks="every")])
def test_variables_without_a_value_are_put_aside(config):
    """From 3.12 on a comprehension puts aside what its variable hides in the function, which may be nothing."""
    check(without_values, X, (1, 2, 5), others=[(X, ()), (X, (3.5,)), (I, ())], config=config, calls=4)


def failing(x, log):
    try:
        return [1.0 / int(v) for v in x]
    except ZeroDivisionError:
        log.append("caught")
        return None


def empty(x):
    return max(v for v in x if v > 99)


def misused(x):
    return sum(v for v in x) + min(5)


def overflowing(n):
    return sum(i * 4611686018427387904 for i in range(n)), [i * 4611686018427387904 for i in range(n)]


def text(x):
    return [v + "a" for v in x]


@pytest.mark.parametrize("f, args, others", [
    (failing, (X, []), [(X + 9, [])]), (empty, (X,), [(X + 100,)]), (misused, (X,), []), (overflowing, (5,), [(2,)]),
    (text, (X,), [("bc",)]), (failing, (I, []), []),
], ids=lambda value: getattr(value, "__name__", ""))
def test_what_raises_raises_in_bytecode(f, args, others):
    check(f, *args, others=others, config=PYTHON)


def test_the_list_is_new_in_every_call():
    f = jitted(squares)
    first, second = f(X), f(X)
    first.append("mine")
    assert second == [v * v for v in X] and f(X) == second


def test_a_rebound_function_is_seen():
    scale = 2.0

    def f(x):
        return [scale * v for v in x]

    g = jitted(f)
    assert [g(X) for _ in range(3)][-1] == [2.0 * v for v in X]
    scale = 3
    assert g(X) == [3 * v for v in X]


def test_a_replaced_builtin_is_seen(monkeypatch):
    def f(x):
        return sum(v for v in x)

    g = jitted(f)
    before = [g(X) for _ in range(3)][-1]
    assert before == sum(X)
    monkeypatch.setitem(f.__globals__, "sum", lambda items: "mine")
    assert g(X) == "mine"


def test_an_iterator_in_a_loop_with_a_break_of_bytecode(capsys):
    def f(x):
        it = enumerate(x)
        s = 0.0
        for i, v in it:
            s += v
            if i == 2:
                print("at", next(it))
        return s

    check(f, X, config=PYTHON)


def test_kernels_of_a_loop_that_makes_lists():
    def f(x, n):
        out = []
        for i in range(n):
            out.append([v * i for v in x])
        return out

    f = check(f, X, 40, others=[(I, 3)])
    if "force_breaks" not in mode_config():
        assert kernel_count(f)


@pytest.mark.filterwarnings("ignore:easy_dtype has reached its limit")
def test_lists_of_objects_of_unknown_classes():
    """NumPy's own code for the names of fields: what a list holds is known as an object alone."""
    from numpy.lib import _iotools

    plain, j = _iotools.easy_dtype, jitted(_iotools.easy_dtype, PYTHON)
    for _ in range(2):
        for dtype in (float, "i4, f8", [("A", int), ("B", float)], (int, float, float), np.dtype(float)):
            for named in ({}, {"names": "a, b, c"}, {"names": "a, b"}, {"names": ", b"}, {"defaultfmt": "f_%03i"}):
                assert repr(plain(dtype, **named)) == repr(j(dtype, **named))


def variable_of_a_cell(x, calls):
    k = 2.5
    scaled = lambda value: value * k  # noqa: E731
    total = 0.0
    for i in range(len(x)):
        total += scaled(x[i])
    found = {k: calls(k) for k in range(3)}, [k * 2 for k in range(2)]
    return total, found, k, scaled(2.0)


@pytest.mark.parametrize("backend", ["python", "numba"])
def test_a_comprehension_reuses_the_variable_of_a_cell(backend):
    x = np.arange(6.0)
    check(variable_of_a_cell, x, str, others=[(x[:0], str), (x, abs)], calls=3, config={"backend": backend})


def variable_of_a_loop(x, y, t):
    for e in x:
        t = t + 1.0
    made = [[e, t] for e in y]
    return made, t, e


def test_a_comprehension_reuses_the_variable_of_a_loop():
    """The variable has no value if the loop made no iteration. CPython 3.12 saves it on the operand stack."""
    check(variable_of_a_loop, M, M[::-1], 1.5, others=[(M[:1], M[:, :1], 1.5), (M, M[:0], 2.5), (M[:0], M, 1.5)])
