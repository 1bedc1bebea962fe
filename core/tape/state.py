"""The stack of tapes that record in this thread, the outermost first.

The modules of `tape` and `pijit.ms` ask it. It must not be shared between threads.
"""

from __future__ import annotations

import contextlib
import threading
from typing import Any, Callable, Iterator, List

from pijit.core.tape.native import plain_run, set_recording, set_tapes
from pijit.core.tape.tape import Tape


class _ThreadTapes(threading.local):
    def __init__(self) -> None:
        self.tapes: List[Tape] = []


STATE = _ThreadTapes()


def _record_on(tapes: List[Tape]) -> None:
    """Record on these tapes in this thread from now on."""
    STATE.tapes = tapes
    set_tapes(tapes)
    set_recording(bool(tapes))


def watching(*values: Any) -> List[Tape]:
    """The tapes for which one of these numbers or arrays is active."""
    return [tape for tape in STATE.tapes if any(map(tape.active, values))]


def reached(*values: Any) -> List[Tape]:
    """The tapes for which one of these values is active or refers to an active value."""
    return [tape for tape in STATE.tapes if any(map(tape.reaches, values))]


@contextlib.contextmanager
def recording(tape: Tape) -> Iterator[Tape]:
    """Add a tape to those that record in this thread."""
    before = STATE.tapes
    _record_on(before + [tape])
    try:
        yield tape
    finally:
        _record_on(before)


@contextlib.contextmanager
def no_grad() -> Iterator[None]:
    """Run the body without recording: its results are constants in every enclosing gradient.

    Example:
        >>> with no_grad():
        ...     scale = float(abs(x).max())
    """
    with only([]):
        yield


@contextlib.contextmanager
def only(tapes: List[Tape]) -> Iterator[None]:
    """Record on these tapes only."""
    before = STATE.tapes
    _record_on(tapes)
    try:
        yield
    finally:
        _record_on(before)


def beneath(call: Callable[..., Any]) -> Callable[..., Any]:
    """The call function of a tape that is about to start; only the enclosing tapes record its calls."""
    outer, run = STATE.tapes, runner(call)

    def recorded(function: Callable[..., Any], *args: Any) -> Any:
        with only(outer):
            return run(function, *args)
    return recorded if outer else run


def runner(call: Callable[..., Any]) -> Callable[..., Any]:
    """The call function of a backward sweep: recorded by the enclosing tapes, or plain if there are none."""
    if STATE.tapes:
        return lambda function, *args, **kwargs: call(function, args, kwargs)
    return plain_run
