"""Instrumentation: instructions of a code object are replaced by calls of helpers, as a table of rows says.

Rewritten code keeps names, lines, flags, cells and locals. The tape of gradients uses it. This module never decides
what a helper does.

Attributes:
    helper_rows: the rows of the running version, for given helpers.
"""

from __future__ import annotations

import sys
from types import CodeType
from typing import Any, Dict, List

import bytecode

from pijit.core.bytecode.rewrite.helper_rows import HelperRow, Helpers

if sys.version_info >= (3, 11):
    from pijit.core.bytecode.rewrite.helper_rows_311 import helper_rows
else:
    from pijit.core.bytecode.rewrite.helper_rows_37 import helper_rows

__all__ = ["Helpers", "helper_rows", "with_helper_calls"]


def with_helper_calls(code: CodeType, rows: Dict[str, HelperRow]) -> CodeType:
    """The code with the instructions of these rows replaced; its float constants are objects of its own."""
    listed = bytecode.Bytecode.from_code(code)
    out: List[Any] = []
    one: Any
    for one in listed:
        row = rows.get(one.name) if issubclass(type(one), bytecode.Instr) else None
        lines = row(one.arg) if row is not None else None
        if lines is None:
            out.append(_fresh(one))
        else:
            out += [bytecode.Instr(*item, **_place_of(one)) for item in lines]
    listed[:] = out
    return listed.to_code()


def _place_of(one: Any) -> Dict[str, Any]:
    """The source position that replacements of an instruction take over; with columns from CPython 3.11 on."""
    return {"location": one.location} if sys.version_info >= (3, 11) else {"lineno": one.lineno}


def _fresh(one: Any) -> Any:
    """Copies float constants into objects of this code alone; a shared constant may be the object of an argument."""
    if getattr(one, "name", None) in ("LOAD_CONST", "RETURN_CONST"):
        one.arg = _own(one.arg)
    return one


def _own(constant: Any) -> Any:
    if type(constant) in (float, complex):
        return type(constant)(repr(constant).strip("()")) if constant == constant else constant * 1.0
    if type(constant) is tuple:
        return tuple(map(_own, constant))
    return constant
