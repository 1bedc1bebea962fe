"""Memory planning: whose memory each array of a kernel gets.

A new array has memory of NumPy's allocator, of the buffer pool (native/runtime/arrays/buffer_pool.h), or a slot on the
kernel's stack. A result may also take the memory of an operand that is dead afterwards. An array with memory of the
pool or the stack must not escape; a side exit hands out a copy of it.

`plan_memory` follows the operations of a graph, in the order in which the emitter writes them, and knows of each array
what `ArrayLayouts` knows. So it can tell which operand a result takes the memory of. The emitter knows less of some
shapes, and then makes a new array. The plan is right in both cases. It never writes kernel code.
"""

from __future__ import annotations

from typing import Dict, Iterator, List, Mapping, Optional, Sequence, Set

from pijit.core.graph.ir import Block, Op, Value
from pijit.core.graph.ops import EFFECTS, NUMPYS_MEMORY, PLACES_ELEMENTS
from pijit.core.graph.passes.fusion import counts_true
from pijit.core.graph.types import Array
from pijit.core.kernel.plan.array_layouts import ArrayLayout
from pijit.core.kernel.plan.escape import EscapeAnalysis
from pijit.core.kernel.plan.graph_facts import GraphFacts
from pijit.core.kernel.plan.group_operands import find_leaves
from pijit.core.kernel.plan.group_plans import GroupPlans
from pijit.core.kernel.plan.nests import asks_for_temporaries, finds
from pijit.core.kernel.plan.operand_reuse import freedom
from pijit.core.kernel.plan.operands import array_type, result_of
from pijit.core.kernel.plan.ownership import Ownership
from pijit.core.kernel.plan.tiling import TilingRun
from pijit.core.named_tuples import NamedTuple

MOST_SLOTS = 8
"""The most stack slots of one kernel, because Python's threads may have small stacks."""

MOST_EXITS = 8
"""The most side exits that need one stack array: each has its own code that makes an object."""

_MOST_AXES = 4
"""With more axes, the product of sizes that fit one by one may overflow."""


class MemoryPlan(NamedTuple):
    """Whose memory the arrays of a kernel get.

    Attributes:
        pooled: the results whose memory comes from the buffer pool where they are new arrays.
        borrowed: the results that may have memory of the pool: those, and results that may take it from an operand.
        reused: the operands whose memory a result takes if their shapes are equal, in order of preference. They belong
            to the last operation of a nest, or to an operation that is written alone.
        offered: the operands whose memory the runtime may use for a new array, by the array's operation.
        slots: the results that have a stack slot at each place that makes one as a new array.
        spare_slots: the number of slots that are left for temporary arrays.
    """

    pooled: Set[Value]
    borrowed: Set[Value]
    reused: Dict[Op, List[Value]]
    offered: Dict[Op, List[Value]]
    slots: Set[Value]
    spare_slots: int


def plan_memory(order: List[Block], facts: GraphFacts, groups: GroupPlans, tiling: Mapping[Op, TilingRun],
                ownership: Ownership, escape: EscapeAnalysis, layouts: Mapping[Value, ArrayLayout]) -> MemoryPlan:
    """The memory of a graph's arrays. ``order`` has the blocks in the order in which they are written."""
    return _MemoryPlanner(facts, groups, tiling, ownership, escape, layouts).plan(order)


def fits_stack(kind: Array) -> bool:
    """Whether arrays of a type may live on the kernel's stack if they are small."""
    return kind.layout == "C" and kind.ndim <= _MOST_AXES


