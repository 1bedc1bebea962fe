"""Values in the form in which effects store them: arrays, numbers, and objects by identity.

Models and instructions that store call `stored_value`.
"""

from __future__ import annotations

from pijit.core.bytecode.rewrite.generator_to_loop import GENERATOR
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.values.base import Composite
from pijit.core.capture.values.describe import describe
from pijit.core.capture.values.lattice import (
    Abstract,
    Const,
    Instance,
    LoopIterator,
    OpaqueObject,
    Range,
    Sequence,
    Tensor,
    UnescapedFunction,
    number_type,
    ssa_value,
)
from pijit.core.capture.values.virtual_object import VirtualObject
from pijit.core.errors import Break
from pijit.core.graph.ir import Value
from pijit.core.graph.types import Object


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
    if isinstance(value, Tensor):
        return ssa_value(value)
    if isinstance(value, Range):
        return ssa_value(made_range(interpreter, value))
    if isinstance(value, UnescapedFunction):
        want_object(interpreter, value)
    found = value.root is not None and not isinstance(value, LoopIterator)
    if found or isinstance(value, (Instance, OpaqueObject, Sequence, Composite, VirtualObject)):
        return interpreter.object_value(value)
    if number_type(value) is not None:
        return interpreter.number_value(value)
    if isinstance(value, Const):
        return interpreter.object_value(value)
    raise Break("PJ203", operand=describe(value))
COMPREHENSIONS = frozenset(["<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>"])


def want_object(interpreter: Interpreter, made: UnescapedFunction) -> None:
    """Make a function an object in the next run of the analysis, because more than a call on the spot uses it."""
    if may_be_object(made):
        interpreter.context.base.objects.add(made.code)
    raise Wanted("PJ203", operand=describe(made))


def may_be_object(value: Abstract) -> bool:
    """Whether a value is a function to be called on the spot that captured code can also make as an object."""
    return (isinstance(value, UnescapedFunction) and not value.code.co_flags & GENERATOR and value.name is not None
            and value.code.co_name not in COMPREHENSIONS)


class Wanted(Break):
    """A function that is called on the spot, or a variable, has to be an object:
    the next run of the analysis makes it one."""
