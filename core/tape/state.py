"""The tapes that record in this thread, the outermost first."""

from __future__ import annotations

import contextlib
import threading
from typing import Any, Callable, Iterator, List

from pijit.core.tape.tape import Tape


class _State(threading.local):
    def __init__(self) -> None:
        self.tapes: List[Tape] = []


STATE = _State()


def watching(*values: Any) -> List[Tape]:
    """The tapes to which one of these numbers or arrays is active."""
    return [tape for tape in STATE.tapes if any(map(tape.active, values))]


def reached(*values: Any) -> List[Tape]:
    """The tapes for which one of these values is active or leads to something active."""
    return [tape for tape in STATE.tapes if any(map(tape.reaches, values))]


@contextlib.contextmanager
def recording(tape: Tape) -> Iterator[Tape]:
    """Record on one more tape."""
    before = STATE.tapes
    STATE.tapes = before + [tape]
    try:
        yield tape
    finally:
        STATE.tapes = before


@contextlib.contextmanager
def no_grad() -> Iterator[None]:
    """Run the body without recording: what it computes is constant to every gradient around it.

    Example:
        >>> with no_grad():
        ...     scale = float(abs(x).max())
    """
    with only([]):
        yield


@contextlib.contextmanager
def only(tapes: List[Tape]) -> Iterator[None]:
    """Record on these tapes alone."""
    before = STATE.tapes
    STATE.tapes = tapes
    try:
        yield
    finally:
        STATE.tapes = before


def beneath(call: Callable[..., Any]) -> Callable[..., Any]:
    """How a tape that is about to start calls functions that only the tapes around it record."""
    outer, run = STATE.tapes, runner(call)

    def recorded(function: Callable[..., Any], *args: Any) -> Any:
        with only(outer):
            return run(function, *args)
    return recorded if outer else run


def runner(call: Callable[..., Any]) -> Callable[..., Any]:
    """How a backward sweep calls functions: recorded by the tapes around it, or plainly if there are none."""
    if STATE.tapes:
        return lambda function, *args, **kwargs: call(function, args, kwargs)
    return lambda function, *args, **kwargs: function(*args, **kwargs)
