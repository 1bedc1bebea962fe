"""Callees that write and may leave afterwards: bytecode runs the rest of the call in a frame of the callee."""

import _thread
import gc
import sys
import time
import traceback
import weakref

import numpy as np
import pytest

import pijit
from tests.capture.containers.effects_common import CUT, launches
from tests.capture.exits.test_polls import NATIVE, PYTHON, alarm
from tests.capture.scalars.test_scalars import define
from tests.harness import check, fail_unless_captured, jitted

X = np.linspace(0.0, 1.0, 20)
N = np.arange(20)
BIG = 2 ** 62


class Mean:
    """Updated field by field."""

    def __init__(self, total=0.0, count=0):
        self.total, self.count = total, count

    def update(self, x, out, i):
        self.total += x[i]
        self.count += 1
        out[i] = self.total / self.count
        return self.count

    @property
    def next(self):
        self.count += BIG
        return self.count

    def update_twice(self, x, out, i):
        out[0] = i
        k = self.update(x, out, i) * 2
        out[i - 1] = k + self.update(x, out, i + 1)
        return k + out[i]


def means(m, x, out, n):
    s = 0
    for i in range(n):
        s += m.update(x, out, i)
    return s, m.total, m.count


def nested(m, x, out, n):
    s = 0.0
    for i in range(n):
        s = s * 0.5 + m.update_twice(x, out, i)
    return s, m.total, m.count, out


def shift(a, i, by):
    a[i] += by
    a[i + 1] -= by


def shifts(a, i, n):
    for k in range(n):
        shift(a, i + k, 0.5)
    return a


def caught(a, i, n):
    try:
        shifts(a, i, n)
        shift(a, 0, 2.0)
    except IndexError as error:
        return str(error), a
    return a


def smear(a, b, n):
    s = 0.0
    for k, v in enumerate(a):
        b[k] = v
        for i in range(n):
            s += b[k + i] * v
            b[k] = s
    return s


def smears(a, b, n):
    return [smear(a, b, 2) * 2.0 + smear(b, a, n), a, b]


def counted(values, v):
    values[0] = values[0] + v
    values[1] = values[1] + values[0]
    return values[1] - v


def counts(values, v, n):
    s = 0
    for _ in range(n):
        s ^= counted(values, v) & 255
    return s, values


def property_counts(m, n):
    s = 0
    for i in range(n):
        s += m.next * i
    return s, m.count


def limited(m, v):
    m.count += 1
    if m.count > 12:
        raise ValueError("{} of {}: {}".format(m.count, 12, v))
    m.total += v
    return m.total


def until_limit(m, x, k):
    s = 0.0
    for i in range(k):
        s += limited(m, v=x[i] * 2.0)
    return s


def any_of(a, *indices, scale=1.0):
    a[0] += 1.0
    for i in indices:
        a[i] = a[i] * scale + i
    return a[0]


def any_calls(a, k):
    return any_of(a, 1, 2) + any_of(a, 3, k, scale=0.5) * any_of(*(a, 2, 4), **{"scale": 2.0})


def summed(m, w, i):
    m.count += 1
    m.total = sum([v * w for v in [1.0, 2.0]])
    w = w + X[i]
    return sum(v * w for v in [3.0, m.total])


def with_cells(m, k):
    s = 0.0
    for i in range(k):
        s += summed(m, i * 0.5, i)
    return s, m.count, m.total


def closing(k):
    def put(a, i):
        a[i] = k
        a[i + k] = i
        return a[i] + k
    return put


PUT = closing(3)


def closures(a, i):
    return PUT(a, i) * 2.0 + PUT(a, i + 1), a


@pijit.jit
def jitted_callee(a, i):
    a[0] = a[1] = i
    return a[i]


def calls_jitted(a, i):
    return jitted_callee(a, i) + jitted_callee(a, i - 1)


PROGRAMS = [
    (means, lambda: (Mean(), X, X * 0.0, 20), [lambda: (Mean(), X, X * 0.0, 25), lambda: (Mean(), X, X[:10] * 0.0, 20),
                                               lambda: (Mean(0, BIG), N, X * 0.0, 9), lambda: (Mean(), N, N * 0, 9),
                                               lambda: (Mean(0.0, -1), X, X * 0.0, 9), lambda: (Mean(), [1.0], X * 0.0, 2)]),
    (nested, lambda: (Mean(), X, X * 0.0, 18), [lambda: (Mean(), X, X * 0.0, 30), lambda: (Mean(0.0, -5), X, X * 0.0, 9),
                                                lambda: (Mean(), X, X[:6] * 0.0, 20)]),
    (shifts, lambda: (X.copy(), 0, 19), [lambda: (X.copy(), 3, 19), lambda: (X.copy(), -2, 2), lambda: (N.copy(), 1, 19),
                                         lambda: (X[:0], 0, 1), lambda: (X.copy(), 19, 1)]),
    (caught, lambda: (X.copy(), 0, 3), [lambda: (X.copy(), 3, 19), lambda: (X[:1].copy(), 0, 0)]),
    (smears, lambda: (X.copy(), X.copy(), 1), [lambda: (X.copy(), X.copy(), 4), lambda: (X.copy(), X[:9].copy(), 1)]),
    (counts, lambda: ([1, 2], 3, 5), [lambda: ([BIG, 2], 3, 5), lambda: ([1, -BIG], -BIG, 9), lambda: ([1], 3, 2)]),
    (property_counts, lambda: (Mean(), 1), [lambda: (Mean(), 5), lambda: (Mean(0.0, 1), 3)]),
    (until_limit, lambda: (Mean(), X, 9), [lambda: (Mean(), X, 15), lambda: (Mean(0.0, 11), X, 15)]),
    (any_calls, lambda: (X.copy(), 5), [lambda: (X.copy(), 99), lambda: (X[:4].copy(), 1)]),
    (with_cells, lambda: (Mean(), 9), [lambda: (Mean(), 25), lambda: (Mean(1, BIG), 4), lambda: (Mean(0.0, BIG * 2 - 3), 9)]),
    (closures, lambda: (X.copy(), 5), [lambda: (X.copy(), 17), lambda: (X.copy(), 16), lambda: (X.copy(), -30)]),
    (calls_jitted, lambda: (X.copy(), 5), [lambda: (X.copy(), 20), lambda: (X.copy(), 50)]),
]


