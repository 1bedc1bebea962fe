"""Compile on a helper thread, because signal handlers run on the main thread only.

A handler may raise in the middle of numba or llvmlite; that of SIGINT raises KeyboardInterrupt. Their locks would then
stay taken, and other threads would wait for them for ever. Called by codegen.py.
"""

from __future__ import annotations

import sys
import threading
from typing import Any, Callable, List

from pijit.core import _hook
from pijit.core.kernel.fork_safety import importing, in_child

MOMENT = 0.05
"""Seconds after which a child that a signal handler forked notices that it has no worker."""


class _Worker(threading.Thread):
    """Runs one function; ``answer`` is its result or exception, and whether it raised.

    ``over`` is locked until the outcome is there. A signal handler may fork while the main thread waits. The child has
    no worker, so it stops waiting and finds no outcome.
    """

    def __init__(self, function: Callable[[], Any]) -> None:
        super().__init__(name="pijit compiles")
        self.daemon = False  # the thread finishes even if the program ends first
        self.function = function
        self.answer: List[Any] = []
        self.over = threading.Lock()
        self.over.acquire()
        in_child(self)

    def run(self) -> None:
        try:
            with _hook.disabled():
                self.answer = [self.function(), False]
        except BaseException as error:
            self.answer = [error, True]
        finally:
            self.forked()

    def forked(self) -> None:
        """Wake the main thread."""
        if self.over.locked():
            self.over.release()


def _threads_are_watched() -> bool:
    """Whether the program traces or profiles other threads, so that it would see the worker."""
    return any(getattr(threading, name, None) is not None for name in ("_trace_hook", "_profile_hook"))


def _must_run_here() -> bool:
    """Whether this thread must not wait for a worker, or need not.

    A new thread does not start while the interpreter ends. A worker could wait for a module that this thread imports.
    """
    return (threading.current_thread() is not threading.main_thread() or _threads_are_watched()
            or sys.is_finalizing() or importing())


def uninterrupted(function: Callable[[], Any]) -> Any:
    """Call a function on a helper thread and return its result, or raise its exception.

    The main thread waits for the worker. If an exception ends that wait, the worker continues.
    """
    if _must_run_here():
        return function()
    worker = _Worker(function)
    try:
        worker.start()
    except RuntimeError:  # no more threads can start
        return function()
    worker.over.acquire()
    if not worker.answer:  # this process is a child that a signal handler forked
        return function()
    while worker.is_alive():  # the program must see no thread that it did not start
        worker.join(MOMENT)
    (result, raised), worker.answer = worker.answer, []
    try:
        if raised:
            raise result
        return result
    finally:
        del result  # an exception's traceback refers to this frame