class _MemoryPlanner:
    """Plans the memory of one graph's arrays.

    ``skewed`` are the operations of skewed runs, and ``tiled`` has the run of each operation that is tiled. The results
    in ``poolable`` have memory of the pool if they are new arrays.
    """

    def __init__(self, facts: GraphFacts, groups: GroupPlans, tiling: Mapping[Op, TilingRun], ownership: Ownership,
                 escape: EscapeAnalysis, layouts: Mapping[Value, ArrayLayout]) -> None:
        self.facts = facts
        self.groups = groups
        self.tiling = tiling
        self.ownership = ownership
        self.escape = escape
        self.layouts = layouts
        self.skewed = {member for run in groups.skewing.values() for op in run.ops() for member in facts.group_of(op)}
        self.tiled = {op: run for run in tiling.values() for op in run.all_ops(facts)}
        self.poolable: Set[Value] = set()
        self.pooled: Set[Value] = set()
        self.borrowed: Set[Value] = set()
        self.reused: Dict[Op, List[Value]] = {}
        self.offered: Dict[Op, List[Value]] = {}
        self.slots: Set[Value] = set()
        self.spare_slots = MOST_SLOTS

    def plan(self, order: List[Block]) -> MemoryPlan:
        ops = [op for block in order for op in block.ops] if self.facts.made else []
        self.poolable = self._find_poolable(ops)
        for op in self._in_order(ops):
            parts = self.facts.merged[op].parts if op in self.groups.unmerged else [self.facts.group_of(op)]
            for part in parts:
                self._group(part)
        return MemoryPlan(self.pooled, self.borrowed, self.reused, self.offered, self.slots, self.spare_slots)

    def _in_order(self, ops: List[Op]) -> Iterator[Op]:
        """The last operations of groups, in the order in which the emitter makes their arrays.

        The lasting results of a tiled run are made before its blocks.
        """
        done: Set[Op] = set()
        for op in ops:
            run = self.tiling.get(op)
            if run is not None:
                yield from (one for one in run.ops if one.result in run.lasting)
                yield from (one for one in run.ops if one.result not in run.lasting)
                done.update(run.ops)
            elif op not in done and op is self.facts.group_of(op)[-1]:
                yield op

    def _find_poolable(self, ops: List[Op]) -> Set[Value]:
        """The results that do not escape, except where an escaping result of NumPy's loops may take their memory."""
        private = self.escape.private
        kept = {value for op in ops if op.name == "ufunc" and not self.facts.is_grouped(op) and op.result not in private
                for value in op.args if value.type == result_of(op).type}
        return {result_of(op) for op in ops if op.result in private and op.result not in kept
                and op.name not in NUMPYS_MEMORY and op.attrs.get("order") != "F"}

    # ---- operations ----

    def _group(self, group: List[Op]) -> None:
        """Plan a group, or a part of a merged group, at the place where the emitter writes it."""
        last = group[-1]
        if last not in self.groups.nests:
            for op in group:
                self._alone(op)
            return
        merged, watched = self.facts.merged.get(last), self.groups.flags[last].watched
        if merged is not None and merged.ops is group:
            for op in merged.outputs:
                self._made_by_nest(group, result_of(op))
        elif last.name in EFFECTS:
            self._also_alone(group[:-1] if group[0].name == "pick" else ())
        elif last.name == "reduce":
            self._made_alone(last)
        elif watched:
            self._made_by_nest(group, result_of(last))
            self._also_alone(group)
        elif not counts_true(last):
            self._result(group, self._reused_by_nest(group), [])

    def _alone(self, op: Op) -> None:
        """Plan an operation that no nest computes."""
        if op.result is None or not isinstance(op.result.type, Array):
            return
        if op.name == "where":
            self._result([op], self._reused_by_nest([op]), [])
        elif op.name == "ufunc":
            given_up = self._given_up(op)
            offered = [] if op in self.tiled else [value for value in given_up if freedom(op, value)]
            self._result([op], _reused_by_ufunc(op, given_up), offered)
        else:
            self._made_alone(op)

    def _also_alone(self, group: Sequence[Op]) -> None:
        """Plan operations of a nest that are written alone, too: watched ones, and those under a mask."""
        for op in group:
            self._made_alone(op)

    # ---- results ----

    def _result(self, group: List[Op], reused: List[Value], offered: List[Value]) -> None:
        """Plan the memory of a result, which may be that of operands.

        An escaping result never takes memory of the pool. A result that surely takes other memory is not in the pool,
        so that escaping results may take its memory in turn.
        """
        last, result, borrowed = group[-1], result_of(group[-1]), self.borrowed
        if not self.escape.is_private(result):
            reused, offered = ([value for value in values if value not in borrowed] for values in (reused, offered))
        taken = self._first_alike(reused, result)
        if taken in borrowed or taken is None and not borrowed.isdisjoint(offered):
            borrowed.add(result)
        if taken is None and (last in self.groups.nests or last in self.skewed):
            self._made_by_nest(group, result)
        elif taken is None:
            self._made_alone(last)
        elif taken in borrowed:
            self._use_pool(result)
        for found, values in ((self.reused, reused), (self.offered, offered)):
            allowed = [value for value in values if value not in borrowed or result in borrowed]
            if allowed:
                found[last] = allowed

    def _first_alike(self, values: Sequence[Value], result: Value) -> Optional[Value]:
        """The first array that is certain to have the shape of a result."""
        shape = self.layouts[result].shape if values else ()
        return next((value for value in values if self.layouts[value].shape == shape), None)

    # ---- new arrays ----

    def _use_pool(self, result: Optional[Value]) -> bool:
        """Give a new array memory of the pool, if it may have it; returns whether it may."""
        if result not in self.poolable:
            return False
        self.pooled.add(result)
        self.borrowed.add(result)
        return True

    def _made_by_nest(self, group: List[Op], result: Value) -> None:
        """Plan the memory of a new array that a nest computes.

        Strides that depend on those of operands are computed by the runtime, which also allocates the array.
        """
        if self._use_pool(result) and (
                array_type(result).ndim == 1 or group[-1] in self.tiled or not asks_for_temporaries(group, self.facts)
                and all(array_type(value).layout == "C" for value in find_leaves(group)[0])):
            self._use_slot(result)

    def _made_alone(self, op: Op) -> None:
        """Plan the memory of a new array for an operation that is written alone, or for sums of rows.

        The runtime allocates a result of NumPy's loops that has several axes.
        """
        if op.name == "where":
            self._made_by_nest([op], result_of(op))
        elif self._use_pool(op.result) and (op.name != "ufunc" or array_type(result_of(op)).ndim == 1
                                            or op in self.tiled):
            self._use_slot(result_of(op))

    def _use_slot(self, result: Value) -> None:
        """Use a slot for a place that makes an array. All places of an array have slots, or none has."""
        if not fits_stack(array_type(result)) or self.escape.exits_with(result) > MOST_EXITS:
            return
        if self.spare_slots:
            self.slots.add(result)
            self.spare_slots -= 1
        elif result in self.slots:
            self.slots.remove(result)
            self.spare_slots += 1

    # ---- operands whose memory is free ----

    def _given_up(self, op: Op) -> List[Value]:
        """The operands whose memory is free once an operation has read them.

        Memory for a block of rows is only given to results that have such memory.
        """
        group, run = self.facts.group_of(op), self.tiled.get(op)
        if op in self.skewed:
            return []
        values = self.ownership.given_up(op, group)
        if run is None:
            return values
        inner = run.made - run.lasting
        return [value for value in values if value in inner] if group[-1].result in inner else []

    def _reused_by_nest(self, group: List[Op]) -> List[Value]:
        """The operands whose memory the result of a nest may take. Each element is read before it is written."""
        last, kind = group[-1], array_type(result_of(group[-1]))
        if kind.layout != "C" or last in self.groups.transposed or asks_for_temporaries(group, self.facts) \
                or any(finds(op) or op.name in PLACES_ELEMENTS for op in group):
            return []
        inner = {op.result for op in group}
        return [value for op in group for value in self._given_up(op) if value.type == kind and value not in inner]


def _reused_by_ufunc(op: Op, given_up: List[Value]) -> List[Value]:
    """The operands whose memory the result of NumPy's loop may take.

    Loops of complex numbers may take another path when they write to an operand.
    """
    kind = array_type(result_of(op))
    if kind.dtype.kind == "c" or kind.layout != "C":
        return []
    return [value for value in given_up if value.type == kind]
