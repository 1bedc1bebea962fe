"""The abstract frame: locals and operand stack before an instruction, and their join where paths meet.

It also invalidates or weakens container contents where code may have changed them. Analysis, interpreter and models use
it. It must not emit operations.
"""

from __future__ import annotations

import operator
from typing import Callable, Container, Dict, Iterable, List, Optional, Set, Tuple, cast

from pijit.core.capture.values.class_table import ClassTable
from pijit.core.capture.values.element_types import (
    DEEPEST,
    LONGEST_TUPLE,
    common_type,
    is_like,
    list_of,
    nesting,
    type_of,
)
from pijit.core.capture.values.generator_frame import GeneratorFrame, is_generating
from pijit.core.capture.values.key_value_types import (
    ENTERED,
    EntryTypes,
    joined_kinds,
    kinds_of_entries,
    type_with_entries,
)
from pijit.core.capture.values.lattice import (
    KERNEL_LOCAL,
    Abstract,
    CellRef,
    Const,
    Instance,
    KnownContainer,
    ListElement,
    LoopIterator,
    Number,
    PendingOperand,
    Sequence,
    Tensor,
    TypedValue,
    Unbound,
    Unknown,
    Unrolled,
    class_of,
    number_type,
    pointer_class,
)
from pijit.core.capture.values.provenance import Root
from pijit.core.capture.values.virtual_object import VirtualObject, is_virtual_tuple
from pijit.core.graph.types import Holding, ListOf, Object, SampledClass, Type, Vacant
from pijit.guards.facts import is_among


class FrameState:
    """The abstract state before one instruction: locals by name, and the operand stack, bottom first."""

    __slots__ = ("locals", "stack")

    def __init__(self, locals: Dict[str, Abstract], stack: List[Abstract]) -> None:
        self.locals = locals
        self.stack = stack

    def copy(self) -> "FrameState":
        return FrameState(dict(self.locals), list(self.stack))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FrameState) and self.locals == other.locals and self.stack == other.stack

    def __repr__(self) -> str:
        return "State(%r, %r)" % (self.locals, self.stack)


def rooted_stack(stack: List[Abstract], empty: Container[int]) -> List[Abstract]:
    """The operand stack at the start of a segment. The segment cannot fetch items at the positions ``empty``."""
    return [Unknown("PJ212", value.defined_at) if k in empty and not isinstance(value, Unbound)
            else value.rooted(Root("stack", k))
            for k, value in enumerate(stack)]


def same_values(one: FrameState, other: FrameState, names: List[str], level: Optional[int]) -> bool:
    """Whether two states have identical values in these variables and in the stack below a level."""
    if any(one.locals.get(name) is not other.locals.get(name) for name in names):
        return False
    left, right = one.stack[:level], other.stack[:level]
    return len(left) == len(right) and all(map(operator.is_, left, right))


def join(left: Abstract, right: Abstract) -> Abstract:
    """The most precise abstract value that covers both; Unknown (PJ213) when nothing in common is known."""
    if left is right:
        return left
    joined = left.joined_with(right, join)
    if joined is not None:
        return joined
    classes = pointer_class(left), pointer_class(right)
    some = isinstance(left, Instance) or isinstance(right, Instance)
    if some and classes[0] is not None and classes[0] is classes[1]:
        return Instance(_joined_type(left, right, classes[0]), defined_at=left.defined_at)
    number = number_type(left)
    if number is not None and number == number_type(right):
        return Number(number, defined_at=left.defined_at)
    if may_be_unbound(left) or may_be_unbound(right):
        return Unknown("PJ212", left.defined_at)
    return Unknown("PJ213" if not isinstance(left, Unknown) and not isinstance(right, Unknown) else "PJ218",
                   left.defined_at)


def _joined_type(left: Abstract, right: Abstract, python: type) -> Object:
    if is_among(python, ENTERED):
        return type_with_entries(python, joined_kinds(kinds_of_entries(left), kinds_of_entries(right)))
    return list_of_kinds(together([*item_kinds(left), *item_kinds(right)])) if python is list else Object(python)


def list_of_kinds(kinds: Set[Optional[Type]]) -> Object:
    """The type of a list with elements of these types. None among them stands for any type."""
    known = list(kinds)
    if not known:
        return Vacant()
    kind = known[0]
    for other in known[1:]:
        kind = common_type(kind, other)
    return list_of(kind) or Object(list)


def item_kind(value: Abstract, depth: int = 0) -> Optional[Type]:
    """The type of an element of a list: a number, an array, a list or tuple of these, or an object; None for others."""
    return ITEM_KINDS[type(value)](value, depth)


