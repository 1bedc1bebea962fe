"""Tuples and lists: concatenation, repetition and unpacking.

Called by `literals` and by the models of builtins and methods.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any, Callable, Dict, List, Optional, Tuple

from pijit.core.bytecode.rewrite.generator_to_loop import LIST
from pijit.core.capture.models.containers import constructions, contents, expectations, item_reads, reads
from pijit.core.capture.models.containers.contents import is_container, is_short
from pijit.core.capture.models.containers.item_reads import made_by, part_of
from pijit.core.capture.models.containers.sets import OPERATORS
from pijit.core.capture.models.iteration import comprehensions
from pijit.core.capture.models.iteration.iterators import element_of, iterator_over, step_of
from pijit.core.capture.models.numpy import indexing
from pijit.core.capture.models.objects.named_tuples import as_tuple
from pijit.core.capture.models.objects.special_methods import is_object, iterator_special
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.values.describe import describe
from pijit.core.capture.values.element_types import list_type
from pijit.core.capture.values.generator_frame import GeneratorFrame
from pijit.core.capture.values.key_value_types import SETS, expected_entries, kinds_of_entries, type_with_entries
from pijit.core.capture.values.lattice import (
    Abstract,
    Const,
    Instance,
    KnownContainer,
    Lazy,
    LoopIterator,
    Sequence,
    StackSlice,
    Tensor,
    Unrolled,
    class_of,
    number_type,
    ssa_value,
)
from pijit.core.errors import Break
from pijit.core.graph.ir import Value
from pijit.core.graph.types import FLAG, INT, WORD, Holding, ListOf, Object, TupleOf
from pijit.guards.facts import is_among

LONGEST_REPEATED = 64
COPIES: Dict[type, str] = {
    dict: "builtins.dict", defaultdict: "collections.defaultdict.copy", Counter: "collections.Counter.copy"}


def joined(interpreter: Interpreter, left: Abstract, right: Abstract) -> Optional[Abstract]:
    """``left + right`` of two tuples or two lists; None for other operands."""
    left, right = (as_tuple(interpreter, one, ("__add__", "__radd__")) for one in (left, right))
    kind = class_of(left)
    if kind is not class_of(right) or not is_among(kind, (tuple, list)):
        return None
    if not is_short(interpreter, left) or not is_short(interpreter, right):
        types = [list_type(value) for value in (left, right)] if kind is list else []
        alike = types and isinstance(types[0], ListOf) and Instance(types[0]) == Instance(types[1])
        return made_by(interpreter, "operator.add", types[0] if alike else Object(kind),
                       [interpreter.object_value(left), interpreter.object_value(right)])
    items = [[interpreter.use(item) for item in contents.items_of(interpreter, value) or ()] for value in (left, right)]
    if kind is list:
        return constructions.new_list(interpreter, items[0] + items[1])
    if not items[0] or not items[1]:
        return left if items[0] else right  # CPython returns the other operand itself
    return constructions.new_tuple(interpreter, items[0] + items[1])


def repeated(interpreter: Interpreter, left: Abstract, right: Abstract) -> Optional[Abstract]:
    """``left * right`` of a tuple or list and an int, in either order; None for other operands."""
    left, right = (as_tuple(interpreter, one, ("__mul__", "__rmul__")) for one in (left, right))
    owner, count = (left, right) if is_among(class_of(left), (tuple, list)) else (right, left)
    kind = class_of(owner)
    if not is_among(kind, (tuple, list)) or number_type(count) != INT:
        return None
    times = count.object if isinstance(count, Const) else None
    if (times is None and is_short(interpreter, owner)
            and any(class_of(item) is slice for item in contents.items_of(interpreter, owner) or ())):
        times = interpreter.constant(count)  # an index, whose length decides which axes the other items are for
    if (times is None or not is_short(interpreter, owner)
            or contents.length_of(interpreter, owner) * times > LONGEST_REPEATED):
        made = list_type(owner) if kind is list else Object(kind)
        return made_by(interpreter, "operator.mul", made,
                       [interpreter.object_value(owner), interpreter.number_value(count)])
    items = [constructions.as_object(interpreter, interpreter.use(item))
             for item in contents.items_of(interpreter, owner) or ()]
    if kind is list:
        return constructions.new_list(interpreter, items * times)
    if times == 1:
        return owner
    return constructions.new_tuple(interpreter, items * times) if items and times > 0 else Const(())


def copied(interpreter: Interpreter, owner: Abstract) -> Abstract:
    """A new list of all items of a list."""
    if is_short(interpreter, owner):
        return constructions.new_list(interpreter, [interpreter.use(item)
                                                    for item in contents.items_of(interpreter, owner) or ()])
    return made_by(interpreter, "builtins.list.copy", list_type(owner), [interpreter.object_value(owner)])


def copied_dict(interpreter: Interpreter, owner: Abstract, made: type) -> Abstract:
    """A copy of a dict, a defaultdict or a Counter, of class ``made``."""
    kinds = kinds_of_entries(Instance(expected_entries(owner)))
    interpreter.emit("plain_items", [interpreter.object_value(owner)], None, exits=True)  # keys may be compared
    return made_by(interpreter, COPIES[made], type_with_entries(made, kinds), [interpreter.object_value(owner)])


def _of_sets(symbol: str) -> Callable[..., Optional[Abstract]]:
    def combined(interpreter: Interpreter, left: Abstract, right: Abstract) -> Optional[Abstract]:
        """An operator on two sets; the result is of the left one's class. None for other operands."""
        kinds = class_of(left), class_of(right)
        if not all(is_among(kind, SETS) for kind in kinds):
            return None
        return made_by(interpreter, OPERATORS[symbol], Object(kinds[0]),
                       [interpreter.object_value(left), interpreter.object_value(right)])
    return combined


