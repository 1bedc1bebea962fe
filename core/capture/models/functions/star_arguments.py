"""``f(a, *array)`` and ``**keywords``: items that the called function takes, and dicts of the rest.

Called by the interpreter's calls, and by the inliner.
"""

from __future__ import annotations

import types
from typing import Any, Dict, List, Optional

from pijit.core._hook import JitFunction
from pijit.core.bytecode.codec.decode import Function
from pijit.core.bytecode.instructions.opcodes import KEYWORD_PASSES
from pijit.core.bytecode.instructions.predicates import loads_local
from pijit.core.capture.models.containers import constructions, contents
from pijit.core.capture.models.containers.sequences import taken_apart
from pijit.core.capture.models.functions.callees import sample_of
from pijit.core.capture.models.iteration.iterators import few_items
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.values.lattice import (
    KERNEL_LOCAL,
    Abstract,
    BoundFunction,
    Instance,
    Keywords,
    Tensor,
    UnescapedFunction,
)
from pijit.core.errors import Break

VARIABLE_ARGUMENTS = 0x04


def starred(interpreter: Interpreter, callee: Abstract, given: int, value: Abstract) -> Optional[List[Abstract]]:
    """The items of a starred argument.

    These are all items of a tuple or list whose items are known. Of an array or a long list they are those that the
    parameters without defaults take after ``given`` other arguments. The kernel exits where the length differs.
    None for other values.
    """
    items = contents.items_of(interpreter, value)
    if items is not None or not isinstance(value, (Tensor, Instance)):
        return items
    few = few_items(interpreter, value) if isinstance(value, Tensor) else None
    if few is not None:
        return few
    wanted = _parameters(callee)
    return taken_apart(interpreter, value, wanted - given) if wanted is not None and wanted > given else None


def _parameters(callee: Abstract) -> Optional[int]:
    """Number of positional arguments that a call has to give a Python function; None if that is not known."""
    if isinstance(callee, UnescapedFunction):
        return None if callee.code.co_flags & VARIABLE_ARGUMENTS else callee.code.co_argcount
    function: Any = sample_of(callee.function if isinstance(callee, BoundFunction) else callee)
    own = isinstance(callee, BoundFunction) + (type(function) is types.MethodType)
    function = function.__func__ if type(function) is types.MethodType else function
    function = function.py_func if issubclass(type(function), JitFunction) else function
    if type(function) is not types.FunctionType or function.__code__.co_flags & VARIABLE_ARGUMENTS:
        return None
    return function.__code__.co_argcount - len(function.__defaults__ or ()) - own


def starred_or_break(interpreter: Interpreter, callee: Abstract, given: int, value: Abstract) -> List[Abstract]:
    """As `starred`, with guards on the items; Break where that gives None."""
    items = starred(interpreter, callee, given, value)
    if items is None:
        interpreter.context.base.types.ranges.require_constants(interpreter.capture_point())
        raise Break("PJ211")
    return [interpreter.use(item) for item in items]


def with_dicts(interpreter: Interpreter, body: Function, bound: Dict[str, Abstract]) -> Dict[str, Abstract]:
    """The values of the parameters. ``**keywords`` becomes a dict where the function does more than pass it on."""
    for name, value in bound.items():
        plain = isinstance(value, Keywords) and not any(isinstance(item, KERNEL_LOCAL) for item in value.items.values())
        if plain and _is_read(body, name):
            bound[name] = constructions.new_dict(
                interpreter, list(value.items), list(value.items.values()))  # type: ignore[attr-defined]
    return bound


def _is_read(body: Function, name: str) -> bool:
    """Whether a variable is read for any purpose other than a call with ``**name``."""
    following = zip(body.instructions, body.instructions[1:])
    return any(loads_local(one) and one.value == name and other.opname not in KEYWORD_PASSES
               for one, other in following)
