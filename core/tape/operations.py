"""Helpers that rewritten bytecode calls in place of instructions: operators, subscripts and stores.

Each computes the same result bits as the instruction, and records it on the tapes for which an operand is active.
"""

from __future__ import annotations

import collections
import operator
from typing import Any, Callable, Dict, Optional, Tuple

import numpy as np

from pijit.core.graph.derivatives import CUTS, ELEMENTWISE, FUNCTIONS
from pijit.core.graph.element_ops import SCALAR_POWERS
from pijit.core.tape.array_protocols import converted, foreign
from pijit.core.tape.errors import refusal, refusal_at
from pijit.core.tape.iteration import streamed
from pijit.core.tape.native import Rule, operator_helper, user_place
from pijit.core.tape.records import (
    elementwise_give,
    frozen,
    function_give,
    record_result,
    record_store,
    stored_value_give,
    winners_of,
)
from pijit.core.tape.rules import rule_of
from pijit.core.tape.special_methods import call_recorded, index_value, python_method, stand_in
from pijit.core.tape.state import STATE, reached, watching
from pijit.core.tape.tape import NUMBERS, Run, Tape

UFUNCS: Dict[str, Any] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.divide, "floordiv": np.floor_divide,
    "mod": np.remainder, "pow": np.power, "matmul": np.matmul, "neg": np.negative, "pos": np.positive,
    "and_": np.bitwise_and, "or_": np.bitwise_or, "xor": np.bitwise_xor, "lshift": np.left_shift,
    "rshift": np.right_shift, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
    "eq": np.equal, "ne": np.not_equal}
"""The ufunc whose derivative rule applies to an operator."""

REFLECTED = {"lt": "__gt__", "gt": "__lt__", "le": "__ge__", "ge": "__le__", "eq": "__eq__", "ne": "__ne__"}


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


def as_refusal(function: Any) -> Callable[[Exception], Exception]:
    """Makes an exception of the rule of a function a refusal, which names the place of this call."""
    place = user_place()

    def made(cause: Exception) -> Exception:
        error = refusal_at(place, "PJ502", what=getattr(function, "__name__", repr(function)))
        error.args = ("{}: {}".format(error, cause),)
        return error
    return made


def taint(tape: Tape, r: Any, function: Any) -> None:
    """Mark a result as not differentiable: a nonzero adjoint that reaches it is an error, never a silent zero."""
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
    """Whether a result may hold numbers that the tape cannot track, such as an array of objects or a decimal."""
    if issubclass(type(r), (list, tuple)):
        return any(map(opaque, r))
    if issubclass(type(r), np.ndarray):
        return bool(r.dtype.kind == "O")
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
        if issubclass(type(a), np.ndarray) and foreign(b) or issubclass(type(b), np.ndarray) and foreign(a):
            return call_recorded(ufunc, a, b)
        used, args = _ufunc_of(ufunc, a, b)
        return apply_elementwise(used, plain(a, b), args)
    return binary


def _ufunc_of(ufunc: Any, a: Any, b: Any) -> Tuple[Any, Tuple[Any, ...]]:
    """The ufunc that computes an operator, and its operands."""
    if ufunc is np.power and type(b) in (int, float) and issubclass(type(a), np.ndarray) and a.dtype.kind in "fc" \
            and b in SCALAR_POWERS and not watching(b):
        return SCALAR_POWERS[b], (a,)
    return ufunc, (a, b)


def remainder(a: Any, b: Any) -> Any:
    """`a % b`; for text it formats operands, which are read through the tape."""
    if STATE.tapes and type(a) in (str, bytes):
        return a % (tuple(map(stand_in, b)) if type(b) is tuple else stand_in(b))
    return _remainder(a, b)


def _by_methods(plain: Any, direct: str, mirrored: str, a: Any, b: Any) -> Any:
    """A binary operator on objects whose classes define it in Python, tried in CPython's order."""
    attempts = [(a, b, direct), (b, a, mirrored)]
    if type(b) is not type(a) and issubclass(type(b), type(a)) and python_method(b, mirrored):
        attempts.reverse()
    if issubclass(type(a), (np.ndarray, np.generic)) and not _ndarray_first(b):
        attempts = attempts[1:]
    for self, other, name in attempts:
        method = python_method(self, name)
        r = call_recorded(method, self, other) if method else _native(self, other, name)
        if r is not NotImplemented:
            return r
    return plain(a, b)


