"""Work that signal handlers do not interrupt: they run in the main thread alone, and one that raises in the middle of
numba or llvmlite - KeyboardInterrupt - would leave locks of theirs taken, for which other threads then wait for ever."""

from __future__ import annotations

import sys
import threading
from typing import Any, Callable, List

from pijit.core import _hook
from pijit.core.kernel.fork_safety import ending, importing, in_child

MOMENT = 0.05
"""Seconds after which a child that a signal handler makes finds out that it has no worker."""


class _Worker(threading.Thread):
    """Runs one function; what comes of it, and whether that was raised, is in ``outcome``.

    ``over`` is locked until then. A signal handler may fork while the main thread waits: the child, which has no
    worker, waits no longer and finds no outcome.
    """

    def __init__(self, function: Callable[[], Any]) -> None:
        super().__init__(name="pijit compiles")
        self.daemon = False  # also if the program ends meanwhile
        self.function = function
        self.outcome: List[Any] = []
        self.over = threading.Lock()
        self.over.acquire()
        in_child(self)

    def run(self) -> None:
        try:
            with _hook.disabled():
                self.outcome = [self.function(), False]
        except BaseException as error:
            self.outcome = [error, True]
        finally:
            ending()
            self.forked()

    def forked(self) -> None:
        """Let the main thread go on."""
        if self.over.locked():
            self.over.release()


def _threads_are_watched() -> bool:
    """Whether the program would be told of what another thread runs."""
    return any(getattr(threading, name, None) is not None for name in ("_trace_hook", "_profile_hook"))


def _must_run_here() -> bool:
    """Whether this thread must not wait for another one, or need not.

    A new thread does not begin while the interpreter ends. It could wait for a module that this thread is importing.
    """
    return (threading.current_thread() is not threading.main_thread() or _threads_are_watched()
            or sys.is_finalizing() or importing())


def uninterrupted(function: Callable[[], Any]) -> Any:
    """What the function returns or raises. The main thread waits for another, which goes on if an exception ends
    that."""
    if _must_run_here():
        return function()
    worker = _Worker(function)
    try:
        worker.start()
    except RuntimeError:  # there can be no more threads
        return function()
    worker.over.acquire()
    if not worker.outcome:  # this is a child that a signal handler made
        return function()
    while worker.is_alive():  # the program is to find the threads that it knows
        worker.join(MOMENT)
    (result, raised), worker.outcome = worker.outcome, []
    try:
        if raised:
            raise result
        return result
    finally:
        del result  # an exception leads to this frame
