"""Import fallback for checkouts, where `core/` and `guards/` are beside `pijit/` and cannot be imported from it."""

from __future__ import annotations

import importlib.machinery
import os
import sys


def installed(folder: str) -> str:
    """The folder of the installed package, to be used in place of the one in a checkout.

    Raises:
        ModuleNotFoundError: the package is not installed.
    """
    checkout = os.path.dirname(os.path.abspath(folder))
    others = [entry for entry in sys.path if os.path.abspath(entry) != checkout]
    spec = importlib.machinery.PathFinder.find_spec("pijit", others)
    for found in (spec.submodule_search_locations or []) if spec is not None else []:
        if os.path.isdir(os.path.join(found, "core")):
            return found
    raise ModuleNotFoundError("pijit is not installed, and {} has only its source: run `pip install .` there".format(
        checkout), name="pijit.core")
