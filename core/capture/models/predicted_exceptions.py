"""Exceptions a kernel can predict, such as a missing key, where a handler of the program catches them.

`predict_exception` runs before an instruction and branches to the handler where the instruction would raise. Any other
exception makes the kernel exit.
"""

from __future__ import annotations

import math
from typing import Any, Callable, Dict, Iterable, Optional, Tuple

from pijit.core.bytecode.codec.decode import Instr
from pijit.core.bytecode.instructions.opcodes import BINARY, INPLACE, PLAIN_CALLS, SUBSCRIPT_LOADS
from pijit.core.bytecode.instructions.predicates import loads_item
from pijit.core.capture.models import exception_handlers
from pijit.core.capture.models.containers import expectations, key_operands
from pijit.core.capture.models.objects import stored_values
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.models.registry import DOMAIN, entry_of, register_entry
from pijit.core.capture.models.scalars import conversions
from pijit.core.capture.values.lattice import (
    Abstract,
    Const,
    KnownContainer,
    Number,
    Sequence,
    Tensor,
    class_of,
    number_type,
    pointer_class,
    ssa_value,
)
from pijit.core.errors import Break
from pijit.core.graph.ir import Value
from pijit.core.graph.types import FLAG, FLOAT, INT, WORD
from pijit.core.named_tuples import NamedTuple


class Domain(NamedTuple):
    """Where a function raises: ValueError if a comparison in ``outside`` holds,
    OverflowError for a finite number above ``largest``."""

    outside: Tuple[Tuple[str, float], ...] = ()
    largest: Optional[float] = None


def largest_for(function: Callable[[float], float]) -> float:
    """The largest number for which an increasing function raises no OverflowError, found by bisection."""
    low, high = 1.0, 1000.0
    while True:
        middle = (low + high) / 2.0
        if middle in (low, high):
            return low
        try:
            function(middle)
            low = middle
        except OverflowError:
            high = middle


for _function, _domain in (
        (math.sqrt, Domain((("<", 0.0),))), (math.log, Domain((("<=", 0.0),))), (math.log2, Domain((("<=", 0.0),))),
        (math.log10, Domain((("<=", 0.0),))), (math.log1p, Domain((("<=", -1.0),))),
        (math.asin, Domain((("<", -1.0), (">", 1.0)))), (math.acos, Domain((("<", -1.0), (">", 1.0)))),
        (math.exp, Domain((), largest_for(math.exp)))):
    register_entry(DOMAIN, _function, _domain)
UNLIKELY: Dict[Any, Any] = {INT: -8765432109876543211, FLOAT: -8.765432109876543e-291}
"""Numbers that stand for a missing key, by type. The kernel exits where a dict holds one of them."""
DIVISIONS = frozenset(["/", "//", "%"])


def predict_exception(interpreter: Interpreter, instr: Instr) -> None:
    """Branch to the handler where an instruction raises a predicted exception; for any other the kernel exits."""
    check = CHECKS.get(instr.opname)
    if check is None or not exception_handlers.is_caught(interpreter):
        return
    saved = list(interpreter.state.stack)
    try:
        check(interpreter)
    except Break:
        pass
    interpreter.state.stack = saved
    if interpreter.exception_edges:
        exception_handlers.end_block(interpreter)


def check_division(interpreter: Interpreter) -> None:
    """Division of Python numbers by zero; NumPy numbers warn instead."""
    left, right = (number_type(interpreter.use(value)) for value in interpreter.state.stack[-2:])
    if left is not None and right is not None and left.family == right.family == "py":
        divisor = interpreter.use(interpreter.state.stack[-1])
        if not isinstance(divisor, Const):
            exception_handlers.raise_where(
                interpreter,
                lambda: negated(interpreter, interpreter.emit("truth", [interpreter.number_value(divisor)], FLAG)),
                ZeroDivisionError)


def check_subscript(interpreter: Interpreter) -> None:
    """A key that a dict lacks, or an index that is out of range."""
    owner, index = (interpreter.use(value) for value in interpreter.state.stack[-2:])
    if isinstance(owner, KnownContainer) or isinstance(index, Const):
        return
    if pointer_class(owner) is dict:
        if number_type(expectations.expected(interpreter, owner, None)) not in UNLIKELY:
            exception_handlers.raise_where(interpreter, lambda: is_missing(interpreter, owner, index), KeyError)
    elif pointer_class(owner) in (list, tuple) and number_type(index) is not None:
        exception_handlers.raise_where(interpreter, lambda: out_of_range(
            interpreter, interpreter.word(index),
            interpreter.emit("list_size", [interpreter.object_value(owner)], WORD)), IndexError)
    elif isinstance(owner, Tensor):
        check_axes(interpreter, owner, index.items if isinstance(index, Sequence) else (index,))


