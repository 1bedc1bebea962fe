"""Generators as plain code on CPython 3.11 and later, which start and resume by special instructions.

`generator_steps` and `generator_to_loop` use it.
"""

from __future__ import annotations

import copy
import dis
from types import CodeType
from typing import Dict, List, Sequence, Tuple

from pijit.core.bytecode.analysis.blocks import CFG, build_cfg
from pijit.core.bytecode.analysis.definite_assignment_311 import checked
from pijit.core.bytecode.assembler.emit_311 import Emit
from pijit.core.bytecode.assembler.frames_311 import stack_layout
from pijit.core.bytecode.codec.decode import Function, decode
from pijit.core.bytecode.codec.encode import Assembler, CodeItem, replace_code
from pijit.core.bytecode.instructions.instruction import Instr, count_arguments
from pijit.core.bytecode.instructions.units_311 import SKIPPED_BY_FOR_ITER
from pijit.core.bytecode.normal_form.normalise import normal_function
from pijit.core.bytecode.normal_form.split_instructions_311 import Encoded, rewritten, without_compounds

GENERATOR = 0x20
START = -1
"""The waiting position of a generator that has not begun."""
_STARRED = 0x04 | 0x08
_AFTER_AWAIT = 3
# Instructions after a `yield from` whose result is dropped.
_ENDS = ["END_SEND"] * ("END_SEND" in dis.opmap) + ["POP_TOP"]


def readable(code: CodeType) -> Function:
    """The function whose encoded instructions the functions below number: compound instructions are split."""
    return without_compounds(decode(code))


def without_yields(function: Function) -> Function:
    """The `readable` function without its yields, and without the instructions that drop the sent value.

    Raises:
        ValueError: the generator uses the sent value.
    """
    return _as_function(function, "NOP", ["RESUME", "POP_TOP"])


def returning(function: Function) -> Function:
    """The `readable` function with a return in place of each yield, and without the start of the generator."""
    return _as_function(function, "RETURN_VALUE", ["RESUME"])


def _as_function(function: Function, instead: str, dropped: List[str]) -> Function:
    """The function with an instruction in place of each yield; the `dropped` instructions after it become NOP."""
    code, instructions = function.code, function.encoded
    raw = bytearray(code.co_code)
    for instr in instructions:
        following = instructions[instr.index + 1:instr.index + 1 + len(dropped)]
        if instr.opname == "YIELD_VALUE":
            if [one.opname for one in following] != dropped:
                raise ValueError("the generator uses what is sent to it")
            _put(raw, [instr], instead)
            _put(raw, following, "NOP")
        elif instr.opname == "RETURN_GENERATOR":
            _put(raw, instructions[instr.index:instr.index + 2], "NOP")
    return decode(replace_code(code, co_code=bytes(raw), co_flags=code.co_flags & ~GENERATOR))


def _put(raw: bytearray, instructions: Sequence[Instr], opname: str) -> None:
    """Replace instructions by another one; none of these have caches."""
    for instr in instructions:
        raw[instr.offset + 2 * (instr.size - 1)] = dis.opmap[opname]


def on_stack(assembler: Assembler, cfg: CFG, point: int, names: Sequence[str]) -> List[CodeItem]:
    """Code that continues after a yield, on the operand stack of the yield."""
    emit = Emit(assembler, point)
    items: List[CodeItem] = []
    for place, position in enumerate(stack_layout(cfg, point)[:-1]):
        inner = emit.handled_below(place)
        items.append(
            inner.op("PUSH_NULL") if position is None else inner.op("LOAD_FAST", assembler.local(names[position])))
    return items + [emit.const(None), emit.jump(assembler.original(point + 1))]


def delegating(function: Function) -> Function:
    """The `readable` function with a loop over the items in place of each ``yield from``; itself if it has none::

        GET_YIELD_FROM_ITER                  ->    GET_ITER
        LOAD_CONST None                            NOP
        send: SEND end                             send: FOR_ITER end
        YIELD_VALUE; RESUME                        YIELD_VALUE; RESUME; POP_TOP
        JUMP_BACKWARD_NO_INTERRUPT send            JUMP_BACKWARD_NO_INTERRUPT send
        end: END_SEND (3.12)                       end: END_FOR
        POP_TOP                                    NOP; from 3.13 on POP_TOP, which FOR_ITER skips

    From 3.12 on a special handler gets exceptions thrown into the generator there. A loop has no such handler.
    """
    instructions = list(function.encoded)
    names = [instr.opname for instr in instructions]
    found = [instr for instr in instructions if instr.opname == "SEND" and _delegates(names, instr)]
    if not found:
        return function
    changes: Dict[int, List[Encoded]] = {}
    for send in found:
        assert send.target is not None
        instructions[send.index + 1] = yielding = copy.copy(instructions[send.index + 1])
        yielding.entry = send.entry
        changes.update(zip(
            range(send.index - 2, send.index + 1), ([("GET_ITER", 0)], [("NOP", 0)], [("FOR_ITER", 0)])))
        changes[send.index + 3] = [("POP_TOP", 0), ("JUMP_BACKWARD_NO_INTERRUPT", 0)]
        ends = [dis.opname[opcode] for opcode in SKIPPED_BY_FOR_ITER] + ["NOP"]
        changes.update((send.target + number, [(name, 0)]) for number, name in enumerate(ends[:len(_ENDS)]))
    return rewritten(Function(function.code, instructions), changes)


