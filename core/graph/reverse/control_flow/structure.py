"""Structural analysis: the region of a graph.

A branch becomes a conditional up to its join, the block that postdominates it. A block that several branches of one
conditional lead to is copied for each of them (node splitting), as in ``if a and b: ... else: ...``. `joint` calls it.
It must not change what the graph computes.
"""

from __future__ import annotations

from typing import Collection, Dict, List, Optional, Sequence, Set, Tuple, Union, cast

from pijit.core.graph.ir import Block, Branch, Graph, Jump, Leave, Op, Value
from pijit.core.graph.loops import Loop, loops_of
from pijit.core.graph.reverse.activity import is_float
from pijit.core.graph.reverse.control_flow.counters import counter_of
from pijit.core.graph.reverse.control_flow.reachability import reachable
from pijit.core.graph.reverse.control_flow.returns import with_one_return
from pijit.core.graph.reverse.control_flow.rotated import values_at_exit
from pijit.core.graph.reverse.control_flow.specialisation import inline_parameters, specialise
from pijit.core.graph.reverse.control_flow.splitting import Splitting
from pijit.core.graph.reverse.errors import Irreversible
from pijit.core.graph.reverse.regions import (
    Conditional,
    GraphRegion,
    LoopExit,
    LoopRegion,
    RegionItem,
    RequiredCondition,
    Side,
)
from pijit.core.graph.types import WORD
from pijit.core.graph.verify import dominators

IGNORED = frozenset(["poll"])
"""Operations without a meaning for values."""


def region_of(graph: Graph, returning: Collection[int]) -> GraphRegion:
    """The region of a graph, whose exits ``returning`` leave the function's result.

    Raises:
        Irreversible: the control flow is another one than counted loops and conditionals.
    """
    while True:
        found = loops_of(graph, dominators(graph))
        inline_parameters(graph, {loop.header for loop in found})
        if not specialise(graph, returning, {loop.header for loop in found}):
            break
    end = with_one_return(graph, returning)
    inline_parameters(graph, {loop.header for loop in found})
    return _RegionBuilder(graph, found, end).whole()


