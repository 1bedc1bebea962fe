"""Import statements of loaded modules: modules and names are looked up as the import system would do.

The interpreter inherits `Imports`.
"""

from __future__ import annotations

import builtins
import sys
import types
from typing import Any, Callable, Dict, Tuple

from pijit.core.bytecode.codec.decode import Instr
from pijit.core.capture.values.lattice import Abstract, Const, KnownContainer
from pijit.core.errors import Break
from pijit.guards.source import UNBOUND, Constant, Item, read_item

MODULES: Dict[str, Any] = sys.modules
IMPORT = builtins.__import__


class Imports:
    """Mixin of the interpreter: IMPORT_NAME and IMPORT_FROM.

    A loaded module is read from ``sys.modules``. Bytecode imports a module that is missing or still being
    initialised.
    """

    facts: Any
    pop: Callable[[], Abstract]
    push: Callable[[Abstract], None]
    use: Callable[[Abstract], Abstract]
    constant: Callable[[Abstract], Any]
    known_object: Callable[..., Abstract]
    container_item: Callable[[Abstract, Abstract], Abstract]
    attribute: Callable[[Abstract, str], Abstract]
    state: Any

    def op_IMPORT_NAME(self, instr: Instr) -> None:
        names, level = self.constant(self.pop()), self.constant(self.pop())
        if level != 0 or read_item(self.facts.builtins, "__import__") is not IMPORT:
            raise Break("PJ207", module=instr.value)
        place = Item(Constant(self.facts.builtins), "__import__")
        self.use(self.known_object(IMPORT, place, place))
        module = self._imported(instr.value)
        self._require_names(module.object, names or ())
        self.push(module if names else self._imported(instr.value.partition(".")[0]))

    def op_IMPORT_FROM(self, instr: Instr) -> None:
        module = self.state.stack[-1]
        if not isinstance(module, Const) or type(module.object) is not types.ModuleType:
            raise Break("PJ207", name=instr.value)
        self._require_names(module.object, (instr.value,))
        self.push(self.use(self.attribute(module, instr.value)))

    def _imported(self, name: str) -> Const:
        """The module of this name, under a guard."""
        place = Constant(MODULES)
        modules = self.known_object(MODULES, place, place)
        if read_item(MODULES, name) is UNBOUND or isinstance(modules, KnownContainer):
            raise Break("PJ207", module=name)
        found = self.use(self.container_item(modules, Const(name)))
        if not isinstance(found, Const) or type(found.object) is not types.ModuleType or _is_beginning(found.object):
            raise Break("PJ207", module=name)
        return found

    def _require_names(self, module: types.ModuleType, names: Tuple[str, ...]) -> None:
        """Break unless a module has these names: for a missing one the import system might look for a submodule."""
        missing = [name for name in names if name not in module.__dict__]
        if missing:
            raise Break("PJ207", module=module.__name__, name=missing[0])


def _is_beginning(module: types.ModuleType) -> bool:
    """Whether a module is still being imported."""
    spec = module.__dict__.get("__spec__")
    return bool(getattr(spec, "_initializing", False))
