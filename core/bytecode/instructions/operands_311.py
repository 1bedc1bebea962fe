"""Operand stacks of a function in normal form, with the empty slots beside callables (CPython 3.11+).

Below its arguments a call has a callable and an empty slot, a method and its owner, or a callable and the first
argument. All paths to a call agree on this, since the compiler chooses by the syntax of the call.
"""

from __future__ import annotations

import dis
import sys
from typing import Dict, List, Optional, Set, Tuple

from pijit.core.bytecode.instructions.exception_table import ExceptionEntry
from pijit.core.bytecode.instructions.instruction import Function, Instr, Operands, Unit
from pijit.core.bytecode.instructions.names_311 import KEYWORDS_HAVE_A_SLOT, METHODS, NULL_ABOVE_CALLABLE
from pijit.core.bytecode.instructions.units_311 import HAS_ARGUMENT
from pijit.core.named_tuples import NamedTuple

Positions = Tuple[int, ...]
_OFFSETS_ARE_NO_OBJECTS = sys.version_info >= (3, 14)


class StackState(NamedTuple):
    """The operand stack: its depth, its empty slots, and the methods that have their owner above them.

    `saved` holds the positions of values that inlined comprehensions saved, each with the instruction that did so.
    `offsets` holds the positions of instruction offsets. The interpreter pushes these below an exception; they are not
    objects (3.14).
    """

    depth: int
    nulls: Positions = ()
    methods: Positions = ()
    saved: Tuple[Positions, ...] = ()
    offsets: Positions = ()

    def below(self, level: int) -> "StackState":
        """The part of the state that describes the lowest `level` items."""
        return StackState(level, tuple(null for null in self.nulls if null < level),
                     tuple(method for method in self.methods if method < level),
                     tuple((position, index) for position, index in self.saved if position < level),
                     tuple(offset for offset in self.offsets if offset < level))

    def handled(self, entry: ExceptionEntry) -> "StackState":
        """The state at the start of a handler."""
        state = self.below(entry.depth)
        offsets = state.offsets + (entry.depth,) if entry.lasti and _OFFSETS_ARE_NO_OBJECTS else state.offsets
        return state._replace(depth=entry.depth + entry.lasti + 1, offsets=offsets)

    def swapped(self, count: int) -> "StackState":
        """The state after the top item and the one at ``count`` from the top are exchanged."""
        places = {self.depth - 1: self.depth - count, self.depth - count: self.depth - 1}
        return self._replace(saved=tuple((places.get(position, position), index) for position, index in self.saved))


#: Instructions after which control does not reach the next one.
TERMINATORS = frozenset((
    "RETURN_VALUE", "RAISE_VARARGS", "RERAISE", "JUMP_FORWARD", "JUMP_ABSOLUTE", "INTERPRETER_EXIT"))
_CALLS = frozenset(("CALL_FUNCTION", "CALL_FUNCTION_KW", "CALL_FUNCTION_EX"))
_NULL_FLAG = 1


def _effect(instr: Instr, jump: bool) -> int:
    """The change of the depth, from the stack effects that CPython's compiler uses."""
    if jump and instr.opname == "FOR_ITER":
        return -1  # the jump lands after the instructions that FOR_ITER skips
    units = instr.units or (Unit(instr.opcode, instr.raw, instr.size, instr.position),)
    return sum(dis.stack_effect(unit.opcode, unit.raw if unit.opcode in HAS_ARGUMENT else None, jump=jump)
               for unit in units)


_STOPITERATION_ERROR = 3
_RESTORES = frozenset(("ROT_TWO", "SWAP", "STORE_FAST"))
_SWAPS = frozenset(("ROT_TWO", "SWAP"))


def _pushed_null(instr: Instr, depth: int) -> Optional[int]:
    """The position of the empty slot that an instruction pushes, or None."""
    if dis.opname[instr.opcode] == "PUSH_NULL":
        return depth
    if instr.opname == "LOAD_GLOBAL" and instr.raw & _NULL_FLAG:
        return depth + NULL_ABOVE_CALLABLE
    return None


