"""Every test of guards runs in mirror mode: each evaluation in C is repeated by the Python twin."""

import pytest

from pijit.guards.program import mirror_disagreements, set_mirror


@pytest.fixture(autouse=True)
def mirror(request):
    before, was_on = mirror_disagreements(), set_mirror(True)
    yield
    set_mirror(was_on)
    if request.node.get_closest_marker("disagrees") is None:
        assert mirror_disagreements() == before


def pytest_configure(config):
    config.addinivalue_line("markers", "disagrees: the test makes C and the Python twin of a guard disagree")
