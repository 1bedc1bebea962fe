"""Functions that a function makes: what a MAKE_FUNCTION that bytecode runs is known to give.

A sample of the function is made from the code constant and the cells of the frame; it is never called. Calls of the
real one are inlined under a guard on its code, and its cells are read through it.
"""

from __future__ import annotations

import types
from typing import Any, Optional

from pijit.core.bytecode.decode import Function, Instr
from pijit.core.capture.facts import Facts
from pijit.core.capture.values import Opaque

WITH_DEFAULTS, WITH_CLOSURE = 0x03, 0x08
CODE, CLOSURE = 2, 3
"""How far before MAKE_FUNCTION its code and the tuple of its cells are pushed."""


def made_function(function: Function, facts: Facts, instr: Instr) -> Optional[Opaque]:
    """What a MAKE_FUNCTION instruction pushes; None if it cannot be told."""
    flags = instr.arg or 0
    code = function.instructions[instr.index - CODE].value
    if not isinstance(code, types.CodeType) or flags & WITH_DEFAULTS:
        return None
    cells = _cells(function, facts, instr.index - CLOSURE) if flags & WITH_CLOSURE else ()
    if cells is None or len(cells) != len(code.co_freevars):
        return None
    sample = types.FunctionType(code, facts.globals, code.co_name, None, cells or None)
    return Opaque(sample, None, instr.index)


def _cells(function: Function, facts: Facts, index: int) -> Any:
    """The cells that BUILD_TUPLE at ``index`` collects."""
    build = function.instructions[index]
    loads = function.instructions[index - (build.arg or 0):index]
    if build.opname != "BUILD_TUPLE" or any(load.opname != "LOAD_CLOSURE" for load in loads):
        return None
    numbers = [load.arg or 0 for load in loads]
    return tuple(facts.cells[number] for number in numbers) if max(numbers) < len(facts.cells) else None
