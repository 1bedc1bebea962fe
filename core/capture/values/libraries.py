"""Which functions belong to libraries that are compiled already, or have handlers of their own."""

from __future__ import annotations

import os
import types

LIBRARIES = frozenset(["numpy", "scipy", "numba", "llvmlite", "pijit"])
"""Packages whose functions have handlers of their own or are compiled already; none is inlined by default."""

COMPUTING = ("pijit.ms.arrays", "pijit.ms.cell", "pijit.ms.dtype", "pijit.ms.nn", "pijit.ms.numpy", "pijit.ms.ops",
             "pijit.ms.parameter", "pijit.ms.tensor")
"""How the names of modules of `pijit.ms` begin whose functions compute with arrays, and are inlined as a program's are."""

SWITCHES = "pijit.control"
"""The module of the functions that `pijit.disable` and `pijit.stance` make: none is inlined, whatever is allowed."""

STANDARD_LIBRARY = os.path.dirname(os.__file__) + os.sep


WRITTEN = {"<__array_function__ internals>": "numpy"}
"""By file name, the modules of functions that are made of text and whose globals do not say whose they are."""


def module_of(function: types.FunctionType) -> str:
    """The module that a function's globals belong to or that it says it is of; "" if neither says."""
    names = function.__globals__.get("__name__"), function.__module__, WRITTEN.get(function.__code__.co_filename)
    return next((name for name in names if type(name) is str), "")


def in_library(function: types.FunctionType) -> bool:
    """Whether a function belongs to one of ``LIBRARIES``; not what `pijit.ms` computes, which is plain NumPy code."""
    module = module_of(function)
    return module.split(".")[0] in LIBRARIES and not module.startswith(COMPUTING)


def in_standard_library(function: types.FunctionType) -> bool:
    """Whether a function is Python's own: little in there is about numbers."""
    file = function.__code__.co_filename
    return file.startswith((STANDARD_LIBRARY, "<frozen ")) and "site-packages" not in file
