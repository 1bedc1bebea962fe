"""Cold paths of callees: blocks executed for their effects alone, such as an occasional log line.

A callee with a cold path is still inlined. When the path is reached, the kernel exits into the middle of the callee,
and bytecode runs the rest of it. So no long-running code may follow the path in the callee.
"""

from __future__ import annotations

from typing import Any, Container, Iterable, Optional, Set

from pijit.core.bytecode.analysis.blocks import CFG, BasicBlock
from pijit.core.bytecode.analysis.liveness import Liveness
from pijit.core.bytecode.instructions.predicates import drops, is_return, loads_constant, writes_local


class ColdPath(Exception):
    """Raised to leave the block that is being analysed to bytecode."""


class CertainException(Exception):
    """Raised when an instruction of a callee under analysis certainly raises an exception."""


def is_cold(cfg: CFG, liveness: Liveness, index: int) -> bool:
    """Whether an instruction is on a cold path: in blocks that seem to serve effects alone and that a branch bypasses.
    """
    own = cfg.blocks[cfg.block_of[index] or 0]
    if _is_passed(cfg, own, own) and _keeps_nothing(cfg, liveness, own):
        return True
    number = own.index
    while number:
        last = _end_of_dropped(cfg, index, cfg.stack_depth[cfg.blocks[number].start] or 0)
        if last is not None and cfg.dominates(number, last.index) and _is_passed(cfg, cfg.blocks[number], last):
            return True
        number = cfg.idom[number]
    return False


def _is_passed(cfg: CFG, first: BasicBlock, last: BasicBlock) -> bool:
    """Whether a branch either enters a group of blocks or bypasses it, and both ways lead to the same successors."""
    ends = _ends(cfg, last)
    for number in first.predecessors:
        for other in cfg.blocks[number].successors:
            if other != first.index:
                reached = reachable(cfg, [other], frozenset([first.index]))
                if ends & reached.union(*[_ends(cfg, cfg.blocks[one]) for one in reached]):
                    return True
    return False


def _ends(cfg: CFG, block: BasicBlock) -> Set[Any]:
    """The numbers of the successors of a block. A returned constant counts as a successor, because CPython duplicates
    such returns."""
    last, before = block.end - 1, block.end - 2
    instructions = cfg.function.instructions
    if is_return(instructions[last]) and before >= 0 and loads_constant(instructions[before]):
        return {("returns", id(instructions[before].value))}
    return set(block.successors)


def _end_of_dropped(cfg: CFG, index: int, level: int) -> Optional[BasicBlock]:
    """The last block of the statement of an instruction if the statement's value is dropped, else None.

    The statement begins at operand stack depth ``level``.
    """
    for position in range(index, len(cfg.function.instructions) - 1):
        if cfg.stack_depth[position + 1] == level:
            dropped = drops(cfg.function.instructions[position])
            return cfg.blocks[cfg.block_of[position] or 0] if dropped else None
    return None


def _keeps_nothing(cfg: CFG, liveness: Liveness, block: BasicBlock) -> bool:
    """Whether a block stores no variable that is live after it, and leaves nothing on the operand stack."""
    if not block.successors:
        return False
    after = [cfg.blocks[number].start for number in block.successors]
    stored = {instr.value for instr in cfg.function.instructions[block.start:block.end]
              if writes_local(instr)}
    level = cfg.stack_depth[block.start]
    return all(cfg.stack_depth[start] == level and stored.isdisjoint(liveness.live_in(start)) for start in after)


def reachable(cfg: CFG, blocks: Iterable[int], without: Container[int] = ()) -> Set[int]:
    """These blocks and all blocks reachable from them."""
    found, todo = set(blocks), list(blocks)
    while todo:
        new = [number for number in cfg.blocks[todo.pop()].successors if number not in found and number not in without]
        found.update(new)
        todo += new
    return found


def has_long_work_after(cfg: CFG, looping: Iterable[int], index: int) -> bool:
    """Whether a loop is reachable from an instruction, or one of ``looping``: calls of functions that have loops."""
    own = cfg.block_of[index] or 0
    after = reachable(cfg, cfg.blocks[own].successors)
    headers = {loop.header for loop in cfg.loops}
    return bool(after & headers) or any(
        cfg.block_of[call] in after or cfg.block_of[call] == own and call > index for call in looping)
