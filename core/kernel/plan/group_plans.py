"""Plans of fused groups, and of operations that are written alone in one of several forms.

The plans say which groups one loop nest computes, and how those that store write. `plan_groups` follows the operations
of a graph, dominators first, in the order in which the emitter writes them. It knows of each array what `ArrayLayouts`
knows. So all decisions are made before a line is written.
"""

from __future__ import annotations

from typing import Callable, Collection, Dict, List, Mapping, Set

from pijit.core.graph.ir import Block, Op, Value
from pijit.core.graph.ops import EFFECTS, KEEPS_ROWS, MAKES_ROWS, PLACES_ELEMENTS
from pijit.core.graph.types import Array
from pijit.core.kernel.options import CompileOptions
from pijit.core.kernel.plan.array_layouts import ArrayLayout, ArrayLayouts
from pijit.core.kernel.plan.deferred_fills import FillPlan
from pijit.core.kernel.plan.exponents import BoundedArrays
from pijit.core.kernel.plan.flag_plan import FlagPlan, plan_flags
from pijit.core.kernel.plan.forms.products import ProductPlan, plan_product
from pijit.core.kernel.plan.forms.scatters import ScatterPlan, plan_scatter
from pijit.core.kernel.plan.graph_facts import GraphFacts
from pijit.core.kernel.plan.group_operands import find_leaves
from pijit.core.kernel.plan.nests import goes_by_rows, is_nest
from pijit.core.kernel.plan.operands import result_of
from pijit.core.kernel.plan.skewing import SkewingRun, reads_other_parts, stores
from pijit.core.kernel.plan.store_plan import NEW, StorePlan, plan_store
from pijit.core.kernel.plan.tiling import TiledRows, TilingRun, tiled_rows
from pijit.core.kernel.plan.transposed_operands import transposed_leaves
from pijit.core.named_tuples import NamedTuple


class GroupPlans(NamedTuple):
    """The decisions about fused groups and single operations.

    Attributes:
        nests: the last operations of the groups that one nest computes; other groups are written one by one.
        unmerged: the last operations of merged groups that no nest computes; their parts are written one by one.
        transposed: the last operations of nests that read arrays by columns.
        by_rows: the arrays whose last stride probably is the smallest.
        fills: the initial contents that wait for a store.
        skewing: the runs of statements that are skewed, by the last operation of their first group.
        tiled: where the tiled runs are cut, by their first operation.
        stores: how the groups store into existing arrays, by their last operation.
        flags: the floating-point flags of the nests, by their last operation.
        scatters: the code that stores at indices or under a mask.
        products: how generalised ufuncs run, by their results.
    """

    nests: Set[Op]
    unmerged: Set[Op]
    transposed: Set[Op]
    by_rows: Set[Value]
    fills: FillPlan
    skewing: Dict[Op, SkewingRun]
    tiled: Dict[Op, TiledRows]
    stores: Dict[Op, StorePlan]
    flags: Dict[Op, FlagPlan]
    scatters: Dict[Op, ScatterPlan]
    products: Dict[Value, ProductPlan]


def plan_groups(layouts: ArrayLayouts, order: List[Block], facts: GraphFacts, by_rows: Collection[Value],
                bounded: BoundedArrays, fills: FillPlan, skewing: Mapping[Op, SkewingRun],
                tiling: Mapping[Op, TilingRun], options: CompileOptions) -> GroupPlans:
    """The plans of all groups.

    Args:
        layouts: the layouts of the graph's inputs and parameters, to which those of all results are added.
        order: the blocks, each after those that dominate it.
        facts: facts about the graph.
        by_rows: the inputs and parameters that probably have rows.
        bounded: the arrays with exponent bounds.
        fills: the initial contents that may wait for a store.
        skewing: the runs that may be skewed.
        tiling: the runs that are tiled.
        options: the compile options.
    """
    planner = _GroupPlanner(layouts, facts, set(by_rows), bounded, fills, options)
    for block in order:
        planner.block(block, skewing, tiling)
    return planner.plans


