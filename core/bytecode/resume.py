"""Generator code from one yield to the next, as plain code that returns what it yields.

The code of one step begins with a jump behind the yield at which the generator waits, on its operand stack, and with
the None that a loop sends to it::

    [SETUP_...]                           <the generator's code>
    LOAD_FAST $s1 ...                     RETURN_VALUE    in place of YIELD_VALUE
    LOAD_CONST None
    JUMP_ABSOLUTE <behind the yield>

Before that a loop takes the place of ``yield from`` where nobody asks for what that gives, see `delegating`.
"""

from __future__ import annotations

import dis
from types import CodeType
from typing import Dict, FrozenSet, Iterable, List, NamedTuple, Tuple

from pijit.core.bytecode.blocks import CFG, build_cfg
from pijit.core.bytecode.consume import GENERATOR
from pijit.core.bytecode.decode import decode
from pijit.core.bytecode.encode import Assembler, Item, Label, Op, replace_code
from pijit.core.bytecode.liveness import Liveness
from pijit.core.bytecode.moves import setup_of

START = -1
"""Where a generator waits that has not begun."""


class Resumed(NamedTuple):
    """The code of a step; how many instructions it has in front of the generator's own; the points of the yields by
    the instructions that are in their place; the variables that the operand stack comes in; the points at which the
    generator waits inside a try statement."""

    code: CodeType
    first: int
    yields: Dict[int, int]
    stack: Tuple[str, ...]
    in_try: FrozenSet[int]


class StepLiveness(Liveness):
    """What is live in a step: what any later step reads is live where this one ends."""

    __slots__ = ("_first", "_before")

    def __init__(self, code: CodeType, step: Resumed) -> None:
        super().__init__(build_cfg(decode(code)))
        self._first = step.first
        items = [instr.value for instr in decode(step.code).instructions[:step.first]]
        self._before = [frozenset(code.co_varnames).union(name for name in step.stack if name in items[k:])
                        for k in range(step.first)]

    def show(self, index: int, names: Iterable[str]) -> None:
        """Nothing: kernels do not leave in the middle of a step."""

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
    in_try = frozenset(point for point in yields.values()
                       if any(block.kind != "loop" for block in cfg.block_stack[point] or ()))
    step = assembler.assemble() if first else assembler.function.code
    return Resumed(step, len(first), yields, tuple(names), in_try)


def delegating(code: CodeType) -> CodeType:
    """The code with a loop that yields each item in place of ``yield from``; itself where there is none::

        GET_YIELD_FROM_ITER   ->       GET_ITER
        LOAD_CONST None          next: FOR_ITER end; YIELD_VALUE; POP_TOP; JUMP_ABSOLUTE next
        YIELD_FROM               end:  LOAD_CONST None
        POP_TOP                        POP_TOP
    """
    function = decode(code)
    raw, found = bytearray(code.co_code), []
    names = [instr.opname for instr in function.instructions]
    for index, name in enumerate(names):
        if name == "YIELD_FROM" and names[index - 2] == "GET_YIELD_FROM_ITER" and names[index + 1] == "POP_TOP":
            found.append(index)
            for instr, new in zip(function.instructions[index - 2:index + 1], ("GET_ITER", "NOP", "NOP")):
                raw[instr.offset + 2 * (instr.size - 1)] = dis.opmap[new]
    if not found:
        return code
    assembler = Assembler(decode(replace_code(code, co_code=bytes(raw))))
    for index in found:
        following, end, line = Label("next"), Label("end"), function.instructions[index].lineno
        assembler.insert(index, [
            following, Op("FOR_ITER", end, line), Op("YIELD_VALUE", None, line), Op("POP_TOP", None, line),
            Op("JUMP_ABSOLUTE", following, line), end, Op("LOAD_CONST", assembler.const(None), line)])
    return assembler.assemble()


def only_yield(code: CodeType) -> int:
    """Where a generator expression waits between its items if it has one loop and one yield, else `START`."""
    marks = [instr for instr in decode(code).instructions if instr.opname in ("FOR_ITER", "YIELD_VALUE")]
    return marks[1].index if [instr.opname for instr in marks] == ["FOR_ITER", "YIELD_VALUE"] else START


def _on_stack(assembler: Assembler, cfg: CFG, point: int, names: List[str]) -> List[Item]:
    """Go on behind a yield with the operand stack, and the blocks, that were there."""
    items: List[Item] = []
    line = cfg.function.instructions[point].lineno
    blocks = list(cfg.block_stack[point] or ())
    for position in range(len(names) + 1):
        while blocks and blocks[0].level == position:
            items.append(Op(setup_of(cfg, blocks[0]), assembler.inserted(blocks.pop(0).handler), line))
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
    """How a frame waits at a yield of the `delegating` code: the offset of its last instruction, the slots of these
    variables, and (setup, handler, level) of each of its blocks, one after the other."""
    function = decode(code)
    slots = tuple(code.co_varnames.index(name) for name in names)
    if point == START:
        return START, slots, ()
    waits = [instr for instr in function.instructions if instr.opname in ("YIELD_VALUE", "YIELD_FROM")]
    before = decode(delegating(code)).instructions[:point]
    instr = waits[sum(one.opname in ("YIELD_VALUE", "YIELD_FROM") for one in before)]
    cfg = build_cfg(function)
    blocks = [(dis.opmap[setup_of(cfg, block)], function.instructions[block.handler].offset, block.level)
              for block in cfg.block_stack[instr.index] or ()]
    last = instr.offset + 2 * (instr.size - 1) - (2 if instr.opname == "YIELD_FROM" else 0)  # which runs again
    return last, slots, tuple(number for block in blocks for number in block)
