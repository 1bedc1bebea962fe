"""Loops: GET_ITER and FOR_ITER on iterators that kernels can step.

The dispatch table of `interpreter` has its functions. They must run no iterator.
"""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, List

from pijit.core.bytecode.codec.decode import Instr
from pijit.core.bytecode.rewrite.generator_steps import START
from pijit.core.capture.models.iteration import generators
from pijit.core.capture.models.iteration.iterators import EACH_ITEM, iterator_over, step_of
from pijit.core.capture.models.numpy import mapped_arrays
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.state.edges import JUMP, Transfer, TransferKind
from pijit.core.capture.state.frame_state import is_confined
from pijit.core.capture.values.describe import describe
from pijit.core.capture.values.generator_frame import GeneratorFrame, begun, is_generating
from pijit.core.capture.values.lattice import Abstract, Const, Lazy, UnescapedFunction
from pijit.core.errors import Break

if TYPE_CHECKING:
    from pijit.core.capture.interpreter.interpreter import AbstractInterpreter


def is_stepped_alone(interpreter: Interpreter, instr: Instr) -> bool:
    """Whether the iterator that ``instr`` loads is the argument of a call of ``next``."""
    following = interpreter.function.instructions[instr.index + 1:instr.index + 3]
    by_next = interpreter.state.stack[-1:] == [Const(builtins.next)]
    plain = following[0].opname == "CALL_FUNCTION" and following[0].arg == 1
    last = following[-1]
    given = following[0].opname == "LOAD_CONST" and last.opname == "CALL_FUNCTION" and last.arg == 2
    return by_next and (plain or given)


def named_iterator(interpreter: Interpreter, value: Abstract) -> Abstract:
    """The value of a variable to which a new generator, ``map`` or ``filter`` is assigned; Break for others."""
    if (isinstance(value, GeneratorFrame) and not isinstance(value.maker, UnescapedFunction)
            and value.point == START and not interpreter.context.depth):
        return value
    if (interpreter.context.depth or not isinstance(value, Lazy) or value.made.code is EACH_ITEM
            or is_confined(value.iterator)):
        raise Break("PJ202", value=describe(value))
    return begun(value.made, value.iterator, value.defined_at)


def op_GET_ITER(interpreter: Interpreter, instr: Instr) -> None:
    interpreter.push(iterator_over(interpreter, mapped_arrays.iterated(interpreter, interpreter.pop())))


def op_FOR_ITER(interpreter: AbstractInterpreter, instr: Instr) -> None:
    value = interpreter.pop()
    if is_generating(value):
        generators.step_generator(interpreter, value)
        return
    step = step_of(interpreter, value)

    def enter() -> List[Abstract]:
        return [step.following, step.item()]

    if step.more is True:
        interpreter.state.stack += enter()
    else:
        interpreter.transfer = Transfer(TransferKind.ITERATE, step.more, enter) if step.more is not False else JUMP
        if step.more is not False:
            interpreter.rehearse(enter)
