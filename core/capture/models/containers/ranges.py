"""Range objects: kernels read start, step and length of a real object.

A variable holds an object, so that bytecode finds it. Called by the models of ``len``, subscripts, ``in`` and
iteration.
"""

from __future__ import annotations

from typing import Any, Optional, Tuple

from pijit.core.capture.models.operators import describe
from pijit.core.capture.values.lattice import Abstract, Const, Instance, Number, Range, class_of, number_type
from pijit.core.errors import Break
from pijit.core.graph.ir import Value
from pijit.core.graph.types import BOOL, FLAG, INT, Object

PARTS = ("helpers.range_start", "helpers.range_step", "builtins.len")


def made_range(self: Any, value: Range) -> Instance:
    """The object of a range that captured code makes."""
    if not value.parts:
        raise Break("PJ202", value="range")
    operands = [self.stored_value(part) for part in value.parts]
    attrs = {"function": "builtins.range", "keywords": ()}
    return Instance(Object(range), self.emit("invoke", operands, Object(range), attrs, exits=True), None, value.born)


def range_words(self: Any, value: Abstract) -> Optional[Tuple[Optional[Value], ...]]:
    """Start, step and length of a range as words; None for other values."""
    if isinstance(value, Range):
        return value.words
    if class_of(value) is not range:
        return None
    owner = self.object_value(value)
    numbers = [self.emit("invoke", [owner], INT, {"function": part, "keywords": ()}, exits=True) for part in PARTS]
    return tuple(self.word(Number(INT, number)) for number in numbers)


def range_numbers(self: Any, value: Abstract) -> Tuple[Number, ...]:
    """Start, step and length of a range as ints."""
    return tuple(Number(INT, self.emit("same", [word], INT)) for word in range_words(self, value) or ())


def range_length(self: Any, value: Abstract) -> Number:
    """``len`` of a range."""
    return range_numbers(self, value)[2]


def range_item(self: Any, value: Abstract, index: Abstract) -> Abstract:
    """``value[index]`` of a range and an int; the kernel exits where the index is out of range."""
    if number_type(index) is None or number_type(index).dtype.kind != "i":  # type: ignore[union-attr]
        raise Break("PJ205", index=describe(index))
    start, step, length = range_numbers(self, value)
    at = Number(INT, self.emit("same", [self.word(index)], INT))
    negative = self.truth(self.compare("<", at, Const(0)))
    wrapped = self.emit("select", [negative, self.binary("+", at, length).value, at.value], INT)
    position = Number(INT, wrapped)
    self.emit("require", [_is_inside(self, position, length)], None, exits=True)
    return self.binary("+", start, self.binary("*", position, step))  # type: ignore[no-any-return]


def range_contains(self: Any, value: Abstract, number: Abstract) -> Abstract:
    """``number in value`` of a range and an int."""
    if number_type(number) != INT:
        raise Break("PJ203", operand=describe(number))
    start, step, length = range_numbers(self, value)
    offset = self.binary("-", number, start)
    found = _is_inside(self, self.binary("//", offset, step), length)
    whole = self.truth(self.compare("==", self.binary("%", offset, step), Const(0)))
    return Number(BOOL, self.emit("flag", [self.emit("and", [found, whole], FLAG)], BOOL))


def _is_inside(self: Any, position: Abstract, length: Abstract) -> Value:
    flags = [self.truth(self.compare(">=", position, Const(0))), self.truth(self.compare("<", position, length))]
    return self.emit("and", flags, FLAG)  # type: ignore[no-any-return]
