"""The option perf_statistics: compiled code that is measured against the function, and retired where it loses."""

import numpy as np
import pytest

import pijit
from pijit import jit
from pijit.core import entry_timing
from pijit.core._hook import EntryTiming

pytestmark = pytest.mark.usefixtures("measured")

ENOUGH = 60


def polynomial(x):
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] * x[i] - 1.0
    return total


def calls(function, count=ENOUGH):
    x = np.linspace(0.0, 1.0, 200)
    return {function(x) for _ in range(count)}


def lose(function):
    """What the clock says of the newest entry when it has lost."""
    state = function.state
    state.on_result(state.entries[-1], "PJ402 measured slower than bytecode (compiled: 2.00 us, bytecode: 1.00 us)")


def test_a_winner_is_measured_once_and_then_called_without_a_timing():
    function = jit(polynomial)
    assert len(calls(function)) == 1
    [(_, payload, _)] = function.state.cache.entries
    entry = function.state.entries[-1]
    assert payload is entry.code.entrance and entry.timing is None and entry.retired is None
    assert entry.launchers[0].calls > ENOUGH - 10


@pytest.mark.parametrize("config", [{"perf_statistics": False}, {"backend": "python"}])
def test_nothing_is_measured(config):
    function = jit(polynomial, jit_config=config)
    calls(function, 1)
    [(_, payload, _)] = function.state.cache.entries
    assert type(payload).__name__ != "EntryTiming"
    calls(function)
    assert function.state.entries[-1].launchers[0].calls == ENOUGH + 1


def test_explain_says_what_was_retired():
    function = jit(polynomial)
    calls(function, 3)
    lose(function)
    report = pijit.explain(function)
    assert report.retired == ("PJ402 measured slower than bytecode (compiled: 2.00 us, bytecode: 1.00 us)",)
    assert "retired:\n  PJ402" in str(report)


def test_a_verdict_is_for_its_entry_alone():
    function = jit(polynomial)
    calls(function)
    function(np.arange(5))
    lose(function)
    assert [entry.retired is None for entry in function.state.entries] == [True, False]
    assert len(calls(function)) == 1 and len(function.state.cache) == 2


def test_a_function_that_is_gone_takes_no_verdict():
    function = jit(polynomial)
    calls(function, 3)
    [(_, timing, _)] = function.state.cache.entries
    function.cache_clear()
    assert type(timing).__name__ == "EntryTiming" and calls(function, 3) == calls(polynomial, 1)


def test_calls_without_a_loop_may_take_longer(monkeypatch):
    def chain(x):
        return x * 2.0 + 1.0

    limits = []

    def timing(payload, on_result, limit):
        limits.append(limit)
        return EntryTiming(payload, on_result, limit)

    monkeypatch.setattr(entry_timing, "EntryTiming", timing)
    for function in (chain, polynomial):
        jit(function)(np.ones(3))
    assert limits == [entry_timing.WITHOUT_LOOPS * entry_timing.LIMIT_NS["auto"], entry_timing.LIMIT_NS["auto"]]


def texts(n):
    s = ""
    for i in range(n):
        s += "%d," % i
    return s


def keys_of(table):
    s = 0
    for key in table:
        s += table[key]
    return s


def both(n, table):
    s = 0
    for i in range(n):
        s += i % 7
        if s == -1:
            for key in table:
                s += table[key]
    return s


@pytest.mark.parametrize("function, arguments, expected", [
    (polynomial, (np.ones(20),), 1), (both, (20, {1: 2}), 1), (np.sqrt, None, entry_timing.WITHOUT_LOOPS),
    (texts, (20,), entry_timing.WITH_OBJECTS), (keys_of, (dict.fromkeys(range(50), 1),), entry_timing.WITH_OBJECTS),
], ids=["numbers", "objects in an inner loop", "no loop", "texts", "items of a dict"])
def test_how_long_calls_may_take_that_are_measured(function, arguments, expected):
    if arguments is None:
        function, arguments = (lambda x: np.sqrt(x) * 2.0 + x), (np.ones(20),)
    f = jit(function)
    for _ in range(3):
        f(*arguments)
    assert f.state.entries[-1].launchers and f.state.entries[-1].patience == expected
