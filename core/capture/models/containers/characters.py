"""Characters of strings and items of bytes, read at run time.

A string from outside whose characters are read is known by its class, not by its value (`Findings.texts`). So
calls with other strings use the same kernels.
"""

from __future__ import annotations

import builtins
from typing import Any, List, Optional, cast

from pijit.core.asynchronous_exceptions import raise_asynchronous
from pijit.core.capture.models.objects import locations, stored_values
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.models.registry import models
from pijit.core.capture.values.describe import Arguments, constants_of, describe, only
from pijit.core.capture.values.lattice import Abstract, Const, Instance, Number, Slice, class_of, number_type, ssa_value
from pijit.core.errors import Break
from pijit.core.graph.ir import Value
from pijit.core.graph.library import resolve
from pijit.core.graph.types import BOOL, FLAG, INT, WORD, Object, Scalar, Type
from pijit.guards.facts import is_among

READ_BY_POSITION = (str, bytes, bytearray)
MOST_ALTERNATIVES = 16
"""Length of the longest constant string whose characters are compared one by one to find a character in it."""


class Char(Instance):
    """A string; ``code`` is its code point if it is known to be one character."""

    __slots__ = ("code",)

    def __init__(self, type: Object, value: Optional[Value] = None, source: Any = None, defined_at: int = -1) -> None:
        super().__init__(type, value, source, defined_at)
        self.code: Optional[Value] = None


def text_object(interpreter: Interpreter, value: Abstract) -> Value:
    """The object of a string or bytes. From now on the value is known by its class alone."""
    if isinstance(value, Const) and value.source is not None:
        interpreter.context.base.findings.texts.add(value.source)
    return interpreter.object_value(value)


def text_length(interpreter: Interpreter, value: Abstract) -> Number:
    """``len(value)``."""
    return Number(INT, interpreter.emit("same",
                                        [interpreter.emit("list_size", [text_object(interpreter, value)], WORD)],
                                        INT))


def text_item(interpreter: Interpreter, owner: Abstract, index: Abstract) -> Abstract:
    """``owner[index]``."""
    kind = class_of(owner)
    if isinstance(index, Slice) and kind is not bytearray:
        text_object(interpreter, owner)
        return made_text(interpreter, "operator.getitem", [owner, index], Object(kind))
    number = number_type(index)
    if number is None or number.dtype.kind not in "iu":
        raise Break("PJ205", index=describe(index))
    text = text_object(interpreter, owner)
    if kind is str:
        return _character(interpreter, text, _position(interpreter, text, index))
    return Number(INT, interpreter.emit("byte_at", [text, interpreter.word(index)], INT, exits=True))


def item_of_text(interpreter: Interpreter, owner: Instance, index: Value) -> Abstract:
    """The item at a WORD index that is in range."""
    if owner.type.python is str:
        return _character(interpreter, ssa_value(owner), index)
    return Number(INT, interpreter.emit("byte_at", [ssa_value(owner), index], INT, exits=True))


def store_byte(interpreter: Interpreter, owner: Abstract, index: Abstract, value: Abstract) -> None:
    """``owner[index] = value`` of a bytearray."""
    kinds = [number_type(number) for number in (index, value)]
    if any(kind is None or kind.dtype.kind not in "iu" for kind in kinds):
        raise Break("PJ205", index=describe(index))
    operands = [interpreter.object_value(owner), interpreter.word(index), interpreter.word(value)]
    locations.changing(interpreter, bytearray, owner, False)
    interpreter.emit("store_byte", operands, None, exits=True)


def _character(interpreter: Interpreter, text: Value, index: Value) -> Char:
    found = Char(TEXT, interpreter.emit("char_at", [text, index], TEXT))
    found.code = interpreter.emit("char_code", [text, index], INT)
    return found


def _position(interpreter: Interpreter, text: Value, index: Abstract) -> Value:
    """An index counted from the front; exits where it is out of range."""
    size, zero, at = interpreter.emit("list_size", [text], WORD), _number(interpreter, 0), interpreter.word(index)
    if not (isinstance(index, Const) and index.object >= 0):
        counted = interpreter.emit("add", [at, size], WORD)
        at = interpreter.emit("select", [_is(interpreter, at, "<", zero), counted, at],
                              WORD)
        interpreter.emit("require", [_is(interpreter, at, ">=", zero)], None, exits=True)
    interpreter.emit("require", [_is(interpreter, at, "<", size)], None, exits=True)
    return at


