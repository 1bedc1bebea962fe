"""Code layout of CPython 3.7 to 3.10: absolute and relative jumps, no caches, SETUP instructions.

`layout` selects it.
"""

import dis
from itertools import accumulate
from types import CodeType
from typing import Any, Dict, List, Optional, Sequence, Tuple

from pijit.core.bytecode.flow.control_flow import trace_flow
from pijit.core.bytecode.instructions.instruction import Function, Instr
from pijit.core.bytecode.instructions.line_table import JUMP_UNIT, LINE_TABLE_FIELD, line_of_each_unit, write_line_table

_NAMED_OPERATORS = {"IS_OP": ("is", "is not"), "CONTAINS_OP": ("in", "not in")}
_ABSOLUTE = frozenset(dis.hasjabs)
_RELATIVE = frozenset(dis.hasjrel)
_EXTENDED_ARG = dis.EXTENDED_ARG


def _value_tables(code: CodeType) -> Dict[int, Any]:
    """The table of each opcode whose argument indexes a table."""
    tables: Dict[int, Any] = {}
    cells = code.co_cellvars + code.co_freevars
    for opcodes, table in (
            (dis.hasconst, code.co_consts), (dis.hasname, code.co_names), (dis.haslocal, code.co_varnames),
            (dis.hasfree, cells), (dis.hascompare, dis.cmp_op)):
        for opcode in opcodes:
            tables[opcode] = table
    for opname, operators in _NAMED_OPERATORS.items():
        if opname in dis.opmap:
            tables[dis.opmap[opname]] = operators
    return tables


def read_instructions(code: CodeType) -> List[Instr]:
    """The instructions of a code object; see `decode.decode`."""
    lines = line_of_each_unit(code)
    tables = _value_tables(code)
    encoded = code.co_code
    opnames = dis.opname
    extended_arg = dis.EXTENDED_ARG
    have_argument = dis.HAVE_ARGUMENT
    instructions: List[Instr] = []
    index_at: Dict[int, int] = {}
    jumps: List[Tuple[Instr, int]] = []
    prefix = 0
    start = 0
    for offset in range(0, len(encoded), 2):
        opcode = encoded[offset]
        arg = encoded[offset + 1] | prefix
        if opcode == extended_arg:
            prefix = arg << 8
            continue
        prefix = 0
        if opcode < have_argument:
            value = used = None
        else:
            value = tables[opcode][arg] if opcode in tables else arg
            used = arg
        instr = Instr(len(instructions), opnames[opcode], opcode, used, value, lines[start >> 1], start,
                      ((offset - start) >> 1) + 1, arg)
        if opcode in _ABSOLUTE:
            jumps.append((instr, arg * JUMP_UNIT))
        elif opcode in _RELATIVE:
            jumps.append((instr, offset + 2 + arg * JUMP_UNIT))
        index_at[start] = len(instructions)
        instructions.append(instr)
        start = offset + 2
    for instr, destination in jumps:
        if destination not in index_at:
            raise ValueError("{!r} leads to offset {}, where no instruction begins".format(
                instr, destination))
        instr.target = index_at[destination]
    return instructions


def _units_needed(arg: int) -> int:
    return 1 if arg < 256 else 2 if arg < 65536 else 3 if arg < 1 << 24 else 4


class Layout:
    """The units of the code object under construction: one row per instruction, targets as row numbers."""

    __slots__ = ("opcodes", "args", "targets", "lines", "sizes")

    def __init__(self, function: Function, new_locals: int) -> None:
        self.opcodes: List[int] = []
        self.args: List[int] = []
        self.targets: List[Optional[int]] = []
        self.lines: List[Optional[int]] = []
        self.sizes: List[int] = []

    def add_original(self, instr: Instr) -> None:
        """Append an original instruction."""
        self.opcodes.append(instr.opcode)
        self.args.append(instr.raw)
        self.targets.append(None)
        self.lines.append(instr.lineno)
        self.sizes.append(instr.size)

    def add(self, opname: str, arg: int, lineno: Optional[int], site: Optional[Instr], columns: bool = False) -> None:
        """Append a new instruction."""
        self.opcodes.append(dis.opmap[opname])
        self.args.append(arg)
        self.targets.append(None)
        self.lines.append(lineno)
        self.sizes.append(_units_needed(arg))

    def add_in_front_of_target(self, instr: Instr) -> None:
        """Do nothing: only the line table decides where lines begin."""

    def resolve_jumps(self) -> None:
        """Compute the arguments of jumps. A jump that needs more units moves all code after it, so this is repeated."""
        jumps = [(row, target) for row, target in enumerate(self.targets) if target is not None]
        grown = True
        while grown:
            grown = False
            starts = self.starts()
            for row, target in jumps:
                units = starts[target]
                if self.opcodes[row] in _RELATIVE:
                    units -= starts[row + 1]
                if units < 0:
                    raise ValueError("{} cannot jump backwards".format(dis.opname[self.opcodes[row]]))
                arg = units * 2 // JUMP_UNIT
                self.args[row] = arg
                if _units_needed(arg) > self.sizes[row]:
                    self.sizes[row] = _units_needed(arg)
                    grown = True

    def starts(self) -> List[int]:
        return [0] + list(accumulate(self.sizes))

    def tables(self, code: CodeType, places: Sequence[int]) -> Dict[str, bytes]:
        """The code object's fields that depend on the layout; `places` is the row of each original as a jump target."""
        return {"co_code": self._code_bytes(),
                LINE_TABLE_FIELD: write_line_table(self._unit_lines(), code.co_firstlineno)}

    def _code_bytes(self) -> bytes:
        if max(self.sizes) == 1:
            raw = bytearray(2 * len(self.opcodes))
            raw[::2] = bytes(self.opcodes)
            raw[1::2] = bytes(self.args)
            return bytes(raw)
        raw = bytearray()
        for opcode, arg, size in zip(self.opcodes, self.args, self.sizes):
            for prefix in range(size - 1, 0, -1):
                raw.append(_EXTENDED_ARG)
                raw.append(arg >> 8 * prefix & 255)
            raw.append(opcode)
            raw.append(arg & 255)
        return bytes(raw)

    def _unit_lines(self) -> List[Optional[int]]:
        if max(self.sizes) == 1:
            return self.lines
        return [line for line, size in zip(self.lines, self.sizes) for _ in range(size)]


def kind_of_argument(opname: str) -> str:
    """The kind of argument that a new instruction must have: "label", "number" or "nothing"."""
    opcode = dis.opmap[opname]
    if opcode in _ABSOLUTE or opcode in _RELATIVE:
        return "label"
    return "number" if opcode >= dis.HAVE_ARGUMENT else "nothing"


def stack_size(function: Function) -> int:
    """The largest depth of the operand stack."""
    return trace_flow(function).max_depth


def why_not_before(function: Function, index: int) -> Optional[str]:
    """None: new code may be inserted before any instruction."""
    return None


def first_place(function: Function) -> int:
    """The first instruction: no instruction has to run before new code."""
    return 0
