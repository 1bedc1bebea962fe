"""Loops: GET_ITER and FOR_ITER on what kernels can step natively."""

from __future__ import annotations

from typing import Any, Callable

from pijit.core.bytecode.decode import Instr
from pijit.core.capture.iterators import iterator_over, step_of
from pijit.core.capture.operators import describe
from pijit.core.capture.values import Abstract, LoopIterator
from pijit.core.errors import Break


class Iteration:
    """Mixin of the interpreter: GET_ITER and FOR_ITER."""

    pop: Callable[[], Abstract]
    push: Callable[[Abstract], None]
    flow: Any

    def op_GET_ITER(self, instr: Instr) -> None:
        self.push(iterator_over(self, self.pop()))

    def op_FOR_ITER(self, instr: Instr) -> None:
        value = self.pop()
        if not isinstance(value, LoopIterator):
            raise Break("PJ209", type=describe(value))
        step = step_of(self, value)

        def enter() -> Any:
            item = step.item()
            item.born = instr.index
            return [step.following, item]

        self.flow = ("iterate", step.more, enter)
