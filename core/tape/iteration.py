"""Iteration in rewritten bytecode.

Each item of an active array is recorded, and so is each call of an iterator that is written in Python.
"""

from __future__ import annotations

from types import FunctionType, GeneratorType
from typing import Any, Dict, Iterator, Tuple

import numpy as np

from pijit.core.tape.errors import refusal
from pijit.core.tape.special_methods import DATA, call_recorded, in_class, python_method, stand_in
from pijit.core.tape.state import STATE, watching


def stream(x: Any) -> Iterator[Any]:
    """Iterator over an active array; each item is recorded."""
    from pijit.core.tape.operations import load  # operations needs this module

    for k in range(len(x)):
        yield load(x, k)


def streamed(x: Any) -> Any:
    """The iterable that C code receives: recorded items for active arrays and for iterables in Python."""
    if issubclass(type(x), np.ndarray):
        return stream(x) if x.ndim and watching(x) else x
    return iterate(x) if STATE.tapes and iterates_in_python(x) else x


def listed(x: Any) -> Any:
    """Like `streamed`, for C code that may read the length first, or call its argument."""
    return streamed(x) if issubclass(type(x), DATA) else stand_in(x)


def iterates_in_python(x: Any) -> bool:
    """Whether iteration over an object runs Python code of its class."""
    if python_method(x, "__iter__") is not None or python_method(x, "__next__") is not None:
        return True
    return python_method(x, "__getitem__") is not None and in_class(type(x), "__iter__") is None


def iterate(x: Any) -> Any:
    """`iter(x)`."""
    if not STATE.tapes:
        return iter(x)
    if issubclass(type(x), np.ndarray):
        return iter(streamed(x))
    if issubclass(type(x), np.broadcast) and any(watching(one.base) for one in x.iters):
        raise refusal("PJ502", what="iteration over numpy.broadcast")
    method = python_method(x, "__iter__")
    if method is None:
        get = python_method(x, "__getitem__")
        return iter(x) if get is None or in_class(type(x), "__iter__") is not None else _items(x, get)
    made = call_recorded(method, x)
    step = python_method(made, "__next__")
    return _stepped(made, step) if step is not None else iter(made)


def iterator_of(x: Any) -> Any:
    """`iter(x)` as called by the program: if `__iter__` is in Python, the result is the program's own object."""
    method = python_method(x, "__iter__") if STATE.tapes else None
    if method is None:
        return iterate(x)
    made = call_recorded(method, x)
    return made if in_class(type(made), "__next__") is not None else iter(x)


def _items(x: Any, get: FunctionType) -> Iterator[Any]:
    """Iteration over an object without `__iter__`: by index, until `__getitem__` raises IndexError."""
    index = 0
    while True:
        try:
            item = call_recorded(get, x, index)
        except (IndexError, StopIteration):
            return
        yield item
        index += 1


def _stepped(made: Any, step: FunctionType) -> Iterator[Any]:
    while True:
        try:
            item = call_recorded(step, made)
        except StopIteration:
            return
        yield item


def delegated(x: Any) -> Any:
    """The operand of `yield from x`; generators stay unchanged."""
    return x if issubclass(type(x), GeneratorType) else streamed(x)


def all_listed(parts: Tuple[Any, ...]) -> Tuple[Any, ...]:
    """`listed` for each operand of a literal such as `[*a, *b]`, reversed, as `UNPACK_SEQUENCE` pushes them."""
    return tuple(map(listed, reversed(parts)))


def all_mappings(parts: Tuple[Any, ...]) -> Tuple[Any, ...]:
    """Like `all_listed`, for `{**a, **b}`."""
    return tuple(map(mapping, reversed(parts)))


def mapping(x: Any) -> Any:
    """A mapping that C code reads: one in Python becomes a dict, through `keys` and `[]` as `dict` calls them."""
    if not STATE.tapes or python_method(x, "keys") is None and python_method(x, "__getitem__") is None or \
            not hasattr(x, "keys"):
        return x
    from pijit.core.tape.attributes import attribute  # attributes and operations need this module
    from pijit.core.tape.operations import load

    found: Dict[Any, Any] = {}
    for key in iterate(call_recorded(attribute(x, "keys"))):
        found[key] = load(x, key)
    return found
