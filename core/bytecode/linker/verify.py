"""Verification of linked code before it is installed, with the `bytecode` library as second decoder.

The option `check` and the strict switch request it. The library is imported on first use. `entries/linked_code.py`
calls it. It must not change the code.
"""

from __future__ import annotations

import sys
from types import CodeType
from typing import Any, Optional, Set, Tuple

from pijit.core.bytecode.codec.decode import Function
from pijit.core.bytecode.instructions.line_table import LINE_TABLE_FIELD

if sys.version_info >= (3, 11):
    from pijit.core.bytecode.linker.verify_311 import opinion
else:
    from pijit.core.bytecode.linker.verify_37 import opinion

_KEPT = ("co_argcount", "co_kwonlyargcount", "co_posonlyargcount", "co_flags", "co_freevars", "co_cellvars",
         "co_name", "co_qualname", "co_filename", "co_firstlineno")
_GROWING = ("co_consts", "co_names", "co_varnames")

_right: Set[Any] = set()
"""Code that passed all checks apart from `_wrong_tables`; entries of a function often have equal code."""
_RIGHT_KEPT = 1024


def why_wrong(code: CodeType, original: Function) -> Optional[str]:
    """The fault of code that was linked from a function, or None.

    Example:
        >>> function = decode(why_wrong.__code__)
        >>> why_wrong(function.code, function) is None
        True
    """
    wrong, key = _wrong_tables(code, original.code), _shape(code) + _shape(original.code)
    if wrong is not None or key in _right or _has_lines_below_1(original):
        return wrong
    wrong = opinion(code, original)
    if wrong is None:
        if len(_right) >= _RIGHT_KEPT:
            _right.clear()
        _right.add(key)
    return wrong


def _has_lines_below_1(function: Function) -> bool:
    """Whether an instruction has a line below 1. The library does not read such code, which no compiler makes."""
    return any(instr.lineno is not None and instr.lineno < 1 for instr in function.instructions)


def _shape(code: CodeType) -> Tuple[Any, ...]:
    return (code.co_code, getattr(code, LINE_TABLE_FIELD), getattr(code, "co_exceptiontable", b""), code.co_firstlineno,
            code.co_stacksize,
            len(code.co_consts), len(code.co_names), len(code.co_varnames), len(code.co_cellvars + code.co_freevars))


def _wrong_tables(code: CodeType, before: CodeType) -> Optional[str]:
    for field in _KEPT:
        if getattr(code, field, None) != getattr(before, field, None):
            return "%s is %r, not %r" % (field, getattr(code, field), getattr(before, field))
    for field in _GROWING:
        ours, theirs = getattr(code, field), getattr(before, field)
        if len(ours) < len(theirs) or any(a is not b for a, b in zip(ours, theirs)):
            return "%s does not begin with that of the function" % field
    if code.co_nlocals != len(code.co_varnames):
        return "co_nlocals is %d, and there are %d names" % (code.co_nlocals, len(code.co_varnames))
    return None
