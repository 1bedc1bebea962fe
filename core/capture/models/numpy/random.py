"""Random generators: methods that draw one number, or an array of them, see graph/draws.py.

The kernel draws as the generator does. A method that a program has taken from a generator has a model here. For other
calls of methods the interpreter gets a handler.
"""

from __future__ import annotations

import types
from typing import Any, List, Optional

from pijit.core.capture.models.functions.callees import sample_of
from pijit.core.capture.models.numpy.arrays import shape_words
from pijit.core.capture.models.objects import locations
from pijit.core.capture.models.objects.classes import paths_of
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.models.registry import models_instances
from pijit.core.capture.models.scalars.math import call_float
from pijit.core.capture.values.describe import Arguments, Handler, describe
from pijit.core.capture.values.lattice import Abstract, Const, Number, OpaqueObject, Tensor, number_type
from pijit.core.errors import Break
from pijit.core.graph.draws import (
    BY_NAME,
    PYTHONS,
    TAKES_SIZES,
    Draw,
    class_path,
    is_generator,
    is_pythons_draw,
    is_pythons_generator,
)
from pijit.core.graph.ir import Value
from pijit.core.graph.types import INT, Array
from pijit.core.kernel.bit_generators import is_drawn, is_filled
from pijit.guards.facts import is_among
from pijit.guards.reading import class_value
from pijit.guards.source import Inner

_BOUND = (types.MethodType, types.BuiltinMethodType)


def draw_method(kind: type, name: str) -> Optional[Handler]:
    """The handler of a method of one of NumPy's generators; None for other classes and methods."""
    return _found(class_path(kind), name) if is_generator(kind) else None


def _found(owner: str, name: str) -> Optional[Handler]:
    row = BY_NAME.get((owner, name))
    return _handler(row, (owner, name) in TAKES_SIZES) if row is not None and is_drawn(row) else None


@models_instances(types.MethodDescriptorType, *_BOUND)
def call_held_draw(interpreter: Interpreter, callee: Abstract, arguments: List[Abstract],
                   keywords: Arguments) -> Optional[Abstract]:
    """A call of a method that a program has taken from a random generator; None for other callables.

    Examples are the functions of ``np.random``, and methods of Python's class of random generators.
    """
    drawn = _draw_of(interpreter, callee)
    return drawn(interpreter, arguments, keywords) if drawn is not None else None


def _draw_of(interpreter: Interpreter, callee: Abstract) -> Optional[Handler]:
    target: Any = sample_of(callee) if isinstance(callee, (Const, OpaqueObject)) else None
    if isinstance(callee, Const) and is_pythons_draw(target):
        return _found(PYTHONS, target.__name__)
    if not is_among(type(target), _BOUND) or not is_generator(type(target.__self__)):
        return None
    kind, name = type(target.__self__), target.__name__
    method = draw_method(kind, name)
    if method is None or class_value(kind, name).__get__(target.__self__, kind) != target:
        return None
    owner: Abstract = Const(target.__self__)
    if isinstance(callee, OpaqueObject):
        paths = paths_of(callee)
        interpreter.use(locations.known_object(interpreter, target.__func__, *paths.then(Inner, "__func__")))
        owner = interpreter.use(locations.known_object(interpreter, target.__self__, *paths.then(Inner, "__self__")))
    return lambda interpreter, arguments, keywords: method(interpreter, [owner] + arguments,
                                                           keywords)


def pythons_draw(kind: Optional[type], name: str) -> Optional[Handler]:
    """The handler of a method of Python's random generator that a variable holds, such as ``random.random``."""
    return _found(PYTHONS, name) if kind is not None and is_pythons_generator(kind) else None


def _handler(row: Draw, takes_sizes: bool) -> Handler:
    """The handler of a method; ``takes_sizes``: each argument is a size of the array that it makes."""
    def call(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        if takes_sizes:
            if keywords:
                raise Break("PJ201", method=row.method)
            given: List[Abstract] = []
            sizes = [size for one in arguments[1:] for size in shape_words(interpreter, _number(one))]
        else:
            *given, size = _given(row, arguments[1:], keywords)
            sizes = shape_words(interpreter, size) if size != Const(None) else []
        operands = [interpreter.object_value(arguments[0])] + [_operand(interpreter, row, value) for value in given]
        if not sizes:
            made = interpreter.emit("draw", operands, row.result, {"method": row.number}, exits=True)
            return Number(row.result, made)
        if not is_filled(row):
            raise Break("PJ201", method=row.method)
        kind = Array(row.result.dtype, len(sizes), "C")
        attrs = {"method": row.number, "ndim": len(sizes)}
        return Tensor(kind, interpreter.emit("draw_array", operands + sizes, kind, attrs, exits=True))
    return call


def _number(value: Abstract) -> Abstract:
    """A size that is an argument of its own; Break for a tuple of sizes, which these methods refuse."""
    if number_type(value) is None:
        raise Break("PJ203", operand=describe(value))
    return value


def _given(row: Draw, arguments: List[Abstract], keywords: Arguments) -> List[Abstract]:
    """The values of a method's parameters, then that of ``size``; Break for other arguments."""
    names = [name for name, _ in row.parameters] + ["size"] * row.fills
    if len(arguments) > len(names) or set(keywords) - set(names[len(arguments):]):
        raise Break("PJ201", method=row.method)
    values = dict(zip(names, arguments), **keywords)
    size = values.pop("size", Const(None))
    found = [values.get(name, Const(default)) for name, default in row.parameters]
    if found and found[-1] == Const(None):
        found = [Const(0), found[0]]
    if any(value == Const(...) for value in found):
        raise Break("PJ211", callee=row.method)
    return found + [size]


def _operand(interpreter: Interpreter, row: Draw, value: Abstract) -> Value:
    """An argument as the method takes it: a double, or an integer of a machine word."""
    kind = number_type(value)
    if row.parameters[0][1] is not ...:
        return interpreter.number_value(call_float(interpreter, [value], {}))
    if kind is None or kind.dtype.kind != "i":
        raise Break("PJ203", operand=describe(value))
    word = interpreter.number_value(value)
    return (word if kind == INT
            else interpreter.emit("same" if kind.dtype == INT.dtype else "cast", [word], INT))
