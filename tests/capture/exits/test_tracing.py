"""Under sys.settrace and sys.setprofile the original code runs, and its events are the original's."""

import operator
import sys

import numpy as np
import pytest

from pijit.differential import plain_twin
from tests.harness import jitted, kernel_count

stay = operator.methodcaller("__abs__")
"""A call that stays bytecode, and gives back a number that is not negative."""
X = np.linspace(-1.0, 2.0, 7)


def traced_function(x, n):
    total = x * 0.0
    for i in range(n):
        total = total + x * 2.0
    seen = abs(stay(n))
    return total * seen


def line_events(function, *args):
    events = []
    code = traced_function.__code__

    def trace(frame, event, arg):
        if frame.f_code.co_name == code.co_name and frame.f_code.co_filename == code.co_filename:
            events.append((event, frame.f_lineno, frame.f_code.co_code == code.co_code, sorted(frame.f_locals)))
            return trace
        return None
    sys.settrace(trace)
    try:
        result = function(*args)
    finally:
        sys.settrace(None)
    return events, result


def profile_events(function, *args):
    events = []

    def profile(frame, event, arg):
        if frame.f_code.co_name == "traced_function":
            name = getattr(arg, "__name__", "") if event.startswith("c_") else ""
            events.append((event, name, frame.f_code.co_code == traced_function.__code__.co_code))
    sys.setprofile(profile)
    try:
        result = function(*args)
    finally:
        sys.setprofile(None)
    return events, result


@pytest.mark.parametrize("collect", [line_events, profile_events])
@pytest.mark.parametrize("warm", [0, 3])
def test_events_are_the_originals(collect, warm):
    j = jitted(plain_twin(traced_function))
    for _ in range(warm):
        j(X, 3)
    before = j.cache_info()
    events, result = collect(j, X, 3)
    expected, plain = collect(traced_function, X, 3)
    assert events == expected and len(events) > 2
    assert result.tobytes() == plain.tobytes()
    assert j.cache_info() == before and bool(j.state.entries) == bool(warm)


def test_kernels_are_back_when_tracing_is_off():
    j = jitted(plain_twin(traced_function))
    line_events(j, X, 3)
    assert kernel_count(j) == 0
    for _ in range(3):
        assert j(X, 3).tobytes() == traced_function(X, 3).tobytes()
    assert kernel_count(j) >= 1 and j.cache_info().hits >= 1


def test_trace_function_set_inside_the_call():
    events = []

    def trace(frame, event, arg):
        events.append(event)
        return trace

    def f(x):
        y = x * 2.0 + 1.0
        sys.settrace(trace)
        z = y * 3.0
        sys.settrace(None)
        return z - y
    j = jitted(f)
    for _ in range(3):
        assert j(X).tobytes() == f(X).tobytes()
    assert sys.gettrace() is None


def test_trace_function_may_call_jitted_functions():
    inner = jitted(plain_twin(traced_function))
    seen = []

    def trace(frame, event, arg):
        seen.append(inner(X, 2).tobytes())
        return None
    sys.settrace(trace)
    try:
        result = inner(X, 3)
    finally:
        sys.settrace(None)
    assert seen and set(seen) == {traced_function(X, 2).tobytes()}
    assert result.tobytes() == traced_function(X, 3).tobytes()


def test_tracing_switched_on_in_mid_call_sees_no_frames_of_ours():
    """Neither what observes the results of calls nor kernels of the Python back end."""
    events = []

    def tracer(frame, event, arg):
        events.append((frame.f_code.co_name, event))
        return tracer

    def f(x):
        y = x * 2.0 + 1.0
        sys.settrace(tracer)
        z = stay(3)
        y = y * z + x
        y = y * y + 1.0
        sys.settrace(None)
        return y
    j, x = jitted(f), np.arange(5.0)
    for _ in range(5):
        np.testing.assert_array_equal(j(x), f(x))
        assert events == []
    assert kernel_count(j) >= 1


def halved(y):
    total = 0.0
    for value in y:
        total += value * 0.5
    return total


def switches_in_mid_call(x, switch, tracer):
    before = halved(x) * 2.0 + 1.0
    switch(tracer)
    y = x * before + x
    inside = halved(y) * 2.0 + halved(x)
    for i in range(3):
        inside += halved(x) * i
    switch(None)
    return halved(y) * inside - before


def events_of(function, switch):
    """What a trace or profile function sees of the callee."""
    events = []

    def tracer(frame, event, arg):
        if frame.f_code is halved.__code__:
            events.append((event, frame.f_lineno, repr(arg)))
        return tracer
    return events, repr(function(X, switch, tracer))


@pytest.mark.parametrize("switch", [sys.settrace, sys.setprofile])
def test_callees_are_traced_from_where_tracing_is_switched_on(switch):
    j = jitted(switches_in_mid_call)
    plain = plain_twin(switches_in_mid_call)
    expected = events_of(plain, switch)
    assert len(expected[0]) >= 10
    for _ in range(4):
        assert events_of(j, switch) == expected
    launchers = [launcher for entry in j.state.entries for launcher in entry.launchers]
    assert any(launcher.misses for launcher in launchers)
    assert any(launcher.calls > launcher.misses for launcher in launchers)
