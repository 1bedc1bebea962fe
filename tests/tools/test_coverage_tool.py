"""coverage.py measures jitted functions as plain ones: all lines and branches that ran, with each of its tracers."""

import sys

import pytest

from tests.tools import observed_program
from tests.tools.observed_program import ALL, ids, outcome, runs_of, twins

coverage = pytest.importorskip("coverage")

FILE = observed_program.__file__
CORES = ["ctrace", "pytrace"] + ["sysmon"] * (sys.version_info >= (3, 12))


def measure(monkeypatch, core, branch, call):
    """The lines that ran, or the arcs, of the observed file."""
    monkeypatch.setenv("COVERAGE_CORE", core)
    before = sys.gettrace()
    cov = coverage.Coverage(data_file=None, include=[FILE], branch=branch, config_file=False)
    cov.start()
    try:
        call()
    finally:
        cov.stop()
        sys.settrace(before)
    data = cov.get_data()
    return sorted(data.arcs(FILE) or ()) if branch else sorted(data.lines(FILE) or ())


def modes():
    return [(core, branch) for core in CORES for branch in (False, True)
            if not (core == "sysmon" and branch and sys.version_info < (3, 14))]


@pytest.mark.parametrize("core, branch", modes())
@pytest.mark.parametrize("function, args", ALL, ids=ids(ALL))
@pytest.mark.parametrize("warm", [0, 3])
def test_lines_and_arcs_are_those_of_python(monkeypatch, core, branch, function, args, warm):
    plain, compiled = twins(function, args, warm)
    wanted = measure(monkeypatch, core, branch, lambda: outcome(plain, args))
    assert len(wanted) > 2
    assert measure(monkeypatch, core, branch, lambda: outcome(compiled, args)) == wanted
    assert measure(monkeypatch, core, branch, lambda: outcome(compiled, args)) == wanted


@pytest.mark.parametrize("core", CORES)
def test_kernels_run_again_behind_the_measurement(monkeypatch, core):
    function, args = ALL[0]
    plain, compiled = twins(function, args)
    before = runs_of(compiled)
    measure(monkeypatch, core, False, lambda: outcome(compiled, args))
    assert runs_of(compiled) == before
    outcome(compiled, args)
    assert runs_of(compiled) > before > 0
