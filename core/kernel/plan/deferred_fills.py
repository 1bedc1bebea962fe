"""Deferred fill: which initial contents of a new array may wait for the store that replaces most of them.

``new = u.copy(); new[1:-1] = f(u)`` writes the inner elements twice. In between, only a side exit lets others see the
array. So the initial contents may be written after the store. emit/stores/deferred_fill.py writes them.
"""

from __future__ import annotations

from typing import Dict, List, cast

from pijit.core.graph.ir import Block, Graph, Op, Value
from pijit.core.graph.ops import EFFECTS, VIEWS
from pijit.core.graph.types import Array
from pijit.core.kernel.plan.graph_facts import GraphFacts
from pijit.core.named_tuples import NamedTuple


class FillPlan(NamedTuple):
    """The deferred fills of one graph.

    ``waiting`` maps the operation that gives an array its initial contents to the array. ``stores`` maps the last
    operation of the group that stores to the array.
    """

    waiting: Dict[Op, Value]
    stores: Dict[Op, Value]


def find_fills(graph: Graph, facts: GraphFacts) -> FillPlan:
    """The initial contents of a graph's arrays that may wait for a store."""
    found = FillPlan({}, {})
    for block in graph.blocks:
        position = {op: number for number, op in enumerate(block.ops)}
        for last in block.ops:
            if last in facts.groups and last.name == "assign":
                _find_fill(facts, block, position, facts.groups[last], found)
    return found


def _find_fill(facts: GraphFacts, block: Block, position: Dict[Op, int], group: List[Op], found: FillPlan) -> None:
    last = group[-1]
    root = facts.root_of(last.args[0])
    target, kind = cast(Array, last.args[0].type), cast(Array, root.type)
    if root is last.args[0] or target.ndim != kind.ndim or kind.layout != "C":
        return
    for number in reversed(range(position[last])):
        op = block.ops[number]
        copies = op.name == "assign" and op.args[0] is root and op not in group and _can_wait(facts, op.args[1], root)
        if copies or op.result is root:
            if copies or op.name == "alloc":
                found.waiting[op], found.stores[last] = root, root
            return
        touches = any(facts.root_of(value) is root for value in op.args)
        if op.name in EFFECTS or touches and op.name not in VIEWS and op.name != "dim":
            return


def _can_wait(facts: GraphFacts, source: Value, root: Value) -> bool:
    """Whether the source of a copy is still available and unchanged at the store.

    An array must be an input with the dtype and the number of axes of the copy. `_find_fill` excludes effects in
    between.
    """
    if root not in facts.made:
        return False
    if not isinstance(source.type, Array):
        return True
    kind = cast(Array, root.type)
    return (source.type.dtype, source.type.ndim) == (kind.dtype, kind.ndim) and facts.root_of(source) in facts.inputs
