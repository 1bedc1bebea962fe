"""Captures are tested with the guards' Python twin beside the C one: a disagreement fails the test."""

import pytest

from pijit.core.capture import cost
from pijit.core.kernel import python_runtime
from pijit.guards.program import mirror_disagreements, set_mirror

WITHOUT_TWIN = ("test_leaks", "test_tracing", "test_threads", "test_errors", "test_recursion", "test_polls",
                "test_moves", "test_retired_code")


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
    monkeypatch.setattr(cost, "least_work", lambda captured, cfg: 3)


@pytest.fixture
def polls(monkeypatch):
    """The Python back end leaves at every third poll."""
    monkeypatch.setattr(python_runtime, "POLL_EVERY", 3)
