"""Handlers of calls: their type, the check of argument counts, and arguments that are constants.

A handler takes the interpreter, the positional arguments and the keyword arguments; it returns the abstract result. All
models use it. It must not know a certain function.
"""

from __future__ import annotations

import types
from typing import Any, Callable, Dict, List, Optional, Sequence

from pijit.core.capture.values.lattice import Abstract, Const, Number, Tensor, class_of
from pijit.core.errors import Break
from pijit.guards.facts import is_exactly, type_name

Arguments = Dict[str, Abstract]
Handler = Callable[..., Abstract]


def only(arguments: List[Abstract], keywords: Arguments, name: str, *counts: int) -> None:
    """Break unless there are no keywords and the number of arguments is one of ``counts``."""
    if keywords or len(arguments) not in counts:
        raise Break("PJ211", callee=name)


def constants_of(values: Sequence[Abstract]) -> Optional[List[Any]]:
    """The objects that values are if all of them are constants, else None."""
    found = [value.object for value in values if isinstance(value, Const)]
    return found if len(found) == len(values) else None


SHOWN_BY_VALUE = (int, float, complex, bool, str, bytes, type(None), type(Ellipsis))
"""Types whose repr runs no user code."""


def describe(value: Abstract) -> str:
    """Describe a value in a few words, for messages."""
    if isinstance(value, Const):
        if is_exactly(value.object, SHOWN_BY_VALUE):
            return repr(value.object)[:40]
        if issubclass(type(value.object), type):
            return type_name(value.object)
        named = is_exactly(value.object, (types.FunctionType, types.BuiltinFunctionType))
        return value.object.__name__ if named else type_name(type(value.object))
    if isinstance(value, (Number, Tensor)):
        return repr(value.type)
    kind = class_of(value)
    return type_name(kind) if kind is not None else _words(type(value).__name__)


def _words(name: str) -> str:
    """The name of a class as words: "generator frame"."""
    return "".join(" " + letter.lower() if letter.isupper() else letter for letter in name).strip()
