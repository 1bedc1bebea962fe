"""Turns a code object into a list of instructions with resolved arguments, jump targets and line numbers."""

import dis
from types import CodeType
from typing import Any, Dict, List, Optional, Tuple

from pijit.core.bytecode.linetable import JUMP_UNIT, line_of_each_unit


class Instr:
    """One instruction; its EXTENDED_ARG prefixes are folded into it.

    Attributes:
        index: position in `Function.instructions`.
        opname, opcode: which instruction.
        arg: the whole argument, or None for an instruction without one.
        value: what the argument stands for: the constant, the name, the operator, or `arg` itself.
        target: index of the instruction that a jump or a handler setup names, else None.
        lineno: the line, or None where the compiler gave none (3.10).
        offset: byte offset of the first unit, prefixes included, as in `f_lasti`; `dis` has the last unit's.
        size: number of two-byte units, prefixes included.
        raw: the encoded argument; 3.10 leaves arguments behind in instructions that ignore them.
    """

    __slots__ = ("index", "opname", "opcode", "arg", "value", "target", "lineno", "offset", "size", "raw")

    def __init__(self, index: int, opname: str, opcode: int, arg: Optional[int], value: Any,
                 lineno: Optional[int], offset: int, size: int, raw: int) -> None:
        self.index = index
        self.opname = opname
        self.opcode = opcode
        self.arg = arg
        self.value = value
        self.target: Optional[int] = None
        self.lineno = lineno
        self.offset = offset
        self.size = size
        self.raw = raw

    def __repr__(self) -> str:
        if self.target is not None:
            operand = " -> {}".format(self.target)
        elif self.arg is None:
            operand = ""
        elif self.value is self.arg:
            operand = " {}".format(self.arg)
        else:
            shown = self.value if isinstance(self.value, str) else repr(self.value)
            operand = " {} ({})".format(self.arg, shown)
        return "<{} {}{}, line {}>".format(self.index, self.opname, operand, self.lineno)


class Function:
    """A decoded code object.

    Attributes:
        code: the code object.
        instructions: all instructions, reachable or not.
        varnames, cellvars, freevars: as `code.co_varnames` and so on.
        argument_count: how many of `varnames` are arguments, `*args` and `**kwargs` included.
    """

    __slots__ = ("code", "instructions", "varnames", "cellvars", "freevars", "argument_count")

    def __init__(self, code: CodeType, instructions: List[Instr]) -> None:
        self.code = code
        self.instructions = instructions
        self.varnames: Tuple[str, ...] = code.co_varnames
        self.cellvars: Tuple[str, ...] = code.co_cellvars
        self.freevars: Tuple[str, ...] = code.co_freevars
        self.argument_count = count_arguments(code)

    def __repr__(self) -> str:
        return "<Function {}, {} instructions>".format(self.code.co_name, len(self.instructions))


_VARARGS, _VARKEYWORDS = 0x04, 0x08
_NAMED_OPERATORS = {"IS_OP": ("is", "is not"), "CONTAINS_OP": ("in", "not in")}
_ABSOLUTE = frozenset(dis.hasjabs)
_RELATIVE = frozenset(dis.hasjrel)


def count_arguments(code: CodeType) -> int:
    """How many of `code.co_varnames` are arguments, `*args` and `**kwargs` included."""
    count = code.co_argcount + code.co_kwonlyargcount
    return count + bool(code.co_flags & _VARARGS) + bool(code.co_flags & _VARKEYWORDS)


def _value_tables(code: CodeType) -> Dict[int, Any]:
    """For each opcode whose argument indexes a table, that table."""
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


def decode(code: CodeType) -> Function:
    """Decode a code object.

    Args:
        code: of the running CPython version.

    Returns:
        The function; jump targets are instruction indices.

    Raises:
        ValueError: a jump leads between an EXTENDED_ARG and its instruction, or out of the code.

    Example:
        decode((lambda x: x + 1).__code__).instructions[0].value == "x"
    """
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
    return Function(code, instructions)
