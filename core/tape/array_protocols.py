"""NumPy's protocols for objects that are not arrays; their methods in Python are called through the tape.

`__array__` converts an operand. `__array_ufunc__` and `__array_function__` take over the whole call.
"""

from __future__ import annotations

from typing import Any, Dict, Iterator, Tuple

import numpy as np

from pijit.core.tape.iteration import iterate, iterates_in_python
from pijit.core.tape.special_methods import DATA, call_recorded, python_method

KeywordArguments = Dict[str, Any]


def foreign(x: Any) -> bool:
    """Whether NumPy calls Python code of an object's class to perform an operation."""
    return not (issubclass(type(x), DATA) and type(x).__module__ in ("builtins", "numpy")) and (
        python_method(x, "__array_ufunc__") is not None or python_method(x, "__array__") is not None)


def converted(x: Any) -> Any:
    """An operand after conversion: `__array__` in Python is called, also for items of a list or tuple."""
    if issubclass(type(x), (list, tuple)):
        items = [converted(one) for one in iterate(x)]
        return items if iterates_in_python(x) or any(a is not b for a, b in zip(items, x)) else x
    if issubclass(type(x), DATA):
        return x
    method = python_method(x, "__array__")
    return x if method is None else call_recorded(method, x)


def ufunc_override(ufunc: np.ufunc, name: str, operands: Tuple[Any, ...], kwargs: KeywordArguments) -> Any:
    """The result of the operands' `__array_ufunc__`; NotImplemented if no such method in Python takes over the call."""
    for one in operands:
        method = python_method(one, "__array_ufunc__")
        if method is not None and type(one).__array_ufunc__ is not np.ndarray.__array_ufunc__:
            r = call_recorded_with(method, (one, ufunc, name) + operands, kwargs)
            if r is not NotImplemented:
                return r
    return NotImplemented


def function_override(function: Any, args: Tuple[Any, ...], kwargs: KeywordArguments) -> Any:
    """Like `ufunc_override`, for other NumPy functions and `__array_function__`."""
    found = [one for one in _operands(args, kwargs) if python_method(one, "__array_function__") is not None]
    for one in found:
        method = python_method(one, "__array_function__")
        r = call_recorded_with(method, (one, function, tuple({type(each) for each in found}), args, kwargs), {})
        if r is not NotImplemented:
            return r
    return NotImplemented


def _operands(args: Tuple[Any, ...], kwargs: KeywordArguments) -> Iterator[Any]:
    for one in args + tuple(kwargs.values()):
        if type(one) in (list, tuple):
            yield from one
        else:
            yield one


def call_recorded_with(function: Any, args: Tuple[Any, ...], kwargs: KeywordArguments) -> Any:
    """Like `call_recorded`, with keyword arguments."""
    from pijit.core.tape.calls import call  # calls needs this module

    return call(function, args, kwargs)
