"""Loops: GET_ITER and FOR_ITER on what kernels can step natively."""

from __future__ import annotations

from typing import Any, Callable

from pijit.core.bytecode.decode import Function, Instr
from pijit.core.capture.iterators import iterator_over, step_of
from pijit.core.capture.states import State
from pijit.core.capture.suspended import is_generating
from pijit.core.capture.values import Abstract


class Iteration:
    """Mixin of the interpreter: GET_ITER and FOR_ITER."""

    pop: Callable[[], Abstract]
    push: Callable[[Abstract], None]
    facts: Any
    function: Function
    flow: Any
    state: State
    step_generator: Callable[[Abstract], None]

    def op_GET_ITER(self, instr: Instr) -> None:
        self.push(iterator_over(self, self.pop()))

    def op_FOR_ITER(self, instr: Instr) -> None:
        value = self.pop()
        if is_generating(value):
            self.step_generator(value)
            return
        step = step_of(self, value)

        def enter() -> Any:
            return [step.following, step.item()]

        if step.more is True:
            self.state.stack += enter()
        else:
            self.flow = ("iterate", step.more, enter) if step.more is not False else "jump"
