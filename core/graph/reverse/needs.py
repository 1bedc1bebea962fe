"""Needed values: what the backward part of each sequence reads, and what has to be saved or computed again for it.

The adjoint of an operation needs the operands and results that its rule reads. Arrays that stores write to have
versions: each store makes the next one. A loop saves the values at the start of each iteration from which the needed
values of the body are computed again.
"""

from __future__ import annotations

from typing import Dict, Iterable, List, Optional, Sequence, Set, Tuple, Union, cast

from pijit.core.graph.ir import Op, Value
from pijit.core.graph.ops import ACCESSES_ELEMENT, DRAWING, STORES
from pijit.core.graph.reverse.adjoint import contributions
from pijit.core.graph.reverse.errors import Irreversible
from pijit.core.graph.reverse.regions import (
    Conditional,
    LoopExit,
    LoopRegion,
    RegionItem,
    RequiredCondition,
    Side,
    all_ops,
    made,
    walk,
)
from pijit.core.graph.reverse.roots import Roots

ArrayVersion = Tuple[Value, int]
"""An array that stores write to, and the number of stores of its sequence before this time."""

ReadValues = Dict[RegionItem, List[Tuple[Value, bool]]]
"""The values that the backward part of each item reads, and whether as they are after the item."""


class SequenceNeeds:
    """The needs of one sequence of items.

    Attributes:
        written: the roots that the sequence stores into.
        versions: the version of each of them before an item.
        kept: the items that are written where only needed values are computed again.
        preserved: the versions that are needed after the next store; that store copies the array first.
        values: the needed values that are made outside of the sequence.
        roots: the arrays of outside that the sequence stores into and whose first version is needed.
        read: the values that the backward parts of its items read.
        drawn: the random numbers that a loop's body draws and that are needed, in program order.
        following: the needed values that are the next iteration's loop-carried values, with the loop-carried value.
        last: the arrays of outside whose last version is needed, with its number; the next iteration's row has it.
    """

    def __init__(self) -> None:
        self.written: Set[Value] = set()
        self.versions: Dict[RegionItem, Dict[Value, int]] = {}
        self.kept: Set[RegionItem] = set()
        self.preserved: Set[ArrayVersion] = set()
        self.values: Set[Value] = set()
        self.roots: Set[Value] = set()
        self.read: Set[Value] = set()
        self.drawn: List[Value] = []
        self.following: Dict[Value, Value] = {}
        self.last: Dict[Value, int] = {}


