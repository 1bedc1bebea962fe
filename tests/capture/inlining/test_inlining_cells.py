"""Closure variables that are written: by callees inside the caller's kernel, and by the caller of what callees read."""

import numpy as np
import pytest

import pijit
from tests.capture.containers.effects_common import CUT, launches
from tests.capture.exits.test_polls import NATIVE, PYTHON
from tests.capture.scalars.test_scalars import define
from tests.harness import check, fail_unless_captured, jitted

X = np.linspace(0.0, 1.0, 20)
BIG = 2 ** 62


def totals(x):
    total = 0.0

    def add(v):
        nonlocal total
        total += v
    for i in range(len(x)):
        add(x[i])
        if total > 3.0:
            total = total * 0.5
    return total


def reassigned(x, w):
    def weighted(v):
        return v * w
    s = 0.0
    for i in range(len(x)):
        s += weighted(x[i])
        w = w * 0.5
    return s, w


def two_deep(x, n):
    best = count = 0

    def note(i):
        nonlocal best, count
        if x[i] > x[best]:
            best = i
        count += 1

    def pair(i):
        note(i)
        note(n - i)
        return best
    s = 0
    for i in range(n):
        s += pair(i)
    return s, best, count


def may_leave(x, a, n):
    last = 0

    def put(i, v):
        nonlocal last
        last = i
        a[i] = v
    for i in range(n):
        put(i * 2, x[i])
    return last, a


def leaves_caught(x, a, n):
    last = -1

    def put(i, v):
        nonlocal last
        last = i
        a[i] = v
    try:
        for i in range(n):
            put(i * 2, x[i])
    except IndexError as error:
        return str(error), last, a
    return last, a


PROGRAMS = [
    (totals, lambda: (X,), [lambda: (X * 10.0,), lambda: (X[:0],), lambda: (np.arange(5),)]),
    (reassigned, lambda: (X, 2.0), [lambda: (X, 3), lambda: (X, X), lambda: (X.astype("f"), np.float32(2.0))]),
    (two_deep, lambda: (X, 19), [lambda: (X, 25), lambda: (X[::-1], 7)]),
    (may_leave, lambda: (X, X * 0.0, 10), [lambda: (X, X * 0.0, 12), lambda: (X, X[:3] * 0.0, 1)]),
    (leaves_caught, lambda: (X, X * 0.0, 10), [lambda: (X, X * 0.0, 12), lambda: (X, X[:3] * 0.0, 4)]),
]


@pytest.mark.parametrize("f, args, others", PROGRAMS, ids=[row[0].__name__ for row in PROGRAMS])
def test_closure_variables_of_the_caller(f, args, others):
    with fail_unless_captured():
        check(f, *args(), others=[make() for make in others], config={"backend": "python"})
    assert not [one for one in pijit.explain(f, *args()).breaks if one.reason_id in ("PJ220", "PJ230", "PJ231", "PJ219")]


@pytest.mark.parametrize("f", [totals, leaves_caught])
def test_closure_variables_in_machine_code(f):
    args, others = next(row[1:] for row in PROGRAMS if row[0] is f)
    check(f, *args(), others=[make() for make in others], config=NATIVE)


@pytest.mark.skipif(CUT, reason="each instruction is a kernel")
def test_the_loop_is_one_kernel():
    assert launches(jitted(totals), X) <= 2 and launches(jitted(reassigned), X, 2.0) <= 2


def counter(n=0):
    def add(k):
        nonlocal n
        n += k
        return n

    def get():
        return n * 2
    return add, get


def uses(add, get, x):
    s = 0.0
    for i in range(len(x)):
        s += add(i) * x[i] + get()
    return s, get()


def outcome(f, *args):
    try:
        return repr(f(*args))
    except Exception as error:
        return repr(error)


COUNTERS = [
    counter, lambda: counter(5), lambda: counter(0.5), lambda: (counter()[0], counter(2)[1]), lambda: counter(BIG),
    lambda: (counter(1)[0], counter(1)[1]), lambda: counter("a"), lambda: (len, counter()[1]), counter]


def test_closure_variables_from_elsewhere():
    """Of one closure or of two: which it is may be another one in each call."""
    j = jitted(uses, PYTHON)
    for _ in range(2):
        for make in COUNTERS:
            mine, plain = make(), make()
            for _ in range(3):
                assert outcome(j, *mine, X) == outcome(uses, *plain, X)
                assert outcome(mine[1]) == outcome(plain[1])
    report = pijit.explain(j, *counter(), X)
    cells = ["L['%s'].__closure__[0]" % name for name in ("add", "get")]
    assert report.segments and {" is ".join(cells), " is ".join(cells[::-1])} & set(report.guards)
    assert not [one for one in report.breaks if one.reason_id != "PJ401"], report


def shared(k):
    n = k

    def add(v):
        nonlocal n
        n += v
        return n

    def f(add, x):
        nonlocal n
        s = 0.0
        for i in range(len(x)):
            s += add(x[i]) + n
            n = n * 0.5
        return s, n
    return f, add


def test_a_closure_variable_that_is_the_callers_own_in_some_calls_only():
    (f, own), (_, other) = shared(1.0), shared(2.0)
    (plain, plain_own), (_, plain_other) = shared(1.0), shared(2.0)
    j = jitted(f, PYTHON)
    for mine, theirs in [(own, plain_own), (other, plain_other)] * 2:
        for _ in range(3):
            assert j(mine, X) == plain(theirs, X)
    j = jitted(f, PYTHON)
    for mine, theirs in [(other, plain_other), (own, plain_own)] * 2:
        for _ in range(3):
            assert j(mine, X) == plain(theirs, X)


def test_a_callee_that_writes_into_the_namespace_of_globals():
    f = define("""
K = 2.0
def change(space, k):
    space["K"] = k
    seen.append(k)
def f(x, k):
    y = x * K + 1.0
    change(space, k)
    return y * K + x
""", seen=[])
    f.__globals__["space"] = f.__globals__
    j = jitted(f)
    for k in (3.0, 4, 5.0, 3.0):
        f.__globals__["K"] = 2.0
        np.testing.assert_array_equal(j(X, k), (X * 2.0 + 1.0) * k + X)
