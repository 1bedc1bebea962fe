"""The clauses of an exception handler: names of the classes that they catch.

Capture asks here which exceptions may lead to a handler.
"""

from __future__ import annotations

from typing import List, Optional, Sequence

from pijit.core.bytecode.instructions.instruction import Instr

CLAUSE = frozenset(["DUP_TOP", "LOAD_GLOBAL", "LOAD_ATTR", "BUILD_TUPLE", "COMPARE_OP", "POP_JUMP_IF_FALSE",
                    "JUMP_IF_NOT_EXC_MATCH", "CHECK_EXC_MATCH", "NOP"])
"""Instructions that a handler executes until it is clear that no clause matches the exception."""


def names_in_clauses(instructions: Sequence[Instr], handler: int) -> Optional[List[str]]:
    """The global names that the clauses of a handler load; None if the handler takes all exceptions."""
    names, index = [], handler
    index += instructions[index].opname == "PUSH_EXC_INFO"
    if instructions[index].opname == "POP_TOP":
        return None
    while instructions[index].opname in CLAUSE:
        if instructions[index].opname == "LOAD_GLOBAL":
            names.append(instructions[index].value)
        target = instructions[index].target
        index = target if target is not None else index + 1
    return names
