"""How often kernels are left is counted by line and cause, and told by `explain`, `info`, pages and logs."""

import logging
import math
import warnings

import numpy as np
import pytest

import pijit
from tests.harness import jitted

CALLS = 6


def index_out_of_range(x, n):
    s = 0.0
    for i in range(n):
        s += x[i] * 2.0 + 1.0
    return s


def zero_division(a, b):
    for i in range(8):
        c = a * 2.0 + b
        d = c / b
    return c + d


def integer_overflow(a, b):
    for i in range(8):
        c = a + 1
        d = c * b
    return c - d


def shapes(a, b):
    for i in range(8):
        c = a + 1.0
        d = c * b
    return d - 1.0


def flag(a, b):
    for i in range(8):
        c = a + 1.0
        d = c / b
    return d - 1.0


def missing_key(d, key):
    s = 0.0
    for i in range(8):
        s += d[key] * 0.5 + i
    return s


def domain(a, b):
    for i in range(8):
        c = a + b
        d = math.sqrt(c)
    return d - 1.0


def whole(a, b):
    for i in range(8):
        c = a * b
        d = int(c)
    return d + 1


def negative_shift(a, b):
    for i in range(8):
        c = a + 1
        d = c << b
    return c + d


ROWS = np.arange(6.0)
CASES = (
    (index_out_of_range, (ROWS, 6), (ROWS, 9), "load", 3),
    (zero_division, (1.0, 2.0), (1.0, 0.0), "/", 3),
    (integer_overflow, (3, 4), (2 ** 61, 2 ** 40), "*", 3),
    (shapes, (ROWS, ROWS), (ROWS, np.arange(4.0)), "add or multiply", None),
    (flag, (np.float64(1.0), np.float64(2.0)), (np.float64(1.0), np.float64(0.0)), "+ or /", None),
    (domain, (1.0, 2.0), (1.0, -2.0), "sqrt", 3),
    (whole, (1.5, 2.0), (1e200, 2.0), "cast", 3),
    (negative_shift, (3, 4), (3, -4), "<<", 3),
    (missing_key, ({"a": 1.0}, "a"), ({"b": 1.0}, "a"), None, None),
)


def outcome(f, args):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return repr(f(*args))
        except Exception as error:
            return repr(error)


def run(f, usual, odd):
    j = jitted(f, {"perf_statistics": False, "force_breaks": None})
    for _ in range(4):
        assert outcome(j, usual) == outcome(f, usual)
    assert pijit.info(j).exits.exits == ()
    for _ in range(CALLS):
        assert outcome(j, odd) == outcome(f, odd)
    return j


@pytest.mark.parametrize("f, usual, odd, operation, offset", CASES, ids=[case[0].__name__ for case in CASES])
def test_each_cause_is_counted(f, usual, odd, operation, offset):
    j = run(f, usual, odd)
    counts = pijit.info(j).exits
    if operation is None:  # guards tell before the kernel runs, or the kernel leaves
        assert counts.exits or counts.misses or pijit.info(j).recompiles
        return
    (left,) = counts.exits
    assert left.operation in (operation, operation.split()[-1]) and left.count == CALLS and left.runs >= CALLS and left.why
    if offset is not None:
        assert left.line == f.__code__.co_firstlineno + offset
    assert left.reason_id == "PJ310" and left.hint


def test_the_line_is_marked_as_a_break_is():
    j = run(zero_division, (1.0, 2.0), (1.0, 0.0))
    line = zero_division.__code__.co_firstlineno + 3
    for report in (pijit.explain(j), pijit.explain(j, 1.0, 2.0)):
        (marked,) = [one for one in report.annotated if one.number == line]
        assert marked.mark.endswith("/py") and any("PJ310" in note for note in marked.notes)
        assert "PJ310" in str(report)
    assert "PJ310" in pijit.explain(j)._repr_html_() and "PJ310" in str(pijit.info(j))


def test_rare_exits_are_listed_but_not_marked():
    j = jitted(zero_division, {"perf_statistics": False, "force_breaks": None})
    for _ in range(12):
        j(1.0, 2.0)
    assert outcome(j, (1.0, 0.0)) == outcome(zero_division, (1.0, 0.0))
    (left,) = pijit.info(j).exits.exits
    assert (left.count, left.reason_id, left.hint) == (1, "", "")
    text = str(pijit.explain(j))
    assert "PJ310" not in text and "exits:" in text and "the divisor is zero" in text


