"""What rewritten bytecode calls in place of an instruction: operators, subscripts, stores, iteration and attributes.

Each does what the instruction does, with the same result bits, and records it on the tapes to which an operand is active.
"""

from __future__ import annotations

import operator
from types import FunctionType
from typing import Any, Callable, Dict, Iterator, Optional, Tuple

import numpy as np

from pijit.core.graph.derivatives import CUTS, ELEMENTWISE, FUNCTIONS
from pijit.core.tape.errors import refusal
from pijit.core.tape.records import (elementwise_give, frozen, function_give, record_result, record_store,
                                     stored_value_give, winners_of)
from pijit.core.tape.state import STATE, reached, watching
from pijit.core.tape.tape import NUMBERS, Run, Tape

UFUNCS: Dict[str, Any] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.divide, "floordiv": np.floor_divide,
    "mod": np.remainder, "pow": np.power, "matmul": np.matmul, "neg": np.negative, "pos": np.positive,
    "and_": np.bitwise_and, "or_": np.bitwise_or, "xor": np.bitwise_xor, "lshift": np.left_shift,
    "rshift": np.right_shift, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal, "eq": np.equal, "ne": np.not_equal}
"""The ufunc whose rule an operator has."""

PLAIN = (int, float, complex, bool, str, bytes, list, tuple, dict, set, frozenset, type(None), np.generic, np.ndarray)

REFLECTED = {"lt": "__gt__", "gt": "__lt__", "le": "__ge__", "ge": "__le__", "eq": "__eq__", "ne": "__ne__"}


def python_method(x: Any, name: str) -> Optional[FunctionType]:
    """The special method of an object's class, if it is written in Python."""
    if issubclass(type(x), PLAIN) and type(x).__module__ in ("builtins", "numpy"):
        return None
    found = getattr(type(x), name, None)
    found = getattr(found, "py_func", found)
    return found if issubclass(type(found), FunctionType) else None


def apply_elementwise(function: Any, r: Any, args: Tuple[Any, ...], where: Any = True) -> Any:
    """Record ``r = function(*args)`` of an elementwise function; returns ``r``."""
    for tape in watching(*args):
        rule = ELEMENTWISE.get(function)
        if rule is not None:
            record_result(tape, r, elementwise_give(tape, rule, args, where))
        elif function in FUNCTIONS:
            record_result(tape, r, function_give(tape, FUNCTIONS[function], args, {}, as_refusal(function)))
        elif function in CUTS:
            tape.cut(function.__name__)
        else:
            taint(tape, r, function)
    return r


def _call(function: Any, args: Tuple[Any, ...]) -> Any:
    from pijit.core.tape.calls import call  # calls needs this module

    return call(function, args)


def as_refusal(function: Any) -> Callable[[Exception], Exception]:
    error = refusal("PJ502", what=getattr(function, "__name__", repr(function)))

    def made(cause: Exception) -> Exception:
        error.args = ("{}: {}".format(error, cause),)
        return error
    return made


def taint(tape: Tape, r: Any, function: Any) -> None:
    """A result without a derivative: an error where an adjoint other than zero reaches it, never a silent zero."""
    error = refusal("PJ502", what=getattr(function, "__name__", None) or repr(function))
    if opaque(r):
        raise error
    if not any(map(tape.carries, r if issubclass(type(r), (list, tuple)) else [r])) and r is not None:
        tape.cut(getattr(function, "__name__", None) or repr(function))

    def give(run: Run, g: Any, _: Any) -> None:
        if any(np.any(one != 0) for one in (g if issubclass(type(g), list) else [g])):
            raise error
    record_result(tape, r, give)


def opaque(r: Any) -> bool:
    """Whether a result may hold numbers that the tape cannot follow, such as an array of objects or a decimal."""
    if issubclass(type(r), (list, tuple)):
        return any(map(opaque, r))
    if issubclass(type(r), np.ndarray):
        return r.dtype.kind == "O"
    return not (r is None or issubclass(type(r), (int, str, bytes, np.generic, np.dtype) + NUMBERS))


def _binary(name: str) -> Callable[[Any, Any], Any]:
    plain, ufunc = getattr(operator, name), UFUNCS[name]
    bare = name.rstrip("_")
    direct, mirrored = "__{}__".format(bare), REFLECTED.get(name, "__r{}__".format(bare))

    def binary(a: Any, b: Any) -> Any:
        if not STATE.tapes:
            return plain(a, b)
        if python_method(a, direct) or python_method(b, mirrored):
            return _by_methods(plain, direct, mirrored, a, b)
        return apply_elementwise(ufunc, plain(a, b), (a, b))
    return binary


def _by_methods(plain: Any, direct: str, mirrored: str, a: Any, b: Any) -> Any:
    """A binary operator on objects whose classes define it in Python, in CPython's order of attempts."""
    attempts = [(a, b, direct), (b, a, mirrored)]
    if type(b) is not type(a) and issubclass(type(b), type(a)) and python_method(b, mirrored):
        attempts.reverse()
    if issubclass(type(a), (np.ndarray, np.generic)) and not _ndarray_first(b):
        attempts = attempts[1:]
    for self, other, name in attempts:
        method = python_method(self, name)
        r = _call(method, (self, other)) if method else _native(self, other, name)
        if r is not NotImplemented:
            return r
    return plain(a, b)