def _native(owner: Any, other: Any, name: str) -> Any:
    method = getattr(type(owner), name, None)
    return NotImplemented if method is None else method(owner, other)


def _ndarray_first(b: Any) -> bool:
    """Whether NumPy computes with an object itself instead of deferring the operator to the object."""
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
            used, args = _ufunc_of(ufunc, a, b)
            return into(used, a, args, lambda: plain(a, b))
        method = python_method(a, special)
        if method is not None:
            r = call_recorded(method, a, b)
            return binary(a, b) if r is NotImplemented else r
        if issubclass(type(a), (list, set, dict)):
            return plain(a, streamed(b))
        return binary(a, b)
    return inplace


def into(ufunc: Any, target: np.ndarray[Any, Any], args: Tuple[Any, ...], write: Callable[[], Any],
         where: Any = True) -> Any:
    """An operation that writes its result into an array: `a += b` or `out=`."""
    tapes = [(tape, tape.note_store(target, ...)) for tape in STATE.tapes]
    recorded = [(tape, undo, _give_of(tape, ufunc, args, where), any(map(tape.active, args))) for tape, undo in tapes]
    r = write()
    for tape, undo, give, flows in recorded:
        if ufunc in CUTS and flows:
            tape.cut(ufunc.__name__)
        record_store(tape, target, ..., undo, unmasked(tape, target, where, give), flows)
    return r


def unmasked(tape: Tape, target: np.ndarray[Any, Any], where: Any, give: Any) -> Any:
    """Contribution of a masked store: elements that the mask excludes keep their adjoint."""
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


def negate_in_python(a: Any) -> Any:
    return _unary(operator.neg, "__neg__", np.negative, a)


def posit_in_python(a: Any) -> Any:
    return _unary(operator.pos, "__pos__", np.positive, a)


def _unary(plain: Any, special: str, ufunc: Any, a: Any) -> Any:
    method = python_method(a, special) if STATE.tapes else None
    if method is not None:
        return call_recorded(method, a)
    return apply_elementwise(ufunc, plain(a), (a,))


def invert(a: Any) -> Any:
    """`~a`."""
    return _unary(operator.invert, "__invert__", np.invert, a)


def load(a: Any, index: Any) -> Any:
    """`a[index]`."""
    if not STATE.tapes:
        return a[index]
    if not issubclass(type(a), np.ndarray) or python_method(a, "__getitem__") is not None:
        return _load_item(a, index)
    return load_elements(a, index)


def load_elements(a: np.ndarray[Any, Any], index: Any) -> Any:
    """Like `numpy.ndarray.__getitem__`."""
    index = index_value(index)
    r = np.ndarray.__getitem__(a, index)
    frozen = None
    for tape in watching(a):
        if issubclass(type(r), np.ndarray) and tape.active(r):
            continue
        frozen = frozen_index(index) if frozen is None else frozen
        record_result(tape, r, _load_give(tape, a, frozen))
    return r


def _load_item(a: Any, index: Any) -> Any:
    method = python_method(a, "__getitem__")
    if method is not None:
        return call_recorded(method, a, index)
    if not issubclass(type(a), dict):
        return a[index_value(index)]
    missing = python_method(a, "__missing__")
    if missing is not None and index not in a:
        return call_recorded(missing, a, index)
    if type(a) is collections.defaultdict and a.default_factory is not None and index not in a:
        a[index] = call_recorded(a.default_factory)
    return a[index]


def delete(a: Any, index: Any) -> None:
    """`del a[index]`."""
    method = python_method(a, "__delitem__") if STATE.tapes else None
    if method is not None:
        call_recorded(method, a, index)
    else:
        del a[index]


def _load_give(tape: Tape, a: np.ndarray[Any, Any], index: Any) -> Any:
    source = frozen(a)
    return lambda run, g, r: tape.give_at(run, source, index, g)


def frozen_index(index: Any) -> Any:
    """A copy of an index that the program cannot change later."""
    if issubclass(type(index), tuple):
        return tuple(map(frozen_index, index))
    return np.array(index) if issubclass(type(index), (list, np.ndarray)) else index


