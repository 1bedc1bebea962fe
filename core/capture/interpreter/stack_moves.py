"""Instructions that only move values on the operand stack."""

from __future__ import annotations

from typing import Callable, List

from pijit.core.bytecode.codec.decode import Instr
from pijit.core.capture.models.objects.composites import is_unmade
from pijit.core.capture.state.frame_state import FrameState
from pijit.core.capture.values.base import Composite
from pijit.core.capture.values.lattice import Abstract, Unknown
from pijit.core.errors import Break

ROTATIONS = {"ROT_TWO": 2, "ROT_THREE": 3, "ROT_FOUR": 4}


class StackMoves:
    """Mixin of the interpreter: POP_TOP, DUP_TOP, ROT_TWO and similar instructions."""

    state: FrameState
    use: Callable[[Abstract], Abstract]
    take: Callable[[], Abstract]
    take_many: Callable[[int], List[Abstract]]
    alone: Callable[[Abstract], Abstract]
    as_object: Callable[[Abstract], Abstract]

    def op_POP_TOP(self, instr: Instr) -> None:
        self.take()

    def op_DUP_TOP(self, instr: Instr) -> None:
        value = self._twice(self.take())
        self.state.stack += [value, value]

    def op_DUP_TOP_TWO(self, instr: Instr) -> None:
        pair = [self._twice(value) for value in self.take_many(2)]
        self.state.stack += pair + pair

    def _twice(self, value: Abstract) -> Abstract:
        """A value that is on the stack twice. The index of ``x[index] += ...`` need not become an object for that."""
        value = self.use(value) if isinstance(value, Composite) else self.alone(value)
        return value if is_unmade(value) else self.as_object(value)

    def op_ROT_N(self, instr: Instr) -> None:
        self.rotate(instr.arg or 0)

    def rotate(self, count: int) -> None:
        """Move the top below ``count - 1`` others."""
        values = self.take_many(count)
        self.state.stack += [values[-1]] + values[:-1]

    def op_COPY(self, instr: Instr) -> None:
        depth = instr.arg or 0
        value = self.state.stack[-depth]
        if isinstance(value, Unknown):
            raise Break(value.reason)
        value = self.state.stack[-depth] = self._twice(value)
        self.state.stack.append(value)

    def op_SWAP(self, instr: Instr) -> None:
        values = self.take_many(instr.arg or 0)
        values[0], values[-1] = values[-1], values[0]
        self.state.stack += values
