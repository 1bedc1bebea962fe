"""Reader of code objects of CPython 3.11 and later: inline caches, relative jumps, exception table.

`layout_311` provides it to the decoder.
"""

import dis
from types import CodeType
from typing import Any, Callable, Dict, List, Tuple

from pijit.core.bytecode.instructions.exception_table import ExceptionEntry, read_exception_table
from pijit.core.bytecode.instructions.instruction import Instr
from pijit.core.bytecode.instructions.location_table import read_locations
from pijit.core.bytecode.instructions.units_311 import BACKWARD, CACHES, HAS_ARGUMENT, JUMPS, NAMING, SLOT_PAIRS

_EXTENDED_ARG = dis.EXTENDED_ARG
# Numbers of low bits that are flags in the argument, not part of the index into `co_names`, by version of the opcode.
_IS_312 = "END_FOR" in dis.opmap
_NAME_SHIFTS = {"LOAD_GLOBAL": 1, "LOAD_ATTR": 1 if _IS_312 else 0, "LOAD_SUPER_ATTR": 2}
_COMPARE_SHIFT = 5 if "TO_BOOL" in dis.opmap else 4 if _IS_312 else 0
_NAMED_OPERATORS = {"IS_OP": ("is", "is not"), "CONTAINS_OP": ("in", "not in")}

ValueOf = Callable[[int], Any]


def slot_names(code: CodeType) -> Tuple[str, ...]:
    """Names of the slots: locals, then cells that are not arguments, then free variables."""
    cells = tuple(name for name in code.co_cellvars if name not in code.co_varnames)
    return code.co_varnames + cells + code.co_freevars


def _lookups(code: CodeType) -> Dict[int, ValueOf]:
    """The function that looks up the argument's meaning, for each opcode whose argument is an index."""
    slots = slot_names(code)
    lookups: Dict[int, ValueOf] = {number: code.co_consts.__getitem__ for number in dis.hasconst}
    lookups.update((number, slots.__getitem__) for number in dis.haslocal + dis.hasfree)
    lookups.update((number, lambda arg: (slots[arg >> 4], slots[arg & 15])) for number in SLOT_PAIRS)
    lookups.update((number, _shifted(code.co_names, _NAME_SHIFTS.get(dis.opname[number], 0)))
                   for number in dis.hasname if number < 256)
    lookups.update((number, _shifted(dis.cmp_op, _COMPARE_SHIFT)) for number in dis.hascompare)
    lookups.update((dis.opmap[name], operators.__getitem__) for name, operators in _NAMED_OPERATORS.items())
    return lookups


def _shifted(table: Tuple[str, ...], shift: int) -> ValueOf:
    return lambda arg: table[arg >> shift]


def read_instructions(code: CodeType) -> List[Instr]:
    """The instructions of a code object; see `decode.decode`."""
    encoded = code.co_code
    count = len(encoded) // 2
    positions = read_locations(code.co_linetable, code.co_firstlineno, count)
    lookups = _lookups(code)
    instructions: List[Instr] = []
    index_at: Dict[int, int] = {}
    jumps: List[Tuple[Instr, int]] = []
    unit = start = prefix = 0
    while unit < count:
        opcode, arg = encoded[2 * unit], encoded[2 * unit + 1] | prefix
        unit += 1
        if opcode == _EXTENDED_ARG:
            prefix = arg << 8
            continue
        prefix = 0
        position = positions[unit - 1]
        used = arg if opcode in HAS_ARGUMENT else None
        value = _value(lookups, opcode, used)
        unit = _after_caches(unit, count, opcode)
        instr = Instr(len(instructions), dis.opname[opcode], opcode, used, value, position.line, 2 * start,
                      unit - start, arg, position)
        if opcode in JUMPS:
            jumps.append((instr, unit - arg if opcode in BACKWARD else unit + arg))
        index_at[start] = len(instructions)
        instructions.append(instr)
        start = unit
    if start != count:
        raise ValueError("the code ends after an EXTENDED_ARG")
    for instr, destination in jumps:
        if destination not in index_at:
            raise ValueError("{!r} leads to offset {}, where no instruction begins".format(instr, 2 * destination))
        if instr.opcode in NAMING:
            instr.written_target = index_at[destination]
        else:
            instr.target = index_at[destination]
    index_at[count] = len(instructions)
    _attach_entries(code, instructions, index_at)
    return instructions


def _value(lookups: Dict[int, ValueOf], opcode: int, arg: Any) -> Any:
    lookup = lookups.get(opcode) if arg is not None else None
    if lookup is None:
        return arg
    try:
        return lookup(arg)
    except IndexError:
        raise ValueError("{} has the argument {}, which is out of range".format(dis.opname[opcode], arg))


def _after_caches(unit: int, count: int, opcode: int) -> int:
    """The unit after an instruction's caches; `co_code` shows caches as zeros, regardless of their content."""
    end = unit + CACHES.get(opcode, 0)
    if end > count:
        raise ValueError("{} at offset {} is not followed by {} cache units".format(
            dis.opname[opcode], 2 * unit - 2, end - unit))
    return end


def _attach_entries(code: CodeType, instructions: List[Instr], index_at: Dict[int, int]) -> None:
    """Give each instruction the entry that covers it, with instruction indices in place of units."""
    table = code.co_exceptiontable  # type: ignore[attr-defined,unused-ignore]  # from 3.11 on
    for start, end, target, depth, lasti in read_exception_table(table):
        lost = [unit for unit in (start, end, target) if unit not in index_at]
        if lost or index_at[target] == len(instructions):
            raise ValueError("exception table: no instruction begins at offset {}".format(2 * (lost + [target])[0]))
        entry = ExceptionEntry(index_at[start], index_at[end], index_at[target], depth, lasti)
        for index in range(entry.start, entry.end):
            instructions[index].entry = entry
