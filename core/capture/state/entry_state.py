"""The abstract state at function entry, and the code objects that are not captured at all."""

from __future__ import annotations

import inspect
from typing import Any, Dict, List, Optional

from pijit.core.bytecode.codec.decode import Function
from pijit.core.capture.state.frame_state import FrameState
from pijit.core.capture.values.lattice import UNBOUND, Abstract, Unknown, known_of
from pijit.core.capture.values.value_specialisation import Specialisation
from pijit.guards.source import Local


def entry_state(function: Function, localsplus: List[Any], unbound: Any,
                specialisation: Specialisation = Specialisation()) -> FrameState:
    """The state at function entry: arguments by their types, other locals unbound."""
    locals: Dict[str, Abstract] = {}
    cells = set(function.cellvars)
    for index, name in enumerate(function.varnames):
        value = localsplus[index]
        if value is unbound:
            locals[name] = Unknown("PJ208") if name in cells else UNBOUND
        else:
            locals[name] = specialisation.arriving(known_of(value, Local(index, name)))
    return FrameState(locals, [])


def why_not_captured(code: Any) -> Optional[str]:
    """The id of the reason why a code object is not captured as a whole, or None."""
    if code.co_flags & inspect.CO_COROUTINE:
        return "PJ102"
    if code.co_flags & inspect.CO_ASYNC_GENERATOR:
        return "PJ103"
    if code.co_flags & inspect.CO_GENERATOR:
        return "PJ101"
    if not code.co_flags & inspect.CO_OPTIMIZED:
        return "PJ104"
    return "PJ106" if len(code.co_code) > 20000 else None
