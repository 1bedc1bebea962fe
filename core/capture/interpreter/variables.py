"""Constants and variables: LOAD_* and STORE_* of locals, globals and cells.

The dispatch table of `interpreter` has its functions. They must not read a variable that may be unbound.
"""

from __future__ import annotations

from pijit.core.bytecode.codec.decode import Instr
from pijit.core.capture.interpreter import loops
from pijit.core.capture.models.containers import constructions
from pijit.core.capture.models.functions import shared_cells
from pijit.core.capture.models.objects import locations, stored_values
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.state.frame_state import iterations_of
from pijit.core.capture.values.base import Raised
from pijit.core.capture.values.generator_frame import GeneratorFrame, is_generating, worn
from pijit.core.capture.values.lattice import (
    KERNEL_LOCAL,
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
    if isinstance(value, LoopIterator) and loops.is_stepped_alone(interpreter, instr):
        interpreter.push(Borrowed(instr.value))
        return
    interpreter.state.stack.append(interpreter.alone(value))


def op_STORE_FAST(interpreter: Interpreter, instr: Instr) -> None:
    value = constructions.as_object(interpreter, interpreter.take())
    if isinstance(value, UnescapedFunction) and value.name is not None and not interpreter.context.depth:
        value = worn(value)
    elif isinstance(value, UnescapedFunction):
        stored_values.want_object(interpreter, value)
    elif (isinstance(value, KERNEL_LOCAL) and not isinstance(value, Raised) or iterations_of(value)
          or is_generating(value)):
        value = loops.named_iterator(interpreter, value)
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
        interpreter.state.stack.append(locations.read_location(interpreter, location))
        return
    sample, where = interpreter.context.find_global(name, interpreter)
    interpreter.state.stack.append(locations.known_object(interpreter, sample, *where))


def op_LOAD_DEREF(interpreter: Interpreter, instr: Instr) -> None:
    interpreter.state.stack.append(cell_content(interpreter, instr))


def cell_content(interpreter: Interpreter, instr: Instr) -> Abstract:
    """The content of the cell that ``instr`` names."""
    return shared_cells.content_of(interpreter, instr.arg or 0, instr.value)
