"""Natural loops of a graph: header, blocks, entry edges and back edges.

Passes, fusion and `graph/reverse` use it. It must not change the graph.
"""

from __future__ import annotations

from typing import Dict, List, Set, Tuple

from pijit.core.graph.ir import Block, Graph, Jump
from pijit.core.graph.verify import dominators
from pijit.core.named_tuples import NamedTuple

BlockJump = Tuple[Block, Jump]


class Loop(NamedTuple):
    """A loop: its header, all its blocks, its entry edges and its back edges."""

    header: Block
    body: Set[Block]
    entering: List[BlockJump]
    back: List[BlockJump]


def innermost(graph: Graph) -> List[Loop]:
    """The innermost loops: those that contain no other loop."""
    found = loops_of(graph, dominators(graph))
    headers = {loop.header for loop in found}
    return [loop for loop in found if loop.body & headers == {loop.header}]


def loops_of(graph: Graph, over: Dict[Block, Set[Block]]) -> List[Loop]:
    """All loops; ``over`` are the dominators."""
    edges: Dict[Block, List[BlockJump]] = {block: [] for block in graph.blocks}
    for block in graph.blocks:
        for jump in block.terminator.targets():
            edges[jump.block].append((block, jump))
    found = []
    for header in graph.blocks:
        back = [edge for edge in edges[header] if header in over[edge[0]]]
        if back:
            body = {header}
            todo = [block for block, _ in back]
            while todo:
                block = todo.pop()
                if block not in body:
                    body.add(block)
                    todo += [other for other, _ in edges[block]]
            found.append(Loop(header, body, [edge for edge in edges[header] if edge not in back], back))
    return found


def leads_to(block: Block, target: Block, loop: Loop) -> bool:
    """Whether an iteration of a loop may go from one of its blocks to another one."""
    visited, todo = {loop.header}, [block]
    while todo:
        one = todo.pop()
        if one is target:
            return True
        if one not in visited or one is block:
            visited.add(one)
            todo += [jump.block for jump in one.terminator.targets() if jump.block in loop.body - visited]
    return False
