"""Kernels in long loops let the interpreter in: signals arrive, other threads go on, and the loop comes back to its kernel."""

import _thread
import contextlib
import signal
import sys
import threading
import time
import traceback

import numpy as np
import pytest

import pijit
from pijit.core.graph.passes.strip_mining import STRIP
from pijit.guards.program import set_mirror
from tests.harness import check, jitted

NATIVE = {"backend": "numba", "force_breaks": None}
PYTHON = {"backend": "python", "force_breaks": None}
PATIENCE = 20.0
"""Seconds until a test gives up; none waits so long unless a poll is missing."""


@contextlib.contextmanager
def alarm(after, action):
    """Run ``action`` in a signal handler, some seconds from now; and every few seconds: what it raises may be lost, for
    where a callback of the garbage collector is at work, Python only reports it.

    Mirror mode is off meanwhile: the handler would run in the guards' Python twin, which the C guards do not have."""
    mirrored = set_mirror(False)
    before = signal.signal(signal.SIGALRM, lambda number, frame: action())
    signal.setitimer(signal.ITIMER_REAL, after, 10.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        set_mirror(mirrored)


@contextlib.contextmanager
def busy_thread():
    """Another thread that wants the GIL all the time; yields what counts its turns."""
    counts, stop = [0], threading.Event()

    def work():
        while not stop.is_set():
            counts[0] += 1
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield counts
    finally:
        stop.set()
        thread.join()
        sys.setswitchinterval(interval)


def launches(j):
    return sum(launcher.calls for entry in j.state.entries for launcher in entry.launchers + list(entry.reentries))


def long_scalar(n, x, out):
    s = 0.0
    try:
        for i in range(n):
            s += x[i & 1] * 0.5
    except KeyboardInterrupt:
        out.append((i, s))
        raise
    return s


def long_while(n, x):
    k = 0
    total = 0.0
    while k < n:
        total += x[k & 3]
        k += 1
    return total, k


def long_arrays(n, x):
    y = x * 0.0
    for i in range(n):
        y = y + x * 0.5
    return y, i


def long_nest(n, x):
    total = 0
    for i in range(n):
        for j in range(n):
            total += (i ^ j) & 3
        x[i & 3] = total
    return total


def test_interrupt_arrives_in_time_with_line_and_state():
    j, out = jitted(long_scalar, NATIVE), []
    for _ in range(3):
        j(10, np.ones(2), out)
    before, began = launches(j), []

    def interrupt():
        began.append(time.perf_counter())
        _thread.interrupt_main()
    with alarm(0.2, interrupt):
        with pytest.raises(KeyboardInterrupt) as raised:
            j(10 ** 12, np.ones(2), out)
    assert time.perf_counter() - began[0] < 30.0
    lines = {frame.lineno - long_scalar.__code__.co_firstlineno for frame in traceback.extract_tb(raised.value.__traceback__)
             if frame.name == "long_scalar"}
    assert lines <= {3, 4} and lines
    i, s = out[-1]
    assert i > STRIP and s in (i * 0.5, (i + 1) * 0.5) and launches(j) > before


def test_handler_that_returns_leaves_the_loop_going():
    """A thread that an earlier test left may stop the loop as well, so there can be more launches."""
    seen = []
    j = jitted(long_while, NATIVE)
    x = np.arange(4.0)
    for _ in range(3):
        j(10, x)
    before = launches(j)
    n = 3 * 10 ** 8
    with alarm(0.05, lambda: seen.append(1)):
        total, k = j(n, x)
    assert seen == [1] and k == n and total == n / 4 * 6.0
    assert launches(j) >= before + 2


class Box:
    """Something that another thread changes."""

    stop = False


def wait_for(box, x):
    k = 0
    while not box.stop:
        x[k & 3] = k
        k += 1
    return k


@pytest.mark.parametrize("config", [NATIVE, PYTHON], ids=["numba", "python"])
def test_loop_sees_what_another_thread_writes(config):
    box, x = Box(), np.zeros(4)
    j = jitted(wait_for, config)
    box.stop = True
    for _ in range(3):
        assert j(box, x) == 0
    box.stop = False
    for _ in range(3):
        timer = threading.Timer(0.2, setattr, (box, "stop", True))
        timer.start()
        counts = j(box, x)
        timer.join()
        box.stop = False
    assert counts > 0


@pytest.mark.parametrize("f, args, calls", [
    (long_while, (6 * 10 ** 7, np.array([0.25, 0.5, 1.0, 2.0])), 2),
    (long_arrays, (3 * 10 ** 6, np.arange(8.0)), 2), (long_nest, (8000, np.zeros(4)), 2)],
    ids=["while", "arrays", "nest"])
def test_other_threads_go_on_and_results_are_the_same(f, args, calls):
    j = jitted(f, NATIVE)
    warm = (5,) + args[1:]
    for _ in range(3):
        j(*warm)
    wanted = j(*args)
    before = launches(j)
    with busy_thread() as counts:
        got = j(*args)
        assert counts[0] > 10
    assert launches(j) - before > calls
    assert repr(got) == repr(wanted)
    quiet = launches(j)
    j(*args)
    assert launches(j) - quiet <= calls


def two_loops(n, x):
    total, i = 0.0, None
    for i in range(n):
        if i == 3:
            continue
        for k in range(i):
            if k == 5:
                break
            total += x[k]
    else:
        total = -total
    while n > 0:
        n -= 1
        y = x + n
        total += y[n]
    return total, i, n, y


def in_blocks(n, x):
    out = []
    try:
        with np.errstate(all="ignore"):
            for i in range(n):
                x[i] = x[i] * 2.0 + i
                for k in range(3):
                    x[k] += i
                if i == 4:
                    out.append(i)
    finally:
        out.append(x.sum())
    return out, i, k


def until_it_raises(n, x):
    k = 0
    try:
        for k in range(n):
            x[k] = 1.0 / (n - k - 2)
    except ZeroDivisionError as error:
        return str(error), k, x
    return k


def in_closure(n, x):
    scale = n * 0.5

    def inner():
        return scale
    total = 0.0
    for i in range(n):
        total += x[i] * scale
    return total, inner(), i


def with_effects(n, x):
    out, box = [], Box()
    box.total = 0.0
    for row in x.reshape(2, -1):
        for k, (a, b) in enumerate(zip(row, reversed(row))):
            box.total += a * b + k
            out.append(a)
            if k == n:
                box.stop = True
    return out, box.total, box.stop, k, row


@pytest.mark.parametrize("f", [two_loops, in_blocks, until_it_raises, in_closure, long_while, long_arrays, long_nest,
                               with_effects])
def test_polls_everywhere_change_nothing(f, polls):
    check(f, 9, np.arange(10.0), config=PYTHON)


def strips(n, x):
    s, last = 0, 0
    for i in range(n):
        s = (s * 31 + i) & 65535
        if s == 7:
            last = i
            continue
        x[i & 3] = s
    return s, last, i


@pytest.mark.parametrize("n", [1, STRIP - 1, STRIP, STRIP + 1, 3 * STRIP, 70000])
@pytest.mark.parametrize("config", [NATIVE, PYTHON], ids=["numba", "python"])
def test_strips_end_where_the_loop_does(n, config):
    check(strips, n, np.zeros(4), config=config)


def test_asynchronous_exception():
    class Stop(Exception):
        pass
    j, x, started, result = jitted(wait_for, NATIVE), np.zeros(4), threading.Event(), []
    box = Box()
    box.stop = True
    for _ in range(3):
        j(box, x)
    box.stop = False

    def run():
        started.set()
        try:
            j(box, x)
        except Stop:
            result.append("stopped")
    thread = threading.Thread(target=run)
    thread.start()
    started.wait()
    time.sleep(0.1)
    import ctypes
    assert ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(Stop)) == 1
    thread.join(PATIENCE)
    box.stop = True
    assert result == ["stopped"]


