"""The report that `explain` prints, from made-up parts and from real captures."""

import types

import numpy as np
import pytest

import pijit
from pijit.core.reasons import REASONS
from pijit.explain import Report
from tests.harness import jitted


def segment(number, kind, lines, reason=""):
    return types.SimpleNamespace(id=number, kind=kind, start_line=min(lines), end_line=max(lines),
                                 instructions=5, exits=1, reason=reason, lines=tuple(lines))


def a_break(line):
    return types.SimpleNamespace(reason_id="PJ201", message="PJ201 call (callee: print)", hint="Move it.",
                                 filename="user.py", lineno=line, opname="CALL_FUNCTION",
                                 trail=())


def report(**changes):
    parts = dict(name="f", filename="user.py",
                 source=((3, "def f(x):"), (4, "    y = x * 2"), (5, "    print(y)")),
                 segments=(segment(0, "kernel", [4]),),
                 breaks=(a_break(5),), skipped=None, guards=("type(L['x']) is float",), recompiles=())
    return Report(**dict(parts, **changes))


def test_text():
    assert str(report()) == """\
f (user.py): 1 kernel, 1 break, 1 guard

       3 | def f(x):
k0     4 |     y = x * 2
       5 |     print(y)
         ^ PJ201 call (callee: print)
           hint: Move it.

guards:
  type(L['x']) is float"""


def test_text_of_a_skipped_function():
    text = str(report(skipped=REASONS["PJ101"], segments=(), breaks=(), guards=()))
    assert text.splitlines()[:2] == ["f (user.py): 0 kernels, 0 breaks, 0 guards",
                                     "runs as plain Python: PJ101 generator function"]


def test_breaks_are_shown_without_source():
    text = str(report(source=(), guards=(), recompiles=("PJ301 guard failed",)))
    assert "user.py:5\n  ^ PJ201 call (callee: print)" in text
    assert text.endswith("recompiles:\n  PJ301 guard failed")


def test_line_in_two_kernels_and_line_with_a_break():
    text = str(report(segments=(segment(0, "kernel", [4]), segment(2, "kernel", [4, 5]))))
    assert "\nk0,k2     4 |" in text and "\nk2/py     5 |" in text


def test_only_lines_in_kernels_are_marked():
    text = str(report(segments=(segment(0, "kernel", [3, 5]),), breaks=()))
    assert "\nk0     3 |" in text and "\n       4 |" in text and "\nk0     5 |" in text


def test_a_segment_that_is_no_kernel_says_why_unless_something_else_does():
    small = segment(1, "bytecode", [4], "PJ401 too little work for a kernel (work: 3)")
    assert "^ PJ401" not in str(report(segments=(segment(0, "kernel", [4]), small)))
    assert "^ PJ401" not in str(report(segments=(segment(0, "kernel", [3]), small), breaks=(a_break(4),)))
    text = str(report(segments=(segment(0, "kernel", [5]), small), breaks=()))
    assert "y = x * 2\n         ^ PJ401 too little work for a kernel (work: 3)\nk0     5 |" in text


def test_a_hint_is_given_once():
    text = str(report(breaks=(a_break(4), a_break(5))))
    assert text.count("^ PJ201 call (callee: print)") == 2 and text.count("hint: ") == 1


def test_internal_errors_are_shown():
    text = str(report(failures=("PJ901 capture failed",)))
    assert text.endswith("\n\ninternal errors:\n  PJ901 capture failed")


@pytest.mark.parametrize("wrong", [3, len, np.add])
def test_refuses_what_is_no_python_function(wrong):
    with pytest.raises(TypeError, match="explain: f must be"):
        pijit.explain(wrong)


def scaled(x):
    y = x * 2.0 + 1.0
    print("scaled")
    z = y * y - x
    return z


def test_explains_without_calling_and_without_trace(capsys):
    f = jitted(scaled)
    before = f.cache_info()
    found = pijit.explain(f, np.ones(1000))
    assert capsys.readouterr().out == ""
    assert f.cache_info() == before and f.graphs == []
    assert [one.reason_id for one in found.breaks] == ["PJ201"]
    first = scaled.__code__.co_firstlineno
    assert found.breaks[0].lineno == first + 2 and found.breaks[0].filename == scaled.__code__.co_filename
    assert found.kernels and found.guards and found.skipped is None
    assert 'print("scaled")' in str(found)


