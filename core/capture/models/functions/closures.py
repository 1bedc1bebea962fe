"""Functions and methods that bytecode makes: what its MAKE_FUNCTION or LOAD_ATTR is known to push.

A sample of the function is made from the code constant, its constant defaults and the cells of the frame. A sample
of the method is made from the class's function and the object. Samples are never called. Calls of the real function
are inlined under a guard on its code. Its cells and its object are read through it. Called by the analysis for
instructions that stay bytecode.
"""

from __future__ import annotations

import sys
import types
from typing import Any, Callable, Dict, List, Optional, Tuple

from pijit.core.bytecode.analysis.function_making import cells_of, code_made, defaults_of
from pijit.core.bytecode.codec.decode import Function, Instr
from pijit.core.bytecode.instructions.opcodes import ATTRIBUTE_LOADS, FUNCTION_MAKERS
from pijit.core.capture.context import CaptureContext
from pijit.core.capture.values.lattice import Abstract, OpaqueObject
from pijit.guards.source import Local, read_class_attribute

SOMEWHERE = Local(sys.maxsize, "made")
"""Stands, during the analysis, for the path at which segments find an object that bytecode has made."""


def made_function(function: Function, context: CaptureContext, instr: Instr, name: Abstract) -> Optional[OpaqueObject]:
    """The function that a MAKE_FUNCTION pushes, as a sample; None if it is not known."""
    code = code_made(function, instr)
    if not isinstance(code, types.CodeType):
        return None
    cells = _cells(context, cells_of(function, instr))
    if cells is None or len(cells) != len(code.co_freevars):
        return None
    found = defaults_of(function, instr, len(cells))
    if found is None:
        return None
    sample = types.FunctionType(code, context.globals, code.co_name, found.positional, cells or None)
    sample.__kwdefaults__ = found.named
    return OpaqueObject(sample, None, instr.index)


def _cells(context: CaptureContext, numbers: Optional[List[int]]) -> Optional[Tuple[Any, ...]]:
    """The cells with these numbers; None if they are not known."""
    known = numbers is not None and all(number < len(context.cells) for number in numbers)
    return tuple(context.cells[number] for number in numbers or ()) if known else None


def made_method(function: Function, context: CaptureContext, instr: Instr, owner: Abstract) -> Optional[OpaqueObject]:
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
    **dict.fromkeys(FUNCTION_MAKERS, made_function), **dict.fromkeys(ATTRIBUTE_LOADS, made_method)}
"""By instruction: the function that finds the pushed object. Its last argument is the top of the stack before."""
