"""Normal form of CPython 3.11 to 3.14: names of 3.10, and no empty slots on the operand stack.

A call has an empty slot beside a callable that is not a method. The normal form hides these slots: `PUSH_NULL` reads as
`NOP`, `CALL` as `CALL_FUNCTION`, and stack depths do not count them. `Function.operands` has their positions for code
generators. The instructions up to the first `RESUME` are `Function.prologue`: the frame is complete only after it.
"""

from __future__ import annotations

import copy
from typing import Dict, List, Sequence

from pijit.core.bytecode.instructions.exception_table import ExceptionEntry
from pijit.core.bytecode.instructions.instruction import Function, Instr, Unit
from pijit.core.bytecode.instructions.names_311 import (
    JOINED,
    METHOD_CALLS,
    SEQUENCES,
    Names,
    Normal,
    normal,
    sequence_at,
    with_attributes,
    with_names,
)
from pijit.core.bytecode.instructions.operands_311 import operands
from pijit.core.bytecode.instructions.units_311 import SKIPPED_BY_FOR_ITER
from pijit.core.bytecode.normal_form.split_instructions_311 import moved_entry


def normal_function(source: Function) -> Function:
    """A function in normal form.

    Args:
        source: from `plain_function`.

    Returns:
        The function; each instruction carries the encoded instructions that it stands for.

    Raises:
        ValueError: pijit does not know an instruction, or the code is not consistent.
    """
    raw = source.encoded
    first = _after_prologue(raw)
    names = Names(source.code, raw[first:])
    groups = _groups(raw, first)
    place = {instr.index: number for number, group in enumerate(groups) for instr in group}
    place.update((instr.index, 0) for instr in raw[:first])
    place[len(raw)] = len(groups)
    entries: Dict[int, ExceptionEntry] = {}
    function = Function(source.code, [_joined(number, group, names) for number, group in enumerate(groups)])
    function.encoded, function.prologue = raw, tuple(map(copy.copy, raw[:first]))
    for instr, group in zip(function.instructions, groups):
        instr.entry = moved_entry(group[0].entry, place, entries)
    for instr in function.prologue:
        instr.entry = moved_entry(instr.entry, place, entries)
    for instr, group in zip(function.instructions, groups):
        encoded = group[-1].encoded_target
        if encoded is not None:
            instr.written_target = place[encoded]
        if group[-1].target is not None:
            instr.target = _after_skipped(instr)
    function.operands = operands(function)
    for index in function.operands.method_calls:
        instr = function.instructions[index]
        instr.opname = METHOD_CALLS[instr.opname]
    for index in function.operands.paired_calls:
        instr = function.instructions[index]
        instr.arg = instr.value = (instr.arg or 0) + 1
    for index in function.operands.starred_calls:
        instr = function.instructions[index]
        instr.arg = instr.value = 0
    return function


def _after_prologue(raw: Sequence[Instr]) -> int:
    """The index after the first RESUME."""
    return next((instr.index + 1 for instr in raw if instr.opname == "RESUME"), 0)


def _groups(raw: Sequence[Instr], first: int) -> List[List[Instr]]:
    """The encoded instructions, in one group per instruction of the normal form."""
    groups: List[List[Instr]] = []
    begun, end = False, first
    for instr in raw[first:]:
        if (begun or instr.index < end
                or instr.opname == "SET_FUNCTION_ATTRIBUTE" and groups[-1][0].opname == "MAKE_FUNCTION"):
            groups[-1].append(instr)
        else:
            groups.append([instr])
            end = instr.index + len(sequence_at(raw, instr.index) or ())
        begun = instr.opname in JOINED
    return groups


def _joined(number: int, group: Sequence[Instr], names: Names) -> Instr:
    last = group[-1]
    if group[0].opname == "KW_NAMES":
        found = with_names(last, group[0].value)
    elif group[0].opname == "MAKE_FUNCTION":
        found = with_attributes([instr.raw for instr in group])
    else:
        sequence = tuple((instr.opname, instr.raw) for instr in group)
        found = Normal(SEQUENCES[sequence], None, None) if sequence in SEQUENCES else normal(last, names)
    made = Instr(number, found.opname, last.opcode, found.arg, found.value, last.lineno, group[0].offset,
                 sum(instr.size for instr in group), last.raw, last.position)
    if len(group) > 1:
        made.units = tuple(Unit(instr.opcode, instr.raw, instr.size, instr.position) for instr in group)
    return made


def _after_skipped(instr: Instr) -> int:
    """The target of a jump; FOR_ITER jumps to the instruction after those that it skips (3.12)."""
    target = instr.written_target
    assert target is not None
    return target + len(SKIPPED_BY_FOR_ITER) if instr.opname == "FOR_ITER" else target

