"""Elements of long lists: exact class guarded, attribute types sampled.

The class is checked where an element is read. So the contents of the class are guarded once for all elements. An
attribute is read at run time, where Python looks it up. The kernel exits where that runs code or finds another type
than the samples have. Where a capture cannot do what the program does with such objects, it begins again, and the
iterator of that list stays bytecode. Called by `reads`, and by the interpreter's attribute reads and stores.
"""

from __future__ import annotations

from typing import Any, List, Optional, Sequence

from pijit.core.capture.models.objects.instances import shared
from pijit.core.capture.models.objects.method_binding import bind_attribute, class_object
from pijit.core.capture.models.objects.named_tuples import field_position
from pijit.core.capture.models.objects.special_methods import class_paths
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.profile.samples import is_stored_in_elements
from pijit.core.capture.state.frame_state import forget_items, kind_of_attribute
from pijit.core.capture.values.element_types import LOOKED_AT
from pijit.core.capture.values.lattice import Abstract, Const, ListElement, OpaqueObject
from pijit.core.capture.values.predicates import Holds
from pijit.core.capture.values.virtual_object import has_dict, virtual_objects_in
from pijit.core.errors import Break
from pijit.core.graph.types import FLAG, WORD, Holding, Object, SampledClass
from pijit.guards.facts import type_name
from pijit.guards.reading import class_value
from pijit.guards.source import UNBOUND, ClassAttr


def list_of_elements(interpreter: Interpreter, samples: Sequence[Any], owner: Any) -> Optional[Object]:
    """The type of a list of objects like these samples,
    which the instruction iterates or takes an item of; else None."""
    found_by = id(owner), interpreter.function.code, interpreter.instr.index
    if samples and all(type(one) is dict for one in samples[:LOOKED_AT]):
        return Holding(list, interpreter.context.base.types.samples.entries(samples, found_by))
    kind = interpreter.context.base.types.samples.element_type(samples, found_by)
    return Holding(list, kind) if kind is not None else None


def checked_list_element(interpreter: Interpreter, kind: SampledClass, found: Any) -> ListElement:
    """A list element that was read, after a check of its class."""
    element = ListElement(kind, found)
    if kind.python is not None:
        cls = interpreter.object_value(class_object(interpreter, element))
        flag = interpreter.emit("has_class", [found, cls], FLAG)
        interpreter.emit("require", [flag], None, exits=True)
    return element


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
        return interpreter.typed_item("load_attr", *operands, kind)
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


def list_element_items(interpreter: Interpreter, owner: ListElement, only: Optional[int] = None) -> List[Abstract]:
    """The items of a named tuple in a list, or one of them."""
    kinds, python = interpreter.context.base.types.samples.items(owner.type), owner.type.python
    if kinds is None or only is not None and only >= len(kinds):
        raise Break("PJ213")
    for name in ("__getitem__", "__iter__"):
        interpreter.rely(class_paths(interpreter, owner), Holds(name, class_value(python, name)))
    found = interpreter.object_value(owner)
    words = [interpreter.emit("const", [], WORD, {"value": k}) for k in range(len(kinds) + 1)]
    size = interpreter.emit("list_size", [found], WORD)
    interpreter.emit("require", [interpreter.emit("compare", [size, words[-1]], FLAG, {"operator": "=="})], None,
                     exits=True)
    wanted = range(len(kinds)) if only is None else (only,)
    return [interpreter.typed_item("load_item", found, words[k], kinds[k]) for k in wanted]


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
    value = shared(interpreter, [interpreter.as_object(value)])[0]
    interpreter.context.changed.add((ListElement, name) if python is None else ((ListElement, name), id(python)))
    interpreter.context.findings.mutates = True
    operands = [interpreter.object_value(owner), interpreter.object_value(Const(name)), interpreter.stored_value(value)]
    forget_items(interpreter.state)
    interpreter.emit("store_attr", operands, None, exits=True)
