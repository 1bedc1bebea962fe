"""Builtins that take all items of an iterable, such as sum, any, min and list; also map and filter.

Each is a loop that is inlined, see `comprehensions`. A step that would raise exits to bytecode, which repeats the call.
`catalogue` imports it. It must not change the order of the items.
"""

from __future__ import annotations

import builtins
import math
import sys
from collections import defaultdict, deque
from types import CodeType
from typing import Any, Dict, List, Optional, Tuple, cast

from pijit.core.bytecode.rewrite.generator_to_loop import (
    ALL,
    ANY,
    DEFAULT,
    DICT,
    EXTREMES,
    KEY,
    LIST,
    LOST,
    PRODUCT,
    RESULT,
    SET,
    SUM,
    Consumer,
)
from pijit.core.capture.models.containers import constructions, contents, expectations, literals
from pijit.core.capture.models.containers.contents import is_short
from pijit.core.capture.models.containers.item_reads import made_by
from pijit.core.capture.models.containers.sequences import all_items, copied_dict, known_keys, known_pairs, taken_apart
from pijit.core.capture.models.containers.sets import items_of_set
from pijit.core.capture.models.iteration import comprehensions
from pijit.core.capture.models.iteration.iterators import few_items, iterator_over
from pijit.core.capture.models.numpy import library
from pijit.core.capture.models.objects import stored_values
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.models.registry import model_factory, models
from pijit.core.capture.models.scalars.math import extreme_of_numbers
from pijit.core.capture.state.frame_state import item_kinds
from pijit.core.capture.values.describe import Arguments, Handler, constants_of, describe, only
from pijit.core.capture.values.element_types import list_type
from pijit.core.capture.values.key_value_types import kinds_of_entries, type_with_entries
from pijit.core.capture.values.known_objects import SMALL
from pijit.core.capture.values.lattice import (
    Abstract,
    Const,
    Instance,
    KnownContainer,
    Lazy,
    LoopIterator,
    OpaqueObject,
    Range,
    Sequence,
    Tensor,
    UnescapedFunction,
    Unrolled,
    class_of,
    number_type,
)
from pijit.core.errors import Break
from pijit.core.graph.library import FUNCTIONS
from pijit.core.graph.types import INT, Holding, ListOf, Object, Scalar, TupleOf, Vacant
from pijit.guards.facts import is_among, is_exactly


def _codes(f: Any) -> Tuple[CodeType, ...]:
    """Generator code of ``map`` with one iterable and with several,
    and of ``filter`` with a function and with None."""
    nothing: Tuple[Any, ...] = ()
    return tuple(cast(Any, made).gi_code for made in (
        (f(item) for item in nothing), (f(*items) for items in nothing), (item for item in nothing if f(item)),
        (item for item in nothing if item)))


FACTORIES = (int, float, complex, list, dict, set, str)
"""Factories of a new defaultdict that kernels know: the classes of values for missing entries."""
STEPPED = (Lazy, LoopIterator, Unrolled)
SUM_KEYWORDS = {"start"} if sys.version_info >= (3, 8) else set()
KEY_IS_CALLED = sys.version_info < (3, 8)
"""Whether ``max(x, key=None)`` is an error, because it calls None."""
MAP, MAP_TOGETHER, FILTER, FILTER_TRUE = _codes(None)