def _no_item_kind(value: Abstract, depth: int) -> Optional[Type]:
    return None


def _kind_of_typed(value: TypedValue, depth: int) -> Optional[Type]:
    return value.type


def _kind_of_constant(value: Const, depth: int) -> Optional[Type]:
    if type(value.object) is tuple:
        return _kind_of_tuple(Sequence(list(map(Const, value.object))), depth)
    return number_type(value)


def _kind_of_tuple(value: Sequence, depth: int) -> Optional[Type]:
    if depth >= DEEPEST or not 0 < len(value.items) <= LONGEST_TUPLE:
        return None
    kinds = tuple(item_kind(item, depth + 1) for item in value.items)
    return Holding(tuple, kinds) if None not in kinds else None


def _kind_of_container(value: KnownContainer, depth: int) -> Optional[Type]:
    if depth >= DEEPEST or value.keys is not None:
        return None
    kind = list_of_kinds(together(item_kind(item, depth + 1) for item in value.items))
    return kind if isinstance(kind, (ListOf, Holding)) else None


def _kind_of_instance(value: Instance, depth: int) -> Optional[Type]:
    kind = value.type
    if not isinstance(kind, (ListOf, Holding)) or kind.python is not list:
        return None
    return kind if nesting(kind) + depth < DEEPEST else None


def _kind_of_element(value: ListElement, depth: int) -> Optional[Type]:
    return value.type if depth == 0 else None


def _kind_of_virtual(value: VirtualObject, depth: int) -> Optional[Type]:
    if is_virtual_tuple(value) or depth > 0:
        return None
    return SampledClass(value.python, dict(zip(value.names, map(kind_of_attribute, value.items))))


ITEM_KINDS: ClassTable[Callable[..., Optional[Type]]] = ClassTable({
    Abstract: _no_item_kind,
    Const: _kind_of_constant,
    Instance: _kind_of_instance,
    KnownContainer: _kind_of_container,
    ListElement: _kind_of_element,
    Number: _kind_of_typed,
    Sequence: _kind_of_tuple,
    Tensor: _kind_of_typed,
    VirtualObject: _kind_of_virtual,
})
"""The type of a value as an element of a list, by the class of the value."""


def kind_of_attribute(value: Abstract) -> Optional[Type]:
    """The type with which a read loads the value of an attribute."""
    return Object(str) if class_of(value) is str else item_kind(value) or type_of(value)


def together(kinds: Iterable[Optional[Type]]) -> Set[Optional[Type]]:
    """The set of the types. List and tuple types that differ in their elements are replaced by their common type, or
    None."""
    found: List[Optional[Type]] = []
    for kind in kinds:
        like = next((k for k, other in enumerate(found) if other == kind and isinstance(kind, Object)), None)
        if like is not None:
            found[like] = common_type(found[like], kind)
        else:
            found.append(kind)
    return set(found)


def item_kinds(value: Abstract) -> Set[Optional[Type]]:
    """The known or expected types of the elements of a list. None in the set stands for other types."""
    if isinstance(value, KnownContainer):
        return together(map(item_kind, value.items))
    if isinstance(value, Instance) and isinstance(value.type, Vacant):
        return set()
    alike = isinstance(value, Instance) and isinstance(value.type, (ListOf, Holding)) and value.type.python is list
    return {value.type.items} if alike else {None}  # type: ignore[attr-defined]


def may_be_unbound(value: Optional[Abstract]) -> bool:
    """Whether a variable may be unbound."""
    return value is None or isinstance(value, Unbound) or isinstance(value, Unknown) and value.reason == "PJ212"


def iterations_of(value: Abstract) -> Tuple[int, ...]:
    """The positions of the unrolled iterators in a value."""
    if not value.has_parts:
        return ()
    if isinstance(value, (LoopIterator, GeneratorFrame)):
        return tuple(position for part in value.parts for position in iterations_of(part))
    return (value.position,) if isinstance(value, Unrolled) else ()


def is_confined(value: Abstract) -> bool:
    """Whether no segment can start with the value, because it could not recognise it."""
    if isinstance(value, Sequence) and any(isinstance(item, CellRef) for item in value.items):
        return True
    return isinstance(value, KERNEL_LOCAL) or is_generating(value) or bool(iterations_of(value))


def lengthened(owner: Abstract, kinds: Set[Optional[Type]]) -> Abstract:
    """A list after items of these types have been added."""
    known = item_kinds(owner)
    if None in known:
        return owner.forgotten()
    copy = Instance(list_of_kinds(together([*known, *kinds])), owner.value, owner.source, owner.defined_at)  # type: ignore
    copy.root = owner.root
    return copy


