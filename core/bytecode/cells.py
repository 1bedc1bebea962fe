"""Cell variables as plain local variables, for code that is interpreted in place of a call.

Nobody but the code itself, and what it makes and calls on the spot, sees the cells of such a call. So ``LOAD_DEREF``
and ``STORE_DEREF`` become ``LOAD_FAST`` and ``STORE_FAST``, and the closure of a function that it makes is a tuple
of values.
"""

from __future__ import annotations

import dis
from types import CodeType
from typing import Iterator, List, Optional, Tuple

from pijit.core.bytecode.decode import Instr, decode
from pijit.core.bytecode.encode import replace_code

PLAIN = {"LOAD_DEREF": "LOAD_FAST", "STORE_DEREF": "STORE_FAST", "DELETE_DEREF": "DELETE_FAST",
         "LOAD_CLOSURE": "LOAD_FAST"}
MAX_VARIABLES = 256
"""Beyond, instructions would need a prefix."""


def without_cells(code: CodeType, free: bool) -> Optional[CodeType]:
    """The code with its cell variables as locals of the same names; None if there are none, or too many variables.

    ``free``: its free variables too. The tables of cells stay as they are.
    """
    cells = code.co_cellvars + (code.co_freevars if free else ())
    names: List[str] = list(code.co_varnames)
    names += [name for name in cells if name not in names]
    if not cells or len(names) > MAX_VARIABLES:
        return None
    raw = bytearray(code.co_code)
    for instr, at in _uses(code, len(cells)):
        raw[at], raw[at + 1] = dis.opmap[PLAIN[instr.opname]], names.index(cells[instr.raw])
    return replace_code(code, co_code=bytes(raw), co_varnames=tuple(names), co_nlocals=len(names))


def with_cells(plain: CodeType, code: CodeType) -> CodeType:
    """What `without_cells` has made of ``code``, perhaps edited in place since, with its cell variables in cells
    again."""
    raw = bytearray(plain.co_code)
    for _, at in _uses(code, len(code.co_cellvars)):
        raw[at:at + 2] = code.co_code[at:at + 2]
    return replace_code(plain, co_code=bytes(raw))


def _uses(code: CodeType, count: int) -> Iterator[Tuple[Instr, int]]:
    """The instructions that use one of the first ``count`` cells, and where their two bytes are."""
    for instr in decode(code).instructions:
        if instr.opname in PLAIN and instr.raw < count:
            yield instr, instr.offset + 2 * (instr.size - 1)
