"""The instruction that enters a with statement; `models/stdlib/context_managers.py` models the managers.

The dispatch table of `interpreter` has its function. It must not enter a manager.
"""

from __future__ import annotations

from typing import cast

from pijit.core.bytecode.codec.decode import Instr
from pijit.core.capture.models.objects import locations
from pijit.core.capture.models.objects.classes import class_paths
from pijit.core.capture.models.objects.special_methods import call_special, special_method
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.models.stdlib.context_managers import Manager
from pijit.core.capture.models.stdlib.known_managers import ready, refuse_loop
from pijit.core.capture.state.return_kinds import CallOutcomes
from pijit.core.capture.values.describe import describe
from pijit.core.capture.values.lattice import BoundFunction, Unknown
from pijit.core.errors import Break
from pijit.guards.source import Attr


def op_SETUP_WITH(interpreter: Interpreter, instr: Instr) -> None:
    refuse_loop(interpreter, instr)
    if isinstance(interpreter.state.stack[-1], Unknown):
        raise Break("PJ206", opcode=instr.opname)
    value = interpreter.pop()
    known = ready(value)
    if known is not None:
        method = cast(BoundFunction, value)
        owner, result = known.enter(interpreter, method.owner)
        manager = Manager(method.function, owner, instr.index, _apart(interpreter))
        interpreter.state.stack += [manager, result]
        return
    function = special_method(value, "__exit__")
    if function is None or special_method(value, "__enter__") is None:
        raise Break("PJ206", type=describe(value))
    location = class_paths(interpreter, value).then(Attr, "__exit__")
    interpreter.push(Manager(locations.known_object(interpreter, function, *location), value, instr.index,
                             _apart(interpreter)))
    entered = call_special(interpreter, "__enter__", value)  # this call may change the known contents of the manager
    if entered is None or isinstance(entered, CallOutcomes):
        raise Break("PJ206", type=describe(value))
    interpreter.push(entered)


def _apart(interpreter: Interpreter) -> int:
    return 0 if interpreter.context.depth else interpreter.version
