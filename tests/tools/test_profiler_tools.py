"""cProfile, profile and line_profiler count of jitted functions what they count of plain ones."""

import cProfile
import profile
import pstats
import sys

import pytest

from tests.harness import jitted, needs_pipeline
from tests.tools import observed_program
from tests.tools.observed_program import ALL, GOOD, ids, outcome, runs_of, twins

pytestmark = needs_pipeline
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
