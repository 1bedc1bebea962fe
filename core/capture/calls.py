"""Calls that become operations: NumPy ufuncs and array constructors, builtins, array methods, math functions.

``CALLS`` has one row per callable: the object and the handler that turns its arguments into operations.
"""

from __future__ import annotations

import builtins
import math
from typing import Any, Callable, Dict, List, Optional, Tuple

import numpy as np

from .. import _launcher
from ..bytecode.decode import Instr
from ..errors import Break
from ..graph.ir import Value
from ..graph.types import Array, FLOAT, INT, Scalar, WORD
from . import sampling
from .operators import describe, operand_of
from .values import Abstract, Const, Method, Null, Number, Range, Sequence, Tensor, array_type, number_type

Arguments = Dict[str, Abstract]


class Calls:
    """Mixin of the interpreter: CALL_FUNCTION, CALL_FUNCTION_KW, CALL_METHOD."""

    emit: Callable[..., Optional[Value]]
    pop: Callable[[], Abstract]
    pop_many: Callable[[int], List[Abstract]]
    push: Callable[[Abstract], None]
    word: Callable[[Abstract], Value]
    number_value: Callable[[Abstract], Value]
    unary: Callable[..., Abstract]
    convert: Callable[..., Value]
    ufunc_call: Callable[..., Abstract]
    dimension: Callable[..., Value]
    transposed: Callable[..., Abstract]

    def op_CALL_FUNCTION(self, instr: Instr) -> None:
        arguments = self.pop_many(instr.arg or 0)
        self.push(self.call(self.pop(), arguments, {}))

    def op_CALL_FUNCTION_KW(self, instr: Instr) -> None:
        names = self.pop()
        if not isinstance(names, Const) or type(names.object) is not tuple:
            raise Break("PJ211")
        values = self.pop_many(instr.arg or 0)
        split = len(values) - len(names.object)
        self.push(self.call(self.pop(), values[:split], dict(zip(names.object, values[split:]))))

    def op_CALL_METHOD(self, instr: Instr) -> None:
        arguments = self.pop_many(instr.arg or 0)
        callee = self.pop()
        if not isinstance(self.pop(), Null):
            raise Break("PJ201", callee=describe(callee))
        self.push(self.call(callee, arguments, {}))

    def call(self, callee: Abstract, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        """The result of a call, or Break."""
        if isinstance(callee, Method):
            return self._call_method(callee, arguments, keywords)
        if not isinstance(callee, Const):
            raise Break("PJ201", callee=describe(callee))
        target = callee.object
        if isinstance(target, np.ufunc):
            return self._call_ufunc(target, arguments, keywords)
        handler = CALLS.get(id(target))
        if handler is None:
            kind = "PJ210" if (getattr(target, "__module__", None) or "").split(".")[0] == "numpy" else "PJ201"
            raise Break(kind, callee=getattr(target, "__name__", None) or describe(callee))
        return handler(self, arguments, keywords)

    def _call_ufunc(self, ufunc: np.ufunc, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        out = keywords.get("out")
        if set(keywords) - {"out"} or (out is not None and not isinstance(out, Tensor)):
            raise Break("PJ211", callee=ufunc.__name__)
        if len(arguments) == ufunc.nin + 1 and out is None and isinstance(arguments[-1], Tensor):
            arguments, out = arguments[:-1], arguments[-1]
        if len(arguments) != ufunc.nin:
            raise Break("PJ211", callee=ufunc.__name__)
        if out is not None and not out.type.writeable:  # type: ignore[attr-defined]
            raise Break("PJ203", operand="read-only array")
        return self.ufunc_call(ufunc, arguments, out=out)

    def _call_method(self, method: Method, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        handler = METHODS.get(method.name)
        if handler is None:
            raise Break("PJ210", callee=method.name)
        return handler(self, [method.owner] + arguments, keywords)


def _only(arguments: List[Abstract], keywords: Arguments, name: str, *counts: int) -> None:
    if keywords or len(arguments) not in counts:
        raise Break("PJ211", callee=name)


def call_range(self: Any, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``range(...)`` of integers that fit a machine word."""
    _only(arguments, keywords, "range", 1, 2, 3)
    for argument in arguments:
        kind = number_type(argument)
        if kind is None or kind.dtype.kind != "i":
            raise Break("PJ203", operand=describe(argument))
    first, last = ([Const(0)] + arguments if len(arguments) == 1 else arguments)[:2]
    step = arguments[2].object if len(arguments) == 3 and isinstance(arguments[2], Const) else 1
    if len(arguments) == 3 and not isinstance(arguments[2], Const) or type(step) is not int or step == 0:
        raise Break("PJ209", type="range with a computed step")
    return Range(self.word(first), self.word(_range_length(self, first, last, step)), step)


def _range_length(self: Any, first: Abstract, last: Abstract, step: int) -> Abstract:
    """``len(range(first, last, step))``: the rounded quotient where the step leads towards ``last``, else 0."""
    one = Const(1 if step > 0 else -1)
    distance = self.binary("-", last, first) if first != Const(0) else last
    steps = distance
    if step not in (1, -1):
        steps = self.binary("-", self.binary("+", distance, Const(step)), one)
    if step != 1:
        steps = self.binary("//", steps, Const(step))
    ahead = self.compare(">" if step > 0 else "<", distance, Const(0))
    if isinstance(ahead, Const):
        return steps if ahead.object else Const(0)
    return self.binary("*", ahead, steps)


def call_len(self: Any, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``len`` of an array or a tuple."""
    _only(arguments, keywords, "len", 1)
    value = arguments[0]
    if isinstance(value, Tensor) and value.type.ndim:
        return Number(INT, self.dimension(value, 0))
    if isinstance(value, Sequence):
        return Const(len(value.items))
    raise Break("PJ203", operand=describe(value))


def call_abs(self: Any, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``abs`` of a number or an array."""
    _only(arguments, keywords, "abs", 1)
    return self.unary("abs", arguments[0])


def call_float(self: Any, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``float`` of a number."""
    _only(arguments, keywords, "float", 1)
    kind = number_type(arguments[0])
    if kind is None or kind.dtype.kind not in "fiub" or kind.dtype.itemsize == 8 and kind.dtype.kind == "u":
        raise Break("PJ203", operand=describe(arguments[0]))
    value = self.number_value(arguments[0])
    if kind.dtype == FLOAT.dtype:
        return Number(FLOAT, value if kind == FLOAT else self.emit("same", [value], FLOAT))
    return Number(FLOAT, self.emit("cast", [value], FLOAT))


def call_int(self: Any, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``int`` of an integer; of a float when it fits a machine word."""
    _only(arguments, keywords, "int", 1)
    kind = number_type(arguments[0])
    if kind is None or kind.dtype.char in "LQ":
        raise Break("PJ203", operand=describe(arguments[0]))
    value = self.number_value(arguments[0])
    if kind.dtype == INT.dtype:
        return Number(INT, value if kind == INT else self.emit("same", [value], INT))
    return Number(INT, self.emit("cast", [value], INT, exits=kind.dtype.kind == "f"))


def _math(name: str) -> Callable[..., Abstract]:
    def call(self: Any, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        _only(arguments, keywords, "math." + name, 1)
        kind = number_type(arguments[0])
        if kind is None or kind.dtype.kind not in "fi" or kind.dtype.itemsize != 8:
            raise Break("PJ203", operand=describe(arguments[0]))
        value = self.convert(arguments[0], kind, FLOAT)
        return Number(FLOAT, self.emit("libm", [value], FLOAT, {"function": name}, exits=True))
    return call


def _shape_words(self: Any, shape: Abstract) -> List[Value]:
    if isinstance(shape, Sequence):
        items: List[Abstract] = list(shape.items)
    elif isinstance(shape, Const) and type(shape.object) is tuple:
        items = [Const(item) for item in shape.object]
    else:
        items = [shape]
    if not items:
        raise Break("PJ210", callee="zero-dimensional array")
    for item in items:
        kind = number_type(item)
        if kind is None or kind.dtype.kind != "i":
            raise Break("PJ203", operand=describe(item))
    return [self.word(item) for item in items]


def _dtype_argument(value: Optional[Abstract], default: Any) -> np.dtype:
    if value is None:
        return np.dtype(default)
    if not isinstance(value, Const):
        raise Break("PJ211", dtype=describe(value))
    try:
        dtype = np.dtype(value.object) if value.object is not None else np.dtype(default)
    except TypeError:
        raise Break("PJ215", type=describe(value))
    if array_type(np.empty(0, dtype)) is None:
        raise Break("PJ215", type=dtype)
    return dtype


def _constructor(name: str, fill: Optional[int]) -> Callable[..., Abstract]:
    """``np.zeros(shape, dtype)`` and its kin."""
    def call(self: Any, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        named = dict(zip(("shape", "dtype"), arguments))
        if len(arguments) > 2 or set(keywords) - {"shape", "dtype"} or set(keywords) & set(named):
            raise Break("PJ211", callee=name)
        named.update(keywords)
        if "shape" not in named:
            raise Break("PJ211", callee=name)
        dtype = _dtype_argument(named.get("dtype"), np.float64)
        words = _shape_words(self, named["shape"])
        result = Array(dtype, len(words), "C")
        return Tensor(result, self.emit("alloc", words, result, {"fill": fill, "order": "C"}, exits=True))
    return call


def _like(name: str, fill: Optional[int]) -> Callable[..., Abstract]:
    """``np.zeros_like(x)`` and its kin for C- and F-ordered arrays."""
    def call(self: Any, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        model = arguments[0] if arguments else None
        if len(arguments) != 1 or set(keywords) - {"dtype"} or not isinstance(model, Tensor) or model.type.ndim == 0:
            raise Break("PJ211", callee=name)
        if model.type.layout == "A" and model.type.ndim > 1:
            raise Break("PJ210", callee="%s of a strided array" % name)
        dtype = _dtype_argument(keywords.get("dtype"), model.type.dtype)
        words = [self.emit("dim", [model.value], WORD, {"axis": k}) for k in range(model.type.ndim)]
        order = "F" if model.type.layout == "F" else "C"
        result = Array(dtype, model.type.ndim, order)
        return Tensor(result, self.emit("alloc", words, result, {"fill": fill, "order": order}, exits=True))
    return call


def call_copy(self: Any, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``x.copy()``: C order, whatever x's layout."""
    _only(arguments, keywords, "copy", 1)
    model = arguments[0]
    if not isinstance(model, Tensor) or model.type.ndim == 0:
        raise Break("PJ203", operand=describe(model))
    words = [self.emit("dim", [model.value], WORD, {"axis": k}) for k in range(model.type.ndim)]
    result = Array(model.type.dtype, model.type.ndim, "C")
    value = self.emit("alloc", words, result, {"fill": None, "order": "C"}, exits=True)
    self.emit("assign", [value, model.value], None, exits=True)
    return Tensor(result, value)


def _reduction(name: str, ufunc: np.ufunc) -> Callable[..., Abstract]:
    """``np.sum(x)``, ``x.sum(axis=k)`` and their kin, as NumPy's ``ufunc.reduce`` does them."""
    def call(self: Any, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        named = dict(zip(("a", "axis"), arguments))
        if len(arguments) not in (1, 2) or set(keywords) - {"axis"} or set(keywords) & set(named):
            raise Break("PJ211", callee=name)
        named.update(keywords)
        array, axis = named["a"], named.get("axis", Const(None))
        if not isinstance(array, Tensor) or array.type.ndim == 0:
            raise Break("PJ203", operand=describe(array))
        if not isinstance(axis, Const) or (axis.object is not None and type(axis.object) is not int):
            raise Break("PJ211", callee=name)
        return _reduce(self, name, ufunc, array, axis.object)
    return call


def _reduce(self: Any, name: str, ufunc: np.ufunc, array: Tensor, axis: Optional[int]) -> Abstract:
    sample = np.ones((2,) * array.type.ndim, array.type.dtype, order="F" if array.type.layout == "F" else "C")
    if axis is not None and not -array.type.ndim <= axis < array.type.ndim:
        raise Break("PJ211", callee=name)
    result = sampling.type_of_result(ufunc.reduce(sample, axis=axis))
    if result.dtype != array.type.dtype or not _launcher.reduce_supported(ufunc, result.dtype.num):
        raise Break("PJ210", callee="%s of %s" % (name, array.type.dtype))
    if isinstance(result, Array) and array.type.layout != "C" and result.ndim > 1:
        raise Break("PJ210", callee="%s along an axis of a strided array" % name)
    axis = axis % array.type.ndim if axis is not None else None
    attrs = {"ufunc": ufunc, "axis": axis, "keepdims": False, "types": result.dtype.char}
    value = self.emit("reduce", [array.value], result, attrs, exits=True)
    return Tensor(result, value) if isinstance(result, Array) else Number(result, value)


MATH_FUNCTIONS = ("sqrt", "sin", "cos", "tan", "exp", "log", "atan", "tanh", "sinh", "cosh", "asin", "acos", "log10",
                  "log1p", "expm1")

_ROWS: List[Tuple[Any, Callable[..., Abstract]]] = [
    (builtins.range, call_range),
    (builtins.len, call_len),
    (builtins.abs, call_abs),
    (builtins.float, call_float),
    (builtins.int, call_int),
    (np.zeros, _constructor("zeros", 0)),
    (np.ones, _constructor("ones", 1)),
    (np.empty, _constructor("empty", None)),
    (np.zeros_like, _like("zeros_like", 0)),
    (np.ones_like, _like("ones_like", 1)),
    (np.empty_like, _like("empty_like", None)),
    (np.sum, _reduction("sum", np.add)),
    (np.prod, _reduction("prod", np.multiply)),
    (np.max, _reduction("max", np.maximum)),
    (np.min, _reduction("min", np.minimum)),
]
_ROWS += [(getattr(math, name), _math(name)) for name in MATH_FUNCTIONS]

CALLS: Dict[int, Callable[..., Abstract]] = {id(target): handler for target, handler in _ROWS}

METHODS: Dict[str, Callable[..., Abstract]] = {
    "sum": _reduction("sum", np.add),
    "prod": _reduction("prod", np.multiply),
    "max": _reduction("max", np.maximum),
    "min": _reduction("min", np.minimum),
    "copy": call_copy,
}