def _delegates(names: List[str], send: Instr) -> bool:
    """Whether a SEND belongs to a ``yield from`` whose result is dropped."""
    assert send.target is not None
    return (names[send.index - 2] == "GET_YIELD_FROM_ITER" and names[send.index + 1] == "YIELD_VALUE"
            and names[send.index + 3:send.target] == ["JUMP_BACKWARD_NO_INTERRUPT"]
            and names[send.target:send.target + len(_ENDS)] == _ENDS)


def begins_by_call(code: CodeType, names: Tuple[str, ...]) -> bool:
    """Whether a call with the values of ``names`` creates a generator that has not begun."""
    return (not code.co_kwonlyargcount and not code.co_flags & _STARRED
            and names == code.co_varnames[:code.co_argcount])


def plan(source: Function, loops: Function, point: int,
         names: Tuple[str, ...]) -> Tuple[CodeType, Tuple[int, ...], bool]:
    """The recipe for a generator that waits at a yield of the `delegating` function.

    Args:
        source: the `readable` function.
        loops: the `delegating` function in normal form.
        point: the index of the yield, or `START`.
        names: the variables that have a value.

    Returns:
        Three items. First, the code of a generator function that takes all its variables as arguments, and operands
        after them. Second, the positions of the values of ``names``, then of the operands. Third, whether a value has
        to be sent to it once: then it yields None at that yield, and waits.
    """
    code = source.code
    if point == START:
        return _with_arguments(code, count_arguments(code)), tuple(map(code.co_varnames.index, names)), False
    before = loops.instructions[:point]
    function = normal_function(source)
    waits = [instr.index for instr in function.instructions if instr.opname == "YIELD_VALUE"]
    index = waits[sum(instr.opname == "YIELD_VALUE" for instr in before)]
    assembler, cfg = Assembler(function), build_cfg(function)
    operands = [assembler.fresh_local() for _ in range((cfg.stack_depth[index] or 0) - 1)]
    assembler.insert(assembler.first_place(), _to_yield(assembler, cfg, index, names, operands), redirect=False)
    made = assembler.assemble_function()
    whole = _with_arguments(_without_requests(made), made.code.co_nlocals)
    return checked(whole, Function(whole, made.encoded)), (*map(code.co_varnames.index, names), *operands), True


def _to_yield(assembler: Assembler, cfg: CFG, point: int, names: Sequence[str],
              operands: Sequence[int]) -> List[CodeItem]:
    """Code that yields None at ``point``, on its operand stack. Variables not in ``names`` are unbound first."""
    emit = Emit(assembler, point)
    first = emit.handled_below(0)
    items: List[CodeItem] = [
        first.op("DELETE_FAST", slot) for slot, name in enumerate(cfg.function.varnames) if name not in names]
    for place, position in enumerate(stack_layout(cfg, point)[:-1]):
        inner = emit.handled_below(place)
        items += [inner.op("PUSH_NULL")] if position is None else inner.put_back([operands[position]])
    return items + [emit.const(None), emit.jump(assembler.original(point))]


def _with_arguments(code: CodeType, count: int) -> CodeType:
    """The code with its first variables as positional arguments."""
    return replace_code(
        code, co_argcount=count, co_posonlyargcount=0, co_kwonlyargcount=0, co_flags=code.co_flags & ~_STARRED)


def _without_requests(function: Function) -> CodeType:
    """The code with a first RESUME that handles no requests, like the one after an ``await``."""
    raw = bytearray(function.code.co_code)
    resume = next(instr for instr in function.encoded if instr.opname == "RESUME")
    raw[resume.offset + 1] = _AFTER_AWAIT
    return replace_code(function.code, co_code=bytes(raw))
