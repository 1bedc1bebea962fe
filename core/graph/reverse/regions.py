"""Regions: a graph as a sequence of operations, guards and counted loops.

Reversal goes through a sequence backwards, and through each loop from its last iteration to its first.
"""

from __future__ import annotations

from typing import Dict, List, Optional, Sequence, Set, Tuple, Union, cast

from pijit.core.graph.ir import Block, Branch, Graph, Jump, Leave, Op, Output, Value
from pijit.core.graph.loops import Loop as NaturalLoop
from pijit.core.graph.loops import loops_of
from pijit.core.graph.ops import MOVABLE
from pijit.core.graph.passes.simplify import rename
from pijit.core.graph.reverse.errors import Irreversible
from pijit.core.graph.verify import dominators
from pijit.core.named_tuples import NamedTuple

IGNORED = frozenset(["poll"])
"""Operations without a meaning for values."""


class Guard(NamedTuple):
    """A condition that calls of the joint function must fulfil: ``condition`` is true, or false."""

    condition: Value
    holds: bool


class Loop:
    """A counted loop: ``for index in range(first, limit)``.

    Attributes:
        params: the loop-carried values, without the index.
        first, next: for each of them, its value before the loop, and that for the next iteration.
        index, start, limit: the index, its first value, and the value that ends the loop.
        items: the body; it begins with the operations of the header.
        header: the operations of the header.
        number: a number that names the loop.
    """

    __slots__ = ("params", "first", "next", "index", "start", "limit", "items", "header", "number")

    def __init__(self, index: Value, start: Value, limit: Value, carried: Sequence[Tuple[Value, Value, Value]],
                 header: List[Op], items: List["Item"], number: int) -> None:
        self.index, self.start, self.limit = index, start, limit
        self.params = [param for param, _, _ in carried]
        self.first = [first for _, first, _ in carried]
        self.next = [following for _, _, following in carried]
        self.header, self.items, self.number = header, items, number


Item = Union[Op, Guard, Loop]


class Region(NamedTuple):
    """A whole graph: its items, and what the function returns."""

    items: List[Item]
    outputs: List[Output]


def region_of(graph: Graph) -> Region:
    """The region of a graph.

    Raises:
        Irreversible: the control flow is another one than counted loops.
    """
    while True:
        found = loops_of(graph, dominators(graph))
        _inline_parameters(graph, {loop.header for loop in found})
        if not _specialise(graph):
            break
    return _Search(found).whole(graph.blocks[0])


def _specialise(graph: Graph) -> bool:
    """Replace branches on sizes and arguments by requirements; returns whether there were any.

    Such branches decide which loops run at all. The kept arm is the one that does more.
    """
    made = {op.result: op for block in graph.blocks for op in block.ops}
    inputs = set(graph.inputs)

    def is_known(value: Value) -> bool:
        op = made.get(value)
        known = op is not None and (op.name in MOVABLE or op.name in ("dim", "flag"))
        return value in inputs or known and all(map(is_known, op.args))  # type: ignore[union-attr]

    count = 0
    for block in graph.blocks:
        end = block.terminator
        if not isinstance(end, Branch) or not is_known(end.condition):
            continue
        if isinstance(end.then, Jump) and isinstance(end.other, Jump):
            then, other = (_reachable(arm.block, block) for arm in (end.then, end.other))
            holds = len(then - other) >= len(other - then)
            condition = end.condition
            if not holds:
                condition = graph.new_value(condition.type)
                block.ops.append(Op("not", [end.condition], {}, condition))
            block.ops.append(Op("require", [condition]))
            block.terminator = end.then if holds else end.other
            count += 1
    reached = _reachable(graph.blocks[0])
    graph.blocks = [block for block in graph.blocks if block in reached]
    return count > 0


def _inline_parameters(graph: Graph, headers: Set[Block]) -> None:
    """Replace the parameters of blocks that have one predecessor by what that passes."""
    jumps: Dict[Block, List[Jump]] = {}
    for block in graph.blocks:
        for jump in block.terminator.targets():
            jumps.setdefault(jump.block, []).append(jump)
    names: Dict[Value, Value] = {}
    for block, found in jumps.items():
        if len(found) == 1 and block not in headers:
            names.update(zip(block.params, found[0].args))
            block.params, found[0].args = [], ()
    rename(graph, names)


