"""Reachability: the blocks that a block leads to.

The other modules of the package use it. It must not change the graph.
"""

from __future__ import annotations

from typing import Collection, Optional, Set

from pijit.core.graph.ir import Block


def reachable(block: Block, stop: Optional[Block] = None, within: Optional[Collection[Block]] = None) -> Set[Block]:
    """The blocks that a block leads to, with itself.

    Args:
        block: the first block.
        stop: a block whose successors do not count.
        within: the blocks that count, beside ``block`` and ``stop``; None: all.
    """
    visited, todo = {block}, [block]
    while todo:
        one = todo.pop()
        for jump in one.terminator.targets() if one is not stop else ():
            if jump.block not in visited and (within is None or jump.block in within or jump.block is stop):
                visited.add(jump.block)
                todo.append(jump.block)
    return visited
