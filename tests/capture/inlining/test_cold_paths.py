"""Callees with rare paths that stay bytecode: kernels leave in the middle of the call, and come back behind it."""

import logging
import sys
import traceback
import warnings
from bisect import insort

import numpy as np
import pytest

import pijit
from tests.capture.containers.effects_common import CUT, launches
from tests.capture.scalars.test_scalars import define
from tests.harness import check, fail_unless_captured, jitted, same

PYTHON = {"backend": "python"}
X = np.linspace(0.0, 1.0, 40)


class Model:
    """What the asides of some callees change."""

    def __init__(self):
        self.count, self.total, self.scale, self.verbose = 0, 0.0, 2.0, False

    def step(self, v, notes):
        self.count += 1
        if v > 0.9:
            insort(notes, v)
            setattr(self, "scale", v)
        self.total += v * self.scale
        return self.total


def watched(v, i, notes):
    if v > 0.9:
        insort(notes, v)
    return v * 2.0 + i


def watches(x, notes):
    s = 0.0
    for i in range(len(x)):
        s += watched(x[i], i, notes)
        s *= 0.5
    return s


def model_steps(m, x, notes):
    s = 0.0
    for i in range(len(x)):
        s = s * 0.5 + m.step(x[i], notes) * m.scale
    return s, m.total, m.count, m.scale


def reports(v, *values, **named):
    if v > 0.8 and v < 0.95:
        text = "v"
        insort(values[0], (text, v, sorted(named.items())))
    return v - 1.0


def nested(v, i, notes):
    scale = 2.0
    v = v * scale + reports(v, notes, i, width=i, depth=scale)
    return v, i


def nests(x, notes):
    s, n = 0.0, 0
    for i in range(len(x)):
        v, k = nested(x[i], i, notes)
        s, n = s + v, n + k
    return s, n


def limited(v, notes):
    if v > 0.7:
        insort(notes, v if v < 0.9 else "no number")
    return v + 1.0


def caught(x, notes):
    s = 0.0
    for i in range(len(x)):
        try:
            s += limited(x[i], notes)
        except TypeError as error:
            s -= len(str(error))
    return s


def uncaught(x, notes):
    s = 0.0
    for i in range(len(x)):
        s += limited(x[i], notes)
    return s


def protected(v, notes, out):
    try:
        if v > 0.7:
            insort(notes, v if v < 0.9 else "no number")
        v += 1.0
    except TypeError:
        v = -1.0
    finally:
        out[0] += v
    return v


def protects(x, notes, out):
    s = 0.0
    for v in x:
        s += protected(v, notes, out)
    return s


def quiet(x, notes):
    with np.errstate(divide="ignore"):
        if x[0] > 0.9:
            insort(notes, x[0])
        y = 1.0 / (x - x)
    return y


def quiets(x, notes):
    s = 0.0
    for i in range(len(x) - 2):
        y = quiet(x[i:i + 2] + 0.01, notes)
        s += (y > i).sum()
    return s


def swaps(v, a, notes):
    if v > 0.9:
        insort(notes, v)
        a[:] = a[::-1]
    return a[0] * v


def arrays(x, a, notes):
    s = 0.0
    for i in range(len(x)):
        s += swaps(x[i], a, notes)
        a[1] += s
    return s, a


def said(v):
    if v > 0.9:
        warnings.warn("large: %g" % v, stacklevel=2)
    if v > 0.95:
        warnings.warn("very large")
    return v * v


def says(x):
    s = 0.0
    for v in x:
        s += said(v)
    return s


def once(x, notes):
    y = np.sqrt(x) * 2.0 + watched(x[-1], 1, notes)
    return y * x + 1.0, notes


def keeps_nothing(v, out):
    if v > 0.9:
        text = np.format_float_positional(v)
        out[0] = len(text)
    return v + 1.0


def keeps(x, out):
    s = 0.0
    for v in x:
        s += keeps_nothing(v, out)
    return s, out


PROGRAMS = [
    (watches, lambda: (X, []), [lambda: (X * 2.0, []), lambda: (X[:9], []), lambda: (np.arange(5), []),
                                lambda: (X * 3.0, ["text"])]),
    (model_steps, lambda: (Model(), X, []), [lambda: (Model(), X * 2.0, []), lambda: (Model(), X, [2.0, 1.5])]),
    (nests, lambda: (X, []), [lambda: (X[::-1], []), lambda: (X * 0.5, [])]),
    (caught, lambda: (X, []), [lambda: (X[::-1].copy(), []), lambda: (X * 0.8, [])]),
    (uncaught, lambda: (X * 0.8, []), [lambda: (X, []), lambda: (X, ["text"])]),
    (protects, lambda: (X, [], [0.0]), [lambda: (X * 3.0, [], [1.0]), lambda: (X, [], [True])]),
    (quiets, lambda: (X, []), [lambda: (X * 2.0, [])]),
    (arrays, lambda: (X, X[:3].copy(), []), [lambda: (X * 2.0, X[:5].copy(), [])]),
    (says, lambda: (X,), [lambda: (X * 3.0,)]),
    (once, lambda: (X * 0.5, []), [lambda: (X, []), lambda: (X, [2.0])]),
    (keeps, lambda: (X, [0]), [lambda: (X * 7.0, [0])]),
]


