"""Values in the form in which effects store them: arrays, numbers, and objects by identity.

Models and instructions that store call `stored_value`.
"""

from __future__ import annotations

from typing import Callable, Union

from pijit.core.bytecode.rewrite.generator_to_loop import GENERATOR
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.state.return_kinds import CallOutcomes
from pijit.core.capture.values.base import Composite, Thrown
from pijit.core.capture.values.class_table import ClassTable
from pijit.core.capture.values.describe import describe
from pijit.core.capture.values.generator_frame import GeneratorFrame
from pijit.core.capture.values.lattice import (
    Abstract,
    Borrowed,
    Const,
    Instance,
    Lazy,
    LoopIterator,
    Null,
    Number,
    OpaqueObject,
    PendingOperand,
    Range,
    Sequence,
    Tensor,
    Unbound,
    UnescapedFunction,
    Unknown,
    Unrolled,
    number_type,
    ssa_value,
)
from pijit.core.capture.values.virtual_object import VirtualObject
from pijit.core.errors import Break
from pijit.core.graph.ir import Value
from pijit.core.graph.types import Object

COMPREHENSIONS = frozenset(["<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>"])


def made_range(interpreter: Interpreter, value: Range) -> Instance:
    """The object of a range that captured code makes."""
    if not value.parts:
        raise Break("PJ202", value="range")
    operands = [stored_value(interpreter, part) for part in value.parts]
    attrs = {"function": "builtins.range", "keywords": ()}
    return Instance(Object(range), interpreter.emit("invoke", operands, Object(range), attrs, exits=True), None,
                    value.defined_at)


def stored_value(interpreter: Interpreter, value: Abstract) -> Value:
    """The value that an effect stores: an array, a number, or an object by identity. Break for values only bytecode
    makes."""
    return STORED_VALUES[type(value)](interpreter, value)


def _stored_object(interpreter: Interpreter, value: Abstract) -> Value:
    return interpreter.object_value(value)


def _stored_if_found(interpreter: Interpreter, value: Abstract) -> Value:
    return interpreter.object_value(value) if value.root is not None else _not_stored(interpreter, value)


def _not_stored(interpreter: Interpreter, value: Abstract) -> Value:
    raise Break("PJ203", operand=describe(value))


def _stored_array(interpreter: Interpreter, value: Tensor) -> Value:
    return ssa_value(value)


def _stored_range(interpreter: Interpreter, value: Range) -> Value:
    return ssa_value(made_range(interpreter, value))


def _stored_function(interpreter: Interpreter, value: UnescapedFunction) -> Value:
    want_object(interpreter, value)
    return _stored_if_found(interpreter, value)


def _stored_number(interpreter: Interpreter, value: Union[Number, Const]) -> Value:
    if value.root is not None or number_type(value) is None:
        return interpreter.object_value(value)
    return interpreter.number_value(value)


STORED_VALUES: ClassTable[Callable[..., Value]] = ClassTable({
    **dict.fromkeys((Instance, OpaqueObject, Sequence, Composite, VirtualObject), _stored_object),
    **dict.fromkeys((Unbound, Unknown, Thrown, PendingOperand, Lazy, Borrowed, Null, Unrolled, GeneratorFrame,
                     CallOutcomes), _stored_if_found),
    Const: _stored_number,
    LoopIterator: _not_stored,
    Number: _stored_number,
    Range: _stored_range,
    Tensor: _stored_array,
    UnescapedFunction: _stored_function,
})
"""The value that an effect stores, by the class of the abstract value."""


def want_object(interpreter: Interpreter, made: UnescapedFunction) -> None:
    """Make a function an object in the next run of the analysis, because more than a call on the spot uses it."""
    if may_be_object(made):
        interpreter.context.base.findings.objects.add(made.code)
    raise Wanted("PJ203", operand=describe(made))


def may_be_object(value: Abstract) -> bool:
    """Whether a value is a function to be called on the spot that captured code can also make as an object."""
    return (isinstance(value, UnescapedFunction) and not value.code.co_flags & GENERATOR and value.name is not None
            and value.code.co_name not in COMPREHENSIONS)


class Wanted(Break):
    """A function that is called on the spot, or a variable, has to be an object:
    the next run of the analysis makes it one."""
