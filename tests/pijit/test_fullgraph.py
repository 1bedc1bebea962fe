"""The option `fullgraph`: a break is an error with the user's line, and nothing else is."""

import pickle
import threading

import numpy as np
import pytest

import pijit
from tests.harness import jitted


def whole(x, n):
    for i in range(n):
        x = x * 0.5 + i
    return x


def broken(x):
    y = x * 2.0
    print("here")
    return y + guarded(x)


LOCK = threading.Lock()


def guarded(x):
    with LOCK:
        return x * 2.0


def generator():
    yield 1


def jitted_whole(f):
    return jitted(f, {"fullgraph": True, "force_breaks": None})


def test_a_function_without_breaks_runs():
    f = jitted_whole(whole)
    for _ in range(3):
        assert (f(np.ones(4), 2) == 1.25).all()
    assert f.graphs and f.cache_info().hits >= 1


def test_breaks_are_raised_by_every_call_before_anything_runs(capsys):
    f = jitted_whole(broken)
    for _ in range(2):
        with pytest.raises(pijit.FullGraphError) as caught:
            f(np.ones(4))
    assert capsys.readouterr().out == ""
    first = broken.__code__.co_firstlineno
    found = [(one.reason_id, one.lineno - first) for one in caught.value.breaks]
    assert ("PJ201", 2) in found and ("PJ230", 3) in found
    lines = str(caught.value).splitlines()
    assert lines[0] == "fullgraph is set, but not all of broken can be captured:"
    assert lines[1].startswith("  {}:{}: PJ201 ".format(__file__, first + 2)) and "print" in lines[1]
    assert lines[2] == '    print("here")' and lines[3].startswith("    hint: ")


def innermost(x):
    y = x * 2.0
    print("inside")
    return y


def middle(x):
    return innermost(x) + 1.0


def outermost(x):
    y = middle(x)
    return y * 2.0


def test_lines_lead_from_the_outermost_call_to_what_is_in_the_way():
    with pytest.raises(pijit.FullGraphError) as caught:
        jitted_whole(outermost)(np.ones(4))
    (one,) = caught.value.breaks
    first = [f.__code__.co_firstlineno for f in (outermost, middle, innermost)]
    assert [(step.lineno, step.name, step.reason_id) for step in one.trail] == [
        (first[1] + 1, "middle", "PJ230"), (first[2] + 2, "innermost", "PJ201")]
    assert [line.strip() for line in str(caught.value).splitlines()[2:]] == [
        "y = middle(x)", "{}:{}, in middle".format(__file__, first[1] + 1), "return innermost(x) + 1.0",
        "{}:{}, in innermost".format(__file__, first[2] + 2), 'print("inside")',
        "hint: Move the call out of the hot loop, or make it rare: the code around it is still compiled."]


def test_the_error_is_a_plain_exception():
    with pytest.raises(pijit.FullGraphError) as caught:
        jitted_whole(broken)(np.ones(4))
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value) and again.breaks == caught.value.breaks and again.name == "broken"


def test_explain_shows_the_breaks_instead():
    found = pijit.explain(jitted_whole(broken), np.ones(4))
    assert found.breaks and found.failures == ()


def test_a_function_that_is_not_captured_is_refused_when_decorated():
    with pytest.raises(pijit.FullGraphError, match="PJ101 generator function"):
        jitted_whole(generator)


def test_a_return_after_a_with_block_is_captured():
    """CPython makes a copy of a short return. The copy follows a handler, and only bytecode reaches it."""
    def f(x, y):
        with np.errstate(all="ignore"):
            s = x / y
            t = s + x
        return s, t

    j = jitted_whole(f)
    x = np.arange(4.0)
    for _ in range(3):
        assert [one.tobytes() for one in j(x, x)] == [one.tobytes() for one in f(x, x)]
    assert not pijit.explain(j).breaks
