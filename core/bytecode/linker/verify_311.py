"""Checks of linked code of CPython 3.11 and later, partly with the `bytecode` library.

Some checks are of properties that the interpreter never checks.
A wrong handler, a stack lower than a handler expects, or a load of a variable without a value would corrupt memory.
"""

from __future__ import annotations

import dis
from functools import lru_cache, partial
from types import CodeType
from typing import TYPE_CHECKING, Callable, Dict, Iterator, List, Optional, Sequence, Tuple

from pijit.core.bytecode.analysis.definite_assignment_311 import unproved_loads
from pijit.core.bytecode.codec.decode import Function, decode
from pijit.core.bytecode.instructions.exception_table import ExceptionEntry
from pijit.core.bytecode.instructions.instruction import Instr
from pijit.core.bytecode.instructions.units_311 import SKIPPED_BY_FOR_ITER, SLOT_PAIRS, SLOTS
from pijit.core.named_tuples import NamedTuple

if TYPE_CHECKING:
    from bytecode import ConcreteInstr

# Number of low bits of an argument that are not part of the index into `co_names`.
_NAME_SHIFTS = {"LOAD_GLOBAL": 1, "LOAD_ATTR": int("END_FOR" in dis.opmap), "LOAD_SUPER_ATTR": 2}
# Instructions that cannot raise, so the stack may be lower than the handler expects.
_SILENT = frozenset(
    """NOP RESUME LOAD_CONST STORE_FAST LOAD_FAST DELETE_FAST LOAD_FAST_AND_CLEAR PUSH_NULL POP_TOP COPY SWAP
    JUMP_FORWARD JUMP_BACKWARD_NO_INTERRUPT""".split())


# Levels of nested handlers that tell instructions apart (see `_matched`). The first value that finds all is used.
_DEPTHS_COMPARED = (None, 1, 0)


class _Row(NamedTuple):
    """An instruction as the library reads it, with offsets in code units; `target` is set for jumps only."""

    instr: ConcreteInstr
    offset: int
    end: int
    target: Optional[int]

    def __str__(self) -> str:
        return "%s at %d" % (self.instr.name, 2 * self.offset)


class _Reading:
    """Linked code as read by the library and by our decoder, and the encoded function from which it was linked."""

    __slots__ = ("code", "rows", "original", "_ours", "_places")

    def __init__(self, code: CodeType, original: Function) -> None:
        self.code = code
        self.rows = list(_rows(code))
        self.original: Function = decode(original.code)
        self._ours: Optional[List[Instr]] = None
        self._places: Optional[List[int]] = None

    @property
    def ours(self) -> List[Instr]:
        """The instructions that our decoder reads; ValueError if the code does not decode."""
        if self._ours is None:
            self._ours = decode(self.code).instructions
        return self._ours

    def places(self) -> List[int]:
        """Indices of the original's instructions in linked code; the list is shorter if one is missing.

        Inserted code may repeat instructions of the original. Their handlers tell them apart, if these are unchanged.
        """
        if self._places is None:
            for levels in _DEPTHS_COMPARED:
                self._places = self._matched(levels)
                if len(self._places) == len(self.original.instructions):
                    break
        assert self._places is not None
        return self._places

    def _matched(self, levels: Optional[int]) -> List[int]:
        """The first indices, in order, whose instructions and depths of handlers are the same.

        Args:
            levels: how many levels of nested handlers are compared; None: all.
        """
        depths = lru_cache(maxsize=None)(partial(_handler_depths, self.original.instructions))
        ours_depths = lru_cache(maxsize=None)(partial(_handler_depths, self.ours))
        more = self.code.co_nlocals - self.original.code.co_nlocals
        found: List[int] = []
        at = 0
        for instr in self.original.instructions:
            wanted = depths(instr.entry)[:levels]
            while at < len(self.ours) and not (_is_same(instr, self.ours[at], self.original, more)
                                               and ours_depths(self.ours[at].entry)[:levels] == wanted):
                at += 1
            if at == len(self.ours):
                break
            found.append(at)
            at += 1
        return found


