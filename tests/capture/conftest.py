"""Captures are tested with the guards' Python twin beside the C one: a disagreement fails the test."""

import itertools
import sys

import pytest

from pijit.core.capture.build import cost_model
from pijit.core.entries import kernels
from pijit.core.kernel.plan import graph_facts
from pijit.core.kernel.reference import emitter, runtime
from pijit.guards.program import mirror_disagreements, set_mirror

WITHOUT_TWIN = ("test_leaks", "test_tracing", "test_threads", "test_errors", "test_recursion", "test_polls",
                "test_osr", "test_retired_code", "test_slow_loops")


@pytest.fixture(autouse=True)
def mirror(request):
    """Mirror mode, but where references, seconds, other threads, the depth of the stack or the frames of Python code count."""
    previous = set_mirror(request.module.__name__.split(".")[-1] not in WITHOUT_TWIN)
    before = mirror_disagreements()
    yield
    set_mirror(previous)
    assert mirror_disagreements() == before


@pytest.fixture
def little_work(monkeypatch):
    """A few operations are worth a kernel: for tests of what a small segment does, not of what it gains."""
    monkeypatch.setattr(cost_model, "least_work", lambda captured, cfg: 3)


@pytest.fixture
def polls(monkeypatch):
    """The Python back end leaves at every third poll."""
    monkeypatch.setattr(runtime, "POLL_EVERY", 3)


@pytest.fixture
def leaves_often(monkeypatch):
    """The Python back end takes every third of the exits that it could take, polls or not; a list of one for each taken."""
    asked, taken = itertools.count(1), []

    def leave():
        number = next(asked)
        if number % 3 == 0:
            taken.append(number)
            raise AssertionError

    def operation(self, op):
        if op.exit is None:
            return plain(self, op)
        self.line("try:")
        self.depth += 1
        self.line("leave()")
        self._compute(op, emitter._OPERATIONS[op.name](self, op))
        self.depth -= 1
        self.line("except Exception:")
        self.depth += 1
        self.take(op.exit)
        self.depth -= 1
    plain = emitter.PythonEmitter.operation
    monkeypatch.setattr(emitter.PythonEmitter, "operation", operation)
    monkeypatch.setitem(runtime.NAMES, "leave", leave)
    return taken


@pytest.fixture
def open_gates(monkeypatch):
    """Bytecode that arrives at a loop's header goes on in the loop's kernel each time, however little that has gained."""
    made = kernels.make_reentry

    def make(*args):
        reentry = made(*args)
        reentry.launcher.wait = reentry.launcher.longest_wait = 0
        return reentry
    monkeypatch.setattr(kernels, "make_reentry", make)


@pytest.fixture
def slow_switching():
    """Nobody is asked for the GIL."""
    previous = sys.getswitchinterval()
    sys.setswitchinterval(1000.0)
    yield
    sys.setswitchinterval(previous)


@pytest.fixture
def groups(monkeypatch):
    """A list of the groups of operations that kernels in machine code are made of, as they are found."""
    seen, find = [], graph_facts.find_groups

    def found(*args):
        made = find(*args)
        seen.extend(made.values())
        return made

    monkeypatch.setattr(graph_facts, "find_groups", found)
    return seen
