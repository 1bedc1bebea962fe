"""Moving a running call to newer linked code at a loop's header: the way out of the old code, and into the new.

Old code asks a *mover* at the header (`pijit.core._hook.mover`). What that answers, unless it is None, is returned,
with the operand stack in the local `STACK`; newer code, made by `link` with a `start`, is then run on the same
locals::

    LOAD_CONST <mover>; CALL_FUNCTION 0; DUP_TOP             new code begins with
    POP_JUMP_IF_FALSE on                                     LOAD_FAST $stack; UNPACK_SEQUENCE n; <back on the stack>
    STORE_FAST $move; BUILD_TUPLE n; STORE_FAST $stack       [SETUP_LOOP]  CPython 3.7
    LOAD_FAST $move; RETURN_VALUE                            JUMP_ABSOLUTE header
    on: POP_TOP

From 3.11 on new code asks for the locals, too, see `frames_311`.
"""

from __future__ import annotations

import sys
from typing import Any, Callable, Dict, FrozenSet, NamedTuple, Optional

from pijit.core.bytecode.analysis.blocks import CFG
from pijit.core.bytecode.assembler.emit import Emit, moved_away, moved_in, stack_of
from pijit.core.bytecode.codec.encode import Assembler, Label


class Given(NamedTuple):
    """An item of the operand stack that bytecode has to make, from a tuple that a kernel leaves: ``make(*items)``."""

    position: int
    make: Callable[..., Any]


READS_LOCALS: FrozenSet[str] = frozenset(
    ("locals", "vars", "dir", "eval", "exec") if (3, 11) <= sys.version_info < (3, 13) else ())
"""Names of functions that answer one dict for each frame: in 3.11 and 3.12 a move goes on in another frame, with another."""


def move_points(cfg: CFG) -> Dict[int, Optional[str]]:
    """The headers of all loops, and why a call cannot move there; None if it can."""
    starts = [cfg.blocks[loop.header].start for loop in cfg.loops]
    return {start: _why_not_there(cfg, start) for start in starts}


def _why_not_there(cfg: CFG, start: int) -> Optional[str]:
    """Why a call cannot move to a loop's header, or None."""
    kinds = {entry.kind for entry in cfg.block_stack[start] or ()}
    if not kinds <= {"loop"}:
        return "it is inside a comprehension" if kinds <= {"loop", "restoring"} else "it is inside a try or with statement"
    if not READS_LOCALS.isdisjoint(cfg.function.code.co_names):
        return "the function reads its local variables as a dict"
    operands = cfg.function.operands
    return "it is among the arguments of a call" if operands is not None and operands.nulls[start] else None


def add_mover(assembler: Assembler, cfg: CFG, header: int, make: Callable[[int], Any]) -> None:
    """Ask at a loop's header; ``make`` gives the mover for the local that takes the operand stack."""
    assembler.insert(header, moved_away(Emit(assembler, header), cfg, header, make))


def add_start(assembler: Assembler, cfg: CFG, header: int, to: Label) -> None:
    """Begin at a loop's header, on the operand stack that a move has left. Nothing may be inserted before."""
    emit = Emit(assembler, header)
    slots = [assembler.fresh_local() for _ in range(cfg.stack_depth[header] or 0)]
    items = moved_in(emit, slots) + stack_of(emit, cfg, header, slots)
    assembler.insert(assembler.first_place(), items + [emit.jump(to)], redirect=False)
