"""Modules of pijit that the tape does not record exist."""

import importlib

import pytest

from pijit.core.tape.callables import OWN_MODULES


@pytest.mark.parametrize("name", sorted(OWN_MODULES))
def test_modules_exist(name):
    assert importlib.import_module(name).__name__ == name
