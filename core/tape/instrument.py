"""Instrumentation of code objects: operators, subscripts, stores, calls and attributes become calls of helpers.

Rewritten code keeps names, lines, flags, cells and locals. Each code object is rewritten once and cached.
"""

from __future__ import annotations

import collections
import sys
from types import CodeType, FunctionType
from typing import Any, Dict, List, Tuple

import bytecode

from pijit.core.tape.errors import INSTRUMENTED

if sys.version_info >= (3, 11):
    from pijit.core.tape.replacements_311 import replacement
else:
    from pijit.core.tape.replacements_37 import replacement

LIMIT = 4096
"""Capacity of the cache of rewritten code objects; the least recently used is evicted first."""

_made: "collections.OrderedDict[int, Tuple[CodeType, CodeType]]" = collections.OrderedDict()


def instrumented_code(code: CodeType) -> CodeType:
    """The rewritten code of a code object."""
    found = _made.get(id(code))
    if found is None:
        found = code, _rewrite(code)
        INSTRUMENTED.add(found[1])
        while len(_made) >= LIMIT:
            INSTRUMENTED.discard(_made.popitem(last=False)[1][1])
    else:
        del _made[id(code)]
    _made[id(code)] = found
    return found[1]


def instrumented(function: FunctionType) -> FunctionType:
    """A copy of the function with rewritten code; it shares everything else with the original."""
    made = FunctionType(instrumented_code(function.__code__), function.__globals__, function.__name__,
                        function.__defaults__, function.__closure__)
    made.__kwdefaults__ = function.__kwdefaults__
    made.__qualname__ = function.__qualname__
    return made


def _rewrite(code: CodeType) -> CodeType:
    listed = bytecode.Bytecode.from_code(code)
    out: List[Any] = []
    for one in listed:
        lines = replacement(one) if issubclass(type(one), bytecode.Instr) else None
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
