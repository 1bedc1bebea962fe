"""Kernels are numbered from 1 without gaps, and whatever tells of one uses the same number."""

import os
import pathlib
import re

import numpy as np
import pytest

import pijit
from tests.harness import fail_unless_captured, jitted
from tests.pijit.reporting.known_splits import X, break_in_loop, retired


def ran(f, calls, **config):
    with fail_unless_captured():
        j = jitted(f, dict({"backend": "python", "perf_statistics": False, "force_breaks": None}, **config))
        for arguments in calls:
            j(*arguments)
    return j


def numbers(pattern, text):
    """The numbers in a text, each once, in order."""
    return sorted(set(map(int, re.findall(pattern, text))))


KINDS = [(X, "2")] * 3 + [(X, "2.5")] * 6
CASES = [(break_in_loop, [(X, 300)] * 3), (retired, KINDS)]


@pytest.mark.parametrize("f, calls", CASES, ids=["after a segment that is too small", "in two captures"])
def test_each_place_that_tells_of_kernels_has_the_same_numbers(f, calls, tmp_path, capsys):
    j = ran(f, calls, print_after_all=True)
    printed = capsys.readouterr().out
    report, name = pijit.explain(j), f.__name__
    assert [one.id for one in report.kernels] == [1, 2]
    marks = ",".join(line.mark for line in report.annotated)
    assert numbers(r"k(\d+)", marks) == [1, 2]
    assert numbers(r"kernel k(\d+),", report.to_svg()) == [1, 2]
    assert sorted(box.number for box in report.split.boxes if box.kind == "kernel") == [1, 2]
    assert sorted(pijit.info(j).calls) == [name + "_1", name + "_2"]
    folder = "entry_{}".format(len(j.state.entries) - 1)
    files = {pathlib.Path(path).name: pathlib.Path(path) for path in pijit.dump(j, tmp_path) if folder in path}
    kernel_files = [file for file in files if re.match(r"kernel_{}_\d+\.py$".format(name), file)]
    assert numbers(r"_(\d+)\.py", " ".join(kernel_files)) == [1, 2]
    assert numbers(r"segment (\d+) \[kernel\]", files["segments.txt"].read_text()) == [1, 2]
    assert numbers(r"{}_(\d+) takes".format(name), files["uses.txt"].read_text()) == [1, 2]
    assert numbers(r"{}_(\d+): ".format(name), files["guards.txt"].read_text()) == [1, 2]
    assert numbers(r"(?m)^  {}_(\d+): ".format(name), files["times.txt"].read_text()) == [1, 2]
    assert set(numbers(r"graph {}_(\d+)\n".format(name), printed)) == {1, 2}
    newest = printed.rpartition("*** Graph passes: ")[2].partition("\n*** ")[0]
    assert set(numbers(r"graph {}_(\d+)\n".format(name), newest)) <= {1, 2}


def test_kernels_of_several_captures_are_different_files(tmp_path):
    j = ran(retired, KINDS)
    paths = [path for path in pijit.dump(j, tmp_path) if os.path.basename(path).startswith("kernel_")]
    assert len(paths) == len(set(paths))


def test_recompiles_say_what_was_seen_where_and_which_kernel_did_not_fit():
    line = retired.__code__.co_firstlineno + 1
    assert pijit.explain(ran(retired, KINDS)).recompiles == (
        "PJ302 types were observed (line {}: int)".format(line),
        "PJ305 segments no longer fit (kernel: retired_1, line: {}, guard: stack[0] is an int, "
        "-2**63 <= stack[0] < 2**63)".format(line),
        "PJ302 types were observed (line {}: float)".format(line))


def test_a_kernel_that_is_interpreted_keeps_its_number():
    j = ran(break_in_loop, [(X, 300)] * 3, interpret=["break_in_loop_1"])
    report = pijit.explain(j)
    assert [(one.id, one.kind) for one in report.segments if one.id] == [(1, "bytecode"), (2, "kernel")]
    assert re.search(r"segment 1 \[bytecode\] .*: PJ404 ", report.records[-1].segments)
    assert list(pijit.info(j).calls) == ["break_in_loop_2"]


def test_segments_that_nobody_can_ask_for_have_no_number():
    report = pijit.explain(ran(break_in_loop, [(X, 300)] * 3))
    assert [one.id for one in report.segments if one.reason.startswith("PJ401")] == [0]
    assert "segment [bytecode] lines" in report.records[-1].segments


def test_ways_back_are_numbered_from_one(tmp_path):
    def loop(x):
        total = 0.0
        for i in range(len(x)):
            total += x[i] * 0.5
        return total

    names = [kernel.name for kernel in pijit.explain(ran(loop, [(np.ones(50),)])).records[-1].kernels]
    assert names == ["loop_1", "loop_back_1"]
