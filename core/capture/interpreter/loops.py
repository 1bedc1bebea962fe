"""Loops: GET_ITER and FOR_ITER on iterators that kernels can step."""

from __future__ import annotations

import builtins
from typing import Any, Callable

from pijit.core.bytecode.codec.decode import Function, Instr
from pijit.core.bytecode.rewrite.generator_steps import START
from pijit.core.capture.models.iteration.iterators import EACH_ITEM, iterator_over, step_of
from pijit.core.capture.models.operators import describe
from pijit.core.capture.state.frame_state import FrameState, is_confined
from pijit.core.capture.values.generator_frame import GeneratorFrame, begun, is_generating
from pijit.core.capture.values.lattice import Abstract, Const, Lazy, UnescapedFunction
from pijit.core.errors import Break
from pijit.core.graph.types import FLAG


class Iteration:
    """Mixin of the interpreter: GET_ITER and FOR_ITER."""

    emit: Callable[..., Any]
    use: Callable[[Abstract], Any]
    pop: Callable[[], Abstract]
    push: Callable[[Abstract], None]
    facts: Any
    function: Function
    flow: Any
    state: FrameState
    handler: Callable[[], Any]
    raise_where: Callable[..., None]
    end_block: Callable[[], None]
    step_generator: Callable[[Abstract], None]

    def is_stepped_alone(self, instr: Instr) -> bool:
        """Whether the iterator that ``instr`` loads is the argument of a call of ``next``."""
        following = self.function.instructions[instr.index + 1:instr.index + 3]
        by_next = self.state.stack[-1:] == [Const(builtins.next)]
        plain = following[0].opname == "CALL_FUNCTION" and following[0].arg == 1
        last = following[-1]
        given = following[0].opname == "LOAD_CONST" and last.opname == "CALL_FUNCTION" and last.arg == 2
        return by_next and (plain or given)

    def next_of(self, name: str) -> Abstract:
        """``next`` of the iterator in a variable. When it has ended, a local handler catches StopIteration, or bytecode
        repeats the call."""
        step = step_of(self, self.use(self.state.locals[name]))
        if step.more is False:
            raise Break("PJ209", type="iterator that has ended")
        if step.more is not True and self.handler() is not None:
            self.raise_where(lambda: self.emit("not", [step.more], FLAG), StopIteration)
            if self.ways:
                self.end_block()
        if step.more is not True and not self.ways:
            self.emit("require", [step.more], None, exits=True)
        self.facts.stepped[self.instr.index] = name
        self.state.locals[name] = step.following
        return step.item()

    def named_iterator(self, value: Abstract) -> Abstract:
        """The value of a variable to which a new generator, ``map`` or ``filter`` is assigned; Break for others."""
        called = isinstance(value, GeneratorFrame) and not isinstance(value.maker, UnescapedFunction)
        if called and value.point == START and not self.facts.depth:  # type: ignore[attr-defined]
            return value
        if (self.facts.depth or not isinstance(value, Lazy) or value.made.code is EACH_ITEM
                or is_confined(value.iterator)):
            raise Break("PJ202", value=describe(value))
        return begun(value.made, value.iterator, value.born)

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
            if step.more is not False:
                self.rehearse(enter)
