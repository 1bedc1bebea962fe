"""Reads and changes of heap locations: which of them captured code may read under guards, and what they hold.

Models and the interpreter's instructions call these functions before each read or change of an object from outside.
"""

from __future__ import annotations

from typing import Any, Iterable, Optional

from pijit.core.bytecode.instructions.predicates import finds_shared
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.profile.samples import is_stored_in_elements
from pijit.core.capture.state.class_attributes import as_owner, searched_for
from pijit.core.capture.state.frame_state import expect_items
from pijit.core.capture.state.heap_locations import CellLocation, HeapLocation, ItemLocation, identity_of
from pijit.core.capture.state.return_kinds import LeavesInside
from pijit.core.capture.values.describe import describe
from pijit.core.capture.values.lattice import Abstract, OpaqueObject, Unbound, Unknown, known_of
from pijit.core.capture.values.virtual_object import VirtualObject
from pijit.core.errors import Break


def changing(interpreter: Interpreter, location: Any, owner: Abstract, relied: bool = True) -> None:
    """Note that a kernel changes ``location`` of an object: an attribute's name, or the class for items.

    ``relied`` says that the new content of the location is known.
    """
    if isinstance(owner, OpaqueObject):
        if location is dict and _is_namespace(interpreter, owner.sample):
            raise Break("PJ220", object=describe(owner), because="global variables are in it")
        interpreter.context.changed.add((location, identity_of(owner)))
    elif _is_found_shared(interpreter, owner):  # the change may concern any container of its class
        interpreter.context.changed.add((location, None))
    interpreter.note_access(location, owner, True, relied)
    if type(location) is not str:  # attribute stores change no list or dict that the function has made
        interpreter.context.findings.mutates = True
        expect_items(interpreter.state)


def _is_namespace(interpreter: Interpreter, sample: Any) -> bool:
    """Whether a dict holds the globals of a module, which are read under guards of their own."""
    context = interpreter.context
    return sample is context.base.globals or sample is context.globals or "__builtins__" in sample


def _is_found_shared(interpreter: Interpreter, value: Abstract) -> bool:
    """Whether a value comes from an instruction that may push an object to which other paths lead."""
    instructions = interpreter.context.function.instructions
    return 0 <= value.defined_at < len(instructions) and finds_shared(instructions[value.defined_at])


def reading(interpreter: Interpreter, location: Any, owner: Abstract) -> None:
    """Check that ``location`` of an object may be read under guards, which hold at the start of the segment.

    Raises:
        Break: captured code changes it.
    """
    apart_from_stores(interpreter, location, owner)
    if (location, identity_of(owner)) in interpreter.context.changed:
        raise Break("PJ219", object=describe(owner))
    interpreter.note_access(location, owner, False, True)


def apart_from_stores(interpreter: Interpreter, location: Any, owner: Abstract) -> None:
    """Break if an object from outside may be one that captured code made before and stores into.

    Only the classes of such virtual objects and list elements are known.
    """
    changed, kind = interpreter.context.changed, type(owner.sample) if isinstance(owner, OpaqueObject) else None
    if (kind is not None
            and (((VirtualObject, location), id(kind)) in changed or is_stored_in_elements(changed, kind, location))):
        raise Break("PJ219", object=describe(owner))
    apart_from_classes(interpreter, location, searched_for(owner))


def apart_from_classes(interpreter: Interpreter, name: Any, classes: Iterable[type]) -> None:
    """Break if captured code stores the attribute into a class that a lookup searches."""
    if any((name, id(cls)) in interpreter.context.changed for cls in classes):
        raise Break("PJ219", object=name)


def attribute_location(interpreter: Interpreter, owner: Abstract, name: str) -> Optional[HeapLocation]:
    """The location of an attribute if captured code of the function writes it."""
    if identity_of(owner) == id(interpreter.context.globals):
        return interpreter.context.global_location(name)
    location = interpreter.context.locations.get((name, identity_of(owner))) if identity_of(owner) is not None else None
    if location is not None:
        interpreter.use(owner)
        apart_from_stores(interpreter, name, as_owner(owner))
        interpreter.note_access(name, as_owner(owner), False, True)
    return location


def read_location(interpreter: Interpreter, location: HeapLocation) -> Abstract:
    """The value of a location."""
    value = interpreter.state.locals.get(location.name)
    if value is None:  # found in this run of the analysis, which will be repeated
        value = location.initial(interpreter.context.base)
    if isinstance(value, Unbound):
        raise Break("PJ212", name=str(location.source))
    if isinstance(value, Unknown):
        raise Break(value.reason, name=str(location.source))
    return value


def note_store(interpreter: Interpreter, location: HeapLocation, value: Abstract) -> None:
    """Note that the instruction has written a location, and its new value.

    Raises:
        LeavesInside: the location has another value than in its object, which would keep the new one.
    """
    if location.name in interpreter.context.base.substitutions:
        raise LeavesInside
    interpreter.context.findings.stores.setdefault(interpreter.instr.index, set()).add(location.name)
    interpreter.state.locals[location.name] = value


def item_location(interpreter: Interpreter, owner: Abstract, key: Any) -> Optional[HeapLocation]:
    """The location of a list's item, if captured code stores into the list at known positions only."""
    identity = identity_of(owner)
    changed = interpreter.context.changed
    known = (list, identity) in changed and (ItemLocation, identity) not in changed
    if not (known and isinstance(owner, OpaqueObject) and type(key) is int and 0 <= key < len(owner.sample)):
        return None
    interpreter.note_access(list, owner, False, True)
    return interpreter.context.locations.setdefault((key, identity), ItemLocation(owner, key))


def note_cell(interpreter: Interpreter, number: int, changes: bool) -> None:
    """Note an access to a cell. A written cell must be the same cell as at capture, and distinct from those that
    are read."""
    if changes or any(location is CellLocation for location, _ in interpreter.context.changed):
        for owner in interpreter.context.cell_owners(number):
            interpreter.note_access(CellLocation, owner, changes, True)


def known_object(interpreter: Interpreter, sample: Any, source: Any, root: Any) -> Abstract:
    """A value found by lookup: code and modules are known by identity, all others by type.

    It is relied on only when an instruction pops it from the stack. A value that is only moved is not guarded.
    """
    value = interpreter.context.arriving(known_of(sample, source, interpreter.instr.index))
    if isinstance(value, Unknown):
        raise Break(value.reason)
    value.root = root
    return value
