"""Calls of NumPy's array functions and array methods: constructors, reductions, copies, conversions.

`catalogue` imports it. It must not compute with arrays of the program.
"""

from __future__ import annotations

from typing import Any, Callable, List, Optional

import numpy as np

from pijit.core.capture.models import operators
from pijit.core.capture.models.containers import contents
from pijit.core.capture.models.numpy import indexing, library
from pijit.core.capture.models.numpy.from_sequences import array_of
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.models.registry import model_factory, models
from pijit.core.capture.typing import axis_lengths
from pijit.core.capture.typing.result_types import operand_of
from pijit.core.capture.values.array_kinds import array_type
from pijit.core.capture.values.describe import Arguments, describe, only
from pijit.core.capture.values.lattice import NUMPY_CLASSES, Abstract, Const, Tensor, number_type, ssa_value
from pijit.core.errors import Break
from pijit.core.graph.ir import Value
from pijit.core.graph.library import CLIP, CLIP_WARNS, FUNCTIONS
from pijit.core.graph.library_helpers import constant_copy
from pijit.core.graph.types import CAPTURED_DTYPES, WORD, Array, LengthHint
from pijit.guards.facts import is_among, is_exactly


def shape_words(interpreter: Interpreter, shape: Abstract) -> List[Value]:
    """The sizes of an array, which a number, or a tuple or list of numbers, gives."""
    items = [shape] if number_type(shape) is not None else contents.items_of(interpreter, shape)
    if not items:
        raise Break("PJ210", callee="zero-dimensional array")
    for item in items:
        kind = number_type(item)
        if kind is None or kind.dtype.kind != "i":
            raise Break("PJ203", operand=describe(item))
    return [interpreter.word(item) for item in items]


def _lengths(interpreter: Interpreter, shape: Abstract) -> LengthHint:
    """The expected lengths of the axes of a new array."""
    return axis_lengths.of_sizes([shape] if number_type(shape) is not None else
                                 contents.items_of(interpreter, shape) or [])


_DTYPE_NAMES = frozenset(
    [name for kind in CAPTURED_DTYPES for name in (kind.char, kind.name, kind.str, kind.str[1:])]
    + ["bool", "int", "float", "complex", "single", "double", "csingle", "cdouble", "intp", "uintp", "long",
       "longlong"])
_DTYPE_CLASSES = (None, bool, int, float, complex) + NUMPY_CLASSES


def dtype_argument(value: Optional[Abstract], default: Any) -> np.dtype[Any]:
    """The dtype that an argument names; ``default`` if there is none."""
    if value is None:
        usual: np.dtype[Any] = np.dtype(default)
        return usual
    if not isinstance(value, Const):
        raise Break("PJ211", dtype=describe(value))
    wanted = value.object
    known = wanted in _DTYPE_NAMES if type(wanted) is str else is_among(wanted, _DTYPE_CLASSES)
    if not known and not issubclass(type(wanted), np.dtype):  # others may run code, or warn
        raise Break("PJ215", type=describe(value))
    dtype: np.dtype[Any] = np.dtype(wanted if wanted is not None else default)
    if array_type(np.empty(0, dtype)) is None:
        raise Break("PJ215", type=dtype)
    return dtype


