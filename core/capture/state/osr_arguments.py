"""What a running call was called with, as far as a capture in the middle of it needs to know.

Arguments that the function never binds anew are still in their variables. Of the others the first capture remembers
what it knew, if that is a type or a number: an object would live longer than the program lets it.
"""

from __future__ import annotations

from types import CodeType
from typing import Any, Dict, FrozenSet, List, Optional

from pijit.core.bytecode.codec.decode import Function
from pijit.core.bytecode.normal_form.normalise import decode_normal, normal_code
from pijit.core.capture.state.frame_state import State
from pijit.core.capture.values.lattice import Abstract, Const, Number, Tensor
from pijit.guards.facts import is_exactly

BINDING = frozenset(["STORE_FAST", "DELETE_FAST"])
IMMORTAL = (bool, int, float, complex, str, bytes, type(None))


def bound_anew(function: Function) -> FrozenSet[str]:
    """The arguments that the function assigns to, or deletes."""
    arguments = set(function.varnames[:function.argument_count])
    return frozenset(instr.value for instr in function.instructions if instr.opname in BINDING
                     and instr.value in arguments)


def remembered(function: Function, entry: State) -> Optional[Dict[str, Abstract]]:
    """What a capture knew of the arguments that are bound anew; None if it can only be known by keeping an object."""
    known = {name: entry.locals[name] for name in bound_anew(function) if name in entry.locals}
    return known if all(map(_is_free_of_objects, known.values())) else None


def _is_free_of_objects(value: Abstract) -> bool:
    return isinstance(value, (Number, Tensor)) or isinstance(value, Const) and is_exactly(value.object, IMMORTAL)


def slots_at_entry(code: CodeType, slots: List[Any], unbound: Any) -> List[Any]:
    """Locals, cells and free variables as they were at entry, from those of a running frame of linked code.

    Without the arguments that are bound anew, which `remembered` has.
    """
    function = decode_normal(normal_code(code, False))
    gone = bound_anew(function)
    fast = [slots[index] if index < function.argument_count and name not in gone else unbound
            for index, name in enumerate(function.varnames)]
    shared = len(function.cellvars) + len(function.freevars)
    return fast + slots[len(slots) - shared:]
