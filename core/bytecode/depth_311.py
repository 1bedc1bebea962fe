"""How deep the operand stack of CPython 3.11 and later gets."""

import dis
from typing import Dict, List, Optional

from pijit.core.bytecode.instructions import Function, Instr

# Control does not go on behind these.
_ENDS = frozenset(("RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE", "JUMP_FORWARD", "JUMP_BACKWARD",
                   "JUMP_BACKWARD_NO_INTERRUPT", "INTERPRETER_EXIT"))
_GENERATOR = dis.opmap["RETURN_GENERATOR"]


def _effect(instr: Instr, jump: bool) -> int:
    """The change of the depth. A generator begins with the value that is sent in, which `dis` of 3.11 and 3.12 leave out."""
    return 1 if instr.opcode == _GENERATOR else dis.stack_effect(instr.opcode, instr.arg, jump=jump)


class _Depths:
    """Depths before instructions, along all paths; each instruction is visited once."""

    def __init__(self, function: Function) -> None:
        self.instructions = function.instructions
        self.depths: Dict[int, int] = {}
        self.work: List[int] = []
        self.deepest = 0

    def enter(self, index: int, depth: int) -> None:
        if index == len(self.instructions):
            raise ValueError("control runs out of the code behind {!r}".format(self.instructions[-1]))
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

    def run(self) -> int:
        self.enter(0, 0)
        while self.work:
            instr = self.instructions[self.work.pop()]
            depth = self.depths[instr.index]
            if instr.entry is not None:
                self.enter(instr.entry.target, instr.entry.depth + instr.entry.lasti + 1)
            self.deepest = max(self.deepest, depth + _effect(instr, False))
            if instr.target is not None:
                self.enter(instr.target, depth + _effect(instr, True))
            if instr.opname not in _ENDS:
                self.enter(instr.index + 1, depth + _effect(instr, False))
        return self.deepest


def stack_size(function: Function) -> int:
    """The largest number of operands on the stack.

    Args:
        function: from `decode`.

    Returns:
        The number, by the effects that the compiler counts with.

    Raises:
        ValueError: two paths meet with different depths, or a path leaves the code.
    """
    return _Depths(function).run()
