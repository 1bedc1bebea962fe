"""Objects in long lists: neither their class nor which objects they are is known, only what some attributes are like.

Nothing about such an object is guarded. Each read looks for the attribute as Python does, where control comes to it,
and leaves where that runs code or finds another type than expected.
"""

from __future__ import annotations

import types
from typing import Any, Dict, List, Optional, Sequence

import numpy as np
from pijit.core.bytecode.decode import Instr, decode
from pijit.core.capture.item_types import LOOKED_AT, list_like
from pijit.core.capture.operators import describe
from pijit.core.capture.record import records_in
from pijit.core.capture.states import forget_items
from pijit.core.capture.values import Abstract, Const, Instance, Made
from pijit.core.errors import Break
from pijit.core.graph.types import Holding, ListOf, Things
from pijit.guards._evaluate import attribute_rule
from pijit.guards.reading import read_attribute
from pijit.guards.source import UNBOUND

NO_THINGS = (tuple, list, dict, set, frozenset, str, bytes, int, float, complex, type, types.ModuleType,
             types.FunctionType, np.ndarray, np.generic, BaseException)


class Thing(Instance):
    """An object of any class."""

    __slots__ = ()
    type: Things


def things_iterated(self: Any, samples: Sequence[Any]) -> Optional[Things]:
    """What to expect of the items of a list of objects that is iterated, if the loop does nothing with them but read
    and store attributes; else None."""
    some = samples[:LOOKED_AT]
    if not some or not all(map(_is_thing, some)):
        return None
    name, body = _loop_of(self)
    found: Dict[str, Any] = {}
    for attribute in (_attributes_used(name, body) if name is not None else None) or ():
        held = [read_attribute(one, attribute) for one in some]
        alike = list_like(held) if not any(one is UNBOUND for one in held) else None
        if not isinstance(alike, (ListOf, Holding)):
            return None
        found[attribute] = alike.items
    return Things(found) if found else None


def _is_thing(sample: Any) -> bool:
    return attribute_rule(sample) == "instance" and not issubclass(type(sample), NO_THINGS)


def _loop_of(self: Any) -> Any:
    """The variable of the loop that GET_ITER is for, also in a comprehension, and the instructions of its body."""
    instructions, header = self.function.instructions, self.instr.index + 1
    following, made = instructions[header:], self.state.stack[-1] if self.state.stack else None
    if self.instr.opname == "GET_ITER" and following[0].opname == "CALL_FUNCTION" and isinstance(made, Made):
        following = decode(made.code).instructions
        first = next((k for k, instr in enumerate(following) if instr.opname == "FOR_ITER"), None)
        following = following[first:] if first is not None else []
    if self.instr.opname != "GET_ITER" or [instr.opname for instr in following[:2]] != ["FOR_ITER", "STORE_FAST"]:
        return None, []
    if following[0] is instructions[header]:  # what leaves the loop may stand in the middle of it
        body = set().union(*(loop.body for loop in self.cfg.loops if loop.header == self.cfg.block_of[header]))
        return following[1].value, [instr for instr in following[2:] if self.cfg.block_of[instr.index] in body]
    return following[1].value, [instr for instr in following[2:] if instr.index < following[0].target]


def _attributes_used(name: str, body: List[Instr]) -> Optional[List[str]]:
    """The attributes that a loop reads and stores of its variable; None where it does anything else with it."""
    found = []
    for here, then, behind in zip(body, body[1:] + body[:1], body[2:] + body[:2]):
        if here.value != name or here.opname not in ("LOAD_FAST", "LOAD_DEREF", "LOAD_CLOSURE", "DELETE_FAST"):
            continue
        read = behind if then.opname == "DUP_TOP" else then
        if here.opname != "LOAD_FAST" or read.opname not in ("LOAD_ATTR", "STORE_ATTR"):
            return None
        found.append(read.value)
    return list(dict.fromkeys(found))


def thing_attribute(self: Any, owner: Thing, name: str) -> Abstract:
    """``owner.name``."""
    kind = owner.type.attributes.get(name)
    if kind is None:
        raise Break("PJ204", attribute=name, object="object of a list")
    operands = self.object_value(owner), self.object_value(Const(name))
    return self.typed_item("load_attr", *operands, kind)  # type: ignore[no-any-return]


def store_in_thing(self: Any, owner: Thing, name: str, value: Abstract) -> None:
    """``owner.name = value``: of any object that has the attribute, so nothing may be known of that."""
    why = "it is in a callee" if self.facts.depth else None
    if any(True for _ in records_in(value)):
        why = "the value is, or holds, an object that is made here"
    for known in list(self.state.locals.values()) + self.state.stack:
        if any(name in record.names and not record.writable for record in records_in(known)):
            why = "it may be %s" % describe(known)
    if why is not None:
        raise Break("PJ220", attribute=name, object="object of a list", because=why)
    self.facts.changed.add((Thing, name))
    self.facts.mutates = True
    operands = [self.object_value(owner), self.object_value(Const(name)), self.stored_value(value)]
    forget_items(self.state)
    self.emit("store_attr", operands, None, exits=True)
