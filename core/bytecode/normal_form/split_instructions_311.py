"""Plain code of CPython 3.11 to 3.14: each compound instruction is split into two of the same version.

A segment may begin or end between the two halves. The rewrites are::

    LOAD_FAST_LOAD_FAST, STORE_FAST_LOAD_FAST, STORE_FAST_STORE_FAST    two instructions (3.13)
    LOAD_FAST_BORROW, LOAD_FAST_BORROW_LOAD_FAST_BORROW                 LOAD_FAST, once or twice (3.14)
    RETURN_CONST                                                        LOAD_CONST; RETURN_VALUE
    BINARY_SLICE, STORE_SLICE                                           BUILD_SLICE; BINARY_SUBSCR or STORE_SUBSCR

A borrowed load takes no reference: the compiler has proved that the variable keeps its value while the item is on the
operand stack. Linked code may store into the variable, which could free the object while the item is still used.
"""

from __future__ import annotations

import dis
from types import CodeType
from typing import Callable, Dict, List, Optional, Sequence, Tuple

from pijit.core.bytecode.codec.encode import Assembler
from pijit.core.bytecode.instructions.exception_table import ExceptionEntry
from pijit.core.bytecode.instructions.instruction import Function, Instr
from pijit.core.bytecode.instructions.units_311 import CACHES, JUMPS, units_needed

#: A new instruction: its name and its encoded argument.
Encoded = Tuple[str, int]


def _pair(first: str, second: str) -> Callable[[int], List[Encoded]]:
    return lambda raw: [(first, raw >> 4), (second, raw & 15)]


#: The subscript; from 3.14 on it is one of the operators of BINARY_OP.
SUBSCRIPT: Encoded = ("BINARY_SUBSCR", 0) if "BINARY_SUBSCR" in dis.opmap else ("BINARY_OP", 26)
_SPLIT: Dict[str, Callable[[int], List[Encoded]]] = {
    "LOAD_FAST_LOAD_FAST": _pair("LOAD_FAST", "LOAD_FAST"),
    "STORE_FAST_LOAD_FAST": _pair("STORE_FAST", "LOAD_FAST"),
    "STORE_FAST_STORE_FAST": _pair("STORE_FAST", "STORE_FAST"),
    "LOAD_FAST_BORROW": lambda raw: [("LOAD_FAST", raw)],
    "LOAD_FAST_BORROW_LOAD_FAST_BORROW": _pair("LOAD_FAST", "LOAD_FAST"),
    "RETURN_CONST": lambda raw: [("LOAD_CONST", raw), ("RETURN_VALUE", 0)],
    "BINARY_SLICE": lambda raw: [("BUILD_SLICE", 2), SUBSCRIPT],
    "STORE_SLICE": lambda raw: [("BUILD_SLICE", 2), ("STORE_SUBSCR", 0)],
}


def without_compounds(function: Function) -> Function:
    """The function without compound instructions and borrowed loads, or the same function if it has none.

    Args:
        function: from `decode`.
    """
    changes = {instr.index: _SPLIT[instr.opname](instr.raw) for instr in function.encoded if instr.opname in _SPLIT}
    return rewritten(function, changes) if changes else function


def rewritten(function: Function, changes: Dict[int, List[Encoded]]) -> Function:
    """The function with some encoded instructions replaced, decoded from its new code object.

    Args:
        function: the function to edit.
        changes: by index among the encoded instructions, the replacement of one. Jumps to it lead to the first new
            instruction; new jumps lead where it did.
    """
    return Assembler(_edited(function.code, function.encoded, changes)).assemble_function()


def _edited(code: CodeType, instructions: Sequence[Instr], changes: Dict[int, List[Encoded]]) -> Function:
    made: List[Instr] = []
    sources: List[Instr] = []
    place: Dict[int, int] = {}
    for instr in instructions:
        place[instr.index] = len(made)
        for one in _instead(instr, changes.get(instr.index)):
            one.index = len(made)
            made.append(one)
            sources.append(instr)
    place[len(instructions)] = len(made)
    entries: Dict[int, ExceptionEntry] = {}
    for one, instr in zip(made, sources):
        one.entry = moved_entry(instr.entry, place, entries)
        if one.opcode in JUMPS:
            one.target = None if instr.target is None else place[instr.target]
            one.written_target = None if instr.written_target is None else place[instr.written_target]
    return Function(code, made)


def moved_entry(entry: Optional[ExceptionEntry], place: Dict[int, int],
                known: Dict[int, ExceptionEntry]) -> Optional[ExceptionEntry]:
    """An entry in another numbering; instructions that shared an entry object share the new one, too."""
    if entry is None:
        return None
    if id(entry) not in known:
        known[id(entry)] = ExceptionEntry(
            place[entry.start], place[entry.end], place[entry.target], entry.depth, entry.lasti)
    return known[id(entry)]


def _instead(instr: Instr, changed: Optional[List[Encoded]]) -> List[Instr]:
    """New instructions with the position of the original one."""
    if changed is None:
        return [_made(instr, instr.opname, instr.opcode, instr.raw, instr.size)]
    return [_made(instr, name, dis.opmap[name], raw, units_needed(raw) + CACHES.get(dis.opmap[name], 0))
            for name, raw in changed]


def _made(instr: Instr, name: str, opcode: int, raw: int, size: int) -> Instr:
    return Instr(0, name, opcode, raw, raw, instr.lineno, instr.offset, size, raw, instr.position)
