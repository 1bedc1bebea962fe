"""Copies of Python functions with another code object. This module must stay cheap to import.

Checked calls and whole programs call copies that pijit does not know. `function_state` makes a copy if a code object
belongs to two jitted functions.
"""

from __future__ import annotations

import types

ATTRIBUTES = ("__kwdefaults__", "__qualname__", "__module__", "__doc__", "__annotations__")
"""What a new function does not get from its maker."""


def twin_with(function: types.FunctionType, code: types.CodeType) -> types.FunctionType:
    """A copy of the function with this code object; all else is the same."""
    twin = types.FunctionType(code, function.__globals__, function.__name__, function.__defaults__,
                              function.__closure__)
    for name in ATTRIBUTES:
        setattr(twin, name, getattr(function, name))
    twin.__dict__.update(function.__dict__)
    return twin
