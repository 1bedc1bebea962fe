"""Stores to cells: which variables of the functions around it a function binds or deletes.

The models of functions and comprehensions ask it about each function that captured code makes.
"""

from __future__ import annotations

import weakref
from types import CodeType
from typing import FrozenSet, MutableMapping

from pijit.core.bytecode.codec.decode import decode
from pijit.core.bytecode.instructions.scan import may_write_cells

_CELL_WRITES = frozenset(["STORE_DEREF", "DELETE_DEREF"])
_written: MutableMapping[CodeType, FrozenSet[str]] = weakref.WeakKeyDictionary()
"""The answers for code that has been decoded."""


def written_free_variables(code: CodeType) -> FrozenSet[str]:
    """The free variables that a function itself writes. Most code has no such instruction and is not decoded."""
    if not code.co_freevars or not may_write_cells(code):
        return frozenset()
    if code not in _written:
        _written[code] = frozenset(code.co_freevars).intersection(
            instr.value for instr in decode(code).instructions if instr.opname in _CELL_WRITES)
    return _written[code]


def writes(code: CodeType, name: str) -> bool:
    """Whether a function, or one inside it, binds or deletes a free variable."""
    if name not in code.co_freevars:
        return False
    return name in written_free_variables(code) or any(
        type(const) is CodeType and writes(const, name) for const in code.co_consts)
