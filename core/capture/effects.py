"""Effects on Python objects: what a kernel may store, where, and what it knows of the place afterwards.

An effect is done at once, in program order, by an operation that leaves before it did anything where it cannot be done
natively. So what bytecode repeats after a side exit has had no effect yet.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Tuple

from pijit.core.capture.call_arguments import Arguments, Handler, only
from pijit.core.capture.operators import describe
from pijit.core.capture.values import Abstract, Const, Instance, LoopIterator, Opaque, Tensor, number_type
from pijit.core.errors import Break
from pijit.core.graph.ir import Value


class Effects:
    """Mixin of the interpreter: stores into objects, lists and dicts."""

    facts: Any
    emit: Callable[..., Optional[Value]]
    use: Callable[[Abstract], Abstract]
    number_value: Callable[[Abstract], Value]
    object_value: Callable[[Abstract], Value]

    def changing(self, place: Any, owner: Abstract) -> None:
        """A kernel changes ``place`` - an attribute's name, or the class for items - of an object."""
        if isinstance(owner, Opaque):
            self.facts.changed.add((place, id(owner.sample)))
        self.note_access(place, owner, True)

    def reading(self, place: Any, owner: Abstract) -> None:
        """To be asked before ``place`` of an object is read under guards, which hold where the segment starts.

        Raises:
            Break: captured code changes it.
        """
        if isinstance(owner, Opaque) and (place, id(owner.sample)) in self.facts.changed:
            raise Break("PJ219", object=describe(owner))
        self.note_access(place, owner, False)

    def note_access(self, place: Any, owner: Abstract, changes: bool) -> None:
        """Objects of which one place is changed and those of which it is read must not be the same."""

    def stored_value(self, value: Abstract) -> Value:
        """What an effect stores: an array, a number, or an object by identity; Break for what only bytecode makes."""
        if isinstance(value, Tensor):
            return value.value  # type: ignore[return-value]
        if isinstance(value, Instance) or value.root is not None and not isinstance(value, LoopIterator):
            return self.object_value(value)
        if number_type(value) is not None:
            return self.number_value(value)
        if isinstance(value, Const):
            return self.object_value(value)
        raise Break("PJ203", operand=describe(value))


def _append(self: Any, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    only(arguments, keywords, "append", 2)
    self.changing(list, arguments[0])
    self.emit("append", [self.object_value(arguments[0]), self.stored_value(arguments[1])], None, exits=True)
    return Const(None)


EFFECT_METHODS: Dict[Tuple[type, str], Handler] = {
    (list, "append"): _append,
}
"""Methods of exact builtin classes that change the object."""
