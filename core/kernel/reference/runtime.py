"""Runtime of the Python back end: the functions that its kernels call, by the names in NAMES.

Effects on objects are in effects.py. A function raises where a kernel would leave. They must do what the C functions of
`native/runtime` do.
"""

from __future__ import annotations

import ctypes
import itertools
import math
import operator
import types
from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple

import numpy as np

from pijit.core import _launcher
from pijit.core.graph.ops import ELIDED_BYTES, LEAVES, NEVER, UNKNOWN
from pijit.core.graph.types import PYTHON_CLASS, PYTHON_SCALARS, Array, Object, SampledClass
from pijit.core.kernel.emit.scalars import LIBM
from pijit.guards.facts import WRITEABLE

POLL_EVERY = 1000
"""One of this many polls of a process raises."""

_polls = itertools.count(1)
_LOW, _HIGH = -2 ** 63, 2 ** 63 - 1
_PYTHON = {kind.dtype: python for python, kind in PYTHON_SCALARS.items()}


def fit(value: int) -> int:
    """``value``; raises OverflowError outside int64."""
    if not _LOW <= value <= _HIGH:
        raise OverflowError("beyond 64 bits")
    return value


def wrap(value: int) -> int:
    """The low 64 bits of ``value`` as a signed integer."""
    return (value - _LOW) % 2 ** 64 + _LOW


def cast(value: Any, dtype: np.dtype[Any], family: str, checked: bool) -> Any:
    """``value`` converted as C does; when ``checked``, raises if it does not fit."""
    converted = np.asarray(value).astype(dtype)
    if checked and dtype.kind in "iu":
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        if not int(low) <= int(value) <= int(high):
            raise OverflowError("does not fit")
    if checked and dtype.kind == "f" and np.isinf(converted) and not np.isinf(value):
        raise OverflowError("does not fit")
    whole = isinstance(value, (int, np.integer))
    if checked and dtype.kind == "f" and whole and int(converted) != int(value):
        raise OverflowError("not exact")
    return converted[()] if family == "np" else _PYTHON[dtype](converted)


def nonzero(value: Any) -> Any:
    """``value`` as a divisor. Raises on 0, where NumPy's scalars and ufuncs warn differently."""
    if not value:
        raise ZeroDivisionError(value)
    return value


def in_order(array: Any) -> Any:
    """The array; raises if it is not in C order."""
    if not array.flags.c_contiguous:
        raise ValueError("not in C order")
    return array


def libm(name: str, finite: bool, *args: float) -> float:
    """The libm function through ``math``.

    Raises when the result is not finite although the arguments are; with ``finite``, whenever it is not finite.
    """
    if name not in LIBM:
        raise ValueError(name)
    result: float = getattr(math, name)(*args)
    if not math.isfinite(result) and (finite or all(map(math.isfinite, args))):
        raise ValueError("not finite")
    return result


def power(by: str, base: float, exponent: float) -> float:
    """``base ** exponent`` of doubles as Python or NumPy computes it. Raises where that raises, warns or is complex."""
    result = np.float64(base) ** np.float64(exponent) if by == "numpy" else base ** exponent
    if isinstance(result, complex):
        raise ValueError("complex")
    return float(result)


_ENTRIES: Tuple[Iterable[Any], ...] = ({}, {}.values(), {}.items(), set())
ENTRY_ITERATORS = tuple(type(iter(view)) for view in _ENTRIES)


def iterator_part(iterator: Any, path: Tuple[Any, ...]) -> Any:
    """A field of an iterator, or of one that it walks over, or the array that it walks over."""
    if type(iterator) in ENTRY_ITERATORS:
        return dict(zip((0, "position", "left", "used"), _launcher.dict_iterator(iterator)))[path[0]]
    state = iterator.__reduce__()
    if not isinstance(path[0], str):
        part = state[1][path[0]]
        return iterator_part(part, path[1:]) if len(path) > 1 else part
    if path[0] == "count":
        return state[1][1]
    # From CPython 3.12 on the range begins at the iterator's position, and there is no index.
    numbers, index = state[1][0], state[2] or 0
    return index if path[0] == "index" else {"start": numbers.start, "step": numbers.step,
                                             "length": len(numbers)}[path[0]]


def make_iterator(index: int, start: int, step: int, length: int) -> Any:
    """A range iterator at a position."""
    iterator: Any = iter(range(start, start + step * length, step))
    iterator.__setstate__(index)
    return iterator


def ufunc(function: Any, types: str, array: bool, args: Tuple[Any, ...]) -> Any:
    """The ufunc's result by the loop of ``types``; with ``array``, a 0-d array instead of a scalar."""
    result = function(*args, signature=types, casting="unsafe")
    return np.asarray(result) if array else result