@pytest.mark.parametrize("f, args, others", PROGRAMS, ids=[row[0].__name__ for row in PROGRAMS])
def test_the_rest_of_a_call(f, args, others):
    with fail_unless_captured():
        check(f, *args(), others=[make() for make in others], config={"backend": "python"})
    assert not [one for one in pijit.explain(f, *args()).breaks if one.reason_id in ("PJ230", "PJ231")]


@pytest.mark.parametrize("number", [0, 1, 4], ids=["means", "nested", "smears"])
def test_the_rest_of_a_call_in_machine_code(number):
    f, args, others = PROGRAMS[number]
    with fail_unless_captured():
        check(f, *args(), others=[make() for make in others], config={"backend": "numba", "force_breaks": None})


@pytest.mark.skipif(CUT, reason="each instruction is a kernel")
def test_the_loop_around_is_one_kernel():
    assert launches(jitted(means), Mean(), X, X * 0.0, 20) == 1


def test_going_on_in_a_loop_after_the_rest_of_a_call():
    j = jitted(counts, PYTHON)
    for values in [[1, 2], [BIG, BIG], [3, -BIG]]:
        for _ in range(3):
            mine, plain = list(values), list(values)
            assert j(mine, 7, 6) == counts(plain, 7, 6) and mine == plain


def test_the_frame_of_the_rest_is_that_of_the_callee():
    def witness(error):
        found, frame = [], sys._getframe(1)
        while frame is not None and frame.f_code.co_name != "seen":
            found.append((frame.f_code.co_name, frame.f_lineno, frame.f_globals["NAME"], frame.f_locals.get("i")))
            frame = frame.f_back
        return found

    inner = define("""
NAME = "inner"
def f(a, i):
    a[0] = 1.0
    if i > 3:
        raise ValueError(witness(i))
    return a[i]
""", witness=witness)
    outer = define("""
NAME = "outer"
def f(a, k):
    s = 0.0
    for i in range(k):
        s += inner(a, i)
    return s
""", inner=inner)

    def seen(f):
        try:
            return f(X.copy(), 9)
        except ValueError as error:
            return error.args, [(one.name, one.lineno) for one in traceback.extract_tb(error.__traceback__)][1:]
    j = jitted(outer, PYTHON)
    for _ in range(3):
        assert seen(j) == seen(outer)
    assert seen(j)[0][0][0][:3] == ("f", 6, "inner")
    assert not pijit.explain(j, X.copy(), 9).breaks


def stepping(a, n):
    for i in range(n):
        a[i & 3] += 1.0
        a[(i + 1) & 3] *= 0.5
    return a[0]


def steps(a, n, out):
    y = a * 2.0 + 1.0
    out.append(1)
    return stepping(y, n) + y[1]


def test_polls_in_loops_that_write_change_nothing(polls):
    check(steps, X.copy(), 9, [], config=PYTHON)


def test_interrupt_arrives_in_a_callee_that_writes():
    j, began = jitted(steps, NATIVE), []
    for _ in range(3):
        j(X.copy(), 10, [])

    def interrupt():
        began.append(time.perf_counter())
        _thread.interrupt_main()
    with alarm(0.2, interrupt):
        with pytest.raises(KeyboardInterrupt) as raised:
            j(X.copy(), 10 ** 12, [])
    assert time.perf_counter() - began[0] < 30.0
    assert "stepping" in [frame.name for frame in traceback.extract_tb(raised.value.__traceback__)] or not began


def test_nothing_keeps_the_callee_or_its_arguments():
    class Held:
        pass
    j = jitted(define("def f(m, a, i):\n    return g(m, a, i) + a[0]", g=define("""
def f(m, a, i):
    m.count = i
    return a[i]
""")), PYTHON)
    for i in (1, 2, 3, 99, 99):
        held, a = Held(), X.copy()
        held.count = 0
        try:
            j(held, a, i)
        except IndexError:
            assert i == 99
        gone = weakref.ref(held), weakref.ref(a)
        assert gone[0]().count == i
        del held, a
        assert [one() for one in gone] == [None, None]
    callee = weakref.ref(j.__wrapped__.__globals__["g"].__code__)
    del j
    gc.collect()
    assert callee() is None


def test_what_cannot_go_on_in_the_middle_stays_a_call():
    def f(a, i):
        return a * sum([jitted_callee(a, k) for k in (0, i)]) + 1.0
    with fail_unless_captured():
        check(f, X.copy(), 3, others=[(X.copy(), 99)], config=PYTHON)
    # From CPython 3.12 on the comprehension is a loop of the function itself, and all of it is captured.
    wanted = ["PJ231"] if sys.version_info < (3, 12) else []
    assert [one.reason_id for one in pijit.explain(f, X.copy(), 3).breaks][:1] == wanted
