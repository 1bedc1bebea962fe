"""Cells that captured code makes, for variables of inlined functions that several functions share.

A cell is a `VirtualObject` with one attribute. It is the value of the function's variable, and a part of each function
that shares the variable. So all of them read what one of them stores. The inliner makes cells where it inlines a
call; the interpreter reads and binds them.
"""

from __future__ import annotations

from types import CodeType
from typing import Any, Dict, Optional, Tuple

from pijit.core.capture.models.containers import constructions
from pijit.core.capture.models.containers.constructions import shared
from pijit.core.capture.models.objects import locations, stored_values
from pijit.core.capture.models.objects.instances import as_left
from pijit.core.capture.models.objects.materialize import change_virtual_object
from pijit.core.capture.models.objects.named_tuples import require_holdable
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.state.heap_locations import CellLocation
from pijit.core.capture.values.lattice import UNBOUND, Abstract, CellRef, Const, Unbound
from pijit.core.capture.values.virtual_object import (
    CONTENT,
    FRESH,
    StackTuple,
    VirtualObject,
    is_cell,
    virtual_objects_in,
)
from pijit.core.errors import Break
from pijit.core.graph.types import CELL


def shared_names(context: Any, code: CodeType) -> Tuple[str, ...]:
    """The variables of a function that have to be in cells."""
    return tuple(name for name in code.co_cellvars if (code, name) in context.base.findings.objects)


def cells_of(interpreter: Interpreter, names: Tuple[str, ...], bound: Dict[str, Abstract]) -> Dict[str, Abstract]:
    """The values of these variables when the function is called: cells with its arguments, or unbound."""
    found: Dict[str, Abstract] = dict.fromkeys(names, UNBOUND)
    for name in names:
        value = bound.get(name, UNBOUND)
        if isinstance(value, StackTuple) or any(not virtual.shared for virtual in virtual_objects_in(value)):
            raise Break("PJ220", name=name, because="functions share it")
        if not isinstance(value, Unbound):
            found[name] = _new_cell(interpreter, value)
    return found


def cell_reference(interpreter: Interpreter, name: str) -> CellRef:
    """The cell of a variable, on its way into a new function."""
    return CellRef(_cell(interpreter, name))


def content(interpreter: Interpreter, name: str) -> Abstract:
    """The value that the cell of a variable holds."""
    return interpreter.use(_cell(interpreter, name)).items[0]


def store_content(interpreter: Interpreter, name: str, value: Abstract) -> None:
    """Bind a variable that is in a cell."""
    require_holdable(value)
    held = interpreter.state.locals.get(name)
    if isinstance(held, Unbound):
        interpreter.state.locals[name] = _new_cell(interpreter, constructions.as_object(interpreter, value))
        return
    cell = _cell(interpreter, name)
    if any(virtual.token == cell.token for virtual in virtual_objects_in(value)):
        raise Break("PJ220", name=name, because="it would hold itself")
    interpreter.context.changed.add((CellLocation, None))
    value = shared(interpreter, [constructions.as_object(interpreter, value)])[0]
    cell = interpreter.use(_cell(interpreter, name))
    pointer = interpreter.object_value(cell)
    cell = cell.like(value=pointer)
    interpreter.emit("store_cell", [pointer, stored_values.stored_value(interpreter, value)], None, exits=True)
    change_virtual_object(interpreter, cell.token, as_left(cell.holding(CONTENT, value)))


def _cell(interpreter: Interpreter, name: str) -> VirtualObject:
    held: Optional[Abstract] = interpreter.state.locals.get(name)
    if held is None or not is_cell(held):
        raise Break("PJ220", name=name, because="it has no value yet where functions share it")
    return held


def _new_cell(interpreter: Interpreter, value: Abstract) -> VirtualObject:
    require_holdable(value)
    value = shared(interpreter, [value])[0]
    cell = VirtualObject(Const(CELL.python), next(FRESH))
    made = interpreter.emit("new_cell", [stored_values.stored_value(interpreter, value)], CELL)
    return cell.like(names=(CONTENT,), items=(value,), writable=False, shared=True, value=made,
                     defined_at=interpreter.instr.index)


def content_of(interpreter: Interpreter, number: int, name: str) -> Abstract:
    """The content of a cell or free variable."""
    if name in interpreter.context.shared:
        return content(interpreter, name)
    location = interpreter.context.cell_location(number, name)
    locations.note_cell(interpreter, number, False)
    if location is not None:
        return locations.read_location(interpreter, location)
    sample, where = interpreter.context.find_cell(number, interpreter, name)
    return locations.known_object(interpreter, sample, *where)
