"""Behaviours are tested with the guards' Python twin beside the C one: a disagreement fails the test."""

import pytest

from pijit.guards.program import mirror_disagreements, set_mirror


@pytest.fixture(autouse=True)
def mirror():
    """Mirror mode."""
    previous = set_mirror(True)
    before = mirror_disagreements()
    yield
    set_mirror(previous)
    assert mirror_disagreements() == before
