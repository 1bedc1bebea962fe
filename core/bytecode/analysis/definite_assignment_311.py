"""Definite assignment: variables that may have no value, and checked loads (CPython 3.12 and later).

From 3.12 on LOAD_FAST does not check that the variable has a value, because CPython's compiler has proved it. New code
adds paths, so this module repeats the proof for the edited code. A load without a proof becomes LOAD_FAST_CHECK.
"""

from __future__ import annotations

import dis
from types import CodeType
from typing import Dict, List, Optional, Tuple

from pijit.core.bytecode.codec.decode import decode
from pijit.core.bytecode.codec.encode import replace_code
from pijit.core.bytecode.flow.stack_depth_311 import ends
from pijit.core.bytecode.instructions.instruction import Function, Instr

_LOADS_UNCHECKED = "LOAD_FAST_CHECK" in dis.opmap
# Effects of instructions on slots, in order. After a checked load the slot is known to have a value.
_READ, _BIND, _UNBIND = "read", "bind", "unbind"
_EFFECTS: Dict[int, Tuple[str, ...]] = {dis.opmap[name]: effects for name, effects in {
    "LOAD_FAST": (_READ,), "LOAD_FAST_BORROW": (_READ,), "LOAD_FAST_CHECK": (_BIND,), "STORE_FAST": (_BIND,),
    "DELETE_FAST": (_UNBIND,), "LOAD_FAST_AND_CLEAR": (_UNBIND,), "MAKE_CELL": (_BIND,),
    "LOAD_FAST_LOAD_FAST": (_READ, _READ), "LOAD_FAST_BORROW_LOAD_FAST_BORROW": (_READ, _READ),
    "STORE_FAST_LOAD_FAST": (_BIND, _READ), "STORE_FAST_STORE_FAST": (_BIND, _BIND)}.items() if name in dis.opmap}
_STORE, _FOR_ITER = dis.opmap["STORE_FAST"], dis.opmap["FOR_ITER"]
_CLEAR = dis.opmap.get("LOAD_FAST_AND_CLEAR")


class _AssignmentEffect:
    """The effect of an instruction on the set of variables that may have no value; the set is a bit mask."""

    __slots__ = ("reads", "binds", "unbinds")

    def __init__(self, instr: Instr, cleared: int) -> None:
        self.reads = self.binds = self.unbinds = 0
        effects = _EFFECTS.get(instr.opcode, ())
        slots = (instr.raw >> 4, instr.raw & 15) if len(effects) > 1 else (instr.raw,)
        for effect, slot in zip(effects, slots):
            self._add(
                _UNBIND if effect is _BIND and cleared >> slot & 1 and instr.opcode == _STORE else effect, 1 << slot)

    def _add(self, effect: str, slot: int) -> None:
        if effect is _READ:
            self.reads |= slot & ~self.binds
        elif effect is _BIND:
            self.binds |= slot
            self.unbinds &= ~slot
        else:
            self.unbinds |= slot

    def after(self, unbound: int) -> int:
        return unbound & ~self.binds | self.unbinds


def _steps(function: Function) -> List[_AssignmentEffect]:
    """The effect of each instruction.

    A store into a variable that a comprehension saves may store an empty slot, unless it stores an item of a loop.
    """
    cleared, after_loop, steps = 0, False, []
    for instr in function.instructions:
        cleared |= 1 << instr.raw if instr.opcode == _CLEAR else 0
    for instr in function.instructions:
        steps.append(_AssignmentEffect(instr, 0 if after_loop else cleared))
        after_loop = instr.opcode == _FOR_ITER
    return steps


def _analyse(function: Function, steps: List[_AssignmentEffect]) -> List[int]:
    """The variables that may have no value before each instruction; -1 for unreachable instructions."""
    code, instructions = function.code, function.instructions
    before = [-1] * len(instructions)
    argument_slots = (1 << function.argument_count) - 1
    work = [(0, (1 << len(code.co_varnames)) - 1 & ~argument_slots)]
    while work:
        index, unbound = work.pop()
        known = before[index]
        if known != -1 and not unbound & ~known:
            continue
        unbound = before[index] = unbound if known == -1 else unbound | known
        instr = instructions[index]
        after = steps[index].after(unbound)
        if instr.entry is not None:
            work.append((instr.entry.target, unbound))
        if instr.target is not None:
            work.append((instr.target, after))
        if not ends(instr):
            work.append((index + 1, after))
    return before


def unproved_loads(function: Function) -> List[Instr]:
    """The unchecked loads of variables that may have no value.

    Args:
        function: from `decode`.

    Returns:
        Reachable instructions in order; none before 3.12, where all loads are checked.
    """
    if not _LOADS_UNCHECKED:
        return []
    steps = _steps(function)
    return [instr for instr, step, unbound in zip(function.instructions, steps, _analyse(function, steps))
            if unbound != -1 and step.reads & unbound]


def maybe_unbound(function: Function, index: int) -> List[str]:
    """The local variables that may have no value before an instruction, except those in cells."""
    unbound = _analyse(function, _steps(function))[index]
    code = function.code
    return [name for slot, name in enumerate(code.co_varnames) if unbound >> slot & 1 and name not in code.co_cellvars]


def checked(code: CodeType, function: Optional[Function] = None) -> CodeType:
    """Edited code, with LOAD_FAST_CHECK in place of each LOAD_FAST of a variable that may have no value.

    Args:
        code: the assembled code.
        function: its decoded form, if that is known.

    Raises:
        ValueError: an instruction that loads or stores two variables would have to be checked.
    """
    unproved = unproved_loads(function or decode(code)) if _LOADS_UNCHECKED else []
    if not unproved:
        return code
    raw = bytearray(code.co_code)
    for instr in unproved:
        at = instr.offset + 2 * (instr.size - 1)
        if raw[at] != dis.opmap["LOAD_FAST"]:
            raise ValueError("{!r} loads a variable that may have no value".format(instr))
        raw[at] = dis.opmap["LOAD_FAST_CHECK"]
    return replace_code(code, co_code=bytes(raw))
