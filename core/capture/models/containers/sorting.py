"""``sorted``: by the runtime, which compares as Python does, or at capture if the order is known.

`catalogue` imports it. It must not capture a sort whose comparisons run code of the user.
"""

from __future__ import annotations

import builtins
from typing import List, Optional, Union, cast

from pijit.core.capture.models.containers import constructions
from pijit.core.capture.models.containers.sets import items_of_set
from pijit.core.capture.models.iteration.consumers import call_list, call_map, number_in
from pijit.core.capture.models.objects import stored_values
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.models.registry import models
from pijit.core.capture.state.frame_state import item_kinds, list_of_kinds
from pijit.core.capture.values.describe import Arguments
from pijit.core.capture.values.element_types import LOOKED_AT, list_like, list_like_values, list_type
from pijit.core.capture.values.lattice import (
    Abstract,
    Const,
    Instance,
    KnownContainer,
    OpaqueObject,
    Sequence,
    class_of,
)
from pijit.core.errors import Break
from pijit.core.graph.ir import Value
from pijit.core.graph.types import Holding, ListOf, Object, Scalar, Type
from pijit.guards.facts import is_among, is_exactly


@models(builtins.sorted)
def call_sorted(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``sorted(iterable, key=..., reverse=...)``."""
    if set(keywords) - {"reverse", "key"} or len(arguments) != 1:
        raise Break("PJ211", callee="sorted")
    value, key = arguments[0], keywords.pop("key", Const(None))
    if key != Const(None):
        return _sorted_by(interpreter, call_list(interpreter, arguments, {}), key, keywords)
    kind = _list_like(value) or items_of_set(interpreter, value)
    if kind is not None and not isinstance(kind, ListOf):
        return _sort(interpreter, "helpers.sorted_plain", kind, [interpreter.object_value(value)], keywords)
    made = call_list(interpreter, arguments, {})
    order = _known_order(made) if kind is None else None
    backwards = keywords.get("reverse", Const(False))
    if order is not None and isinstance(backwards, Const) and type(backwards.object) is bool:
        found = cast(Union[KnownContainer, Sequence], made).items
        items = [found[position] for position in order]
        return constructions.new_list(interpreter, items[::-1] if backwards.object else items)
    like = list_type(made)
    if not isinstance(like, Holding) or not _compares_plainly(like.items):
        like = ListOf(number_in(made))
    return _sort(interpreter, "builtins.sorted", like, [interpreter.object_value(made)], keywords)


def _compares_plainly(kind: Type) -> bool:
    """Whether values of a type compare without user code: numbers, strings and tuples of these."""
    if isinstance(kind, Holding) and kind.python is tuple:
        return all(map(_compares_plainly, kind.items))
    return isinstance(kind, Scalar) or kind == Object(str)


def _sort(interpreter: Interpreter, function: str, kind: Object, operands: List[Value],
          keywords: Arguments) -> Abstract:
    operands = operands + [stored_values.stored_value(interpreter, value) for value in keywords.values()]
    attrs = {"function": function, "keywords": tuple(keywords)}
    return Instance(kind, interpreter.emit("invoke", operands, kind, attrs, exits=True))


def _list_like(value: Abstract) -> Optional[Object]:
    """The type of the list of a list's or tuple's items, as far as it is known; None for other values."""
    if not is_among(class_of(value), (list, tuple)):
        return None
    if isinstance(value, (KnownContainer, Sequence)):
        return list_like_values(value.items) or Object(list)
    if isinstance(value, Instance) or class_of(value) is list:
        return list_type(value) if class_of(value) is list else Object(list)
    sample = value.sample if isinstance(value, OpaqueObject) else cast(Const, value).object
    return list_like(sample[:LOOKED_AT]) or Object(list)


def _known_order(made: Abstract) -> Optional[List[int]]:
    """The sorted order of a list's items, if it is certain: for known strings or ints, or tuples that begin with
    one.

    No two of these are equal, so nothing else is compared.
    """
    items = made.items if isinstance(made, KnownContainer) and made.keys is None else ()
    first = [item.items[0] if isinstance(item, Sequence) and item.items else item for item in items]
    keys = [item.object for item in first if isinstance(item, Const)]
    alike = len(set(map(type, keys))) == 1 and all(is_exactly(key, (int, str)) for key in keys)
    if not alike or len(keys) != len(items) or len(set(keys)) != len(keys):
        return None
    return sorted(range(len(keys)), key=keys.__getitem__)


def _sorted_by(interpreter: Interpreter, made: Abstract, key: Abstract, keywords: Arguments) -> Abstract:
    """A new list, sorted by the results of ``key``, which is called once for each item in order,
    as ``sorted`` does."""
    kind = list_of_kinds(item_kinds(made))
    keys = call_list(interpreter, [call_map(interpreter, [key, made], {})], {})
    kinds = item_kinds(keys)
    plain = len(kinds) == 1 and isinstance(next(iter(kinds)), Scalar)
    return _sort(interpreter, "helpers.sorted_by" if plain else "helpers.sorted_by_plain", kind,
                 [interpreter.object_value(value) for value in (made, keys)], keywords)