def _rows(code: CodeType) -> Iterator[_Row]:
    from bytecode import ConcreteBytecode, ConcreteInstr

    found: List[Tuple[ConcreteInstr, int, int]] = []
    offset = 0
    for instr in ConcreteBytecode.from_code(code, extended_arg=False):
        assert isinstance(instr, ConcreteInstr)
        end = offset + instr.size // 2
        if instr.name == "CACHE":
            found[-1] = found[-1][:2] + (end,)
        else:
            found.append((instr, offset, end))
        offset = end
    for instr, start, end in found:
        yield _Row(instr, start, end, _target(instr, end))


def _target(instr: ConcreteInstr, end: int) -> Optional[int]:
    if not instr.has_jump():
        return None
    return end - instr.arg if instr.is_backward_rel_jump() else end + instr.arg


def _is_same(instr: Instr, ours: Instr, original: Function, more: int) -> bool:
    """Whether an instruction of linked code is that of the original; loads may be checked, cells have new slots."""
    name = "LOAD_FAST" if ours.opname == "LOAD_FAST_CHECK" and instr.opname == "LOAD_FAST" else ours.opname
    if (name, ours.position) != (instr.opname, instr.position):
        return False
    raw = instr.raw
    if instr.opcode in SLOTS and instr.opcode not in SLOT_PAIRS and raw >= original.code.co_nlocals:
        raw += more
    return instr.target is not None or instr.opcode in SLOT_PAIRS or raw == ours.raw


def _handler_depths(instructions: Sequence[Instr], entry: Optional[ExceptionEntry]) -> Tuple[Tuple[int, bool], ...]:
    """The depths of a handler, of the handler's own handler, and so on. The targets are checked later."""
    depths: Dict[int, Tuple[int, bool]] = {}
    while entry is not None and entry.target not in depths:
        depths[entry.target] = entry.depth, entry.lasti
        entry = instructions[entry.target].entry
    return tuple(depths.values())


def _wrong_indices(reading: _Reading) -> Optional[str]:
    code = reading.code
    slots = len(code.co_varnames) + len(set(code.co_cellvars) - set(code.co_varnames)) + len(code.co_freevars)
    limits = {number: ("constants", len(code.co_consts)) for number in dis.hasconst}
    limits.update((number, ("names", len(code.co_names))) for number in dis.hasname)
    limits.update((number, ("slots", slots)) for number in SLOTS - SLOT_PAIRS)
    for row in reading.rows:
        what, limit = limits.get(row.instr.opcode, ("", 0))
        number = row.instr.arg >> _NAME_SHIFTS.get(row.instr.name, 0)
        if what and number >= limit:
            return "%s takes number %d of %d %s" % (row, number, limit, what)
    return None


def _wrong_jumps(reading: _Reading) -> Optional[str]:
    rows = reading.rows
    names = {row.offset: number for number, row in enumerate(rows)}
    for row in rows:
        if row.target is None:
            continue
        if row.target not in names:
            return "%s leads to %d, where no instruction begins" % (row, 2 * row.target)
        number = names[row.target]
        skipped = tuple(other.instr.opcode for other in rows[number:number + len(SKIPPED_BY_FOR_ITER)])
        if row.instr.name == "FOR_ITER" and skipped != SKIPPED_BY_FOR_ITER:
            return "%s skips %s" % (row, rows[number])
    return None


def _wrong_decoding(reading: _Reading) -> Optional[str]:
    """Compare the instructions and positions of our decoder with those of the library."""
    try:
        reading.ours
    except ValueError as error:
        return "it does not decode: %s" % error
    if len(reading.ours) != len(reading.rows):
        return "we read %d instructions, the library %d" % (len(reading.ours), len(reading.rows))
    for instr, row in zip(reading.ours, reading.rows):
        place = row.instr.location
        theirs = (None,) * 2 if place is None else (place.lineno, place.col_offset)
        position = instr.position
        mine = (None,) * 2 if position is None else (position.line, position.column)
        argument = row.instr.arg if row.instr.require_arg() else None
        if (instr.opname, instr.arg, *mine) != (row.instr.name, argument, *theirs):
            return "we read %r, the library %r" % (instr, row.instr)
    return None


def _wrong_lines(reading: _Reading) -> Optional[str]:
    known = {instr.lineno for instr in reading.original.instructions} | {None}
    for instr in reading.ours:
        if instr.lineno not in known:
            return "%r has a line that has no code" % instr
    return None