def cold_in_nest(n, x, note):
    total = 0.0
    for i in range(n):
        for k in range(i):
            if x[k] > 5.0:
                note(k)
            total += x[k]
    return total


def test_iterator_of_an_inner_loop_is_made_anew():
    seen = []
    check(cold_in_nest, 9, np.arange(10.0), seen.append, config=PYTHON)
    assert seen.count(6) == 2 * seen.count(7) > 0


def test_ways_back_are_reported(capsys):
    report = pijit.explain(jitted(long_nest, PYTHON), 9, np.zeros(4))
    first = long_nest.__code__.co_firstlineno
    assert [reentry.line - first for reentry in report.reentry_reports] == [2, 3]
    assert "re-entries:\n  line %d: back into lines" % (first + 2) in str(report)
    j = jitted(long_nest, dict(PYTHON, print_graph=True, print_source=True, print_guards=True))
    j(9, np.zeros(4))
    shown = capsys.readouterr().out
    assert shown.count("re-entry at line %d" % (first + 3)) == 1
    assert len(j.state.entries[0].reentries) == 2 and shown.count("long_nest_back_1") >= 3


def long_callee(n, x):
    total = 0.0
    for i in range(n):
        total += x[i & 1] * 0.5
    return total


def calls_it(n, x, out):
    y = x * 2.0 + 1.0
    out.append("before")
    total = long_callee(n, y) + y[0]
    out.append("after")
    return total


def writing_callee(n, x):
    for i in range(n):
        x[i & 3] += i
        for k in range(2):
            x[k] *= 0.5
    return x.sum()


def calls_what_writes(n, x, out):
    out.append(writing_callee(n, x))
    return x * long_callee(n, x) + long_callee(3, x)


@pytest.mark.parametrize("f", [calls_it, calls_what_writes])
def test_polls_in_callees_change_nothing(f, polls):
    check(f, 9, np.arange(10.0), [], config=PYTHON)


def test_interrupt_arrives_in_a_callee():
    j, out = jitted(calls_it, NATIVE), []
    for _ in range(3):
        j(10, np.ones(2), out)
    del out[:]
    began = []

    def interrupt():
        began.append(time.perf_counter())
        _thread.interrupt_main()
    with alarm(0.2, interrupt):
        with pytest.raises(KeyboardInterrupt) as raised:
            j(10 ** 12, np.ones(2), out)
    assert "after" not in out and time.perf_counter() - began[0] < 30.0
    lines = {frame.lineno - calls_it.__code__.co_firstlineno for frame in traceback.extract_tb(raised.value.__traceback__)
             if frame.name == "calls_it"}
    assert lines == {3} or not out
