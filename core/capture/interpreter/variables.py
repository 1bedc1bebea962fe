"""Constants and variables: LOAD_* and STORE_* of locals, globals and cells."""

from __future__ import annotations

from typing import Any

from pijit.core.bytecode.codec.decode import Instr
from pijit.core.capture.models.functions.shared_cells import content
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.state.frame_state import iterations_of
from pijit.core.capture.values.base import Raised
from pijit.core.capture.values.generator_frame import GeneratorFrame, is_generating, worn
from pijit.core.capture.values.lattice import (
    FRAGILE,
    UNBOUND,
    Abstract,
    Borrowed,
    Const,
    LoopIterator,
    Number,
    Tensor,
    Unbound,
    UnescapedFunction,
    Unknown,
    Unrolled,
    known_of,
)
from pijit.core.errors import Break


def op_NOP(interpreter: Interpreter, instr: Instr) -> None:
    """Nothing."""


def op_LOAD_CONST(interpreter: Interpreter, instr: Instr) -> None:
    interpreter.push(Const(instr.value))


def op_LOAD_FAST(interpreter: Interpreter, instr: Instr) -> None:
    value = interpreter.state.locals.get(instr.value, Unknown("PJ212"))
    if isinstance(value, Unbound):
        raise Break("PJ212", name=instr.value)
    if isinstance(value, Unknown):
        raise Break(value.reason, name=instr.value)
    is_iterator = isinstance(value, (LoopIterator, Unrolled, GeneratorFrame))
    if is_iterator and instr.value not in interpreter.liveness.live_in(instr.index + 1):
        interpreter.state.locals[instr.value] = UNBOUND  # it moves to its only user
        interpreter.state.stack.append(value)
        return
    if isinstance(value, LoopIterator) and interpreter.is_stepped_alone(instr):
        interpreter.push(Borrowed(instr.value))
        return
    interpreter.state.stack.append(interpreter.alone(value))


def op_STORE_FAST(interpreter: Interpreter, instr: Instr) -> None:
    value = interpreter.as_object(interpreter.take())
    if isinstance(value, UnescapedFunction) and value.name is not None and not interpreter.context.depth:
        value = worn(value)
    elif isinstance(value, UnescapedFunction):
        interpreter.want_object(value)
    elif isinstance(value, FRAGILE) and not isinstance(value, Raised) or iterations_of(value) or is_generating(value):
        value = interpreter.named_iterator(value)
    interpreter.state.locals[instr.value] = value


def op_LOAD_FAST_AND_CLEAR(interpreter: Interpreter, instr: Instr) -> None:
    """Save the value of a variable that an inlined comprehension hides; the variable may be unbound (3.12)."""
    value = interpreter.state.locals.get(instr.value, UNBOUND)
    if isinstance(value, Unknown):
        raise Break(value.reason, name=instr.value)
    interpreter.state.stack.append(value)
    interpreter.state.locals[instr.value] = UNBOUND


def op_DELETE_FAST(interpreter: Interpreter, instr: Instr) -> None:
    """Delete a number, an array or None. The deletion of other values may run finalizers."""
    value = interpreter.state.locals.get(instr.value, Unknown("PJ212"))
    if not isinstance(value, (Number, Tensor)) and value != Const(None):
        raise Break("PJ212" if isinstance(value, (Unbound, Unknown)) else "PJ202", name=instr.value)
    interpreter.use(value)  # which ensures that the variable has a value
    interpreter.state.locals[instr.value] = Unbound(None, instr.index)


def op_LOAD_GLOBAL(interpreter: Interpreter, instr: Instr) -> None:
    name = instr.value
    location = interpreter.context.global_location(name)
    if location is not None:
        interpreter.state.stack.append(interpreter.read_location(location))
        return
    sample, where = interpreter.context.find_global(name, interpreter)
    interpreter.state.stack.append(interpreter.known_object(sample, *where))


def op_LOAD_DEREF(interpreter: Interpreter, instr: Instr) -> None:
    interpreter.state.stack.append(interpreter.cell_content(instr))


def cell_content(interpreter: Interpreter, instr: Instr) -> Abstract:
    """The content of the cell that ``instr`` names."""
    return interpreter.content_of(instr.arg or 0, instr.value)


def content_of(interpreter: Interpreter, number: int, name: str) -> Abstract:
    """The content of a cell or free variable."""
    if name in interpreter.context.shared:
        return content(interpreter, name)
    location = interpreter.context.cell_location(number, name)
    interpreter.note_cell(number, False)
    if location is not None:
        return interpreter.read_location(location)
    sample, where = interpreter.context.find_cell(number, interpreter, name)
    return interpreter.known_object(sample, *where)


def known_object(interpreter: Interpreter, sample: Any, source: Any, root: Any) -> Abstract:
    """A value found by lookup: code and modules are known by identity, all others by type.

    It is relied on only when an instruction pops it from the stack. A value that is only moved is not guarded.
    """
    value = interpreter.context.arriving(known_of(sample, source, interpreter.instr.index))
    if isinstance(value, Unknown):
        raise Break(value.reason)
    value.root = root
    return value
