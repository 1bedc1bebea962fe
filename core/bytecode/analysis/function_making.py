"""Instructions that make a function: its code, its defaults and its cells, as the code around MAKE_FUNCTION shows.

The models of functions and comprehensions use it. Up to CPython 3.10 the qualified name is on the stack, above the
code.
"""

from __future__ import annotations

import sys
from typing import Any, Dict, List, Optional, Tuple

from pijit.core.bytecode.instructions.instruction import Function, Instr
from pijit.core.bytecode.instructions.predicates import builds_tuple, loads_constant, makes_function
from pijit.core.named_tuples import NamedTuple

NAME_ON_STACK = sys.version_info < (3, 11)
"""Whether the qualified name is an operand."""
CODE = 1 + NAME_ON_STACK
"""Number of instructions from the one that pushes the code to MAKE_FUNCTION."""
CLOSURE = CODE + 1
"""Number of instructions from the one that pushes the tuple of cells to MAKE_FUNCTION."""
WITH_DEFAULTS, WITH_NAMED, WITH_ANNOTATIONS, WITH_CLOSURE = 0x01, 0x02, 0x04, 0x08

_NAMED = frozenset(["LOAD_CONST", "LOAD_FAST", "LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_ATTR"])
_STORES_ELSEWHERE = frozenset(["STORE_DEREF", "STORE_GLOBAL", "STORE_NAME", "STORE_ATTR", "RETURN_VALUE"])


class Defaults(NamedTuple):
    """The defaults of a new function: of positional parameters, and of keyword-only ones by name. None for no default.
    """

    positional: Optional[Tuple[Any, ...]]
    named: Optional[Dict[str, Any]]


def maker_at(function: Function, index: int) -> Instr:
    """The next MAKE_FUNCTION from an instruction on."""
    return next(later for later in function.instructions[index:] if makes_function(later))


def code_made(function: Function, make: Instr) -> Any:
    """The code of the function that a MAKE_FUNCTION makes."""
    return function.instructions[make.index - CODE].value


def precedes_closure(function: Function, instr: Instr) -> bool:
    """Whether a tuple is the tuple of cells of the function that is made next."""
    return makes_function(function.instructions[instr.index:instr.index + CLOSURE + 1][-1])


def escapes_at_once(function: Function, make: Instr) -> bool:
    """Whether a new function is stored outside of the frame's locals, or returned, by the next instruction."""
    return function.instructions[make.index + 1].opname in _STORES_ELSEWHERE


def cells_of(function: Function, make: Instr) -> Optional[List[int]]:
    """The numbers of the cells of a new function; None if they are not known."""
    if not (make.arg or 0) & WITH_CLOSURE:
        return []
    build = function.instructions[make.index - CLOSURE]
    loads = function.instructions[build.index - (build.arg or 0):build.index]
    if not builds_tuple(build) or any(load.opname != "LOAD_CLOSURE" for load in loads):
        return None
    return [load.arg or 0 for load in loads]


def defaults_of(function: Function, make: Instr, cells: int) -> Optional[Defaults]:
    """The defaults of a new function with this number of cells; None unless they are constants."""
    flags, end = make.arg or 0, make.index - (CLOSURE + cells if cells else CODE)
    positional, named = None, None
    if not flags & (WITH_DEFAULTS | WITH_NAMED):
        return Defaults(None, None)
    if flags & WITH_ANNOTATIONS:
        begin = _annotations(function, end)
        if begin is None:
            return None
        end = begin
    if flags & WITH_NAMED:
        build = function.instructions[end - 1]
        values = _constants(function, end - 2, build.arg or 0) if build.opname == "BUILD_CONST_KEY_MAP" else None
        if values is None:
            return None
        named = dict(zip(function.instructions[end - 2].value, values))
        end -= 2 + len(values)
    if flags & WITH_DEFAULTS:
        last = function.instructions[end - 1]
        positional = last.value if loads_constant(last) else None
        if builds_tuple(last):
            positional = _constants(function, end - 1, last.arg or 0)
        if positional is None:
            return None
    return Defaults(positional, named)


def _annotations(function: Function, end: int) -> Optional[int]:
    """Index of the first instruction that pushes annotations, up to ``end``; None if an annotation is not a name."""
    build = function.instructions[end - 1]
    if build.opname not in ("BUILD_TUPLE", "BUILD_CONST_KEY_MAP"):
        return None
    index, count = end - 1, (build.arg or 0) + (not builds_tuple(build))
    while count:
        index -= 1
        load = function.instructions[index].opname
        if load not in _NAMED:
            return None
        count -= load != "LOAD_ATTR"
    return index


def _constants(function: Function, end: int, count: int) -> Optional[Tuple[Any, ...]]:
    """The values that the ``count`` instructions before ``end`` push; None unless they are constants."""
    loads = function.instructions[end - count:end]
    return tuple(load.value for load in loads) if all(map(loads_constant, loads)) else None


def makes_call_arguments(function: Function, instr: Instr) -> bool:
    """Whether the list that LIST_EXTEND extends holds the arguments of a call, whose callable is below it."""
    following = function.instructions[instr.index + 1:instr.index + 3]
    return instr.arg == 1 and [one.opname for one in following] == ["LIST_TO_TUPLE", "CALL_FUNCTION_EX"]
