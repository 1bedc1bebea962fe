"""Cell variables as plain local variables, for code that is interpreted in place of a call.

`analysed_code` uses it for the inliner.
Only the code itself, and functions that it creates and calls at once, see the cells of such a call. So ``LOAD_DEREF``
and ``STORE_DEREF`` read as ``LOAD_FAST`` and ``STORE_FAST``. The closure of a function that the code creates is a tuple
of values. The code object is unchanged, since only the capturer reads such a function.
"""

from __future__ import annotations

import copy
from types import CodeType
from typing import Any, Container, Dict, Sequence, Tuple

from pijit.core.bytecode.analysis.cell_writes import writes
from pijit.core.bytecode.codec.decode import Function

BINDS = frozenset(["STORE_FAST", "DELETE_FAST", "LOAD_FAST_AND_CLEAR"])
_PLAIN = {
    "LOAD_DEREF": "LOAD_FAST", "STORE_DEREF": "STORE_FAST", "DELETE_DEREF": "DELETE_FAST", "LOAD_CLOSURE": "LOAD_FAST"}


def cells_as_locals(code: CodeType, free: Sequence[str], kept: Container[str] = ()) -> Tuple[str, ...]:
    """The cell variables that read as locals.

    Args:
        code: the code that is interpreted in place of a call.
        free: free variables that read as locals, too.
        kept: variables that stay in cells.
    """
    return tuple(name for name in code.co_cellvars + code.co_freevars
                 if (name in code.co_cellvars or name in free) and name not in kept)


def with_locals(function: Function, names: Sequence[str]) -> Function:
    """A function in which some cell variables read as locals; the same function if there are none.

    The tables of cells are unchanged.
    """
    if not names:
        return function
    slots: Dict[str, int] = {name: slot for slot, name in enumerate(function.varnames)}
    for name in names:
        slots.setdefault(name, len(slots))
    made = copy.copy(function)
    made.instructions = list(function.instructions)
    for instr in function.instructions:
        if instr.opname in _PLAIN and instr.value in names:
            made.instructions[instr.index] = renamed = copy.copy(instr)
            renamed.opname = _PLAIN[instr.opname]
            renamed.arg = renamed.raw = slots[instr.value]
    made.varnames = tuple(slots)
    return made


def binds_again(cfg: Any, index: int, name: str) -> bool:
    """Whether code may bind or delete a variable after an instruction that has put it into a closure.

    The variable is a local of a function from `with_locals`; inner functions may write it too.
    """
    instructions = cfg.function.instructions
    if any(type(instr.value) is CodeType and writes(instr.value, name) for instr in instructions):
        return True
    block = cfg.blocks[cfg.block_of[index]]
    todo, visited = list(block.successors), set(block.successors)
    spans = [(index + 1, block.end)]
    while todo:
        block = cfg.blocks[todo.pop()]
        spans.append((block.start, block.end))
        todo += [one for one in block.successors if one not in visited]
        visited.update(block.successors)
    return any(instr.opname in BINDS and instr.value == name
               for start, end in spans for instr in instructions[start:end])


def is_shared(cfg: Any, index: int, name: str) -> bool:
    """Whether created functions share a variable: several instructions create them, or one in a loop does."""
    block = cfg.block_of[index]
    makers = sum(type(instr.value) is CodeType and _keeps(instr.value, name) for instr in cfg.function.instructions)
    return makers > 1 or any(block in loop.body for loop in cfg.loops)


def _keeps(code: CodeType, name: str) -> bool:
    """Whether a function has a free variable. For a comprehension: whether a function that it creates has it."""
    if name not in code.co_freevars:
        return False
    return not code.co_name.endswith("comp>") or any(type(const) is CodeType and _keeps(const, name)
                                                     for const in code.co_consts)
