"""Comparisons and jumps, and the blocks of try statements, which exits restore.

The dispatch table of `interpreter` has its functions. They must not choose a path by a value that a guard does not
cover.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional, cast

from pijit.core.bytecode.codec.decode import Instr
from pijit.core.bytecode.flow.control_flow import Blocks, unwound_level
from pijit.core.bytecode.instructions.opcodes import PRESENT
from pijit.core.capture.interpreter import exceptions
from pijit.core.capture.models.containers import contents
from pijit.core.capture.models.objects.special_methods import truth_special
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.models.scalars import conversions
from pijit.core.capture.models.stdlib import context_managers
from pijit.core.capture.state.edges import FALL, JUMP, Transfer, TransferKind
from pijit.core.capture.values.base import raised_in
from pijit.core.capture.values.lattice import Const, Number
from pijit.core.errors import Break
from pijit.core.graph.types import BOOL, FLAG

if TYPE_CHECKING:
    from pijit.core.capture.interpreter.interpreter import AbstractInterpreter

MAKES_BOOL = "TO_BOOL" in PRESENT
"""Whether the argument of a comparison says that its result is converted to bool (3.13)."""
PASSED = frozenset(["loop", "except", "finally"])
"""Kinds of blocks that need no action when they are left without an exception."""


def op_COMPARE_OP(interpreter: Interpreter, instr: Instr) -> None:
    if instr.value == "exception match":
        interpreter.push(Const(exceptions.matches(interpreter, interpreter.pop(), interpreter.take(), instr)))
        return
    right, left = interpreter.pop(), interpreter.pop()
    interpreter.push(interpreter.compare(instr.value, left, right))
    if instr.arg and MAKES_BOOL:
        op_TO_BOOL(interpreter, instr)


def op_IS_OP(interpreter: Interpreter, instr: Instr) -> None:
    right, left = interpreter.pop(), interpreter.pop()
    interpreter.push(interpreter.compare("is not" if instr.arg else "is", left, right))


def op_CONTAINS_OP(interpreter: Interpreter, instr: Instr) -> None:
    right, left = interpreter.pop(), interpreter.pop()
    interpreter.push(interpreter.compare("not in" if instr.arg else "in", left, right))


def op_UNARY_NOT(interpreter: Interpreter, instr: Instr) -> None:
    value = truth_special(interpreter, interpreter.pop())
    known = contents.known_truth(interpreter, value)
    if known is not None:
        interpreter.push(Const(not known))
        return
    flag = interpreter.emit("not", [conversions.truth(interpreter, value)], FLAG)
    interpreter.push(Number(BOOL, interpreter.emit("flag", [flag], BOOL)))


def op_JUMP_FORWARD(interpreter: Interpreter, instr: Instr) -> None:
    interpreter.transfer = JUMP


op_JUMP_ABSOLUTE = op_JUMP_FORWARD


def jump_if(interpreter: Interpreter, when: bool, keep: Optional[bool]) -> None:
    """Jump if the truth of the top is ``when``. ``keep``: the truth value for which the top stays on the stack."""
    value = interpreter.pop()
    asked = truth_special(interpreter, value)
    known = contents.known_truth(interpreter, asked)
    if known is not None:
        interpreter.transfer = JUMP if known == when else FALL
        if keep is not None and known == keep:
            interpreter.push(value)
        return
    flag = conversions.truth(interpreter, asked)
    if not when:
        flag = interpreter.emit("not", [flag], FLAG)
    interpreter.transfer = Transfer(TransferKind.BRANCH, flag, lambda: [value] if keep is not None else [])


def op_POP_JUMP_IF_FALSE(interpreter: AbstractInterpreter, instr: Instr) -> None:
    interpreter.jump_if(False, None)


def op_POP_JUMP_IF_TRUE(interpreter: AbstractInterpreter, instr: Instr) -> None:
    interpreter.jump_if(True, None)


def op_POP_JUMP_IF_NONE(interpreter: AbstractInterpreter, instr: Instr) -> None:
    interpreter.push(interpreter.compare("is", interpreter.pop(), Const(None)))
    interpreter.jump_if(True, None)


def op_POP_JUMP_IF_NOT_NONE(interpreter: AbstractInterpreter, instr: Instr) -> None:
    interpreter.push(interpreter.compare("is", interpreter.pop(), Const(None)))
    interpreter.jump_if(False, None)


def op_TO_BOOL(interpreter: Interpreter, instr: Instr) -> None:
    """Convert to bool: a jump of 3.13 accepts nothing but True and False."""
    value = truth_special(interpreter, interpreter.pop())
    known = contents.known_truth(interpreter, value)
    is_bool = isinstance(value, Number) and value.type == BOOL
    if known is not None:
        interpreter.push(Const(known))
    else:
        interpreter.push(value if is_bool
                         else Number(BOOL, interpreter.emit("flag", [conversions.truth(interpreter, value)], BOOL)))


def op_JUMP_IF_FALSE_OR_POP(interpreter: AbstractInterpreter, instr: Instr) -> None:
    interpreter.jump_if(False, False)


def op_JUMP_IF_TRUE_OR_POP(interpreter: AbstractInterpreter, instr: Instr) -> None:
    interpreter.jump_if(True, True)


def op_SETUP_FINALLY(interpreter: Interpreter, instr: Instr) -> None:
    """No operation: exits restore the block stack."""


op_SETUP_EXCEPT = op_SETUP_LOOP = op_SETUP_FINALLY


def op_POP_BLOCK(interpreter: Interpreter, instr: Instr) -> None:
    kind = cast(Blocks, interpreter.cfg.block_stack[instr.index])[-1].kind
    if kind == "with":
        context_managers.leave_with(interpreter, instr)
    elif kind not in PASSED:
        raise Break("PJ206", opcode=instr.opname)


def op_BREAK_LOOP(interpreter: Interpreter, instr: Instr) -> None:
    """CPython 3.7: leave the innermost loop and the blocks in it, or continue with the next iteration."""
    handled = raised_in(interpreter.state.stack) is not None
    level = unwound_level(cast(Blocks, interpreter.cfg.block_stack[instr.index]), instr.opname, handled)
    if level is None:
        raise Break("PJ206", opcode=instr.opname)
    interpreter.state.stack = interpreter.state.stack[:level]
    interpreter.transfer = JUMP


op_CONTINUE_LOOP = op_BREAK_LOOP
