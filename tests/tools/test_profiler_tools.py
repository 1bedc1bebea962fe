"""cProfile, profile and line_profiler count of jitted functions what they count of plain ones."""

import cProfile
import profile
import pstats
import sys

import pytest

from tests.harness import jitted
from tests.tools import observed_program
from tests.tools.observed_program import ALL, GOOD, ids, outcome, runs_of, twins

FILE = observed_program.__file__


def calls_counted(profiler, f, args):
    """The numbers of calls, and of those that are not recursive, by function; and who calls whom."""
    before = sys.getprofile()
    try:
        profiler.runcall(outcome, f, args)
    finally:
        sys.setprofile(before)
    stats = pstats.Stats(profiler).stats
    ours = {key for key in stats if key[0] == FILE and key[2] != "outcome"}
    below = {key for key in stats if ours & set(stats[key][4])} | ours
    return {key: (stats[key][:2], sorted(caller for caller in stats[key][4] if caller[2] != "outcome")) for key in below
            if "monitoring" not in key[2]}


@pytest.mark.parametrize("kind", [cProfile.Profile, profile.Profile], ids=["cProfile", "profile"])
@pytest.mark.parametrize("function, args", ALL, ids=ids(ALL))
@pytest.mark.parametrize("warm", [0, 3])
def test_calls_are_those_of_python(kind, function, args, warm):
    plain, compiled = twins(function, args, warm)
    wanted = calls_counted(kind(), plain, args)
    assert wanted
    assert calls_counted(kind(), compiled, args) == wanted
    assert calls_counted(kind(), compiled, args) == wanted
    before = runs_of(compiled)
    for _ in range(4):
        outcome(compiled, args)
    assert runs_of(compiled) > before


def hits(profiler):
    timings = profiler.get_stats().timings
    return {key[1:]: [(line, count) for line, count, _ in rows] for key, rows in timings.items() if rows}


@pytest.mark.parametrize("function, args", GOOD, ids=ids(GOOD))
@pytest.mark.parametrize("decorated", [False, True])
def test_line_profiler_counts_the_lines_of_python(function, args, decorated):
    """The function of a jitted one is named, or `jit` gets what the profiler has made of it."""
    line_profiler = pytest.importorskip("line_profiler")
    plain, compiled = twins(function, args)

    def counted(f):
        profiler = line_profiler.LineProfiler()
        before = sys.gettrace()
        try:
            if decorated:
                profiled = profiler(getattr(f, "py_func", f))
                profiled = jitted(profiled) if f is compiled else profiled
                for _ in range(3):
                    outcome(profiled, args)
            else:
                profiler.add_function(getattr(f, "py_func", f))
                profiler.runcall(outcome, f, args)
        finally:
            sys.settrace(before)
        return hits(profiler)
    wanted = counted(plain)
    assert sum(len(rows) for rows in wanted.values()) > 1
    assert counted(compiled) == wanted
    assert str(outcome(compiled, args)) == str(outcome(plain, args))


class Layer:
    def __init__(self, w):
        self.w = w
        print(end="")

    def method(self, x):
        y = x * self.w + 1.0
        print(end="")
        return y

    def __call__(self, x):
        y = x * self.w - 1.0
        print(end="")
        return y


def working(x, n):
    y = x * 2.0
    print(end="")
    return y + n


LAYERS = [Layer(1.0), Layer(0.5)]


def switching(x, n, switch):
    y = x * 3.0
    pair = (y, n)
    switch()
    for i in range(n):
        y = y * 2.0 + 1.0
        y = working(*pair) + y
        layer = LAYERS[i % 2]
        y = layer.method(y) + layer(y)
        y = working(y, n) + Layer(2.0).w
    return y.sum()


OF_LINKED_CODE = ("launch", "visit", "observe", "bind", "bound", "resume", "arrive", "wait")
"""What linked code calls in C, which a profile function sees that is switched on in the middle of a call."""


def test_a_profile_function_that_a_callee_switches_on_sees_the_rest():
    """From CPython 3.11 on calls of functions in C may be missing: sites make them, and CPython tells only of those that bytecode makes."""
    def events(f):
        seen = []

        def profile(frame, event, arg):
            name = arg.__name__ if event.startswith("c_") else None
            left_out = name is not None if sys.version_info >= (3, 11) else name in OF_LINKED_CODE
            if frame.f_code.co_filename == __file__ and frame.f_code.co_name != "events" and not left_out:
                seen.append((frame.f_code.co_name, event, frame.f_lineno, name))
        before = sys.getprofile()
        try:
            f(observed_program.X, 3, lambda: sys.setprofile(profile))
        finally:
            sys.setprofile(before)
        return seen
    wanted = events(switching)
    assert len(wanted) > 30
    compiled = jitted(switching)
    for _ in range(4):
        assert events(compiled) == wanted
