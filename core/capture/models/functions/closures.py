"""Functions and methods that bytecode makes: what its MAKE_FUNCTION or LOAD_ATTR is known to push.

A sample of the function is made from the code constant, its constant defaults and the cells of the frame. A sample
of the method is made from the class's function and the object. Samples are never called. Calls of the real function
are inlined under a guard on its code. Its cells and its object are read through it. Called by the analysis for
instructions that stay bytecode.
"""

from __future__ import annotations

import sys
import types
from typing import Any, Callable, Dict, Optional, Tuple

from pijit.core.bytecode.codec.decode import Function, Instr
from pijit.core.capture.context import CaptureContext
from pijit.core.capture.models.functions.make_function import CLOSURE, CODE, code_made
from pijit.core.capture.values.lattice import Abstract, OpaqueObject
from pijit.guards.source import Local, read_class_attribute

WITH_DEFAULTS, WITH_NAMED, WITH_ANNOTATIONS, WITH_CLOSURE = 0x01, 0x02, 0x04, 0x08
NAMED = ("LOAD_CONST", "LOAD_FAST", "LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_ATTR")
SOMEWHERE = Local(sys.maxsize, "made")
"""Stands, during the analysis, for the path at which segments find an object that bytecode has made."""


def made_function(function: Function, facts: CaptureContext, instr: Instr, name: Abstract) -> Optional[OpaqueObject]:
    """The function that a MAKE_FUNCTION pushes, as a sample; None if it is not known."""
    flags = instr.arg or 0
    code = code_made(function, instr)
    if not isinstance(code, types.CodeType):
        return None
    cells = _cells(function, facts, instr.index - CLOSURE) if flags & WITH_CLOSURE else ()
    if cells is None or len(cells) != len(code.co_freevars):
        return None
    found = _defaults(function, instr.index - (CLOSURE + len(cells) if cells else CODE), flags)
    if found is None:
        return None
    sample = types.FunctionType(code, facts.globals, code.co_name, found[0], cells or None)
    sample.__kwdefaults__ = found[1]
    return OpaqueObject(sample, None, instr.index)


def _defaults(function: Function, end: int, flags: int) -> Optional[Tuple[Any, Optional[Dict[str, Any]]]]:
    """The positional and the named defaults that the instructions before ``end`` push;
    None unless they are constants."""
    positional, named = None, None
    if not flags & (WITH_DEFAULTS | WITH_NAMED):
        return None, None
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
        positional = last.value if last.opname == "LOAD_CONST" else None
        if last.opname == "BUILD_TUPLE":
            positional = _constants(function, end - 1, last.arg or 0)
        if positional is None:
            return None
    return positional, named


def _annotations(function: Function, end: int) -> Optional[int]:
    """Index of the first instruction that pushes annotations, up to ``end``; None if an annotation is not a name."""
    build = function.instructions[end - 1]
    if build.opname not in ("BUILD_TUPLE", "BUILD_CONST_KEY_MAP"):
        return None
    index, count = end - 1, (build.arg or 0) + (build.opname != "BUILD_TUPLE")
    while count:
        index -= 1
        load = function.instructions[index].opname
        if load not in NAMED:
            return None
        count -= load != "LOAD_ATTR"
    return index


def _constants(function: Function, end: int, count: int) -> Optional[Tuple[Any, ...]]:
    """The values that the ``count`` instructions before ``end`` push; None unless they are constants."""
    loads = function.instructions[end - count:end]
    return tuple(load.value for load in loads) if all(load.opname == "LOAD_CONST" for load in loads) else None


def _cells(function: Function, facts: CaptureContext, index: int) -> Any:
    """The cells that BUILD_TUPLE at ``index`` collects; None if they are not known."""
    build = function.instructions[index]
    loads = function.instructions[index - (build.arg or 0):index]
    if build.opname != "BUILD_TUPLE" or any(load.opname != "LOAD_CLOSURE" for load in loads):
        return None
    numbers = [load.arg or 0 for load in loads]
    return tuple(facts.cells[number] for number in numbers) if max(numbers) < len(facts.cells) else None


def made_method(function: Function, facts: CaptureContext, instr: Instr, owner: Abstract) -> Optional[OpaqueObject]:
    """The method that a LOAD_ATTR pushes for a Python function in the object's class; None for any other attribute."""
    if not isinstance(owner, OpaqueObject):
        return None
    found = read_class_attribute(owner.sample, instr.value)
    # isinstance would read ``__class__`` of the object.
    if type(found) is not types.FunctionType or issubclass(type(owner.sample), type):
        return None
    method = OpaqueObject(types.MethodType(found, owner.sample), None, instr.index)
    method.root = SOMEWHERE
    return method


MADE_KNOWN: Dict[str, Callable[[Function, CaptureContext, Instr, Abstract], Optional[OpaqueObject]]] = {
    "MAKE_FUNCTION": made_function, "LOAD_ATTR": made_method,
}
"""By instruction: the function that finds the pushed object. Its last argument is the top of the stack before."""
