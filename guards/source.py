"""Sources: paths by which a value is fetched again at run time.

A source is a path from a root - a local, a cell, a global - through attributes, items and types. Sources are
immutable and hashable, so two uses of `L['self'].w` are one source and are fetched once. A printed source is the
notation of guards, logs and reports. `fetch` is the Python twin of `native/fetch_inl.h` and follows its rules.

Fetching must not run user code. A value that only code could read counts as absent: `fetch` raises SourceError, and a
guard on it fails. Examples are a property, a `__getattr__` of a module or class, and an item of a dict subclass. So is
a function read from an instance, because each access binds it again. `Attr` has the rules for attributes.
"""

from __future__ import annotations

import builtins as builtins_module
import sys
import types
import weakref
from typing import Any, Dict, List, Sequence, Tuple, Union

import numpy

from pijit.guards._evaluate import UNBOUND, attribute_rule, present_dict
from pijit.guards.facts import describe, is_exactly, is_heap_type, type_name
from pijit.guards.reading import (
    NoPlaceError,
    SourceError,
    class_value,
    dict_item,
    instance_dict,
    is_plain_tuple,
    mro_of,
    own_attribute,
    read_attribute,
    read_class_attribute,
    read_item,
)

__all__ = ["Attr", "ClosureCell", "ClassAttr", "Constant", "Global", "Inner", "Item", "KeyAt", "Local", "NoPlaceError",
           "Record", "Scope", "Source", "SourceError", "TypeOf", "UNBOUND", "is_absent", "is_plain_tuple",
           "read_attribute", "read_class_attribute", "read_item"]


_set = object.__setattr__


class Record:
    """Base of sources and guards: slotted, immutable, compared and hashed by the values of `fields`.

    A subclass lists its constructor's arguments in `fields` and has a slot for each. It overrides `identity` if a
    field is not compared by `==`.
    """

    __slots__ = ("_identity", "_hash")
    fields: Tuple[str, ...] = ()
    _identity: Tuple[Any, ...]
    _hash: int

    def __init__(self, *values: Any, **named: Any) -> None:
        fields = self.fields
        if named:
            given = dict(zip(fields, values), **named)
            if len(values) + len(named) != len(fields) or set(given) != set(fields):
                raise TypeError(f"{type(self).__name__} takes exactly {', '.join(fields)}")
            values = tuple([given[name] for name in fields])
        elif len(values) != len(fields):
            raise TypeError(f"{type(self).__name__} takes exactly {', '.join(fields)}")
        for name, value in zip(fields, values):
            _set(self, name, value)
        identity = self.identity()
        _set(self, "_identity", identity)
        _set(self, "_hash", hash((type(self), identity)))

    def identity(self) -> Tuple[Any, ...]:
        """The values that equality and hash depend on."""
        return tuple([getattr(self, name) for name in self.fields])

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable")

    __delattr__ = __setattr__  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(self) is not type(other):
            return NotImplemented
        return self._hash == other._hash and self._identity == other._identity

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), tuple(getattr(self, name) for name in self.fields)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self}>"


class Source(Record):
    """Base of all sources; `children` are the sources it reads from.

    Example:
        >>> str(Item(Local(1, "xs"), 2))
        "L['xs'][2]"
    """

    __slots__ = ()

    @property
    def children(self) -> Tuple["Source", ...]:
        """The sources that this one reads from: its base, or none for a root."""
        return ()

    def fetch(self, values: Sequence[Any], globals: Dict[str, Any], builtins: Dict[str, Any]) -> Any:
        """The value, as C fetches it.

        Args:
            values: the root array, UNBOUND for a slot without a value.
            globals, builtins: the frame's dicts.

        Raises:
            SourceError: the value is absent or not readable without running user code.
        """
        raise NotImplementedError

    def is_same(self, one: Any, other: Any) -> bool:
        """Whether two fetches of one value have given these."""
        return one is other


