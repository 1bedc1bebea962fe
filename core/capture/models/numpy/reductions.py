"""Calls of NumPy's reductions and statistics on arrays: sums, means, variances, along some axes or all.

`catalogue` imports it. It must not change the order in which NumPy adds.
"""

from __future__ import annotations

from typing import Any, Callable, List, Optional, Tuple, Union, cast

import numpy as np

from pijit.core import _launcher
from pijit.core.capture.models import operators
from pijit.core.capture.models.numpy import library, shapes
from pijit.core.capture.models.numpy.arrays import dtype_argument
from pijit.core.capture.models.numpy.from_sequences import as_array
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.models.registry import model_factory, models
from pijit.core.capture.typing import axis_lengths, result_types
from pijit.core.capture.values.describe import Arguments, describe
from pijit.core.capture.values.lattice import Abstract, Const, Number, Tensor, ssa_value
from pijit.core.errors import Break
from pijit.core.graph.ir import Value
from pijit.core.graph.library import FUNCTIONS
from pijit.core.graph.types import FLAG, INT, Array, numpy_scalar

EMPTY_HAVE_STRIDES = np.empty(0).strides != (0,)
"""Whether empty arrays have non-zero strides, as before NumPy 1.23. Those of reductions then differ from those of
other results, so bytecode makes them."""

HALF_DIVIDES_AS_DOUBLE = np.true_divide(np.ones(1, "e"), np.intp(1)).dtype == np.float64
"""Whether variances of float16 are divided as float64. Before NumPy 2 the type depends on the number of elements."""

_SUMMED_AS = {np.dtype(np.float16): np.dtype(np.float32)}
"""The dtype of the sum from which NumPy computes a mean, where it is not that of the array."""

_DIVIDED_AS = {np.dtype(np.float16): np.dtype(np.float64)}
"""The dtype in which kernels divide sums that are arrays, where it is not that of the sum."""

Axes = Union[int, Tuple[int, ...], None]
"""One axis, several in their order, or None for all."""


