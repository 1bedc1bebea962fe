"""Changes of containers: operations with an effect, and the facts that do not hold after them.

All models that change a container call these functions.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from typing import List

from pijit.core.capture.models.objects import locations
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.state.heap_locations import ItemLocation, Keys, identity_of
from pijit.core.capture.values.describe import describe
from pijit.core.capture.values.lattice import Abstract, pointer_class
from pijit.core.errors import Break
from pijit.core.graph.ir import Value
from pijit.guards.facts import is_among


def moving(interpreter: Interpreter, owner: Abstract) -> None:
    """Record that items of a list come, go or change at unknown positions: none of them is a heap location."""
    identity = identity_of(owner)
    interpreter.context.changed.add((ItemLocation, identity))
    for key, location in list(interpreter.context.locations.items()):
        if isinstance(location, ItemLocation) and id(location.owner.sample) == identity:
            del interpreter.context.locations[key]
    locations.changing(interpreter, list, owner, False)


def changing_container(interpreter: Interpreter, owner: Abstract, resized: bool = True) -> None:
    """Record a change of a container that is no store at a known position of a list.

    ``resized``: the change may add keys to a dict or remove some.
    """
    kind = pointer_class(owner)
    if kind is list:
        moving(interpreter, owner)
    elif is_among(kind, (dict, set, deque, defaultdict, Counter)):
        locations.changing(interpreter, kind, owner, False)
        if kind is dict and resized:
            locations.changing(interpreter, Keys, owner, False)
    else:
        raise Break("PJ205", object=describe(owner))


def effect(interpreter: Interpreter, name: str, owner: Abstract, operands: List[Value], resized: bool = True) -> None:
    """An operation that changes a container and gives no value."""
    changing_container(interpreter, owner, resized)
    interpreter.emit(name, operands, None, exits=True)
