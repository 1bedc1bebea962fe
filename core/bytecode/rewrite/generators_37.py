"""Generators as plain code on CPython 3.7 to 3.10: instructions of the same size replace yields.

`generator_steps` and `generator_to_loop` use it.
"""

from __future__ import annotations

import dis
from types import CodeType
from typing import List, Sequence, Tuple

from pijit.core.bytecode.analysis.blocks import CFG, build_cfg
from pijit.core.bytecode.assembler.frames_37 import setup_of
from pijit.core.bytecode.codec.decode import Function, decode
from pijit.core.bytecode.codec.encode import Assembler, CodeItem, Label, NewInstr, replace_code

GENERATOR = 0x20
START = -1
"""The waiting position of a generator that has not begun."""


def readable(code: CodeType) -> Function:
    """The function whose instructions the functions below number: that of the code itself."""
    return decode(code)


def without_yields(function: Function) -> Function:
    """The function without its yields, and without the instructions that drop the sent value."""
    code, instructions = function.code, function.instructions
    raw = bytearray(code.co_code)
    silent = [instr for instr in instructions if instr.opname == "GEN_START"]
    for instr in instructions:
        if instr.opname == "YIELD_VALUE":
            silent += instructions[instr.index:instr.index + 2]
            if silent[-1].opname != "POP_TOP":
                raise ValueError("the generator uses what is sent to it")
    for instr in silent:
        raw[instr.offset] = dis.opmap["NOP"]
    return decode(replace_code(code, co_code=bytes(raw), co_flags=code.co_flags & ~GENERATOR))


def returning(function: Function) -> Function:
    """The function with a return in place of each yield, and without the start of the generator."""
    code = function.code
    raw = bytearray(code.co_code)
    for instr in function.instructions:
        if instr.opname in ("YIELD_VALUE", "GEN_START"):
            raw[instr.offset] = dis.opmap["RETURN_VALUE" if instr.opname == "YIELD_VALUE" else "NOP"]
    return decode(replace_code(code, co_code=bytes(raw), co_flags=code.co_flags & ~GENERATOR))


def on_stack(assembler: Assembler, cfg: CFG, point: int, names: Sequence[str]) -> List[CodeItem]:
    """Code that continues after a yield, on the operand stack and the block stack of the yield."""
    items: List[CodeItem] = []
    line = cfg.function.instructions[point].lineno
    blocks = list(cfg.block_stack[point] or ())
    for position in range(len(names) + 1):
        while blocks and blocks[0].level == position:
            items.append(NewInstr(setup_of(cfg, blocks[0]), assembler.inserted(blocks.pop(0).handler), line))
        if position < len(names):
            items.append(NewInstr("LOAD_FAST", assembler.local(names[position]), line))
    return items + [NewInstr("LOAD_CONST", assembler.const(None), line),
                    NewInstr("JUMP_ABSOLUTE", assembler.original(point + 1), line)]


def delegating(function: Function) -> Function:
    """The function with a loop over the items in place of each ``yield from``; the same function if it has none::

        GET_YIELD_FROM_ITER   ->       GET_ITER
        LOAD_CONST None          next: FOR_ITER end; YIELD_VALUE; POP_TOP; JUMP_ABSOLUTE next
        YIELD_FROM               end:  LOAD_CONST None
        POP_TOP                        POP_TOP
    """
    code = function.code
    raw, found = bytearray(code.co_code), []
    names = [instr.opname for instr in function.instructions]
    for index, name in enumerate(names):
        if name == "YIELD_FROM" and names[index - 2] == "GET_YIELD_FROM_ITER" and names[index + 1] == "POP_TOP":
            found.append(index)
            for instr, new in zip(function.instructions[index - 2:index + 1], ("GET_ITER", "NOP", "NOP")):
                raw[instr.offset + 2 * (instr.size - 1)] = dis.opmap[new]
    if not found:
        return function
    assembler = Assembler(decode(replace_code(code, co_code=bytes(raw))))
    for index in found:
        following, end, line = Label("next"), Label("end"), function.instructions[index].lineno
        assembler.insert(index, [
            following, NewInstr("FOR_ITER", end, line), NewInstr("YIELD_VALUE", None, line),
            NewInstr("POP_TOP", None, line),
            NewInstr("JUMP_ABSOLUTE", following, line), end, NewInstr("LOAD_CONST", assembler.const(None), line)])
    return assembler.assemble_function()


def begins_by_call(code: CodeType, names: Tuple[str, ...]) -> bool:
    """Never: a generator that has not begun has a plan, too."""
    return False


def plan(source: Function, loops: Function, point: int,
         names: Tuple[str, ...]) -> Tuple[int, Tuple[int, ...], Tuple[int, ...]]:
    """The state of a frame that waits at a yield of the `delegating` function.

    Args:
        source: the `readable` function.
        loops: the `delegating` function.
        point: the index of the yield, or `START`.
        names: the variables that have a value.

    Returns:
        The offset of its last instruction, the slots of these variables, and the numbers (setup, handler, level) of
        each of its blocks in one tuple.
    """
    slots = tuple(source.varnames.index(name) for name in names)
    if point == START:
        return START, slots, ()
    waits = [instr for instr in source.instructions if instr.opname in ("YIELD_VALUE", "YIELD_FROM")]
    before = loops.instructions[:point]
    instr = waits[sum(one.opname in ("YIELD_VALUE", "YIELD_FROM") for one in before)]
    cfg = build_cfg(source)
    blocks = [(dis.opmap[setup_of(cfg, block)], source.instructions[block.handler].offset, block.level)
              for block in cfg.block_stack[instr.index] or ()]
    last = instr.offset + 2 * (instr.size - 1) - (2 if instr.opname == "YIELD_FROM" else 0)  # YIELD_FROM runs again
    return last, slots, tuple(number for block in blocks for number in block)
