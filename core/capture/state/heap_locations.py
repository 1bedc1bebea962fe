"""Heap locations: the attributes, globals and cells that captured code of a function writes.

Each location is a variable of the segments, under a name in ``FrameState.locals`` that starts with `PREFIX`. So joins,
block versions and block parameters treat it as a local variable. A write takes effect at once and replaces the
variable's value; exits do not store it. Bytecode between segments may write it too, so each segment fetches it again
under guards.
"""

from __future__ import annotations

import types
from typing import Any, Callable, Container, Dict, Iterator, Optional, Tuple

from pijit.core.bytecode.codec.decode import Instr
from pijit.core.bytecode.instructions.predicates import outer_write, writes_global
from pijit.core.capture.state.frame_state import FrameState
from pijit.core.capture.values.lattice import (
    UNBOUND,
    Abstract,
    Const,
    Instance,
    KnownContainer,
    Number,
    OpaqueObject,
    TypedValue,
    Unbound,
    Unknown,
    known_of,
    number_type,
)
from pijit.core.capture.values.provenance import Root
from pijit.guards import source as sources
from pijit.guards.source import Attr, ClosureCell, Global, Inner, Item, Local, read_attribute, read_item


class Keys:
    """Family of the keys of a dict and their order, where the family of its items is the class of the dict.

    A store under an existing key changes the items alone.
    """


def identity_of(owner: Abstract) -> Optional[int]:
    """Identifies an object during capture; a module is identified by its namespace. None for other values."""
    if not isinstance(owner, (Const, OpaqueObject)):
        return None
    sample = owner.object if isinstance(owner, Const) else owner.sample
    if type(sample) is types.ModuleType:
        return id(sample.__dict__)
    return id(sample) if isinstance(owner, OpaqueObject) or issubclass(type(sample), type) else None


PREFIX = "location: "  # no name of a variable has a space; "." and "@" begin those that Python and pytest make


def is_location(name: str) -> bool:
    """Whether a name in ``FrameState.locals`` is that of a location."""
    return name.startswith(PREFIX)


def without_dead(state: FrameState, live: Container[str]) -> FrameState:
    """The state without the values of dead locals. They may be unbound, so a segment must not fetch them."""
    def known(name: str, value: Abstract) -> Abstract:
        return value if name in live or is_location(name) or isinstance(value, (Unbound, Number)) else Unknown("PJ212")

    return FrameState({name: known(name, value) for name, value in state.locals.items()}, state.stack)


class HeapLocation:
    """Base of all locations. ``source`` is the path to the location from function entry."""

    __slots__ = ("source",)

    def __init__(self, source: Any) -> None:
        self.source = source

    @property
    def name(self) -> str:
        """The name in ``FrameState.locals``."""
        return PREFIX + str(self.source)

    def changed(self, context: Any) -> Any:
        """The key in ``context.changed``."""
        raise NotImplementedError

    def sample(self, context: Any) -> Any:
        """The content when the function is captured, or ``sources.UNBOUND``."""
        raise NotImplementedError

    def initial(self, context: Any) -> Abstract:
        """The abstract value at function entry."""
        try:
            found = self.sample(context)
        except sources.SourceError:
            return UNBOUND
        return UNBOUND if found is sources.UNBOUND else known_of(found, self.source)

    def root(self, entry: FrameState, cells: int) -> Any:
        """The path by which a segment finds it, or None. ``cells`` is the number of the first cell among the frame's
        variables."""
        return root_of(self.source, entry, cells)


class OwnedLocation(HeapLocation):
    """A location in an object. The identity of the object when the function was captured tells them apart.

    Locations in different objects may be one location if they have the same ``family``: the attribute's name, or the
    class.
    """

    __slots__ = ("owner", "family", "step")

    def __init__(self, owner: OpaqueObject, family: Any, step: Callable[[Any], Any]) -> None:
        super().__init__(step(owner.source))
        self.owner = owner
        self.family = family
        self.step = step

    def changed(self, context: Any) -> Any:
        return self.family, identity_of(self.owner)

    def root(self, entry: FrameState, cells: int) -> Any:
        for root, value in _variables(entry):
            sample = value.object if isinstance(value, Const) else getattr(value, "sample", None)
            if sample is self.owner.sample:
                return self.step(root)
        return super().root(entry, cells)


class AttributeLocation(OwnedLocation):
    """An attribute of an object."""

    __slots__ = ()

    def __init__(self, owner: OpaqueObject, attribute: str) -> None:
        super().__init__(owner, attribute, lambda path: Attr(path, attribute))

    def sample(self, context: Any) -> Any:
        return read_attribute(self.owner.sample, self.family)


class ItemLocation(OwnedLocation):
    """The item of a list at a known position, counted from the front."""

    __slots__ = ("position",)

    def __init__(self, owner: OpaqueObject, position: int) -> None:
        super().__init__(owner, list, lambda path: Item(path, position))
        self.position = position

    def sample(self, context: Any) -> Any:
        return read_item(self.owner.sample, self.position)