def walk(items: Sequence[Item]) -> List[Item]:
    """All items of a sequence and of the loops in it, in program order; a loop comes before its body."""
    found: List[Item] = []
    for item in items:
        found.append(item)
        if isinstance(item, Loop):
            found += walk(item.items)
    return found


def all_ops(items: Sequence[Item]) -> List[Op]:
    """All operations of a sequence and of the loops in it, in program order."""
    return [item for item in walk(items) if isinstance(item, Op)]


class _Search:
    """Builds the region of one graph."""

    def __init__(self, loops: List[NaturalLoop]) -> None:
        self._loops = {loop.header: loop for loop in loops}
        self._count = 0

    def whole(self, entry: Block) -> Region:
        items, end = self._sequence(entry, None)
        assert isinstance(end, Leave)
        return Region(items, [output for output in end.exit.outputs if output.kind != "const"])

    def _sequence(self, block: Block, stop: Optional[Block]) -> Tuple[List[Item], Union[Leave, Jump]]:
        """The items from a block on, up to a jump to ``stop`` or to the end of the graph."""
        items: List[Item] = []
        while True:
            items += [op for op in block.ops if op.name not in IGNORED]
            end = block.terminator
            if isinstance(end, Branch):
                end = self._kept_arm(end, items)
            if isinstance(end, Leave):
                if stop is not None:
                    raise Irreversible("a loop that returns")
                return items, end
            while end.block in self._loops and end.block is not stop:
                loop, end = self._loop(end)
                items.append(loop)
            if end.block is stop:
                return items, end
            block = end.block
            if block.params:  # of a join, since the others are inlined
                raise Irreversible("branches")

    def _kept_arm(self, branch: Branch, items: List[Item]) -> Jump:
        """The arm that goes on, of a branch whose other arm leaves the function early."""
        arms = [(arm, holds) for arm, holds in ((branch.then, True), (branch.other, False)) if isinstance(arm, Jump)]
        reached = [_reachable(arm.block) for arm, _ in arms]
        if len(arms) == 2 and reached[0] & reached[1]:
            raise Irreversible("branches")
        if not arms:
            raise Irreversible("branches")
        kept, holds = max(zip(arms, reached), key=lambda pair: len(pair[1]))[0]
        items.append(Guard(branch.condition, holds))
        return kept

    def _loop(self, entering: Jump) -> Tuple[Loop, Jump]:
        """The loop that a jump enters, and the jump that leaves it."""
        header, found = entering.block, self._loops[entering.block]
        end = header.terminator
        inside = isinstance(end, Branch) and isinstance(end.then, Jump) and end.then.block in found.body
        if not inside or not isinstance(end.other, Jump) or end.other.block in found.body or len(found.back) != 1:
            raise Irreversible("a loop that is not counted")
        inner, back = self._sequence(end.then.block, header)
        assert isinstance(back, Jump)
        ops = [op for op in header.ops if op.name not in IGNORED]
        index, start, limit = self._counter(found, end.condition, entering, back)
        carried = [one for one in zip(header.params, entering.args, back.args) if one[0] is not index]
        self._count += 1
        return Loop(index, start, limit, carried, ops, cast(List[Item], list(ops)) + inner, self._count), end.other

    def _counter(self, found: NaturalLoop, condition: Value, entering: Jump,
                 back: Jump) -> Tuple[Value, Value, Value]:
        """(index, start, limit) of a loop that counts up by 1 to a limit."""
        made = {op.result: op for block in found.body for op in block.ops}
        inside = set(made).union(*[block.params for block in found.body])
        test = made.get(condition)
        if test is not None and test.name == "compare" and test.attrs["operator"] == "<" \
                and test.args[0] in found.header.params and test.args[1] not in inside:
            place = found.header.params.index(test.args[0])
            step = made.get(back.args[place])
            if step is not None and step.name == "add" and step.args[0] is test.args[0]:
                one = made.get(step.args[1])
                if one is not None and one.name == "const" and one.attrs["value"] == 1:
                    return test.args[0], entering.args[place], test.args[1]
        raise Irreversible("a loop that is not counted")


def _reachable(block: Block, without: Optional[Block] = None) -> Set[Block]:
    """The blocks that a block leads to, without going through another one."""
    seen, todo = {block}, [block]
    while todo:
        for jump in todo.pop().terminator.targets():
            if jump.block not in seen and jump.block is not without:
                seen.add(jump.block)
                todo.append(jump.block)
    return seen
