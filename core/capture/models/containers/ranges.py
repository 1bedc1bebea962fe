"""Range objects: kernels read start, step and length of a real object.

A variable holds an object, so that bytecode finds it. Called by the models of ``len``, subscripts, ``in`` and
iteration.
"""

from __future__ import annotations

from typing import Optional, Tuple, cast

from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.models.scalars import conversions
from pijit.core.capture.values.describe import describe
from pijit.core.capture.values.lattice import Abstract, Const, Number, Range, class_of, number_type, ssa_value
from pijit.core.errors import Break
from pijit.core.graph.ir import Value
from pijit.core.graph.types import BOOL, FLAG, INT

PARTS = ("helpers.range_start", "helpers.range_step", "builtins.len")


def range_words(interpreter: Interpreter, value: Abstract) -> Optional[Tuple[Value, ...]]:
    """Start, step and length of a range as words; None for other values."""
    if isinstance(value, Range):
        return value.words
    if class_of(value) is not range:
        return None
    owner = interpreter.object_value(value)
    numbers = [interpreter.emit("invoke", [owner], INT, {"function": part, "keywords": ()}, exits=True)
               for part in PARTS]
    return tuple(interpreter.word(Number(INT, number)) for number in numbers)


def range_numbers(interpreter: Interpreter, value: Abstract) -> Tuple[Number, ...]:
    """Start, step and length of a range as ints."""
    return tuple(Number(INT, interpreter.emit("same", [word], INT)) for word in range_words(interpreter, value) or ())


def range_length(interpreter: Interpreter, value: Abstract) -> Number:
    """``len`` of a range."""
    return range_numbers(interpreter, value)[2]


def range_item(interpreter: Interpreter, value: Abstract, index: Abstract) -> Abstract:
    """``value[index]`` of a range and an int; the kernel exits where the index is out of range."""
    kind = number_type(index)
    if kind is None or kind.dtype.kind != "i":
        raise Break("PJ205", index=describe(index))
    start, step, length = range_numbers(interpreter, value)
    place = interpreter.emit("same", [interpreter.word(index)], INT)
    at = Number(INT, place)
    negative = conversions.truth(interpreter, interpreter.compare("<", at, Const(0)))
    counted = cast(Number, interpreter.binary("+", at, length))
    position = Number(INT, interpreter.emit("select", [negative, ssa_value(counted), place], INT))
    interpreter.emit("require", [_is_inside(interpreter, position, length)], None, exits=True)
    return interpreter.binary("+", start, interpreter.binary("*", position, step))


def range_contains(interpreter: Interpreter, value: Abstract, number: Abstract) -> Abstract:
    """``number in value`` of a range and an int."""
    if number_type(number) != INT:
        raise Break("PJ203", operand=describe(number))
    start, step, length = range_numbers(interpreter, value)
    offset = interpreter.binary("-", number, start)
    found = _is_inside(interpreter, interpreter.binary("//", offset, step), length)
    whole = conversions.truth(interpreter, interpreter.compare("==", interpreter.binary("%", offset, step), Const(0)))
    return Number(BOOL, interpreter.emit("flag", [interpreter.emit("and", [found, whole], FLAG)], BOOL))


def _is_inside(interpreter: Interpreter, position: Abstract, length: Abstract) -> Value:
    flags = [conversions.truth(interpreter, interpreter.compare(">=", position, Const(0))),
             conversions.truth(interpreter, interpreter.compare("<", position, length))]
    return interpreter.emit("and", flags, FLAG)