class Local(Source):
    """The local variable `name` in slot `index` of the root array: `L['x']`."""

    __slots__ = fields = ("index", "name")
    index: int
    name: str

    def __str__(self) -> str:
        return self.name if "[" in self.name else f"L[{self.name!r}]"  # "stack[0]", an argument of launchers

    def fetch(self, values: Sequence[Any], globals: Dict[str, Any], builtins: Dict[str, Any]) -> Any:
        if self.index >= len(values):
            raise NoPlaceError(f"there is no slot {self.index} for {self}")
        if values[self.index] is UNBOUND:
            raise SourceError(f"{self} is unbound")
        return values[self.index]


class ClosureCell(Source):
    """The content of the cell in slot `index` of the root array: `closure cell 'w'`."""

    __slots__ = fields = ("index", "name")
    index: int
    name: str

    def __str__(self) -> str:
        return f"closure cell {self.name!r}"

    def fetch(self, values: Sequence[Any], globals: Dict[str, Any], builtins: Dict[str, Any]) -> Any:
        cell: Any = values[self.index] if self.index < len(values) else UNBOUND
        if type(cell) is not CellType:
            raise NoPlaceError(f"slot {self.index} does not hold {self}")
        try:
            return cell.cell_contents
        except ValueError:
            raise SourceError(f"{self} is empty") from None


class Global(Source):
    """The value that LOAD_GLOBAL finds for `name`, in the globals and then the builtins: `G['np']`."""

    __slots__ = fields = ("name",)
    name: str

    def __str__(self) -> str:
        return f"G[{self.name!r}]"

    def fetch(self, values: Sequence[Any], globals: Dict[str, Any], builtins: Dict[str, Any]) -> Any:
        for scope in (globals, builtins):
            if type(scope) is not dict:
                raise NoPlaceError(f"the globals or builtins to look for {self} in are not a plain dict")
            value = dict_item(scope, self.name)
            if value is not UNBOUND:
                return value
        raise SourceError(f"{self} is not defined")


class Scope(Source):
    """The dict of globals."""

    __slots__ = fields = ()

    def __str__(self) -> str:
        return "globals()"

    def fetch(self, values: Sequence[Any], globals: Dict[str, Any], builtins: Dict[str, Any]) -> Any:
        return globals


class Attr(Source):
    """The attribute `name` of the value of `base`: `G['np'].sqrt`.

    Instances and modules: only if the type reads attributes the ordinary way (no `__getattribute__`, no
    `__getattr__`). The value is a slot, else in the instance's dict, else a class attribute without `__get__` or a
    plain staticmethod.

    Classes: only if the metaclass reads attributes the ordinary way. The value is in the MRO. It has no `__get__`, or
    is a function, jitted function, staticmethod, property, slot, method descriptor or field of a named tuple.

    All other attributes count as absent: properties and other descriptors, bound methods, class methods, a module's
    `__getattr__`.
    """

    __slots__ = fields = ("base", "name")
    base: Source
    name: str

    def __str__(self) -> str:
        return f"{self.base}.{self.name}"

    @property
    def children(self) -> Tuple[Source, ...]:
        return (self.base,)

    def fetch(self, values: Sequence[Any], globals: Dict[str, Any], builtins: Dict[str, Any]) -> Any:
        base = self.base.fetch(values, globals, builtins)
        value = read_attribute(base, self.name)
        if value is UNBOUND:
            raise SourceError(f"{self.base}, now {describe(base)}, has no attribute {self.name!r} that can "
                              "be read without running code")
        return value


