"""Node splitting: a block that several ways of one conditional lead to is copied for each of them."""

from __future__ import annotations

from typing import Any, Collection, Dict, Optional, Set

from pijit.core.graph.ir import Block, Branch, Graph, Jump, Leave, Op, SideExit, Value
from pijit.core.graph.reverse.errors import Irreversible
from pijit.core.graph.reverse.reachability import reachable

MOST_COPIED = 64
"""The most blocks that are copied for one graph."""


class Splitting:
    """Copies blocks.

    Args:
        graph: the graph.
        headers: the headers of its loops, which are not copied.
    """

    def __init__(self, graph: Graph, headers: Collection[Block]) -> None:
        self._graph, self._headers = graph, headers
        self._jumps: Dict[Block, int] = {}
        for block in graph.blocks:
            for jump in block.terminator.targets():
                self._jumps[jump.block] = self._jumps.get(jump.block, 0) + 1
        self._copied = 0

    def entered(self, jump: Jump, stop: Optional[Block], within: Set[Block]) -> Block:
        """The block that a jump leads to; a copy if other jumps lead to it, too, or if it has parameters.

        Args:
            jump: the jump.
            stop: the block before which copies end.
            within: the blocks of the innermost loop; copies are added.
        """
        block = jump.block
        if self._jumps.get(block, 0) < 2 and not jump.args:
            return block
        region = reachable(block, stop, within) - {stop}
        if not region.isdisjoint(self._headers):
            raise Irreversible("loops and branches that are no conditionals")
        self._copied += len(region)
        if self._copied > MOST_COPIED:
            raise Irreversible("too many ways through its branches")
        copies = self._copy(region, dict(zip(block.params, jump.args)))
        within.update(copies.values())
        return copies[block]

    def _copy(self, region: Collection[Block], names: Dict[Value, Value]) -> Dict[Block, Block]:
        """Copies of blocks; ``names`` are values that replace others in them."""
        copies = {block: Block(block.index, lineno=block.lineno) for block in region}
        for block in region:
            for value in [*block.params, *(op.result for op in block.ops if op.result is not None)]:
                if value not in names:
                    names[value] = self._graph.new_value(value.type, value.hint)
        for block, copy in copies.items():
            copy.params = [names[value] for value in block.params]
            copy.ops = [Op(op.name, [names.get(arg, arg) for arg in op.args], op.attrs,
                           None if op.result is None else names[op.result], None, op.lineno, op.origin)
                        for op in block.ops]
            copy.terminator = self._terminator(block.terminator, names, copies)
        return copies

    def _terminator(self, end: Any, names: Dict[Value, Value], copies: Dict[Block, Block]) -> Any:
        def new(target: Any) -> Any:
            if not isinstance(target, Jump):
                return target
            block = copies.get(target.block, target.block)
            self._jumps[block] = self._jumps.get(block, 0) + 1
            return Jump(block, [names.get(arg, arg) for arg in target.args])

        if isinstance(end, Branch):
            return Branch(names.get(end.condition, end.condition), new(end.then), new(end.other))
        if isinstance(end, Leave):
            outputs = [output.map(lambda value: names.get(value, value)) for output in end.exit.outputs]
            return Leave(SideExit(end.exit.exit, outputs))
        return new(end)