class Needs:
    """The needs of all sequences of a region.

    Args:
        items: the region.
        roots: its roots.
        active: the roots that carry adjoints.
        results: what the function returns.

    Attributes:
        whole: the needs of the outermost sequence.
        read_after: the indices and the results of loop headers that are read after their loop.
        of: the needs of each loop's body.
        sides: the needs of both sides of each conditional.
    """

    def __init__(self, items: Sequence[RegionItem], roots: Roots, active: Set[Value], results: Set[Value]) -> None:
        self._roots, self._active = roots, active
        self.of: Dict[LoopRegion, SequenceNeeds] = {}
        self.sides: Dict[Conditional, Tuple[SequenceNeeds, SequenceNeeds]] = {}
        self.read_after = _read_after(items, results)
        self.whole = self._analysed(items)

    def saved(self, loop: LoopRegion) -> List[Value]:
        """What a loop saves at the start of an iteration: loop-carried values, and arrays that its body stores into."""
        needs = self.of[loop]
        wanted = needs.values.union(needs.following.values())
        return [param for param in loop.params if param in wanted] + sorted(
            needs.roots.union(needs.last), key=lambda value: value.id)

    def rows(self, loop: LoopRegion) -> List[Value]:
        """All that a loop saves in each iteration: `saved`, and the random numbers that it draws."""
        return self.saved(loop) + self.of[loop].drawn

    def in_following_row(self, loop: LoopRegion) -> List[Value]:
        """What an iteration reads of the next iteration's row, in the order of `saved`."""
        needs = self.of[loop]
        wanted = {*needs.last, *needs.following.values()}
        return [value for value in self.saved(loop) if value in wanted]

    def is_active(self, item: Union[LoopRegion, Conditional]) -> bool:
        """Whether adjoints flow through a loop or a conditional."""
        return any(self._adjoint_flows(op) for op in all_ops([item])) or any(
            param in self._active for one in walk([item]) if isinstance(one, Conditional) for param in one.params)

    def _adjoint_flows(self, op: Op) -> bool:
        target = op.args[0] if op.name in STORES else op.result
        return target is not None and self._roots.of(target) in self._active

    def _analysed(self, items: Sequence[RegionItem], loop: Optional[LoopRegion] = None,
                  also: Sequence[Value] = ()) -> SequenceNeeds:
        """The needs of a sequence; its backward part begins by reading ``also``."""
        needs = SequenceNeeds()
        needs.written = self._stored_in(items)
        for item in items:
            if isinstance(item, LoopRegion):
                self.of[item] = self._analysed(item.items, item)
                single = {self._roots.of(op.args[0]) for op in all_ops(item.items) if op.name == "store"}
                if single & self.of[item].roots.union(self.of[item].last):
                    raise Irreversible("a loop that overwrites elements that its gradient needs")
            elif isinstance(item, Conditional):
                then, other = (self._analysed(side.items, also=self._indices(side)) for side in item.sides)
                self.sides[item] = then, other
        self._number(items, needs)
        reading: ReadValues = {item: list(self._read_backward(item)) for item in items}
        needs.read = {value for found in reading.values() for value, _ in found}
        carried, last = (self._carried(loop, needs), self._last(items, needs)) if loop is not None else ({}, {})
        self._keep(items, needs, reading, carried, last, also, loop is not None)
        for item in items:
            for value, after in reading[item]:
                root = self._roots.of(value)
                if root in needs.written:
                    stores = after and root in self.stored_by(item)
                    needs.preserved.add((root, needs.versions[item][root] + stores))
        return needs

    def _indices(self, side: Side) -> List[Value]:
        """The numbers in the paths of what a side passes to the join."""
        return [index for value in side.args for index in self._roots.indices(value)]

    def _carried(self, loop: LoopRegion, needs: SequenceNeeds) -> Dict[Value, Value]:
        """The values of a body that the next iteration's saved row has, with the loop-carried value."""
        made = {op.result for op in loop.items if isinstance(op, Op)}.union(
            *(item.params for item in loop.items if isinstance(item, Conditional)))
        return {following: param for param, following in zip(loop.params, loop.next)
                if following in made and following.type == param.type and self._roots.of(following) is following
                and following not in self._roots.stored and following not in self._roots.viewed}

    def _last(self, items: Sequence[RegionItem], needs: SequenceNeeds) -> Dict[Value, int]:
        """The number of the last version of each array of outside that a body stores into.

        To compute that version again takes the first one, so that the array would be saved in any case.
        """
        inside = set(made(items))
        return {root: sum(root in self.stored_by(item) for item in items) for root in needs.written - inside}

    def _number(self, items: Sequence[RegionItem], needs: SequenceNeeds) -> None:
        """Number the versions."""
        now = {root: 0 for root in needs.written}
        for item in items:
            needs.versions[item] = dict(now)
            for root in self.stored_by(item):
                now[root] += 1

    def stored_by(self, item: RegionItem) -> Set[Value]:
        """The roots that an item stores into."""
        return self._stored_in([item])

    def _stored_in(self, items: Sequence[RegionItem]) -> Set[Value]:
        return {self._roots.of(op.args[0]) for op in all_ops(items) if op.name in STORES}

    def _read_backward(self, item: RegionItem) -> Iterable[Tuple[Value, bool]]:
        """(value, whether it is read as it is after the item) that the backward part of an item reads."""
        if isinstance(item, Op) and item.result not in self._roots.view and self._adjoint_flows(item):
            for value in item.args[1:] if item.name in ACCESSES_ELEMENT else ():
                yield value, False
            for value in item.args:
                for index in self._roots.indices(value):
                    yield index, False
            for part in contributions(item):
                if self._roots.of(part.operand) in self._active:
                    yield from ((value, False) for value in part.reads)
                    if part.reads_result:
                        yield (item.args[0] if item.name in STORES else cast(Value, item.result)), True
        elif isinstance(item, LoopRegion) and self.is_active(item):
            inner = self.of[item]
            for value in inner.values.difference(item.params, [item.index]):
                yield value, False
            for root in inner.roots:
                yield root, False
            yield item.limit, False
            yield item.start, False
        elif isinstance(item, Conditional) and self.is_active(item):
            yield item.condition, False
            for side, inner in zip(item.sides, self.sides[item]):
                outside = inner.values.union(inner.roots, self._indices(side)).difference(made(side.items))
                yield from ((value, False) for value in outside)

    def _read_forward(self, item: RegionItem) -> Iterable[Value]:
        """The values that an item reads, without those that it makes."""
        if isinstance(item, (RequiredCondition, LoopExit)):
            return [item.condition]
        found: List[Value] = []
        for inner in walk([item]):
            if isinstance(inner, Op):
                found += inner.args
            elif isinstance(inner, LoopRegion):
                found += inner.first + inner.next + [inner.start, inner.limit]
                found += [] if inner.until is None else [inner.until.condition]
            elif isinstance(inner, Conditional):
                found += [inner.condition, *inner.args]
            elif isinstance(inner, LoopExit):
                found.append(inner.condition)
        found += [index for value in found for index in self._roots.indices(value)]
        inside = set(made([item]))
        return [value for value in found if value not in inside]

    def _keep(self, items: Sequence[RegionItem], needs: SequenceNeeds, reading: ReadValues, carried: Dict[Value, Value],
              last: Dict[Value, int], also: Sequence[Value], is_loop: bool) -> None:
        """Find the items that make needed values, and the needed values from outside; from the last item on.

        Values in ``carried``, and the versions in ``last``, are not made: they are saved for the next iteration.
        Nor are the random numbers that a loop draws: it saves them.
        """
        wanted: Set[Value] = set(also)
        versions: Set[ArrayVersion] = set()
        drawn = {item.result: False for item in items if is_loop and isinstance(item, Op) and item.name in DRAWING}

        def want(value: Value, item: RegionItem, after: bool = False) -> None:
            root = self._roots.of(value)
            if value in carried:
                needs.following[value] = carried[value]
            elif root in drawn:
                drawn[root] = True
                wanted.update(self._roots.indices(value))
            elif root in needs.written:
                version = root, needs.versions[item][root] + (after and root in self.stored_by(item))
                wanted.update(self._roots.indices(value))
                if last.get(root) == version[1]:
                    needs.last[root] = version[1]
                else:
                    versions.add(version)
                    wanted.add(root)
            else:
                wanted.add(value)

        for item in reversed(items):
            for value, after in reading[item]:
                want(value, item, after)
            stored = self.stored_by(item)
            makes: Set[Value] = {cast(Value, item.result)} if isinstance(item, Op) else set()
            if isinstance(item, LoopRegion):
                makes.update(item.params)
                makes.update(cast(Value, op.result) for op in item.header)
                makes.update([] if item.is_counted else [item.limit])
            elif isinstance(item, Conditional):
                makes.update(item.params)
            keeps = any((root, needs.versions[item][root] + 1) in versions for root in stored) or bool(makes & wanted)
            if not keeps and not (isinstance(item, LoopRegion) and self.is_active(item)):
                continue
            needs.kept.add(item)
            wanted -= makes
            for value in self._read_forward(item):
                want(value, item)
            if isinstance(item, Op) and item.name in STORES:
                want(item.args[0], item)
        needs.drawn = [cast(Value, value) for value, is_needed in drawn.items() if is_needed]
        inside = set(made(items))
        needs.values = {value for value in wanted if value not in inside and value not in needs.written}
        needs.roots = {root for root, number in versions if number == 0 and root not in inside}


def _read_after(items: Sequence[RegionItem], results: Set[Value]) -> Set[Value]:
    """The indices and the results of loop headers that are read outside of their loop."""
    found: Set[Value] = set()
    for loop in walk(items):
        if isinstance(loop, LoopRegion):
            inside = set(all_ops(loop.items))
            outside = {arg for op in all_ops(items) if op not in inside for arg in op.args} | results
            contained = set(walk(loop.items))
            outside.update(value for item in walk(items) if isinstance(item, Conditional) and item not in contained
                           for value in item.args)
            for other in walk(items):
                if isinstance(other, LoopRegion) and other is not loop:
                    outside.update(other.first + other.next + [other.start, other.limit])
                elif isinstance(other, (RequiredCondition, Conditional)):
                    outside.add(other.condition)
            found |= {loop.index, *(cast(Value, op.result) for op in loop.header)} & outside
    return found
