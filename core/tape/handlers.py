"""Recorded versions of callees: builtins, functions of `math` and methods of ufuncs.

`calls` finds them in the table `HANDLERS`. `differentiate` imports this module so that they are registered.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
from typing import Any, Callable, Iterable, List, Tuple

import numpy as np

from pijit.core.graph.derivatives import FUNCTIONS
from pijit.core.graph.derivatives.adjoints import spread
from pijit.core.graph.derivatives.reductions import SCANS
from pijit.core.tape import operations
from pijit.core.tape.attributes import (
    attribute,
    delete_attribute,
    delete_object_attribute,
    object_attribute,
    set_object_attribute,
    store_attribute,
)
from pijit.core.tape.callables import HANDLERS
from pijit.core.tape.calls import call, record
from pijit.core.tape.errors import refusal
from pijit.core.tape.iteration import iterate, iterator_of
from pijit.core.tape.operations import BINARY, INPLACE, apply_elementwise, delete, load, store, taint
from pijit.core.tape.records import Give, frozen, record_result
from pijit.core.tape.special_methods import contains, python_method, real_number, stand_in
from pijit.core.tape.state import STATE, reached, watching
from pijit.core.tape.tape import Run, Tape


def handles(*keys: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator that registers the recorded version of callees."""
    def add(handler: Callable[..., Any]) -> Callable[..., Any]:
        for key in keys:
            if key is not None:
                HANDLERS[key] = handler
        return handler
    return add


for _name, _function in (("add", operator.add), ("sub", operator.sub), ("mul", operator.mul), ("pow", operator.pow),
                         ("truediv", operator.truediv), ("floordiv", operator.floordiv), ("mod", operator.mod),
                         ("matmul", operator.matmul), ("lt", operator.lt), ("le", operator.le), ("gt", operator.gt),
                         ("ge", operator.ge), ("eq", operator.eq), ("ne", operator.ne)):
    HANDLERS[_function] = BINARY[_name]
for _name in INPLACE:
    HANDLERS[getattr(operator, "i" + _name.rstrip("_"))] = INPLACE[_name]
HANDLERS[operator.getitem] = load
HANDLERS[operator.setitem] = lambda a, index, value: store(value, a, index)
HANDLERS[operator.delitem] = delete
HANDLERS[operator.contains] = lambda container, item: contains(item, container)
HANDLERS[operator.invert] = HANDLERS[operator.inv] = operations.invert
HANDLERS[operator.neg] = operations.negate
HANDLERS[operator.pos] = operations.posit


# Builtins.

@handles(sum)
def _sum(items: Iterable[Any], start: Any = 0) -> Any:
    add = BINARY["add"]
    if issubclass(type(start), (str, bytes, bytearray)):
        return sum(items, start)
    total = start
    for item in iterate(items):
        total = add(total, item)
    return total


@handles(abs, operator.abs)
def _abs(x: Any) -> Any:
    method = python_method(x, "__abs__")
    return call(method, (x,)) if method else apply_elementwise(np.absolute, abs(x), (x,))


@handles(pow)
def _pow(x: Any, y: Any, *modulus: Any) -> Any:
    return pow(x, y, *modulus) if modulus else BINARY["pow"](x, y)


@handles(divmod)
def _divmod(x: Any, y: Any) -> Any:
    for self, other, name in ((x, y, "__divmod__"), (y, x, "__rdivmod__")):
        method = python_method(self, name)
        r = call(method, (self, other)) if method else NotImplemented
        if r is not NotImplemented:
            return r
    q, r = divmod(x, y)
    return apply_elementwise(np.floor_divide, q, (x, y)), apply_elementwise(np.remainder, r, (x, y))


@handles(round)
def _round(x: Any, *digits: Any) -> Any:
    method = python_method(x, "__round__")
    if method is not None:
        return call(method, (x,) + digits)
    for tape in watching(x):
        tape.cut("round")
    return round(x, *digits)


def _conversion(kind: type) -> Callable[..., Any]:
    def convert(*args: Any) -> Any:
        method = python_method(args[0], "__{}__".format(kind.__name__)) if args else None
        r = call(method, (args[0],)) if method else kind(*args)
        if len(args) == 1 and r is not args[0]:
            for tape in watching(args[0]):
                record_result(tape, r, identity_give(tape, args[0]))
        elif len(args) > 1 and watching(*args):
            raise refusal("PJ502", what=kind.__name__)
        return r
    return convert


def _float(*args: Any) -> Any:
    if len(args) == 1 and type(args[0]) is float:
        return args[0]
    return _conversion(float)(*args)


def _complex(*args: Any, **kwargs: Any) -> complex:
    if len(args) != 2 or not watching(*args):
        return _conversion(complex)(*args, **kwargs)  # type: ignore[no-any-return]
    r = complex(*args)
    for tape in watching(*args):
        record_result(tape, r, _parts_give(tape, args))
    return r


