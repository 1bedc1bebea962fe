"""Recorded versions of callees that inspect the frame of their caller, and of class statements.

`calls` finds them in the table of handlers. They must look for the frame of the program, not for one of the tape.
"""

from __future__ import annotations

import builtins
import sys
from typing import Any, Tuple

from pijit.core.tape.calls import instrumented
from pijit.core.tape.handlers import handles
from pijit.core.tape.native import is_instrumented
from pijit.core.tape.operations import taint
from pijit.core.tape.state import STATE, reached


def _caller() -> Any:
    frame: Any = sys._getframe(1)
    while frame is not None and not is_instrumented(frame.f_code):
        frame = frame.f_back
    return frame


@handles(super)
def _super(*args: Any) -> Any:
    """`super()` without arguments reads its class and its object from the caller's frame."""
    if args:
        return super(*args)
    frame = _caller()
    if not frame.f_code.co_argcount:
        raise RuntimeError("super(): no arguments")
    found = frame.f_locals
    if frame.f_code.co_varnames[0] not in found:
        raise RuntimeError("super(): arg[0] deleted")
    if "__class__" not in found:
        raise RuntimeError("super(): __class__ cell not found")
    return super(found["__class__"], found[frame.f_code.co_varnames[0]])


@handles(builtins.__build_class__)
def _build_class(body: Any, name: str, *bases: Any, **named: Any) -> Any:
    """A class statement; the operations of its body are recorded."""
    return builtins.__build_class__(instrumented(body), name, *bases, **named)


@handles(locals)
def _locals() -> Any:
    return _variables(_caller())


def _variables(frame: Any) -> Any:
    """The result of `locals()` in a frame; from CPython 3.13 on a copy for functions."""
    found = frame.f_locals
    return found if type(found) is dict else dict(found)


@handles(globals)
def _globals() -> Any:
    return _caller().f_globals


@handles(vars)
def _vars(*args: Any) -> Any:
    return vars(*args) if args else _variables(_caller())


@handles(dir)
def _dir(*args: Any) -> Any:
    return dir(*args) if args else sorted(_caller().f_locals)


@handles(eval)
def _eval(source: Any, *scopes: Any) -> Any:
    return _evaluated(eval, source, scopes)


@handles(exec)
def _exec(source: Any, *scopes: Any) -> Any:
    return _evaluated(exec, source, scopes)


def _evaluated(function: Any, source: Any, scopes: Tuple[Any, ...]) -> Any:
    frame = _caller()
    scopes = scopes or (frame.f_globals, _variables(frame))
    r = function(source, *scopes)
    if any(reached(dict(scope)) for scope in scopes[1:]):
        for tape in STATE.tapes:
            if not tape.reaches(r):
                taint(tape, r, function)
    return r
