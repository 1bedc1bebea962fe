"""Host calls: calls with effects outside of arrays, such as `print`, that joint functions make as the program does.

A joint function that raises is followed by the tape, which runs the whole call again and raises or warns as the program
does. The tape does not repeat the host calls that the joint function has made. It gives their outcomes instead.
"""

from __future__ import annotations

import contextlib
import io
import sys
import threading
from typing import Any, Iterator, List, Optional, Sequence, Tuple

from pijit.core.tape.callables import HANDLERS
from pijit.core.tape.special_methods import stand_in

HOST_FUNCTIONS: Tuple[Any, ...] = (print, io.TextIOWrapper.write, io.StringIO.write)
"""The functions. They change no array. `print` returns None, the methods the length of the text."""

HostCallError = Optional[Exception]
"""What a host call raised, or None."""

ALL_MADE: List[HostCallError] = [None]
"""For `replayed`: all host calls have been made, and none has raised."""


def outcomes_of(marks: Sequence[int], error: Exception) -> List[HostCallError]:
    """The outcomes of a joint function's host calls.

    Args:
        marks: what the joint function has appended: an item before and an item after each host call.
        error: what the joint function has raised.
    """
    found: List[HostCallError] = [None] * (len(marks) // 2)
    return found + [error] if len(marks) % 2 else found


class _ThreadOutcomes(threading.local):
    """What the tape of one thread has still to give, or `ALL_MADE`."""

    def __init__(self) -> None:
        self.outcomes: List[HostCallError] = []


_STATE = _ThreadOutcomes()


@contextlib.contextmanager
def replayed(outcomes: Sequence[HostCallError]) -> Iterator[None]:
    """In the body, give these outcomes to the first host calls that the tape meets, instead of making the calls."""
    before = _STATE.outcomes
    _STATE.outcomes = outcomes if outcomes is ALL_MADE else list(outcomes)
    try:
        yield
    finally:
        _STATE.outcomes = before


def run_no_python(inputs: Sequence[Any]) -> bool:
    """Whether `print`, and the files among the inputs, write by C code. Then no code of the program runs meanwhile that
    could change what it reads."""
    files = [one for one in inputs if isinstance(one, io.TextIOBase)]
    return _writes_natively(sys.stdout) and all(map(_writes_natively, files))


def _writes_natively(file: Any) -> bool:
    kind = type(file)
    method = getattr(kind, "write", None)
    is_native = any(method is one for one in HOST_FUNCTIONS) and "write" not in getattr(file, "__dict__", ())
    return is_native or kind.__module__ == "ipykernel.iostream"


def _replayed() -> Optional[List[HostCallError]]:
    """The next outcome, in a list, or None: the call is to be made."""
    if _STATE.outcomes is ALL_MADE:
        return ALL_MADE
    return [_STATE.outcomes.pop(0)] if _STATE.outcomes else None


def _raise(outcome: HostCallError) -> None:
    if outcome is not None:
        raise outcome.with_traceback(None)


def _print(*args: Any, **kwargs: Any) -> None:
    found = _replayed()
    if found is not None:
        return _raise(found[0])
    print(*map(stand_in, args), **{name: stand_in(one) for name, one in kwargs.items()})


def _write(function: Any, *args: Any, **kwargs: Any) -> Any:
    """The method `write` of a file. Only texts are host calls."""
    found = _replayed() if len(args) == 1 and type(args[0]) is str and not kwargs else None
    if found is None:
        return function(*args, **kwargs)
    _raise(found[0])
    return len(args[0])


HANDLERS.update({print: _print, "TextIOWrapper.write": _write, "StringIO.write": _write})
