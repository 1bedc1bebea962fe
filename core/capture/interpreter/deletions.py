"""Deletion of attributes, globals and closure variables: like stores, at once and in program order."""

from __future__ import annotations

from typing import Any, Callable, List, Optional

from pijit.core.bytecode.codec.decode import Instr
from pijit.core.capture.state.frame_state import FrameState
from pijit.core.capture.state.heap_locations import HeapPlace
from pijit.core.capture.values.lattice import Abstract, Const, Unbound
from pijit.core.errors import Break
from pijit.core.graph.ir import Value


class Deletions:
    """Mixin of the interpreter: DELETE_ATTR, DELETE_GLOBAL, DELETE_DEREF.

    If the location is unbound, the kernel exits, and bytecode raises. After a deletion nothing is known of the place,
    because an attribute of the class, or a builtin, may become visible.
    """

    facts: Any
    state: FrameState
    instr: Instr
    emit: Callable[..., Optional[Value]]
    pop: Callable[[], Abstract]
    object_value: Callable[[Abstract], Value]
    cell_value: Callable[[Any], Value]
    note_cell: Callable[[int, bool], None]
    note_store: Callable[[HeapPlace, Abstract], None]
    written_attribute: Callable[[Abstract, str, str], HeapPlace]

    def _delete(self, place: HeapPlace, operation: str, operands: List[Value]) -> None:
        self.emit(operation, operands, None, exits=True)
        self.note_store(place, Unbound(None, self.instr.index))

    def op_DELETE_ATTR(self, instr: Instr) -> None:
        self.delete_attribute(self.pop(), instr.value)

    def delete_attribute(self, owner: Abstract, name: str) -> None:
        """``del owner.name``."""
        place = self.written_attribute(owner, name, "__delattr__")
        self._delete(place, "delete_attr", [self.object_value(owner), self.object_value(Const(name))])

    def op_DELETE_GLOBAL(self, instr: Instr) -> None:
        place = self.facts.written_place(instr)
        self._delete(place, "delete_global", [self.object_value(Const(instr.value))])

    def op_DELETE_DEREF(self, instr: Instr) -> None:
        if instr.value in self.facts.shared:
            raise Break("PJ220", name=instr.value, because="functions share it")
        place = self.facts.written_place(instr)
        self.note_cell(instr.arg or 0, True)
        self._delete(place, "delete_cell", [self.cell_value(self.facts.cell_owners(instr.arg or 0)[-1].root)])
