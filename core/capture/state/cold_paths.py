"""Paths of callees that do something aside: a report, a warning, a line in a log that is written now and then.

A callee that has such a path is inlined all the same: where control comes to it, the kernel leaves into the middle of
the callee, whose rest bytecode runs. So nothing that takes long may be behind it in the callee.
"""

from __future__ import annotations

from typing import Any, Container, Iterable, Optional, Set

from pijit.core.bytecode.analysis.blocks import CFG, Block
from pijit.core.bytecode.analysis.liveness import Liveness


class Aside(Exception):
    """The block that is being analysed is left to bytecode."""


def is_aside(cfg: CFG, liveness: Liveness, index: int) -> bool:
    """Whether an instruction is in blocks that look as if they were there for their effects, and that others go past."""
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


def _is_passed(cfg: CFG, first: Block, last: Block) -> bool:
    """Whether a branch leads to the first of some blocks or past it: by another way to where the last one leads."""
    ends = _ends(cfg, last)
    for number in first.predecessors:
        for other in cfg.blocks[number].successors:
            if other != first.index:
                reached = reachable(cfg, [other], frozenset([first.index]))
                if ends & reached.union(*[_ends(cfg, cfg.blocks[one]) for one in reached]):
                    return True
    return False


def _ends(cfg: CFG, block: Block) -> Set[Any]:
    """Where a block leads, as numbers of blocks; a constant that it returns, for CPython copies such returns."""
    last, before = block.end - 1, block.end - 2
    instructions = cfg.function.instructions
    if instructions[last].opname == "RETURN_VALUE" and before >= 0 and instructions[before].opname == "LOAD_CONST":
        return {("returns", id(instructions[before].value))}
    return set(block.successors)


def _end_of_dropped(cfg: CFG, index: int, level: int) -> Optional[Block]:
    """The last block of the statement that an instruction belongs to, if nobody gets the value; it begins at a level of
    the operand stack."""
    for position in range(index, len(cfg.function.instructions) - 1):
        if cfg.stack_depth[position + 1] == level:
            dropped = cfg.function.instructions[position].opname == "POP_TOP"
            return cfg.blocks[cfg.block_of[position] or 0] if dropped else None
    return None


def _keeps_nothing(cfg: CFG, liveness: Liveness, block: Block) -> bool:
    """Whether what a block computes is for itself."""
    if not block.successors:
        return False
    behind = [cfg.blocks[number].start for number in block.successors]
    stored = {instr.value for instr in cfg.function.instructions[block.start:block.end]
              if instr.opname in ("STORE_FAST", "DELETE_FAST")}
    level = cfg.stack_depth[block.start]
    return all(cfg.stack_depth[start] == level and stored.isdisjoint(liveness.live_in(start)) for start in behind)


def reachable(cfg: CFG, blocks: Iterable[int], without: Container[int] = ()) -> Set[int]:
    """These blocks and those that control reaches from there."""
    found, todo = set(blocks), list(blocks)
    while todo:
        new = [number for number in cfg.blocks[todo.pop()].successors if number not in found and number not in without]
        found.update(new)
        todo += new
    return found


def long_behind(cfg: CFG, looping: Iterable[int], index: int) -> bool:
    """Whether control may come to a loop from an instruction on, or to one of ``looping``, calls of functions with
    loops."""
    own = cfg.block_of[index] or 0
    behind = reachable(cfg, cfg.blocks[own].successors)
    headers = {loop.header for loop in cfg.loops}
    return bool(behind & headers) or any(
        cfg.block_of[call] in behind or cfg.block_of[call] == own and call > index for call in looping)
