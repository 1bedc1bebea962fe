"""Materialisation: graph values of virtual objects, and the places where such an object is made.

Called by the graph builder, at exits, and by the models that store into objects.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional

from pijit.core.bytecode.codec.decode import Instr
from pijit.core.capture.models.objects import stored_values
from pijit.core.capture.models.protocol import Interpreter, Recorder
from pijit.core.capture.state.heap_locations import after_bytecode, is_location
from pijit.core.capture.state.uncaptured_effects import pops
from pijit.core.capture.values.base import Composite
from pijit.core.capture.values.lattice import Abstract, Const, KnownContainer, Sequence
from pijit.core.capture.values.virtual_object import (
    BORROWED_PREFIX,
    FRESH,
    VirtualObject,
    find_in,
    has_pointer,
    is_virtual_list,
    mapped,
    replace_in,
    virtual_objects_in,
)
from pijit.core.errors import Break
from pijit.core.graph.ir import Block, Output, Value
from pijit.core.graph.types import WORD, Object
from pijit.guards.facts import type_name

LOOK_AROUND = (locals, vars, eval, exec)
"""Functions that give the variables of their caller to other code."""


def virtual_object_parameters(interpreter: Recorder, value: VirtualObject, block: Block, hint: str,
                      like: Optional[Abstract]) -> VirtualObject:
    """A copy of ``value`` whose attributes are parameters of ``block``; so is its object, if it may have one."""
    known = like if isinstance(like, VirtualObject) else value
    items = tuple(interpreter.block_parameters(item, block, hint, item_like)
                  for item, item_like in zip(value.items, known.items))
    found: Dict[str, Any] = dict(cls=interpreter.by_one_path(known.cls), items=items, root=None, source=None,
                                 value=None, origin=None)
    if has_pointer(value):
        made = interpreter.graph.new_value(Object(value.python) if value.shared else WORD, hint)
        block.params.append(made)
        found["value" if value.shared else "origin"] = made
    return value.like(**found)


def virtual_object_parts(interpreter: Recorder, wanted: VirtualObject, given: Any) -> List[Value]:
    """The values for the parameters of `virtual_object_parameters`."""
    given = interpreter.use(given)
    if not isinstance(given, VirtualObject) or given.names != wanted.names:
        raise Break("PJ213")
    parts = [part for want, have in zip(wanted.items, given.items) for part in interpreter.value_parts(want, have)]
    if has_pointer(wanted):
        parts.append(interpreter.object_value(given) if wanted.shared else origin_of(interpreter, given))
    return parts


def virtual_object_output(interpreter: Recorder, value: VirtualObject) -> Output:
    """The output for an object that is made where the kernel exits, once for all values that refer to it."""
    if value.value is not None:
        return Output("value", value.value)
    token = interpreter.token_of(value)
    cls = interpreter.by_one_path(value.cls)
    if cls.root is None:
        raise Break("PJ202", value=repr(value))
    parts = ([Output("value", interpreter.object_value(interpreter.use(cls)))]
             + [interpreter.exit_output(item) for item in value.items])
    if value.origin is None:
        return Output("instance", (value.names, token), parts)
    kind = "changed_instance" if value.changed else "kept_instance"
    return Output(kind, (value.names, token), parts, (value.origin,))


def origin_of(interpreter: Interpreter, virtual: VirtualObject) -> Value:
    """The address of the object that a virtual object stood for at the start of the segment, or 0."""
    if virtual.origin is not None:
        return virtual.origin
    if virtual.root is not None:
        found = interpreter.segment_input(virtual.root, Object(virtual.python))
        return interpreter.emit("origin", [found], WORD)
    return interpreter.emit("const", [], WORD, {"value": 0})


def made_object(interpreter: Interpreter, virtual: VirtualObject) -> Value:
    """The pointer to the object of a virtual object, which is allocated now. Other code may refer to it from now on."""
    if is_virtual_list(virtual):
        raise Break("PJ202", value="list")
    if virtual.root is None and not virtual.shared:
        virtual = interpreter.use(find_in(interpreter.state, virtual.token) or virtual)
    if virtual.value is not None:
        return virtual.value
    if virtual.root is not None:
        made = interpreter.segment_input(virtual.root, Object(virtual.python))
    else:
        made = Value(-1, Object(virtual.python)) if virtual.shared else _new_object(interpreter, virtual)
    if not virtual.shared:
        change_virtual_object(interpreter, virtual.token,
                      lambda one: one.like(shared=True, writable=False, value=made, origin=None, changed=False))
    return made


def _new_object(interpreter: Interpreter, virtual: VirtualObject) -> Value:
    if virtual.token < 0:
        raise Break("PJ216", because="the %s is an object of the caller's" % type_name(virtual.python))
    cls, names = interpreter.object_value(interpreter.use(virtual.cls)), interpreter.object_value(Const(virtual.names))
    operands = ([origin_of(interpreter, virtual), cls, names]
                + [stored_values.stored_value(interpreter, interpreter.use(item)) for item in virtual.items])
    name = "changed_instance" if virtual.changed else "new_instance"
    return interpreter.emit(name, operands, Object(virtual.python))


def apart_from_root(interpreter: Interpreter, value: Abstract, token: int) -> Abstract:
    """A value that the segment has found, with an object inside that will change,
    so its parts are not read from its path again."""
    if not any(virtual.token == token for virtual in virtual_objects_in(value)):
        return value
    if value.root is not None and isinstance(value, VirtualObject):
        found = ({"value": interpreter.object_value(value)} if value.shared
                 else {"origin": origin_of(interpreter, value)})
        value = interpreter.use(value).like(root=None, **found)
    elif value.root is not None and isinstance(value, (Sequence, KnownContainer, Composite)):
        made, used = interpreter.object_value(value), interpreter.use(value)
        if isinstance(used, KnownContainer):
            value = used.like(list(used.items), made)
        elif isinstance(used, Composite):
            value = used.like(used.parts, value.source, made)
        else:
            value = Sequence(list(used.items), value.source, value.defined_at, made)
    return value.with_mapped_parts(lambda part: apart_from_root(interpreter, part, token))


def change_virtual_object(interpreter: Interpreter, token: int,
                          change: Callable[[VirtualObject], VirtualObject]) -> None:
    """Replace an object in all known values, and note the change where callers hold it."""
    state, before = interpreter.state, interpreter.state.locals
    state.locals = {name: apart_from_root(interpreter, value, token) for name, value in state.locals.items()}
    state.stack = [apart_from_root(interpreter, value, token) for value in state.stack]
    replace_in(interpreter.state, lambda virtual: change(virtual) if virtual.token == token else virtual)
    for name, value in interpreter.state.locals.items():
        if name.startswith(BORROWED_PREFIX) and value is not before[name]:
            interpreter.context.findings.stores.setdefault(interpreter.instr.index, set()).add(name)


def after_bytecode_saw(instr: Instr, before: Any, after: Any) -> None:
    """Objects after an instruction that stays bytecode.
    It may have changed them, and other code may now hold those that it took."""
    count = pops(instr)
    taken = before.stack[-count:] if count else before.stack if count is None else []
    looks = any(isinstance(value, Const) and any(value.object is one for one in LOOK_AROUND) for value in taken)
    known = {virtual.token for value in taken for virtual in virtual_objects_in(value)}
    replace_in(after, lambda virtual: virtual.like(
        items=tuple(map(after_bytecode, virtual.items)), settled=True,
        writable=virtual.writable and not looks and virtual.token not in known))
    for name, value in after.locals.items():
        if is_location(name):  # it may hold another object now: guards say whether it is one of these
            after.locals[name] = mapped(value, lambda virtual: virtual.like(token=next(FRESH)))
