"""What all jitted functions of the process do when called: the setting that `pijit.stance` changes and explains."""

from __future__ import annotations

import types

from pijit.core import _hook
from pijit.core.errors import RecompileError

_now = "default"


def current() -> str:
    """The name of the stance that holds now."""
    return _now


def take(name: str) -> str:
    """Take a stance, on all threads; returns the previous one."""
    global _now
    previous, _now = _now, name
    _hook.set_plain(name == "python")
    return previous


def allow(function: types.FunctionType, why: str) -> str:
    """Give back why a function is captured again, "" for a first capture.

    Raises:
        RecompileError: the stance forbids it.
    """
    if why and _now == "error_on_recompile":
        code = function.__code__
        raise RecompileError(function.__qualname__, why, code.co_filename, code.co_firstlineno)
    return why