def test_reports_and_dumps_leave_the_function_as_it_was(tmp_path):
    def half(x, n):
        total = 0.0
        for i in range(n):
            total += x[i] * 0.5
            if i % 5 == 0:
                str(object)
        return total

    def known():
        s = f.state
        return (list(map(id, s.entries)), f.cache_info(), list(s.recompiles), list(s.failures), len(s.pending),
                s.specialisation, dict(s.met), list(s.callees), set(s.hints.wrong),
                [one.calls for one in s.entries[-1].launchers])

    f = jitted(half)
    for _ in range(3):
        f(np.ones(9), 9)
    before = known()
    for report in (f.explain(), f.explain(np.ones(3, np.float32), 2), pijit.explain(f, np.ones(9), 3)):
        assert str(report) and report._repr_html_() and report.to_svg() and report.effects == ()
    pijit.dump(f, tmp_path, np.ones(4, int), 2)
    assert known() == before


def test_explains_what_calls_made():
    f = jitted(scaled)
    for _ in range(3):
        f(np.ones(1000))
    found = f.explain()
    assert found.kernels and str(found) == str(pijit.explain(f))


def test_before_the_first_call_and_without_arguments():
    found = jitted(scaled).explain()
    assert found.segments == found.breaks == () and found.skipped is None and "def scaled(x):" in str(found)
    assert str(found).splitlines()[1] == "not captured yet: call it, or tell explain with what"
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'|unexpected keyword"):
        pijit.explain(scaled, y=3)


def test_explains_an_unjitted_function():
    assert pijit.explain(scaled, np.ones(1000)).kernels
    assert pijit.get_code_extra(scaled) is None


def spread(x):
    y = (x * 2.0

         + 1.0)
    k = len(DATA) + 1
    z = helper(x)
    return y, k, z


def helper(x):
    return x


DATA = [1]


def test_marks_and_segments_of_a_capture():
    f = pijit.jit(spread, jit_config={"backend": "python", "max_inline_depth": 0})
    f(np.ones(10))
    found, first = f.explain(), spread.__code__.co_firstlineno
    marked = {line - first for one in found.kernels for line in one.lines}
    assert 1 in marked and not marked & {0, 2, 6}
    assert 5 not in marked, "storing what a call returned is no work"
    assert not any("work: 0" in one.reason for one in found.segments)


def test_internal_errors_of_a_function(monkeypatch):
    from pijit.core import errors, pipeline

    def fail(*args):
        raise KeyError("the fault\nsecond line")

    f = jitted(scaled)
    previous = errors.set_strict(False)
    try:
        with monkeypatch.context() as patch:
            patch.setattr(pipeline, "capture", fail)
            assert (f(np.ones(3)) == 8.0).all()
            assert pijit.explain(scaled, np.ones(3)).failures == pijit.explain(f).failures
    finally:
        errors.set_strict(previous)
    failures = pijit.explain(f).failures
    assert len(failures) == 1 and failures[0].startswith("PJ901 capture failed (error: ")
    assert "the fault" in failures[0]
    assert pijit.get_code_extra(f).stat == "NEVER_COMPILE"
    f(np.ones(3))
    assert pijit.get_code_extra(f).stat == "GRAPH_CALLABLE" and f.explain().failures == failures
    f.cache_clear()
    assert f.explain(np.ones(3)).failures == ()
    assert pijit.get_code_extra(f).stat == "GRAPH_CANDIDATE"


def generator():
    yield 1


async def coroutine():
    return 1


async def async_generator():
    yield 1


@pytest.mark.parametrize("f, reason_id", [(generator, "PJ101"), (coroutine, "PJ102"),
                                          (async_generator, "PJ103")])
def test_says_why_a_whole_function_is_skipped(f, reason_id):
    assert pijit.explain(jitted(f)).skipped.id == reason_id
    assert "runs as plain Python: " + reason_id in str(pijit.explain(f))
    assert pijit.get_code_extra(jitted(f)).stat == "NEVER_COMPILE"


def test_code_extra():
    f = jitted(scaled)
    assert pijit.get_code_extra(f) == {"stat": "GRAPH_CANDIDATE", "compile_count_": 0, "break_count_": 0}
    f(np.ones(1000))
    extra = pijit.get_code_extra(f)
    assert extra.stat == "GRAPH_CALLABLE" and extra.compile_count_ >= 1 and extra["break_count_"] >= 1
    assert isinstance(extra.code.compiled_code_, types.CodeType) and extra.code.phase_ and extra.code.guard_
    served = extra.code.call_count_
    f(np.ones(1000))
    f(np.ones(1000))
    assert pijit.get_code_extra(f).code.call_count_ >= max(served, 1)