class Item(Source):
    """Item `key` of the value of `base`: `L['xs'][2]`.

    The value is a plain tuple or exact list (int key) or an exact dict (int or str key). A plain tuple may be of a
    subclass that reads items as tuples do, such as a named tuple.
    """

    __slots__ = fields = ("base", "key")
    base: Source
    key: Union[int, str]

    def __init__(self, base: Source, key: Union[int, str]) -> None:
        if type(key) not in (int, str):
            raise TypeError(f"the key of an Item source is an int or a str, not {type(key).__name__}")
        super().__init__(base, key)

    def __str__(self) -> str:
        return f"{self.base}[{self.key!r}]"

    @property
    def children(self) -> Tuple[Source, ...]:
        return (self.base,)

    @property
    def position(self) -> int:
        """The key as a machine-sized position; out of every range if it does not fit."""
        if type(self.key) is int and -sys.maxsize <= self.key <= sys.maxsize:
            return self.key
        return sys.maxsize

    def fetch(self, values: Sequence[Any], globals: Dict[str, Any], builtins: Dict[str, Any]) -> Any:
        base = self.base.fetch(values, globals, builtins)
        value = read_item(base, self.key)
        if value is UNBOUND:
            raise SourceError(f"{self.base}, now {describe(base)}, has no item {self.key!r}")
        return value


class KeyAt(Source):
    """The key at index `position` of the value of `base`, a dict, in insertion order: `list(L['d'])[0]`."""

    __slots__ = fields = ("base", "position")
    base: Source
    position: int

    def __str__(self) -> str:
        return f"list({self.base})[{self.position}]"

    @property
    def children(self) -> Tuple[Source, ...]:
        return (self.base,)

    def fetch(self, values: Sequence[Any], globals: Dict[str, Any], builtins: Dict[str, Any]) -> Any:
        base = self.base.fetch(values, globals, builtins)
        if type(base) is not dict or self.position >= len(base):
            raise SourceError(f"{self.base}, now {describe(base)}, has no key number {self.position}")
        return list(base)[self.position]


class TypeOf(Source):
    """The exact type of the value of `base`: `type(L['x'])`."""

    __slots__ = fields = ("base",)
    base: Source

    def __str__(self) -> str:
        return f"type({self.base})"

    @property
    def children(self) -> Tuple[Source, ...]:
        return (self.base,)

    def fetch(self, values: Sequence[Any], globals: Dict[str, Any], builtins: Dict[str, Any]) -> Any:
        return type(self.base.fetch(values, globals, builtins))


class ClassAttr(Source):
    """The class attribute that a read of `name` finds for the value of `base`, neither bound nor run:
    `type(L['x']).step`.

    It is the function, property or classmethod object itself. The type must read attributes the ordinary way, and the
    instance must have no attribute that comes first. If the value of `base` is a class, the attribute is in its MRO,
    and no data descriptor of the metaclass comes first.
    """

    __slots__ = fields = ("base", "name")
    base: Source
    name: str

    def __str__(self) -> str:
        return f"type({self.base}).{self.name}"

    @property
    def children(self) -> Tuple[Source, ...]:
        return (self.base,)

    def fetch(self, values: Sequence[Any], globals: Dict[str, Any], builtins: Dict[str, Any]) -> Any:
        base = self.base.fetch(values, globals, builtins)
        value = read_class_attribute(base, self.name)
        if value is UNBOUND:
            raise SourceError(f"the class of {self.base}, now {describe(base)}, has no attribute {self.name!r} that "
                              "a read would find there")
        return value


