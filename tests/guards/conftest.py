"""Every test of guards runs in mirror mode: each evaluation in C is repeated by the Python twin."""

import pytest

from pijit.guards.program import mirror_disagreements, set_mirror


@pytest.fixture(autouse=True)
def mirror():
    before, was_on = mirror_disagreements(), set_mirror(True)
    yield
    set_mirror(was_on)
    assert mirror_disagreements() == before