def _parts_give(tape: Tape, args: Tuple[Any, ...]) -> Any:
    def give(run: Run, g: Any, r: Any) -> None:
        tape.give(run, args[0], g)
        tape.give(run, args[1], run(operator.mul, g, -1j))
    return give


HANDLERS[float], HANDLERS[complex] = _float, _complex
for _scalar in (np.float16, np.float32, np.float64, np.longdouble, np.complex64, np.complex128, np.clongdouble):
    HANDLERS[_scalar] = _conversion(_scalar)


def identity_give(tape: Tape, x: Any) -> Any:
    """Contribution of a copy or conversion: the adjoint itself."""
    source, shape = frozen(x), np.shape(x)
    return lambda run, g, r: tape.give(run, source, run(np.reshape, g, shape))


def _cut_conversion(kind: type) -> Callable[..., Any]:
    def convert(*args: Any, **kwargs: Any) -> Any:
        for tape in watching(*args):
            tape.cut(kind.__name__)
        return kind(*map(stand_in, args), **kwargs)
    return convert


HANDLERS[int], HANDLERS[bool] = _cut_conversion(int), _cut_conversion(bool)


@handles(getattr)
def _getattr(x: Any, name: str, *default: Any) -> Any:
    if not default:
        return attribute(x, name)
    try:
        return attribute(x, name)
    except AttributeError:
        return default[0]


@handles(hasattr)
def _hasattr(x: Any, name: str) -> bool:
    try:
        attribute(x, name)
    except AttributeError:
        return False
    return True


@handles(setattr)
def _setattr(x: Any, name: str, value: Any) -> None:
    store_attribute((value, x), name)


@handles(delattr)
def _delattr(x: Any, name: str) -> None:
    delete_attribute(x, name)


HANDLERS[object.__getattribute__] = object_attribute
HANDLERS[object.__setattr__] = set_object_attribute
HANDLERS[object.__delattr__] = delete_object_attribute


@handles(object.__reduce_ex__)
def _reduced(x: Any, protocol: int) -> Any:
    """The parts from which `copy` rebuilds an object: its class and its attributes, passed on unchanged."""
    method = python_method(x, "__reduce__")
    if method is not None:
        return call(method, (x,))
    if python_method(x, "__getstate__") is not None and reached(x):
        raise refusal("PJ502", what="__getstate__ in Python")
    return object.__reduce_ex__(x, protocol)


@handles("float.as_integer_ratio", "ndarray.as_integer_ratio")
def _ratio(function: Any, *args: Any) -> Any:
    x = getattr(function, "__self__", function)
    if watching(x):
        raise refusal("PJ502", what="float.as_integer_ratio")
    return x.as_integer_ratio()


@handles(iter)
def _iter(x: Any, *sentinel: Any) -> Any:
    if sentinel:
        return iter(functools.partial(_called, x) if callable(x) else x, *sentinel)
    return iterator_of(x)


def _called(function: Any) -> Any:
    return call(function)


@handles(next)
def _next(x: Any, *default: Any) -> Any:
    method = python_method(x, "__next__")
    if method is None:
        return next(x, *default)
    try:
        return call(method, (x,))
    except StopIteration:
        if default:
            return default[0]
        raise


@handles(itertools.accumulate)
def _accumulate(items: Any, function: Any = operator.add, **named: Any) -> Any:
    step = named.pop("func", function)
    return itertools.accumulate(iterate(items), lambda a, b: call(step or operator.add, (a, b)), **named)


@handles(getattr(math, "prod", None))
def _prod(items: Any, *, start: Any = 1) -> Any:
    return functools.reduce(BINARY["mul"], iterate(items), start)


@handles(reversed)
def _reversed(x: Any) -> Any:
    if issubclass(type(x), np.ndarray) and watching(x):
        return (load(x, k) for k in range(len(x) - 1, -1, -1))
    method = python_method(x, "__reversed__")
    return call(method, (x,)) if method else reversed(x)


@handles(np.ndenumerate)
def _ndenumerate(x: Any) -> Any:
    array = call(np.asarray, (x,))
    return ((index, load(array, index)) for index in np.ndindex(*array.shape))


@handles(functools.reduce)
def _reduce(function: Any, items: Any, *start: Any) -> Any:
    return functools.reduce(lambda a, b: call(function, (a, b)), iterate(items), *start)


# math.

@handles(math.log)
def _log(x: Any, *base: Any) -> Any:
    x, base = real_number(x), tuple(map(real_number, base))
    if not base:
        return apply_elementwise(np.log, math.log(x), (x,))
    r = math.log(x, *base)
    if not watching(x, *base):
        return r
    quotient = BINARY["truediv"](_log(x), _log(base[0]))
    return renamed(quotient, r)


