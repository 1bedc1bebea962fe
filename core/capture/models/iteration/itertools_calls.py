"""Calls of itertools functions whose iterators are used at once, by a loop or by a builtin.

Each is a generator of `itertools_python`, whose steps the loop inlines. Nothing else holds it. So where a kernel
exits, the loop goes on over that generator, or over an iterator of `resumed_iterators`. Bytecode makes an iterator
that gets a name. If the items are known and the results are few, each result is known.
"""

from __future__ import annotations

import builtins
import itertools
import sys
from types import CodeType
from typing import Any, Callable, Iterator, List, Optional, Tuple, cast

from pijit.core.bytecode.rewrite.generator_steps import START
from pijit.core.capture.models.containers import constructions, contents, expectations
from pijit.core.capture.models.containers.contents import is_short
from pijit.core.capture.models.containers.item_reads import made_by
from pijit.core.capture.models.containers.ranges import range_numbers
from pijit.core.capture.models.iteration import itertools_python as code_of
from pijit.core.capture.models.iteration.consumers import call_list
from pijit.core.capture.models.iteration.iterator_calls import LARGEST_START, call_range, call_reversed, call_zip
from pijit.core.capture.models.iteration.iterators import EACH_ITEM, iterator_over
from pijit.core.capture.models.numpy import library
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.models.registry import model_factory, models
from pijit.core.capture.models.scalars.math import call_len
from pijit.core.capture.values.describe import Arguments, Handler, constants_of, describe, only
from pijit.core.capture.values.element_types import list_type
from pijit.core.capture.values.generator_frame import GeneratorFrame
from pijit.core.capture.values.lattice import (
    Abstract,
    Const,
    Instance,
    KnownContainer,
    Lazy,
    LoopIterator,
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
from pijit.core.graph.types import FLAG, INT, WORD

MOST_POOLS = 4
ACCUMULATED = {"iterable", "func"} | ({"initial"} if sys.version_info >= (3, 8) else set())
ENDLESS = 2 ** 61
"""Number of items of an endless iterator: counting them takes longer than any program runs."""


def stand_in(interpreter: Interpreter, name: str, code: CodeType, arguments: List[Abstract],
             module: str = "itertools") -> Lazy:
    """An iterable with the items of the generator of this code."""
    made = UnescapedFunction(code, (), interpreter.context, name="%s.%s" % (module, name))
    parts = tuple(constructions.as_object(interpreter, value) for value in arguments)
    waiting = GeneratorFrame(made, START, code.co_varnames[:code.co_argcount], parts,
                             defined_at=interpreter.instr.index)
    return _at_once(interpreter, waiting)


def _at_once(interpreter: Interpreter, iterator: Abstract) -> Lazy:
    """An iterable whose iterator a loop takes at once.
    Any other user would see that it does not come from itertools."""
    return Lazy(UnescapedFunction(EACH_ITEM, (), interpreter.context, name="itertools"), iterator)


def _one_by_one(interpreter: Interpreter, results: List[Tuple[Abstract, ...]]) -> Lazy:
    """An iterable that yields these tuples of known items: a zip of one tuple for each position in them."""
    index = interpreter.instr.index
    places = [Unrolled(_tuple_of(interpreter, list(items)), len(results), "forwards", defined_at=index)
              for items in zip(*results)] or [Unrolled(Const(()), 0, "forwards", defined_at=index)]
    zipped = LoopIterator("zip", (), tuple(places), defined_at=index)
    return _at_once(interpreter, zipped)


def _tuple_of(interpreter: Interpreter, items: List[Abstract]) -> Abstract:
    known = constants_of(items)
    return Const(tuple(known)) if known is not None else constructions.new_tuple(interpreter, items)


def _within(results: Iterator[Any], most: int) -> Optional[List[Any]]:
    """All results if there are at most ``most``, else None."""
    found = list(itertools.islice(results, most + 1))
    return found if len(found) <= most else None


# pools: iterables that are iterated more than once, in their state at the call


def _pool(interpreter: Interpreter, value: Abstract) -> Abstract:
    """The pool of a value: a range, the known items, an array whose rows are views, or a copy of anything else."""
    if class_of(value) is range or isinstance(value, Tensor) and value.type.ndim > 1:
        return value
    if isinstance(value, Tensor) and value.type.ndim:
        return library.invoke(interpreter, FUNCTIONS["ndarray.copy"], [value], {})
    if is_short(interpreter, value):
        return Sequence([interpreter.use(item) for item in contents.items_of(interpreter, value) or ()])
    made = call_list(interpreter, [value], {})
    return (Sequence([interpreter.use(item) for item in cast(KnownContainer, made).items])
            if is_short(interpreter, made) else made)


def _known_items(interpreter: Interpreter, pool: Abstract) -> Optional[List[Abstract]]:
    """The items of a pool if they are few and known, else None."""
    if isinstance(pool, Sequence):
        return list(pool.items)
    bounds = constants_of(pool.parts) if isinstance(pool, Range) else None
    if bounds is not None:
        numbers = range(*bounds)
        if len(numbers) <= interpreter.context.unrolling:
            return list(map(Const, numbers))
    return None


def _native(interpreter: Interpreter, pool: Abstract) -> Abstract:
    """A pool in a form that is iterated without unrolling."""
    if not isinstance(pool, Sequence):
        return pool
    made = constructions.new_list(interpreter, [constructions.as_object(interpreter, item) for item in pool.items])
    return made_by(interpreter, "builtins.list.copy", list_type(made), [interpreter.object_value(made)])


@models(itertools.product)
def call_product(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``itertools.product(a, b, ..., repeat=n)``."""
    times = interpreter.constant(keywords.get("repeat", Const(1)))
    if set(keywords) - {"repeat"} or type(times) is not int or not 0 < len(arguments) * times <= MOST_POOLS:
        raise Break("PJ211", callee="product", problem="at most %d iterables" % MOST_POOLS)
    pools = [_pool(interpreter, value) for value in arguments]
    known = [_known_items(interpreter, pool) for pool in pools] * times
    if None not in known:
        results = _within(itertools.product(*cast(List[List[Abstract]], known)), interpreter.context.unrolling)
        if results is not None:
            return _one_by_one(interpreter, results)
    given: List[Abstract] = [Const(builtins.range)]
    for pool in [_native(interpreter, pool) for pool in pools] * times:
        given += pool.parts if isinstance(pool, Range) else [pool]
    ranges = tuple(isinstance(pool, Range) for pool in pools) * times
    return stand_in(interpreter, "product", code_of.product_of(ranges), given)


@model_factory
def _choice(name: str, ordered: bool) -> Handler:
    """``combinations`` and ``permutations``."""
    known_results: Callable[..., Iterator[Any]] = getattr(itertools, name)

    def call(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        given = arguments[1:] or [keywords[key] for key in ("r",) if key in keywords]
        if (len(arguments) + len(keywords) != 1 + len(given) or not arguments or len(given) > 1
                or not (ordered or given)):
            raise Break("PJ211", callee=name)
        pool = _pool(interpreter, arguments[0])
        known = _known_items(interpreter, pool)
        if given and not (ordered and given[0] == Const(None)):
            count = interpreter.constant(given[0])
        else:
            count = len(known) if known is not None else None
        if type(count) is not int or not 0 < count <= MOST_POOLS:
            raise Break("PJ211", callee=name, problem="of at most %d items" % MOST_POOLS)
        if known is not None:
            results = _within(known_results(known, count), interpreter.context.unrolling)
            if results is not None:
                return _one_by_one(interpreter, results)
        pool, none = _native(interpreter, pool), Const(None)
        size, parts, item = call_len(interpreter, [pool], {}), [pool, none, none], "P[%s]"
        if class_of(pool) is range:
            start: Abstract
            step: Abstract
            start, step, _ = range_numbers(interpreter, pool)
            start, step = (pool.parts[0], pool.parts[2]) if isinstance(pool, Range) and pool.parts else (start, step)
            parts, item = [none, start, step], "S + %s * D"
            if step == Const(1):
                item = "%s" if start == Const(0) else "S + %s"
        return stand_in(interpreter, name, code_of.chosen_from(count, ordered, item),
                        [Const(builtins.range), size] + parts)
    return call


# functions that take one item after another


@models(itertools.accumulate)
def call_accumulate(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``itertools.accumulate(iterable, function, initial=...)``."""
    given = dict(zip(("iterable", "func"), arguments), **keywords)
    if len(given) != len(arguments) + len(keywords) or set(given) - ACCUMULATED or "iterable" not in given:
        raise Break("PJ211", callee="accumulate")
    function, first = given.get("func", Const(None)), given.get("initial", Const(None))
    items, by, start = [iterator_over(interpreter, given["iterable"])], [function], [first]
    if function == Const(None):
        by = []
    if first == Const(None):
        return stand_in(interpreter, "accumulate", code_of.FOLDED if by else code_of.ADDED_UP, items + by)
    return stand_in(interpreter, "accumulate", code_of.FOLDED_FROM if by else code_of.ADDED_UP_FROM, items + by + start)


@models(itertools.chain)
def call_chain(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``itertools.chain(a, b, ...)``."""
    only(arguments, keywords, "chain", *range(1, code_of.MOST_CHAINED + 1))
    return stand_in(interpreter, "chain", code_of.chained(len(arguments)),
                    [_to_iterate(interpreter, one) for one in arguments])


def _to_iterate(interpreter: Interpreter, value: Abstract) -> Abstract:
    """A value that a loop asks for an iterator later; of a lazy one the iterator itself."""
    return iterator_over(interpreter, value) if isinstance(value, Lazy) else value


@models(itertools.chain, "from_iterable", of_class=True)
def call_chain_from(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``itertools.chain.from_iterable(iterables)``."""
    only(arguments, keywords, "from_iterable", 2)
    return stand_in(interpreter, "chain", code_of.CHAINED_FROM, [iterator_over(interpreter, arguments[1])])


@models(itertools.count)
def call_count(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``itertools.count(start, step)``; with integers it is a range without an end."""
    given = dict(zip(("start", "step"), arguments), **keywords)
    if set(given) - {"start", "step"} or len(given) != len(arguments) + len(keywords):
        raise Break("PJ211", callee="count")
    start, step = given.get("start", Const(0)), given.get("step", Const(1))
    if number_type(start) != INT or number_type(step) != INT:
        if number_type(start) is None or number_type(step) is None:
            raise Break("PJ203", operand=describe(start))
        return stand_in(interpreter, "count", code_of.COUNTED, [start, step])
    by = interpreter.constant(step)
    if type(by) is not int or not 0 < abs(by) < 2 ** 31:
        raise Break("PJ203", operand=describe(step))
    first = interpreter.word(start)
    for operator, most in (("<=", LARGEST_START), (">=", -LARGEST_START)):
        bound = interpreter.emit("const", [], WORD, {"value": most})
        interpreter.emit("require", [interpreter.emit("compare", [first, bound], FLAG, {"operator": operator})], None,
                         exits=True)
    words = [interpreter.emit("const", [], WORD, {"value": value}) for value in (0, by, ENDLESS // abs(by))]
    counted = LoopIterator("range", (words[0], first, words[1], words[2]), defined_at=interpreter.instr.index)
    return _at_once(interpreter, counted)


@models(itertools.cycle)
def call_cycle(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``itertools.cycle(items)`` of a short tuple, which cannot change."""
    only(arguments, keywords, "cycle", 1)
    value = arguments[0]
    items = contents.items_of(interpreter, value) if class_of(value) is tuple and is_short(interpreter, value) else None
    if not items or len(items) > interpreter.context.unrolling:
        raise Break("PJ209", type=describe(value))
    return stand_in(interpreter, "cycle", code_of.CYCLED, [Sequence([interpreter.use(item) for item in items])])


@models(itertools.repeat)
def call_repeat(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``itertools.repeat(value, times)``."""
    given = arguments[1:] or [keywords[key] for key in ("times",) if key in keywords]
    if len(arguments) + len(keywords) != 1 + len(given) or not arguments or len(given) > 1:
        raise Break("PJ211", callee="repeat")
    if not given:
        return stand_in(interpreter, "repeat", code_of.REPEATED, arguments)
    numbers = iterator_over(interpreter, call_range(interpreter, given, {}))
    return stand_in(interpreter, "repeat", code_of.REPEATED_TIMES, [arguments[0], numbers])


@models(itertools.islice)
def call_islice(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``itertools.islice(items, stop)`` and ``islice(items, start, stop, step)``."""
    only(arguments, keywords, "islice", 2, 3, 4)
    bounds = arguments[1:]
    start, stop = (Const(0), bounds[0]) if len(bounds) == 1 else bounds[:2]
    step = bounds[2] if len(bounds) == 3 else Const(1)
    start, step = (Const(default) if given == Const(None) else given for given, default in ((start, 0), (step, 1)))
    by = interpreter.constant(step)
    if type(by) is not int or by < 1:
        raise Break("PJ203", operand=describe(step))
    _require_count(interpreter, start)
    if stop == Const(None):
        stop = Const(ENDLESS)
    else:
        _require_count(interpreter, stop)
    numbers = iterator_over(interpreter, call_range(interpreter, [stop], {}))
    pairs = LoopIterator("zip", (), (numbers, iterator_over(interpreter, arguments[0])))
    known = interpreter.constant(start)
    if known == 0 and by == 1:
        return stand_in(interpreter, "islice", code_of.FIRST_ONES, [pairs])
    return stand_in(interpreter, "islice", code_of.SLICED, [pairs, start if known is None else Const(known), Const(by)])


def _require_count(interpreter: Interpreter, value: Abstract) -> None:
    """Leave if an integer is negative; `islice` raises ValueError then."""
    if number_type(value) != INT:
        raise Break("PJ203", operand=describe(value))
    if not isinstance(value, Const) or value.object < 0:
        bound = interpreter.emit("const", [], WORD, {"value": 0})
        flag = interpreter.emit("compare", [interpreter.word(value), bound], FLAG, {"operator": ">="})
        interpreter.emit("require", [flag], None, exits=True)


@models(builtins.zip)
def call_zip_with(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``zip(...)``; some of the iterables may be ``repeat(value)`` or ``cycle(items)``."""
    kinds = tuple(map(_kind_in_zip, arguments))
    if keywords or "each" not in kinds or set(kinds) == {"each"}:
        return call_zip(interpreter, arguments, keywords)
    lazy = [(cast(Lazy, value).iterator, kind) for value, kind in zip(arguments, kinds) if kind != "each"]
    held = [(cast(GeneratorFrame, iterator).parts[0], kind) for iterator, kind in lazy]
    given = [call_zip(interpreter, [value for value, kind in zip(arguments, kinds) if kind == "each"], {})]
    given += [_native(interpreter, part) if kind == "cycle" else part for part, kind in held]
    given += [Const(len(cast(Sequence, part).items)) for part, kind in held if kind == "cycle"]
    return stand_in(interpreter, "zip", code_of.zipped_with(kinds), given)


@models(builtins.reversed)
def call_reversed_list(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``reversed(items)``, also of a long list."""
    only(arguments, keywords, "reversed", 1)
    expected = expectations.items_expected(interpreter, arguments[0]) if class_of(arguments[0]) is list else None
    if expected is None:
        return call_reversed(interpreter, arguments, keywords)
    items = Instance(expected, interpreter.object_value(arguments[0]))
    last = interpreter.binary("-", call_len(interpreter, [items], {}), Const(1))
    return stand_in(interpreter, "reversed", code_of.BACKWARDS, [items, last, Const(builtins.len)])


def _kind_in_zip(value: Abstract) -> str:
    waiting = value.iterator if isinstance(value, Lazy) else None
    code = (waiting.maker.code if isinstance(waiting, GeneratorFrame) and isinstance(waiting.maker, UnescapedFunction)
            else None)
    return {id(code_of.REPEATED): "repeat", id(code_of.CYCLED): "cycle"}.get(id(code), "each")


@model_factory
def _of_items(name: str, code: CodeType) -> Handler:
    """``pairwise(items)``."""
    def call(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        only(arguments, keywords, name, 1)
        return stand_in(interpreter, name, code, [iterator_over(interpreter, arguments[0])])
    return call


@model_factory
def _by_function(name: str, code: CodeType) -> Handler:
    """Functions of ``itertools`` that take a function and an iterable."""
    def call(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        only(arguments, keywords, name, 2)
        return stand_in(interpreter, name, code, [iterator_over(interpreter, arguments[1]), arguments[0]])
    return call


@models(itertools.compress)
def call_compress(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``itertools.compress(items, selectors)``."""
    only(arguments, keywords, "compress", 2)
    pairs = LoopIterator("zip", (), tuple(iterator_over(interpreter, argument) for argument in arguments))
    return stand_in(interpreter, "compress", code_of.SELECTED, [pairs])


models(itertools.combinations)(_choice("combinations", False))
models(itertools.permutations)(_choice("permutations", True))
models(itertools.starmap)(_by_function("starmap", code_of.STARRED))
models(itertools.takewhile)(_by_function("takewhile", code_of.WHILE_TRUE))
models(itertools.dropwhile)(_by_function("dropwhile", code_of.FROM_FALSE))
models(itertools.filterfalse)(_by_function("filterfalse", code_of.FALSE_ONES))
models(getattr(itertools, "pairwise", None))(_of_items("pairwise", code_of.PAIRED))
