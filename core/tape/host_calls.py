"""Host calls: calls with effects outside of arrays, such as `print`, that joint functions make as the program does.

A joint function that raises is followed by the tape, which runs the whole call again and raises or warns as the program
does. The tape does not repeat the host calls that the joint function has made. It gives their outcomes instead.
"""

from __future__ import annotations

import contextlib
import threading
from typing import Any, Callable, Iterator, List, Optional, Sequence

from pijit.core.tape.callables import HANDLERS
from pijit.core.tape.special_methods import stand_in

HOST_FUNCTIONS = (print,)
"""The functions. They return None and change no array."""

Outcome = Optional[Exception]
"""What a host call raised, or None."""

ALL_MADE: List[Outcome] = [None]
"""For `replayed`: all host calls have been made, and none has raised."""


def outcomes_of(marks: Sequence[int], error: Exception) -> List[Outcome]:
    """The outcomes of a joint function's host calls.

    Args:
        marks: what the joint function has appended: an item before and an item after each host call.
        error: what the joint function has raised.
    """
    found: List[Outcome] = [None] * (len(marks) // 2)
    return found + [error] if len(marks) % 2 else found


class _State(threading.local):
    """What the tape of one thread has still to give, or `ALL_MADE`."""

    def __init__(self) -> None:
        self.outcomes: List[Outcome] = []


_STATE = _State()


@contextlib.contextmanager
def replayed(outcomes: Sequence[Outcome]) -> Iterator[None]:
    """In the body, give these outcomes to the first host calls that the tape meets, instead of making the calls."""
    before = _STATE.outcomes
    _STATE.outcomes = outcomes if outcomes is ALL_MADE else list(outcomes)
    try:
        yield
    finally:
        _STATE.outcomes = before


def _handler(function: Callable[..., Any]) -> Callable[..., Any]:
    """What the tape calls in place of a host function."""
    def call(*args: Any, **kwargs: Any) -> Any:
        if _STATE.outcomes is ALL_MADE:
            return None
        if _STATE.outcomes:
            outcome = _STATE.outcomes.pop(0)
            if outcome is not None:
                raise outcome.with_traceback(None)
            return None
        return function(*map(stand_in, args), **{name: stand_in(one) for name, one in kwargs.items()})
    return call


HANDLERS.update((function, _handler(function)) for function in HOST_FUNCTIONS)
