"""NumPy's error state for joint functions: one that raises what the caller's state reports, and one that ignores all.

`pijit/gradient_kernels.py` and `core/native/function/gradients/joint_dispatch.c` enter them. `np.errstate` takes longer
than a small kernel. From NumPy 2.0 on the state is an immutable object in a context variable, so the states that follow
from it are made once. They must leave the caller's state as it was.
"""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from pijit.core.named_tuples import NamedTuple

try:
    from numpy._core import umath as _umath
except ImportError:
    _umath = None  # type: ignore[assignment, unused-ignore]
_STATE: Any = getattr(_umath, "_extobj_contextvar", None)
"""NumPy's context variable, or None."""


class ErrorStates(NamedTuple):
    """The caller's state, and the states that follow from it; `variable` is NumPy's context variable for them."""

    variable: Any
    caller: Any
    raising: Any
    ignoring: Any


_last = ErrorStates(_STATE, None, None, None)


def enter_raising() -> Any:
    """Raise what the current state does not ignore; returns what `leave` takes."""
    if _STATE is None:
        return _entered(_raising())
    return _STATE.set(_states().raising)


def enter_ignoring() -> Any:
    """Ignore all floating-point errors; returns what `leave` takes."""
    if _STATE is None:
        return _entered(np.errstate(all="ignore"))
    return _STATE.set(_states().ignoring)


def states() -> Optional[ErrorStates]:
    """The states that follow from the current one; None if NumPy has no context variable for them."""
    return None if _STATE is None else _states()


def leave(token: Any) -> None:
    """Return to the state before."""
    if _STATE is None:
        token.__exit__(None, None, None)
    else:
        _STATE.reset(token)


def _entered(state: Any) -> Any:
    state.__enter__()
    return state


def _raising() -> Any:
    """The error state that raises what the current one does not ignore."""
    kinds = {kind: "ignore" if what == "ignore" else "raise" for kind, what in np.geterr().items()}
    return np.errstate(**kinds)  # type: ignore[arg-type]


def _states() -> ErrorStates:
    """The states that follow from the current one. Threads may make them twice, which does no harm."""
    global _last
    known, caller = _last, _STATE.get()
    if known.caller is not caller and known.raising is not caller:
        with _raising():
            raising = _STATE.get()
        with np.errstate(all="ignore"):
            known = _last = ErrorStates(_STATE, caller, raising, _STATE.get())
    return known
