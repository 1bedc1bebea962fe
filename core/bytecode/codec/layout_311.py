"""Code layout of CPython 3.11 and later: relative jumps, inline caches, tables of handlers and locations.

`layout` selects it.
"""

import dis
import sys
from itertools import accumulate, groupby
from types import CodeType
from typing import Dict, List, Optional, Sequence

from pijit.core.bytecode.codec.read_311 import read_instructions
from pijit.core.bytecode.flow.stack_depth_311 import stack_size
from pijit.core.bytecode.instructions.exception_table import ExceptionEntry, write_exception_table
from pijit.core.bytecode.instructions.instruction import Function, Instr
from pijit.core.bytecode.instructions.location_table import NO_POSITION, Position, write_locations
from pijit.core.bytecode.instructions.units_311 import (
    BACKWARD,
    BACKWARD_JUMPS,
    CACHES,
    CELL_SLOTS,
    FORWARD_JUMP,
    HAS_ARGUMENT,
    JUMPS,
    LOCAL_OF,
    SKIPPED_BY_FOR_ITER,
    SLOT_PAIRS,
    SLOTS,
    encoded_units,
    first_place,
    units_needed,
    why_not_before,
)

__all__ = ["Layout", "first_place", "kind_of_argument", "read_instructions", "stack_size", "why_not_before"]

_EXTENDED_ARG = dis.EXTENDED_ARG
_FOR_ITER = dis.opmap["FOR_ITER"]
# Rows of jumps whose direction is not known yet hold the negative opcode of the backward jump.
_OPEN = {name: -opcode for name, opcode in BACKWARD_JUMPS.items()}


_TARGETS_HAVE_LINES = sys.version_info[:2] == (3, 12)
"""Whether jump targets can cause extra line events for tools (3.12). That happens when the unit that ran before the
target has another line, or no line. The last unit of a call is a cache, which has no line."""


