"""Block merging: join a block with its only predecessor, so that later phases see larger blocks.

Before::                                 After::

    b1():                                    b1():
        %3 = ufunc %0, %1                        %3 = ufunc %0, %1
        jump b2()                                %4 = ufunc %3, %1
    b2():                                        ...
        %4 = ufunc %3, %1
        ...

Inlined calls leave such blocks. These blocks stay as they are: the entry, blocks that begin with a poll, and blocks in
which np.errstate reports other errors.
"""

from __future__ import annotations

from typing import Dict, Sequence, Set, Tuple

from pijit.core.graph.ir import Block, Graph, Jump, Op
from pijit.core.graph.ops import RAISES_FLAGS


def merge_blocks(graph: Graph) -> None:
    """Merge the blocks in place."""
    jumps: Dict[Block, int] = {}
    for block in graph.blocks:
        for jump in block.terminator.targets():
            jumps[jump.block] = jumps.get(jump.block, 0) + 1
    joined: Set[Block] = set()
    for block in graph.blocks[1:]:
        while block not in joined and isinstance(block.terminator, Jump):
            following = block.terminator.block
            if jumps[following] != 1 or following is block or following.params \
                    or following.ops and following.ops[0].name == "poll" \
                    or len(_reported(block.ops + following.ops)) > 1:
                break
            block.ops, block.terminator = block.ops + following.ops, following.terminator
            joined.add(following)
    graph.blocks = [block for block in graph.blocks if block not in joined]
    for number, block in enumerate(graph.blocks):
        block.index = number


def _reported(ops: Sequence[Op]) -> Set[Tuple[int, int]]:
    """The pairs of flags that operations do not report, and flags that they always check."""
    return {(op.attrs.get("ignored", 0), op.attrs.get("always_checked", 0)) for op in ops
            if op.exit is not None and (op.name in RAISES_FLAGS or "always_checked" in op.attrs)}
