"""Functions that take or make functions: ``functools.reduce``, getters of ``operator``, ``next``.

`catalogue` imports it. It must not run the function that it gets.
"""

from __future__ import annotations

import builtins
import functools
import operator
from keyword import iskeyword
from types import CodeType
from typing import List, Optional, Tuple

from pijit.core.bytecode.rewrite.generator_to_loop import DEFAULT, FIRST, KEY, REDUCE, RESULT
from pijit.core.capture.models.iteration import comprehensions, iterators
from pijit.core.capture.models.iteration.iterators import EACH_ITEM
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.models.registry import models, models_instances
from pijit.core.capture.values.describe import Arguments, describe, only
from pijit.core.capture.values.lattice import (
    Abstract,
    Borrowed,
    Const,
    Lazy,
    LoopIterator,
    OpaqueObject,
    UnescapedFunction,
)
from pijit.core.capture.values.predicates import IsObject
from pijit.core.errors import Break
from pijit.guards.facts import is_exactly, type_name
from pijit.guards.source import Local

MOST_KEYS = 4
GETTERS = (operator.itemgetter, operator.attrgetter)


@functools.lru_cache(maxsize=None)
def item_code(count: int) -> CodeType:
    """The code of ``lambda item: (item[k0], item[k1], ...)``, or of one item, whose keys are free variables."""
    names = ["k%d" % number for number in range(count)]
    items = ["item[%s]" % name for name in names]
    source = "lambda %s: lambda item: (%s)" % (", ".join(names), ", ".join(items))
    made: CodeType = eval(source)(*names).__code__
    return made


@functools.lru_cache(maxsize=None)
def attribute_code(names: Tuple[str, ...]) -> CodeType:
    """The code of ``lambda item: (item.a, item.b.c)``, or of one attribute."""
    made: CodeType = eval("lambda item: (%s)" % ", ".join("item." + name for name in names)).__code__
    return made


@models(operator.itemgetter)
def call_itemgetter(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> UnescapedFunction:
    """``operator.itemgetter(key, ...)``."""
    if keywords or not 0 < len(arguments) <= MOST_KEYS:
        raise Break("PJ211", callee="itemgetter")
    return UnescapedFunction(item_code(len(arguments)), tuple(arguments), interpreter.context)


@models(operator.attrgetter)
def call_attrgetter(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> UnescapedFunction:
    """``operator.attrgetter("name", ...)``, where names may have dots."""
    names = [argument.object if isinstance(argument, Const) else None for argument in arguments]
    if keywords or not all(type(name) is str and _is_path(name) for name in names) or not names:
        raise Break("PJ211", callee="attrgetter")
    return UnescapedFunction(attribute_code(tuple(names)), (), interpreter.context)


@models_instances(*GETTERS)
def call_held_getter(interpreter: Interpreter, target: Abstract, arguments: List[Abstract],
                     keywords: Arguments) -> Optional[Abstract]:
    """A call of a getter that a global variable, an attribute or an item holds; None for other getters.

    A parameter may hold a new getter in each call, so its calls are not compiled.
    """
    if not isinstance(target, OpaqueObject) or isinstance(target.root, Local):
        return None
    only(arguments, keywords, type_name(type(target.sample)), 1)
    keys = target.sample.__reduce__()[1]
    if not all(is_exactly(key, (int, str)) for key in keys):
        raise Break("PJ205", index="getter of other keys")
    interpreter.rely(target, IsObject(target.sample))
    call = call_itemgetter if type(target.sample) is operator.itemgetter else call_attrgetter
    return comprehensions.call_made(interpreter, call(interpreter, list(map(Const, keys)), {}),
                                    arguments, {})


def _is_path(name: str) -> bool:
    return all(part.isidentifier() and part.isascii() and not iskeyword(part) for part in name.split("."))


@models(builtins.next)
def call_next(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``next(iterator)`` and ``next(iterator, default)``,
    for the iterator of a variable or one that is made for the call."""
    only(arguments, keywords, "next", 1, 2)
    value = arguments[0]
    if isinstance(value, Borrowed):
        return iterators.next_of(interpreter, value.name)
    is_view = isinstance(value, Lazy) and value.made.code is EACH_ITEM
    if is_view or not isinstance(value, (Lazy, LoopIterator)):
        raise Break("PJ209", type=describe(value))
    given = {DEFAULT: arguments[1]} if len(arguments) == 2 else {}
    return comprehensions.consume(interpreter, FIRST[bool(given)], value, given)


@models(functools.reduce)
def call_reduce(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``functools.reduce(function, items)`` and ``functools.reduce(function, items, start)``."""
    only(arguments, keywords, "reduce", 2, 3)
    given = {KEY: arguments[0]}
    if len(arguments) == 3:
        given[RESULT] = arguments[2]
    return comprehensions.consume(interpreter, REDUCE[len(arguments) == 3], arguments[1], given)