JOINS: Dict[str, Callable[..., Optional[Abstract]]] = {"+": joined, "*": repeated}
JOINS.update((symbol, _of_sets(symbol)) for symbol in OPERATORS)


def taken_apart(interpreter: Interpreter, value: Abstract, count: int) -> List[Abstract]:
    """The ``count`` items of a value that is unpacked; the kernel exits where it has another number of items."""
    if isinstance(value, (Lazy, GeneratorFrame)):
        value = comprehensions.consume(interpreter, LIST, value)
    if is_object(value):
        value = iterator_special(interpreter, value) or value
    items = contents.items_of(interpreter, value) if is_container(value) or not isinstance(value, Instance) else None
    if isinstance(value, Instance):
        items = contents.items_of(interpreter, value)
    if items is None and isinstance(value, (LoopIterator, Unrolled)):
        items = all_items(interpreter, value, count)
    if items is not None:
        if len(items) != count:
            raise Break("PJ203", operand="%d items" % len(items))
        return items
    size, item = _parts(interpreter, value)
    wanted = interpreter.emit("const", [], WORD, {"value": count})
    interpreter.emit("require", [interpreter.emit("compare", [size, wanted], FLAG, {"operator": "=="})], None,
                     exits=True)
    return [item(interpreter.emit("const", [], WORD, {"value": k})) for k in range(count)]


