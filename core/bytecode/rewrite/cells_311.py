"""Cell variables as plain local variables on CPython 3.11 to 3.13: instructions of the normal form that read otherwise.

The code object stays as it is, since nothing but the capturer reads such a function.
"""

from __future__ import annotations

from types import CodeType
from typing import Container, Dict, Sequence

from pijit.core.bytecode.instructions.instruction import Function
from pijit.core.bytecode.normal_form.normalise_311 import normal_function

_PLAIN = {"LOAD_DEREF": "LOAD_FAST", "STORE_DEREF": "STORE_FAST", "DELETE_DEREF": "DELETE_FAST", "LOAD_CLOSURE": "LOAD_FAST"}


def decode_with_locals(code: CodeType, free: Sequence[str], kept: Container[str] = ()) -> Function:
    """A function whose cell variables read as locals; see `cells`.

    Args:
        code: from `plain_code`.
        free: these of its free variables too.
        kept: not these. The tables of cells stay as they are.
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
    """What `decode_with_locals` has read, with its cells in cells: as bytecode runs it."""
    return normal_function(function.code)
