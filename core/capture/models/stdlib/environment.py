"""``os.environ`` and ``os.getenv``: kernels look up the variable at run time.

Capture decides whether the variable exists; a kernel exits where that has changed. The models are found by
the code of the methods.
"""

from __future__ import annotations

import collections.abc
import os
from typing import Any, List

from pijit.core.capture.models.containers.characters import TEXT
from pijit.core.capture.models.functions.callees import Callee
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.models.registry import models_code
from pijit.core.capture.values.describe import Arguments, describe
from pijit.core.capture.values.lattice import Abstract, Const, Instance, OpaqueObject
from pijit.core.capture.values.predicates import ClassHolds, HasCode
from pijit.core.errors import Break
from pijit.core.graph.types import BOOL, FLAG
from pijit.guards.reading import class_value

PARAMETERS = ("self", "key", "default")
READ = class_value(type(os.environ), "__getitem__")


@models_code(collections.abc.Mapping.get)
def call_get(interpreter: Interpreter, callee: Callee, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``os.environ.get(name, default)`` for a known name.
    Whether the variable exists is taken from the capture; the kernel exits where that differs."""
    if not _is_environment(arguments):
        return _by_inlining(interpreter, callee, arguments, keywords)
    named, count = dict(zip(PARAMETERS, arguments), **keywords), len(arguments)
    if count > len(PARAMETERS) or set(keywords) - set(PARAMETERS[count:]):
        raise Break("PJ201", callee="environ.get")
    if _is_there(interpreter, callee, arguments[0], named.get("key")):
        return _value(interpreter, arguments[0], named["key"])
    _require_there(interpreter, arguments[0], named["key"], False)
    return named.get("default", Const(None))


@models_code(READ)
def call_item(interpreter: Interpreter, callee: Callee, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``os.environ[name]`` for a known name that exists."""
    if not _is_environment(arguments) or len(arguments) != 2 or keywords:
        return _by_inlining(interpreter, callee, arguments, keywords)
    if not _is_there(interpreter, callee, *arguments):
        raise Break("PJ205", index=describe(arguments[1]))
    return _value(interpreter, *arguments)


@models_code(collections.abc.Mapping.__contains__)
def call_contains(interpreter: Interpreter, callee: Callee, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``name in os.environ`` for a known name."""
    if not _is_environment(arguments) or len(arguments) != 2 or keywords:
        return _by_inlining(interpreter, callee, arguments, keywords)
    found = _is_there(interpreter, callee, *arguments)
    _require_there(interpreter, arguments[0], arguments[1], found)
    return Const(found)


def _by_inlining(interpreter: Interpreter, callee: Callee, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    result: Abstract = interpreter.context.required_inliner.call(interpreter, callee, arguments, keywords)
    return result


def _is_environment(arguments: List[Abstract]) -> bool:
    owner = arguments[0] if arguments else Const(None)
    return isinstance(owner, OpaqueObject) and owner.sample is os.environ


def _is_there(interpreter: Interpreter, callee: Callee, owner: Any, name: Any) -> bool:
    """Whether the variable exists now. Guards hold the code of the method and the class's ``__getitem__``."""
    known = isinstance(name, Const) and type(name.object) is str
    if not known or class_value(type(owner.sample), "__getitem__") is not READ:
        raise Break("PJ201", callee="environ." + callee.function.__name__)
    try:
        found = name.object in os.environ
    except UnicodeError:  # not a valid name of a variable
        raise Break("PJ201", callee="environ." + callee.function.__name__)
    interpreter.rely(callee.paths, HasCode(callee.function.__code__))
    interpreter.rely(owner, ClassHolds("__getitem__", READ))
    return found


def _value(interpreter: Interpreter, owner: Abstract, name: Abstract) -> Abstract:
    attrs, operands = ({"function": "helpers.variable", "keywords": ()},
                       list(map(interpreter.object_value, (owner, name))))
    return Instance(TEXT, interpreter.emit("invoke", operands, TEXT, attrs, exits=True))


def _require_there(interpreter: Interpreter, owner: Abstract, name: Abstract, wanted: bool) -> None:
    """Exit where the variable's existence differs from ``wanted`` at run time."""
    attrs = {"function": "helpers.lacks_variable", "keywords": ()}
    operands = list(map(interpreter.object_value, (owner, name)))
    absent = interpreter.emit("truth", [interpreter.emit("invoke", operands, BOOL, attrs, exits=True)], FLAG)
    interpreter.emit("require", [interpreter.emit("not", [absent], FLAG) if wanted else absent], None, exits=True)
