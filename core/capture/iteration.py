"""Iteration: which iterables are stepped through natively."""

from __future__ import annotations

from typing import Any, Callable, Optional

from pijit.core.bytecode.decode import Instr
from pijit.core.capture.operators import describe
from pijit.core.capture.values import Abstract, Number, Range, RangeIterator
from pijit.core.errors import Break
from pijit.core.graph.ir import Value
from pijit.core.graph.types import FLAG, INT, WORD


class Iteration:
    """Mixin of the interpreter: GET_ITER and FOR_ITER."""

    emit: Callable[..., Optional[Value]]
    pop: Callable[[], Abstract]
    push: Callable[[Abstract], None]
    flow: Any

    def op_GET_ITER(self, instr: Instr) -> None:
        value = self.pop()
        if isinstance(value, RangeIterator):
            self.push(value)
            return
        if not isinstance(value, Range):
            raise Break("PJ209", type=describe(value))
        zero = self.emit("const", [], WORD, {"value": 0})
        step = self.emit("const", [], WORD, {"value": value.step})
        self.push(RangeIterator((zero, value.start, step, value.length)))

    def op_FOR_ITER(self, instr: Instr) -> None:
        value = self.pop()
        if not isinstance(value, RangeIterator):
            raise Break("PJ209", type=describe(value))
        index, start, step, length = value.values
        more = self.emit("compare", [index, length], FLAG, {"operator": "<"})
        offset = self.emit("mul", [index, step], WORD)
        item = self.emit("same", [self.emit("add", [start, offset], WORD)], INT)
        one = self.emit("const", [], WORD, {"value": 1})
        following = RangeIterator((self.emit("add", [index, one], WORD), start, step, length), value.input, value.born)
        following.root = value.root
        self.flow = ("iterate", more, [following, Number(INT, item, born=instr.index)])