@pytest.mark.parametrize("f, args, others", PROGRAMS, ids=[row[0].__name__ for row in PROGRAMS])
def test_the_same_answers(f, args, others):
    with fail_unless_captured():
        check(f, *args(), others=[make() for make in others], config=PYTHON)
    assert {one.reason_id for one in pijit.explain(f, *args()).breaks} & {"PJ232"}


@pytest.mark.parametrize("number", [0, 1, 2], ids=["watches", "model_steps", "nests"])
def test_the_same_answers_in_machine_code(number):
    f, args, others = PROGRAMS[number]
    with fail_unless_captured():
        check(f, *args(), others=[make() for make in others], config={"backend": "numba", "force_breaks": None})


@pytest.mark.skipif(CUT, reason="each instruction is a kernel")
def test_control_comes_back_behind_the_call():
    assert launches(jitted(watches, PYTHON), X * 0.5, []) <= 2  # the first round adds to a float
    assert launches(jitted(watches, PYTHON), X[:38], []) <= 2 + 2


@pytest.mark.skipif(CUT, reason="each instruction is a kernel")
def test_a_log_that_is_off_is_part_of_the_loop():
    log = logging.getLogger("tests.capture.asides")
    log.propagate, found = False, []
    handler = logging.Handler()
    handler.emit = lambda record: found.append((record.getMessage(), record.funcName, record.lineno))
    log.addHandler(handler)

    def f(x):
        s = x[0]
        for i in range(len(x)):
            s += x[i]
            log.debug("at %d: %g", i, s)
        return s
    try:
        j = jitted(f, dict(PYTHON, perf_statistics=False))
        for level, count in [(logging.INFO, 0), (logging.DEBUG, 40), (logging.INFO, 0), (logging.DEBUG, 40)]:
            log.setLevel(level)
            for g in (j, j):
                del found[:]
                same(f(X), g(X))
                assert len(found) == 2 * count and found[:count] == found[count:]
        log.setLevel(logging.INFO)
        assert launches(j, X) <= 2
    finally:
        log.removeHandler(handler)


def test_frames_are_those_of_the_program():
    def witness(v):
        found, frame = [], sys._getframe(1)
        while frame is not None and frame.f_code.co_name != "seen":
            found.append((frame.f_code.co_name, frame.f_lineno, frame.f_globals["NAME"], sorted(frame.f_locals)))
            frame = frame.f_back
        if v > 0.95:
            raise ValueError(found)
        notes.append(found)
    notes = []
    inner = define("""
NAME = "inner"
def f(v, i):
    w = v * 2.0
    if v > 0.9:
        witness(v)
    return w + i
""", witness=witness)
    outer = define("""
NAME = "outer"
def f(x):
    s = 0.0
    for i in range(len(x)):
        s += inner(x[i],
                   i)
    return s
""", inner=inner)

    def seen(f):
        del notes[:]
        try:
            return f(X), list(notes)
        except ValueError as error:
            places = [(one.name, one.lineno) for one in traceback.extract_tb(error.__traceback__)][1:]
            return error.args, places, list(notes), error.__context__
    j = jitted(outer, PYTHON)
    for _ in range(3):
        assert seen(j) == seen(outer)
    assert len(seen(j)[2]) == 2


def why_not(f, *args):
    breaks = pijit.explain(f, *args).breaks
    return {one.reason_id for one in breaks}, " ".join(one.message for one in breaks)


def test_not_where_bytecode_would_run_loops_in_the_rest():
    def totals(x, notes):
        if x[0] > 0.5:
            insort(notes, x[0])
        s = 0.0
        for v in x:
            s += v
        return s

    def inner(x, notes):
        if x[0] > 0.5:
            insort(notes, x[0])
        return x[0]

    def outer(x, notes):
        s = inner(x, notes)
        for v in x:
            s += v
        return s

    def calls(f):
        def g(x, notes):
            s = 0.0
            for i in range(3):
                s += f(x[i:], notes)
            return s
        return g
    for callee in (totals, outer):
        assert "PJ230" in why_not(calls(callee), X, [])[0]
        check(calls(callee), X, [], others=[(X[::-1], [])], config=PYTHON)
    check(calls(inner), X, [], others=[(X[::-1], [])], config=PYTHON)
    assert "PJ230" not in why_not(calls(inner), X, [])[0]


def test_not_where_control_is_known_to_come_there():
    class Verbose:
        on = True

    def step(v, options, notes):
        if options.on:
            insort(notes, v)
        return v * 2.0

    def f(x, options, notes):
        s = 0.0
        for v in x:
            s += step(v, options, notes)
        return s
    options = Verbose()
    options.on = True
    assert why_not(f, X, options, [])[0] == {"PJ230"}
    options.on = False
    assert why_not(f, X, options, [])[0] == {"PJ232"}
    j = jitted(f, PYTHON)
    for on in (False, False, True, True, False):
        options.on = on
        mine, plain = [], []
        same(f(X, options, plain), j(X, options, mine))
        same(plain, mine)


def test_not_where_the_callee_computes_there():
    def step(v, notes):
        if v > 0.5:
            w = np.format_float_positional(v)
        else:
            w = v * 2.0
        return w

    def f(x, notes):
        s = 0.0
        for v in x:
            s += step(v, notes)
        return s
    assert why_not(f, X, [])[0] == {"PJ230"}
    check(f, X, [], config=PYTHON)