@models(builtins.sum)
def call_sum(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``sum(iterable, start)``: one addition after another."""
    start = keywords.get("start", arguments[1] if len(arguments) == 2 else Const(0))
    if set(keywords) - SUM_KEYWORDS or len(arguments) + len(keywords) not in (1, 2) or not arguments:
        raise Break("PJ211", callee="sum")
    if number_type(start) is None:
        raise Break("PJ203", operand=describe(start))
    return comprehensions.consume(interpreter, SUM, arguments[0], {RESULT: start, LOST: Const(0.0)})


@model_factory
def _decision(name: str, consumer: Consumer) -> Handler:
    """``any`` and ``all``."""
    def call(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        only(arguments, keywords, name, 1)
        return comprehensions.consume(interpreter, consumer, arguments[0])
    return call


@model_factory
def _extreme(name: str, symbol: str) -> Handler:
    """``min`` and ``max`` of several values, or of the items of one iterable."""
    def call(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        if set(keywords) - {"key", "default"} or not arguments:
            raise Break("PJ211", callee=name)
        key = keywords.get("key", Const(None))
        by_key = key != Const(None)
        kinds = {number_type(argument) for argument in arguments}
        if len(arguments) > 1 and not keywords and None not in kinds and (len(kinds) == 1 or len(arguments) == 2):
            return extreme_of_numbers(interpreter, symbol, arguments)
        if len(arguments) > 1 and "default" in keywords or KEY_IS_CALLED and "key" in keywords and not by_key:
            raise Break("PJ211", callee=name)
        given = {KEY: key} if by_key else {}
        if "default" in keywords:
            given[DEFAULT] = keywords["default"]
        items = arguments[0] if len(arguments) == 1 else Sequence(arguments)
        consumer = EXTREMES[symbol, by_key, "default" in keywords]
        return comprehensions.consume(interpreter, consumer, items, given)
    return call


def _known_items(interpreter: Interpreter, value: Abstract) -> Optional[List[Abstract]]:
    """The items of a tuple or list if they are known, or few enough to be guarded one by one; else None."""
    return contents.items_of(interpreter, value) if is_short(interpreter, value) else None


def _numbers_of(interpreter: Interpreter, value: Abstract) -> Optional[List[Abstract]]:
    """The numbers of a short range of constants that are singletons in CPython; else None."""
    bounds = constants_of(value.parts) if isinstance(value, Range) else None
    numbers = range(*bounds) if bounds is not None else range(0)
    known = 0 < len(numbers) <= interpreter.context.unrolling and all(number in SMALL for number in numbers)
    return list(map(Const, numbers)) if known else None


@models(builtins.list)
def call_list(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``list(iterable)``."""
    only(arguments, keywords, "list", 0, 1)
    if not arguments:
        return constructions.new_list(interpreter, [])
    items = _known_items(interpreter, arguments[0])
    if items is not None:
        return constructions.new_list(interpreter, [interpreter.use(item) for item in items])
    kind = items_of_set(interpreter, arguments[0])
    if kind is not None:
        return made_by(interpreter, "builtins.list", kind, [interpreter.object_value(arguments[0])])
    return comprehensions.consume(interpreter, LIST, arguments[0])


@models(builtins.set)
def call_set(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``set(iterable)``. A dict or set is converted in one call, which reserves room for all items:
    that decides their order."""
    only(arguments, keywords, "set", 0, 1)
    if arguments and (class_of(arguments[0]) is dict or is_plain_set(arguments[0])):
        if class_of(arguments[0]) is dict:
            known_keys(interpreter, arguments[0])
        return made_by(interpreter, "builtins.set", Object(set), [interpreter.object_value(arguments[0])])
    items = _known_items(interpreter, arguments[0]) if arguments else []
    if items is not None:
        return literals.new_set(interpreter, [interpreter.use(item) for item in items])
    return comprehensions.consume(interpreter, SET, arguments[0])


@models(builtins.frozenset)
def call_frozenset(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``frozenset(iterable)``: item by item, as CPython makes it; of a set in one call."""
    only(arguments, keywords, "frozenset", 0, 1)
    value = arguments[0] if arguments else Const(())
    if class_of(value) is frozenset:
        return value
    if class_of(value) is set:
        kind = type_with_entries(frozenset, kinds_of_entries(value))
        return made_by(interpreter, "builtins.frozenset", kind, [interpreter.object_value(value)])
    if class_of(value) is dict:
        raise Break("PJ203", operand=describe(value))
    made = call_list(interpreter, [value], {})
    kind = list_type(made)
    if isinstance(made, KnownContainer) and not made.items:
        return made_by(interpreter, "helpers.frozen", Vacant(frozenset), [interpreter.object_value(made)])
    if not isinstance(kind, ListOf) and not (isinstance(kind, Holding) and kind.items == Object(str)):
        raise Break("PJ203", operand=describe(value))
    inexact = isinstance(kind, ListOf) and kind.items.dtype.kind not in "biu"
    return made_by(interpreter, "helpers.frozen" if inexact else "builtins.frozenset",
                   type_with_entries(frozenset, (kind.items,)), [interpreter.object_value(made)])


def is_plain_set(value: Abstract) -> bool:
    """Whether a value is a constant set of values that compare without user code."""
    return (isinstance(value, Const) and type(value.object) is frozenset
            and all(is_exactly(item, (int, float, bool, complex, str, bytes, type(None))) for item in value.object))


@models(builtins.dict)
def call_dict(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``dict(name=value, ...)``, also after a dict or pairs whose items are known; ``dict(pairs)``."""
    only(arguments, {}, "dict", 0, 1)
    items: Dict[Any, Abstract] = {}
    if arguments and is_among(class_of(arguments[0]), (dict, defaultdict)):
        if not keywords and not _is_known_dict(interpreter, arguments[0]):
            return copied_dict(interpreter, arguments[0], dict)
        items = known_pairs(interpreter, arguments[0])
    elif arguments:
        listed = is_among(class_of(arguments[0]), (list, tuple)) or isinstance(arguments[0], STEPPED)
        generated = isinstance(arguments[0], Lazy) and not keywords
        pairs = None
        if listed and not generated:
            pairs = all_items(interpreter, arguments[0], interpreter.context.unrolling)
        if pairs is None and listed and not keywords:
            return comprehensions.consume(interpreter, DICT, arguments[0])
        if pairs is None:
            raise Break("PJ209", type=describe(arguments[0]))
        for pair in pairs:
            key, value = taken_apart(interpreter, pair, 2)
            known = interpreter.constant(interpreter.use(key))
            if known is None and key != Const(None):
                raise Break("PJ216", key=describe(key))
            items[known] = interpreter.use(value)
    items.update(keywords)
    return constructions.new_dict(interpreter, list(items), list(items.values()))


def _is_known_dict(interpreter: Interpreter, value: Abstract) -> bool:
    """Whether a dict has few entries, which are known or may be guarded one by one."""
    few = (isinstance(value, OpaqueObject) and not expectations.is_changing(interpreter, value)
           and len(value.sample) <= interpreter.context.unrolling)
    return class_of(value) is dict and (isinstance(value, KnownContainer) or few)


@models(builtins.tuple)
def call_tuple(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``tuple(iterable)``; of a tuple it is the same tuple."""
    only(arguments, keywords, "tuple", 0, 1)
    if not arguments:
        return Const(())
    if class_of(arguments[0]) is tuple:
        return interpreter.use(arguments[0])
    items = _known_items(interpreter, arguments[0]) or _numbers_of(interpreter, arguments[0])
    if items is None and isinstance(arguments[0], Tensor):
        items = few_items(interpreter, arguments[0])
    if items is not None:
        return constructions.new_tuple(interpreter, [interpreter.use(item) for item in items])
    made = arguments[0] if class_of(arguments[0]) is list else call_list(interpreter, arguments, {})
    if isinstance(made, KnownContainer):
        return constructions.new_tuple(interpreter, list(made.items))
    expected = list_type(made)
    kind = TupleOf(expected.items) if isinstance(expected, (ListOf, Holding)) else Object(tuple)
    return Instance(kind, interpreter.emit("tuple_of", [interpreter.object_value(made)], kind, exits=True))


@models(deque)
def call_deque(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``deque(iterable, maxlen)`` of a list or a tuple, or of an iterable that becomes a list first."""
    given = dict(zip(("iterable", "maxlen"), arguments), **keywords)
    if len(arguments) > 2 or len(given) != len(arguments) + len(keywords) or set(given) - {"iterable", "maxlen"}:
        raise Break("PJ211", callee="deque")
    items, most = given.get("iterable", Const(())), given.get("maxlen")
    if not is_among(class_of(items), (list, tuple)):
        items = call_list(interpreter, [items], {})
    if most is not None and most != Const(None) and number_type(most) != INT:
        raise Break("PJ203", operand=describe(most))
    operands = [interpreter.object_value(items)]
    operands += [stored_values.stored_value(interpreter, most)] if most is not None else []
    return made_by(interpreter, "collections.deque", Object(deque), operands)


@models(defaultdict)
def call_defaultdict(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``defaultdict(factory)`` of a builtin class, without entries."""
    only(arguments, keywords, "defaultdict", 1)
    if not isinstance(arguments[0], Const) or not is_among(arguments[0].object, FACTORIES):
        raise Break("PJ203", operand=describe(arguments[0]))
    return made_by(interpreter, "collections.defaultdict", Vacant(defaultdict),
                   [interpreter.object_value(arguments[0])])


@models(getattr(math, "prod", None))
def call_prod(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``math.prod(iterable, start=...)``: one multiplication after another."""
    start = keywords.get("start", Const(1))
    if set(keywords) - {"start"} or len(arguments) != 1:
        raise Break("PJ211", callee="prod")
    if number_type(start) is None:
        raise Break("PJ203", operand=describe(start))
    return comprehensions.consume(interpreter, PRODUCT, arguments[0], {RESULT: start})


def numbers_of(interpreter: Interpreter, value: Abstract) -> Tuple[Abstract, Any]:
    """A new list of all items of an iterable, which are numbers of one type, and that type."""
    made = call_list(interpreter, [value], {})
    return made, number_in(made)


def number_in(made: Abstract) -> Scalar:
    """The type of the items of a list, which are numbers of one type."""
    kinds = item_kinds(made)
    kind = kinds.pop() if len(kinds) == 1 else None
    if not isinstance(kind, Scalar):
        raise Break("PJ203", operand=describe(made))
    return kind


@models(math.fsum)
def call_fsum(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``math.fsum(iterable)`` of numbers of one type."""
    only(arguments, keywords, "fsum", 1)
    made, _ = numbers_of(interpreter, arguments[0])
    return library.invoke(interpreter, FUNCTIONS["math.fsum"], [made], {})


@models(getattr(math, "dist", None))
def call_dist(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``math.dist(p, q)`` of two tuples of numbers."""
    only(arguments, keywords, "dist", 2)
    for value in arguments:
        items = contents.items_of(interpreter, value) if class_of(value) is tuple else None
        if items is None or any(number_type(interpreter.use(item)) is None for item in items):
            raise Break("PJ203", operand=describe(value))
    return library.invoke(interpreter, FUNCTIONS["math.dist"], arguments, {})


@models(builtins.map)
def call_map(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``map(f, iterable, ...)``."""
    if keywords or len(arguments) < 2:
        raise Break("PJ211", callee="map")
    inner = [iterator_over(interpreter, value) for value in arguments[1:]]
    together = len(inner) > 1
    made = UnescapedFunction(MAP_TOGETHER if together else MAP, (arguments[0],), interpreter.context)
    return Lazy(made, LoopIterator("zip", (), tuple(inner)) if together else inner[0])


@models(builtins.filter)
def call_filter(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``filter(f, iterable)``."""
    only(arguments, keywords, "filter", 2)
    made = UnescapedFunction(FILTER_TRUE, (), interpreter.context)
    if arguments[0] != Const(None):
        made = UnescapedFunction(FILTER, (arguments[0],), interpreter.context)
    return Lazy(made, iterator_over(interpreter, arguments[1]))


for _name, _symbol in (("min", "<"), ("max", ">")):
    models(getattr(builtins, _name))(_extreme(_name, _symbol))
models(builtins.any)(_decision("any", ANY))
models(builtins.all)(_decision("all", ALL))
