"""Block merging: join a block with its only predecessor, so that later phases see larger blocks.

Before::                                 After::

    b1():                                    b1():
        %3 = ufunc %0, %1                        %3 = ufunc %0, %1
        jump b2()                                %4 = ufunc %3, %1
    b2():                                        ...
        %4 = ufunc %3, %1
        ...

Inlined calls leave such blocks. These blocks stay as they are: the entry, blocks that begin with a poll, and blocks in
which np.errstate reports other errors. A block without stores that ignores all errors is merged: gradients of a value.
"""

from __future__ import annotations

from typing import Callable, Dict, List, Set, Tuple

from pijit.core.graph.ir import Block, Graph, Jump, Op
from pijit.core.graph.ops import EFFECTS, RAISES_FLAGS
from pijit.core.graph.passes.fusion import EVERY_FLAG


def merge_blocks(graph: Graph) -> None:
    """Merge the blocks in place, those that report the same errors first."""
    _merge(graph, _report_alike)
    _merge(graph, _ignores_rest)
    for number, block in enumerate(graph.blocks):
        block.index = number


def _merge(graph: Graph, errors_fit: Callable[[List[Op], List[Op]], bool]) -> None:
    """Merge blocks whose operations ``errors_fit`` accepts."""
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
                    or not errors_fit(block.ops, following.ops):
                break
            block.ops, block.terminator = block.ops + following.ops, following.terminator
            joined.add(following)
    graph.blocks = [block for block in graph.blocks if block not in joined]


def _report_alike(ops: List[Op], following: List[Op]) -> bool:
    """Whether operations report the same errors as those that follow."""
    return len(_reported(ops + following)) < 2


def _ignores_rest(ops: List[Op], following: List[Op]) -> bool:
    """Whether the operations that follow others ignore all errors and store nothing."""
    return _reported(following) == {(EVERY_FLAG, 0)} and not any(op.name in EFFECTS for op in following)


def _reported(ops: List[Op]) -> Set[Tuple[int, int]]:
    """The pairs of flags that operations do not report, and flags that they always check."""
    return {(op.attrs.get("ignored", 0), op.attrs.get("always_checked", 0)) for op in ops
            if op.exit is not None and (op.name in RAISES_FLAGS or "always_checked" in op.attrs)}
