"""Stores into Python objects: what a kernel may write, where, and what is then known of the location.

An effect happens at once, in program order. If it cannot be done natively, the operation exits before it has changed
anything. So a side exit never makes bytecode repeat an effect.
"""

from __future__ import annotations

import types
from typing import Any, Callable, Iterable, List, Optional, Union, cast

import numpy as np

from pijit.core.bytecode.codec.decode import Instr
from pijit.core.capture.models.containers.ranges import made_range
from pijit.core.capture.models.functions.callees import paths_of
from pijit.core.capture.models.functions.shared_cells import store_content
from pijit.core.capture.models.objects.instances import shared, store_in_virtual_object
from pijit.core.capture.models.objects.list_elements import as_list_element, store_in_list_element
from pijit.core.capture.models.objects.method_binding import FUNCTIONS, class_object, set_by_property
from pijit.core.capture.models.objects.special_methods import is_object
from pijit.core.capture.models.operators import describe
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.profile.samples import is_stored_in_elements
from pijit.core.capture.state.class_attributes import as_owner, is_plain_value, searched_for, why_not_shared
from pijit.core.capture.state.frame_state import expect_items, loosen
from pijit.core.capture.state.heap_locations import (
    AttributeLocation,
    CellLocation,
    HeapLocation,
    ItemLocation,
    identity_of,
)
from pijit.core.capture.state.return_kinds import CallOutcomes
from pijit.core.capture.values.base import Composite, Thrown
from pijit.core.capture.values.class_table import ClassTable
from pijit.core.capture.values.generator_frame import GeneratorFrame
from pijit.core.capture.values.lattice import (
    Abstract,
    Borrowed,
    Const,
    Instance,
    Lazy,
    LoopIterator,
    Null,
    Number,
    OpaqueObject,
    PendingOperand,
    Range,
    Sequence,
    Tensor,
    Unbound,
    UnescapedFunction,
    Unknown,
    Unrolled,
    class_of,
    number_type,
    ssa_value,
)
from pijit.core.capture.values.virtual_object import VirtualObject
from pijit.core.errors import Break
from pijit.core.graph.ir import Value
from pijit.guards import source as sources
from pijit.guards._evaluate import attribute_rule
from pijit.guards.reading import class_value, mro_of, own_value

LOOKUPS = frozenset(["BINARY_SUBSCR", "CALL_METHOD", "CALL_METHOD_KW"])
"""Instructions that push a container to which other paths may lead. A change may then concern any container of its
class."""


def changing(interpreter: Interpreter, location: Any, owner: Abstract, relied: bool = True) -> None:
    """Note that a kernel changes ``location`` of an object: an attribute's name, or the class for items.

    ``relied`` says that the new content of the location is known.
    """
    if isinstance(owner, OpaqueObject):
        if location is dict and _is_namespace(interpreter, owner.sample):
            raise Break("PJ220", object=describe(owner), because="global variables are in it")
        interpreter.context.changed.add((location, identity_of(owner)))
    elif instr_of(interpreter, owner) in LOOKUPS:
        interpreter.context.changed.add((location, None))
    interpreter.note_access(location, owner, True, relied)
    if type(location) is not str:  # attribute stores change no list or dict that the function has made
        interpreter.context.findings.mutates = True
        expect_items(interpreter.state)


def _is_namespace(interpreter: Interpreter, sample: Any) -> bool:
    """Whether a dict holds the globals of a module, which are read under guards of their own."""
    context = interpreter.context
    return sample is context.base.globals or sample is context.globals or "__builtins__" in sample


def instr_of(interpreter: Interpreter, value: Abstract) -> str:
    """The name of the instruction that made a value, or ""."""
    instructions = interpreter.context.function.instructions
    return instructions[value.defined_at].opname if 0 <= value.defined_at < len(instructions) else ""


def reading(interpreter: Interpreter, location: Any, owner: Abstract) -> None:
    """Check that ``location`` of an object may be read under guards, which hold at the start of the segment.

    Raises:
        Break: captured code changes it.
    """
    interpreter.apart_from_stores(location, owner)
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
    interpreter.apart_from_classes(location, searched_for(owner))


def apart_from_classes(interpreter: Interpreter, name: Any, classes: Iterable[type]) -> None:
    """Break if captured code stores the attribute into a class that a lookup searches."""
    if any((name, id(cls)) in interpreter.context.changed for cls in classes):
        raise Break("PJ219", object=name)


def note_access(interpreter: Interpreter, location: Any, owner: Abstract, changes: bool, relied: bool) -> None:
    """Note an access: objects of which a location is written must be distinct from those of which it is read."""


def attribute_location(interpreter: Interpreter, owner: Abstract, name: str) -> Optional[HeapLocation]:
    """The location of an attribute if captured code of the function writes it."""
    if identity_of(owner) == id(interpreter.context.globals):
        return interpreter.context.global_location(name)
    location = interpreter.context.locations.get((name, identity_of(owner))) if identity_of(owner) is not None else None
    if location is not None:
        interpreter.use(owner)
        interpreter.apart_from_stores(name, as_owner(owner))
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


