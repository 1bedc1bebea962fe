"""Deletion of items, attributes, globals and closure variables: like stores, at once and in program order.

The dispatch table of `interpreter` has its functions. A deletion that could fail must leave before it.
"""

from __future__ import annotations

from typing import List

from pijit.core.bytecode.codec.decode import Instr
from pijit.core.capture.interpreter import stores
from pijit.core.capture.models.containers import updates
from pijit.core.capture.models.objects import locations
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.state.heap_locations import HeapLocation
from pijit.core.capture.values.lattice import Abstract, Const, Unbound
from pijit.core.errors import Break
from pijit.core.graph.ir import Value


def _delete(interpreter: Interpreter, location: HeapLocation, operation: str, operands: List[Value]) -> None:
    interpreter.emit(operation, operands, None, exits=True)
    locations.note_store(interpreter, location, Unbound(None, interpreter.instr.index))


def op_DELETE_SUBSCR(interpreter: Interpreter, instr: Instr) -> None:
    index, owner = interpreter.pop(), interpreter.pop()
    updates.remove(interpreter, owner, index)


def op_DELETE_ATTR(interpreter: Interpreter, instr: Instr) -> None:
    interpreter.delete_attribute(interpreter.pop(), instr.value)


def delete_attribute(interpreter: Interpreter, owner: Abstract, name: str) -> None:
    """``del owner.name``."""
    location = stores.written_attribute(interpreter, owner, name, "__delattr__")
    _delete(interpreter, location, "delete_attr",
            [interpreter.object_value(owner), interpreter.object_value(Const(name))])


def op_DELETE_GLOBAL(interpreter: Interpreter, instr: Instr) -> None:
    location = interpreter.context.written_location(instr)
    _delete(interpreter, location, "delete_global", [interpreter.object_value(Const(instr.value))])


def op_DELETE_DEREF(interpreter: Interpreter, instr: Instr) -> None:
    if instr.value in interpreter.context.shared:
        raise Break("PJ220", name=instr.value, because="functions share it")
    location = interpreter.context.written_location(instr)
    locations.note_cell(interpreter, instr.arg or 0, True)
    _delete(interpreter, location, "delete_cell",
            [interpreter.cell_value(interpreter.context.cell_owners(instr.arg or 0)[-1].root)])
