"""Instructions that make functions: closures, and functions that are called where they are made.

The dispatch table of `interpreter` has its functions. They must not make a function while code is captured.
"""

from __future__ import annotations

from pijit.core.bytecode.codec.decode import Instr
from pijit.core.capture.interpreter import variables
from pijit.core.capture.models.functions.function_values import new_closure, pop_code
from pijit.core.capture.models.functions.shared_cells import cell_reference
from pijit.core.capture.models.iteration.comprehensions import function_made
from pijit.core.capture.models.objects.stored_values import Wanted
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.values.lattice import CellRef, Sequence, UnescapedFunction, Unknown
from pijit.core.errors import Break


def op_LOAD_CLOSURE(interpreter: Interpreter, instr: Instr) -> None:
    if function_made(interpreter, instr)[0] is None:
        raise Break("PJ202", opcode=instr.opname)
    if instr.value in interpreter.context.shared:
        interpreter.push(cell_reference(interpreter, instr.value))
        return
    try:
        content = variables.cell_content(interpreter, instr)
    except Break as error:
        content = Unknown(error.reason_id)
    interpreter.push(CellRef(content))


def op_MAKE_FUNCTION(interpreter: Interpreter, instr: Instr) -> None:
    code, on_the_spot = function_made(interpreter, instr)
    if code is None:
        raise Break("PJ202", opcode=instr.opname)
    if not on_the_spot:
        try:
            interpreter.push(new_closure(interpreter, instr))
        except Break as error:
            if not isinstance(error, Wanted) and error.reason_id != "PJ218":
                interpreter.context.base.findings.by_bytecode.add(code)
            raise
        return
    _, name = pop_code(interpreter.pop)
    closure = interpreter.pop() if instr.arg else Sequence([])
    if not isinstance(closure, Sequence):
        raise Break("PJ202", opcode=instr.opname)
    free = tuple(cell.content if isinstance(cell, CellRef) else cell for cell in closure.items)
    interpreter.push(UnescapedFunction(code, free, interpreter.context, name=name))
