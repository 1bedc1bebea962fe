"""Sample calls of library functions: the stand-ins for the arguments with which NumPy is asked for a result type.

`library` and models of functions that NumPy runs call these functions.
"""

from __future__ import annotations

from typing import Any, List, Tuple

import numpy as np

from pijit.core.capture.models.containers import contents
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.typing.result_types import SampleOperand, operand_of
from pijit.core.capture.values.describe import Arguments, describe
from pijit.core.capture.values.lattice import (
    Abstract,
    Const,
    Instance,
    KnownContainer,
    Number,
    Slice,
    Tensor,
    class_of,
    number_type,
)
from pijit.core.errors import Break
from pijit.core.graph.library import INTO, LibraryFunction
from pijit.core.graph.types import Array, Holding, ListOf, Scalar, Type
from pijit.guards.facts import is_among, is_exactly

PLAIN = (str, type(None), type(Ellipsis))


def questions_of(interpreter: Interpreter, row: LibraryFunction, arguments: List[Abstract],
                 keywords: Arguments) -> Tuple[Any, ...]:
    """The stand-ins for the arguments of a call in a sample call, keywords last."""
    names = parameter_names(row, len(arguments), keywords)
    if "out" in names and not row.path.startswith(INTO):
        raise Break("PJ211", callee=row.path)
    values = arguments + list(keywords.values())
    return tuple(_question(interpreter, value, name[-1:]) for name, value in zip(names, values))


def _question(interpreter: Interpreter, value: Abstract, mark: str) -> Any:
    """The stand-in for an argument in a sample call: an Operand, or (tuple or list, stand-ins for the items)."""
    if mark == "*":
        return SampleOperand(None, known(interpreter, value), True)
    if isinstance(value, Slice):
        return (slice, tuple(_question(interpreter, part, "") for part in value.parts))
    kind = number_type(value)
    if kind is not None and mark == "#":
        return SampleOperand(kind)
    if isinstance(value, Tensor) or kind is not None:
        return operand_of(value)
    if isinstance(value, Const) and _is_plain(value.object):
        return SampleOperand(None, value.object, True)
    if isinstance(value, Instance) and not isinstance(value, KnownContainer) and class_of(value) is list:
        question = list_question(interpreter, value.type)
        # their types are only expected
        interpreter.emit("plain_items", [interpreter.object_value(value)], None, exits=True)
        return question
    python, items = class_of(value), contents.items_of(interpreter, value)
    if python is tuple and items is None:
        interpreter.context.base.types.ranges.require_constants(interpreter.capture_point())
    if not is_among(python, (tuple, list)) or items is None:
        raise Break("PJ203", operand=describe(value))
    return (python, tuple(_question(interpreter, interpreter.use(item), mark) for item in items))


def list_question(interpreter: Interpreter, kind: Type) -> Any:
    """The stand-in for a list of which only the type of the items is known: two items."""
    if isinstance(kind, (ListOf, Holding)) and kind.python is list:
        return (list, (list_question(interpreter, kind.items),) * 2)
    if isinstance(kind, Holding) and kind.python is tuple:
        return (tuple, tuple(list_question(interpreter, item) for item in kind.items))
    if not isinstance(kind, (Array, Scalar)):
        raise Break("PJ203", operand="list")
    return SampleOperand(kind)


def known(interpreter: Interpreter, value: Abstract) -> Any:
    """The object of an argument that is specialised by value: a constant, or a tuple of constants."""
    if isinstance(value, Const) and (_is_plain(value.object) or is_exactly(value.object, (bool, int, float))):
        return value.object
    if is_among(class_of(value), (tuple, list)):
        items = contents.items_of(interpreter, value)
        if items is None:
            raise Break("PJ211", argument=describe(value))
        return tuple(known(interpreter, interpreter.use(item)) for item in items)
    number = interpreter.constant(value) if isinstance(value, Number) else None
    if not is_exactly(number, (bool, int, float)):
        raise Break("PJ211", argument=describe(value))
    return number


def parameter_names(row: LibraryFunction, count: int, keywords: Arguments) -> List[str]:
    """The parameter name of each argument, keywords last."""
    at = next((k for k, name in enumerate(row.parameters) if name.startswith(("...", "|"))), len(row.parameters))
    names, more = list(row.parameters[:at]), row.parameters[at:at + 1]
    if more != ("|",):
        names += list(more) * max(count - len(names), 0)
    by_keyword = {name.strip("*#"): name for name in tuple(names[count:]) + row.parameters[at + 1:]}
    positional = names[:count]
    if count > len(names) or set(keywords) - set(by_keyword):
        raise Break("PJ211", callee=row.path)
    return positional + [by_keyword[name] for name in keywords]


def _is_plain(value: Any) -> bool:
    """Whether a value may be passed to a library function unchanged."""
    if is_exactly(value, PLAIN) or issubclass(type(value), np.dtype) or is_among(value, (bool, int, float, complex)):
        return True
    return type(value) is type and issubclass(value, np.generic)