def _native(self: Any, other: Any, name: str) -> Any:
    method = getattr(type(self), name, None)
    return NotImplemented if method is None else method(self, other)


def _ndarray_first(b: Any) -> bool:
    """Whether NumPy computes with an object itself instead of leaving the operator to the object."""
    marker = getattr(type(b), "__array_ufunc__", b)
    return marker is b and getattr(type(b), "__array_priority__", -1.0) <= 0.0 or marker is not b and marker is not None


def _inplace(name: str) -> Callable[[Any, Any], Any]:
    bare = name.rstrip("_")
    plain, binary, ufunc = getattr(operator, "i" + bare), _binary(name), UFUNCS[name]
    special = "__i{}__".format(bare)

    def inplace(a: Any, b: Any) -> Any:
        if not STATE.tapes:
            return plain(a, b)
        if issubclass(type(a), np.ndarray):
            return into(ufunc, a, (a, b), lambda: plain(a, b))
        method = python_method(a, special)
        if method is not None:
            r = _call(method, (a, b))
            return binary(a, b) if r is NotImplemented else r
        if issubclass(type(a), (list, set, dict)):
            return plain(a, streamed(b))
        return binary(a, b)
    return inplace


def into(ufunc: Any, target: np.ndarray, args: Tuple[Any, ...], write: Callable[[], Any], where: Any = True) -> Any:
    """An operation that writes its result into an array: `a += b`, `out=`."""
    tapes = [(tape, tape.note_store(target, ...)) for tape in STATE.tapes]
    recorded = [(tape, undo, _give_of(tape, ufunc, args, where), any(map(tape.active, args))) for tape, undo in tapes]
    r = write()
    for tape, undo, give, flows in recorded:
        if ufunc in CUTS and flows:
            tape.cut(ufunc.__name__)
        record_store(tape, target, ..., undo, unmasked(tape, target, where, give), flows)
    return r


def unmasked(tape: Tape, target: np.ndarray, where: Any, give: Any) -> Any:
    """Elements that a mask leaves alone keep their adjoint."""
    if where is True:
        return give

    def both(run: Run, g: Any, r: Any) -> None:
        tape.give(run, target, run(np.where, where, 0, g))
        give(run, g, r)
    return both


def _give_of(tape: Tape, ufunc: Any, args: Tuple[Any, ...], where: Any) -> Any:
    if ufunc in ELEMENTWISE:
        return elementwise_give(tape, ELEMENTWISE[ufunc], args, where)
    if ufunc in FUNCTIONS:
        return function_give(tape, FUNCTIONS[ufunc], args, {}, as_refusal(ufunc))
    error = refusal("PJ502", what=ufunc.__name__)
    flows = ufunc not in CUTS and any(map(tape.active, args))

    def give(run: Run, g: Any, r: Any) -> None:
        if flows and np.any(g != 0):
            raise error
    return give


def negate(a: Any) -> Any:
    """`-a`."""
    return _unary(operator.neg, "__neg__", np.negative, a)


def posit(a: Any) -> Any:
    """`+a`."""
    return _unary(operator.pos, "__pos__", np.positive, a)


def _unary(plain: Any, special: str, ufunc: Any, a: Any) -> Any:
    method = python_method(a, special) if STATE.tapes else None
    if method is not None:
        return _call(method, (a,))
    return apply_elementwise(ufunc, plain(a), (a,))


def load(a: Any, index: Any) -> Any:
    """`a[index]`."""
    if not STATE.tapes:
        return a[index]
    if not issubclass(type(a), np.ndarray):
        method = python_method(a, "__getitem__")
        if method is not None:
            return _call(method, (a, index))
        return a[index]
    r = a[index]
    frozen = None
    for tape in watching(a):
        if issubclass(type(r), np.ndarray) and tape.active(r):
            continue
        frozen = frozen_index(index) if frozen is None else frozen
        record_result(tape, r, _load_give(tape, a, frozen))
    return r


def _load_give(tape: Tape, a: np.ndarray, index: Any) -> Any:
    source = frozen(a)
    return lambda run, g, r: tape.give_at(run, source, index, g)


def frozen_index(index: Any) -> Any:
    """An index that the program cannot change afterwards."""
    if issubclass(type(index), tuple):
        return tuple(map(frozen_index, index))
    return np.array(index) if issubclass(type(index), (list, np.ndarray)) else index


def store(value: Any, a: Any, index: Any) -> None:
    """`a[index] = value`."""
    if not STATE.tapes or not issubclass(type(a), np.ndarray):
        method = python_method(a, "__setitem__") if STATE.tapes else None
        if method is not None:
            _call(method, (a, index, value))
        else:
            a[index] = value
        return
    frozen = frozen_index(index)
    undo = [(tape, tape.note_store(a, frozen)) for tape in STATE.tapes]
    value = _stored(value)
    before = np.array(value) if issubclass(type(value), np.ndarray) and np.may_share_memory(value, a) else None
    a[index] = value
    for tape, one in undo:
        flows = tape.reaches(value)
        winners = winners_of(a, frozen) if flows else None
        if flows and before is not None:
            _require_copied(a, frozen, before, winners)
        record_store(tape, a, frozen, one, stored_value_give(tape, value, winners), flows)


