"""Asynchronous exceptions: the program's own exceptions that arrive while the compiler works.

A signal handler raises one on the main thread, and `PyThreadState_SetAsyncExc` on any thread, between two bytecodes.
The compiler's code may run there instead of the program's. Handlers of signals wait until the compiler is done
(`signals_deferred`). Other exceptions are told from the compiler's own errors (`raise_asynchronous`) and are raised in
the program's function. Called by the pipeline; it never decides what is compiled.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
import threading
import types
from typing import Any, FrozenSet, Iterator, Optional, Tuple

from pijit.core import _signals

_signal: Any = importlib.import_module("_signal")
"""The C module below `signal`, which makes no enumeration members of its answers: that takes ten times as long."""

_COMPILER = frozenset(("pijit", "numba", "llvmlite", "numpy", "bytecode"))
"""The packages whose exceptions are the compiler's own errors."""

_WITHOUT_ARGUMENTS = (AssertionError, StopIteration, NotImplementedError, MemoryError, RecursionError)
"""Builtin exceptions that Python code or the interpreter raises without arguments."""

_LONGEST_CHAIN = 20
"""Exceptions of a chain that are looked at; chains may be circular."""

_STANDARD_LIBRARY = os.path.dirname(os.__file__) + os.sep


class _DeferringThread:
    """The state of this process: the identifier of the thread that deferred signals last."""

    deferring = 0


def signals_deferred() -> _signals.Deferral:
    """A context manager: the program's signal handlers wait. On other threads than the main thread it does nothing.

    Python's own handler of SIGINT does not wait, so that Ctrl-C ends a long compilation. The context manager is written
    in C: an exception between two bytecodes of its own methods would leave the signals deferred for ever.
    """
    thread = threading.get_ident()
    if thread != threading.main_thread().ident:
        return _signals.Deferral(None)
    _DeferringThread.deferring = thread
    return _signals.Deferral(_with_handlers())


def _with_handlers() -> Tuple[int, ...]:
    """The signals that the program handles in Python."""
    handlers = ((number, _signal.getsignal(number)) for number in range(1, signal.NSIG))
    return tuple(number for number, handler in handlers
                 if callable(handler) and handler is not signal.default_int_handler)


def _forget_in_child() -> None:
    """A child does not have the thread that deferred signals, unless that thread forked."""
    if _DeferringThread.deferring != threading.get_ident():
        _signals.forget()


def raise_asynchronous(error: BaseException, was_caught_in_c: bool = False) -> None:
    """Raise the program's exception that arrived in the middle of the compiler's code, if there is one.

    It is the exception itself or one in its chain: code that cleans up after it may have raised another one. Exceptions
    that the program was handling when it called the compiler end the chain.

    Arguments:
        error: an exception that was caught.
        was_caught_in_c: whether C code caught it, before it called the function that calls this one.
    """
    at: Optional[BaseException] = error
    caller: Optional[types.FrameType] = sys._getframe(1)
    if was_caught_in_c and caller is not None:
        caller = caller.f_back  # None: C code has called the thread's first frame
    for _ in range(_LONGEST_CHAIN):
        if at is None or not _was_caught_below(at, caller, was_caught_in_c):
            return
        if _is_asynchronous(at):
            raise at
        at = at.__cause__ or at.__context__


def _was_caught_below(error: BaseException, frame: Optional[types.FrameType], is_strict: bool) -> bool:
    """Whether a frame, or one that it called, caught the exception; else a caller of the frame did.

    ``is_strict``: the frame itself has not caught it.
    """
    at = error.__traceback__.tb_frame if error.__traceback__ is not None else None
    if is_strict and at is frame:
        return False
    while at is not None and at is not frame:
        at = at.f_back
    return at is frame


def _is_asynchronous(error: BaseException) -> bool:
    """Whether an exception is the program's, raised in the middle of the compiler's code.

    A handler's frame is in the traceback of its exception. `PyThreadState_SetAsyncExc` raises a class without
    arguments. The compiler's own errors have arguments or are of the compiler's types. If another thread has raised
    the exception, no frame of the program is in its traceback.
    """
    frames = [(code.co_filename, code.co_firstlineno, name) for code, name in _frames(error)]
    if any((filename, line) in _handlers() for filename, line, _ in frames):
        return True
    kind = type(error)
    if error.args or kind.__module__.partition(".")[0] in _COMPILER or issubclass(kind, _WITHOUT_ARGUMENTS):
        return False
    return all(_is_of_compiler(filename, name) for filename, _, name in frames)


def _frames(error: BaseException) -> Iterator[Tuple[types.CodeType, str]]:
    """The code objects of an exception's traceback, with the names of their modules."""
    at = error.__traceback__
    while at is not None:
        yield at.tb_frame.f_code, at.tb_frame.f_globals.get("__name__") or ""
        at = at.tb_next


def _is_of_compiler(filename: str, module: str) -> bool:
    """Whether the compiler runs a module's code: its own code, the standard library, methods of named tuples."""
    standard = filename.startswith((_STANDARD_LIBRARY, "<frozen ", "<string>")) and "site-packages" not in filename
    return standard or module.partition(".")[0] in _COMPILER


def _handlers() -> FrozenSet[Tuple[str, int]]:
    """The places of the functions that handle signals: file and first line."""
    functions = (_function_of(_signal.getsignal(number)) for number in range(1, signal.NSIG))
    codes = (function.__code__ for function in functions if function is not None)
    return frozenset((code.co_filename, code.co_firstlineno) for code in codes)


def _function_of(handler: Any) -> Optional[types.FunctionType]:
    """The Python function that a handler runs; None if there is none."""
    inner = getattr(handler, "__func__", handler)
    wrapped = [getattr(inner, name, None) for name in ("__wrapped__", "func")]
    for one in [inner] + wrapped + [getattr(type(inner), "__call__", None)]:
        if isinstance(one, types.FunctionType):
            return one
    return None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_in_child)
