"""``f(a, *array)``: as many items of an array or a long list as the called function takes.

Called by the interpreter's calls and by `literals`.
"""

from __future__ import annotations

import types
from typing import Any, List, Optional

from pijit.core._hook import JitFunction
from pijit.core.capture.models.containers.sequences import taken_apart
from pijit.core.capture.models.functions.callees import sample_of
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.values.lattice import Abstract, BoundFunction, Instance, Tensor, UnescapedFunction
from pijit.core.errors import Break

VARIABLE_ARGUMENTS = 0x04


def starred(interpreter: Interpreter, callee: Abstract, given: int, value: Abstract) -> Optional[List[Abstract]]:
    """The items of a starred argument.

    These are all items of a tuple or list whose items are known. Of an array or a long list they are those that the
    parameters without defaults take after ``given`` other arguments. The kernel exits where the length differs.
    None for other values.
    """
    items = interpreter.items_of(value)
    if items is not None or not isinstance(value, (Tensor, Instance)):
        return items
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
        raise Break("PJ211")
    return [interpreter.use(item) for item in items]