def _require_copied(a: np.ndarray, index: Any, value: np.ndarray, winners: Optional[np.ndarray]) -> None:
    """Refuse a store that read what it had just written, as NumPy 1.21 does for an index array over the same memory."""
    found = a[index]
    wanted = np.broadcast_to(value, np.shape(found)).astype(a.dtype)
    same = (found == wanted) | (found != found)
    if not np.all(same if winners is None else same | ~winners):
        raise refusal("PJ502", what="a store by an index array of elements of the array itself")


def _stored(value: Any) -> Any:
    """A sequence of active numbers as NumPy makes an array of it, recorded."""
    if issubclass(type(value), (list, tuple)) and reached(value):
        return _call(np.array, (value,))
    return value


def store_slot(slot: Tuple[Any, Any, Any]) -> None:
    """`a[index] = value`, of (value, a, index) as the operand stack has them."""
    store(*slot)


def stream(x: Any) -> Iterator[Any]:
    """What iteration over an active array gives, each item recorded."""
    for k in range(len(x)):
        yield load(x, k)


def streamed(x: Any) -> Any:
    """An active array as an iterator of recorded items; everything else as it is."""
    return stream(x) if issubclass(type(x), np.ndarray) and x.ndim and watching(x) else x


def iterate(x: Any) -> Any:
    """`iter(x)`."""
    if not STATE.tapes:
        return iter(x)
    if issubclass(type(x), np.ndarray):
        return iter(streamed(x))
    if issubclass(type(x), np.broadcast) and any(watching(one.base) for one in x.iters):
        raise refusal("PJ502", what="iteration over numpy.broadcast")
    method = python_method(x, "__iter__")
    if method is None:
        return iter(x)
    made = _call(method, (x,))
    step = python_method(made, "__next__")
    return _stepped(made, step) if step is not None else iter(made)


def _stepped(made: Any, step: FunctionType) -> Iterator[Any]:
    while True:
        try:
            item = _call(step, (made,))
        except StopIteration:
            return
        yield item


def unpackable(x: Any) -> Any:
    """What is unpacked into several targets or arguments."""
    return tuple(stream(x)) if issubclass(type(x), np.ndarray) and x.ndim and watching(x) else x


def attribute(x: Any, name: str) -> Any:
    """`x.name`."""
    if not STATE.tapes:
        return getattr(x, name)
    if issubclass(type(x), (np.ndarray, np.integer) + NUMBERS):
        return _array_attribute(x, name)
    if issubclass(type(x), type) or issubclass(type(x), PLAIN):
        return getattr(x, name)
    for cls in type(x).__mro__:
        if name in cls.__dict__:
            getter = getattr(cls.__dict__[name], "fget", None)
            if issubclass(type(getter), FunctionType) and type(x).__getattribute__ is object.__getattribute__:
                return _call(getter, (x,))
            break
    return getattr(x, name)


def store_attribute(slot: Tuple[Any, Any], name: str) -> None:
    """`x.name = value`, of (value, x) as the operand stack has them."""
    value, x = slot
    if STATE.tapes and issubclass(type(x), np.ndarray):
        if name in ("real", "imag", "flat"):
            store(value, attribute(x, name), ...)
            return
        if watching(x) and (name == "strides" or name == "dtype" and np.dtype(value) != x.dtype):
            raise refusal("PJ502", what="ndarray.{} = ...".format(name))
    setter = python_method(x, "__setattr__") if STATE.tapes else None
    if setter is not None:
        _call(setter, (x, name, value))
        return
    found = getattr(getattr(type(x), name, None), "fset", None)
    if STATE.tapes and issubclass(type(found), FunctionType):
        _call(found, (x, value))
    else:
        setattr(x, name, value)


def _array_attribute(x: Any, name: str) -> Any:
    r = getattr(x, name)
    if name in ("real", "imag") and not issubclass(type(x), np.ndarray):
        for tape in watching(x):
            record_result(tape, r, function_give(tape, FUNCTIONS[getattr(np, name)], (x,), {}, as_refusal(getattr(np, name))))
    elif name == "flat" and watching(x):
        flat = x.reshape(-1)
        if not np.shares_memory(flat, x):
            raise refusal("PJ502", what="ndarray.flat of an array that is not contiguous")
        return flat
    return r


BINARY: Dict[str, Callable[[Any, Any], Any]] = {name: _binary(name) for name in (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "or_", "xor", "lshift", "rshift", "lt", "le",
    "gt", "ge", "eq", "ne")}
INPLACE: Dict[str, Callable[[Any, Any], Any]] = {name: _inplace(name) for name in (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "or_", "xor", "lshift", "rshift")}