def check_axes(interpreter: Interpreter, owner: Tensor, items: Iterable[Abstract]) -> None:
    """Integer indices of an array that are out of range."""
    kinds = [number_type(item) for item in items]
    if len(kinds) <= owner.type.ndim and all(kind is not None and kind.dtype.kind in "iu" for kind in kinds):
        for axis, item in enumerate(items):
            if not isinstance(item, Const):
                exception_handlers.raise_where(
                    interpreter,
                    lambda: out_of_range(interpreter, interpreter.word(interpreter.use(item)), interpreter.emit(
                        "dim", [ssa_value(owner)], WORD, {"axis": axis})), IndexError)


def check_call(interpreter: Interpreter) -> None:
    """An argument outside the domain of a ``math`` function, or so large that the result overflows."""
    function = interpreter.state.stack[-2] if interpreter.instr.arg == 1 else None
    asks: Optional[Domain] = entry_of(DOMAIN, function.object) if isinstance(function, Const) else None
    argument = interpreter.use(interpreter.state.stack[-1])
    kind = number_type(argument)
    if asks is None or kind is None or kind.dtype.kind not in "if" or isinstance(argument, Const):
        return
    for symbol, limit in asks.outside:
        exception_handlers.raise_where(
            interpreter, lambda: conversions.truth(interpreter, interpreter.compare(symbol, argument, Const(limit))),
            ValueError)
    largest = asks.largest
    if largest is not None:
        exception_handlers.raise_where(interpreter, lambda: is_too_large(interpreter, argument, largest), OverflowError)


def is_too_large(interpreter: Interpreter, argument: Abstract, largest: float) -> Value:
    """FLAG: a number is finite and above ``largest``."""
    over = conversions.truth(interpreter, interpreter.compare(">", argument, Const(largest)))
    finite = conversions.truth(interpreter, interpreter.compare("<", argument, Const(math.inf)))
    return interpreter.emit("select", [over, finite, over], FLAG)


def found_or_raised(interpreter: Interpreter, owner: Abstract, index: Abstract, like: Abstract) -> Optional[Abstract]:
    """``d[key]`` with one lookup, where a missing key leads to a handler; None where this form does not apply.

    For a missing key the lookup gives a number of `UNLIKELY`, which no dict is expected to hold.
    """
    kind = number_type(like)
    if (kind is None or kind not in UNLIKELY or not loads_item(interpreter.instr) or class_of(owner) is not dict
            or interpreter.derived):
        return None
    if not exception_handlers.is_caught(interpreter) or not exception_handlers.is_named(interpreter, KeyError):
        return None
    name, operands = key_operands.keyed(interpreter, "get_key", owner, index)
    absent = Const(UNLIKELY[kind])
    value = interpreter.emit(name, operands + [stored_values.stored_value(interpreter, absent)], kind, exits=True)
    flag = interpreter.emit("compare", [value, interpreter.number_value(absent)], FLAG, {"operator": "=="})
    exception_handlers.raise_rarely(interpreter, flag, KeyError, lambda: interpreter.emit(
        "has_key", [interpreter.object_value(owner), key_operands.key_value(interpreter, index)], FLAG, exits=True))
    if interpreter.exception_edges:
        exception_handlers.end_block(interpreter)
    return Number(kind, value)


def is_missing(interpreter: Interpreter, owner: Abstract, index: Abstract) -> Value:
    """FLAG: a dict lacks a key."""
    operands = [interpreter.object_value(owner), key_operands.key_value(interpreter, index)]
    return negated(interpreter, interpreter.emit("has_key", operands, FLAG, exits=True))


def negated(interpreter: Interpreter, flag: Value) -> Value:
    return interpreter.emit("not", [flag], FLAG)


def out_of_range(interpreter: Interpreter, index: Value, size: Value) -> Value:
    """FLAG: an index is outside a sequence."""
    below = interpreter.emit("compare", [interpreter.emit("add", [index, size], WORD),
                                         interpreter.emit("const", [], WORD, {"value": 0})], FLAG, {"operator": "<"})
    above = interpreter.emit("compare", [index, size], FLAG, {"operator": ">="})
    return interpreter.emit("select", [below, below, above], FLAG)


CHECKS: Dict[str, Callable[[Any], None]] = {
    **dict.fromkeys(SUBSCRIPT_LOADS, check_subscript), **dict.fromkeys(PLAIN_CALLS, check_call),
    **{name: check_division for table in (BINARY, INPLACE) for name, symbol in table.items() if symbol in DIVISIONS}}
