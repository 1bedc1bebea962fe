"""Tools of sys.monitoring see of jitted functions what they see of plain ones (from CPython 3.12 on)."""

import contextlib
import sys

import pytest

from tests.harness import jitted
from tests.tools import observed_program
from tests.tools.observed_program import ALL, GOOD, X, ids, inlining, kernel, outcome, runs_of, scaled, twins

MONITORING = getattr(sys, "monitoring", None)
pytestmark = pytest.mark.skipif(MONITORING is None, reason="sys.monitoring came with 3.12")
FILE = observed_program.__file__
CALLERS = ("outcome", "events")
"""Functions whose events are the tests' own."""
TOOL = 4
LOCAL = ("LINE", "PY_START", "PY_RETURN", "CALL", "BRANCH", "JUMP", "INSTRUCTION")
GLOBAL = LOCAL + ("RAISE", "PY_UNWIND", "RERAISE", "EXCEPTION_HANDLED", "PY_YIELD", "PY_RESUME", "STOP_ITERATION")
NEEDS_CALL = ("C_RETURN", "C_RAISE")


class Tool:
    """A tool that notes all events of the observed file and of this one."""

    def __init__(self, names, answer=None, file=FILE):
        self.events, self.answer, self.file = [], answer, file
        for name in names:
            MONITORING.register_callback(TOOL, getattr(MONITORING.events, name), self._noting(name))

    def _noting(self, name):
        def note(code, *args):
            if code.co_filename == self.file and code.co_name not in CALLERS:
                self.events.append((name, code.co_name, code.co_firstlineno, *map(self._shown, args)))
            return self.answer
        return note

    def _shown(self, value):
        kinds = (int, float, str)
        if isinstance(value, BaseException):
            return type(value).__name__, str(value)
        return value if type(value) in kinds else getattr(value, "__name__", type(value).__name__)


@contextlib.contextmanager
def tool_in_use(names, answer=None, file=FILE):
    MONITORING.use_tool_id(TOOL, "pijit's tests")
    try:
        yield Tool(names, answer, file)
    finally:
        MONITORING.set_events(TOOL, 0)
        for name in names:
            MONITORING.register_callback(TOOL, getattr(MONITORING.events, name), None)
        MONITORING.free_tool_id(TOOL)


def bits(names):
    return sum(getattr(MONITORING.events, name) for name in names)


def global_events(names, f, args, answer=None):
    with tool_in_use(names + NEEDS_CALL * ("CALL" in names), answer) as tool:
        MONITORING.set_events(TOOL, bits(names))
        answer = outcome(f, args)
        MONITORING.set_events(TOOL, 0)
    return tool.events, str(answer)


def local_events(names, code, f, args):
    with tool_in_use(names) as tool:
        MONITORING.set_local_events(TOOL, code, bits(names))
        try:
            answer = outcome(f, args)
        finally:
            MONITORING.set_local_events(TOOL, code, 0)
    return tool.events, str(answer)


@pytest.mark.parametrize("event", GLOBAL)
@pytest.mark.parametrize("function, args", ALL, ids=ids(ALL))
def test_events_of_all_code_are_those_of_python(function, args, event):
    plain, compiled = twins(function, args)
    assert global_events((event,), compiled, args) == global_events((event,), plain, args)
    assert global_events((event,), compiled, args) == global_events((event,), plain, args)


@pytest.mark.parametrize("function, args", ALL, ids=ids(ALL))
def test_all_events_together_are_those_of_python(function, args):
    plain, compiled = twins(function, args, 0)
    wanted = global_events(GLOBAL, plain, args)
    assert len(wanted[0]) > 10
    for _ in range(3):
        assert global_events(GLOBAL, compiled, args) == wanted


@pytest.mark.parametrize("event", LOCAL)
@pytest.mark.parametrize("function, args", ALL, ids=ids(ALL))
def test_events_of_one_code_object_are_those_of_python(function, args, event):
    plain, compiled = twins(function, args)
    wanted = local_events((event,), plain.__code__, plain, args)
    assert local_events((event,), compiled.py_func.__code__, compiled, args) == wanted


@pytest.mark.parametrize("event", LOCAL)
def test_events_of_an_inlined_callee_are_those_of_python(event):
    """A debugger has a breakpoint in a function that kernels have inlined."""
    args = (X, 5)
    plain, compiled = twins(inlining, args)
    before = runs_of(compiled)
    assert before
    wanted = local_events((event,), scaled.__code__, plain, args)
    assert wanted[0] or event in ("JUMP", "CALL")
    for _ in range(2):
        assert local_events((event,), scaled.__code__, compiled, args) == wanted
    before = runs_of(compiled)
    outcome(compiled, args)
    assert runs_of(compiled) > before


def test_events_of_functions_in_a_function_are_those_of_python():
    args = (X, 5)
    plain, compiled = twins(observed_program.comprehending, args)
    nested = [const for const in plain.__code__.co_consts if type(const) is type(plain.__code__)]
    assert nested
    for code in nested:
        wanted = local_events(("LINE", "PY_START"), code, plain, args)
        assert wanted[0]
        assert local_events(("LINE", "PY_START"), code, compiled, args) == wanted


@pytest.mark.parametrize("function, args", GOOD, ids=ids(GOOD))
def test_events_that_are_disabled_stay_so(function, args):
    plain, compiled = twins(function, args)

    def rounds(f):
        with tool_in_use(("LINE",), MONITORING.DISABLE) as tool:
            MONITORING.restart_events()
            MONITORING.set_events(TOOL, bits(("LINE",)))
            outcome(f, args), outcome(f, args)
            MONITORING.restart_events()
            outcome(f, args)
            MONITORING.set_events(TOOL, 0)
        return tool.events
    wanted = rounds(plain)
    assert rounds(compiled) == wanted and len(wanted) > 3


def test_a_tool_that_listens_to_nothing_stops_no_kernel():
    args = (X, 7)
    _, compiled = twins(kernel, args)
    with tool_in_use(("LINE",)):
        before = runs_of(compiled)
        outcome(compiled, args)
        assert runs_of(compiled) > before


def test_events_that_a_tool_has_left_behind_stop_no_kernel():
    """As coverage does: it frees its id, and events of code objects stay."""
    args = (X, 7)
    _, compiled = twins(kernel, args)
    with tool_in_use(("LINE",)):
        MONITORING.set_local_events(TOOL, compiled.py_func.__code__, bits(("LINE",)))
        before = runs_of(compiled)
        outcome(compiled, args)
        assert runs_of(compiled) == before
    outcome(compiled, args)
    assert runs_of(compiled) > before


def switching(x, n, switch):
    before = scaled(x, n)
    total = before.sum()
    switch()
    total = total * 2.0 + n
    for i in range(n):
        total += scaled(x[i], i)
    return scaled(total, n)


def test_a_tool_that_a_callee_switches_on_sees_the_rest():
    """But for where in the bytecode a function returns: linked code has more of it."""
    def events(f):
        with tool_in_use(("LINE", "PY_START", "PY_RETURN"), file=__file__) as tool:
            outcome(f, (X, 5, lambda: MONITORING.set_events(TOOL, bits(("LINE", "PY_START", "PY_RETURN")))))
            MONITORING.set_events(TOOL, 0)
        return [event[:3] if event[0] == "PY_RETURN" else event for event in tool.events]
    plain, _ = twins(switching, (X, 5, int), 0)
    compiled = jitted(switching)
    wanted = events(plain)
    assert len(wanted) > 5
    for _ in range(4):
        assert events(compiled) == wanted
