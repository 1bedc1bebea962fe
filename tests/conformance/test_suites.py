"""The command over test suites: a slice of each kind of suite passes jitted, and what goes wrong is found."""

import importlib.util
import os

import pytest
import suites
from suites import SUITES, Log, compare, differences, main, table

OPTIONS = {"config": {"backend": "python", "perf_statistics": False}, "rounds": 2, "own": False}
COUNTS = slice(5, 9)


def needs(name):
    """Skip where a suite's tests are not installed."""
    if importlib.util.find_spec(SUITES[name].tests[0]) is None:
        pytest.skip("there is no " + SUITES[name].tests[0])


@pytest.mark.parametrize("name, select", [("test_bisect", "TestBisectPython::test_l"),
                                          ("numpy.polynomial", "test_polyutils::TestDomain")])
def test_the_tests_of_a_suite_pass_jitted(name, select, tmp_path):
    needs(name)
    row, found = compare(name, str(tmp_path), 60.0, dict(OPTIONS, select=select))
    assert found == []
    assert row[1] == row[2] > 1  # as many passed
    assert all(row[COUNTS])  # functions, entries, kernels and their calls


@pytest.fixture
def broken_capture(tmp_path, monkeypatch):
    """Gives code to run when pijit.core.function_state is imported in the processes of suites."""
    def breaks(code):
        (tmp_path / "sitecustomize.py").write_text(code)
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return breaks


WRONG = """
from pijit.core.bytecode.codec.encode import replace_code
from pijit.core.function_state import State
def wrong(self, code, *roots):
    return replace_code(code, co_consts=tuple(c + 1 if type(c) is int else c for c in code.co_consts))
State.on_miss = wrong
"""
FAULT = """
from pijit.core import function_state
def fault(*args):
    raise ValueError("a fault")
function_state.make_entry = fault
"""
DEATH = """
import os
from pijit.core.function_state import State
State.on_miss = lambda self, code, *roots: os._exit(7)
"""


@pytest.mark.parametrize("code, says", [(WRONG, "passed, jitted failed"), (FAULT, "ValueError: a fault"),
                                        (DEATH, "passed, jitted ended the process (7)")])
def test_what_goes_wrong_is_found(code, says, tmp_path, broken_capture):
    needs("test_bisect")
    broken_capture(code)
    row, found = compare("test_bisect", str(tmp_path), 60.0, dict(OPTIONS, select="TestBisectPython::test_precomputed"))
    assert any(says in text for text in found)
    assert row[3] + row[4] > 0


def test_a_run_goes_on_behind_the_last(tmp_path):
    log = Log(str(tmp_path / "log"))
    log.add(start="a")
    log.add(test="a", outcome="passed", seconds=0.5, text="")
    log.add(start="b", at=1.0)
    assert log.unfinished() == {"start": "b", "at": 1.0}
    log.add(test="b", outcome="failed", seconds=0.5, text="why")
    log.add(process=1, counts={"calls": 1})
    log.add(process=1, counts={"calls": 3})
    log.add(process=2, counts={"calls": 4})
    assert log.unfinished() is None
    assert log.counts() == {"calls": 7}
    plain = {"a": {"outcome": "passed"}, "b": {"outcome": "passed"}}
    assert differences(plain, log.results()) == ["b: passed, jitted failed\nwhy"]


def test_the_table_lines_up():
    lines = table([["test_dict"] + list(range(10))]).splitlines()
    assert len({len(line) for line in lines}) == 1


def test_an_unknown_suite_is_named(capsys):
    with pytest.raises(SystemExit):
        main(["numpy.nothing"])
    assert "no suites: numpy.nothing; there are numpy.lib" in capsys.readouterr().err


def test_no_log_is_in_the_way(tmp_path):
    assert Log(os.path.join(str(tmp_path), "none")).lines() == [] and suites.place_of("no.such.package") == ""
