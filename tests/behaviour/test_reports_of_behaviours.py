"""What a user is shown of captures: errors of fullgraph, log lines, and the lines of the source."""

import numpy as np
import pytest

import pijit
from tests.behaviour.cases import Case, X, each, group
from tests.harness import jitted, same


def outer(x):
    y = x * 2.0 + 1.0
    return inner(y) - x


def inner(x):
    y = x * 3.0 - 1.0
    print("inner")
    return y * x


@group(79)
def test_fullgraph_names_the_lines_of_breaks():
    j = jitted(outer, {"fullgraph": True, "force_breaks": None})
    with pytest.raises(pijit.FullGraphError) as caught:
        j(X)
    line = outer.__code__.co_firstlineno + 2
    text = str(caught.value)
    assert "{}:{}: ".format(__file__, line) in text and "inner" in text and "hint: " in text
    plain = jitted(outer)
    for _ in range(3):
        same(outer(X), plain(X))


@group(80)
def test_a_function_is_switched_off_for_some_calls():
    j = jitted(outer)
    for k in range(10):
        j.enabled = k < 2
        same(outer(X * k), j(X * k))
    assert j.cache_info().hits + j.cache_info().misses == 2


@group(82)
def test_subjects_of_the_log_are_independent(capsys):
    config = {"force_breaks": None}
    for subject, shown, hidden in [("log_graph_break", "PJ2", "PJ301"), ("log_recompile", "PJ301", "PJ201")]:
        j = jitted(outer, dict(config, **{subject: True}))
        for x in (X, X, 2.0, 2.0):
            j(x)
        text = "".join(capsys.readouterr())
        assert shown in text and hidden not in text, subject


def fails_late(x, k):
    y = x * 2.0 + 1.0
    for i in range(3):
        y = y * x - i
        z = y[k + i]
    w = y.reshape(k,
                  -1) * z
    return w - 1.0


@each(Case(83, fails_late, X, 1, kernels=1, others=[(X, 9), (X, 2), (X, "k"), (2.0, 1), (X, 0)]))
def test_tracebacks_have_the_lines_of_the_source(case):
    case.run()


@group(83)
def test_reports_have_the_lines_of_the_source():
    j = jitted(inner, {"force_breaks": None})
    for _ in range(3):
        j(np.ones(5))
    report = pijit.explain(j)
    first = inner.__code__.co_firstlineno
    assert {one.lineno - first for one in report.breaks if one.reason_id == "PJ201"} == {2}
    assert {line - first for one in report.segments if one.kind == "kernel" for line in one.lines} <= {1, 3}


@group(81)
def test_measuring_changes_nothing(measured):
    """Some of these calls run compiled code, some the function, and all do the same, once."""
    def step(x, seen):
        total = 0.0
        for i in range(len(x)):
            total += x[i] * x[i]
        x[0] += 1.0
        seen.append(total)
        return total

    f = pijit.jit(step, jit_config={"perf_statistics": True})
    x, y, seen, expected = np.linspace(0.0, 1.0, 20), np.linspace(0.0, 1.0, 20), [], []
    for _ in range(80):
        same(f(x, seen), step(y, expected))
    same((x, seen), (y, expected))
    assert f.state.cache.hits >= 70
