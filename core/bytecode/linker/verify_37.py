"""Checks of linked code of CPython 3.7 to 3.10 with the `bytecode` library.

The module uses only features that versions 0.13 (CPython 3.7), 0.16 (3.8) and 0.17 (3.9, 3.10) have in common. It
imports the library on first use.
"""

from __future__ import annotations

import dis
import sys
from types import CodeType
from typing import TYPE_CHECKING, Callable, Dict, List, Optional, Tuple

from pijit.core.bytecode.codec.decode import Function, decode
from pijit.core.named_tuples import NamedTuple

if TYPE_CHECKING:
    from bytecode import ConcreteInstr, ControlFlowGraph

_OFFSET_UNIT = 2 if sys.version_info >= (3, 10) else 1
_ENTERED_IN_SEVERAL_WAYS = ("END_FINALLY", "SETUP_FINALLY") if "SETUP_EXCEPT" in dis.opmap else ("END_FINALLY",)
"""Instructions of finally bodies with several entries. 3.7 drops the END_FINALLY of a body that returns, so there
SETUP_FINALLY is listed too; handlers of except clauses have SETUP_EXCEPT."""

_INDEXED: Tuple[Tuple[List[int], str, Callable[[CodeType], int]], ...] = (
    (dis.hasconst, "constants", lambda code: len(code.co_consts)),
    (dis.hasname, "names", lambda code: len(code.co_names)),
    (dis.haslocal, "local variables", lambda code: code.co_nlocals),
    (dis.hasfree, "cells", lambda code: len(code.co_cellvars) + len(code.co_freevars)),
)


class _Row(NamedTuple):
    """An instruction as the library reads it, EXTENDED_ARG prefixes folded; offsets are in the library's unit."""

    instr: ConcreteInstr
    offset: int
    target: Optional[int]

    def __str__(self) -> str:
        return "%s at %d" % (self.instr.name, self.offset * _OFFSET_UNIT)


class _Reading:
    """Linked code as the library reads it, and the function from which it was linked."""

    __slots__ = ("code", "original", "rows", "_concrete", "_graph")

    def __init__(self, code: CodeType, original: Function) -> None:
        from bytecode import ConcreteBytecode, ConcreteInstr

        self.code, self.original = code, original
        self.rows: List[_Row] = []
        self._concrete = ConcreteBytecode.from_code(code, extended_arg=False)
        self._graph: Optional[ControlFlowGraph] = None
        offset = 0
        for instr in self._concrete:
            assert isinstance(instr, ConcreteInstr)  # code objects of these versions have no pseudo-instructions
            self.rows.append(_Row(instr, offset, instr.get_jump_target(offset)))
            offset += instr.size // _OFFSET_UNIT

    @property
    def graph(self) -> ControlFlowGraph:
        """The library's blocks, which can only be built if jumps and indices are valid."""
        from bytecode import ControlFlowGraph

        if self._graph is None:
            self._graph = ControlFlowGraph.from_bytecode(self._concrete.to_bytecode())
        return self._graph


_effects: Dict[Tuple[str, Optional[int], bool], int] = {}


def _effect(instr: ConcreteInstr, jump: bool) -> int:
    """The change of the stack depth by an instruction."""
    key = instr.name, _argument(instr), jump
    if key not in _effects:
        _effects[key] = instr.stack_effect(jump=jump)
    return _effects[key]


def _argument(instr: ConcreteInstr) -> Optional[int]:
    return instr.arg if instr.require_arg() else None


def _wrong_indices(reading: _Reading) -> Optional[str]:
    limits = {opcode: (what, count(reading.code)) for opcodes, what, count in _INDEXED for opcode in opcodes}
    for row in reading.rows:
        what, limit = limits.get(row.instr.opcode, ("", 0))
        if what and row.instr.arg >= limit:
            return "%s takes number %d of %d %s" % (row, row.instr.arg, limit, what)
    return None