def taken_apart_with_rest(interpreter: Interpreter, value: Abstract, before: int,
                          after: int) -> Optional[List[Abstract]]:
    """``a, *b, c = value`` of an array or a long list: the items at both ends, around a new list of the others.

    None for other values. The kernel exits where there are too few items.
    """
    expected = expectations.items_expected(interpreter, value)
    if expected is not None:
        value = Instance(expected, interpreter.object_value(value))
    elif not isinstance(value, Tensor) or not value.type.ndim:
        return None
    size, item = _parts(interpreter, value)
    wanted = interpreter.emit("const", [], WORD, {"value": before + after})
    interpreter.emit("require", [interpreter.emit("compare", [size, wanted], FLAG, {"operator": ">="})], None,
                     exits=True)
    first = [item(interpreter.emit("const", [], WORD, {"value": k})) for k in range(before)]
    last = [item(interpreter.emit("sub", [size, interpreter.emit("const", [], WORD, {"value": k})], WORD))
            for k in range(after, 0, -1)]
    rest = StackSlice((Const(before), Const(-after) if after else Const(None), Const(None)))
    if isinstance(value, Tensor):
        return first + [comprehensions.consume(interpreter, LIST, indexing.view_of(interpreter, value, [rest]))] + last
    return first + [part_of(interpreter, value, rest.parts)] + last


def _parts(interpreter: Interpreter, value: Abstract) -> Tuple[Value, Any]:
    """The length of an array or of a list of alike items, and a function that makes the item at a position."""
    if isinstance(value, Tensor) and value.type.ndim:
        return (interpreter.emit("dim", [ssa_value(value)], WORD, {"axis": 0}),
                lambda index: element_of(interpreter, value, index))
    if isinstance(value, LoopIterator) and value.kind in ("list", "sequence"):
        whole, item = _parts(interpreter, value.parts[0])
        done = value.words[0]
        return (interpreter.emit("sub", [whole, done], WORD),
                lambda index: item(interpreter.emit("add", [done, index], WORD)))
    if (isinstance(value, Instance) and isinstance(value.type, (ListOf, Holding))
            and value.type.python is list):
        size = interpreter.emit("list_size", [interpreter.object_value(value)], WORD)
        return size, lambda index: reads.item_of_list(interpreter, value, index)
    if isinstance(value, Instance) and isinstance(value.type, TupleOf):
        size = interpreter.emit("list_size", [interpreter.object_value(value)], WORD)
        return size, lambda index: reads.item_of_tuple(interpreter, value, index)
    raise Break("PJ203")


def known_keys(interpreter: Interpreter, value: Abstract) -> List[Any]:
    """The keys of a short dict, ints and strings, under guards; Break for other dicts."""
    known = class_of(value) is dict and (isinstance(value, KnownContainer)
                                         or not expectations.is_changing(interpreter, value))
    length = contents.length_of(interpreter, value) if known else None
    if length is None or length > interpreter.context.unrolling:
        raise Break("PJ209", type=describe(value), length=length)
    return [interpreter.use(contents.key_at(interpreter, value, position)).object for position in range(length)]


def known_pairs(interpreter: Interpreter, value: Abstract) -> Dict[Any, Abstract]:
    """The items of a short dict by their keys, under guards."""
    return {key: interpreter.use(item_reads.container_item(interpreter, value, Const(key)))
            for key in known_keys(interpreter, value)}


def joined_dicts(interpreter: Interpreter, dicts: List[Abstract]) -> KnownContainer:
    """``{**one, **other}``: the runtime copies the keys, so they stay the same objects."""
    items: Dict[Any, Abstract] = {}
    for one in dicts:
        items.update(known_pairs(interpreter, one))
    made = made_by(interpreter, "helpers.joined", Object(dict), [interpreter.object_value(one) for one in dicts])
    return KnownContainer(Object(dict), tuple(items), list(items.values()), made.value)


def all_items(interpreter: Interpreter, value: Abstract, most: int) -> Optional[List[Abstract]]:
    """All items of an iterable, in order; None unless their number is known and at most ``most``."""
    iterator, items = iterator_over(interpreter, value), []  # type: Any, List[Abstract]
    while True:
        step = step_of(interpreter, iterator)
        if not isinstance(step.more, bool) or len(items) > most:
            return None
        if not step.more:
            return items
        item = interpreter.use(step.item())
        if isinstance(item, Sequence) and item.value is None and item.root is None:  # the step has made it
            item = constructions.new_tuple(interpreter, [interpreter.use(part) for part in item.items])
        items.append(item)
        iterator = step.following