def store(value: Any, a: Any, index: Any) -> None:
    """`a[index] = value`."""
    method = python_method(a, "__setitem__") if STATE.tapes else None
    if method is not None or not STATE.tapes or not issubclass(type(a), np.ndarray):
        if method is not None:
            call_recorded(method, a, index, value)
        elif STATE.tapes and issubclass(type(a), list):
            a[index_value(index)] = streamed(value) if issubclass(type(index), slice) else value
        else:
            a[index] = value
        return
    store_elements(a, index, value)


def store_elements(a: np.ndarray[Any, Any], index: Any, value: Any) -> None:
    """Like `numpy.ndarray.__setitem__`."""
    index = index_value(index)
    if type(index) is str and a.dtype.names:
        a, index = a[index], ...
    frozen = frozen_index(index)
    undo = [(tape, tape.note_store(a, frozen)) for tape in STATE.tapes]
    value = _stored(value)
    before = np.array(value) if issubclass(type(value), np.ndarray) and np.may_share_memory(value, a) else None
    np.ndarray.__setitem__(a, index, value)
    for tape, one in undo:
        flows = tape.reaches(value)
        winners = winners_of(a, frozen) if flows else None
        if flows and before is not None:
            _require_copied(a, frozen, before, winners)
        record_store(tape, a, frozen, one, stored_value_give(tape, value, winners), flows)


def _require_copied(a: np.ndarray[Any, Any], index: Any, value: np.ndarray[Any, Any],
                    winners: Optional[np.ndarray[Any, Any]]) -> None:
    """Refuse a store that read an element it had just written.

    NumPy 1.21 does this if an index array selects the target and the value is a view of the same memory.
    """
    found = a[index]
    wanted = np.broadcast_to(value, np.shape(found)).astype(a.dtype)
    same = (found == wanted) | (found != found)
    if not np.all(same if winners is None else same | ~winners):
        raise refusal("PJ502", what="a store by an index array of elements of the array itself")


def _stored(value: Any) -> Any:
    """The value to store: sequences of active numbers and objects with `__array__` become recorded arrays."""
    value = converted(value)
    if issubclass(type(value), (list, tuple)) and reached(value):
        return call_recorded(np.array, value)
    return value


def store_slot(slot: Tuple[Any, Any, Any]) -> None:
    """`a[index] = value`. `slot` holds (value, a, index), in the order of the operand stack."""
    store(*slot)


_POWERS: Dict[float, Rule] = {
    exponent: made for exponent, made in ((one, rule_of(ufunc, ufunc)) for one, ufunc in SCALAR_POWERS.items())
    if made is not None}

_NAMES = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "or_", "xor", "lshift", "rshift")


COMPILED = frozenset((
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "or_", "xor", "lshift", "rshift",
    "lt", "le", "gt", "ge", "eq", "ne", "neg", "pos", "iadd", "isub", "imul", "itruediv"))
"""Operators whose helpers are in C."""


def _compiled(name: str, ufunc: Any, helper: Callable[..., Any]) -> Callable[..., Any]:
    """The helper for an operator, in C if there is one."""
    if name not in COMPILED:
        return helper
    return operator_helper(name, rule_of(ufunc, ufunc), _POWERS if name == "pow" else None, helper)


BINARY_IN_PYTHON: Dict[str, Callable[[Any, Any], Any]] = {name: _binary(name) for name in _NAMES + tuple(REFLECTED)}
INPLACE_IN_PYTHON: Dict[str, Callable[[Any, Any], Any]] = {name: _inplace(name) for name in _NAMES}
_remainder, BINARY_IN_PYTHON["mod"] = BINARY_IN_PYTHON["mod"], remainder

BINARY: Dict[str, Callable[[Any, Any], Any]] = {
    name: _compiled(name, UFUNCS[name], helper) for name, helper in BINARY_IN_PYTHON.items()}
INPLACE: Dict[str, Callable[[Any, Any], Any]] = {
    name: _compiled("i" + name, UFUNCS[name], helper) for name, helper in INPLACE_IN_PYTHON.items()}
"""The helpers of operators, by the names of the functions of `operator`."""

negate, posit = _compiled("neg", np.negative, negate_in_python), _compiled("pos", np.positive, posit_in_python)
