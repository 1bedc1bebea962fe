"""Calls of module functions without method instructions on CPython 3.11 and later: the encoding.

::

    3.11         LOAD_GLOBAL np; LOAD_METHOD sin; ...; CALL    ->  LOAD_GLOBAL NULL + np; LOAD_ATTR sin; ...; CALL
    3.12         LOAD_GLOBAL np; LOAD_ATTR method sin          ->  LOAD_GLOBAL NULL + np; LOAD_ATTR sin
    3.13         LOAD_GLOBAL np; LOAD_ATTR method sin          ->  LOAD_GLOBAL np; LOAD_ATTR sin; PUSH_NULL
"""

from __future__ import annotations

import dis
from typing import Dict, Iterable, List, Tuple

from pijit.core.bytecode.instructions.instruction import Function
from pijit.core.bytecode.instructions.names_311 import NULL_ABOVE_CALLABLE
from pijit.core.bytecode.normal_form.split_instructions_311 import Encoded, rewritten

_NAME = int("END_FOR" in dis.opmap)
"""Number of flag bits below the index of an attribute's name in the argument."""


def with_attribute_lookups(function: Function, loads: Iterable[Tuple[int, int]]) -> Function:
    """The function with some method lookups replaced by attribute lookups, not in normal form.

    Args:
        function: in normal form.
        loads: pairs of instructions: the LOAD_GLOBAL of a module, and the LOAD_METHOD of the function that is called.
    """
    index_at = {instr.offset: instr.index for instr in function.encoded}
    changes: Dict[int, List[Encoded]] = {}
    for begin, load in loads:
        base, method = (function.instructions[index] for index in (begin, load))
        attribute: Encoded = ("LOAD_ATTR", method.raw >> _NAME << _NAME)
        changes[index_at[method.offset]] = [attribute, ("PUSH_NULL", 0)] if NULL_ABOVE_CALLABLE else [attribute]
        if not NULL_ABOVE_CALLABLE:
            # The compiler may have merged the load with the empty slot of another call, around this one.
            other: List[Encoded] = [("PUSH_NULL", 0)] if base.raw & 1 else []
            changes[index_at[base.offset]] = [*other, ("LOAD_GLOBAL", base.raw | 1)]
    return rewritten(function, changes)
