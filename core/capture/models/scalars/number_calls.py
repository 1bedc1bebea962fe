"""Functions of ``operator``, and functions on numbers that the kernel calls unchanged.

The latter are functions of ``math`` and builtins.
"""

from __future__ import annotations

import builtins
import operator
from typing import Dict, List, cast

import numpy as np

from pijit.core.capture.models import operators
from pijit.core.capture.models.containers import updates
from pijit.core.capture.models.numpy import library, shapes
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.models.registry import model_factory, models
from pijit.core.capture.models.scalars import conversions
from pijit.core.capture.models.scalars.complex import WRITTEN_OUT, call_complex
from pijit.core.capture.models.scalars.math import NUMPY_SCALARS, call_bool, call_float, call_int
from pijit.core.capture.values.describe import Arguments, Handler, describe, only
from pijit.core.capture.values.lattice import Abstract, Const, StackSlice, Tensor, number_type
from pijit.core.errors import Break
from pijit.core.graph.library import CLOCKS, FUNCTIONS, ON_COMPLEX, ON_INTEGERS, ON_NUMBERS
from pijit.core.graph.types import Scalar

BINARY: Dict[str, str] = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%",
                          "pow": "**", "and_": "&", "or_": "|", "xor": "^", "lshift": "<<", "rshift": ">>",
                          "matmul": "@"}
COMPARISONS: Dict[str, str] = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=", "is_": "is",
                               "is_not": "is not"}
CONTAINING: Dict[str, str] = {"contains": "in"}
INPLACE: Dict[str, str] = {"i" + name.rstrip("_"): symbol for name, symbol in BINARY.items()}
UNARY: Dict[str, str] = {"neg": "neg", "pos": "pos", "invert": "invert", "abs": "abs"}


@model_factory
def _binary(name: str, symbol: str) -> Handler:
    """The operator on two operands, as in ``x + y``."""
    def call(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        only(arguments, keywords, name, 2)
        return interpreter.binary(symbol, *arguments)
    return call


@model_factory
def _comparison(name: str, symbol: str) -> Handler:
    """The comparison of two operands, as in ``x < y``."""
    def call(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        only(arguments, keywords, name, 2)
        return interpreter.compare(symbol, *arguments)
    return call


@model_factory
def _containing(name: str, symbol: str) -> Handler:
    """``y in x``."""
    def call(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        only(arguments, keywords, name, 2)
        return interpreter.compare(symbol, arguments[1], arguments[0])
    return call


@model_factory
def _inplace(name: str, symbol: str) -> Handler:
    """The operator that may change its left operand, as in ``x += y``."""
    def call(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        only(arguments, keywords, name, 2)
        return operators.inplace(interpreter, symbol, *arguments)
    return call


@model_factory
def _unary(name: str, symbol: str) -> Handler:
    """The operator on one operand, as in ``-x``."""
    def call(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        only(arguments, keywords, name, 1)
        return interpreter.unary(symbol, *arguments)
    return call


@model_factory
def _as_it_is(path: str, kinds: str) -> Handler:
    """A function that the kernel calls, on numbers only: called with arrays it may warn."""
    def call(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        for value in arguments:
            kind = number_type(value)
            if kind is None or kind.dtype.kind not in kinds:
                raise Break("PJ203", operand=describe(value))
        return library.invoke(interpreter, FUNCTIONS[path], arguments, keywords)
    return call


@models(operator.getitem)
def call_getitem(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``operator.getitem(x, index)``."""
    only(arguments, keywords, "getitem", 2)
    return interpreter.subscript(*arguments)


@models(operator.setitem)
def call_setitem(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``operator.setitem(x, index, value)``."""
    only(arguments, keywords, "setitem", 3)
    owner, index, value = arguments
    interpreter.store_subscript(index, owner, value)
    return Const(None)


@models(operator.delitem)
def call_delitem(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``operator.delitem(x, index)``."""
    only(arguments, keywords, "delitem", 2)
    updates.remove(interpreter, *arguments)
    return Const(None)


@models(operator.not_)
def call_not(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``operator.not_(x)``."""
    return conversions.negated(interpreter, call_bool(interpreter, arguments, keywords))


@models(operator.index)
def call_index(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``operator.index(x)`` of an integer."""
    only(arguments, keywords, "index", 1)
    kind = number_type(arguments[0])
    if kind is None or kind.dtype.kind not in "iu":
        raise Break("PJ203", operand=describe(arguments[0]))
    return call_int(interpreter, arguments, keywords)


@models(builtins.slice)
def call_slice(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``slice(stop)`` and ``slice(start, stop, step)``."""
    only(arguments, keywords, "slice", 1, 2, 3)
    none = Const(None)
    parts = [none] + arguments if len(arguments) == 1 else arguments
    return StackSlice(tuple((parts + [none])[:3]))


@models(NUMPY_SCALARS, "item")
def _item(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``item()`` of a NumPy scalar: the Python number."""
    only(arguments, keywords, "item", 1)
    kind = cast(Scalar, number_type(arguments[0])).dtype.kind
    return CONVERSIONS[kind](interpreter, arguments, keywords)


@models(np.ndarray, "item")
def call_array_item(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``x.item()`` of an array with one element: the Python number."""
    only(arguments, keywords, "item", 1)
    if not isinstance(arguments[0], Tensor):
        raise Break("PJ203", operand=describe(arguments[0]))
    return _item(interpreter, [shapes.only_element(interpreter, arguments[0])], {})


@model_factory
def _of_class(path: str) -> Handler:
    """A method of a builtin class of numbers, called unchanged."""
    def call(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        only(arguments, keywords, path, 1)
        return library.invoke(interpreter, FUNCTIONS[path], arguments, keywords)
    return call


CONVERSIONS: Dict[str, Handler] = {"f": call_float, "i": call_int, "u": call_int, "b": call_bool,
                                   "c": call_complex}
models(operator.truth)(call_bool)
models(int, "bit_length")(_of_class("builtins.int.bit_length"))
models(float, "is_integer")(_of_class("builtins.float.is_integer"))
for _names, _make in ((BINARY, _binary), (COMPARISONS, _comparison), (UNARY, _unary), (INPLACE, _inplace),
                      (CONTAINING, _containing)):
    for _name, _symbol in _names.items():
        models(getattr(operator, _name))(_make(_name, _symbol))
for _paths, _kinds in ((CLOCKS, ""), (ON_NUMBERS, "fiub"), (ON_INTEGERS, "iub"), (ON_COMPLEX, "fiubc")):
    for _path in _paths:
        if _path in FUNCTIONS and _path not in WRITTEN_OUT:
            models(FUNCTIONS[_path].object)(_as_it_is(_path, _kinds))
