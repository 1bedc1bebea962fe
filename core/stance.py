"""The stance of the process: what all jitted functions do when called, as set by `pijit.stance`.

The pipeline asks for it at each miss.
"""

from __future__ import annotations

import types

from pijit.core import _hook
from pijit.core.errors import RecompileError

_now = "default"


def current() -> str:
    """The name of the current stance."""
    return _now


def take(name: str) -> str:
    """Set the stance, for all threads; returns the previous one."""
    global _now
    previous, _now = _now, name
    _hook.set_plain(name == "python")
    _hook.set_other_stance(name != "default")
    return previous


def allow(function: types.FunctionType, why: str) -> str:
    """Return why a function is captured again, "" for a first capture.

    Raises:
        RecompileError: the stance forbids recompilation.
    """
    if why and _now == "error_on_recompile":
        code = function.__code__
        raise RecompileError(function.__qualname__, why, code.co_filename, code.co_firstlineno)
    return why