class GlobalLocation(HeapLocation):
    """A global variable of the function's module."""

    __slots__ = ()

    def changed(self, context: Any) -> Any:
        return self.source.name, id(context.globals)

    def sample(self, context: Any) -> Any:
        name = self.source.name
        return context.globals.get(name, context.builtins.get(name, sources.UNBOUND))


class CellLocation(HeapLocation):
    """A closure variable, or a local variable that inner functions use. ``number`` is the number of its cell."""

    __slots__ = ("number",)

    def __init__(self, source: ClosureCell, number: int) -> None:
        super().__init__(source)
        self.number = number

    def changed(self, context: Any) -> Any:
        return CellLocation, id(context.cells[self.number])

    def sample(self, context: Any) -> Any:
        try:
            return context.cells[self.number].cell_contents
        except ValueError:
            return sources.UNBOUND


class FreeLocation(OwnedLocation):
    """A closure variable of an inlined function, in a cell that is not one of the caller's."""

    __slots__ = ()

    def __init__(self, cell: OpaqueObject) -> None:
        super().__init__(cell, CellLocation, lambda path: Inner(path, "cell_contents"))

    def root(self, entry: FrameState, cells: int) -> Any:
        found = super().root(entry, cells)
        return found if found is not None else next(self._by_others(entry), None)

    def _by_others(self, entry: FrameState) -> Iterator[Any]:
        """Paths through other functions with that closure variable, in case no variable holds the function that writes
        it."""
        for root, value in _variables(entry):
            if isinstance(value, OpaqueObject) and type(value.sample) is types.FunctionType:
                for number, cell in enumerate(value.sample.__closure__ or ()):
                    if cell is self.owner.sample:
                        yield self.step(Item(Attr(root, "__closure__"), number))

    def sample(self, context: Any) -> Any:
        try:
            return self.owner.sample.cell_contents
        except ValueError:
            return sources.UNBOUND


Locations = Dict[Any, HeapLocation]
"""Globals and cells by source. Locations in objects by (name, position or `CellLocation`, id of the object)."""


def find_locations(locations: Locations, entry: FrameState, cells: int) -> Dict[str, Any]:
    """The path by which a segment finds each location, by name.

    If there is no path, no guard can check the location. Then at most its type is kept in ``entry``.
    """
    roots = {location.name: location.root(entry, cells) for location in locations.values()}
    for name, root in roots.items():
        if root is None and name in entry.locals:
            value = after_bytecode(entry.locals[name])
            entry.locals[name] = Unknown("PJ208") if isinstance(value, Const) else value
    return roots


def scope_location(instr: Instr, context: Any) -> HeapLocation:
    """The location written by an instruction that stores or deletes a global or a cell."""
    if writes_global(instr):
        return GlobalLocation(Global(instr.value))
    source = context.cell_source(instr.arg or 0)
    return CellLocation(source, source.index - len(context.function.varnames))


def _variables(entry: FrameState) -> Iterator[Tuple[Root, Abstract]]:
    for name, value in entry.locals.items():
        if not is_location(name):
            yield Root("local", name), value


def root_of(source: Any, entry: FrameState, cells: int) -> Any:
    """The path from the start of a segment for a path from function entry. None where the local variable that it starts
    from has another value now."""
    if isinstance(source, Local):
        return next((root for root, value in _variables(entry) if value.source == source), None)
    if isinstance(source, ClosureCell):
        return Root("cell", source.index - cells)
    if not source.children:
        return source
    base = root_of(source.base, entry, cells)
    if base is None:
        return None
    return type(source)(base, *[getattr(source, name) for name in source.fields if name != "base"])


def after_bytecode(value: Abstract) -> Abstract:
    """The value of a location after an instruction that may have written it. It is assumed to have the same type."""
    kind = number_type(value)
    if kind is not None and isinstance(value, Const):
        return Number(kind, None, value.source, value.defined_at)
    if isinstance(value, KnownContainer):
        return Instance(value.type, None, value.source, value.defined_at)
    if isinstance(value, TypedValue):
        return type(value)(value.type, None, value.source, value.defined_at)
    return value


def stored_by(instr: Instr, state: FrameState, context: Any) -> Optional[Tuple[HeapLocation, Abstract]]:
    """The location that an instruction which stays bytecode writes, and its value afterwards."""
    action, location = outer_write(instr) or ("", "")
    value = state.stack[-1] if state.stack else UNBOUND
    key: Any = Global(instr.value) if location == "global" else None
    if location == "cell":
        key = context.cell_source(instr.arg or 0)
    elif location == "attribute" and identity_of(value) is not None:
        key = (instr.value, identity_of(value))
        value = state.stack[-2] if action == "store" else value
    if key not in context.locations:
        return None
    return context.locations[key], value if action == "store" else Unknown("PJ208")
