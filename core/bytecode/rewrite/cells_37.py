"""Cell variables as plain local variables on CPython 3.7 to 3.10, by instructions of the same size.

`cells` selects it.
"""

from __future__ import annotations

import dis
from types import CodeType
from typing import Container, Iterator, List, Optional, Sequence, Tuple

from pijit.core.bytecode.codec.decode import Function, Instr, decode
from pijit.core.bytecode.codec.encode import replace_code
from pijit.core.bytecode.normal_form.expand_finally_37 import normal_code

PLAIN = {"LOAD_DEREF": "LOAD_FAST", "STORE_DEREF": "STORE_FAST", "DELETE_DEREF": "DELETE_FAST",
         "LOAD_CLOSURE": "LOAD_FAST"}
MAX_VARIABLES = 256
"""Limit of the number of local variables; a larger index would need an EXTENDED_ARG prefix."""


def without_cells(code: CodeType, free: Sequence[str], kept: Container[str] = ()) -> Optional[CodeType]:
    """The code with its cell variables as locals of the same names; None if there are none, or too many variables.

    ``free`` lists free variables that become locals, too. ``kept`` has the variables that stay in cells. The tables of
    cells are unchanged.
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
    """The result of `without_cells` for ``code``, possibly edited in place since, with its cells restored."""
    raw = bytearray(plain.co_code)
    for _, at in _uses(code, [True] * len(code.co_cellvars + code.co_freevars)):
        raw[at:at + 2] = code.co_code[at:at + 2]
    return replace_code(plain, co_code=bytes(raw))


def _uses(code: CodeType, plain: Sequence[bool]) -> Iterator[Tuple[Instr, int]]:
    """The instructions that use one of these cells, and the position of their two bytes."""
    for instr in decode(code).instructions:
        if instr.opname in PLAIN and instr.raw < len(plain) and plain[instr.raw]:
            yield instr, instr.offset + 2 * (instr.size - 1)


def decode_with_locals(code: CodeType, free: Sequence[str], kept: Container[str] = ()) -> Function:
    """A function whose cell variables read as locals; see `cells`."""
    return decode(without_cells(code, free, kept) or code)


def running_function(function: Function, code: CodeType) -> Function:
    """The function that `decode_with_locals` read from ``code``, with its cells restored, as bytecode runs it."""
    return decode(with_cells(function.code, normal_code(code, True)))
