"""Functions that one kernel computes from their first instruction to a return: calls of them need no frame.

`pijit.core._hook` binds the arguments and calls the launcher before there is a frame (core/native/dispatch.c). An
exit that leads to a return hands over the function's result; at any other linked code goes on in a frame, as ever.
"""

from __future__ import annotations

from types import CodeType
from typing import Any, Iterable, List, Optional, Tuple

from pijit.core._hook import Frameless
from pijit.core.bytecode.decode import Function
from pijit.core.capture.capture import Candidate
from pijit.core.capture.captured import Captured
from pijit.core.capture.guarding import launch_arguments
from pijit.core.kernel.compile import Kernel

NEEDS_FRAME = frozenset(["store_global"])
"""Operations that ask for the frame that runs the linked code."""
MOST_LIVE_INS = 32


def returning_exits(captured: Captured, kernel: Kernel, function: Function) -> Tuple[int, ...]:
    """The kernel's exits after which bytecode has nothing left to do but to return the last value that they leave.

    The others are what it lets go of: dead locals that become None.
    """
    returning = captured.returning(function)
    return tuple(id for id, (number, codes) in enumerate(kernel.exits)
                 if number in returning and all(code[0] == "const" for code in codes[:-1]))


def frameless(function: Function, linked: CodeType, kept: Iterable[Tuple[Candidate, Kernel]],
              launchers: List[Any]) -> Optional[Frameless]:
    """What an entry cache holds for such a function, or None; launchers are in the order of ``kept``."""
    for (candidate, kernel), launcher in zip(kept, launchers):
        captured = candidate.captured
        slots = [_slot(root, function) for root in launch_arguments(captured)]
        if (returning_exits(captured, kernel, function) and None not in slots and len(slots) <= MOST_LIVE_INS
                and not any(op.name in NEEDS_FRAME for block in captured.graph.blocks for op in block.ops)):
            return Frameless(linked, launcher, tuple(slots))
    return None


def _slot(root: Any, function: Function) -> Optional[int]:
    """Where a frame has a live-in when it starts: an argument or the cell of a free variable."""
    if root.kind == "local":
        number = function.varnames.index(root.name)
        return number if number < function.argument_count else None
    is_free = root.kind in ("cell", "closure") and not function.cellvars
    return len(function.varnames) + int(root.name) if is_free else None