class _SlotTracer:
    """One traversal of all paths; each instruction is visited once."""

    def __init__(self, function: Function) -> None:
        self.instructions = function.instructions
        self.states: Dict[int, StackState] = {}
        self.successors: Dict[int, List[int]] = {}
        self.method_calls: Set[int] = set()
        self.paired_calls: Set[int] = set()
        self.starred_calls: Set[int] = set()
        self.work: List[int] = []

    def enter(self, index: int, state: StackState) -> None:
        if index == len(self.instructions):
            raise ValueError("control runs out of the code after {!r}".format(self.instructions[-1]))
        if state.depth < 0:
            raise ValueError("the operand stack is below its bottom at {!r}".format(self.instructions[index]))
        known = self.states.setdefault(index, state)
        if known is state:
            self.work.append(index)
        elif known != state:
            raise ValueError("paths meet at {!r} with different stacks: {} and {}".format(
                self.instructions[index], known, state))

    def run(self) -> Operands:
        self.enter(0, StackState(0))
        while self.work:
            self._visit(self.instructions[self.work.pop()])
        every = range(len(self.instructions))
        states = [self.states.get(index) for index in every]
        return Operands(tuple(None if state is None else state.depth for state in states),
                        tuple(() if state is None else state.nulls for state in states),
                        tuple(() if state is None else state.saved for state in states),
                        tuple(self.successors.get(index) for index in every),
                        frozenset(self.method_calls), frozenset(self.paired_calls), frozenset(self.starred_calls),
                        frozenset(index for index, state in self.states.items() if state.offsets))

    def _visit(self, instr: Instr) -> None:
        state = self.states[instr.index]
        targets = self.successors[instr.index] = []
        entry = self._handled_by(instr)
        if entry is not None:
            self.enter(entry.target, state.handled(entry))
        if instr.opname not in TERMINATORS:
            self._go(instr, targets, instr.index + 1, False, state)
        if instr.target is not None:
            self._go(instr, targets, instr.target, True, state)

    def _handled_by(self, instr: Instr) -> Optional[ExceptionEntry]:
        """The entry whose handler receives an exception. Code that only ends running handlers is skipped."""
        entry = instr.entry
        while entry is not None and is_cleanup(self.instructions, entry.target):
            entry = self.instructions[entry.target].entry
        return entry

    def _go(self, instr: Instr, targets: List[int], index: int, jump: bool, state: StackState) -> None:
        if index not in targets:
            targets.append(index)
        self.enter(index, self._after(instr, state, state.depth + _effect(instr, jump)))

    def _after(self, instr: Instr, state: StackState, depth: int) -> StackState:
        """The stack after an instruction that leaves this depth."""
        if instr.opname in _CALLS:
            self._call(instr, state, depth - 1)
            return state.below(depth - 1)._replace(depth=depth)
        pushed = _pushed_null(instr, state.depth)
        if pushed is not None:
            return state._replace(depth=depth, nulls=state.nulls + (pushed,))
        if instr.opname in METHODS:
            return state._replace(depth=depth, methods=state.methods + (state.depth - METHODS[instr.opname],))
        if instr.opname in _SWAPS:
            return state.swapped(instr.raw)
        if dis.opname[instr.opcode] == "LOAD_FAST_AND_CLEAR":
            return state._replace(depth=depth, saved=state.saved + ((state.depth, instr.index),))
        return state.below(depth)

    def _call(self, instr: Instr, state: StackState, base: int) -> None:
        """Record which items a call has below its arguments, from position ``base`` on."""
        if base + NULL_ABOVE_CALLABLE not in state.nulls:
            (self.method_calls if base in state.methods else self.paired_calls).add(instr.index)
        if KEYWORDS_HAVE_A_SLOT and instr.opname == "CALL_FUNCTION_EX" and state.depth - 1 in state.nulls:
            self.starred_calls.add(instr.index)


def is_cleanup(instructions: List[Instr], index: int) -> bool:
    """Whether code at `index` raises the exception again and does nothing else that the program has written.

    Such code ends a running handler, an inlined comprehension, or a generator.
    """
    return (_ends_handler(instructions, index) or is_restoring(instructions, index)
            or ends_generator(instructions, index))


def _ends_handler(instructions: List[Instr], index: int) -> bool:
    names = [(instr.opname, instr.arg) for instr in instructions[index:index + 3]]
    return names == [("COPY", 3), ("POP_EXCEPT", None), ("RERAISE", 1)]


def ends_generator(instructions: List[Instr], index: int) -> bool:
    """Whether code at `index` turns StopIteration into RuntimeError, as a generator's outermost handler does (3.12)."""
    names = [(instr.opname, instr.arg) for instr in instructions[index:index + 2]]
    return names == [("CALL_INTRINSIC_1", _STOPITERATION_ERROR), ("RERAISE", 1)]


def is_restoring(instructions: List[Instr], index: int) -> bool:
    """Whether code at `index` restores the variables that an inlined comprehension has hidden (3.12)."""
    if [instr.opname for instr in instructions[index:index + 2]] != ["ROT_TWO", "POP_TOP"]:
        return False
    following = next((instr for instr in instructions[index + 2:] if instr.opname not in _RESTORES), None)
    return following is not None and following.opname == "RERAISE"


def operands(function: Function) -> Operands:
    """The operand stack before each instruction.

    Args:
        function: in normal form; its calls need not be told apart yet.

    Returns:
        Depths, positions of empty slots, successors, and the kinds of calls.

    Raises:
        ValueError: paths meet with different stacks; CPython's compiler never makes such code.
    """
    return _SlotTracer(function).run()