def test_a_loop_that_comes_back_is_not_marked():
    def f(x):
        s = 0.0
        for i in range(len(x)):
            s += 1.0 / x[i]
        return s

    x = np.ones(20000)
    x[::4000] = 0.0
    with np.errstate(all="ignore"):
        j = jitted(f, {"perf_statistics": False, "force_breaks": None})
        for _ in range(5):
            assert j(x) == f(x)
    counts = pijit.info(j).exits
    assert counts.exits and counts.exits[0].reason_id == "" and counts.reentries and not counts.reentries[0].waits


def test_the_log_tells_exits_when_a_function_is_reset(caplog):
    j = run(zero_division, (1.0, 2.0), (1.0, 0.0))
    with caplog.at_level(logging.DEBUG, logger="pijit.exits"):
        pijit.reset()
    assert any("zero_division: exits: line" in record.getMessage() for record in caplog.records)
    assert pijit.info(j).exits.exits == ()


def caught(x, n):
    s = 0.0
    for i in range(n):
        try:
            s += x[i] * 2.0
        except IndexError:
            s -= 1.0
    return s


def underflow(a, b):
    for i in range(8):
        c = a * 0.5
        d = c ** b
    return d + 1.0


def outgrown(n):
    s = 1
    for i in range(n):
        s = s * 3
    return s


def unbound(a, n):
    for i in range(n):
        last = a * i
    return last


def long_sum(x):
    s = 0.0
    for i in range(len(x)):
        s += x[i] / (x[i] - 3.0)
    return s


def test_exits_of_kernels_without_the_lock_are_counted():
    values = np.arange(6.0)
    j = jitted(long_sum, {"perf_statistics": False, "force_breaks": None, "nogil": True})
    for _ in range(3):
        assert outcome(j, (values[:3],)) == outcome(long_sum, (values[:3],))
    for _ in range(CALLS):
        assert outcome(j, (values,)) == outcome(long_sum, (values,))
    exits = pijit.info(j).exits.exits
    assert sum(left.count for left in exits) == CALLS and exits[0].line == long_sum.__code__.co_firstlineno + 3


def test_an_integer_that_outgrows_its_word_is_counted_once_for_each_call():
    j = jitted(outgrown, {"perf_statistics": False, "force_breaks": None})
    for _ in range(3):
        assert j(10) == 3 ** 10
    for _ in range(CALLS):
        assert j(45) == 3 ** 45
    (left,) = [left for left in pijit.info(j).exits.exits if left.count]
    assert (left.line, left.count) == (outgrown.__code__.co_firstlineno + 3, CALLS)


def test_an_exception_that_the_loop_catches_is_no_exit_or_is_counted():
    j = jitted(caught, {"perf_statistics": False, "force_breaks": None})
    for _ in range(4):
        assert outcome(j, (ROWS, 6)) == outcome(caught, (ROWS, 6))
    for _ in range(CALLS):
        assert outcome(j, (ROWS, 9)) == outcome(caught, (ROWS, 9))
    assert sum(left.count for left in pijit.info(j).exits.exits) in (0, CALLS, 3 * CALLS)


def test_a_variable_that_has_no_value_raises_as_in_python():
    j = jitted(unbound, {"perf_statistics": False, "force_breaks": None})
    for _ in range(3):
        assert outcome(j, (2.0, 4)) == outcome(unbound, (2.0, 4))
    for _ in range(CALLS):
        assert outcome(j, (2.0, 0)) == outcome(unbound, (2.0, 0))
    assert pijit.info(j).exits.polls == 0


def test_small_powers_that_are_common_do_not_leave():
    j = jitted(underflow, {"perf_statistics": False, "force_breaks": None})
    for a, b in ((2.0, 2), (0.0, 2), (-0.0, 3), (-3.0, 2.0), (float("inf"), 2), (float("nan"), 2.0)):
        for _ in range(3):
            assert outcome(j, (a, b)) == outcome(underflow, (a, b))
        assert not [left for left in pijit.info(j).exits.exits if left.count], (a, b)
