"""Expected types of items, and results of reads as values of these types.

Models of containers call these functions. An expectation comes from type feedback, or from the items that a container
has during capture; a read checks it.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from functools import reduce
from itertools import islice
from typing import Any, List, Optional, cast

import numpy as np

from pijit.core.bytecode.instructions.predicates import drops, makes_iterator
from pijit.core.capture.models.containers.counter_class import rely_if_counter
from pijit.core.capture.models.objects.classes import class_object
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.state.frame_state import join
from pijit.core.capture.state.heap_locations import Keys, identity_of
from pijit.core.capture.values.describe import describe
from pijit.core.capture.values.element_types import LOOKED_AT, READABLE, list_like, list_of, list_type, type_of
from pijit.core.capture.values.key_value_types import SETS, kinds_of_entries, type_like
from pijit.core.capture.values.lattice import (
    Abstract,
    Const,
    Instance,
    KnownContainer,
    ListElement,
    Number,
    OpaqueObject,
    Sequence,
    Tensor,
    TypedValue,
    Unknown,
    abstract_of,
    class_of,
    number_type,
)
from pijit.core.capture.values.virtual_object import is_virtual_list
from pijit.core.errors import Break
from pijit.core.graph.ir import Value
from pijit.core.graph.ops import GIVES_DEFAULT
from pijit.core.graph.types import FLAG, INT, WORD, Array, Entries, Holding, ListOf, Object, SampledClass, Scalar, Type
from pijit.guards.facts import is_among
from pijit.guards.source import UNBOUND, is_plain_tuple, read_item

CHANGING = READABLE + (set, deque, defaultdict, Counter)
KEYED = (dict, defaultdict, Counter)
"""Classes whose entries are looked up in one way.
Of a defaultdict only existing entries are read; bytecode makes the others."""
FACTORIES = (int, float, complex, list, dict, str)
VIEWS = (("forwards", "items"), ("values", "items"))
"""The kinds of dict iteration that read keys, and those that read values."""
ITEM_KEYS = (int, str)
"""Classes of the keys and positions at which items may be known."""
FOUND = tuple(map(Object, READABLE + (str,)))


def is_changing(interpreter: Interpreter, owner: Abstract) -> bool:
    """Whether the contents of a container are known only at run time."""
    if isinstance(owner, OpaqueObject):
        kind, changed = type(owner.sample), interpreter.context.changed
        return kind is deque or is_among(kind, CHANGING) and (
            (kind, identity_of(owner)) in changed or (kind, None) in changed)
    return type(owner) is Instance and is_among(owner.type.python, CHANGING)


def is_resized(interpreter: Interpreter, owner: Abstract) -> bool:
    """Whether captured code may change which keys a dict has."""
    changed = interpreter.context.changed
    return not isinstance(owner, OpaqueObject) or (Keys, identity_of(owner)) in changed or (Keys, None) in changed


def decides_loop_by(interpreter: Interpreter, owner: Abstract) -> bool:
    """Whether the truth of a container decides here if a loop continues;
    the loop may well change the container."""
    return (isinstance(owner, OpaqueObject) and is_among(type(owner.sample), CHANGING)
            and interpreter.cfg.decides_loop(interpreter.instr.index))


def items_expected(interpreter: Interpreter, value: Abstract) -> Optional[Object]:
    """Expected type of a list that is iterated natively;
    None for other values and for short lists of known items."""
    if class_of(value) is not list or isinstance(value, KnownContainer) or is_virtual_list(value):
        return None
    if isinstance(value, OpaqueObject):
        if len(value.sample) <= interpreter.context.unrolling and not is_changing(interpreter, value):
            return None
        kind = list_like(value.sample[:LOOKED_AT])
        if kind is None or isinstance(kind, Holding) and kind.items == Object(dict):
            kind = list_of_elements(interpreter, value.sample, value.sample)
    elif isinstance(value, Instance) and isinstance(value.type, (ListOf, Holding)):
        kind = value.type
        if isinstance(kind.items, SampledClass) and not interpreter.context.base.types.samples.allows(kind.items):
            kind = None
    else:  # what the loop's header pushed in earlier runs
        observed = interpreter.context.types.feedback.get(interpreter.instr.index + 1)
        kind = list_of(type_of(observed)) if observed is not None else None
        if kind is None and isinstance(observed, OpaqueObject):
            kind = list_of_elements(interpreter, [observed.sample], None)
    if kind is None:
        raise Break("PJ209", type=describe(value))
    return kind


def entries_expected(interpreter: Interpreter, value: Abstract, what: str) -> Optional[Object]:
    """Expected types of the keys and values of a dict that is iterated natively.

    None for other values and for short dicts of known keys.
    """
    if not is_among(class_of(value), KEYED) or isinstance(value, (KnownContainer, Const)):
        return None
    rely_if_counter(interpreter, value, "__iter__")
    if isinstance(value, OpaqueObject):
        if (class_of(value) is dict and len(value.sample) <= interpreter.context.unrolling
                and not is_resized(interpreter, value)):
            return None
        views = [list(islice(view, LOOKED_AT)) for view in (value.sample, value.sample.values())]
        alike = [list_like(views[0]), list_like(views[1]) or list_of_elements(interpreter, views[1], value.sample)]
    else:  # what was stored into it, or what the loop's header pushed in earlier runs
        known = kinds_of_entries(value)
        if known and not any(kind is None and what in views for kind, views in zip(known, VIEWS)):
            return Holding(cast(type, class_of(value)), tuple(kind if what in views else None
                                                              for kind, views in zip(known, VIEWS)))
        header = interpreter.instr.index + (1 if makes_iterator(interpreter.instr) else 2)
        observed = interpreter.context.types.feedback.get(header)
        kind = type_of(observed) if observed is not None else None
        pair = (kind, kind)
        if what == "items":
            is_pair = isinstance(kind, Holding) and kind.python is tuple and len(kind.items) == 2
            pair = cast(Holding, kind).items if is_pair else (None, None)
        alike = [list_of(one) for one in pair]
    if any(kind is None and what in views for kind, views in zip(alike, VIEWS)):
        raise Break("PJ209", type=describe(value))
    return Holding(cast(type, class_of(value)), tuple(cast(Holding, kind).items if what in views else None
                                                      for kind, views in zip(alike, VIEWS)))


def members_expected(interpreter: Interpreter, value: Abstract) -> Optional[Object]:
    """Expected type of the members of a set that is iterated; None for other values."""
    kind = class_of(value)
    if kind is None or not is_among(kind, SETS):
        return None
    if isinstance(value, (OpaqueObject, Const)):
        held = value.sample if isinstance(value, OpaqueObject) else value.object
        known = kinds_of_entries(Instance(type_like(kind, islice(held, LOOKED_AT))))
    else:  # what was stored into it, or what the loop's header pushed in earlier runs
        known = kinds_of_entries(value)
        observed = None if known else interpreter.context.types.feedback.get(interpreter.instr.index + 1)
        known = known or (type_of(observed) if observed is not None else None,)
    if not known or known[0] is None:
        raise Break("PJ209", type=describe(value))
    return Holding(kind, known)


def typed_item(interpreter: Interpreter, name: str, owner: Value, index: Value, kind: Type) -> Abstract:
    """The result of a read operation as a value of this type; of a tuple all items are read as well."""
    found = interpreter.emit(name, [owner, index], kind, exits=True)
    if isinstance(kind, Scalar):
        return Number(kind, found)
    if isinstance(kind, Array):
        return Tensor(kind, found)
    if isinstance(kind, SampledClass):
        return checked_list_element(interpreter, kind, found)
    if not isinstance(kind, Holding) or kind.python is not tuple:
        return Instance(kind, found)
    words = [interpreter.emit("const", [], WORD, {"value": k}) for k in range(len(kind.items) + 1)]
    size = interpreter.emit("list_size", [found], WORD)
    interpreter.emit("require", [interpreter.emit("compare", [size, words[-1]], FLAG, {"operator": "=="})], None,
                     exits=True)
    items = [typed_item(interpreter, "load_item", found, word, part) for word,
             part in zip(words, kind.items)]
    return Sequence(items, value=found)


def found(interpreter: Interpreter, name: str, operands: List[Value], like: Abstract) -> Abstract:
    """The result of a read operation as a value like ``like``."""
    if isinstance(like, Unknown):
        raise Break(like.reason)
    result = readable(like)
    if result is None or name in GIVES_DEFAULT and isinstance(result, Instance):
        raise Break("PJ203", operand=describe(like))
    result.value = interpreter.emit(name, operands, result.type, exits=True)
    return result


def expected(interpreter: Interpreter, owner: Abstract, key: Any) -> Abstract:
    """A value of the type that an item probably has; ``key`` is its key if that is known, else None."""
    observed = interpreter.context.types.feedback.get(interpreter.instr.index)
    if observed is not None:
        return observed
    interpreter.context.findings.guessed.add(interpreter.instr.index)
    if isinstance(owner, Instance) and isinstance(owner.type, Entries) and type(key) in ITEM_KEYS:
        items = list(map(abstract_of, interpreter.context.base.types.samples.entries_like(owner.type.sampled, key)))
    else:
        items = _items_like(owner, key)
    if not items:
        raise Break("PJ218")
    like = reduce(join, items)
    if like.knows_nothing():
        raise Break("PJ213")
    return like


def is_dropped(interpreter: Interpreter) -> bool:
    """Whether the next instruction drops what this one pushes."""
    return drops(interpreter.function.instructions[interpreter.instr.index + 1])


def length_now(interpreter: Interpreter, owner: Abstract) -> Abstract:
    """``len(owner)`` of a container that changes."""
    rely_if_counter(interpreter, owner, "__len__", "__bool__")
    return Number(INT, interpreter.emit("length", [interpreter.object_value(owner)], INT))


def readable(like: Abstract) -> Optional[TypedValue]:
    """A value of this type, as a read gives it; None if no read gives this type."""
    kind = number_type(like)
    if kind is not None:
        return Number(kind)
    if isinstance(like, Tensor):
        return Tensor(like.type)
    container = class_of(like)
    if container is list:
        return Instance(list_type(like))
    return Instance(Object(container)) if is_among(container, READABLE + (str,)) else None


def _of_type(kind: Optional[Type]) -> List[Abstract]:
    """A list of one value of this type; empty if no read gives this type."""
    if isinstance(kind, Scalar):
        return [Number(kind)]
    return [Tensor(kind)] if isinstance(kind, Array) else [Instance(kind)] if kind in FOUND else []


def _items_like(owner: Abstract, key: Any) -> List[Abstract]:
    """Values like the item: the item itself, or one of each type that the container has."""
    if isinstance(owner, Instance) and isinstance(owner.type, (ListOf, Holding)) and owner.type.python is list:
        kind = owner.type.items
        return _of_type(kind)
    if isinstance(owner, Instance) and is_among(owner.type.python, KEYED) and not isinstance(owner, KnownContainer):
        return _of_type((kinds_of_entries(owner) or (None, None))[1])
    if isinstance(owner, (Sequence, KnownContainer)):
        return [value for value in map(readable, owner.items) if value is not None]
    sample = owner.object if isinstance(owner, Const) else getattr(owner, "sample", ())
    if type(sample) is Counter:
        sample = dict(sample)
    if type(sample) is defaultdict:
        factory: Any = sample.default_factory
        made = [factory()] if is_among(factory, FACTORIES) else []
        sample = dict(sample) or dict(enumerate(made))
        key = key if type(key) in ITEM_KEYS and read_item(sample, key) is not UNBOUND else None
    if type(key) in ITEM_KEYS:
        item = read_item(sample, key)
        return [] if item is UNBOUND else [abstract_of(item)]
    if type(sample) is dict:
        sample = list(sample.values())[:LOOKED_AT]
    elif type(sample) is deque:
        sample = list(islice(sample, LOOKED_AT))
    if not (type(sample) is list or is_plain_tuple(sample)):
        return []
    kinds = {id(type(item)): item for item in sample}
    items = sample[:LOOKED_AT] if list(kinds) == [id(np.ndarray)] else list(kinds.values())
    return [abstract_of(item) for item in items]


def list_of_elements(interpreter: Interpreter, samples: Any, owner: Any) -> Optional[Object]:
    """The type of a list of objects like these samples,
    which the instruction iterates or takes an item of; else None."""
    found_by = id(owner), interpreter.function.code, interpreter.instr.index
    if samples and all(type(one) is dict for one in samples[:LOOKED_AT]):
        return Holding(list, interpreter.context.base.types.samples.entries(samples, found_by))
    kind = interpreter.context.base.types.samples.element_type(samples, found_by)
    return Holding(list, kind) if kind is not None else None


def checked_list_element(interpreter: Interpreter, kind: SampledClass, found: Any) -> ListElement:
    """A list element that was read, after a check of its class."""
    element = ListElement(kind, found)
    if kind.python is not None:
        cls = interpreter.object_value(class_object(interpreter, element))
        flag = interpreter.emit("has_class", [found, cls], FLAG)
        interpreter.emit("require", [flag], None, exits=True)
    return element


def typed(kind: Type, value: Optional[Value]) -> Abstract:
    """A value of a type: an array, a list or named tuple, or a number."""
    if isinstance(kind, Object):
        return Instance(kind, value)
    return Tensor(kind, value) if isinstance(kind, Array) else Number(cast(Scalar, kind), value)