def _wrong_jumps(reading: _Reading) -> Optional[str]:
    begins = {row.offset for row in reading.rows}
    for row in reading.rows:
        if row.target is not None and row.target not in begins:
            return "%s leads to %d, where no instruction begins" % (row, row.target * _OFFSET_UNIT)
    return None


def _wrong_decoding(reading: _Reading) -> Optional[str]:
    """Compare the instructions and lines of our decoder with those of the library."""
    ours = decode(reading.code).instructions
    if len(ours) != len(reading.rows):
        return "we read %d instructions, the library %d" % (len(ours), len(reading.rows))
    for instr, row in zip(ours, reading.rows):
        if (instr.opname, instr.arg, instr.lineno) != (row.instr.name, _argument(row.instr), row.instr.lineno):
            return "we read %r, the library %r" % (instr, row.instr)
    return None


def _wrong_lines(reading: _Reading) -> Optional[str]:
    known = {instr.lineno for instr in reading.original.instructions} | {None}
    for row in reading.rows:
        if row.instr.lineno not in known:
            return "%s has line %s, which has no code" % (row, row.instr.lineno)
    return None


def _wrong_order(reading: _Reading) -> Optional[str]:
    """Check that the original instructions are present, in order, with their arguments and lines."""
    rows = iter([(row.instr.name, None if row.target is not None else _argument(row.instr), row.instr.lineno)
                 for row in reading.rows])
    for instr in reading.original.instructions:
        if (instr.opname, None if instr.target is not None else instr.arg, instr.lineno) not in rows:
            return "%r of the function is missing" % instr
    return None


def _wrong_stack(reading: _Reading) -> Optional[str]:
    """Check the operand stack: underflow, overflow, paths that meet with different depths or end without a return.

    In a finally body of 3.7 and 3.8 one to six items tell how it was entered, so depths differ there.
    """
    if not any(row.instr.name in _ENTERED_IN_SEVERAL_WAYS for row in reading.rows):
        return _wrong_depth(reading)
    try:
        size = reading.graph.compute_stacksize()
    except RuntimeError as error:  # the library raises it if the depth becomes negative
        return "the operand stack runs empty: %s" % error
    return _too_deep(size, reading)


def _too_deep(size: int, reading: _Reading) -> Optional[str]:
    if size > reading.code.co_stacksize:
        return "the operand stack needs %d items, co_stacksize is %d" % (size, reading.code.co_stacksize)
    return None


def _wrong_depth(reading: _Reading) -> Optional[str]:
    """The same check for code in which each instruction has one depth, with the library's stack effects."""
    number_at = {row.offset: number for number, row in enumerate(reading.rows)}
    depths: Dict[int, int] = {0: 0}
    todo = [0]
    while todo:
        number = todo.pop()
        row, depth = reading.rows[number], depths[number]
        successors: List[Tuple[int, int]] = []
        if row.target is not None:
            successors.append((number_at[row.target], depth + _effect(row.instr, True)))
        if not row.instr.is_final():
            successors.append((number + 1, depth + _effect(row.instr, False)))
        for successor, there in successors:
            if there < 0:
                return "the operand stack runs empty at %s" % (row,)
            if successor == len(reading.rows):
                return "the code ends with %s" % (row,)
            if successor not in depths:
                todo.append(successor)
            if depths.setdefault(successor, there) != there:
                return "paths meet at %s with %d and %d items on the stack" % (
                    reading.rows[successor], depths[successor], there)
    return _too_deep(max(depths.values()), reading)


_CHECKS: Tuple[Callable[[_Reading], Optional[str]], ...] = (
    _wrong_indices, _wrong_jumps, _wrong_decoding, _wrong_lines, _wrong_order, _wrong_stack)
"""Each check returns its fault or None; later checks rely on earlier ones."""


def opinion(code: CodeType, original: Function) -> Optional[str]:
    """The fault of linked code, or None."""
    reading = _Reading(code, original)
    return next((sentence for sentence in (check(reading) for check in _CHECKS) if sentence is not None), None)
