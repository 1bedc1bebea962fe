"""The maximal depth of the operand stack on CPython 3.11 and later.

The encoder computes `co_stacksize` with it. It must count as CPython's compiler does.
"""

import dis
from functools import lru_cache
from typing import Dict, List, Optional

from pijit.core.bytecode.instructions.instruction import Function, Instr
from pijit.core.bytecode.instructions.units_311 import HAS_ARGUMENT

# Instructions after which control does not reach the next one.
_ENDS = frozenset(dis.opmap[name] for name in (
    "RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE", "JUMP_FORWARD", "JUMP_BACKWARD",
    "JUMP_BACKWARD_NO_INTERRUPT", "INTERPRETER_EXIT") if name in dis.opmap)
_GENERATOR = dis.opmap["RETURN_GENERATOR"]


@lru_cache(maxsize=4096)
def _effect_of(opcode: int, raw: int, jump: bool) -> int:
    """The change of the depth. A generator begins with the sent value, which `dis` of 3.11 and 3.12 does not count."""
    return 1 if opcode == _GENERATOR else dis.stack_effect(opcode, raw if opcode in HAS_ARGUMENT else None, jump=jump)


def _effect(instr: Instr, jump: bool) -> int:
    """The sum of the effects of all encoded instructions of one instruction."""
    if instr.units is None:
        return _effect_of(instr.opcode, instr.raw, jump)
    return sum(_effect_of(unit.opcode, unit.raw, jump) for unit in instr.units)


def ends(instr: Instr) -> bool:
    """Whether control never reaches the next instruction."""
    return instr.opcode in _ENDS


class _Depths:
    """Depths before instructions, along all paths; each instruction is visited once."""

    def __init__(self, function: Function) -> None:
        self.instructions = function.instructions
        self.depths: Dict[int, int] = {}
        self.work: List[int] = []
        self.deepest = 0

    def enter(self, index: int, depth: int) -> None:
        if index == len(self.instructions):
            raise ValueError("control runs out of the code after {!r}".format(self.instructions[-1]))
        if depth < 0:
            raise ValueError("the operand stack is below its bottom at {!r}".format(self.instructions[index]))
        known: Optional[int] = self.depths.get(index)
        if known is None:
            self.depths[index] = depth
            self.deepest = max(self.deepest, depth)
            self.work.append(index)
        elif known != depth:
            raise ValueError("paths meet at {!r} with different stacks: {} and {}".format(
                self.instructions[index], known, depth))

    def run(self) -> "_Depths":
        self.enter(0, 0)
        while self.work:
            instr = self.instructions[self.work.pop()]
            depth = self.depths[instr.index]
            if instr.entry is not None:
                self.enter(instr.entry.target, instr.entry.depth + instr.entry.lasti + 1)
            self.deepest = max(self.deepest, depth + _effect(instr, False))
            if instr.target is not None:
                self.enter(instr.target, depth + _effect(instr, True))
            if not ends(instr):
                self.enter(instr.index + 1, depth + _effect(instr, False))
        return self


def stack_size(function: Function) -> int:
    """The largest depth of the operand stack.

    Args:
        function: from `decode`.

    Returns:
        The number, computed from the stack effects that CPython's compiler uses.

    Raises:
        ValueError: two paths meet with different depths, or a path leaves the code.
    """
    return _Depths(function).run().deepest
