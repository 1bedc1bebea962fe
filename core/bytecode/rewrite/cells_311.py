"""Cell variables as plain local variables on CPython 3.11 and later, by renaming instructions.

The code object is unchanged, since only the capturer reads such a function.
"""

from __future__ import annotations

from types import CodeType
from typing import Container, Dict, Sequence

from pijit.core.bytecode.instructions.instruction import Function
from pijit.core.bytecode.normal_form.normalise_311 import normal_function

_PLAIN = {
    "LOAD_DEREF": "LOAD_FAST", "STORE_DEREF": "STORE_FAST", "DELETE_DEREF": "DELETE_FAST", "LOAD_CLOSURE": "LOAD_FAST"}


def decode_with_locals(code: CodeType, free: Sequence[str], kept: Container[str] = ()) -> Function:
    """A function whose cell variables read as locals; see `cells`.

    Args:
        code: from `plain_code`.
        free: free variables that read as locals, too.
        kept: variables that stay in cells. The tables of cells are unchanged.
    """
    function = normal_function(code)
    slots: Dict[str, int] = {name: slot for slot, name in enumerate(code.co_varnames)}
    plain = [name for name in code.co_cellvars + code.co_freevars
             if (name in code.co_cellvars or name in free) and name not in kept]
    for name in plain:
        slots.setdefault(name, len(slots))
    for instr in function.instructions:
        if instr.opname in _PLAIN and instr.value in plain:
            instr.opname = _PLAIN[instr.opname]
            instr.arg = instr.raw = slots[instr.value]
    function.varnames = tuple(slots)
    return function


def running_function(function: Function, code: CodeType) -> Function:
    """The function of `decode_with_locals` with its cell variables in cells, as bytecode runs it."""
    return normal_function(function.code)
