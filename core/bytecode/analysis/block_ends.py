"""Block ends: the instructions that the compiler adds at the end of a with statement or a handler.

The reports ask, because a break at such an instruction says nothing that the break at the block's start does not say.
"""

from __future__ import annotations

from typing import Sequence, Set

from pijit.core.bytecode.instructions.instruction import Instr
from pijit.core.bytecode.instructions.predicates import deletes_local, stores_local

_LEAVING_BLOCKS = frozenset([
    "POP_BLOCK", "POP_EXCEPT", "POP_FINALLY", "BEGIN_FINALLY", "CALL_FINALLY", "END_FINALLY", "RERAISE",
    "JUMP_IF_NOT_EXC_MATCH", "PUSH_EXC_INFO", "WITH_EXCEPT_START", "WITH_CLEANUP_START", "WITH_CLEANUP_FINISH"])

_CALLING_EXIT = (["DUP_TOP", "DUP_TOP", "CALL_FUNCTION"], ["LOAD_CONST", "LOAD_CONST", "CALL_FUNCTION"])
"""Calls of ``__exit__`` with three times None, when nothing was raised; the second form is that of 3.11 and later."""

_SWALLOWING = (
    ["POP_TOP", "POP_TOP", "POP_TOP", "POP_EXCEPT", "POP_TOP"], ["POP_TOP", "POP_EXCEPT", "POP_TOP", "POP_TOP"])
"""Instructions that follow if ``__exit__`` has swallowed an exception, from 3.9 and from 3.11 on."""


def leaves_block(instructions: Sequence[Instr], index: int) -> bool:
    """Whether the compiler added this instruction after a block, or it uses the result of such an instruction."""
    names = [one.opname for one in instructions[max(index - 3, 0):index + 1] if one.opname != "TO_BOOL"][-3:]
    calls_exit = names in _CALLING_EXIT and instructions[index].arg == 3
    return calls_exit or not _LEAVING_BLOCKS.isdisjoint(names[-2:]) or _swallows(instructions, index)


def _swallows(instructions: Sequence[Instr], index: int) -> bool:
    """Whether the instruction is part of the code that follows if an ``__exit__`` has swallowed an exception."""
    around = [one.opname for one in instructions[max(index - 4, 0):index + 5]]
    here = min(index, 4)
    return any(around[here - k:here - k + len(names)] == names
               for names in _SWALLOWING for k in range(min(len(names), here + 1)))


def unbinds_exception(instructions: Sequence[Instr], index: int, names: Set[str]) -> bool:
    """Whether the instruction is the `del` of one of these names of exceptions at the end of its handler."""
    here, before = instructions[index], instructions[max(index - 1, 0)]
    return (deletes_local(here) and here.value in names
            and stores_local(before) and before.value == here.value)