def _write_location(interpreter: Interpreter, location: HeapLocation, operation: str, operands: List[Value],
                 value: Abstract) -> None:
    value = shared(interpreter, [interpreter.as_object(value)])[0]
    interpreter.emit(operation, operands + [interpreter.stored_value(value)], None, exits=True)
    interpreter.note_store(location, value)


def note_store(interpreter: Interpreter, location: HeapLocation, value: Abstract) -> None:
    """Note that the instruction has written a location, and its new value."""
    interpreter.context.findings.stores.setdefault(interpreter.instr.index, set()).add(location.name)
    interpreter.state.locals[location.name] = value


def op_STORE_ATTR(interpreter: Interpreter, instr: Instr) -> None:
    owner, value = interpreter.pop(), interpreter.pop()
    interpreter.store_attribute(owner, instr.value, value)


def store_attribute(interpreter: Interpreter, owner: Abstract, name: str, value: Abstract,
                    plainly: bool = False) -> None:
    """``owner.name = value``; with ``plainly`` as ``object.__setattr__`` stores."""
    if not plainly and _set_by_method(interpreter, owner, name, value):
        return
    if set_by_property(interpreter, owner, name, value, plainly):
        return
    if isinstance(owner, VirtualObject):
        store_in_virtual_object(interpreter, owner, name, value, plainly)
        return
    if isinstance(owner, Tensor):
        interpreter.store_part(owner, name, value)
        return
    element = as_list_element(interpreter, owner, name)
    if element is not None:
        store_in_list_element(interpreter, element, name, value)
        return
    location = interpreter.written_attribute(owner, name, "__setattr__", plainly)
    if isinstance(owner, Const) and not is_plain_value(value):
        raise Break("PJ220", attribute=name, object=describe(owner), because="its value decides what reads give")
    _write_location(interpreter, location, "plain_store_attr" if plainly else "store_attr",
                 [interpreter.object_value(owner), interpreter.object_value(Const(name))], value)


def _set_by_method(interpreter: Interpreter, owner: Abstract, name: str, value: Abstract) -> bool:
    """Whether ``owner.name = value`` calls a ``__setattr__`` of Python; if so, the call has been made.

    The value is made before the call. The method stores it, and an inlined call cannot make what its caller has.
    """
    kind: Any = class_of(owner) if is_object(owner) else None
    raw = class_value(kind, "__setattr__") if kind is not None else None
    if not issubclass(type(raw), FUNCTIONS):
        return False
    cls = class_object(interpreter, owner)
    method = interpreter.known_object(raw, *paths_of(cls).then(sources.ClassAttr, "__setattr__"))
    value = shared(interpreter, [interpreter.as_object(value)])[0]
    with interpreter.deriving():
        interpreter.call(method, [owner, Const(name), value], {})
    return True


def written_attribute(interpreter: Interpreter, owner: Abstract, name: str, hook: str,
                      plainly: bool = False) -> HeapLocation:
    """The location of an attribute that the instruction writes, if ``hook`` of the class is the plain one.

    With ``plainly`` the class may have another hook, in Python.
    """
    why = (why_not_shared(owner, name, hook, interpreter.context) if isinstance(owner, Const)
           else why_not_stored(owner, name, hook, plainly))
    if why is not None:
        raise Break("PJ220", attribute=name, object=describe(owner), because=why)
    owner = as_owner(owner)
    interpreter.apart_from_stores(name, owner)
    key = (name, identity_of(owner))
    if key not in interpreter.context.locations:
        interpreter.context.locations[key] = AttributeLocation(cast(OpaqueObject, owner), name)
    interpreter.changing(name, owner)
    return interpreter.context.locations[key]


def item_location(interpreter: Interpreter, owner: Abstract, key: Any) -> Optional[HeapLocation]:
    """The location of a list's item, if captured code stores into the list at known positions only."""
    identity = identity_of(owner)
    changed = interpreter.context.changed
    known = (list, identity) in changed and (ItemLocation, identity) not in changed
    if not (known and isinstance(owner, OpaqueObject) and type(key) is int and 0 <= key < len(owner.sample)):
        return None
    interpreter.note_access(list, owner, False, True)
    return interpreter.context.locations.setdefault((key, identity), ItemLocation(owner, key))


