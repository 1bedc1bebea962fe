"""Effects on Python objects for the Python back end, with the rules of native/runtime/objects/stores.h.

Kernels of this back end call these functions by the names in NAMES. They must never run user code: where it would run,
they raise, and the operation's exit is taken.
"""

from __future__ import annotations

import builtins
import heapq
import sys
import types
import weakref
from typing import Any, Dict, Tuple, cast

import numpy as np

from pijit.core import _launcher
from pijit.core.graph.draws import DRAWS
from pijit.core.graph.ops import OPS
from pijit.core.graph.types import Array
from pijit.core.kernel.reference.runtime import fitting
from pijit.guards._evaluate import attribute_rule, find
from pijit.guards.facts import WRITEABLE, is_exactly
from pijit.guards.held import is_heap_type
from pijit.guards.reading import class_value, instance_dict, own_value, read_attribute
from pijit.guards.source import UNBOUND

_QUIET = (int, float, complex, bool, str, bytes, type(None))
_HELD_HERE = 3
"""References to an examined object: from its location, from the parameter, and from getrefcount's argument."""


class BailOut(Exception):
    """Only bytecode can do the operation."""


def _dies_quietly(old: Any) -> bool:
    """Whether the destruction of an object runs no user code."""
    plain = is_exactly(old, _QUIET) or issubclass(type(old), np.number) and not is_heap_type(type(old))
    return plain or _is_plain_array(old)


def _replace(old: Any, count: int = _HELD_HERE) -> None:
    """Raise if dropping the last reference to an object could run user code."""
    if sys.getrefcount(old) <= count + 1 and not _dies_quietly(old):
        raise BailOut


def _is_plain_array(value: Any) -> bool:
    """Whether an array has no weak references and holds no objects, and the same is true of its bases."""
    return value is None or (type(value) is np.ndarray and not value.dtype.hasobject
                             and weakref.getweakrefcount(value) == 0 and _is_plain_array(value.base))


def append(target: Any, value: Any) -> None:
    list.append(target, value)


def store_item(target: Any, index: int, value: Any) -> None:
    _replace(target[index])
    target[index] = value


def _require_plain_hooks(kind: type) -> None:
    """Raise if the class handles stores of attributes."""
    if any(class_value(kind, hook) is not class_value(object, hook) for hook in ("__setattr__", "__delattr__")):
        raise BailOut


def _give_up_attr(owner: Any, name: str) -> None:
    """Raise unless the attribute is plain, and dropping its value runs no user code."""
    kind = type(owner)
    found = class_value(kind, name)
    if issubclass(kind, types.ModuleType):
        raise BailOut
    if class_value(type(found), "__set__") is not UNBOUND:
        if type(found) is not types.MemberDescriptorType:
            raise BailOut
        _replace(getattr(owner, name, None))
    elif sys.getrefcount(owner.__dict__) > 2:
        raise BailOut
    else:
        _replace(_value(owner.__dict__, name))


def store_attr(owner: Any, name: str, value: Any) -> None:
    kind = type(owner)
    if kind is types.ModuleType:
        _replace(_value(owner.__dict__, name))
        owner.__dict__[name] = value
        return
    if issubclass(kind, type) and class_value(kind, "__setattr__") is type.__setattr__:
        _replace(own_value(owner, name))
        type.__setattr__(owner, name, value)
        return
    _require_plain_hooks(kind)
    plain_store_attr(owner, name, value)


def plain_store_attr(owner: Any, name: str, value: Any) -> None:
    _give_up_attr(owner, name)
    object.__setattr__(owner, name, value)


def delete_attr(owner: Any, name: str) -> None:
    _require_plain_hooks(type(owner))
    _give_up_attr(owner, name)
    object.__delattr__(owner, name)


def store_global(name: str, value: Any) -> None:
    scope = sys._getframe(2).f_globals
    _replace(_value(scope, name))
    scope[name] = value


def delete_global(name: str) -> None:
    scope = sys._getframe(2).f_globals
    _replace(_value(scope, name))
    del scope[name]


def store_cell(cell: Any, value: Any) -> None:
    try:
        _replace(cell.cell_contents)
    except ValueError:
        pass
    cell.cell_contents = value


def delete_cell(cell: Any) -> None:
    _replace(cell.cell_contents)
    del cell.cell_contents


def _give_up_part(target: Any, part: slice) -> None:
    """Raise unless dropping all items of a part of a list runs no user code."""
    if not all(map(_dies_quietly, target[part])):
        raise BailOut


def store_slice(target: Any, part: slice, items: Any) -> None:
    _give_up_part(target, part)
    target[part] = items


def delete_slice(target: Any, part: slice) -> None:
    _give_up_part(target, part)
    del target[part]


def delete_item(target: Any, index: int) -> None:
    _replace(target[index])
    del target[index]


def insert(target: Any, index: int, value: Any) -> None:
    target.insert(index, value)


