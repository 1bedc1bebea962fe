"""Node splitting: a block that several ways of one conditional lead to is copied for each of them.

`structure` calls it. It must not copy without a limit.
"""

from __future__ import annotations

from typing import Any, Collection, Dict, List, Optional, Sequence, Set, Tuple

from pijit.core.graph.ir import Block, Branch, Graph, Jump, Leave, Op, SideExit, Value
from pijit.core.graph.loops import Loop as NaturalLoop
from pijit.core.graph.passes.simplify import rename
from pijit.core.graph.reverse.control_flow.reachability import reachable
from pijit.core.graph.reverse.errors import Irreversible

MOST_COPIED = 64
"""The most blocks that are copied for one graph."""


class Splitting:
    """Copies blocks.

    Args:
        graph: the graph.
        loops: its loops. Their headers are not copied, except for iterations that leave an outer loop.

    Attributes:
        blocks: all blocks.
        repeated: the operations of these iterations, which the loops have run.
    """

    def __init__(self, graph: Graph, loops: Collection[NaturalLoop]) -> None:
        self._graph, self._loops, self.blocks = graph, list(loops), list(graph.blocks)
        self._jumps: Dict[Block, int] = {}
        for block in graph.blocks:
            for jump in block.terminator.targets():
                self._jumps[jump.block] = self._jumps.get(jump.block, 0) + 1
        self._copied = 0
        self.repeated: Set[Op] = set()

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
        if not region.isdisjoint([loop.header for loop in self._loops]):
            raise Irreversible("loops and branches that are no conditionals")
        self._copied += len(region)
        if self._copied > MOST_COPIED:
            raise Irreversible("too many ways through its branches")
        copies = self._copy(region, dict(zip(block.params, jump.args)))
        within.update(copies.values())
        return copies[block]

    def incomplete(self, loop: NaturalLoop, within: Set[Block]) -> Tuple[Block, List[NaturalLoop]]:
        """A copy of the body of a loop for the iteration that leaves it; jumps to the header have no way on.

        Code after the loop reads the values of the copy.

        Returns:
            the copy of the header, whose parameters are those of the header, and the copies of inner loops.
        """
        names = {param: param for param in loop.header.params}
        before = list(self.blocks)
        self._copied += len(loop.body)
        if self._copied > MOST_COPIED:
            raise Irreversible("too many ways through its branches")
        copies = self._copy(loop.body, names)
        dead = Block(loop.header.index)
        dead.terminator = Leave(SideExit(-1, ()))
        for copy in copies.values():
            self.repeated.update(copy.ops)
            for jump in copy.terminator.targets():
                if jump.block is copies[loop.header]:
                    jump.block, jump.args = dead, ()
        self.rename_outside(loop, names, before)
        within.update(copies.values())
        return copies[loop.header], [
            NaturalLoop(copies[inner.header], {copies[block] for block in inner.body}, [], [])
            for inner in self._loops if inner.header in loop.body and inner.header is not loop.header]

    def rename_outside(self, loop: NaturalLoop, names: Dict[Value, Value], blocks: Sequence[Block] = ()) -> None:
        """Replace values in the blocks outside of a loop; ``blocks`` are those to replace them in, or () for all."""
        outside = Graph(self._graph.name)
        outside.blocks = [block for block in blocks or self.blocks if block not in loop.body]
        rename(outside, {value: name for value, name in names.items() if name is not value})

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
            self.repeated.update(new for old, new in zip(block.ops, copy.ops) if old in self.repeated)
            copy.terminator = self._terminator(block.terminator, names, copies)
        self.blocks += copies.values()
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
