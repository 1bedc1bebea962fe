"""Uses of abstract values in a segment: the SSA values of a value and its parts, which the segment may have to fetch.

`GraphBuilder.use` notes the facts that a use relies on. The tables here have a row for each class of values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Union

from pijit.core.capture.build import alias_guards
from pijit.core.capture.models.functions.function_values import FunctionValue, named_function
from pijit.core.capture.models.iteration.iterators import iterator_input
from pijit.core.capture.models.objects import stored_values
from pijit.core.capture.models.objects.composites import found_composite, made_slice
from pijit.core.capture.models.objects.materialize import made_object
from pijit.core.capture.state.return_kinds import CallOutcomes
from pijit.core.capture.values.base import Composite, Thrown
from pijit.core.capture.values.class_table import ClassTable
from pijit.core.capture.values.generator_frame import GeneratorFrame
from pijit.core.capture.values.lattice import (
    Abstract,
    Borrowed,
    Const,
    Instance,
    KnownContainer,
    Lazy,
    LoopIterator,
    Null,
    OpaqueObject,
    PendingOperand,
    Range,
    Sequence,
    StackSlice,
    TypedValue,
    Unbound,
    UnescapedFunction,
    Unknown,
    Unrolled,
    object_type,
)
from pijit.core.capture.values.virtual_object import VirtualObject
from pijit.core.errors import Break
from pijit.core.graph.ir import Value
from pijit.core.graph.types import Object
from pijit.guards.source import Constant, Item

if TYPE_CHECKING:
    from pijit.core.capture.build.graph_builder import GraphBuilder


def _unchanged(builder: GraphBuilder, value: Abstract) -> Abstract:
    """A value without SSA values, or with those that it has had since it was made."""
    return value


def _used_function(builder: GraphBuilder, value: UnescapedFunction) -> UnescapedFunction:
    if value.root is not None:
        alias_guards.note_closure(builder, value, named_function(value).shape.late)
    return value


def _used_function_value(builder: GraphBuilder, value: FunctionValue) -> Composite:
    if value.root is not None:
        alias_guards.note_closure(builder, value, value.shape.late)
    return _used_composite(builder, value)


def _used_composite(builder: GraphBuilder, value: Composite) -> Composite:
    return value if value.root is None or value.value is not None else found_composite(builder, value)


def _used_container(builder: GraphBuilder, value: KnownContainer) -> KnownContainer:
    """A list or dict; at the start of a segment, with the paths to its items."""
    if value.value is not None:
        return value
    if value.root is None:
        raise Break("PJ218")
    keys = value.keys if value.keys is not None else range(len(value.items))
    copy = value.like([item.rooted(Item(value.root, key)) for item, key in zip(value.items, keys)], None)
    copy.root = value.root
    return copy


def _used_virtual_object(builder: GraphBuilder, value: VirtualObject) -> VirtualObject:
    """A virtual object; at the start of a segment, with the paths to its attributes or items."""
    if value.root is None:
        return value
    alias_guards.note_found(builder, value)
    return value.like(items=tuple(item.rooted(path) for item, path in zip(value.items, value.paths(value.root))))


def _used_typed(builder: GraphBuilder, value: TypedValue) -> TypedValue:
    if value.value is not None:
        return value
    if value.root is None:
        raise Break("PJ218")
    copy = value.carried_by(builder.segment_input(value.root, value.type))
    copy.root = value.root
    return copy


def _used_sequence(builder: GraphBuilder, value: Sequence) -> Sequence:
    if value.root is None:
        return value
    items = []
    for position, item in enumerate(value.items):
        part = item.rooted(Item(value.root, position), True)
        part.source = Item(value.source, position) if value.source is not None else None
        items.append(builder.use(part))
    copy = Sequence(items, value.source, value.defined_at, value.value)
    copy.root = value.root
    return copy


def _used_iterator(builder: GraphBuilder, value: LoopIterator) -> LoopIterator:
    return iterator_input(builder, value) if value.root is not None else value


USES: ClassTable[Callable[..., Any]] = ClassTable({
    **dict.fromkeys((Unbound, Unknown, Thrown, PendingOperand, Lazy, Borrowed, Null, Const, OpaqueObject, Range,
                     Unrolled, GeneratorFrame, CallOutcomes), _unchanged),
    Composite: _used_composite,
    FunctionValue: _used_function_value,
    KnownContainer: _used_container,
    LoopIterator: _used_iterator,
    Sequence: _used_sequence,
    TypedValue: _used_typed,
    UnescapedFunction: _used_function,
    VirtualObject: _used_virtual_object,
})
"""The value with its SSA values, which the segment fetches where it did not make them."""


def _found_object(builder: GraphBuilder, value: Abstract) -> Value:
    """The object that the segment finds."""
    if value.root is None:
        raise Break("PJ218")
    return builder.segment_input(value.root, object_type(value))


def _carried_object(builder: GraphBuilder, value: Union[Instance, Composite]) -> Value:
    return value.value if value.value is not None else _found_object(builder, value)


def _tuple_object(builder: GraphBuilder, value: Sequence) -> Value:
    if value.value is not None:
        return value.value
    if value.root is not None:
        return _found_object(builder, value)
    parts = [stored_values.stored_value(builder, builder.use(item)) for item in value.items]
    return builder.emit("new_tuple", parts, Object(tuple))


def _constant_object(builder: GraphBuilder, value: Const) -> Value:
    return builder.segment_input(Constant(value.object) if value.root is None else value.root, object_type(value))


def _slice_object(builder: GraphBuilder, value: StackSlice) -> Value:
    return _carried_object(builder, made_slice(builder, value))


OBJECTS: ClassTable[Callable[..., Value]] = ClassTable({
    **dict.fromkeys((Unbound, Unknown, Thrown, PendingOperand, UnescapedFunction, Lazy, Borrowed, Null, TypedValue,
                     OpaqueObject, Range, LoopIterator, Unrolled, GeneratorFrame, CallOutcomes), _found_object),
    Composite: _carried_object,
    Const: _constant_object,
    Instance: _carried_object,
    Sequence: _tuple_object,
    StackSlice: _slice_object,
    VirtualObject: made_object,
})
"""The SSA value of the pointer to the object of a value that was used."""
