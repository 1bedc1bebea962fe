"""Clocks are read by kernels, in program order."""

import time

import numpy as np
import pytest

from tests.capture.containers.effects_common import CUT, launches
from tests.harness import assert_nothing_breaks, fail_unless_captured, jitted

X = np.linspace(0.5, 4.0, 11)


class Timer:
    def __enter__(self):
        self.began = time.perf_counter()
        return self

    def __exit__(self, *what):
        self.elapsed = time.perf_counter() - self.began


def rounds(x):
    marks, s = [], 0.0
    for v in x:
        began = time.perf_counter()
        s += v * 2.0 + 1.0
        marks.append(began)
        marks.append(time.perf_counter())
    return s, marks


def around(x):
    began, ns, wall = time.monotonic(), time.perf_counter_ns(), time.time()
    y = x * 2.0 + 1.0
    ended, cpu = time.monotonic(), time.process_time()
    return y.sum(), [began, ended], [ns, time.perf_counter_ns()], [wall, time.time()], [cpu, time.process_time()]


def timed(x):
    with Timer() as timer:
        y = x * 2.0 + 1.0
        y = y * y
    return y, timer.elapsed


def marks_of(result):
    return [mark for part in result if isinstance(part, list) for mark in part]


@pytest.mark.parametrize("f", [rounds, around])
def test_each_reading_is_of_its_time(f):
    with fail_unless_captured():
        j = jitted(f)
        for _ in range(4):
            before, wanted = time.perf_counter(), f(X)
            between, got = time.perf_counter(), j(X)
            assert [type(mark) for mark in marks_of(got)] == [type(mark) for mark in marks_of(wanted)]
            for part in got[1:]:
                assert part == sorted(part)
            if f is rounds:
                assert before <= wanted[1][0] and between <= got[1][0] and got[1][-1] <= time.perf_counter()
            assert got[0] == wanted[0]


def slow(x, n):
    began = time.perf_counter()
    y = x * 2.0 + 1.0
    for _ in range(n):
        y = y * 1.5 - x
    return y, time.perf_counter() - began


def test_what_is_timed_is_computed_between():
    x = np.ones(300000)
    with fail_unless_captured():
        j = jitted(slow)
        for _ in range(3):
            before = time.perf_counter()
            elapsed = j(x, 30)[1]
            whole = time.perf_counter() - before
    assert 0.5 * whole < elapsed <= whole


def test_nothing_breaks():
    for f in (rounds, around):
        assert_nothing_breaks(f, X, one_segment=False)


@pytest.mark.skipif(CUT, reason="cut everywhere")
def test_a_loop_with_clocks_is_one_kernel():
    assert launches(jitted(rounds), X) == 1


def test_a_clock_that_is_replaced(monkeypatch):
    j = jitted(timed)
    for _ in range(3):
        assert j(X)[1] >= 0.0
    monkeypatch.setattr(time, "perf_counter", lambda: 5.0)
    assert j(X)[1] == 0.0