def extend(target: Any, items: Any) -> None:
    target.extend(items)


def reverse(target: Any) -> None:
    target.reverse()


def _require_no_namespace(target: Any) -> None:
    """Raise for the dict of a module's global variables or of the builtins, because guards depend on their contents."""
    if type(target) is dict and (target is builtins.__dict__ or "__builtins__" in target):
        raise BailOut


def clear(target: Any) -> None:
    """Clear a list, a dict or a set."""
    _require_no_namespace(target)
    if not all(_dies_quietly(item) for item in (target.values() if type(target) is dict else target)):
        raise BailOut
    target.clear()


def _value(target: Any, key: Any, default: Any = None) -> Any:
    """The value that a dict has under a key; raises where the lookup would run code of a key."""
    found = find(target, key)
    return default if found is UNBOUND else found


def has_key(target: Any, key: Any) -> bool:
    """Whether a dict or a set has a key."""
    return find(target, key) is not UNBOUND


def store_key(target: Any, key: Any, value: Any) -> None:
    _require_no_namespace(target)
    _replace(_value(target, key))
    target[key] = value


def delete_key(target: Any, key: Any) -> None:
    _require_no_namespace(target)
    _replace(_value(target, key))
    del target[key]


def discard_key(target: Any, key: Any) -> None:
    _require_no_namespace(target)
    if _value(target, key, UNBOUND) is not UNBOUND:
        delete_key(target, key)


def update(target: Any, more: Any) -> None:
    _require_no_namespace(target)
    if not all(type(key) in (int, str) and _dies_quietly(_value(target, key)) for key in more):
        raise BailOut
    target.update(more)


def set_add(target: Any, value: Any) -> None:
    find(target, value)
    target.add(value)


def set_discard(target: Any, value: Any) -> None:
    find(target, value)
    target.discard(value)


def set_remove(target: Any, value: Any) -> None:
    find(target, value)
    target.remove(value)


def sort(target: Any, backwards: int) -> None:
    kinds = {type(item) for item in target}
    if len(kinds) > 1 or not all(_is_comparable(item) for item in target):
        raise BailOut
    target.sort(reverse=bool(backwards))


def find_item(owner: Any, value: Any) -> int:
    for index, item in enumerate(owner):
        if _items_equal(item, value):
            return index
    return -1


def count_items(owner: Any, value: Any) -> int:
    return sum(_items_equal(item, value) for item in owner)


def new_set(items: Any) -> Any:
    return set(items)


def _is_comparable(item: Any) -> bool:
    return _dies_quietly(item) and is_exactly(item, (int, float, bool, str)) or _is_numpy(item)


def _is_numpy(item: Any) -> bool:
    return issubclass(type(item), np.number) and not is_heap_type(type(item))


def _items_equal(item: Any, value: Any) -> bool:
    """Whether two items are equal; raises where user code would run, or NumPy's code for strings."""
    if not all(_is_comparable(one) or one is None for one in (item, value)):
        raise BailOut
    if any(is_exactly(one, (str, type(None))) for one in (item, value)):
        if _is_numpy(item) or _is_numpy(value):
            raise BailOut
        return type(item) is type(value) and item == value
    return bool(item == value)


def load_item(owner: Any, index: int, kind: Any) -> Any:
    return _found(owner[index], kind)


def load_attr(owner: Any, name: str, kind: Any) -> Any:
    found = read_attribute(owner, name) if attribute_rule(owner) == "instance" else UNBOUND
    if found is UNBOUND:
        raise BailOut
    return _found(found, kind)


def lacks_own(owner: Any, name: str) -> bool:
    return name not in (instance_dict(owner) or {})


def load_key(owner: Any, key: Any, kind: Any) -> Any:
    return _found(_value(owner, key, UNBOUND), kind)


def entry_key(owner: Any, end: int, kind: Any) -> Any:
    return _found(cast("Tuple[int, Any, Any]", _launcher.next_entry(owner, end - 1))[1], kind)


def entry_value(owner: Any, end: int, kind: Any) -> Any:
    return _found(cast("Tuple[int, Any, Any]", _launcher.next_entry(owner, end - 1))[2], kind)


def next_entry(owner: Any, position: int) -> int:
    found = _launcher.next_entry(owner, position)
    return found[0] if found is not None else 0


def take_entry(owner: Any) -> None:
    if issubclass(type(owner), set):
        owner.pop()
        return
    _require_no_namespace(owner)
    owner.popitem()


def deque_item(owner: Any, index: int, kind: Any) -> Any:
    return _found(owner[index], kind)


def deque_take(owner: Any, index: int) -> None:
    del owner[index]


def deque_drop(owner: Any, index: int) -> None:
    _let_go(owner[index])
    del owner[index]