@model_factory
def _constructor(name: str, fill: Optional[int]) -> Callable[..., Abstract]:
    """``np.zeros(shape, dtype)`` and similar constructors."""
    def call(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        named = dict(zip(("shape", "dtype"), arguments))
        if len(arguments) > 2 or set(keywords) - {"shape", "dtype"} or set(keywords) & set(named):
            raise Break("PJ211", callee=name)
        named.update(keywords)
        if "shape" not in named:
            raise Break("PJ211", callee=name)
        dtype = dtype_argument(named.get("dtype"), np.float64)
        words = shape_words(interpreter, named["shape"])
        result = Array(dtype, len(words), "C", lengths=_lengths(interpreter, named["shape"]))
        return Tensor(result, interpreter.emit("alloc", words, result, {"fill": fill, "order": "C"}, exits=True))
    return call


@model_factory
def _like(name: str, fill: Optional[int]) -> Callable[..., Abstract]:
    """``np.zeros_like(x)`` and similar functions, for C- and F-ordered arrays."""
    def call(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        model = arguments[0] if arguments else None
        if len(arguments) != 1 or set(keywords) - {"dtype"} or not isinstance(model, Tensor) or model.type.ndim == 0:
            raise Break("PJ211", callee=name)
        if model.type.layout == "A" and model.type.ndim > 1:
            raise Break("PJ210", callee="%s of a strided array" % name)
        dtype = dtype_argument(keywords.get("dtype"), model.type.dtype)
        words = [interpreter.emit("dim", [ssa_value(model)], WORD, {"axis": k}) for k in range(model.type.ndim)]
        order = "F" if model.type.layout == "F" else "C"
        result = Array(dtype, model.type.ndim, order, lengths=model.type.lengths)
        return Tensor(result, interpreter.emit("alloc", words, result, {"fill": fill, "order": order}, exits=True))
    return call


@models(np.dtype)
def call_dtype(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``np.dtype(kind)`` of a known class, name or dtype: a constant."""
    only(arguments, keywords, "dtype", 1)
    return Const(dtype_argument(arguments[0], np.float64))


@models(np.array)
def call_array(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``np.array(xs, dtype)`` of lists and tuples of numbers."""
    named = dict(zip(("object", "dtype"), arguments), **keywords)
    if not arguments or len(named) != len(arguments) + len(keywords) or set(named) - {"object", "dtype"}:
        raise Break("PJ211", callee="array")
    given = named.get("dtype")
    made = array_of(interpreter, arguments[0],
                    dtype_argument(given, None) if given not in (None, Const(None)) else None)
    if made is None:
        raise Break("PJ203", operand=describe(arguments[0]))
    return made


@models(constant_copy)
def call_constant_copy(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """A copy of an array that is a constant for gradients."""
    return library.invoke(interpreter, FUNCTIONS["helpers.constant_copy"], arguments, keywords)


@models(np.ndarray, "copy")
def call_copy(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``x.copy()``: in C order, whatever the layout of x."""
    only(arguments, keywords, "copy", 1)
    model = arguments[0]
    if not isinstance(model, Tensor) or model.type.ndim == 0:
        raise Break("PJ203", operand=describe(model))
    words = [interpreter.emit("dim", [ssa_value(model)], WORD, {"axis": k}) for k in range(model.type.ndim)]
    result = Array(model.type.dtype, model.type.ndim, "C", lengths=model.type.lengths)
    value = interpreter.emit("alloc", words, result, {"fill": None, "order": "C"}, exits=True)
    interpreter.emit("assign", [value, ssa_value(model)], None, exits=True)
    return Tensor(result, value)


def _stored(interpreter: Interpreter, value: Abstract, dtype: np.dtype[Any]) -> Value:
    """A number as an element of a dtype; exits where it does not fit."""
    return indexing.stored_scalar(interpreter, value, operand_of(value), dtype)


@models(np.ndarray, "astype")
def call_astype(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``x.astype(dtype)`` to a type that holds all numbers, or to float16: always a copy, in the memory order of x."""
    only(arguments, keywords, "astype", 2)
    model = arguments[0]
    dtype = dtype_argument(arguments[1], np.float64)
    if not isinstance(model, Tensor) or model.type.ndim == 0 or model.type.layout == "A" and model.type.ndim > 1:
        raise Break("PJ210", callee="astype")
    have = model.type.dtype
    rounds = have.kind == "f" and dtype == np.float16
    if not np.can_cast(have, dtype, "safe") and have.kind not in "iub" and not rounds:
        raise Break("PJ210", callee="astype from %s to %s" % (have, dtype))
    words = [interpreter.emit("dim", [ssa_value(model)], WORD, {"axis": k}) for k in range(model.type.ndim)]
    order = "F" if model.type.layout == "F" else "C"
    result = Array(dtype, model.type.ndim, order, lengths=model.type.lengths)
    value = interpreter.emit("alloc", words, result, {"fill": None, "order": order}, exits=True)
    interpreter.emit("assign", [value, ssa_value(model)], None, exits=True)
    return Tensor(result, value).shaped_as(model)


@models(np.full)
def call_full(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``np.full(shape, number, dtype)`` where the number becomes an element without a warning."""
    named = dict(zip(("shape", "fill_value", "dtype"), arguments))
    if len(arguments) > 3 or set(keywords) - {"shape", "fill_value", "dtype"} or set(keywords) & set(named):
        raise Break("PJ211", callee="full")
    named.update(keywords)
    kind = number_type(named["fill_value"]) if "fill_value" in named else None
    if kind is None or "shape" not in named:
        raise Break("PJ211", callee="full")
    dtype = dtype_argument(named.get("dtype"), kind.dtype)
    words = shape_words(interpreter, named["shape"])
    stored = _stored(interpreter, named["fill_value"], dtype)
    result = Array(dtype, len(words), "C", lengths=_lengths(interpreter, named["shape"]))
    value = interpreter.emit("alloc", words, result, {"fill": None, "order": "C"}, exits=True)
    interpreter.emit("assign", [value, stored], None, exits=True)
    return Tensor(result, value)


@models(np.ndarray, "fill")
def call_fill(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``x.fill(number)`` where the number becomes an element without a warning."""
    only(arguments, keywords, "fill", 2)
    target = arguments[0]
    if not isinstance(target, Tensor) or not target.type.writeable or target.type.ndim == 0:
        raise Break("PJ203", operand=describe(target))
    stored = _stored(interpreter, arguments[1], target.type.dtype)
    interpreter.emit("assign", [ssa_value(target), stored], None, exits=True)
    return Const(None)


@model_factory
def _clip(low: str, high: str, *needed: str) -> Callable[..., Abstract]:
    """``np.clip(x, low, high)`` with both bounds or one: constants, arrays or (where NaN is no special case)
    numbers.

    ``needed`` are the parameters that must be given.
    """
    def call(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        names = ("a", low, high, "out")
        named = dict(zip(names, arguments), **keywords)
        if len(named) != len(arguments) + len(keywords) or set(named) - set(names) or set(needed) - set(named):
            raise Break("PJ211", callee="clip")
        array, out = named["a"], named.get("out", Const(None))
        bounds = [named.get(name, Const(None)) for name in (low, high)]
        if not isinstance(array, Tensor) or array.type.dtype.kind not in "fiu":
            raise Break("PJ203", operand=describe(array))
        if not (out == Const(None) or isinstance(out, Tensor) and out.type.writeable):
            raise Break("PJ203", operand=describe(out))
        given = [bound for bound in bounds if bound != Const(None)]
        if not given or not all(_bounds(array, bound) for bound in given):
            raise Break("PJ214", operands="a bound of clip")
        ufunc = CLIP if len(given) == 2 else np.minimum if bounds[0] == Const(None) else np.maximum
        return operators.ufunc_call(interpreter, ufunc, [array] + given,
                                    out=out if isinstance(out, Tensor) else None)
    return call


def _bounds(array: Tensor, bound: Abstract) -> bool:
    """Whether a bound of clip is like the elements of an array, and is no number that may be NaN where that warns."""
    kind = bound.type.dtype if isinstance(bound, Tensor) else getattr(number_type(bound), "dtype", None)
    if kind is None or kind.kind not in ("fiu" if array.type.dtype.kind == "f" else "iu"):
        return False
    if isinstance(bound, Const):
        return is_exactly(bound.object, (int, float)) and bound.object == bound.object
    return isinstance(bound, Tensor) or not CLIP_WARNS or kind.kind != "f"


models(np.clip)(_clip("a_min", "a_max", "a", "a_min", "a_max"))
models(np.ndarray, "clip")(_clip("min", "max", "a"))


@models(np.ndarray, "conj", "conjugate")
def conjugated_array(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``x.conj()`` of a complex array; of a real one NumPy's method returns the array itself,
    which is not captured."""
    only(arguments, keywords, "conj", 1)
    if not isinstance(arguments[0], Tensor) or arguments[0].type.dtype.kind != "c":
        raise Break("PJ210", callee="conj of real numbers")
    return operators.ufunc_call(interpreter, np.conjugate, arguments)


for _name, _fill in (("zeros", 0), ("ones", 1), ("empty", None)):
    models(getattr(np, _name))(_constructor(_name, _fill))
    models(getattr(np, _name + "_like"))(_like(_name + "_like", _fill))