class _GroupPlanner:
    """Makes the plans of one graph."""

    def __init__(self, layouts: ArrayLayouts, facts: GraphFacts, by_rows: Set[Value], bounded: BoundedArrays,
                 fills: FillPlan, options: CompileOptions) -> None:
        self.layouts = layouts
        self.facts = facts
        self.bounded = bounded
        self.possible = fills
        self.options = options
        self.plans = GroupPlans(set(), set(), set(), by_rows, FillPlan({}, fills.stores), {}, {}, {}, {}, {}, {})
        self._pending: Set[Value] = set()  # the arrays whose initial contents are not written yet

    def block(self, block: Block, skewing: Mapping[Op, SkewingRun], tiling: Mapping[Op, TilingRun]) -> None:
        """Plan the groups of a block."""
        for op in block.ops:
            self.layouts.add(op)
        for op in block.ops:
            plan_form = _PLANNERS.get(op.name)
            if plan_form is not None:
                plan_form(self, op)
            if op in tiling:
                self.plans.tiled[op] = tiled_rows(tiling[op], self.layouts.of)
            run = skewing.get(op)
            if run is not None and self._can_skew(run):
                self.plans.skewing[op] = run
                for store in run.stores:
                    self._settle(store)
            if op is self.facts.group_of(op)[-1]:
                self._last(op)

    def _last(self, op: Op) -> None:
        """Plan the group that an operation ends, or the parts of a merged group that no nest computes."""
        group, merged = self.facts.group_of(op), self.facts.merged.get(op)
        if merged is not None and not self._is_nest(group):
            self.plans.unmerged.add(op)
            for part in merged.parts:
                self._group(part[-1], part)
        else:
            self._group(op, group)

    def _group(self, op: Op, group: List[Op]) -> None:
        if len(group) == 1 and not self.facts.is_group(op) or not self._is_nest(group):
            self._settle(op)
            for member in group:
                self._alone(member)
            return
        merged = self.facts.merged.get(op)
        if merged is not None and merged.ops is not group:
            merged = None  # a part of it
        self.plans.nests.add(op)
        self.plans.flags[op] = plan_flags(group, merged, self.facts, self.bounded, self.options.fast)
        if transposed_leaves(group, find_leaves(group)[0], self._arrays(group)):
            self.plans.transposed.add(op)
        if op.name in EFFECTS:
            self.plans.stores[op] = self._store(op, group)
            return
        makers = merged.outputs if merged is not None else [op]
        self.plans.by_rows.update(result_of(maker) for maker in makers if maker.name != "reduce")

    def _is_nest(self, group: List[Op]) -> bool:
        return is_nest(group, self._arrays(group), self.layouts.constants, self.plans.by_rows, self.options)

    def _arrays(self, group: List[Op]) -> Mapping[Value, ArrayLayout]:
        """The layouts that the nest of a group uses."""
        places = any(op.name in PLACES_ELEMENTS for op in group)
        return self.layouts.placed(group) if places else self.layouts.of

    # ---- operations that are written alone ----

    def scatter(self, op: Op) -> None:
        self.plans.scatters[op] = plan_scatter(op, self.layouts.of, self.facts)

    def product(self, op: Op) -> None:
        self.plans.products[result_of(op)] = plan_product(op, self.layouts.of)

    def _alone(self, op: Op) -> None:
        root = self.possible.waiting.get(op)
        if root is not None and self._can_wait(op, root):
            self.plans.fills.waiting[op] = root
            self._pending.add(root)
        if isinstance(op.result, Value) and isinstance(op.result.type, Array) and self._keeps_rows(op):
            self.plans.by_rows.add(op.result)

    def _keeps_rows(self, op: Op) -> bool:
        """Whether the result of an operation has rows if its operands have."""
        return op.name in MAKES_ROWS or op.name in KEEPS_ROWS and all(
            self._has_rows(value) for value in op.args if isinstance(value.type, Array))

    def _has_rows(self, value: Value) -> bool:
        return goes_by_rows(self.layouts.of[value], value, self.plans.by_rows)

    def _can_wait(self, op: Op, root: Value) -> bool:
        """Whether initial contents can wait: they are a number, nothing, or an array of the same shape."""
        source = op.args[1] if op.name == "assign" else None
        layouts = self.layouts.of
        return source not in layouts or layouts[source].shape == layouts[root].shape

    # ---- stores ----

    def _settle(self, op: Op) -> None:
        """Note that pending contents are written before a store."""
        root = self.possible.stores.get(op)
        if root is not None:
            self._pending.discard(root)

    def _store(self, op: Op, group: List[Op]) -> StorePlan:
        root, layouts = self.possible.stores.get(op), self.layouts.of
        if root in self._pending and layouts[op.args[0]].strides == layouts[root].strides:
            self._pending.discard(root)
            return NEW
        self._settle(op)
        flags = self.plans.flags[op]
        return plan_store(group, find_leaves(group)[0], self._arrays(group), self.facts, flags.raising,
                          flags.has_bounds)

    def _can_skew(self, run: SkewingRun) -> bool:
        """Whether all groups of a run can be written as nests, in place."""
        before = set(self.plans.by_rows)
        for op in run.ahead:
            self._alone(op)
        for op in run.groups:
            group = self.facts.group_of(op)
            if not stores(op):
                self.plans.by_rows.add(result_of(op))
            elif reads_other_parts(op, find_leaves(group)[0], self.layouts.of, self.facts):
                break
            if self.facts.is_group(op) and not self._is_nest(group):
                break
        else:
            return True
        self.plans.by_rows.intersection_update(before)
        return False


_PLANNERS: Dict[str, Callable[[_GroupPlanner, Op], None]] = {
    "scatter": _GroupPlanner.scatter, "put_mask": _GroupPlanner.scatter, "gufunc": _GroupPlanner.product,
    "dot": _GroupPlanner.product}
"""How operations are planned that have several forms."""
