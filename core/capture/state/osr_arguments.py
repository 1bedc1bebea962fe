"""Arguments of a running call, for a capture in the middle of it (on-stack replacement).

Arguments that the function never rebinds are still in their variables. For the others, the first capture keeps its
abstract value if that is a type or a number. Keeping an object would extend its lifetime beyond that in the program.
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional

from pijit.core.bytecode.analysed_code import AnalysedCode
from pijit.core.capture.state.frame_state import FrameState
from pijit.core.capture.values.lattice import Abstract, Const, Number, Tensor
from pijit.guards.facts import is_exactly

IMMORTAL = (bool, int, float, complex, str, bytes, type(None))


def remembered(analysed: AnalysedCode, entry: FrameState) -> Optional[Dict[str, Abstract]]:
    """The abstract values of rebound arguments at entry. None if one of them can only be kept by keeping an object."""
    known = {name: entry.locals[name] for name in analysed.rebound_arguments if name in entry.locals}
    return known if all(map(_is_free_of_objects, known.values())) else None


def _is_free_of_objects(value: Abstract) -> bool:
    return isinstance(value, (Number, Tensor)) or isinstance(value, Const) and is_exactly(value.object, IMMORTAL)


def slots_at_entry(analysed: AnalysedCode, slots: List[Any], unbound: Any) -> List[Any]:
    """Locals, cells and free variables as they were at entry, from those of a running frame of linked code.

    Rebound arguments are left out; `remembered` has them.
    """
    function, gone = analysed.function, analysed.rebound_arguments
    fast = [slots[index] if index < function.argument_count and name not in gone else unbound
            for index, name in enumerate(function.varnames)]
    shared = len(function.cellvars) + len(function.freevars)
    return fast + slots[len(slots) - shared:]
