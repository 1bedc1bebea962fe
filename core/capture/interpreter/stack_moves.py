"""Instructions that only move values on the operand stack."""

from __future__ import annotations

from typing import List

from pijit.core.bytecode.codec.decode import Instr
from pijit.core.capture.models.containers import constructions
from pijit.core.capture.models.objects.composites import is_unmade
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.values.base import Composite
from pijit.core.capture.values.lattice import Abstract, Unknown
from pijit.core.errors import Break

ROTATIONS = {"ROT_TWO": 2, "ROT_THREE": 3, "ROT_FOUR": 4}


def op_POP_TOP(interpreter: Interpreter, instr: Instr) -> None:
    interpreter.take()


def op_DUP_TOP(interpreter: Interpreter, instr: Instr) -> None:
    value = _twice(interpreter, interpreter.take())
    interpreter.state.stack += [value, value]


def op_DUP_TOP_TWO(interpreter: Interpreter, instr: Instr) -> None:
    pair = [_twice(interpreter, value) for value in _taken(interpreter, 2)]
    interpreter.state.stack += pair + pair


def _taken(interpreter: Interpreter, count: int) -> List[Abstract]:
    """``count`` values to move, in the order in which they were pushed."""
    values = [interpreter.take() for _ in range(count)]
    values.reverse()
    return values


def _twice(interpreter: Interpreter, value: Abstract) -> Abstract:
    """A value that is on the stack twice. The index of ``x[index] += ...`` need not become an object for that."""
    value = interpreter.use(value) if isinstance(value, Composite) else interpreter.alone(value)
    return value if is_unmade(value) else constructions.as_object(interpreter, value)


def op_ROT_N(interpreter: Interpreter, instr: Instr) -> None:
    rotate(interpreter, instr.arg or 0)


def rotate(interpreter: Interpreter, count: int) -> None:
    """Move the top below ``count - 1`` others."""
    values = _taken(interpreter, count)
    interpreter.state.stack += [values[-1]] + values[:-1]


def op_COPY(interpreter: Interpreter, instr: Instr) -> None:
    depth = instr.arg or 0
    value = interpreter.state.stack[-depth]
    if isinstance(value, Unknown):
        raise Break(value.reason)
    value = interpreter.state.stack[-depth] = _twice(interpreter, value)
    interpreter.state.stack.append(value)


def op_SWAP(interpreter: Interpreter, instr: Instr) -> None:
    values = _taken(interpreter, instr.arg or 0)
    values[0], values[-1] = values[-1], values[0]
    interpreter.state.stack += values
