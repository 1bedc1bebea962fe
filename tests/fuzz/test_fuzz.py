"""A fixed set of generated programs; `python -m tests.fuzz` runs others for as long as wanted."""

import re
import subprocess
import sys

import pytest

from pijit.compare import Difference
from tests.fuzz import __main__ as command
from tests.fuzz import campaign as campaigns
from tests.fuzz.campaign import Campaign
from tests.fuzz.running import Counts, only_nans, run, script

PYTHON = {"backend": "python"}
BREAKS = {"backend": "python", "force_breaks": "every"}
NUMBA = {"backend": "numba"}

# A seed, how many programs it gives, after how many seconds the rest of them is left out, and groups that all have.
RUNS = {"python": (PYTHON, 1, 120, 30, ()), "breaks": (BREAKS, 2, 45, 20, ()), "numba": (NUMBA, 3, 45, 30, ()),
        "constants": (NUMBA, 4, 30, 20, ("constants",))}


@pytest.mark.parametrize("mode", sorted(RUNS))
def test_generated_programs_do_the_same_with_pijit(mode):
    config, seed, programs, seconds, groups = RUNS[mode]
    campaign = Campaign(config, seconds, groups=groups)
    failure = campaign.batch(seed, programs)
    assert failure is None, str(failure)
    counts = campaign.counts
    if len(counts.sources) >= 40:  # on a busy machine there may be too few to tell
        assert counts.kernels > len(counts.sources) / 2, str(counts)
        assert counts.errors < counts.calls / 2, str(counts)


def sources(seed, count, monkeypatch, groups=()):
    """The programs of a seed."""
    seen = []
    monkeypatch.setattr(campaigns, "run", lambda source, config, counts: seen.append(source))
    assert Campaign(PYTHON, 60, groups=groups).batch(seed, count) is None
    return seen


def test_a_seed_gives_the_same_programs_each_time(monkeypatch):
    assert sources(5, 30, monkeypatch) == sources(5, 30, monkeypatch) != sources(6, 30, monkeypatch)


def test_groups_that_every_program_has(monkeypatch):
    assert len([source for source in sources(8, 100, monkeypatch, ("constants",)) if re.search(r"\b[PFBQR]\b", source)]) > 40


@pytest.mark.parametrize("groups", [(), ("constants",)])
def test_every_program_compiles_and_makes_its_arguments(groups, monkeypatch):
    for source in sources(7, 200, monkeypatch, groups):
        module = {}
        exec(source, module)
        for call in module["CALLS"]:
            args, kwargs = call()
            assert isinstance(args, tuple) and kwargs == {}


def test_a_program_that_differs_is_shrunk(monkeypatch):
    def fails_on_loops(source, config, counts):
        assert "for " not in source.split("def f")[1].split("def call_0")[0], "a loop"

    monkeypatch.setattr(campaigns, "run", fails_on_loops)
    failure = Campaign(PYTHON, 60).batch(1, 500)
    assert "a loop" in str(failure)
    body = failure.source.split("def f")[1].split("def call_0")[0].split("if __name__")[0]
    assert "for " in body and len(body.strip().splitlines()) <= 7


CHANGED_BETWEEN_CALLS = """
COUNT = 0

def f(x):
    global COUNT
    COUNT = COUNT + 1
    return x

def call_0():
    return (COUNT,), {}

def call_1():
    global COUNT
    COUNT = 10
    return (COUNT,), {}

CALLS = [call_0, call_1, call_0]
"""


def test_calls_may_change_globals_of_their_own_side():
    counts = Counts()
    run(CHANGED_BETWEEN_CALLS, PYTHON, counts)
    assert (counts.calls, counts.errors) == (3, 0)


NAN = Difference("bits", "args[0][1]", "nan (000000000000f87f)", "nan (000000000000f8ff)")
BYTE = Difference("bits", "args[0].base[16]", "127 (7f)", "255 (ff)")


def test_nans_may_differ_also_in_the_memory_below_them():
    assert only_nans([NAN]) and only_nans([NAN, BYTE])
    for other in (Difference("bits", "args[0][1]", "1.0", "nan"), Difference("bits", "args[1].base[16]", "127", "255"),
                  Difference("shape", "args[0].base", "(7,)", "(8,)"), BYTE):
        assert not only_nans([other])
    assert not only_nans([NAN, BYTE._replace(where="args[1].base[16]")])


UNBOUND = """
def f(x):
    for i in range(9):
        x = x + 1.0
    a = 2.0
    point += x * a
CALLS = [lambda: ((0.5,), {})] * 3
"""


def test_warm_functions_of_3_11_name_the_line_before():
    counts = Counts()
    run(UNBOUND, PYTHON, counts)
    assert counts.lines == (sys.version_info[:2] == (3, 11))


def test_a_saved_script_fails_by_itself(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(script("def f(x):\n    return id(x)\n\nCALLS = [lambda: (([],), {})]\n", PYTHON))
    done = subprocess.run([sys.executable, str(path)], stderr=subprocess.PIPE, universal_newlines=True)
    assert done.returncode == 1 and "DifferenceError" in done.stderr


def test_the_command_counts_and_saves(tmp_path, monkeypatch, capsys):
    def fails(source, config, counts):
        raise ValueError("planted")

    monkeypatch.setattr(campaigns, "run", fails)
    monkeypatch.setattr(campaigns, "PHASES", campaigns.PHASES[:1])
    monkeypatch.setattr(command, "BATCH", 2)
    assert command.main(["--seconds", "0.5", "--save", str(tmp_path)]) == 1
    assert "planted" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()][0].startswith("seed_")
