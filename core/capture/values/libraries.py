"""Library functions: they are compiled already or have handlers of their own, and are not inlined."""

from __future__ import annotations

import os
import types

LIBRARIES = frozenset(["numpy", "scipy", "numba", "llvmlite", "pijit"])
"""Packages whose functions have handlers of their own or are compiled already; none is inlined by default."""

COMPUTING = ("pijit.core.graph.derivatives", "pijit.core.graph.substitution", "pijit.ms.amp", "pijit.ms.arrays",
             "pijit.ms.casts", "pijit.ms.cell", "pijit.ms.cell_calls", "pijit.ms.constants", "pijit.ms.dtype",
             "pijit.ms.loss_scalers", "pijit.ms.nn", "pijit.ms.numpy", "pijit.ms.ops", "pijit.ms.parameter",
             "pijit.ms.tensor")
"""Prefixes of the modules whose functions compute with arrays: rules of derivatives, and parts of `pijit.ms`. They are
inlined like the user's code."""

SWITCHES = "pijit.control"
"""The module of the functions that `pijit.disable` and `pijit.stance` make. They are never inlined, under any option.
"""

STANDARD_LIBRARY = os.path.dirname(os.__file__) + os.sep


WRITTEN = {"<__array_function__ internals>": "numpy"}
"""Modules by file name, for functions that are generated from text and whose globals do not name a module."""


def module_of(function: types.FunctionType) -> str:
    """The name of a function's module, from its globals, its ``__module__`` or `WRITTEN`; "" if none of them is a
    string."""
    names = function.__globals__.get("__name__"), function.__module__, WRITTEN.get(function.__code__.co_filename)
    return next((name for name in names if type(name) is str), "")


def in_library(function: types.FunctionType) -> bool:
    """Whether a function belongs to one of ``LIBRARIES``. Those in ``COMPUTING`` do not: they are NumPy code."""
    return module_of(function).split(".")[0] in LIBRARIES and not computes_for_users(function)


def computes_for_users(function: types.FunctionType) -> bool:
    """Whether a function belongs to one of the modules in ``COMPUTING``."""
    return module_of(function).startswith(COMPUTING)


def in_standard_library(function: types.FunctionType) -> bool:
    """Whether a function is part of the standard library, where little code is numerical."""
    file = function.__code__.co_filename
    return file.startswith((STANDARD_LIBRARY, "<frozen ")) and "site-packages" not in file
