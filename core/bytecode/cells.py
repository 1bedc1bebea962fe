"""Cell variables as plain local variables, for code that is interpreted in place of a call.

Nobody but the code itself, and what it makes and calls on the spot, sees the cells of such a call. So ``LOAD_DEREF``
and ``STORE_DEREF`` become ``LOAD_FAST`` and ``STORE_FAST``, and the closure of a function that it makes is a tuple
of values.
"""

from __future__ import annotations

import dis
from types import CodeType
from typing import Any, Container, Iterator, List, Optional, Sequence, Tuple

from pijit.core.bytecode.decode import Instr, decode
from pijit.core.bytecode.encode import replace_code

PLAIN = {"LOAD_DEREF": "LOAD_FAST", "STORE_DEREF": "STORE_FAST", "DELETE_DEREF": "DELETE_FAST",
         "LOAD_CLOSURE": "LOAD_FAST"}
BINDS = frozenset(["STORE_FAST", "DELETE_FAST"])
MAX_VARIABLES = 256
"""Beyond, instructions would need a prefix."""


def without_cells(code: CodeType, free: Sequence[str], kept: Container[str] = ()) -> Optional[CodeType]:
    """The code with its cell variables as locals of the same names; None if there are none, or too many variables.

    ``free``: these of its free variables too; ``kept``: not these. The tables of cells stay as they are.
    """
    cells = code.co_cellvars + code.co_freevars
    plain = [(name in code.co_cellvars or name in free) and name not in kept for name in cells]
    names: List[str] = list(code.co_varnames)
    names += [name for name, is_plain in zip(cells, plain) if is_plain and name not in names]
    if not any(plain) or len(names) > MAX_VARIABLES:
        return None
    raw = bytearray(code.co_code)
    for instr, at in _uses(code, plain):
        raw[at], raw[at + 1] = dis.opmap[PLAIN[instr.opname]], names.index(cells[instr.raw])
    return replace_code(code, co_code=bytes(raw), co_varnames=tuple(names), co_nlocals=len(names))


def with_cells(plain: CodeType, code: CodeType) -> CodeType:
    """What `without_cells` has made of ``code``, perhaps edited in place since, with its cells in cells
    again."""
    raw = bytearray(plain.co_code)
    for _, at in _uses(code, [True] * len(code.co_cellvars + code.co_freevars)):
        raw[at:at + 2] = code.co_code[at:at + 2]
    return replace_code(plain, co_code=bytes(raw))


def _uses(code: CodeType, plain: Sequence[bool]) -> Iterator[Tuple[Instr, int]]:
    """The instructions that use one of these cells, and where their two bytes are."""
    for instr in decode(code).instructions:
        if instr.opname in PLAIN and instr.raw < len(plain) and plain[instr.raw]:
            yield instr, instr.offset + 2 * (instr.size - 1)


def binds_again(cfg: Any, index: int, name: str) -> bool:
    """Whether code may bind or delete a variable behind an instruction that has put it into a closure.

    The variable is a local of code `without_cells`; inner functions may write it too.
    """
    instructions = cfg.function.instructions
    if any(type(instr.value) is CodeType and writes(instr.value, name) for instr in instructions):
        return True
    block = cfg.blocks[cfg.block_of[index]]
    todo, seen = list(block.successors), set(block.successors)
    spans = [(index + 1, block.end)]
    while todo:
        block = cfg.blocks[todo.pop()]
        spans.append((block.start, block.end))
        todo += [one for one in block.successors if one not in seen]
        seen.update(block.successors)
    return any(instr.opname in BINDS and instr.value == name
               for start, end in spans for instr in instructions[start:end])


def is_shared(cfg: Any, index: int, name: str) -> bool:
    """Whether functions that code makes, an instruction in a loop or more than one, share a variable."""
    block = cfg.block_of[index]
    makers = sum(type(instr.value) is CodeType and _keeps(instr.value, name) for instr in cfg.function.instructions)
    return makers > 1 or any(block in loop.body for loop in cfg.loops)


def _keeps(code: CodeType, name: str) -> bool:
    """Whether a function has a free variable; of a comprehension, whether functions have that it makes."""
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
