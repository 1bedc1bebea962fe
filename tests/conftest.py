"""For all tests: the installed pijit is tested, and its internal errors are raised, not logged."""

import gc
import importlib
import os
import signal
import sys

import pytest

# pytest puts the source tree on the path, where pijit/ lacks core/ and guards/: those are its siblings there.
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or os.getcwd()) != ROOT]

import pijit  # noqa: E402
from pijit.core import errors  # noqa: E402

if os.environ.get("PIJIT_TEST_INSTALLED"):
    assert os.path.dirname(os.path.abspath(pijit.__file__)) != os.path.join(ROOT, "pijit"), "not installed"


@pytest.fixture(autouse=True, scope="session")
def strict():
    """Turn the strict switch on, and make interrupts arrive."""
    previous = errors.set_strict(True)
    # A shell that starts jobs in the background lets them ignore interrupts, which some tests raise.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    errors.set_strict(previous)


@pytest.fixture(autouse=True, scope="module")
def short_collections():
    """Leave what exists out of collections: with all that numba makes, each would take a tenth of a second."""
    importlib.import_module("pijit.core.pipeline")
    gc.collect()
    gc.freeze()
