"""Stores into Python objects: what a kernel may write, where, and what is then known of the location.

An effect happens at once, in program order. If it cannot be done natively, the operation exits before it has changed
anything. So a side exit never makes bytecode repeat an effect.
"""

from __future__ import annotations

import types
from typing import Any, List, Optional, cast

import numpy as np

from pijit.core.bytecode.codec.decode import Instr
from pijit.core.capture.models.containers import constructions, container_effects
from pijit.core.capture.models.containers.constructions import shared
from pijit.core.capture.models.functions.shared_cells import store_content
from pijit.core.capture.models.numpy import element_stores
from pijit.core.capture.models.objects import locations, stored_values
from pijit.core.capture.models.objects.classes import class_object, paths_of
from pijit.core.capture.models.objects.instances import store_in_virtual_object
from pijit.core.capture.models.objects.list_elements import as_list_element, store_in_list_element
from pijit.core.capture.models.objects.method_binding import FUNCTIONS, set_by_property
from pijit.core.capture.models.objects.special_methods import is_object
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.state.class_attributes import as_owner, is_plain_value, why_not_shared
from pijit.core.capture.state.frame_state import loosen
from pijit.core.capture.state.heap_locations import AttributeLocation, HeapLocation, ItemLocation, identity_of
from pijit.core.capture.values.describe import describe
from pijit.core.capture.values.lattice import Abstract, Const, OpaqueObject, Tensor, class_of
from pijit.core.capture.values.virtual_object import VirtualObject
from pijit.core.errors import Break
from pijit.core.graph.ir import Value
from pijit.guards import source as sources
from pijit.guards._evaluate import attribute_rule
from pijit.guards.reading import class_value, mro_of, own_value


def note_access(interpreter: Interpreter, location: Any, owner: Abstract, changes: bool, relied: bool) -> None:
    """Note an access: objects of which a location is written must be distinct from those of which it is read."""


def _write_location(interpreter: Interpreter, location: HeapLocation, operation: str, operands: List[Value],
                 value: Abstract) -> None:
    value = shared(interpreter, [constructions.as_object(interpreter, value)])[0]
    interpreter.emit(operation, operands + [stored_values.stored_value(interpreter, value)], None, exits=True)
    locations.note_store(interpreter, location, value)


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
        element_stores.store_complex_part(interpreter, owner, name, value)
        return
    element = as_list_element(interpreter, owner, name)
    if element is not None:
        store_in_list_element(interpreter, element, name, value)
        return
    location = written_attribute(interpreter, owner, name, "__setattr__", plainly)
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
    method = locations.known_object(interpreter, raw, *paths_of(cls).then(sources.ClassAttr, "__setattr__"))
    value = shared(interpreter, [constructions.as_object(interpreter, value)])[0]
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
    locations.apart_from_stores(interpreter, name, owner)
    key = (name, identity_of(owner))
    if key not in interpreter.context.locations:
        interpreter.context.locations[key] = AttributeLocation(cast(OpaqueObject, owner), name)
    locations.changing(interpreter, name, owner)
    return interpreter.context.locations[key]


def store_item(interpreter: Interpreter, owner: Abstract, index: Abstract, value: Abstract) -> None:
    """``owner[index] = value`` for a list. An item at a known position is a location if all stores are at known
    positions."""
    identity, anywhere = identity_of(owner), (ItemLocation, identity_of(owner))
    position = interpreter.constant(index) if anywhere not in interpreter.context.changed else None
    if not (isinstance(owner, OpaqueObject) and type(position) is int and 0 <= position < len(owner.sample)):
        loosen(interpreter.state, owner, value)
        container_effects.moving(interpreter, owner)
        interpreter.emit("store_item", [interpreter.object_value(owner), interpreter.word(index),
                                        stored_values.stored_value(interpreter, value)], None, exits=True)
        return
    if (position, identity) not in interpreter.context.locations:
        interpreter.context.locations[position, identity] = ItemLocation(owner, position)
    locations.changing(interpreter, list, owner)
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
    locations.note_cell(interpreter, instr.arg or 0, True)
    cell = interpreter.context.cell_owners(instr.arg or 0)[-1]
    _write_location(interpreter, location, "store_cell", [interpreter.cell_value(cell.root)], interpreter.pop())


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
