"""Rotated loops: loops that are left at the end of their body only, as in ``do ... while``.

Compilers rotate ``while`` loops: they test the condition once before the loop, and then at the end of each iteration.
All iterations of such a loop are complete, so that code after it reads the values for the next iteration.
"""

from __future__ import annotations

from typing import Collection, Dict, Optional, Set

from pijit.core.graph.ir import Block, Branch, Graph, Jump, Value
from pijit.core.graph.loops import Loop


def values_at_exit(loop: Loop, leaving: Collection[Jump], blocks: Collection[Block],
                   ignored: Collection[str]) -> Optional[Dict[Value, Value]]:
    """For a rotated loop, the header's parameters that replace values of the body in code after it; None for others.

    Args:
        loop: the loop.
        leaving: the jumps that leave it.
        blocks: all blocks.
        ignored: the operations without a meaning.
    """
    back = [jump for block in loop.body for jump in block.terminator.targets() if jump.block is loop.header]
    if len(leaving) != 1 or len(back) != 1 or not _is_last(loop, next(iter(leaving)), ignored):
        return None
    names = dict(zip(back[0].args, loop.header.params))
    made = set(loop.header.params).union(*(block.params for block in loop.body))
    made.update(op.result for block in loop.body for op in block.ops if op.result is not None)
    outside = Graph("")
    outside.blocks = [block for block in blocks if block not in loop.body]
    used: Set[Value] = set(outside.uses()).union(next(iter(leaving)).args)
    return names if (used & made) <= set(names) - set(loop.header.params) else None


def _is_last(loop: Loop, leaving: Jump, ignored: Collection[str]) -> bool:
    """Whether the branch that leaves a loop else goes to the header at once, as the only way to it."""
    targets = [jump.block for block in loop.body for jump in block.terminator.targets()]
    for block in loop.body:
        end = block.terminator
        if isinstance(end, Branch) and leaving in (end.then, end.other) and end.condition not in loop.header.params:
            other = end.other if end.then is leaving else end.then
            while isinstance(other, Jump) and other.block is not loop.header and isinstance(
                    other.block.terminator, Jump) and targets.count(other.block) == 1 \
                    and all(op.name in ignored for op in other.block.ops):
                other = other.block.terminator
            return isinstance(other, Jump) and other.block is loop.header
    return False
