"""Functions for the compiler's own use: stand-ins for reports, bound arguments.

`function_state`, `entries.call_sites` and `preview` use them.
"""

from __future__ import annotations

import inspect
import types
from typing import Any, Dict, List, Optional, Tuple

from pijit.core import _hook
from pijit.core.bytecode.codec.decode import decode
from pijit.core.bytecode.rewrite.returned_arguments import returning_arguments


def stand_in(code: types.CodeType, name: str, globals: Optional[Dict[str, Any]] = None) -> types.FunctionType:
    """A function with this code and qualified name for queries and reports; it is never called.

    It holds no object of the user's except the given ones.
    """
    function = types.FunctionType(code, {} if globals is None else globals, code.co_name, None,
                                  tuple(cell(_hook.UNBOUND) for _ in code.co_freevars))
    function.__qualname__ = name
    return function


def bound_locals(function: types.FunctionType, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> List[Any]:
    """The locals, cells and free variables that a call's frame starts with; the function itself does not run.

    This calls a copy of the function whose code returns its arguments at once, so CPython binds the arguments.

    Raises:
        TypeError: the arguments do not fit the function.
    """
    return Binder(function).bind(args, kwargs)


class Binder:
    """Binds the arguments of calls of one function, as `bound_locals` does.

    Args:
        function: the function. Its defaults are read at each call.

    Attributes:
        code: the function's code object when this was made; calls of other code need another binder.
        positional: the number of positional arguments of a call that needs no more than its arguments and `rest`.
        rest: what follows in the frame's slots then; None: every call has to be bound.
    """

    def __init__(self, function: types.FunctionType) -> None:
        decoded = decode(function.__code__)
        self._function = function
        self._names = decoded.varnames[:decoded.argument_count]
        self._cells = decoded.cellvars
        self._fast = [name if name not in frozenset(decoded.cellvars) else "" for name in decoded.varnames]
        self._twin = types.FunctionType(returning_arguments(decoded), function.__globals__, function.__name__,
                                        None, function.__closure__)
        self.code = code = function.__code__
        stars = code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
        self.positional = code.co_argcount
        self.rest: Optional[Tuple[Any, ...]] = None
        if not (stars or code.co_kwonlyargcount or decoded.cellvars):
            unbound = (_hook.UNBOUND,) * (len(decoded.varnames) - code.co_argcount)
            self.rest = unbound + (function.__closure__ or ())

    def bind(self, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> List[Any]:
        """The locals, cells and free variables that the frame of a call starts with.

        Raises:
            TypeError: the arguments do not fit the function.
        """
        if self.rest is not None and len(args) == self.positional and not kwargs:
            return [*args, *self.rest]
        twin, function = self._twin, self._function
        twin.__defaults__, twin.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
        values = dict(zip(self._names, twin(*args, **kwargs)))
        return [values.get(name, _hook.UNBOUND) for name in self._fast] + [
            cell(values.get(name, _hook.UNBOUND)) for name in self._cells] + list(function.__closure__ or ())


def cell(value: Any) -> Any:
    """A cell with this content; an empty one for UNBOUND."""
    content = value

    def holder() -> Any:
        return content

    if value is _hook.UNBOUND:
        del content
    return holder.__closure__[0]  # type: ignore[index]