class Inner(Source):
    """A part of a function, method or cell that is a computed attribute in Python: `L['f'].__defaults__`.

    It is None if a function has no such part. Classes have an MRO and a name, arrays a shape, slices three parts,
    functions a name, and weak references a referent. `__dict__` is an instance's own
    dict, even if its class defines `__dict__` otherwise. `present_dict` is that dict, or None if there is none yet; it
    is not made. `memory` is a new plain array with the memory of an array of a subclass.
    """

    __slots__ = fields = ("base", "part")
    base: Source
    part: str
    PARTS = ("__defaults__", "__kwdefaults__", "cell_contents", "__func__", "__self__", "__dict__", "__mro__",
             "shape", "start", "stop", "step", "__name__", "referent", "present_dict", "memory")

    def __init__(self, base: Source, part: str) -> None:
        if part not in self.PARTS:
            raise TypeError(f"an Inner source is one of {', '.join(self.PARTS)}, not {part!r}")
        super().__init__(base, part)

    def __str__(self) -> str:
        if self.part == "present_dict":
            return f"{self.base}.__dict__"
        if self.part == "memory":
            return f"np.asarray({self.base})"
        if self.part == "referent" and isinstance(self.base, Constant):
            return describe(self.base.value())
        return f"{self.base}.{self.part}"

    @property
    def children(self) -> Tuple[Source, ...]:
        return (self.base,)

    def is_same(self, one: Any, other: Any) -> bool:
        return one.base is other.base if self.part == "memory" else one is other

    @property
    def number(self) -> int:
        """The number of the part for C."""
        return self.PARTS.index(self.part)

    def fetch(self, values: Sequence[Any], globals: Dict[str, Any], builtins: Dict[str, Any]) -> Any:
        base = self.base.fetch(values, globals, builtins)
        if self.part == "__mro__" and issubclass(type(base), type):
            return mro_of(base)
        if self.part == "__dict__" and attribute_rule(base) != "type" and instance_dict(base) is not None:
            return instance_dict(base)
        if self.part == "present_dict" and attribute_rule(base) != "type":
            try:
                return present_dict(base)
            except TypeError:
                raise SourceError(f"{self.base}, now {describe(base)}, never has a dict") from None
        if self.part == "__name__" and is_heap_type(base):
            return type_name(base)
        if self.part == "memory" and issubclass(type(base), numpy.ndarray) and type(base) is not numpy.ndarray:
            return numpy.ndarray.view(base, numpy.ndarray)
        if not is_exactly(base, _OWNERS[self.number]):
            raise SourceError(f"{self.base}, now {describe(base)}, has no {self.part}")
        if self.part == "referent":
            if base() is None:
                raise SourceError(f"the object of {self.base} is gone")
            return base()
        try:
            return getattr(base, self.part)
        except ValueError:
            raise SourceError(f"{self} is empty") from None


class Constant(Source):
    """One object that capture keeps alive, independent of the roots; two are equal if they hold the same object."""

    __slots__ = fields = ("value",)
    value: Any

    def identity(self) -> Tuple[Any, ...]:
        return (id(self.value),)

    def __str__(self) -> str:
        return "builtins" if self.value is builtins_module.__dict__ else f"constant {describe(self.value)}"

    def fetch(self, values: Sequence[Any], globals: Dict[str, Any], builtins: Dict[str, Any]) -> Any:
        return self.value


def _make_cell(value: Any) -> Any:
    return (lambda: value).__closure__[0]  # type: ignore[index]


CellType = type(_make_cell(None))
_FUNCTION, _METHOD, _SLICE = (types.FunctionType,), (types.MethodType,), (slice,)
_IN_C = (types.BuiltinFunctionType,)
_OWNERS = (_FUNCTION, _FUNCTION, (CellType,), _METHOD, _METHOD + _IN_C, (), (), (numpy.ndarray,),
           _SLICE, _SLICE, _SLICE, _IN_C + _FUNCTION, (weakref.ref,), (), ())


def is_absent(base: Any, source: Source) -> bool:
    """Whether `base` certainly does not have the attribute or item that an Attr or Item source reads.

    Raises:
        NoPlaceError: a key of a dict would be compared by its own code.
    """
    if isinstance(source, Item):
        is_container = is_exactly(base, (dict, list)) or is_plain_tuple(base)
        return (is_container and (type(base) is dict or type(source.key) is int)
                and read_item(base, source.key) is UNBOUND)
    assert isinstance(source, Attr)
    rule = attribute_rule(base)
    is_module = issubclass(type(base), types.ModuleType)
    if rule == "code" or is_module or class_value(type(base), source.name) is not UNBOUND:
        return False
    if rule == "type":
        return class_value(base, source.name) is UNBOUND
    return own_attribute(base, source.name) is UNBOUND


def closure_of(source: Source) -> List[Source]:
    """The source and all sources that it reads from, bases first."""
    chain: List[Source] = []
    for child in source.children:
        chain.extend(closure_of(child))
    return chain + [source]
