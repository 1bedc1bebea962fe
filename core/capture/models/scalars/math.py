"""Builtins, functions of ``math`` and NumPy's scalar types, called with numbers.

`catalogue` imports it. It must not capture a call whose bits differ from CPython's.
"""

from __future__ import annotations

import builtins
import math
from collections import Counter, defaultdict
from typing import Any, Callable, List, cast

import numpy as np

from pijit.core.capture.models.containers import characters, constructions, contents, expectations
from pijit.core.capture.models.containers.characters import is_text
from pijit.core.capture.models.containers.ranges import range_length
from pijit.core.capture.models.numpy import library, shapes
from pijit.core.capture.models.objects.special_methods import ask_special, is_object, length_special, truth_special
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.models.registry import model_factory, models
from pijit.core.capture.models.scalars import conversions
from pijit.core.capture.state.return_kinds import CallOutcome, CallOutcomes, part
from pijit.core.capture.values.describe import Arguments, constants_of, describe, only
from pijit.core.capture.values.key_value_types import SETS
from pijit.core.capture.values.lattice import (
    Abstract,
    Const,
    Instance,
    KnownContainer,
    Number,
    Tensor,
    class_of,
    number_type,
)
from pijit.core.errors import Break
from pijit.core.graph.library import FUNCTIONS
from pijit.core.graph.types import BOOL, FLAG, FLOAT, INT, WORD, Scalar, numpy_scalar
from pijit.guards.facts import is_among


