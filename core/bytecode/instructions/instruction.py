"""Decoded functions: instructions with resolved arguments, jump targets and positions.

All packages of bytecode and the capturer share these classes.
"""

from types import CodeType
from typing import Any, FrozenSet, List, Optional, Tuple

from pijit.core.bytecode.instructions.exception_table import ExceptionEntry
from pijit.core.bytecode.instructions.location_table import Position
from pijit.core.named_tuples import NamedTuple

_VARARGS, _VARKEYWORDS = 0x04, 0x08


def count_arguments(code: CodeType) -> int:
    """How many of `code.co_varnames` are arguments, `*args` and `**kwargs` included."""
    count = code.co_argcount + code.co_kwonlyargcount
    return count + bool(code.co_flags & _VARARGS) + bool(code.co_flags & _VARKEYWORDS)


class Unit(NamedTuple):
    """An encoded instruction: opcode, whole argument, size with prefixes and caches, position."""

    opcode: int
    raw: int
    size: int
    position: Optional[Position]


class Instr:
    """One instruction; its EXTENDED_ARG prefixes are folded into it.

    Attributes:
        index: position in `Function.instructions`.
        opname, opcode: name and number of the operation.
        arg: the whole argument, or None for an instruction without one.
        value: the meaning of the argument: the constant, the name, the operator, or `arg` itself.
        target: index of the instruction that a jump or a handler setup leads to, else None.
        written_target: index of the instruction that the encoded jump names, where that is not `target`. The FOR_ITER
            of 3.12 and later skips the instructions that it names. END_ASYNC_FOR names one but never jumps (3.14).
        lineno: the line, or None where the compiler gave none (3.10).
        offset: byte offset of the first unit, prefixes included, as in `f_lasti`. `dis` shows the last unit's offset.
            From 3.11 on `f_lasti` is the offset after the prefixes, as in `dis`.
        size: number of two-byte units, prefixes and inline caches (3.11) included.
        raw: the encoded argument. Python 3.10 leaves stale arguments in instructions that ignore them.
        position: lines and columns in the source (3.11), else None.
        entry: the entry of the exception table that covers the instruction (3.11), or None. All instructions that
            one entry of the table covers share one object.
        units: the encoded instructions, if the normal form has one instruction for several of them (3.11); else None.
    """

    __slots__ = ("index", "opname", "opcode", "arg", "value", "target", "lineno", "offset", "size", "raw", "position",
                 "entry", "written_target", "units")

    def __init__(self, index: int, opname: str, opcode: int, arg: Optional[int], value: Any,
                 lineno: Optional[int], offset: int, size: int, raw: int,
                 position: Optional[Position] = None) -> None:
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
        self.position = position
        self.entry: Optional[ExceptionEntry] = None
        self.written_target: Optional[int] = None
        self.units: Optional[Tuple[Unit, ...]] = None

    @property
    def encoded_target(self) -> Optional[int]:
        """Index of the instruction that the encoded argument names, if it names one."""
        return self.target if self.written_target is None else self.written_target

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


class Operands(NamedTuple):
    """The operand stack before each instruction of a function. `operands_311.operands` computes it.

    Attributes:
        depths: number of items, empty slots included; None for unreachable instructions.
        nulls: the positions of the empty slots beside callables.
        saved: positions of values that LOAD_FAST_AND_CLEAR saved, each with the index of that instruction (3.12).
        successors: the instructions that may run next, without exceptions; None for unreachable instructions.
        method_calls: calls that have a method and its owner below the arguments.
        paired_calls: calls that have a callable and its first argument there, instead of a callable and an empty slot.
        starred_calls: calls of CALL_FUNCTION_EX that have an empty slot in place of a dict of keywords (3.14).
        with_offset: instructions that run while the stack holds an instruction offset for a later RERAISE. The offset
            is not an object (3.14).
    """

    depths: Tuple[Optional[int], ...]
    nulls: Tuple[Tuple[int, ...], ...]
    saved: Tuple[Tuple[Tuple[int, ...], ...], ...]
    successors: Tuple[Optional[List[int]], ...]
    method_calls: FrozenSet[int]
    paired_calls: FrozenSet[int]
    starred_calls: FrozenSet[int]
    with_offset: FrozenSet[int]


class Function:
    """A decoded code object.

    Attributes:
        code: the code object.
        instructions: all instructions, reachable or not.
        varnames, cellvars, freevars: as `code.co_varnames` and so on.
        argument_count: how many of `varnames` are arguments, `*args` and `**kwargs` included.
        prologue: the instructions before the first one, in the normal form (3.11). New code goes after the prologue.
        operands: the operand stacks of the normal form (3.11); else None.
        encoded: all instructions as they are encoded. The normal form has other instructions (3.11).
    """

    __slots__ = ("code", "instructions", "varnames", "cellvars", "freevars", "argument_count", "prologue", "operands",
                 "encoded")

    def __init__(self, code: CodeType, instructions: List[Instr]) -> None:
        self.code = code
        self.instructions = instructions
        self.varnames: Tuple[str, ...] = code.co_varnames
        self.cellvars: Tuple[str, ...] = code.co_cellvars
        self.freevars: Tuple[str, ...] = code.co_freevars
        self.argument_count = count_arguments(code)
        self.prologue: Tuple[Instr, ...] = ()
        self.operands: Optional["Operands"] = None
        self.encoded = instructions

    def __repr__(self) -> str:
        return "<Function {}, {} instructions>".format(self.code.co_name, len(self.instructions))