def _let_go(item: Any) -> None:
    """Raise if dropping an item of a deque, or the parts of a tuple there, could run user code."""
    for part in item if type(item) is tuple else (item,):
        _replace(part, _HELD_HERE + 1)


def _make_room(owner: Any, index: int) -> None:
    if owner.maxlen is not None and len(owner) >= owner.maxlen:
        if not owner.maxlen:
            raise BailOut
        _let_go(owner[index])


def deque_append(owner: Any, value: Any) -> None:
    _make_room(owner, 0)
    owner.append(value)


def deque_appendleft(owner: Any, value: Any) -> None:
    _make_room(owner, -1)
    owner.appendleft(value)


def _is_plain(item: Any) -> bool:
    """Whether comparing an item runs no user code and gives no warning."""
    if type(item) is tuple:
        return all(map(_is_plain, item))
    return is_exactly(item, (int, float, bool, str)) or is_exactly(item, (np.float64, np.int64)) and item == item


def _require_order(items: Any) -> None:
    """Raise unless all items compare with each other."""
    if not all(map(_is_plain, items)):
        raise BailOut
    sorted(items)


def heap_push(target: Any, value: Any) -> None:
    _require_order(target + [value])
    heapq.heappush(target, value)


def heap_drop(target: Any) -> None:
    _require_order(target)
    heapq.heappop(target)


def hold(value: Any) -> None:
    """Raise unless the kernel's own variable may hold a value: dropping its items must run no user code."""
    if type(value) is list and not all(map(_dies_quietly, value)):
        raise BailOut


def plain_items(items: Any) -> None:
    """Raise unless NumPy runs no user code when it makes an array of these items."""
    for item in items:
        if type(item) in (list, tuple):
            plain_items(item)
        elif not (is_exactly(item, (int, float, complex, bool, str, np.ndarray)) or _is_numpy(item)):
            raise BailOut


def even_rows(items: Any) -> None:
    """Raise unless the rows of a list have one length, and arrays in it one shape, at each depth."""
    _row_shape(items)


def _row_shape(value: Any) -> Tuple[int, ...]:
    """The shape of an array of plain items; raises if they have several."""
    if type(value) not in (list, tuple):
        return np.shape(value)
    shapes = set(map(_row_shape, value))
    if len(shapes) > 1:
        raise BailOut
    return (len(value),) + (shapes.pop() if shapes else ())


def get_key(owner: Any, key: Any, value: Any, kind: Any) -> Any:
    return _found(_value(owner, key, value), kind)


def pop_item(target: Any, index: int, kind: Any) -> Any:
    found = _found(target[index], kind)
    del target[index]
    return found


def pop_key(target: Any, key: Any, kind: Any) -> Any:
    _require_no_namespace(target)
    found = _found(_value(target, key, UNBOUND), kind)
    del target[key]
    return found


def pop_default(target: Any, key: Any, value: Any, kind: Any) -> Any:
    _require_no_namespace(target)
    found = _found(_value(target, key, value), kind)
    target.pop(key, None)
    return found


def setdefault(target: Any, key: Any, value: Any, kind: Any) -> Any:
    _require_no_namespace(target)
    found = _found(_value(target, key, value), kind)
    target.setdefault(key, value)
    return found


def _found(value: Any, kind: Any) -> Any:
    """The object that a read finds; raises unless it has exactly the expected type."""
    if not isinstance(kind, Array):
        return fitting(value, kind)
    if type(value) is not np.ndarray or not _is_array(value, kind):
        raise BailOut
    return value


def _is_array(value: np.ndarray[Any, Any], kind: Array) -> int:
    flags = value.flags
    layout = {"C": flags.c_contiguous, "F": flags.f_contiguous and not flags.c_contiguous, "A": True}[kind.layout]
    alike = value.dtype.isnative and value.dtype.num == kind.dtype.num and value.ndim == kind.ndim
    if not _dies_quietly(value):
        raise BailOut
    return alike and layout and flags.aligned and (flags.num & WRITEABLE or not kind.writeable)


def draw(method: int, generator: Any, *arguments: Any) -> Any:
    return getattr(generator, DRAWS[method].method)(*arguments)


def draw_array(method: int, ndim: int, generator: Any, *arguments: Any) -> Any:
    split = len(arguments) - ndim
    return getattr(generator, DRAWS[method].method)(*arguments[:split], size=arguments[split:])


# operations that differ only for the runtime of machine code
clear_list = clear_dict = clear_set = clear
load_int, get_int, store_int, list_take = load_key, get_key, store_key, deque_take
taken_entry = _launcher.taken_entry


def _functions() -> Dict[str, Any]:
    """The functions of this module by operation; some operations have that of another one."""
    own = {name: found for name, found in globals().items()
           if getattr(found, "__module__", None) in (__name__, _launcher.__name__)}
    return {name: own[info.runtime or name] for name, info in OPS.items() if (info.runtime or name) in own}


NAMES: Dict[str, Any] = _functions()
