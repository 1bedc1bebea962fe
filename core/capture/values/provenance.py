"""Provenance: the paths by which a segment fetches its input values."""

from __future__ import annotations

from typing import Any, Container, List

from pijit.core.capture.values.base import Composite
from pijit.core.capture.values.lattice import (
    Abstract,
    Const,
    Instance,
    KnownContainer,
    LoopIterator,
    Number,
    OpaqueObject,
    Range,
    Sequence,
    TypedValue,
    Unbound,
    UnescapedFunction,
    Unknown,
    Unrolled,
)
from pijit.core.capture.values.virtual_object import VirtualObject, is_cell, is_row
from pijit.core.errors import Break
from pijit.core.graph.ir import Value
from pijit.core.graph.types import Object
from pijit.core.named_tuples import NamedTuple
from pijit.guards.source import Attr, Inner, Item, TypeOf


class Root(NamedTuple):
    """The start of a path.

    It is a local variable ("local", name), an operand stack item ("stack", k), the content of a cell or free variable
    ("cell", k), or the cell itself ("closure", k).
    """

    kind: str
    name: Any

    def __str__(self) -> str:
        text: str = {"local": "L[%r]", "stack": "stack[%d]", "cell": "cell %d",
                     "closure": "closure[%d]"}[self.kind] % self.name
        return text


def with_value(value: TypedValue, ssa: Value) -> TypedValue:
    """A copy of ``value`` that is carried by this SSA value."""
    copy = type(value)(value.type, ssa, value.source, value.defined_at)
    copy.root = value.root
    if isinstance(value, Number):
        copy.sample = value.sample  # type: ignore[attr-defined]
    return copy


def with_items(value: KnownContainer) -> KnownContainer:
    """A list or dict at the start of a segment, with the paths to its items."""
    if value.root is None:
        raise Break("PJ218")
    keys = value.keys if value.keys is not None else range(len(value.items))
    copy = value.like([rooted(item, Item(value.root, key)) for item, key in zip(value.items, keys)], None)
    copy.root = value.root
    return copy


def found_virtual_object(value: VirtualObject, root: Any) -> VirtualObject:
    """A virtual object that captured code made before the segment, as the segment finds it."""
    cls = Const(value.python)
    cls.root = TypeOf(root) if root is not None else None
    return value.like(cls=cls, items=tuple(rooted(item, None) for item in value.items), value=None, origin=None,
                      settled=True)


def attribute_paths(value: VirtualObject, path: Any) -> List[Any]:
    """The paths to the attributes or items of a virtual object that is found at a path."""
    step, names = Inner if is_cell(value) else Attr, value.names  # type: Any, Any
    if is_row(value):
        step, names = Item, range(len(value.items))
    return [step(path, name) for name in names]


def with_attributes(value: VirtualObject) -> VirtualObject:
    """A virtual object at the start of a segment, with the paths to its attributes or items."""
    return value.like(items=tuple(map(rooted, value.items, attribute_paths(value, value.root))))


def rooted(value: Abstract, root: Any, keep: bool = False) -> Abstract:
    """A copy of ``value`` with the path by which the segment finds it. Without ``keep`` its SSA values are dropped."""
    if isinstance(value, KnownContainer):
        copy: Abstract = value.like([rooted(item, None) for item in value.items], None)
        copy.root = root
        return copy
    if isinstance(value, TypedValue):
        copy = type(value)(value.type, value.value if keep else None, value.source, value.defined_at)
        if isinstance(value, Number):
            copy.sample = value.sample  # type: ignore[attr-defined]
    elif isinstance(value, Const):
        copy = Const(value.object, value.source, value.defined_at)
    elif isinstance(value, OpaqueObject):
        copy = OpaqueObject(value.sample, value.source, value.defined_at)
    elif isinstance(value, VirtualObject):
        copy = found_virtual_object(value, root)
    elif isinstance(value, Sequence):
        items = value.items if keep else [rooted(item, None) for item in value.items]
        copy = Sequence(list(items), value.source, value.defined_at, value.value if keep else None)
    elif isinstance(value, Composite):
        parts = value.parts if keep else tuple(rooted(part, None) for part in value.parts)
        copy = value.like(parts, value.source, value.value if keep else None)
    elif isinstance(value, Range) and not keep:
        copy = Instance(Object(range), None, None, value.defined_at)
    elif isinstance(value, LoopIterator):
        copy = LoopIterator(value.kind, (), tuple(rooted(part, None) for part in value.parts), None, value.defined_at)
    elif isinstance(value, Unrolled) and value.owner.root is None:  # made before the segment, which has no path to it
        return value.over(rooted(value.owner, None), value.position)
    elif isinstance(value, UnescapedFunction) and value.name is not None:
        copy = value.with_parts(value.free)
    elif isinstance(value, Unknown) and (isinstance(root, Item) or isinstance(root, Root) and root.kind == "stack"):
        # the item exists, whatever its type
        copy = Unknown(value.reason, value.defined_at)
    else:
        return value
    copy.root = root
    return copy


def rooted_stack(stack: List[Abstract], empty: Container[int]) -> List[Abstract]:
    """The operand stack at the start of a segment. The segment cannot fetch items at the positions ``empty``."""
    return [Unknown("PJ212", value.defined_at) if k in empty and not isinstance(value, Unbound)
            else rooted(value, Root("stack", k))
            for k, value in enumerate(stack)]
