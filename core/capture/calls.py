"""Calls that become operations: NumPy ufuncs and array constructors, builtins, array methods, math functions.

``CALLS`` has one row per callable: the object and the handler that turns its arguments into operations.
"""

from __future__ import annotations

import builtins
import math
from typing import Any, Callable, Dict, List, Optional, Tuple

import numpy as np
from pijit.core import _launcher
from pijit.core.bytecode.decode import Instr
from pijit.core.capture import sampling
from pijit.core.capture.operators import describe
from pijit.core.capture.values import (
    Abstract,
    Const,
    Method,
    Null,
    Number,
    Range,
    Sequence,
    Tensor,
    array_type,
    number_type,
)
from pijit.core.errors import Break
from pijit.core.graph.ir import Value
from pijit.core.graph.types import BOOL, FLAG, FLOAT, INT, WORD, Array, numpy_scalar

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
    binary: Callable[..., Abstract]
    dimension: Callable[..., Value]
    size: Callable[..., Value]
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


def _extreme(name: str, symbol: str) -> Callable[..., Abstract]:
    """``min`` and ``max`` of two or more numbers of one type: the first of equals, as Python compares."""
    def call(self: Any, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        kinds = [number_type(argument) for argument in arguments]
        kind = kinds[0] if kinds else None
        if keywords or len(arguments) < 2 or kind is None or any(other != kind for other in kinds):
            raise Break("PJ203", operand=" and ".join(map(describe, arguments)) or name)
        best = self.number_value(arguments[0])
        for argument in arguments[1:]:
            value = self.number_value(argument)
            flag = self.emit("compare", [value, best], FLAG, {"operator": symbol})
            best = self.emit("select", [flag, value, best], kind)
        return Number(kind, best)
    return call


def call_divmod(self: Any, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``divmod`` of Python numbers: the pair of ``//`` and ``%``."""
    _only(arguments, keywords, "divmod", 2)
    kinds = [number_type(argument) for argument in arguments]
    if any(kind is None or kind.family != "py" for kind in kinds):
        raise Break("PJ203", operand=" and ".join(map(describe, arguments)))
    return Sequence([self.binary("//", *arguments), self.binary("%", *arguments)])


def call_pow(self: Any, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``pow(x, y)``."""
    _only(arguments, keywords, "pow", 2)
    return self.binary("**", *arguments)


def call_round(self: Any, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``round`` of a Python integer."""
    _only(arguments, keywords, "round", 1)
    if number_type(arguments[0]) != INT:
        raise Break("PJ203", operand=describe(arguments[0]))
    return arguments[0]


def call_bool(self: Any, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``bool`` of a number."""
    _only(arguments, keywords, "bool", 1)
    if number_type(arguments[0]) is None:
        raise Break("PJ203", operand=describe(arguments[0]))
    flag = self.emit("truth", [self.number_value(arguments[0])], FLAG)
    return Number(BOOL, self.emit("flag", [flag], BOOL))


def _numpy_scalar(kind: Any) -> Callable[..., Abstract]:
    """``np.float64(x)`` and its kin of one number."""
    want = numpy_scalar(np.dtype(kind))

    def call(self: Any, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        _only(arguments, keywords, kind.__name__, 1)
        have = number_type(arguments[0])
        if have is None or have.dtype.kind == "f" and want.dtype.kind in "iu":
            raise Break("PJ203", operand=describe(arguments[0]))
        value = self.number_value(arguments[0])
        if have.dtype == want.dtype:
            return Number(want, self.emit("same", [value], want))
        if want.dtype.kind == "b":
            return Number(want, self.emit("flag", [self.emit("truth", [value], FLAG)], want))
        return Number(want, self.emit("cast", [value], want, exits=not np.can_cast(have.dtype, want.dtype, "safe")))
    return call


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


def _stored(self: Any, value: Abstract, dtype: np.dtype) -> Value:
    """A number as an element of a dtype that holds every value of the number's own type."""
    kind = number_type(value)
    if kind is None or not np.can_cast(kind.dtype, dtype, "safe"):
        raise Break("PJ203", operand="%s stored into %s" % (describe(value), dtype))
    ssa = self.number_value(value)
    if kind == numpy_scalar(dtype):
        return ssa  # type: ignore[no-any-return]
    return self.emit("same" if kind.dtype == dtype else "cast", [ssa], numpy_scalar(dtype))  # type: ignore[no-any-return]


def call_astype(self: Any, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``x.astype(dtype)`` where no element can raise a flag: always a copy, in x's order."""
    _only(arguments, keywords, "astype", 2)
    model = arguments[0]
    dtype = _dtype_argument(arguments[1], np.float64)
    if not isinstance(model, Tensor) or model.type.ndim == 0 or model.type.layout == "A" and model.type.ndim > 1:
        raise Break("PJ210", callee="astype")
    have = model.type.dtype
    if not np.can_cast(have, dtype, "safe") and have.kind not in "iub":
        raise Break("PJ210", callee="astype from %s to %s" % (have, dtype))
    words = [self.emit("dim", [model.value], WORD, {"axis": k}) for k in range(model.type.ndim)]
    order = "F" if model.type.layout == "F" else "C"
    result = Array(dtype, model.type.ndim, order)
    value = self.emit("alloc", words, result, {"fill": None, "order": order}, exits=True)
    self.emit("assign", [value, model.value], None, exits=True)
    return Tensor(result, value)


def call_full(self: Any, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``np.full(shape, number, dtype)`` where the number fits the dtype whatever it is."""
    named = dict(zip(("shape", "fill_value", "dtype"), arguments))
    if len(arguments) > 3 or set(keywords) - {"shape", "fill_value", "dtype"} or set(keywords) & set(named):
        raise Break("PJ211", callee="full")
    named.update(keywords)
    kind = number_type(named["fill_value"]) if "fill_value" in named else None
    if kind is None or "shape" not in named:
        raise Break("PJ211", callee="full")
    dtype = _dtype_argument(named.get("dtype"), kind.dtype)
    words = _shape_words(self, named["shape"])
    stored = _stored(self, named["fill_value"], dtype)
    result = Array(dtype, len(words), "C")
    value = self.emit("alloc", words, result, {"fill": None, "order": "C"}, exits=True)
    self.emit("assign", [value, stored], None, exits=True)
    return Tensor(result, value)


def call_fill(self: Any, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``x.fill(number)`` where the number fits the dtype whatever it is."""
    _only(arguments, keywords, "fill", 2)
    target = arguments[0]
    if not isinstance(target, Tensor) or not target.type.writeable or target.type.ndim == 0:
        raise Break("PJ203", operand=describe(target))
    self.emit("assign", [target.value, _stored(self, arguments[1], target.type.dtype)], None, exits=True)
    return Const(None)


def call_mean(self: Any, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``x.mean()`` of floats: NumPy's sum, divided by the number of elements; empty arrays warn in bytecode."""
    _only(arguments, keywords, "mean", 1)
    array = arguments[0]
    if not isinstance(array, Tensor) or array.type.dtype.kind != "f" or array.type.ndim == 0:
        raise Break("PJ203", operand=describe(array))
    double = numpy_scalar(np.dtype(np.float64))
    size = self.size(array)
    self.emit("require", [self.emit("truth", [size], FLAG)], None, exits=True)
    total = _reduce(self, "mean", np.add, array, None)
    value, kind = total.value, total.type  # type: ignore[attr-defined]
    if kind != double:
        value = self.emit("cast", [value], double)
    quotient = self.emit("truediv", [value, self.emit("cast", [size], double)], double, exits=True)
    if kind != double:
        quotient = self.emit("cast", [quotient], kind, exits=True)
    return Number(kind, quotient)


def call_clip(self: Any, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``np.clip(x, low, high)`` of floats between constants, arrays or (where NaN is no special case) numbers."""
    _only(arguments, keywords, "clip", 3)
    array = arguments[0]
    if not isinstance(array, Tensor) or array.type.dtype.kind != "f":
        raise Break("PJ203", operand=describe(array))
    for bound in arguments[1:]:
        known = bound.object if isinstance(bound, Const) else None
        constant = type(known) in (int, float) and known == known
        if not constant and not isinstance(bound, Tensor) and (CLIP_LOOKS_FOR_NAN or not isinstance(bound, Number)):
            raise Break("PJ214", operands="a bound of clip")
    return self.ufunc_call(CLIP, arguments)  # type: ignore[no-any-return]


_numpy_core: Any = getattr(np, "_core", None) or getattr(np, "core")
CLIP = _numpy_core.umath.clip
CLIP_LOOKS_FOR_NAN = hasattr(_numpy_core._methods, "_clip_dep_is_scalar_nan")
NUMPY_SCALARS = (np.float64, np.float32, np.int64, np.int32, np.int16, np.int8, np.uint8, np.uint16, np.uint32,
                 np.uint64, np.bool_)

MATH_FUNCTIONS = ("sqrt", "sin", "cos", "tan", "exp", "log", "atan", "tanh", "sinh", "cosh", "asin", "acos", "log10",
                  "log1p", "expm1")

_ROWS: List[Tuple[Any, Callable[..., Abstract]]] = [
    (builtins.range, call_range),
    (builtins.len, call_len),
    (builtins.abs, call_abs),
    (builtins.min, _extreme("min", "<")),
    (builtins.max, _extreme("max", ">")),
    (builtins.divmod, call_divmod),
    (builtins.pow, call_pow),
    (builtins.round, call_round),
    (builtins.bool, call_bool),
    (builtins.float, call_float),
    (builtins.int, call_int),
    (np.zeros, _constructor("zeros", 0)),
    (np.ones, _constructor("ones", 1)),
    (np.empty, _constructor("empty", None)),
    (np.zeros_like, _like("zeros_like", 0)),
    (np.ones_like, _like("ones_like", 1)),
    (np.empty_like, _like("empty_like", None)),
    (np.full, call_full),
    (np.mean, call_mean),
    (np.clip, call_clip),
    (np.sum, _reduction("sum", np.add)),
    (np.prod, _reduction("prod", np.multiply)),
    (np.max, _reduction("max", np.maximum)),
    (np.min, _reduction("min", np.minimum)),
]
_ROWS += [(getattr(math, name), _math(name)) for name in MATH_FUNCTIONS]

_ROWS += [(kind, _numpy_scalar(kind)) for kind in NUMPY_SCALARS]

CALLS: Dict[int, Callable[..., Abstract]] = {id(target): handler for target, handler in _ROWS}

METHODS: Dict[str, Callable[..., Abstract]] = {
    "sum": _reduction("sum", np.add),
    "prod": _reduction("prod", np.multiply),
    "max": _reduction("max", np.maximum),
    "min": _reduction("min", np.minimum),
    "copy": call_copy,
    "astype": call_astype,
    "fill": call_fill,
    "mean": call_mean,
    "clip": call_clip,
}
