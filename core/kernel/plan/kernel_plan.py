"""The plan of a kernel: what is decided from its graph before a line of source is written.

`Kernel` in kernel/compile.py makes one plan of each kernel, and `KernelEmitter` reads it. The modules of this folder
take each decision.
"""

from __future__ import annotations

from typing import Any, Dict, List

from pijit.core.graph.ir import Graph, Op, Value
from pijit.core.kernel.options import CompileOptions
from pijit.core.kernel.plan.array_layouts import ArrayLayouts
from pijit.core.kernel.plan.control_tree import GraphFlow, LoopNode, blocks_of, tree_of
from pijit.core.kernel.plan.deferred_fills import find_fills
from pijit.core.kernel.plan.escape import EscapeAnalysis
from pijit.core.kernel.plan.exponents import BoundedArrays, find_bounded
from pijit.core.kernel.plan.fp_check_plan import FpCheckPlan, plan_fp_checks
from pijit.core.kernel.plan.graph_facts import GraphFacts
from pijit.core.kernel.plan.group_plans import GroupPlans, plan_groups
from pijit.core.kernel.plan.memory_layout import likely_by_rows
from pijit.core.kernel.plan.memory_plan import MemoryPlan, plan_memory
from pijit.core.kernel.plan.multi_output_fusion import find_merged, is_elementwise
from pijit.core.kernel.plan.ownership import Ownership
from pijit.core.kernel.plan.signed_zeros import find_left_out_steps
from pijit.core.kernel.plan.skewing import find_store_runs
from pijit.core.kernel.plan.strips import Strip, find_strips
from pijit.core.kernel.plan.tiling import TilingRun, find_runs
from pijit.core.named_tuples import NamedTuple


class Plan(NamedTuple):
    """The decisions for one kernel.

    Attributes:
        facts: where values come from, the fused groups, and those with several results.
        tree: the graph as structured control flow.
        groups: how the fused groups are written: nests, stores, initial contents that wait, and skewed runs.
        ownership: where references are taken and released.
        escape: which arrays leave the kernel.
        memory: whose memory the arrays get.
        bounded: the arrays that have exponent bounds.
        tiling: the runs of operations that are tiled, by their first operation.
        strips: the loops that are written as speculative strips.
        fp_checks: which scalar operations share a check of floating-point flags, and where it is written.
        left_out_steps: the steps that nests leave out, because they change no bit, and the operands that replace them.
    """

    facts: GraphFacts
    tree: List[Any]
    groups: GroupPlans
    ownership: Ownership
    escape: EscapeAnalysis
    memory: MemoryPlan
    bounded: BoundedArrays
    tiling: Dict[Op, TilingRun]
    strips: Dict[LoopNode, Strip]
    fp_checks: FpCheckPlan
    left_out_steps: Dict[Op, Value]


def make_plan(graph: Graph, options: CompileOptions) -> Plan:
    """The plan for a graph."""
    facts = GraphFacts(graph, options.fast)
    flow = GraphFlow(graph)
    bounded = find_bounded(graph, facts)
    skewing = find_store_runs(graph, facts, options.least, bounded.made)
    skewed = {op for run in skewing.values() for op in run.ops()}
    tiling = find_runs(graph, facts, options.least, bounded.all(), skewed)
    tiled = {op for run in tiling.values() if not is_elementwise(run, facts) for op in run.all_ops(facts)}
    facts.merge(find_merged(graph, facts, skewed | tiled, bounded.all(), options))
    merged = {op for group in facts.merged.values() for op in group.ops}
    tiling = {first: run for first, run in tiling.items() if merged.isdisjoint(run.ops)}
    ownership = Ownership(flow, facts.used, facts.groups)
    tree = tree_of(flow)
    layouts = ArrayLayouts(graph, facts.constants)
    groups = plan_groups(layouts, flow.order, facts, likely_by_rows(graph), bounded, find_fills(graph, facts), skewing,
                         tiling, options)
    escape = EscapeAnalysis(graph)
    memory = plan_memory(list(blocks_of(tree)), facts, groups, tiling, ownership, escape, layouts.of)
    return Plan(facts, tree, groups, ownership, escape, memory, bounded, tiling,
                find_strips(tree, facts, ownership, options.nogil) if flow.loops else {},
                plan_fp_checks(flow.order, facts, ownership, groups.skewing, tiling, options.fast),
                find_left_out_steps(graph, facts))
