"""Strings made from numbers and other strings: kernels call the functions that Python calls.

Formatting a number of Python or NumPy runs no user code. Formatting any other object may, so it stays bytecode.
"""

from __future__ import annotations

import builtins
from typing import List, Optional

from pijit.core.bytecode.instructions.predicates import stores_local
from pijit.core.bytecode.rewrite.generator_to_loop import LIST
from pijit.core.capture.models.containers import characters, contents
from pijit.core.capture.models.containers.characters import TEXT
from pijit.core.capture.models.iteration import comprehensions
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.models.registry import model_factory, models
from pijit.core.capture.values.describe import Arguments, Handler, describe, only
from pijit.core.capture.values.lattice import Abstract, Const, Instance, Lazy, LoopIterator, class_of, number_type
from pijit.core.capture.values.provenance import Root
from pijit.core.errors import Break
from pijit.core.graph.types import BOOL
from pijit.guards.facts import is_among, is_exactly

COMPARISONS = {"==": "operator.eq", "!=": "operator.ne", "<": "operator.lt", "<=": "operator.le", ">": "operator.gt",
               ">=": "operator.ge"}


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
        for value in contents.items_of(interpreter, right) or () if class_of(right) is tuple else (right,):
            require_plain(interpreter, interpreter.use(value))
        return characters.made_text(interpreter, "operator.mod", [left, right])
    if class_of(right) is not str:
        return None
    if symbol == "+":
        return _sum(interpreter, left, right)
    known = isinstance(left, Const) and isinstance(right, Const)
    found = characters.compare_texts(interpreter, symbol, left, right) if not known else None
    return found if found is not None else characters.made_text(interpreter, COMPARISONS[symbol], [left, right], BOOL)


def _sum(interpreter: Interpreter, left: Abstract, right: Abstract) -> Abstract:
    """``left + right``; Break where a variable's string may grow in place,
    because only bytecode holds its one reference."""
    if isinstance(left, Const) and isinstance(right, Const):
        return characters.made_text(interpreter, "operator.add", [left, right])
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
        return characters.made_text(interpreter, "builtins." + name, arguments)
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
    return characters.made_text(interpreter, function, arguments)


@models(str, "join")
def _join_method(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``text.join(items)`` of a list or tuple, or of an iterator whose items are first collected in a list."""
    only(arguments, keywords, "join", 2)
    if isinstance(arguments[1], (Lazy, LoopIterator)):
        arguments = [arguments[0], comprehensions.consume(interpreter, LIST, arguments[1])]
    if not is_among(class_of(arguments[1]), (list, tuple)):
        raise Break("PJ216", operand=describe(arguments[1]))
    return characters.made_text(interpreter, "builtins.str.join", arguments)


for _function in ("str", "repr", "ascii"):
    models(getattr(builtins, _function))(_of_one(_function))