def store_item(interpreter: Interpreter, owner: Abstract, index: Abstract, value: Abstract) -> None:
    """``owner[index] = value`` for a list. An item at a known position is a location if all stores are at known
    positions."""
    identity, anywhere = identity_of(owner), (ItemLocation, identity_of(owner))
    position = interpreter.constant(index) if anywhere not in interpreter.context.changed else None
    if not (isinstance(owner, OpaqueObject) and type(position) is int and 0 <= position < len(owner.sample)):
        loosen(interpreter.state, owner, value)
        interpreter.moving(owner)
        interpreter.emit("store_item", [interpreter.object_value(owner), interpreter.word(index),
                                        interpreter.stored_value(value)], None, exits=True)
        return
    if (position, identity) not in interpreter.context.locations:
        interpreter.context.locations[position, identity] = ItemLocation(owner, position)
    interpreter.changing(list, owner)
    _write_location(interpreter, interpreter.context.locations[position, identity], "store_item",
                 [interpreter.object_value(owner), interpreter.word(index)], value)


def op_STORE_GLOBAL(interpreter: Interpreter, instr: Instr) -> None:
    location = interpreter.context.written_location(instr)
    _write_location(interpreter, location, "store_global",
                    [interpreter.object_value(Const(instr.value))], interpreter.pop())


def op_STORE_DEREF(interpreter: Interpreter, instr: Instr) -> None:
    if instr.value in interpreter.context.shared:
        store_content(interpreter, instr.value, interpreter.pop())
        return
    location = interpreter.context.written_location(instr)
    interpreter.note_cell(instr.arg or 0, True)
    cell = interpreter.context.cell_owners(instr.arg or 0)[-1]
    _write_location(interpreter, location, "store_cell", [interpreter.cell_value(cell.root)], interpreter.pop())


def note_cell(interpreter: Interpreter, number: int, changes: bool) -> None:
    """Note an access to a cell. A written cell must be the same cell as at capture, and distinct from those that
    are read."""
    if changes or any(location is CellLocation for location, _ in interpreter.context.changed):
        for owner in interpreter.context.cell_owners(number):
            interpreter.note_access(CellLocation, owner, changes, True)


def stored_value(interpreter: Interpreter, value: Abstract) -> Value:
    """The value that an effect stores: an array, a number, or an object by identity. Break for values only bytecode
    makes."""
    return STORED_VALUES[type(value)](interpreter, value)


def _stored_object(interpreter: Interpreter, value: Abstract) -> Value:
    return interpreter.object_value(value)


def _stored_if_found(interpreter: Interpreter, value: Abstract) -> Value:
    return interpreter.object_value(value) if value.root is not None else _not_stored(interpreter, value)


def _not_stored(interpreter: Interpreter, value: Abstract) -> Value:
    raise Break("PJ203", operand=describe(value))


def _stored_array(interpreter: Interpreter, value: Tensor) -> Value:
    return ssa_value(value)


def _stored_range(interpreter: Interpreter, value: Range) -> Value:
    return ssa_value(made_range(interpreter, value))


def _stored_function(interpreter: Interpreter, value: UnescapedFunction) -> Value:
    interpreter.want_object(value)
    return _stored_if_found(interpreter, value)


def _stored_number(interpreter: Interpreter, value: Union[Number, Const]) -> Value:
    if value.root is not None or number_type(value) is None:
        return interpreter.object_value(value)
    return interpreter.number_value(value)


STORED_VALUES: ClassTable[Callable[..., Value]] = ClassTable({
    **dict.fromkeys((Instance, OpaqueObject, Sequence, Composite, VirtualObject), _stored_object),
    **dict.fromkeys((Unbound, Unknown, Thrown, PendingOperand, Lazy, Borrowed, Null, Unrolled, GeneratorFrame,
                     CallOutcomes), _stored_if_found),
    Const: _stored_number,
    LoopIterator: _not_stored,
    Number: _stored_number,
    Range: _stored_range,
    Tensor: _stored_array,
    UnescapedFunction: _stored_function,
})
"""The value that an effect stores, by the class of the abstract value."""


def why_not_stored(owner: Abstract, name: str, hook: str, plainly: bool = False) -> Optional[str]:
    """The reason why only bytecode can store or delete an attribute, or None.

    The store may run code of the user's, or the object is not known.
    """
    if not isinstance(owner, OpaqueObject) or owner.source is None:
        return "the object is made here"
    kind = type(owner.sample)
    if attribute_rule(owner.sample) != "instance" or issubclass(kind, (types.ModuleType, np.ndarray)):
        return "its class reads attributes in its own way"
    plain = _is_hooked_in_python(kind, hook) if plainly else class_value(kind, hook) is class_value(object, hook)
    if not plain:
        return "its class has %s" % hook
    found = class_value(kind, name)
    own = [class_value(type(found), method) is not sources.UNBOUND for method in ("__set__", "__delete__")]
    if type(found) is not types.MemberDescriptorType and any(own):
        return "it is a property or another descriptor"
    return None


def _is_hooked_in_python(kind: type, hook: str) -> bool:
    """Whether a class and its bases have no other ``__setattr__`` (or ``hook``) than functions and object's.

    ``object.__setattr__`` accepts the objects of these classes only.
    """
    own = [own_value(cls, hook) for cls in mro_of(kind) if cls is not object]
    return all(found is sources.UNBOUND or issubclass(type(found), FUNCTIONS) for found in own)