def _number(interpreter: Interpreter, number: int) -> Value:
    return interpreter.emit("const", [], WORD, {"value": number})


def _is(interpreter: Interpreter, one: Value, symbol: str, other: Value) -> Value:
    return interpreter.emit("compare", [one, other], FLAG, {"operator": symbol})


def code_of(interpreter: Interpreter, value: Abstract) -> Optional[Value]:
    """The code point of a string that is known to have one character, else None."""
    if isinstance(value, Const) and type(value.object) is str and len(value.object) == 1 and value.source is None:
        return interpreter.number_value(Const(ord(value.object)))
    return value.code if isinstance(value, Char) else None


def compare_texts(interpreter: Interpreter, symbol: str, left: Abstract, right: Abstract) -> Optional[Abstract]:
    """A comparison of two strings by their characters; None for orderings of longer strings."""
    codes = code_of(interpreter, left), code_of(interpreter, right)
    if codes[0] is not None and codes[1] is not None:
        return _answer(interpreter, _is(interpreter, codes[0], symbol, codes[1]))
    if symbol not in ("==", "!="):
        return None
    equal = interpreter.emit("same_text", [text_object(interpreter, left), text_object(interpreter, right)], FLAG)
    return _answer(interpreter, equal if symbol == "==" else interpreter.emit("not", [equal], FLAG))


def _answer(interpreter: Interpreter, flag: Value) -> Number:
    return Number(BOOL, interpreter.emit("flag", [flag], BOOL))


def text_contains(interpreter: Interpreter, owner: Abstract, part: Abstract) -> Abstract:
    """``part in owner`` of strings."""
    code = code_of(interpreter, part)
    known = owner.object if isinstance(owner, Const) and owner.source is None else None
    if code is not None and known and len(known) <= MOST_ALTERNATIVES:
        flags = [_is(interpreter, code, "==", interpreter.number_value(Const(ord(one))))
                 for one in dict.fromkeys(known)]
        found = flags[0]
        for flag in flags[1:]:
            found = interpreter.emit("or", [found, flag], FLAG)
        return _answer(interpreter, found)
    operands = [text_object(interpreter, owner), text_object(interpreter, part)]
    return _answer(interpreter, interpreter.emit("has_text", operands, FLAG, exits=True))


def ordinal(interpreter: Interpreter, value: Abstract) -> Number:
    """``ord(value)`` of a string."""
    code = code_of(interpreter, value)
    if code is None:
        text = text_object(interpreter, value)
        size = interpreter.emit("list_size", [text], WORD)
        interpreter.emit("require", [_is(interpreter, size, "==", _number(interpreter, 1))], None, exits=True)
        code = interpreter.emit("char_code", [text, _number(interpreter, 0)], INT)
    return Number(INT, code)


def is_text(value: Abstract) -> bool:
    """Whether a value is a string, bytes or a bytearray whose items can be read."""
    return is_among(class_of(value), READ_BY_POSITION)


@models(builtins.ord)
def call_ord(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``ord`` of a string."""
    only(arguments, keywords, "ord", 1)
    if class_of(arguments[0]) is not str:
        raise Break("PJ203", operand=describe(arguments[0]))
    if isinstance(arguments[0], Const) and len(arguments[0].object) == 1:
        return Const(ord(arguments[0].object))
    return ordinal(interpreter, arguments[0])


@models(builtins.chr)
def call_chr(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``chr`` of an integer."""
    only(arguments, keywords, "chr", 1)
    kind = number_type(arguments[0])
    if kind is None or kind.dtype.kind not in "iu":
        raise Break("PJ203", operand=describe(arguments[0]))
    return made_text(interpreter, "builtins.chr", arguments)


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
    operands = [stored_values.stored_value(interpreter, argument) for argument in arguments]
    made = interpreter.emit("invoke", operands, kind, {"function": function, "keywords": ()}, exits=True)
    return Instance(kind, made) if isinstance(kind, Object) else Number(cast(Scalar, kind), made)
