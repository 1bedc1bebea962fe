"""On-stack replacement: a running call moves to newer linked code at a loop header.

Old code calls an *OSR check* at the header (`pijit.core._hook.osr_check`). Unless the OSR check returns None, old code
returns its result, with the operand stack in the local `STACK`. Newer code, made by `link` with a `start`, then runs on
the same locals::

    LOAD_CONST <osr_check>; CALL_FUNCTION 0; DUP_TOP             new code begins with
    POP_JUMP_IF_FALSE on                                     LOAD_FAST $stack; UNPACK_SEQUENCE n; <onto the stack>
    STORE_FAST $move; BUILD_TUPLE n; STORE_FAST $stack       [SETUP_LOOP]  CPython 3.7
    LOAD_FAST $move; RETURN_VALUE                            JUMP_ABSOLUTE header
    on: POP_TOP

From 3.11 on new code also has to ask for the locals; see `frames_311`.
"""

from __future__ import annotations

import sys
from typing import Any, Callable, Dict, FrozenSet, Optional

from pijit.core.bytecode.analysis.blocks import CFG
from pijit.core.bytecode.assembler.emit import Emit, moved_away, moved_in, stack_of
from pijit.core.bytecode.codec.encode import Assembler, Label
from pijit.core.named_tuples import NamedTuple


class Given(NamedTuple):
    """A stack item that linked code creates by ``make(*items)`` from a tuple that a kernel leaves."""

    position: int
    make: Callable[..., Any]


READS_LOCALS: FrozenSet[str] = frozenset(
    ("locals", "vars", "dir", "eval", "exec") if (3, 11) <= sys.version_info < (3, 13) else ())
"""Names of functions that return a frame's only dict of locals. In 3.11 and 3.12 a move continues in another frame,
which has another dict."""


def move_points(cfg: CFG) -> Dict[int, Optional[str]]:
    """The headers of all loops, each with the reason why a call cannot move there, or None if it can."""
    starts = [cfg.blocks[loop.header].start for loop in cfg.loops]
    return {start: _why_not_there(cfg, start) for start in starts}


def _why_not_there(cfg: CFG, start: int) -> Optional[str]:
    """The reason why a call cannot move to a loop's header, or None."""
    kinds = {entry.kind for entry in cfg.block_stack[start] or ()}
    if not kinds <= {"loop"}:
        return ("it is inside a comprehension" if kinds <= {"loop", "restoring"}
                else "it is inside a try or with statement")
    if not READS_LOCALS.isdisjoint(cfg.function.code.co_names):
        return "the function reads its local variables as a dict"
    operands = cfg.function.operands
    return "it is among the arguments of a call" if operands is not None and operands.nulls[start] else None


def add_osr_check(assembler: Assembler, cfg: CFG, header: int, make: Callable[[int], Any]) -> None:
    """Call an OSR check at a loop's header; ``make`` makes it, given the local that receives the operand stack."""
    assembler.insert(header, moved_away(Emit(assembler, header), cfg, header, make))


def add_start(assembler: Assembler, cfg: CFG, header: int, to: Label) -> None:
    """Begin at a loop's header, on the operand stack that a move has left. No code may be inserted before this code."""
    emit = Emit(assembler, header)
    slots = [assembler.fresh_local() for _ in range(cfg.stack_depth[header] or 0)]
    items = moved_in(emit, slots) + stack_of(emit, cfg, header, slots)
    assembler.insert(assembler.first_place(), items + [emit.jump(to)], redirect=False)
