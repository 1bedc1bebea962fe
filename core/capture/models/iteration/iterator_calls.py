"""Builtins that make iterables: range, enumerate, zip, reversed, iter.

`catalogue` imports it. It must not step the iterators.
"""

from __future__ import annotations

import builtins
from typing import List

from pijit.core.bytecode.instructions.predicates import stores_local
from pijit.core.capture.models.iteration.iterators import EACH_ITEM, iterator_over, reverse_iterator
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.models.registry import models
from pijit.core.capture.state.frame_state import iterations_of
from pijit.core.capture.values.describe import Arguments, describe, only
from pijit.core.capture.values.element_types import list_type
from pijit.core.capture.values.lattice import (
    Abstract,
    Const,
    Instance,
    Lazy,
    LoopIterator,
    Number,
    Range,
    class_of,
    number_type,
    ssa_value,
)
from pijit.core.errors import Break
from pijit.core.graph.ir import Value
from pijit.core.graph.types import FLAG, INT, WORD, Holding, ListOf

LARGEST_START = 2 ** 61
"""Largest start of ``enumerate``: counting from there never exceeds a machine word."""


@models(builtins.range)
def call_range(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``range(...)`` of integers that fit a machine word."""
    only(arguments, keywords, "range", 1, 2, 3)
    for argument in arguments:
        kind = number_type(argument)
        if kind is None or kind.dtype.kind != "i":
            raise Break("PJ203", operand=describe(argument))
    first, last = ([Const(0)] + arguments if len(arguments) == 1 else arguments)[:2]
    step = arguments[2] if len(arguments) == 3 else Const(1)
    known, parts = interpreter.constant(step), (first, last, step)
    if known is None:
        return Range((interpreter.word(first), interpreter.word(step),
                      _computed_length(interpreter, first, last, step)), -1, parts)
    if type(known) is not int or known == 0:
        raise Break("PJ203", operand=describe(step))
    words = (interpreter.word(first), interpreter.word(Const(known)),
             interpreter.word(_range_length(interpreter, first, last, known)))
    return Range(words, -1, parts)


def _range_length(interpreter: Interpreter, first: Abstract, last: Abstract, step: int) -> Abstract:
    """``len(range(first, last, step))``: the rounded quotient if the step leads towards ``last``, else 0."""
    one = Const(1 if step > 0 else -1)
    distance = interpreter.binary("-", last, first) if first != Const(0) else last
    steps = distance
    if step not in (1, -1):
        steps = interpreter.binary("-", interpreter.binary("+", distance, Const(step)), one)
    if step != 1:
        steps = interpreter.binary("//", steps, Const(step))
    ahead = interpreter.compare(">" if step > 0 else "<", distance, Const(0))
    if isinstance(ahead, Const):
        return steps if ahead.object else Const(0)
    return interpreter.binary("*", ahead, steps)


def _computed_length(interpreter: Interpreter, first: Abstract, last: Abstract, step: Abstract) -> Value:
    """The same for a step that is known only at run time; exits for a step of 0."""
    low, high, by = (Number(INT, interpreter.emit("same", [interpreter.word(value)], INT))
                     for value in (first, last, step))
    up = interpreter.emit("compare", [ssa_value(by), interpreter.number_value(Const(0))], FLAG, {"operator": ">"})
    distance = _chosen(interpreter, up, interpreter.binary("-", high, low), interpreter.binary("-", low, high))
    size = _chosen(interpreter, up, by, interpreter.unary("neg", by))
    steps = interpreter.binary("//", interpreter.binary("+", distance, interpreter.binary("-", size, Const(1))), size)
    zero = interpreter.number_value(Const(0))
    ahead = interpreter.emit("compare", [ssa_value(distance), zero], FLAG, {"operator": ">"})
    return interpreter.word(_chosen(interpreter, ahead, steps, Number(INT, interpreter.number_value(Const(0)))))


def _chosen(interpreter: Interpreter, flag: Value, then: Abstract, other: Abstract) -> Number:
    return Number(INT, interpreter.emit("select",
                                        [flag, interpreter.number_value(then), interpreter.number_value(other)], INT))


@models(builtins.enumerate)
def call_enumerate(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``enumerate(iterable, start)`` of an iterable that kernels can step."""
    if set(keywords) - {"start"} or len(arguments) + len(keywords) not in (1, 2) or not arguments:
        raise Break("PJ211", callee="enumerate")
    start = keywords.get("start", arguments[1] if len(arguments) == 2 else Const(0))
    if isinstance(start, Const) and not (type(start.object) is int and abs(start.object) <= LARGEST_START):
        raise Break("PJ203", operand=describe(start))
    count = interpreter.word(start)
    if not isinstance(start, Const):
        most = interpreter.emit("const", [], WORD, {"value": LARGEST_START})
        interpreter.emit("require", [interpreter.emit("compare", [count, most], FLAG, {"operator": "<="})], None,
                         exits=True)
    inner = iterator_over(interpreter, arguments[0])
    known = start.object if isinstance(start, Const) and iterations_of(inner) else None
    return LoopIterator("enumerate", (count,), (inner,), count=known)


def call_zip(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``zip(...)`` of iterables that kernels can step."""
    if keywords or not arguments:
        raise Break("PJ211", callee="zip")
    return LoopIterator("zip", (), tuple(iterator_over(interpreter, argument) for argument in arguments))


def call_reversed(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``reversed`` of a range, an array, a tuple or a list."""
    only(arguments, keywords, "reversed", 1)
    return reverse_iterator(interpreter, arguments[0])


@models(builtins.iter)
def call_iter(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``iter(iterable)``."""
    only(arguments, keywords, "iter", 1)
    value, following = arguments[0], interpreter.function.instructions[interpreter.instr.index + 1]
    if isinstance(value, Lazy) and value.made.code is EACH_ITEM and value.made.name is not None:
        raise Break("PJ209", type=value.made.name)
    kind = list_type(value) if class_of(value) is list and stores_local(following) else None
    if isinstance(kind, (ListOf, Holding)):  # a variable must not hold an iterator that is to be unrolled
        return LoopIterator("list", (interpreter.word(Const(0)),), (Instance(kind, interpreter.object_value(value)),))
    return iterator_over(interpreter, arguments[0])