def _wrong_order(reading: _Reading) -> Optional[str]:
    """Check that the original instructions are present, in order, with their arguments and positions."""
    places, originals = reading.places(), reading.original.instructions
    return None if len(places) == len(originals) else "%r of the function is missing" % originals[len(places)]


def _described(entry: Optional[ExceptionEntry], places: Optional[List[int]]) -> Optional[Tuple[int, bool, int]]:
    """The content of an entry; its handler is located by the position of the original's handler in linked code."""
    if entry is None:
        return None
    return entry.depth, entry.lasti, entry.target if places is None else places[entry.target]


def _wrong_handlers(reading: _Reading) -> Optional[str]:
    """Check that original instructions keep their handlers, and that new ones use handlers of original ones."""
    places, originals = reading.places(), reading.original.instructions
    found = [_described(instr.entry, None) for instr in reading.ours]
    had = [_described(instr.entry, places) for instr in originals]
    handlers = [_first_inserted(reading, entry) for entry in found]
    for instr, place, entry in zip(originals, places, had):
        if handlers[place] != entry:
            return "%r has the handler %s, not %s" % (instr, handlers[place], entry)
    known = set(had) | {None}
    for instr, entry in zip(reading.ours, handlers):
        if entry not in known:
            return "%r has the handler %s, which no instruction of the function has" % (instr, entry)
    return None


def _first_inserted(reading: _Reading, entry: Optional[Tuple[int, bool, int]]) -> Optional[Tuple[int, bool, int]]:
    """The same entry, with the target moved from inserted code to the original instruction where the handler begins."""
    if entry is None:
        return None
    depth, lasti, target = entry
    return depth, lasti, min((place for place in reading.places() if place >= target), default=target)


def _wrong_stack(reading: _Reading) -> Optional[str]:
    """Check the operand stack with the library's stack effects.

    Faults: the stack underflows or overflows; paths meet with different depths or end without a return; a handler
    expects more items than the stack has.
    """
    number_at = {row.offset: number for number, row in enumerate(reading.rows)}
    depths: Dict[int, int] = {0: 0}
    todo, deepest = [0], 0
    while todo:
        number = todo.pop()
        row, depth, entry = reading.rows[number], depths[number], reading.ours[number].entry
        successors: List[Tuple[int, int]] = []
        if entry is not None:
            if depth < entry.depth and row.instr.name not in _SILENT and not row.instr.name.startswith("POP_JUMP"):
                return "%s has %d items on the stack, its handler expects %d" % (row, depth, entry.depth)
            successors.append((entry.target, entry.depth + entry.lasti + 1))
        if row.target is not None:
            successors.append((number_at[row.target], depth + _effect(row, True)))
        if not row.instr.is_final():
            successors.append((number + 1, depth + _effect(row, False)))
        for successor, there in successors:
            deepest = max(deepest, there)
            if there < 0:
                return "the operand stack runs empty at %s" % (row,)
            if successor == len(reading.rows):
                return "the code ends with %s" % (row,)
            if successor not in depths:
                todo.append(successor)
            if depths.setdefault(successor, there) != there:
                return "paths meet at %s with %d and %d items on the stack" % (
                    reading.rows[successor], depths[successor], there)
    if deepest > reading.code.co_stacksize:
        return "the operand stack needs %d items, co_stacksize is %d" % (deepest, reading.code.co_stacksize)
    return None


def _effect(row: _Row, jump: bool) -> int:
    """The change of the depth; `dis` does not count the item that a generator begins with (3.11, 3.12)."""
    return 1 if row.instr.name == "RETURN_GENERATOR" else row.instr.stack_effect(jump=jump)


def _wrong_loads(reading: _Reading) -> Optional[str]:
    """Check that loads without a check only read variables that have a value."""
    loads = unproved_loads(decode(reading.code))
    return "%r reads a variable that may have no value" % loads[0] if loads else None


_CHECKS: Tuple[Callable[[_Reading], Optional[str]], ...] = (
    _wrong_indices, _wrong_jumps, _wrong_decoding, _wrong_lines, _wrong_order, _wrong_handlers, _wrong_stack,
    _wrong_loads)
"""Each check returns its fault or None; later checks rely on earlier ones."""


def opinion(code: CodeType, original: Function) -> Optional[str]:
    """The fault of linked code, or None."""
    reading = _Reading(code, original)
    return next((sentence for sentence in (check(reading) for check in _CHECKS) if sentence is not None), None)