class _RegionBuilder:
    """Builds the region of one graph.

    Args:
        graph: the graph.
        loops: its loops.
        end: the block that returns.
    """

    def __init__(self, graph: Graph, loops: List[Loop], end: Block) -> None:
        self._graph, self._end = graph, end
        self._loops = {loop.header: loop for loop in loops}
        self._splitting = Splitting(graph, loops)
        self._count = 0

    def whole(self) -> GraphRegion:
        items, end = self._sequence(Jump(self._graph.blocks[0], ()), None, set(self._graph.blocks))
        assert isinstance(end, Leave)
        return GraphRegion(items, [output for output in end.exit.outputs if output.kind != "const"],
                      self._splitting.repeated)

    def _sequence(self, first: Union[Jump, Block], stop: Optional[Block],
                  within: Set[Block]) -> Tuple[List[RegionItem], Union[Leave, Jump]]:
        """The items from a jump or a block on, up to a jump to ``stop``, or to the end of the graph.

        Args:
            first: the first block, or the jump to it.
            stop: the header of the loop around the sequence, or the join of the conditional around it.
            within: the blocks of the innermost loop.
        """
        items: List[RegionItem] = []
        end: Union[Leave, Jump, Block] = first
        while True:
            while isinstance(end, Jump) and end.block in self._loops and end.block is not stop:
                end = self._loop(end, within, items)
            if isinstance(end, Jump) and end.block is stop:
                return items, end
            if isinstance(end, Leave):
                if stop is not None:
                    raise Irreversible("a branch that leaves the function")
                return items, end
            block = self._splitting.entered(end, stop, within) if isinstance(end, Jump) else end
            items += [self._item(op) for op in block.ops if op.name not in IGNORED]
            end = block.terminator
            if isinstance(end, Branch):
                end = self._branch(end, stop, within, items)

    @staticmethod
    def _item(op: Op) -> RegionItem:
        """An operation; the choice of a float is a conditional, because the adjoint of one operand gets it."""
        if op.name != "select" or op.result is None or not is_float(op.result):
            return op
        condition, one, other = op.args
        return Conditional(condition, Side([], (one,)), Side([], (other,)), [op.result])

    # ---- conditionals ----

    def _branch(self, branch: Branch, stop: Optional[Block], within: Set[Block],
                items: List[RegionItem]) -> Union[Jump, Block]:
        """Add a conditional, or a guard on one arm; returns the jump or the block that goes on."""
        target = self._end if stop is None else stop
        arms = [arm for arm in branch.targets() if (arm.block in within or arm.block is stop)
                and target in reachable(arm.block, stop, within)]
        leaving = [arm for arm in branch.targets() if arm not in arms and self._end in reachable(arm.block)]
        if not arms:
            raise Irreversible("a branch that leaves the function")
        if len(arms) == 1:
            holds = arms[0] is branch.then
            items.append(LoopExit(branch.condition, not holds) if leaving
                         else RequiredCondition(branch.condition, holds))
            return arms[0]
        join = self._join(arms, target, stop, within)
        sides, ends = [], []
        for arm in arms:
            found, end = self._sequence(arm, join, within)
            assert isinstance(end, Jump)
            sides.append(found)
            ends.append(end.args)
        differing = [place for place, (one, other) in enumerate(zip(*ends)) if one is not other]
        is_inside = join is not stop and join not in self._loops and len(differing) == len(join.params)
        args = list(ends[0])
        for place in differing:  # what both sides pass needs no parameter
            args[place] = join.params[place] if is_inside else self._graph.new_value(join.params[place].type)
        then, other = (Side(found, tuple(end[place] for place in differing)) for found, end in zip(sides, ends))
        items.append(Conditional(branch.condition, then, other, [args[place] for place in differing]))
        return join if is_inside else Jump(join, args)

    @staticmethod
    def _join(arms: Sequence[Jump], target: Block, stop: Optional[Block], within: Set[Block]) -> Block:
        """The first block that all ways from both arms to ``target`` go through."""
        one, other = (reachable(arm.block, stop, within) for arm in arms)
        found = [block for block in one & other if block is target or not any(
            target in reachable(arm.block, stop, within - {block}) for arm in arms if arm.block is not block)]
        return max(found, key=lambda block: len(reachable(block, stop, within)))

    # ---- loops ----

    def _loop(self, entering: Jump, within: Set[Block], items: List[RegionItem]) -> Union[Jump, Block]:
        """Add the loop that a jump enters; returns the jump or the block that goes on."""
        header, found = entering.block, self._loops[entering.block]
        self._count += 1
        number = self._count
        counter = counter_of(found, entering)
        leaving = [jump for block in found.body for jump in block.terminator.targets()
                   if jump.block not in found.body and self._end in reachable(jump.block)]
        if counter is None or len(leaving) > 1:
            names = values_at_exit(found, leaving, self._splitting.blocks, IGNORED)
            if names is not None:
                return self._rotated(entering, leaving[0], names, items, number)
            return self._uncounted(entering, within, items, number)
        inner, back = self._sequence(header.terminator.then, header, found.body)
        assert isinstance(back, Jump)
        ops = [op for op in header.ops if op.name not in IGNORED]
        carried = [one for one in zip(header.params, entering.args, back.args) if one[0] is not counter.variable]
        items.append(LoopRegion(*counter, carried, ops, cast(List[RegionItem], list(ops)) + inner, number))
        return cast(Jump, header.terminator.other)

    def _rotated(self, entering: Jump, leaving: Jump, names: Dict[Value, Value], items: List[RegionItem],
                 number: int) -> Jump:
        """Add a rotated loop; returns the jump that leaves it. ``names``: see `values_at_exit`."""
        header, found = entering.block, self._loops[entering.block]
        inner, back = self._sequence(header, header, found.body)
        assert isinstance(back, Jump)
        self._splitting.rename_outside(found, names)
        until = inner.pop()
        assert isinstance(until, LoopExit)
        items.append(self._counting(entering, back, inner, items, number, until))
        return Jump(leaving.block, [names.get(arg, arg) for arg in leaving.args])

    def _counting(self, entering: Jump, back: Jump, inner: List[RegionItem], items: List[RegionItem], number: int,
                  until: Optional[LoopExit] = None) -> LoopRegion:
        """A loop that counts its iterations at run time; its first index is added to the items."""
        index, start, limit = (self._graph.new_value(WORD) for _ in range(3))
        items.append(Op("const", [], {"value": 0}, start))
        carried = list(zip(entering.block.params, entering.args, back.args))
        return LoopRegion(index, start, limit, carried, [], inner, number, False, until)

    def _uncounted(self, entering: Jump, within: Set[Block], items: List[RegionItem], number: int) -> Block:
        """Add a loop whose number of iterations is known at run time; returns the incomplete iteration after it."""
        header, found = entering.block, self._loops[entering.block]
        copy, loops = self._splitting.incomplete(found, within)
        self._loops.update((loop.header, loop) for loop in loops)
        inner, back = self._sequence(header, header, found.body)
        assert isinstance(back, Jump)
        items.append(self._counting(entering, back, inner, items, number))
        return copy
