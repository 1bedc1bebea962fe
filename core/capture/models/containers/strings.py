"""Strings made from numbers and other strings: kernels call the functions that Python calls.

Formatting a number of Python or NumPy runs no user code. Formatting any other object may, so it stays bytecode.
`AbstractInterpreter` binds these functions.
"""

from __future__ import annotations

import builtins
from typing import List, Optional, cast

from pijit.core.asynchronous_exceptions import raise_asynchronous
from pijit.core.bytecode.instructions.predicates import stores_local
from pijit.core.bytecode.rewrite.generator_to_loop import LIST
from pijit.core.capture.models.operators import describe
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.models.registry import model_factory, models
from pijit.core.capture.values.describe import Arguments, Handler, constants_of, only
from pijit.core.capture.values.lattice import (
    Abstract,
    Const,
    Instance,
    Lazy,
    LoopIterator,
    Number,
    class_of,
    number_type,
)
from pijit.core.capture.values.provenance import Root
from pijit.core.errors import Break
from pijit.core.graph.library import resolve
from pijit.core.graph.types import BOOL, Object, Scalar, Type
from pijit.guards.facts import is_among, is_exactly

COMPARISONS = {"==": "operator.eq", "!=": "operator.ne", "<": "operator.lt", "<=": "operator.le", ">": "operator.gt",
               ">=": "operator.ge"}
TEXT = Object(str)


def made_text(interpreter: Interpreter, function: str, arguments: List[Abstract], kind: Type = TEXT) -> Abstract:
    """The result of a function of numbers and strings; a constant if all of them are known."""
    known = constants_of(arguments)
    if known is not None:
        try:
            return Const(resolve(function)(*known))
        except Exception as error:
            raise_asynchronous(error)
            raise Break("PJ216", operand=describe(arguments[0]))
    operands = [interpreter.stored_value(argument) for argument in arguments]
    made = interpreter.emit("invoke", operands, kind, {"function": function, "keywords": ()}, exits=True)
    return Instance(kind, made) if isinstance(kind, Object) else Number(cast(Scalar, kind), made)


def require_plain(interpreter: Interpreter, value: Abstract) -> None:
    """Break unless a value is a number or a string, whose formatting runs no user code."""
    kind = number_type(value)
    plain = isinstance(value, Const) and is_exactly(value.object, (int, float, bool, str, type(None)))
    looks_plain = kind is not None and (kind.dtype.kind in "fiu" or kind == BOOL)
    if not plain and class_of(value) is not str and not looks_plain:
        raise Break("PJ216", operand=describe(value))


def of_texts(interpreter: Interpreter, symbol: str, left: Abstract, right: Abstract) -> Optional[Abstract]:
    """``+``, ``%`` or a comparison of strings; None for other operators and operands."""
    if class_of(left) is not str or symbol not in COMPARISONS and symbol not in ("+", "%"):
        return None
    if symbol == "%":
        for value in interpreter.items_of(right) or () if class_of(right) is tuple else (right,):
            require_plain(interpreter, interpreter.use(value))
        return interpreter.made_text("operator.mod", [left, right])
    if class_of(right) is not str:
        return None
    if symbol == "+":
        return _sum(interpreter, left, right)
    known = isinstance(left, Const) and isinstance(right, Const)
    found = interpreter.compare_texts(symbol, left, right) if not known else None
    return found if found is not None else interpreter.made_text(COMPARISONS[symbol], [left, right], BOOL)


def _sum(interpreter: Interpreter, left: Abstract, right: Abstract) -> Abstract:
    """``left + right``; Break where a variable's string may grow in place,
    because only bytecode holds its one reference."""
    if isinstance(left, Const) and isinstance(right, Const):
        return interpreter.made_text("operator.add", [left, right])
    following = interpreter.function.instructions[interpreter.instr.index + 1]
    if left.root == Root("local", following.value) and stores_local(following) and interpreter.is_in_loop():
        raise Break("PJ216", because="the string may grow in place")
    return Instance(TEXT, interpreter.emit("text_add",
                                           [interpreter.object_value(left), interpreter.object_value(right)], TEXT))


@model_factory
def _of_one(name: str) -> Handler:
    """``str``, ``repr`` and ``ascii`` of a number or a string; a string is its own ``str``."""
    def call(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        only(arguments, keywords, name, 1)
        require_plain(interpreter, arguments[0])
        if name == "str" and class_of(arguments[0]) is str:
            return arguments[0]
        return interpreter.made_text("builtins." + name, arguments)
    return call


@models(builtins.format)
def call_format(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``format(value, spec)``."""
    only(arguments, keywords, "format", 1, 2)
    return _formatted(interpreter, "builtins.format", arguments)


@models(str, "format")
def _format_method(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``text.format(value, ...)``."""
    if keywords:
        raise Break("PJ211", callee="format")
    return _formatted(interpreter, "builtins.str.format", arguments)


def _formatted(interpreter: Interpreter, function: str, arguments: List[Abstract]) -> Abstract:
    for argument in arguments:
        require_plain(interpreter, argument)
    return interpreter.made_text(function, arguments)


@models(str, "join")
def _join_method(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``text.join(items)`` of a list or tuple, or of an iterator whose items are first collected in a list."""
    only(arguments, keywords, "join", 2)
    if isinstance(arguments[1], (Lazy, LoopIterator)):
        arguments = [arguments[0], interpreter.consume(LIST, arguments[1])]
    if not is_among(class_of(arguments[1]), (list, tuple)):
        raise Break("PJ216", operand=describe(arguments[1]))
    return interpreter.made_text("builtins.str.join", arguments)


for _function in ("str", "repr", "ascii"):
    models(getattr(builtins, _function))(_of_one(_function))
