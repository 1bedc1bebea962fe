"""Lengths of axes, sizes and single elements of arrays, as operations. Models of arrays call them."""

from __future__ import annotations

from typing import FrozenSet, Optional, Sequence, cast

from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.typing.axis_lengths import expected_number
from pijit.core.capture.values.lattice import Abstract, Number, Tensor, ssa_value
from pijit.core.capture.values.predicates import HasUnitAxes
from pijit.core.errors import Break
from pijit.core.graph.ir import Value
from pijit.core.graph.types import FLAG, INT, SEVERAL, WORD, numpy_scalar


def dimension(interpreter: Interpreter, owner: Tensor, axis: int) -> Value:
    """``shape[axis]`` as a Python int."""
    raw = interpreter.emit("dim", [ssa_value(owner)], WORD, {"axis": axis})
    return interpreter.emit("same", [raw], INT)


def length(interpreter: Interpreter, owner: Tensor, axis: int) -> Number:
    """``shape[axis]`` as an int with its expected value."""
    lengths = owner.type.lengths
    expected = lengths[axis] if lengths is not None and lengths[axis] != SEVERAL else None
    return Number(INT, dimension(interpreter, owner, axis), expected=expected)


def require_expected(interpreter: Interpreter, value: Abstract) -> int:
    """The value of an int that is known or expected. A side exit ensures it."""
    wanted = cast(int, expected_number(value))
    if isinstance(value, Number):
        words = [interpreter.word(value), interpreter.emit("const", [], WORD, {"value": wanted})]
        interpreter.rely_on_length(words[0], wanted)
        interpreter.emit("require", [interpreter.emit("compare", words, FLAG, {"operator": "=="})], None, exits=True)
    return wanted


def size(interpreter: Interpreter, owner: Tensor, axes: Optional[Sequence[int]] = None) -> Value:
    """The number of elements, in total or along some axes, as a Python int. It always fits into 64 bits."""
    total = interpreter.emit("const", [], WORD, {"value": 1})
    for axis in range(owner.type.ndim) if axes is None else axes:
        length = interpreter.emit("dim", [ssa_value(owner)], WORD, {"axis": axis})
        total = interpreter.emit("mul", [total, length], WORD)
    return interpreter.emit("same", [total], INT)


def only_element(interpreter: Interpreter, array: Tensor) -> Number:
    """The element of an array that has only one; side exit if it has not."""
    if array.type.ndim:
        one = interpreter.emit("const", [], WORD, {"value": 1})
        total = interpreter.emit("same", [size(interpreter, array)], WORD)
        flag = interpreter.emit("compare", [total, one], FLAG, {"operator": "=="})
        interpreter.emit("require", [flag], None, exits=True)
    first = [interpreter.emit("const", [], WORD, {"value": 0})] if array.type.ndim else []
    kind = numpy_scalar(array.type.dtype)
    return Number(kind, interpreter.emit("load", [ssa_value(array)] + first * array.type.ndim, kind, {},
                                         exits=bool(first)))


def unit_axes(interpreter: Interpreter, array: Tensor) -> FrozenSet[int]:
    """The axes that have length 1. They are those that are expected; a guard or side exits ensure it.

    Raises:
        Break: nothing is expected.
    """
    known = interpreter.context.base.static_shape(interpreter.use(array))
    if known is not None:
        return frozenset(axis for axis, length in enumerate(known) if length == 1)
    expected = array.type.unit_axes
    if expected is None:
        raise Break("PJ210", callee="function that removes axes of length 1")
    if array.root is not None:
        interpreter.rely(array, HasUnitAxes(expected))
        return expected
    lengths = [interpreter.emit("dim", [ssa_value(array)], WORD, {"axis": axis}) for axis in range(array.type.ndim)]
    interpreter.rely_on_unit_axes(lengths)
    for axis, length in enumerate(lengths):
        one = interpreter.emit("const", [], WORD, {"value": 1})
        symbol = "==" if axis in expected else "!="
        flag = interpreter.emit("compare", [length, one], FLAG, {"operator": symbol})
        interpreter.emit("require", [flag], None, exits=True)
    return expected


def require_shape(interpreter: Interpreter, one: Tensor, other: Tensor) -> None:
    """Side exit unless two arrays have the same shape."""
    for axis in range(one.type.ndim):
        lengths = [interpreter.emit("dim", [ssa_value(array)], WORD, {"axis": axis}) for array in (one, other)]
        flag = interpreter.emit("compare", lengths, FLAG, {"operator": "=="})
        interpreter.emit("require", [flag], None, exits=True)