@model_factory
def _reduction(name: str, ufunc: np.ufunc) -> Callable[..., Abstract]:
    """``np.sum(x)``, ``x.sum(axis=k, keepdims=True)`` and similar calls, as NumPy's ``ufunc.reduce`` computes them."""
    def call(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        array, axis, keepdims = _reduced(interpreter, name, arguments, _without(keywords, "dtype"))
        dtype = _dtype_given(interpreter, name, array, keywords)
        return _reduce(interpreter, name, ufunc, array, axis, keepdims, dtype)
    return call


def _without(keywords: Arguments, name: str) -> Arguments:
    return {key: value for key, value in keywords.items() if key != name}


def _dtype_given(interpreter: Interpreter, name: str, array: Tensor, keywords: Arguments) -> Optional[np.dtype[Any]]:
    """The dtype that a call of a sum names; None if it names none. Kernels add up float16 as float32."""
    given = keywords.get("dtype", Const(None))
    if given == Const(None):
        if "dtype" in keywords and name in ("max", "min"):
            raise Break("PJ211", callee=name)
        return None
    dtype = dtype_argument(given, None)
    if (array.type.dtype.char, dtype.char) != ("e", "f") or name in ("max", "min") or _is_for_gradient(interpreter):
        raise Break("PJ210", callee="%s with a dtype" % name)
    return dtype


def _reduced(interpreter: Interpreter, name: str, arguments: List[Abstract],
             keywords: Arguments) -> Tuple[Tensor, Axes, bool]:
    """(array, axes, keepdims) of a call of a reduction."""
    named = dict(zip(("a", "axis"), arguments))
    if len(arguments) not in (1, 2) or set(keywords) - {"axis", "keepdims"} or set(keywords) & set(named):
        raise Break("PJ211", callee=name)
    named.update(keywords)
    array = as_array(interpreter, named["a"])
    if not isinstance(array, Tensor) or array.type.ndim == 0:
        raise Break("PJ203", operand=describe(array))
    keepdims = interpreter.constant(named.get("keepdims", Const(False)))
    if type(keepdims) is not bool:
        raise Break("PJ211", callee=name)
    return array, _axes(interpreter, name, named.get("axis", Const(None)), array.type.ndim), keepdims


def one_axis(interpreter: Interpreter, name: str, given: Abstract, ndim: int) -> Optional[int]:
    """The one axis that an argument names; None for all axes."""
    axes = _axes(interpreter, name, given, ndim)
    if isinstance(axes, tuple):
        raise Break("PJ211", callee=name)
    return axes


def _axes(interpreter: Interpreter, name: str, given: Abstract, ndim: int) -> Axes:
    """The axes that an argument names."""
    if given == Const(None):
        return None
    known = interpreter.constant(given)
    axes = known if type(known) is tuple else (known,)
    if not all(type(axis) is int and -ndim <= axis < ndim for axis in axes):
        raise Break("PJ211", callee=name)
    several = {axis % ndim for axis in axes}
    if not axes or len(several) != len(axes):
        raise Break("PJ211", callee=name)
    return several.pop() if len(axes) == 1 else None if len(axes) == ndim else tuple(sorted(several))


def leave_if_empty(interpreter: Interpreter, array: Tensor) -> None:
    if EMPTY_HAVE_STRIDES:
        interpreter.emit("require", [interpreter.emit("truth", [shapes.size(interpreter, array)], FLAG)], None,
                         exits=True)


def _in_order(interpreter: Interpreter, array: Tensor, axis: Axes) -> Tensor:
    """The array as one in C order, if that is likely and helps: the strides decide in which order NumPy adds."""
    kind = array.type
    helps = isinstance(axis, tuple) or axis is not None and kind.ndim > 2
    if not helps or kind.layout != "A" or not (kind.computed and kind.ordered):
        return array
    ordered = Array(kind.dtype, kind.ndim, "C", kind.writeable, lengths=kind.lengths)
    return Tensor(ordered, interpreter.emit("in_order", [ssa_value(array)], ordered, exits=True))


def _reduce(interpreter: Interpreter, name: str, ufunc: np.ufunc, array: Tensor, axis: Axes,
            keepdims: bool = False, dtype: Optional[np.dtype[Any]] = None) -> Abstract:
    """The reduction of an array, in its dtype or in ``dtype``."""
    wanted = array.type.dtype if dtype is None else dtype
    array = _in_order(interpreter, array, axis)
    if isinstance(axis, tuple) and (ufunc is not np.add or array.type.layout != "C"):
        raise Break("PJ210", callee="%s along several axes" % name)
    sample = np.ones((2,) * array.type.ndim, array.type.dtype, order="F" if array.type.layout == "F" else "C")
    result = result_types.type_of_result(ufunc.reduce(sample, axis=axis, keepdims=keepdims, dtype=dtype))
    converts = wanted != array.type.dtype
    if result.dtype != wanted or converts and ufunc is not np.add \
            or not _launcher.reduce_supported(ufunc, result.dtype.num):
        raise Break("PJ210", callee="%s of %s" % (name, array.type.dtype))
    if isinstance(result, Array) and array.type.layout != "C" and result.ndim > 1:
        raise Break("PJ210", callee="%s along an axis of a strided array" % name)
    if isinstance(result, Array):
        leave_if_empty(interpreter, array)
        result = result.expecting(axis_lengths.of_reduction(array.type, axis, keepdims))
    attrs = {"ufunc": ufunc, "axis": axis, "keepdims": keepdims, "types": result.dtype.char}
    value = interpreter.emit("reduce", [ssa_value(array)], result, attrs, exits=True)
    return Tensor(result, value) if isinstance(result, Array) else Number(result, value)


@models(np.mean)
@models(np.ndarray, "mean")
def call_mean(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``x.mean(axis)`` of floats: NumPy's sum divided by the number of elements. For empty arrays bytecode warns."""
    array, axis, keepdims = _reduced(interpreter, "mean", arguments, _without(keywords, "dtype"))
    dtype = _dtype_given(interpreter, "mean", array, keywords) or array.type.dtype
    if dtype in _SUMMED_AS and _is_for_gradient(interpreter):
        if isinstance(axis, tuple):
            raise Break("PJ210", callee="mean of float16 along several axes")
        given = {} if axis is None else {"axis": Const(axis)}
        return library.invoke(interpreter, FUNCTIONS["mean"], [array], dict(given, keepdims=Const(keepdims)))
    summed = _SUMMED_AS.get(dtype, dtype)
    count = _count(interpreter, array, axis, keepdims, summed)
    return _mean(interpreter, "mean", array, axis, keepdims, count, (summed, dtype))


def _is_for_gradient(interpreter: Interpreter) -> bool:
    """Whether the capture is for a gradient. With float16 it follows the rules of whole functions, as the tape does."""
    return not interpreter.context.options.handlers


def _count(interpreter: Interpreter, array: Tensor, axis: Axes, keepdims: bool, divided: np.dtype[Any],
           less: int = 0) -> Value:
    """The number of elements for each result, minus ``less``: a positive Python int.

    Where results are arrays, it is exact in the dtype in which they are divided.
    """
    if divided.char not in "fd":
        raise Break("PJ203", operand=describe(array))
    size = shapes.size(interpreter, array, axis if axis is None or isinstance(axis, tuple) else (axis,))
    if less:
        size = interpreter.emit("sub", [size, interpreter.number_value(Const(less))], INT, exits=True)
    bounds = [(">", 0)]
    if keepdims or axis is not None and array.type.ndim > 1:
        bounds.append(("<=", 2 ** (np.finfo(divided).nmant + 1)))
    for symbol, bound in bounds:
        flag = interpreter.emit("compare", [size, interpreter.number_value(Const(bound))], FLAG, {"operator": symbol})
        interpreter.emit("require", [flag], None, exits=True)
    return size


def _mean(interpreter: Interpreter, name: str, array: Tensor, axis: Axes, keepdims: bool, count: Value,
          dtypes: Tuple[np.dtype[Any], np.dtype[Any]]) -> Abstract:
    """The sum divided by ``count``; ``dtypes`` are those of the sum and of the result. NumPy may divide float32 as
    float64: the result is the same where both are exact in float32."""
    summed, dtype = dtypes
    total = _reduce(interpreter, name, np.add, array, axis, keepdims, summed)
    if isinstance(total, Tensor):
        kind = numpy_scalar(_DIVIDED_AS.get(summed, summed))
        divisor = Number(kind, interpreter.emit("cast", [count], kind, exits=True))
        quotient = cast(Tensor, operators.ufunc_call(interpreter, np.true_divide, [total, divisor]))
        return quotient if quotient.type.dtype == dtype else library.invoke(
            interpreter, FUNCTIONS["ndarray.astype"], [quotient, Const(dtype)], {})
    double, kind = numpy_scalar(np.dtype(np.float64)), numpy_scalar(dtype)
    value = ssa_value(cast(Number, total))
    if summed != double.dtype:
        value = interpreter.emit("cast", [value], double)
    ratio = interpreter.emit("truediv", [value, interpreter.emit("cast", [count], double)], double, exits=True)
    return Number(kind, ratio if kind == double else interpreter.emit("cast", [ratio], kind, exits=True))


@model_factory
def _variance(name: str, root: bool) -> Callable[..., Abstract]:
    """``x.var(axis, ddof=1)`` and ``x.std()`` of floats, by the steps of NumPy's Python code."""
    def call(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        less = interpreter.constant(keywords.get("ddof", Const(0)))
        if type(less) is not int or less < 0:
            raise Break("PJ211", callee=name)
        array, axis, keepdims = _reduced(interpreter, name, arguments, _without(_without(keywords, "ddof"), "dtype"))
        dtype = _dtype_given(interpreter, name, array, keywords) or array.type.dtype
        if dtype == np.float16 and (_is_for_gradient(interpreter) or not HALF_DIVIDES_AS_DOUBLE):
            raise Break("PJ210", callee="%s of float16" % name)
        divided = _DIVIDED_AS.get(dtype, dtype)
        keeps = axis is not None or dtype not in _DIVIDED_AS  # a number has the bits of an array of one element
        count = _count(interpreter, array, axis, keeps, divided)
        mean = _mean(interpreter, name, array, axis, keeps, count, (dtype, dtype))
        centred = operators.ufunc_call(interpreter, np.subtract, [array, mean])
        squares = cast(Tensor, operators.ufunc_call(interpreter, np.multiply, [centred, centred]))
        count = _count(interpreter, array, axis, keepdims, divided, less)
        result = _mean(interpreter, name, squares, axis, keepdims, count, (dtype, dtype))
        return operators.ufunc_call(interpreter, np.sqrt, [result]) if root else result
    return call


for _name, _ufunc in (("sum", np.add), ("prod", np.multiply), ("max", np.maximum), ("min", np.minimum)):
    models(getattr(np, _name))(_reduction(_name, _ufunc))
    models(np.ndarray, _name)(_reduction(_name, _ufunc))
for _name in ("var", "std"):
    models(getattr(np, _name))(_variance(_name, _name == "std"))
    models(np.ndarray, _name)(_variance(_name, _name == "std"))