class Layout:
    """The units of the code object under construction: one row per instruction, targets as row numbers."""

    __slots__ = ("opcodes", "args", "targets", "positions", "entries", "sizes", "_locals", "_new_locals")

    def __init__(self, function: Function, new_locals: int) -> None:
        self.opcodes: List[int] = []
        self.args: List[int] = []
        self.targets: List[Optional[int]] = []
        self.positions: List[Position] = []
        self.entries: List[Optional[ExceptionEntry]] = []
        #: Units of each row, without caches.
        self.sizes: List[int] = []
        self._locals = len(function.varnames)
        self._new_locals = new_locals

    def add_original(self, instr: Instr) -> None:
        """Append an original instruction: one row for each of its encoded instructions."""
        for unit in encoded_units(instr):
            arg, size = unit.raw, unit.size - CACHES.get(unit.opcode, 0)
            if self._new_locals and unit.opcode in SLOTS:
                arg = self._renumbered(unit.opcode, arg)
                size = max(size, units_needed(arg))
            self._append(unit.opcode, arg, size, unit.position or NO_POSITION, instr.entry)

    def add(self, opname: str, arg: int, lineno: Optional[int], site: Optional[Instr], columns: bool = False) -> None:
        """Append a new instruction. The exception handler of `site` covers it.

        With `columns` it gets the columns of the site, if it is on the site's line.
        """
        opcode = _OPEN[opname] if opname in _OPEN else dis.opmap[LOCAL_OF.get(opname, opname)]
        if opname in LOCAL_OF or opcode in CELL_SLOTS:
            arg = self._moved(arg)
        position = NO_POSITION if lineno is None else Position(lineno, lineno, None, None)
        if columns and site is not None and site.position is not None and site.lineno == lineno:
            position = site.position
        self._append(opcode, arg, units_needed(arg), position, None if site is None else site.entry)

    def add_in_front_of_target(self, instr: Instr) -> None:
        """Append a NOP before the new target of a jump in new code, if tools would see a second line event there."""
        if (_TARGETS_HAVE_LINES and self.opcodes and CACHES.get(self.opcodes[-1])
                and self.positions[-1].line == instr.lineno):
            self._append(dis.opmap["NOP"], 0, 1, self.positions[-1], self.entries[-1])

    def _append(self, opcode: int, arg: int, size: int, position: Position, entry: Optional[ExceptionEntry]) -> None:
        self.opcodes.append(opcode)
        self.args.append(arg)
        self.targets.append(None)
        self.positions.append(position)
        self.entries.append(entry)
        self.sizes.append(size)

    def _moved(self, slot: int) -> int:
        """The new number of a slot of the original: new locals are placed before the cells."""
        return slot + self._new_locals if slot >= self._locals else slot

    def _renumbered(self, opcode: int, arg: int) -> int:
        if opcode not in SLOT_PAIRS:
            return self._moved(arg)
        first, second = self._moved(arg >> 4), self._moved(arg & 15)
        if max(first, second) > 15:
            raise ValueError("{} {} has no room for slot {}".format(dis.opname[opcode], arg, max(first, second)))
        return first << 4 | second

    def resolve_jumps(self) -> None:
        """Compute the arguments of jumps. A jump that needs more units moves all code after it, so this is repeated."""
        jumps = [(row, target) for row, target in enumerate(self.targets) if target is not None]
        for row, target in jumps:
            if self.opcodes[row] < 0:
                self.opcodes[row] = FORWARD_JUMP if target > row else -self.opcodes[row]
            self._check(row, target)
        grown = True
        while grown:
            grown = False
            starts = self.starts()
            for row, target in jumps:
                arg = abs(starts[target] - starts[row + 1])
                self.args[row] = arg
                if units_needed(arg) > self.sizes[row]:
                    self.sizes[row] = units_needed(arg)
                    grown = True

    def _check(self, row: int, target: int) -> None:
        opcode, backward = self.opcodes[row], target <= row
        if backward != (opcode in BACKWARD):
            raise ValueError("{} cannot jump {}".format(dis.opname[opcode], "backwards" if backward else "forwards"))
        if opcode == _FOR_ITER and tuple(self.opcodes[target:target + len(SKIPPED_BY_FOR_ITER)]) != SKIPPED_BY_FOR_ITER:
            raise ValueError("FOR_ITER has to lead to {}, which it skips".format(
                " and ".join(dis.opname[skipped] for skipped in SKIPPED_BY_FOR_ITER)))

    def _all_sizes(self) -> List[int]:
        return [size + CACHES.get(opcode, 0) for size, opcode in zip(self.sizes, self.opcodes)]

    def starts(self) -> List[int]:
        """The first unit of each row, and the end of the code."""
        return [0] + list(accumulate(self._all_sizes()))

    def tables(self, code: CodeType, places: Sequence[int]) -> Dict[str, bytes]:
        """The code object's fields that depend on the layout; `places` is the row of each original as a jump target."""
        return {"co_code": self._code_bytes(),
                "co_linetable": write_locations(zip(self._all_sizes(), self.positions), code.co_firstlineno),
                "co_exceptiontable": write_exception_table(self._exception_entries(places))}

    def _code_bytes(self) -> bytes:
        raw = bytearray()
        for opcode, arg, size in zip(self.opcodes, self.args, self.sizes):
            for prefix in range(size - 1, 0, -1):
                raw.append(_EXTENDED_ARG)
                raw.append(arg >> 8 * prefix & 255)
            raw.append(opcode)
            raw.append(arg & 255)
            raw += bytes(2 * CACHES.get(opcode, 0))
        return bytes(raw)

    def _exception_entries(self, places: Sequence[int]) -> List[ExceptionEntry]:
        """One entry for each run of rows that share an entry object; adjacent equal entries are not merged."""
        starts = self.starts()
        entries: List[ExceptionEntry] = []
        for _, rows in groupby(range(len(self.entries)), key=lambda row: id(self.entries[row])):
            run = list(rows)
            entry = self.entries[run[0]]
            if entry is not None:
                entries.append(entry._replace(start=starts[run[0]], end=starts[run[-1] + 1],
                                              target=starts[places[entry.target]]))
        return entries


def kind_of_argument(opname: str) -> str:
    """The kind of argument that a new instruction must have: "label", "number" or "nothing".

    Besides the opcodes of the version there are the pseudo-opcodes of `units_311`: jumps without a direction, and
    access to slots.
    """
    if opname in _OPEN:
        return "label"
    opcode = dis.opmap[LOCAL_OF.get(opname, opname)]
    return "label" if opcode in JUMPS else "number" if opcode in HAS_ARGUMENT else "nothing"
