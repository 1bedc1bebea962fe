"""The `bytecode` library's opinion on linked code of CPython 3.7 to 3.10.

It uses what the versions 0.13 (CPython 3.7), 0.16 (3.8) and 0.17 (3.9, 3.10) have in common, and imports the library when it is
first asked.
"""

from __future__ import annotations

import dis
import sys
from types import CodeType
from typing import TYPE_CHECKING, Callable, Dict, List, NamedTuple, Optional, Tuple

from pijit.core.bytecode.codec.decode import Function, decode

if TYPE_CHECKING:
    from bytecode import ConcreteInstr, ControlFlowGraph

_OFFSET_UNIT = 2 if sys.version_info >= (3, 10) else 1
_ENTERED_IN_SEVERAL_WAYS = ("END_FINALLY", "SETUP_FINALLY") if "SETUP_EXCEPT" in dis.opmap else ("END_FINALLY",)
"""Of finally bodies; 3.7 drops the END_FINALLY of one that returns, and handlers have a setup of their own there."""

_INDEXED: Tuple[Tuple[List[int], str, Callable[[CodeType], int]], ...] = (
    (dis.hasconst, "constants", lambda code: len(code.co_consts)),
    (dis.hasname, "names", lambda code: len(code.co_names)),
    (dis.haslocal, "local variables", lambda code: code.co_nlocals),
    (dis.hasfree, "cells", lambda code: len(code.co_cellvars) + len(code.co_freevars)),
)


class _Row(NamedTuple):
    """An instruction as the library reads it, EXTENDED_ARG prefixes folded; offsets in the library's unit."""

    instr: ConcreteInstr
    offset: int
    target: Optional[int]

    def __str__(self) -> str:
        return "%s at %d" % (self.instr.name, self.offset * _OFFSET_UNIT)


class _Reading:
    """Linked code, what the library makes of it, and the function that it was linked from."""

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
        """The library's blocks; it needs valid jumps and indices to make them."""
        from bytecode import ControlFlowGraph

        if self._graph is None:
            self._graph = ControlFlowGraph.from_bytecode(self._concrete.to_bytecode())
        return self._graph


_effects: Dict[Tuple[str, Optional[int], bool], int] = {}


def _effect(instr: ConcreteInstr, jump: bool) -> int:
    """By how many items an instruction changes the depth of the stack."""
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
    """Our decoder and the library read different instructions, or lines."""
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
            return "%s has line %d, which has no code" % (row, row.instr.lineno)
    return None


def _wrong_order(reading: _Reading) -> Optional[str]:
    """The original instructions are there, in their order, with their arguments and lines."""
    rows = iter([(row.instr.name, None if row.target is not None else _argument(row.instr), row.instr.lineno)
                 for row in reading.rows])
    for instr in reading.original.instructions:
        if (instr.opname, None if instr.target is not None else instr.arg, instr.lineno) not in rows:
            return "%r of the function is missing" % instr
    return None


def _wrong_stack(reading: _Reading) -> Optional[str]:
    """The operand stack runs empty or over, or paths meet with different depths or end without a return.

    In a finally body of 3.7 and 3.8 one to six items tell how it was entered: depths differ there.
    """
    if not any(row.instr.name in _ENTERED_IN_SEVERAL_WAYS for row in reading.rows):
        return _wrong_depth(reading)
    try:
        size = reading.graph.compute_stacksize()
    except RuntimeError as error:  # what the library raises below an empty stack
        return "the operand stack runs empty: %s" % error
    return _too_deep(size, reading)


def _too_deep(size: int, reading: _Reading) -> Optional[str]:
    if size > reading.code.co_stacksize:
        return "the operand stack needs %d items, co_stacksize is %d" % (size, reading.code.co_stacksize)
    return None


def _wrong_depth(reading: _Reading) -> Optional[str]:
    """The same by the library's effects of instructions, where each has one depth."""
    number_at = {row.offset: number for number, row in enumerate(reading.rows)}
    depths: Dict[int, int] = {0: 0}
    todo = [0]
    while todo:
        number = todo.pop()
        row, depth = reading.rows[number], depths[number]
        ways: List[Tuple[int, int]] = []
        if row.target is not None:
            ways.append((number_at[row.target], depth + _effect(row.instr, True)))
        if not row.instr.is_final():
            ways.append((number + 1, depth + _effect(row.instr, False)))
        for successor, there in ways:
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
"""Each says what is wrong; the later ones rely on the earlier ones."""


def opinion(code: CodeType, original: Function) -> Optional[str]:
    """What is wrong with linked code, or None."""
    reading = _Reading(code, original)
    return next((sentence for sentence in (check(reading) for check in _CHECKS) if sentence is not None), None)