def expect_items(state: FrameState) -> None:
    """Invalidate contents after captured code has changed an unknown list or dict.

    Containers of known contents keep only expected element types.
    """
    def alike(value: Abstract) -> Abstract:
        if not isinstance(value, KnownContainer):
            return value
        kind = (list_of_kinds(item_kinds(value)) if value.keys is None
                else type_with_entries(dict, kinds_of_entries(value)))
        copy = Instance(kind, value.value, value.source, value.defined_at)
        copy.root = value.root
        return copy

    change_items(state, alike)
    forget_items(state)


def change_items(state: FrameState, change: Callable[[Abstract], Abstract]) -> None:
    """Replace the values of variables and the operand stack, including the owners of pending methods."""
    state.locals = {name: change(value) for name, value in state.locals.items()}
    state.stack = [value.with_mapped_parts(change) if isinstance(value, PendingOperand) else change(value)
                   for value in state.stack]


def forget_items(state: FrameState) -> None:
    """Invalidate the contents of all containers: any list or dict may have changed."""
    state.locals = {name: value.forgotten() if value.has_parts else value for name, value in state.locals.items()}
    state.stack = [value.forgotten() if value.has_parts else value for value in state.stack]


def loosen(state: FrameState, owner: Abstract, value: Abstract) -> None:
    """Note that a list gets an item, see `expect`."""
    expect(state, owner, item_kind(value))


def expect(state: FrameState, owner: Abstract, kind: Optional[Type]) -> None:
    """Note that a list gets items of a type, None for any type.

    A list whose items were known one by one is then expected to have items of these types. A list that had an expected
    type may lose it.
    """
    kinds = item_kinds(owner)
    known = isinstance(owner, KnownContainer) or not kinds
    if class_of(owner) is not list or None in kinds and not known:
        return
    _become(state, owner, list_of_kinds(together(list(kinds) + [kind])), known)


def expect_entry(state: FrameState, owner: Abstract, entry: EntryTypes) -> None:
    """Note that a dict or set gets an entry of these types, if its entries are known or have expected types."""
    if isinstance(owner, Instance) and kinds_of_entries(owner) is not None:
        new = type_with_entries(cast(type, owner.type.python), joined_kinds(kinds_of_entries(owner), entry))
        _become(state, owner, new, isinstance(owner, KnownContainer) or isinstance(owner.type, Vacant))


def _become(state: FrameState, owner: Abstract, new: Object, known: bool) -> None:
    """Give the type ``new`` to every value that may be the container.

    ``known``: the contents were known, so containers made by other instructions are other objects.
    """
    if not known and is_like(owner.type, new):  # type: ignore[attr-defined]
        return

    def loose(one: Abstract) -> Abstract:
        apart = one.defined_at != owner.defined_at and (known or one.source is None is owner.source)
        if one != owner or apart:
            return one
        copy = Instance(new, one.value, one.source, one.defined_at)  # type: ignore[attr-defined]
        copy.root = one.root
        return copy

    change_items(state, loose)


def has_generator(state: FrameState) -> bool:
    """Whether a variable or the operand stack holds an iterator that runs the body of a generator."""
    return any(map(is_generating, [*state.stack, *state.locals.values()]))


def forget_iterators(state: FrameState) -> None:
    """Invalidate iterators in variables: bytecode may have passed them to other code, which may step them."""
    for name, value in state.locals.items():
        if isinstance(value, (LoopIterator, GeneratorFrame)):
            state.locals[name] = Unknown("PJ209", value.defined_at)


def join_states(left: FrameState, right: FrameState) -> FrameState:
    """Join two states by variable and stack slot. A variable that one state does not list is dropped. One that is
    unbound in one state only becomes Unknown."""
    locals = {name: join(left.locals[name], right.locals[name]) for name in left.locals if name in right.locals}
    return FrameState(locals, [join(a, b) for a, b in zip(left.stack, right.stack)])


def is_lossy(left: FrameState, right: FrameState) -> bool:
    """Whether joining loses information that one side has."""
    def loses(a: Abstract, b: Abstract) -> bool:
        if a is b or a == b:
            return False
        both = join(a, b)
        entries = isinstance(a, KnownContainer) and isinstance(b, KnownContainer) and a.keys == b.keys is not None
        mixed = class_of(both) is list and None in item_kinds(both) and None not in item_kinds(a) | item_kinds(b)
        return both.knows_nothing() or entries and not isinstance(both, KnownContainer) or mixed

    others = right.locals
    return (any(loses(value, others[name]) for name, value in left.locals.items()
                if name in others and others[name] is not value)
            or any(loses(a, b) for a, b in zip(left.stack, right.stack)))
