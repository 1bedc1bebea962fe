"""Saved locals: values that an inlined comprehension saves on the operand stack (CPython 3.12).

The saved slot is empty if the variable was unbound. A kernel cannot take an empty slot as an argument.
"""

from __future__ import annotations

from typing import Optional, Set

from pijit.core.bytecode.analysis.blocks import CFG
from pijit.core.bytecode.analysis.use_def import UseDef
from pijit.core.bytecode.instructions.instruction import Instr
from pijit.core.bytecode.instructions.predicates import saves_local, stores_local, swapped_with


def maybe_empty(cfg: CFG, usedef: UseDef, index: int) -> Set[int]:
    """The stack positions before an instruction that hold a saved local which may have been unbound."""
    found: Set[int] = set()
    for instr in cfg.function.instructions[:index]:
        if saves_local(instr) and instr.value in usedef.may_be_unbound(instr.index):
            position = _position(cfg, instr, index)
            found.update(() if position is None else (position,))
    return found


def _position(cfg: CFG, saving_store: Instr, index: int) -> Optional[int]:
    """The stack position of the saved value before an instruction; None once it is restored."""
    position = cfg.stack_depth[saving_store.index]
    for instr in cfg.function.instructions[saving_store.index + 1:index]:
        depth = cfg.stack_depth[instr.index]
        if position is None or depth is None:  # END_FOR never runs
            continue
        below = swapped_with(instr)
        if stores_local(instr) and position == depth - 1:
            return None
        if below and position in (depth - 1, depth - below):
            position = 2 * depth - 1 - below - position
    return position
