"""Elements of long lists: exact class guarded, attribute types sampled.

The class is checked where an element is read. So the contents of the class are guarded once for all elements. An
attribute is read at run time, where Python looks it up. The kernel exits where that runs code or finds another type
than the samples have. Where a capture cannot do what the program does with such objects, it begins again, and the
iterator of that list stays bytecode. The interpreter's attribute reads and stores call this module.
"""

from __future__ import annotations

from typing import Optional

from pijit.core.capture.models.containers import constructions, expectations
from pijit.core.capture.models.containers.constructions import shared
from pijit.core.capture.models.containers.contents import list_element_items
from pijit.core.capture.models.objects import stored_values
from pijit.core.capture.models.objects.classes import class_paths
from pijit.core.capture.models.objects.method_binding import bind_attribute
from pijit.core.capture.models.objects.named_tuples import field_position
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.profile.samples import is_stored_in_elements
from pijit.core.capture.state.frame_state import forget_items, kind_of_attribute
from pijit.core.capture.values.lattice import Abstract, Const, ListElement, OpaqueObject
from pijit.core.capture.values.predicates import Holds
from pijit.core.capture.values.virtual_object import has_dict, virtual_objects_in
from pijit.core.errors import Break
from pijit.core.graph.types import FLAG
from pijit.guards.facts import type_name
from pijit.guards.reading import class_value
from pijit.guards.source import UNBOUND, ClassAttr


def as_list_element(interpreter: Interpreter, owner: Abstract, name: str) -> Optional[ListElement]:
    """A list element, or an object from outside that may be one into which captured code stores; else None."""
    if isinstance(owner, ListElement):
        return owner
    sample = owner.sample if isinstance(owner, OpaqueObject) else None
    if sample is None or not is_stored_in_elements(interpreter.context.changed, type(sample), name):
        return None
    kind = interpreter.context.base.types.samples.element_type([sample], (type(sample), name))
    return ListElement(kind, interpreter.object_value(owner)) if kind is not None else None


def list_element_attribute(interpreter: Interpreter, owner: ListElement, name: str) -> Abstract:
    """``owner.name``."""
    kind, python = interpreter.context.base.types.samples.attribute(owner.type, name), owner.type.python
    owner = interpreter.use(owner)
    raw = class_value(python, name) if python is not None else UNBOUND
    position = field_position(raw)
    if position is not None:
        for relied in ("__getattribute__", name):
            interpreter.rely(class_paths(interpreter, owner), Holds(relied, class_value(python, relied)))
        return list_element_items(interpreter, owner, position)[0]
    if kind is not None:
        operands = interpreter.object_value(owner), interpreter.object_value(Const(name))
        return expectations.typed_item(interpreter, "load_attr", *operands, kind)
    bound = None
    if raw is not UNBOUND:
        interpreter.rely(class_paths(interpreter, owner),
                         Holds("__getattribute__", class_value(python, "__getattribute__")))
        if class_value(type(raw), "__set__") is UNBOUND and has_dict(python):
            flag = interpreter.emit("lacks_own",
                                    [interpreter.object_value(owner), interpreter.object_value(Const(name))], FLAG)
            interpreter.emit("require", [flag], None, exits=True)
        bound = bind_attribute(interpreter, raw, class_paths(interpreter, owner).then(ClassAttr, name), owner, python)
    if bound is None:
        raise Break("PJ204", attribute=name, object=type_name(python) if python is not None else "object of a list")
    return bound


def store_in_list_element(interpreter: Interpreter, owner: ListElement, name: str, value: Abstract) -> None:
    """``owner.name = value``. It may be any object with this attribute,
    so the attribute must not be known of another one."""
    python = owner.type.python
    interpreter.context.base.types.samples.store(owner.type, name, kind_of_attribute(value))
    for known in list(interpreter.state.locals.values()) + interpreter.state.stack:
        for virtual in virtual_objects_in(known):
            if name not in virtual.names or python not in (None, virtual.python):
                continue
            if not virtual.writable:
                raise Break("PJ220", attribute=name, object="object of a list",
                            because="it may be a known object of class %s" % type_name(virtual.python))
            interpreter.rely_on_ownership(virtual)
    value = shared(interpreter, [constructions.as_object(interpreter, value)])[0]
    interpreter.context.changed.add((ListElement, name) if python is None else ((ListElement, name), id(python)))
    interpreter.context.findings.mutates = True
    operands = [interpreter.object_value(owner), interpreter.object_value(Const(name)),
                stored_values.stored_value(interpreter, value)]
    forget_items(interpreter.state)
    interpreter.emit("store_attr", operands, None, exits=True)
