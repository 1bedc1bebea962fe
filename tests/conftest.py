"""For all tests: internal errors of pijit are raised, not logged."""

import pytest

from pijit.core import errors


@pytest.fixture(autouse=True, scope="session")
def strict():
    """Turn the strict switch on."""
    previous = errors.set_strict(True)
    yield
    errors.set_strict(previous)
