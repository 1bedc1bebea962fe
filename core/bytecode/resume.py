"""Generator code from one yield to the next, as plain code that returns what it yields.

The code of one step begins with a jump behind the yield at which the generator waits, on its operand stack, and with
the None that a loop sends to it::

    [SETUP_LOOP]  CPython 3.7             <the generator's code>
    LOAD_FAST $s1 ...                     RETURN_VALUE    in place of YIELD_VALUE
    LOAD_CONST None
    JUMP_ABSOLUTE <behind the yield>
"""

from __future__ import annotations

import dis
from types import CodeType
from typing import Dict, FrozenSet, List, NamedTuple, Tuple

from pijit.core.bytecode.blocks import CFG, build_cfg
from pijit.core.bytecode.consume import GENERATOR
from pijit.core.bytecode.decode import decode
from pijit.core.bytecode.encode import Assembler, Item, Op, replace_code
from pijit.core.bytecode.liveness import Liveness

START = -1
"""Where a generator waits that has not begun."""


class Resumed(NamedTuple):
    """The code of a step; how many instructions it has in front of the generator's own; the points of the yields by
    the instructions that are in their place; the variables that the operand stack comes in."""

    code: CodeType
    first: int
    yields: Dict[int, int]
    stack: Tuple[str, ...]


class StepLiveness(Liveness):
    """What is live in a step: what any later step reads is live where this one ends."""

    __slots__ = ("_first", "_before")

    def __init__(self, code: CodeType, step: Resumed) -> None:
        super().__init__(build_cfg(decode(code)))
        self._first = step.first
        items = [instr.value for instr in decode(step.code).instructions[:step.first]]
        self._before = [frozenset(code.co_varnames).union(name for name in step.stack if name in items[k:])
                        for k in range(step.first)]

    def live_in(self, index: int) -> FrozenSet[str]:
        return super().live_in(index - self._first) if index >= self._first else self._before[index]


def resumed(code: CodeType, point: int) -> Resumed:
    """The step of a generator that waits at ``point``."""
    cfg = build_cfg(decode(code))
    assembler = Assembler(decode(_returning(code)))
    names = []
    first: List[Item] = []
    if point != START:
        names = ["$s%d" % k for k in range((cfg.stack_depth[point] or 0) - 1)]
        first = _on_stack(assembler, cfg, point, names)
        assembler.insert(0, first, redirect=False)
    yields = {instr.index + len(first): instr.index
              for instr in cfg.function.instructions if instr.opname == "YIELD_VALUE"}
    return Resumed(assembler.assemble() if first else assembler.function.code, len(first), yields, tuple(names))


def only_yield(code: CodeType) -> int:
    """Where a generator expression waits between its items if it has one loop and one yield, else `START`."""
    marks = [instr for instr in decode(code).instructions if instr.opname in ("FOR_ITER", "YIELD_VALUE")]
    return marks[1].index if [instr.opname for instr in marks] == ["FOR_ITER", "YIELD_VALUE"] else START


def _on_stack(assembler: Assembler, cfg: CFG, point: int, names: List[str]) -> List[Item]:
    """Go on behind a yield with the operand stack, and CPython 3.7's loop blocks, that were there."""
    items: List[Item] = []
    line = cfg.function.instructions[point].lineno
    loops = list(cfg.block_stack[point] or ())
    for position in range(len(names) + 1):
        while loops and loops[0].level == position:
            items.append(Op("SETUP_LOOP", assembler.inserted(loops.pop(0).handler), line))
        if position < len(names):
            items.append(Op("LOAD_FAST", assembler.local(names[position]), line))
    return items + [Op("LOAD_CONST", assembler.const(None), line),
                    Op("JUMP_ABSOLUTE", assembler.original(point + 1), line)]


def _returning(code: CodeType) -> CodeType:
    """The code with a return in place of each yield, and nothing where a generator begins."""
    raw = bytearray(code.co_code)
    for instr in decode(code).instructions:
        if instr.opname in ("YIELD_VALUE", "GEN_START"):
            raw[instr.offset] = dis.opmap["RETURN_VALUE" if instr.opname == "YIELD_VALUE" else "NOP"]
    return replace_code(code, co_code=bytes(raw), co_flags=code.co_flags & ~GENERATOR)


def plan(code: CodeType, point: int, names: Tuple[str, ...]) -> Tuple[int, Tuple[int, ...], Tuple[int, ...]]:
    """How a frame waits there, for the launcher: the offset of its last instruction, the slots of these variables,
    and (handler, level) of each of its loop blocks, one after the other."""
    function = decode(code)
    slots = tuple(code.co_varnames.index(name) for name in names)
    if point == START:
        return START, slots, ()
    blocks = build_cfg(function).block_stack[point] or ()
    pairs = [(function.instructions[block.handler].offset, block.level) for block in blocks]
    instr = function.instructions[point]
    return instr.offset + 2 * (instr.size - 1), slots, tuple(number for pair in pairs for number in pair)