@models(builtins.len)
def call_len(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``len`` of an array or a container."""
    only(arguments, keywords, "len", 1)
    value = arguments[0]
    if isinstance(value, Tensor) and value.type.ndim:
        shape = interpreter.context.base.static_shape(interpreter.use(value))
        return shapes.length(interpreter, value, 0) if shape is None else Const(shape[0])
    if is_text(value) and not (isinstance(value, Const) and value.source is None):
        return characters.text_length(interpreter, value)
    if (isinstance(value, Instance) and not isinstance(value, KnownContainer)
            and is_among(class_of(value), (list, tuple))):
        return Number(INT, interpreter.emit("same", [interpreter.emit("list_size", [interpreter.object_value(value)],
                                                                      WORD)], INT))
    if class_of(value) is range:
        return range_length(interpreter, value)
    looked_at = is_among(class_of(value), SETS + (defaultdict, Counter)) and not isinstance(value, Const)
    if expectations.is_changing(interpreter, value) or looked_at:
        return expectations.length_now(interpreter, value)
    length = contents.length_of(interpreter, value)
    if length is not None:
        return Const(length)
    found = length_special(interpreter, value)
    if found is None:
        raise Break("PJ203", operand=describe(value))
    return found


@models(builtins.abs)
def call_abs(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``abs`` of a number or an array."""
    only(arguments, keywords, "abs", 1)
    return interpreter.unary("abs", arguments[0])


@models(builtins.float)
def call_float(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``float`` of a number, a string, an array without dimensions, or an object with ``__float__``."""
    only(arguments, keywords, "float", 1)
    if class_of(arguments[0]) is str:
        return _parsed(interpreter, float, arguments[0])
    number = _as_number(interpreter, "__float__", FLOAT, arguments[0])
    kind = number_type(number)
    if kind is None or kind.dtype.kind not in "fiub" or kind.dtype.itemsize == 8 and kind.dtype.kind == "u":
        raise Break("PJ203", operand=describe(arguments[0]))
    if kind == FLOAT:
        return number  # an exact float is its own result
    value = interpreter.number_value(number)
    if kind.dtype == FLOAT.dtype:
        return Number(FLOAT, interpreter.emit("same", [value], FLOAT))
    return Number(FLOAT, interpreter.emit("cast", [value], FLOAT))


@models(builtins.int)
def call_int(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``int`` of an integer or a string, of a float that fits a machine word, of an array without dimensions, or of
    an object with ``__int__``."""
    only(arguments, keywords, "int", 1)
    if class_of(arguments[0]) is str:
        return _parsed(interpreter, int, arguments[0])
    if isinstance(arguments[0], Const) and type(arguments[0].object) is int:
        return arguments[0]  # the object itself
    number = _as_number(interpreter, "__int__", INT, arguments[0])
    kind = number_type(number)
    if kind is None or kind.dtype.char in "LQFD":
        raise Break("PJ203", operand=describe(arguments[0]))
    if kind == INT:
        return number  # an exact int is its own result
    value = interpreter.number_value(number)
    if kind.dtype == INT.dtype:
        return Number(INT, interpreter.emit("same", [value], INT))
    return Number(INT, interpreter.emit("cast", [value], INT, exits=kind.dtype.kind == "f"))


def _as_number(interpreter: Interpreter, name: str, wanted: Scalar, value: Abstract) -> Abstract:
    """The element of an array without dimensions, the result of a special method, or the value itself.

    Arrays with dimensions stay: newer versions of NumPy warn where these are converted.
    """
    if isinstance(value, Tensor):
        return shapes.only_element(interpreter, value) if not value.type.ndim else value
    found = ask_special(interpreter, name, value) if is_object(value) else None
    if found is not None and number_type(found) != wanted:
        raise Break("PJ203", operand=describe(value))
    return found if found is not None else value


def _parsed(interpreter: Interpreter, kind: type, value: Abstract) -> Abstract:
    """The number that a string represents; bytecode raises where there is none."""
    if not isinstance(value, Const):
        return characters.made_text(interpreter, "builtins." + kind.__name__, [value],
                                    INT if kind is int else FLOAT)
    try:
        return Const(kind(interpreter.constant(value)))
    except (ValueError, TypeError):
        raise Break("PJ203", operand=describe(value))


def extreme_of_numbers(interpreter: Interpreter, symbol: str, arguments: List[Abstract]) -> Abstract:
    """``min`` or ``max`` of two or more numbers: the first of equal ones, as Python compares.

    Of two numbers with different types either may be the result. The code that follows has a version for each.
    """
    known = constants_of(arguments)
    if known is not None and all(type(number) is int for number in known):
        return arguments[known.index((min if symbol == "<" else max)(known))]
    kinds = [number_type(argument) for argument in arguments]
    if any(other is None or other.dtype.kind == "c" for other in kinds):
        raise Break("PJ203", operand=" and ".join(map(describe, arguments)))
    if kinds[0] != kinds[-1]:
        flag = conversions.truth(interpreter, interpreter.compare(symbol, arguments[1], arguments[0]))
        first, second = (CallOutcome(argument, {}) for argument in arguments)
        name = "min" if symbol == "<" else "max"
        part(interpreter, CallOutcomes({0: first, 1: second}, name))
        return CallOutcomes(interpreter.either(flag, second, first), name)
    kind, best = cast(Scalar, kinds[0]), interpreter.number_value(arguments[0])
    for argument in arguments[1:]:
        value = interpreter.number_value(argument)
        flag = interpreter.emit("compare", [value, best], FLAG, {"operator": symbol})
        best = interpreter.emit("select", [flag, value, best], kind)
    return Number(kind, best)


@models(builtins.divmod)
def call_divmod(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``divmod`` of numbers and arrays: the pair of ``//`` and ``%``."""
    only(arguments, keywords, "divmod", 2)
    if any(isinstance(argument, Tensor) for argument in arguments):
        return library.invoke(interpreter, FUNCTIONS["divmod"], arguments, {})
    if any(number_type(argument) is None for argument in arguments):
        raise Break("PJ203", operand=" and ".join(map(describe, arguments)))
    return constructions.new_tuple(interpreter, [interpreter.binary("//", *arguments),
                                                 interpreter.binary("%", *arguments)])


@models(builtins.pow)
def call_pow(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``pow(x, y)``, and ``pow(x, y, z)`` of integers."""
    if len(arguments) == 3 and all(number_type(argument) == INT for argument in arguments):
        return library.invoke(interpreter, FUNCTIONS["builtins.pow"], arguments, keywords)
    only(arguments, keywords, "pow", 2)
    return interpreter.binary("**", *arguments)


@models(builtins.bool)
def call_bool(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``bool`` of a number, a container, or an array of one element."""
    only(arguments, keywords, "bool", 1)
    value = truth_special(interpreter, arguments[0])
    known = contents.known_truth(interpreter, value)
    if known is not None:
        return Const(known)
    if number_type(value) is None and not isinstance(value, Tensor):
        raise Break("PJ203", operand=describe(value))
    return Number(BOOL, interpreter.emit("flag", [conversions.truth(interpreter, value)], BOOL))


@model_factory
def _numpy_scalar(kind: Any) -> Callable[..., Abstract]:
    """``np.float64(x)`` and similar calls with one number."""
    want = numpy_scalar(np.dtype(kind))

    def call(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        only(arguments, keywords, kind.__name__, 1)
        have = number_type(arguments[0])
        if have is None or have.dtype.kind == "c" and want.dtype.kind in "iuf":
            raise Break("PJ203", operand=describe(arguments[0]))
        value = interpreter.number_value(arguments[0])
        if have.dtype == want.dtype:
            return Number(want, interpreter.emit("same", [value], want))
        if want.dtype.kind == "b":
            return Number(want, interpreter.emit("flag", [interpreter.emit("truth", [value], FLAG)], want))
        return Number(want,
                      interpreter.emit("cast", [value], want, exits=not np.can_cast(have.dtype, want.dtype, "safe")))
    return call


@model_factory
def _math(name: str) -> Callable[..., Abstract]:
    """Functions of ``math`` of a float, as the C library computes them; ``math.log`` also with a base."""
    def call(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        if name == "log" and len(arguments) == 2 and all(number_type(argument) is not None for argument in arguments):
            return library.invoke(interpreter, FUNCTIONS["math.log"], arguments, keywords)
        only(arguments, keywords, "math." + name, 1)
        kind = number_type(arguments[0])
        if kind is None or kind.dtype.kind not in "fi" or kind.dtype.itemsize != 8:
            raise Break("PJ203", operand=describe(arguments[0]))
        value = conversions.convert(interpreter, arguments[0], kind, FLOAT)
        return Number(FLOAT, interpreter.emit("libm", [value], FLOAT, {"function": name}, exits=True))
    return call


NUMPY_SCALARS = (np.float64, np.float32, np.float16, np.int64, np.int32, np.int16, np.int8, np.uint8, np.uint16,
                 np.uint32, np.uint64, np.bool_, np.complex128, np.complex64)
MATH_FUNCTIONS = ("sqrt", "sin", "cos", "tan", "exp", "log", "atan", "tanh", "sinh", "cosh", "asin", "acos", "log10",
                  "log1p", "expm1")

for _name in MATH_FUNCTIONS:
    models(getattr(math, _name))(_math(_name))
for _kind in NUMPY_SCALARS:
    models(_kind)(_numpy_scalar(_kind))
