"""Import statements of loaded modules: modules and names are looked up as the import system would do."""

from __future__ import annotations

import builtins
import sys
import types
from typing import Any, Dict, Tuple

from pijit.core.bytecode.codec.decode import Instr
from pijit.core.capture.models.containers import item_reads
from pijit.core.capture.models.objects import locations
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.values.lattice import Const, KnownContainer
from pijit.core.errors import Break
from pijit.guards.source import UNBOUND, Constant, Item, read_item

MODULES: Dict[str, Any] = sys.modules
IMPORT = builtins.__import__


def op_IMPORT_NAME(interpreter: Interpreter, instr: Instr) -> None:
    names, level = interpreter.constant(interpreter.pop()), interpreter.constant(interpreter.pop())
    if level != 0 or read_item(interpreter.context.builtins, "__import__") is not IMPORT:
        raise Break("PJ207", module=instr.value)
    location = Item(Constant(interpreter.context.builtins), "__import__")
    interpreter.use(locations.known_object(interpreter, IMPORT, location, location))
    module = _imported(interpreter, instr.value)
    _require_names(interpreter, module.object, names or ())
    interpreter.push(module if names else _imported(interpreter, instr.value.partition(".")[0]))


def op_IMPORT_FROM(interpreter: Interpreter, instr: Instr) -> None:
    module = interpreter.state.stack[-1]
    if not isinstance(module, Const) or type(module.object) is not types.ModuleType:
        raise Break("PJ207", name=instr.value)
    _require_names(interpreter, module.object, (instr.value,))
    interpreter.push(interpreter.use(interpreter.attribute(module, instr.value)))


def _imported(interpreter: Interpreter, name: str) -> Const:
    """The module of this name, under a guard."""
    location = Constant(MODULES)
    modules = locations.known_object(interpreter, MODULES, location, location)
    if read_item(MODULES, name) is UNBOUND or isinstance(modules, KnownContainer):
        raise Break("PJ207", module=name)
    found = interpreter.use(item_reads.container_item(interpreter, modules, Const(name)))
    if not isinstance(found, Const) or type(found.object) is not types.ModuleType or _is_beginning(found.object):
        raise Break("PJ207", module=name)
    return found


def _require_names(interpreter: Interpreter, module: types.ModuleType, names: Tuple[str, ...]) -> None:
    """Break unless a module has these names: for a missing one the import system might look for a submodule."""
    missing = [name for name in names if name not in module.__dict__]
    if missing:
        raise Break("PJ207", module=module.__name__, name=missing[0])


def _is_beginning(module: types.ModuleType) -> bool:
    """Whether a module is still being imported."""
    spec = module.__dict__.get("__spec__")
    return bool(getattr(spec, "_initializing", False))
