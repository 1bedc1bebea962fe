"""What the benchmarks measure and print, with a clock and figures made up."""

import json
import xml.etree.ElementTree

import numpy as np
import pytest

from benchmarks import report, rows
from benchmarks.cases.case import Case
from benchmarks.measure import ROUNDS, Spread, geometric_mean, interleaved, middle, spread
from benchmarks.picture import picture


class Machine:
    """A clock, and functions that take time on it."""

    def __init__(self):
        self.now = 0.0
        self.calls = []

    def clock(self):
        return self.now

    def function(self, name, seconds):
        """A function whose n-th call takes seconds[n], and the last of them from then on."""
        left = list(seconds)

        def run():
            self.calls.append(name)
            self.now += left.pop(0) if len(left) > 1 else left[0]
        return run


def test_interleaved_rounds_in_turns():
    machine = Machine()
    functions = {"a": machine.function("a", [1.0, 2.0]), "b": machine.function("b", [4.0])}
    samples = interleaved(functions, {"a": (), "b": ()}, 0.0, machine.clock)
    assert samples == {"a": [2.0] * ROUNDS, "b": [4.0] * ROUNDS}
    assert machine.calls == list("ab" "ab" "ba" "ab")


def test_interleaved_repeats_short_calls_and_fills_the_time():
    machine = Machine()
    samples = interleaved({"a": machine.function("a", [0.0005])}, {"a": ()}, 0.1, machine.clock)
    assert samples["a"] == pytest.approx([0.0005] * 50, rel=1e-6)
    assert len(machine.calls) == 1 + 4 * 50


def test_ratios_are_of_the_same_round():
    assert spread([2.0, 20.0, 4.0, 8.0], [1.0, 10.0, 4.0, 2.0]) == Spread(2.0, 2.0, 2.0)
    assert spread([1.0, 2.0, 3.0, 4.0], [1.0] * 4) == Spread(2.5, 2.0, 3.0)
    assert middle([3.0, 1.0, 2.0]) == 2.0
    assert geometric_mean([1.0, 4.0]) == pytest.approx(2.0)


def row(kernel="k", pijit=2.0, size="memory", **more):
    """A row with these figures."""
    ratios = {"pijit": Spread(pijit, pijit, pijit), "tuned": Spread(4.0, 3.0, 5.0)}
    values = dict(family="f", kernel=kernel, dtype="float64", size=size, bytes=8, seconds={}, ratios=ratios,
                  bound={"pijit": 0.5}, first={"pijit": 1.0, "njit": 4.0}, refused={"njit": "TypingError: no"},
                  wrong="", why_not="", others_wrong={}, kernels=1, breaks=[])
    values.update(more)
    return rows.Row(**values)


def test_bounds():
    """Rows that memory limits, those that NumPy's loops do, and others are told apart, and so is what is read twice."""
    kinds = [row("memory's"), row("loops'", limit=rows.LOOPS), row("pow's", limit="pow"), row("in place", again=0.75)]
    cells = [report.line(one).split(" | ")[7] for one in kinds]
    assert cells == ["50 %", "50 %, loops", "50 %, pow", "50 %, 75 % with what is read twice"]
    text = report.summary(kinds)
    sections = [part.partition(":\n\n")[2] for part in text.split("least share first")[1:]]
    assert ["loops'" in part.partition("\n\n")[0] for part in sections] == [False, True, False]
    assert ["pow's" in part.partition("\n\n")[0] for part in sections] == [False, False, True]


def test_the_loops_that_a_kernel_calls():
    calls = []
    case = Case("k", abs, lambda n, d: (), loops=((lambda x, out: calls.append((x.copy(), out)), 2.0, 3.0),))
    run, given = rows.own_loops(case, np.dtype("f4"), 3 * rows.LOOP_BYTES + 40)
    run(*given)
    assert [x.size for x, _ in calls] == [rows.LOOP_BYTES // 4] * 3 + [10]
    assert all(x.size == out.size and x.dtype == out.dtype == "f4" and 2.0 <= x.min() <= x.max() <= 3.0
               for x, out in calls)


def test_lines_and_summary():
    slow = row("slow one", 0.5, wrong="other bits", breaks=[(3, "PJ201")])
    assert report.line(row()).split(" | ")[3:8] == ["2.00x (2.00-2.00)", "refused", "4.00x (3.00-5.00)", "-", "50 %"]
    assert "other bits; PJ201" in report.line(slow)
    text = report.summary([row(), slow])
    assert "| all | 1.00x of 2 | - | 4.00x of 2 | - |" in text
    assert "First call, pijit / njit, where njit compiles: 0.25" in text
    assert "tuned 0.25x" in text
    sections = {part.split(" (")[0].strip(): part for part in text.split(":\n\n")[1:]}
    assert sections and "- slow one, float64, memory: 0.50x (0.50-0.50)" in text
    assert "line 3 PJ201" in text and "TypingError: no" in text
    assert rows.Row.of_record(json.loads(json.dumps(slow.record()))) == slow


def test_picture_is_svg_with_a_bar_per_version():
    root = xml.etree.ElementTree.fromstring(picture([row(), row("<&>", 0.5)]))
    bars = [one for one in root.iter("{http://www.w3.org/2000/svg}rect") if list(one)]
    assert [one[0].text for one in bars] == ["k, pijit: 2.00x", "k, tuned: 4.00x",
                                             "<&>, pijit: 0.50x", "<&>, tuned: 4.00x"]
    widths = [float(one.get("width")) for one in bars]
    assert widths[0] == pytest.approx(widths[2]) and widths[1] == pytest.approx(2 * widths[0], rel=0.01)


def test_copy_carries_what_it_says():
    function, (target, source) = rows.copy(4096)
    function(target, source)
    assert target.nbytes == 4096 and (target == source).all()