def ufunc_fits(function: Any, types: str, number: int, args: Tuple[Any, ...]) -> np.ndarray[Any, Any]:
    """The ufunc's results in a new array with the shape of one operand; raises if they do not fit."""
    result = np.empty(args[number].shape, types[-1])
    return function(*args, out=result, signature=types, casting="unsafe")  # type: ignore[no-any-return]


def by_operator(function: Any, types: str, into: Tuple[int, ...], ordered: bool, args: Tuple[Any, ...]) -> Any:
    """As `ufunc`, where NumPy's operator may compute into an operand.

    That operand's strides then decide the result's layout, and a product begins with that operand.

    Raises:
        ValueError: it is not known which operand that is, and it would matter.
    """
    fresh = ufunc(function, types, True, args)
    taken = _computed_into(args, into, fresh)
    if taken == [None]:
        return fresh
    if LEAVES in [into[k] for k in taken if k is not None] or len(taken) > 1 and ordered:
        raise ValueError("the order of a product is not known")
    layouts = {fresh.strides if k is None else args[k].strides for k in taken}
    if len(layouts) > 1:
        raise ValueError("the layout of a result is not known")
    if taken == [1] and ordered:
        args = args[::-1]
    result: np.ndarray[Any, Any] = np.ndarray(fresh.shape, fresh.dtype, strides=layouts.pop())
    return function(*args, out=result, signature=types, casting="unsafe")


def _computed_into(args: Tuple[Any, ...], into: Tuple[int, ...],
                   fresh: np.ndarray[Any, Any]) -> List[Optional[int]]:
    """The numbers of the operands that NumPy may compute into, in its order; None if it may make a new array."""
    alike = all(np.ndim(arg) == 0 or np.shape(arg) == fresh.shape for arg in args)
    found: List[Optional[int]] = []
    for number, (arg, state) in enumerate(zip(args, into)):
        if alike and state != NEVER and fresh.nbytes >= ELIDED_BYTES and np.ndim(arg) > 0 and arg.flags.owndata:
            found.append(number)
            if state != UNKNOWN:
                return found
    return found + [None]


def ufunc_into(out: np.ndarray[Any, Any], function: Any, types: str, args: Tuple[Any, ...]) -> None:
    """As `ufunc`, into ``out``, which is unchanged if this raises."""
    before = out.copy("K")
    try:
        function(*args, out=out, signature=types, casting="unsafe")
    except BaseException:
        out[...] = before
        raise


def add_at(target: np.ndarray[Any, Any], index: np.ndarray[Any, Any], value: Any) -> None:
    """``np.add.at``; the target is unchanged if this raises."""
    before = target.copy("K")
    try:
        np.add.at(target, index, value)
    except BaseException:
        target[...] = before
        raise


def assign(target: np.ndarray[Any, Any], value: Any) -> None:
    """``target[...] = value``; the target is unchanged if this raises."""
    if not isinstance(value, np.ndarray):
        value = cast(value, target.dtype, "np", True)
    target[...] = np.asarray(value).astype(target.dtype)


def reduce(array: np.ndarray[Any, Any], function: Any, axis: Any, keepdims: bool, types: str) -> Any:
    return function.reduce(array, axis=axis, keepdims=keepdims, dtype=np.dtype(types[-1]))


def scan(array: np.ndarray[Any, Any], function: Any, dtype: np.dtype[Any]) -> Any:
    return function.accumulate(array, axis=-1, dtype=dtype)


def alloc(shape: Tuple[int, ...], dtype: np.dtype[Any], fill: Any, order: str) -> np.ndarray[Any, Any]:
    makers: Dict[Any, Callable[..., np.ndarray[Any, Any]]] = {None: np.empty, 0: np.zeros, 1: np.ones}
    return makers[fill](shape, dtype, order)


def infinite(value: complex) -> bool:
    """Whether the real or the imaginary part is infinite."""
    return math.isinf(value.real) or math.isinf(value.imag)


def new_cell(content: Any) -> Any:
    return (lambda: content).__closure__[0]  # type: ignore[index]


def new_function(code: Any, globals: Any, name: str, defaults: Any, named: Any, annotations: Any, *cells: Any) -> Any:
    function = types.FunctionType(code, globals, code.co_name, defaults, cells or None)
    function.__qualname__, function.__kwdefaults__ = name, named
    if type(annotations) is tuple:
        annotations = dict(zip(annotations[::2], annotations[1::2]))
    if annotations is not None:
        function.__annotations__ = annotations
    return function


def new_object(maker: Any, names: Tuple[str, ...], *values: Any) -> Any:
    plain = len(values) - len(names)
    return maker(*values[:plain], **dict(zip(names, values[plain:])))


