"""Steps of a generator: its code from one yield to the next, as plain code that returns the yielded value.

The capturer inlines generators with it.
The code of a step begins with a jump to the instruction after the yield at which the generator waits. Before the jump
it restores the operand stack, with the None that a loop sends on top::

    [SETUP_...]                           <the generator's code>
    LOAD_FAST $s1 ...                     RETURN_VALUE    in place of YIELD_VALUE
    LOAD_CONST None
    JUMP_ABSOLUTE <after the yield>

Before that a loop replaces each ``yield from`` whose result is dropped; see `delegating`.
"""

from __future__ import annotations

import sys
from types import CodeType
from typing import Any, Dict, FrozenSet, Iterable, List, Optional, Tuple

from pijit.core.bytecode.analysis.blocks import CFG, build_cfg
from pijit.core.bytecode.analysis.liveness import Liveness
from pijit.core.bytecode.codec.encode import Assembler, CodeItem
from pijit.core.bytecode.instructions.instruction import Function
from pijit.core.bytecode.normal_form.normalise import normal_function
from pijit.core.named_tuples import NamedTuple

if sys.version_info >= (3, 11):
    from pijit.core.bytecode.rewrite.generators_311 import (
        START,
        begins_by_call,
        delegating,
        on_stack,
        plan,
        readable,
        returning,
    )
else:
    from pijit.core.bytecode.rewrite.generators_37 import (
        START,
        begins_by_call,
        delegating,
        on_stack,
        plan,
        readable,
        returning,
    )

__all__ = [
    "START", "GeneratorCode", "Resumed", "StepLiveness", "begins_by_call", "readable", "resumed"]


class GeneratorCode:
    """The code of a generator, decoded once for all its steps.

    Attributes:
        source: the `readable` function.
        cfg: the control flow graph in normal form, with loops in place of `yield from`. It numbers the yields.
    """

    __slots__ = ("source", "cfg", "_returning")

    def __init__(self, code: CodeType) -> None:
        self.source = readable(code)
        self.cfg = build_cfg(normal_function(delegating(self.source)))
        self._returning: Optional[Function] = None

    @property
    def returning(self) -> Function:
        """The function of `cfg` with a return in place of each yield."""
        if self._returning is None:
            self._returning = normal_function(returning(self.cfg.function))
        return self._returning

    def plan(self, point: int, names: Tuple[str, ...]) -> Any:
        """The recipe for a generator that waits at a yield, with values for these variables; see `plan`."""
        return plan(self.source, self.cfg.function, point, names)

    @property
    def only_yield(self) -> int:
        """The yield at which a generator expression with one loop and one yield waits between items, else `START`."""
        marks = [instr for instr in self.cfg.function.instructions if instr.opname in ("FOR_ITER", "YIELD_VALUE")]
        return marks[1].index if [instr.opname for instr in marks] == ["FOR_ITER", "YIELD_VALUE"] else START


class Resumed(NamedTuple):
    """The code of a step.

    Attributes:
        function: the decoded code, not in normal form.
        first: number of instructions before the generator's own.
        yields: for each instruction that replaces a yield, the index of the yield.
        stack: the variables that hold the operand stack at the start.
        in_try: the yields at which the generator waits inside a try statement.
    """

    function: Function
    first: int
    yields: Dict[int, int]
    stack: Tuple[str, ...]
    in_try: FrozenSet[int]


class StepLiveness(Liveness):
    """Liveness within a step: variables that any later step reads are live at its end.

    Args:
        whole: the control flow of the generator.
        function: the step in normal form.
        step: what the step consists of.
    """

    __slots__ = ("_first", "_before")

    def __init__(self, whole: CFG, function: Function, step: Resumed) -> None:
        super().__init__(whole)
        self._first = step.first
        items = [instr.value for instr in function.instructions[:step.first]]
        self._before = [frozenset(whole.function.varnames).union(name for name in step.stack if name in items[k:])
                        for k in range(step.first)]

    def show(self, index: int, names: Iterable[str]) -> None:
        """Do nothing: kernels do not leave in the middle of a step."""

    def live_in(self, index: int) -> FrozenSet[str]:
        return super().live_in(index - self._first) if index >= self._first else self._before[index]


def resumed(generator: GeneratorCode, point: int) -> Resumed:
    """The step of a generator that waits at ``point``, the index of a yield or `START`."""
    cfg, assembler = generator.cfg, Assembler(generator.returning)
    names = []
    first: List[CodeItem] = []
    if point != START:
        names = ["$s%d" % k for k in range((cfg.stack_depth[point] or 0) - 1)]
        first = on_stack(assembler, cfg, point, names)
        assembler.insert(assembler.first_place(), first, redirect=False)
    yields = {instr.index + len(first): instr.index
              for instr in cfg.function.instructions if instr.opname == "YIELD_VALUE"}
    in_try = frozenset(point for point in yields.values()
                       if any(block.kind != "loop" for block in cfg.block_stack[point] or ()))
    step = assembler.assemble_function() if first else generator.returning
    return Resumed(step, len(first), yields, tuple(names), in_try)
