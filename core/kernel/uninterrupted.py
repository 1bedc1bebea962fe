"""Work that signal handlers do not interrupt: they run in the main thread alone, and one that raises in the middle of
numba or llvmlite - KeyboardInterrupt - would leave locks of theirs taken, for which other threads then wait for ever."""

from __future__ import annotations

import threading
from typing import Any, Callable, List

from pijit.core import _hook


class _Worker(threading.Thread):
    """Runs one function; what comes of it, and whether that was raised, is in ``outcome``."""

    def __init__(self, function: Callable[[], Any]) -> None:
        super().__init__(name="pijit compiles")
        self.daemon = False  # also if the program ends meanwhile
        self.function = function
        self.outcome: List[Any] = []

    def run(self) -> None:
        try:
            with _hook.disabled():
                self.outcome = [self.function(), False]
        except BaseException as error:
            self.outcome = [error, True]


def _threads_are_watched() -> bool:
    """Whether the program would be told of what another thread runs."""
    return any(getattr(threading, name, None) is not None for name in ("_trace_hook", "_profile_hook"))


def uninterrupted(function: Callable[[], Any]) -> Any:
    """What the function returns or raises. The main thread waits for another, which goes on if an exception ends
    that."""
    if threading.current_thread() is not threading.main_thread() or _threads_are_watched():
        return function()
    worker = _Worker(function)
    try:
        worker.start()
    except RuntimeError:  # there can be no more threads
        return function()
    worker.join()
    (result, raised), worker.outcome = worker.outcome, []
    try:
        if raised:
            raise result
        return result
    finally:
        del result  # an exception leads to this frame
