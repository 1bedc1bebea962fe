"""Cell variables as plain local variables, for code that is interpreted in place of a call.

The inliner uses it.
Only the code itself, and functions that it creates and calls at once, see the cells of such a call. So ``LOAD_DEREF``
and ``STORE_DEREF`` read as ``LOAD_FAST`` and ``STORE_FAST``. The closure of a function that the code creates is a tuple
of values.

Attributes:
    decode_with_locals: decodes code to a function whose cell variables, and some free ones, are locals.
    running_function: the same function with its cell variables in cells.
"""

from __future__ import annotations

import sys
from types import CodeType
from typing import Any

from pijit.core.bytecode.codec.decode import decode

if sys.version_info >= (3, 11):
    from pijit.core.bytecode.rewrite.cells_311 import decode_with_locals, running_function
else:
    from pijit.core.bytecode.rewrite.cells_37 import decode_with_locals, running_function

__all__ = ["BINDS", "binds_again", "decode_with_locals", "is_shared", "running_function", "writes"]

BINDS = frozenset(["STORE_FAST", "DELETE_FAST", "LOAD_FAST_AND_CLEAR"])


def binds_again(cfg: Any, index: int, name: str) -> bool:
    """Whether code may bind or delete a variable after an instruction that has put it into a closure.

    The variable is a local of a function read by `decode_with_locals`; inner functions may write it too.
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


def writes(code: CodeType, name: str) -> bool:
    """Whether a function, or one inside it, binds or deletes a free variable."""
    if name not in code.co_freevars:
        return False
    own = any(instr.opname in ("STORE_DEREF", "DELETE_DEREF") and instr.value == name
              for instr in decode(code).instructions)
    return own or any(type(const) is CodeType and writes(const, name) for const in code.co_consts)
