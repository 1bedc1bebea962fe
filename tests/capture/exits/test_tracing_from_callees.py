"""A callee switches on tracing for its caller's frame, as debuggers do: the events are those of plain Python."""

import contextlib
import sys

import numpy as np
import pytest

from tests.harness import jitted

EVENTS = []
NAMES = ("case", "inner")


def tracer(frame, event, argument):
    if frame.f_code.co_name in NAMES:
        EVENTS.append((frame.f_code.co_name, event, frame.f_lineno - frame.f_code.co_firstlineno))
    return tracer


def look(i):
    if i == 3:
        sys.settrace(tracer)
        sys._getframe(1).f_trace = tracer


def look_further(i):
    if i == 3:
        sys.settrace(tracer)
        sys._getframe(1).f_trace = sys._getframe(2).f_trace = tracer


def in_a_loop():
    def case(x, n):
        s = 0.0
        for i in range(n):
            s += x[i] * 2.0
            look(i)
            s = s * 0.5 + 1.0
        return s
    return case


def between_kernels():
    def case(x, n):
        y = x[:n] * 2.0
        print(end="")
        look(3)
        y = y + 1.0
        return y.sum()
    return case


def at_the_end_of_a_round():
    def case(x, n):
        s = 0.0
        for i in range(n):
            s += x[i]
            look(i)
        return s
    return case


def on_one_line():
    def case(x, n):
        s, i = 0.0, 0
        while i < n: s += x[i]; look(i); i += 1  # noqa: E701, E702
        return s
    return case


def within_an_expression():
    def case(x, n):
        s = 0.0
        for i in range(n):
            s += (x[i]
                  + (look(i) is None)
                  + x[0])
        return s
    return case


def in_front_of_a_branch():
    def case(x, n):
        s = 0.0
        for i in range(n):
            if look(i) is None and x[i] > 1.0:
                s += x[i]
            else:
                s -= 1.0
        return s
    return case


def in_an_inlined_callee():
    def inner(x, i):
        y = x[i] * 2.0
        look_further(i)
        y = y + 1.0
        return y

    def case(x, n):
        s = 0.0
        for i in range(n):
            s += inner(x, i)
            s = s * 0.5
        return s
    return case


def in_a_with_statement():
    def case(x, n):
        s = 0.0
        for i in range(n):
            with contextlib.suppress(KeyError):
                s += x[i]
                look(i)
            s = s * 0.5
        return s
    return case


def twice_with_the_rest_in_a_try_block():
    def case(x, n):
        s = 0.0
        for i in range(n):
            try:
                look(i)
                s += x[i]
                look(i)
            except ValueError:
                s = 0.0
        return s
    return case


CASES = (in_a_loop, between_kernels, at_the_end_of_a_round, on_one_line, within_an_expression, in_front_of_a_branch,
         in_an_inlined_callee, in_a_with_statement, twice_with_the_rest_in_a_try_block)


def events(function):
    del EVENTS[:]
    try:
        function(np.arange(6.0), 6)
    finally:
        sys.settrace(None)
    return list(EVENTS)


@pytest.mark.parametrize("make", CASES)
def test_events_are_those_of_python(make):
    before = sys.gettrace()
    try:
        wanted = events(make())
        f = jitted(make(), {"perf_statistics": False, "force_breaks": None})
        assert wanted and [events(f) for _ in range(4)] == [wanted] * 4
    finally:
        sys.settrace(before)
