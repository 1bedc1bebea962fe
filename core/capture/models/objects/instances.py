"""Virtual objects: instances of plain classes that captured code makes without an object in memory.

The object is made where something else needs it: a container, a call that is not inlined, or bytecode at an exit.
Called by the interpreter's calls, attribute reads and stores.
"""

from __future__ import annotations

import types
from typing import Any, Dict, List, Optional

from pijit.core.capture.context import AccessPaths
from pijit.core.capture.models.containers import constructions
from pijit.core.capture.models.containers.constructions import shared
from pijit.core.capture.models.objects import locations, stored_values
from pijit.core.capture.models.objects.classes import class_object
from pijit.core.capture.models.objects.materialize import change_virtual_object, origin_of
from pijit.core.capture.models.objects.method_binding import FUNCTIONS, bind_attribute
from pijit.core.capture.models.objects.named_tuples import field_of, new_virtual_object, require_holdable
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.profile.samples import is_stored_in_elements
from pijit.core.capture.state.heap_locations import AttributeLocation
from pijit.core.capture.state.return_kinds import CallOutcomes
from pijit.core.capture.values.describe import describe
from pijit.core.capture.values.lattice import Abstract, Const, OpaqueObject, class_of
from pijit.core.capture.values.predicates import Holds
from pijit.core.capture.values.virtual_object import (
    BORROWED_PREFIX,
    VirtualObject,
    has_dict,
    is_virtual_tuple,
    lend,
    taken_back,
    virtual_objects_in,
)
from pijit.core.errors import Break
from pijit.guards.facts import type_name
from pijit.guards.reading import class_value, mro_of
from pijit.guards.source import UNBOUND, Attr, ClassAttr


def makes_natively(kind: Any) -> bool:
    """Whether a class makes its objects by ``object.__new__``, or by a ``__new__`` in Python."""
    maker = class_value(kind, "__new__") if type(kind) is type else None
    return maker is object.__new__ or issubclass(type(_function_of(maker)), FUNCTIONS)


def _function_of(maker: Any) -> Any:
    return maker.__func__ if type(maker) is staticmethod else maker


def construct(interpreter: Interpreter, target: Const, arguments: List[Abstract],
              keywords: Dict[str, Abstract]) -> Abstract:
    """``cls(...)``: the object that its ``__new__`` makes, after its ``__init__``."""
    maker = class_value(target.object, "__new__")
    if maker is object.__new__:
        virtual = new_virtual_object(interpreter, target)
        interpreter.rely(virtual.cls, Holds("__new__", maker))
        return _initialised(interpreter, virtual, not arguments and not keywords, arguments, keywords)
    target = interpreter.use(interpreter.by_one_path(target))
    paths = AccessPaths(target.source, target.root).then(Attr, "__new__")
    function = locations.known_object(interpreter, _function_of(maker), *paths)
    count = len(arguments)
    interpreter.state.stack += [*arguments, *keywords.values()]  # __init__ sees the changes that __new__ makes to them
    with interpreter.deriving():
        made = interpreter.call(function, [target, *arguments], keywords)
    first = len(interpreter.state.stack) - count - len(keywords)
    given = interpreter.state.stack[first:]
    del interpreter.state.stack[first:]
    kind = class_of(made)
    if kind is None:
        raise Break("PJ203", operand=describe(made))
    if not issubclass(kind, target.object):
        return made
    return _initialised(interpreter, made, True, given[:count], dict(zip(keywords, given[count:])))


def _initialised(interpreter: Interpreter, made: Abstract, plainly: bool, arguments: List[Abstract],
                 keywords: Dict[str, Abstract]) -> Abstract:
    """An object after its ``__init__``; ``plainly``: ``object.__init__`` accepts these arguments."""
    kind: Any = class_of(made)
    if not isinstance(made, (VirtualObject, OpaqueObject)):
        raise Break("PJ203", operand=describe(made))
    init, cls = class_value(kind, "__init__"), class_object(interpreter, made)
    if not issubclass(type(init), FUNCTIONS):
        if init is not object.__init__ or not plainly:
            raise Break("PJ230", callee=type_name(kind), because="its __init__ is no Python function")
        interpreter.rely(cls, Holds("__init__", init))
        return made
    interpreter.state.stack.append(made)
    function = locations.known_object(interpreter, init, *AccessPaths(cls.source, cls.root).then(Attr, "__init__"))
    with interpreter.deriving():
        result = interpreter.call(function, [made, *arguments], keywords)
    if result != Const(None):
        raise Break("PJ230", callee=type_name(kind), because="its __init__ returns something")
    return interpreter.state.stack.pop()