def renamed(x: Any, r: Any) -> Any:
    """Returns ``r`` with the derivative of ``x``: the same quantity, computed by other operations."""
    for tape in watching(x):
        record_result(tape, r, identity_give(tape, x))
    return r


@handles(math.fsum)
def _fsum(items: Any) -> Any:
    listed = list(iterate(items))
    r = math.fsum(listed)
    for tape in reached(listed):
        record_result(tape, r, _sum_give(tape, listed))
    return r


def _sum_give(tape: Tape, items: List[Any]) -> Give:
    return lambda run, g, _: tape.give(run, items, [g] * len(items))


# Methods of ufuncs.

@handles("reduce")
def _ufunc_reduce(ufunc: Any, a: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: Any = False,
                  *rest: Any, **kwargs: Any) -> Any:
    known = {np.add: np.sum, np.multiply: np.prod, np.maximum: np.max, np.minimum: np.min}.get(ufunc)
    named = dict(kwargs, axis=axis, dtype=dtype, out=out, keepdims=keepdims)
    if not reached(a):
        return ufunc.reduce(a, axis, dtype, out, keepdims, *rest, **kwargs)
    if ufunc in (np.logaddexp, np.logaddexp2) and out is None and not rest:
        run = functools.partial(ufunc.reduce, a, axis, dtype, out, keepdims, **kwargs)
        return _soft_maximum(ufunc, run(), a, axis, keepdims)
    if known is None or rest or out is not None:
        return _tainted(ufunc.reduce, (a, axis, dtype, out, keepdims) + rest, kwargs)
    rule = FUNCTIONS[known]
    if "dtype" not in rule.signature.parameters or dtype is None:
        del named["dtype"]
    del named["out"]
    return recorded(known, lambda: ufunc.reduce(a, axis, dtype, out, keepdims, **kwargs), (a,), named)


def _soft_maximum(ufunc: Any, r: Any, a: Any, axis: Any, keepdims: bool) -> Any:
    power = np.exp if ufunc is np.logaddexp else np.exp2
    for tape in watching(a):
        def give(run: Run, g: Any, result: Any, tape: Tape = tape) -> None:
            shares = run(power, run(operator.sub, tape.value(a), run(spread, result, a, axis, keepdims)))
            tape.give(run, a, run(operator.mul, run(spread, g, a, axis, keepdims), shares))
        record_result(tape, r, give)
    return r


@handles("accumulate")
def _ufunc_accumulate(ufunc: Any, a: Any, axis: int = 0, *rest: Any, **kwargs: Any) -> Any:
    known = SCANS.get(ufunc)
    run = functools.partial(ufunc.accumulate, a, axis, *rest, **kwargs)
    if known is None or rest or kwargs:
        return _tainted(ufunc.accumulate, (a, axis) + rest, kwargs) if reached(a) else run()
    return recorded(known, run, (a,), {"axis": axis})


@handles("outer")
def _ufunc_outer(ufunc: Any, a: Any, b: Any, **kwargs: Any) -> Any:
    x, y = np.asarray(a), np.asarray(b)
    if not reached(a, b):
        return ufunc.outer(a, b, **kwargs)
    wide = call(np.reshape, (x, x.shape + (1,) * y.ndim))
    return call(ufunc, (wide, y), kwargs)


@handles("at")
def _ufunc_at(ufunc: Any, a: Any, index: Any, *operand: Any) -> None:
    index = operations.frozen_index(index)
    undo = [(tape, tape.note_store(a, index)) for tape in STATE.tapes]
    flows = [any(map(tape.active, (a,) + operand)) for tape, _ in undo]
    if ufunc not in (np.add, np.subtract) and any(flows):
        raise refusal("PJ502", what=ufunc.__name__ + ".at")
    ufunc.at(a, index, *operand)
    sign = 1.0 if ufunc is np.add else -1.0
    for (tape, back), active in zip(undo, flows):
        tape.record(back)
        if active and tape.carries(a):
            tape.start(a)
            tape.record(_at_back(tape, a, index, operand[0], sign))


def _at_back(tape: Tape, a: Any, index: Any, operand: Any, sign: float) -> Any:
    def back(run: Run) -> None:
        g = tape.adjoint(a)
        if g is not None and tape.active(operand):
            tape.give(run, operand, run(operator.mul, run(operator.getitem, g, index), sign))
    return back


@handles("reduceat")
def _ufunc_reduceat(ufunc: Any, *args: Any, **kwargs: Any) -> Any:
    return _tainted(ufunc.reduceat, args, kwargs)


def _tainted(function: Any, args: Tuple[Any, ...], kwargs: Any) -> Any:
    r = function(*args, **kwargs)
    for tape in reached(args, kwargs):
        taint(tape, r, function)
    return r


def recorded(known: Any, run: Callable[[], Any], args: Tuple[Any, ...], kwargs: Any) -> Any:
    """Run a function and record it with the rule of a known function."""
    return record(known, args, kwargs, run)
