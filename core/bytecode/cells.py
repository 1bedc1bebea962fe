"""Cell variables as plain local variables, for code that is interpreted in place of a call.

Nobody but the code itself, and what it makes and calls on the spot, sees the cells of such a call. So ``LOAD_DEREF``
and ``STORE_DEREF`` become ``LOAD_FAST`` and ``STORE_FAST``, and the closure of a function that it makes is a tuple
of values.
"""

from __future__ import annotations

import dis
from types import CodeType
from typing import List, Optional

from pijit.core.bytecode.decode import decode
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
    for instr in decode(code).instructions:
        if instr.opname in PLAIN and instr.raw < len(cells):
            at = instr.offset + 2 * (instr.size - 1)
            raw[at], raw[at + 1] = dis.opmap[PLAIN[instr.opname]], names.index(cells[instr.raw])
    return replace_code(code, co_code=bytes(raw), co_varnames=tuple(names), co_nlocals=len(names))