def new_instance(origin: int, kind: type, names: Tuple[str, ...], *values: Any) -> Any:
    """The object at an address; if the address is 0, a new object with these attributes."""
    if origin:
        return ctypes.cast(origin, ctypes.py_object).value
    return changed_instance(0, kind, names, *values)


def changed_instance(origin: int, kind: type, names: Tuple[str, ...], *values: Any) -> Any:
    """The object at an address, or a new one if the address is 0, with these attributes.

    An instance of a class of tuples gets these items.
    """
    if issubclass(kind, tuple):
        return tuple.__new__(kind, values)
    made = ctypes.cast(origin, ctypes.py_object).value if origin else object.__new__(kind)
    for name, value in zip(names, values):
        object.__setattr__(made, name, value)
    return made


def require(flag: bool) -> None:
    if not flag:
        raise AssertionError


def poll() -> None:
    """Raise once in `POLL_EVERY` calls.

    CPython handles requests here as in all Python code, and they may change values that were read before.
    """
    if next(_polls) % POLL_EVERY == 0:
        raise AssertionError


def invoke(function: Any, keywords: Tuple[str, ...], kind: Any, values: Tuple[Any, ...]) -> Any:
    """A library function's result, the last values by keyword; raises unless it has the expected type."""
    split = len(values) - len(keywords)
    return fitting(function(*values[:split], **dict(zip(keywords, values[split:]))), kind)


def fitting(value: Any, kind: Any) -> Any:
    """``value``; raises unless it has the expected type."""
    if isinstance(kind, Array):
        orders = {"C": value.flags.c_contiguous, "F": value.flags.f_contiguous, "A": True}
        found = Array(value.dtype, value.ndim, kind.layout, bool(value.flags.num & WRITEABLE))
        if type(value) is not np.ndarray or found != kind or not orders[kind.layout] or not value.flags.aligned:
            raise TypeError("another array")
    elif not isinstance(kind, SampledClass):
        wanted: Any = kind.python if isinstance(kind, Object) else PYTHON_CLASS.get(kind, kind.dtype.type)
        if type(value) is not wanted or wanted is int and value != wrap(value):
            raise TypeError("another object")
    return value


def elements(values: Tuple[Any, ...], shape: Tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """A new array of numbers."""
    made = np.empty(shape, dtype)
    made.ravel()[:] = values
    return made


def concatenate(arrays: Tuple[Any, ...], axis: int) -> np.ndarray[Any, Any]:
    """The arrays one after the other; raises unless the result is in C order."""
    made: np.ndarray[Any, Any] = np.concatenate(arrays, axis)
    if not made.flags.c_contiguous:
        raise ValueError("another order")
    return made


def listed(items: Any, width: int, kinds: Tuple[Any, ...], kind: Any) -> np.ndarray[Any, Any]:
    """An array of the numbers in a list, or in its rows; raises unless each has its expected type."""
    made = np.empty((len(items), width)[:kind.ndim], kind.dtype)
    for at, row in enumerate(items):
        several = row if kind.ndim == 2 else [row]
        if kind.ndim == 2 and len(row) != width:
            raise ValueError("another length")
        for k, item in enumerate(several):
            fitting(item, kinds[k if len(kinds) > 1 else 0])
        made[at] = row
    return made


def ignoring(flags: int, compute: Callable[[], Any]) -> Any:
    """The result of a function that runs while these floating-point flags are ignored."""
    kinds = {"divide": 1, "over": 2, "under": 4, "invalid": 8}
    ignored: Dict[str, Any] = {kind: "ignore" for kind, flag in kinds.items() if flags & flag}
    with np.errstate(**ignored):
        return compute()


NAMES: Dict[str, Any] = {
    "ignoring": ignoring,
    "errstate": np.errstate, "fit": fit, "wrap": wrap, "cast": cast, "libm": libm, "power": power, "nonzero": nonzero,
    "iterator_part": iterator_part,
    "make_iterator": make_iterator, "ufunc": ufunc, "ufunc_fits": ufunc_fits, "by_operator": by_operator,
    "ufunc_into": ufunc_into, "assign": assign, "reduce": reduce, "scan": scan, "alloc": alloc, "require": require,
    "infinite": infinite, "poll": poll,
    "new_cell": new_cell, "new_function": new_function, "new_object": new_object,
    "new_instance": new_instance, "changed_instance": changed_instance,
    "where": np.where, "invoke": invoke, "listed": listed, "elements": elements, "concatenate": concatenate,
    "roll": np.roll,
    "fitting": fitting, "set_items": operator.setitem, "add_at": add_at, "shares": np.may_share_memory,
}