def virtual_attribute(interpreter: Interpreter, owner: VirtualObject, name: str) -> Abstract:
    """``owner.name``."""
    field = field_of(interpreter, owner, name)
    if field is not None:
        return field
    if name in owner.names and not is_virtual_tuple(owner):
        if _is_written_outside(interpreter, owner.python, name):
            if not owner.writable:
                raise Break("PJ219", object=describe(owner))
            interpreter.rely_on_ownership(owner)
        return interpreter.use(owner.items[owner.names.index(name)])
    cls = interpreter.use(owner.cls)
    if name == "__class__":
        return cls
    locations.apart_from_classes(interpreter, name, mro_of(owner.python))
    raw = class_value(owner.python, name)
    paths = AccessPaths(owner.source, owner.root) if owner.root is not None else AccessPaths(cls.source, cls.root)
    paths = paths.then(ClassAttr, name)
    bound = bind_attribute(interpreter, raw, paths, owner, owner.python) if raw is not UNBOUND else None
    if bound is not None:
        return bound
    if raw is UNBOUND or class_value(type(raw), "__get__") is not UNBOUND:
        raise Break("PJ204", attribute=name, object=type_name(owner.python))
    return locations.known_object(interpreter, raw, *paths)


def _is_written_outside(interpreter: Interpreter, kind: type, name: str) -> bool:
    """Whether captured code stores into objects of a class that it has not made;
    one of these may have been made earlier."""
    return is_stored_in_elements(interpreter.context.changed, kind, name) or any(
        isinstance(location, AttributeLocation) and location.family == name and type(location.owner.sample) is kind
        for location in interpreter.context.locations.values())


def store_in_virtual_object(interpreter: Interpreter, owner: VirtualObject, name: str, value: Abstract,
                    plainly: bool = False) -> None:
    """``owner.name = value``; with ``plainly`` as ``object.__setattr__`` stores."""
    why = _why_not_stored(owner, name, plainly)
    if why is not None:
        raise Break("PJ220", attribute=name, object=describe(owner), because=why)
    require_holdable(value)
    if any(virtual.token == owner.token for virtual in virtual_objects_in(value)):
        raise Break("PJ220", attribute=name, object=describe(owner), because="it would hold itself")
    cls = interpreter.use(owner.cls)
    interpreter.rely(cls, Holds(name, class_value(owner.python, name)))
    if not plainly:
        interpreter.rely(cls, Holds("__setattr__", object.__setattr__))
    value = constructions.as_object(interpreter, value)
    if not owner.shared:
        interpreter.rely_on_ownership(owner)
    if owner.shared:
        value = shared(interpreter, [value])[0]
        interpreter.context.changed.add(((VirtualObject, name), id(owner.python)))
        interpreter.context.findings.mutates = True
        pointer = interpreter.object_value(owner)
        owner = owner.like(value=pointer)
        operands = [pointer, interpreter.object_value(Const(name)), stored_values.stored_value(interpreter, value)]
        interpreter.emit("plain_store_attr" if plainly else "store_attr", operands, None, exits=True)
    elif owner.root is not None:
        owner = owner.like(origin=origin_of(interpreter, owner))
    stored = owner.holding(name, value)
    change_virtual_object(interpreter, owner.token, as_left(stored))


def as_left(left: Any) -> Any:
    """A function that gives a virtual object the known contents of the same object after stores."""
    return lambda virtual: virtual.like(names=left.names, items=left.items, origin=left.origin, changed=left.changed,
                                      root=left.root, value=left.value)


def _why_not_stored(owner: VirtualObject, name: str, plainly: bool) -> Optional[str]:
    if is_virtual_tuple(owner):
        return "it is a tuple"
    if not owner.writable and not owner.shared:
        return "others may have it"
    if not plainly and class_value(owner.python, "__setattr__") is not object.__setattr__:
        return "its class has __setattr__"
    found = class_value(owner.python, name)
    if type(found) is types.MemberDescriptorType:
        return None
    if class_value(type(found), "__set__") is not UNBOUND or class_value(type(found), "__delete__") is not UNBOUND:
        return "it is a property or another descriptor"
    return None if has_dict(owner.python) else "it has no such slot"


class BorrowedObjects:
    """The virtual objects that an inlined call receives and may change; in ``entry`` they are its caller's."""

    def __init__(self, interpreter: Interpreter, entry: Any) -> None:
        state = interpreter.state
        self.interpreter = interpreter
        self.outside = lend(entry)
        self.own = {name: value for name, value in state.locals.items() if name.startswith(BORROWED_PREFIX)}
        state.locals = {name: value for name, value in state.locals.items() if name not in self.own}

    def given_back(self, result: Abstract) -> Abstract:
        """The result of the call for the caller, after the caller has the objects as the call has left them."""
        interpreter, fresh = self.interpreter, {}  # type: Any, Dict[int, int]
        left = {token: interpreter.state.locals.pop(BORROWED_PREFIX + str(-1 - number), None)
                for number, token in enumerate(self.outside)}
        interpreter.state.locals.update(self.own)
        for token, virtual in left.items():
            if virtual is not None:
                change_virtual_object(interpreter, token, as_left(taken_back(virtual, self.outside, fresh)))

        def back(value: Abstract) -> Abstract:
            return taken_back(value, self.outside, fresh)

        return result.map(back) if isinstance(result, CallOutcomes) else back(result)
