"""Plans of stores into existing arrays: in place, through a buffer, with delayed stores, or by blocks.

group_plans.py makes one plan for each group that stores, and emit/stores/inplace_store.py writes it. A plan names the
arrays whose memory the kernel has to compare at run time.
"""

from __future__ import annotations

import enum
from typing import Mapping, Optional, Sequence, Tuple

from pijit.core.graph.element_ops import WIDE
from pijit.core.graph.ir import Op, Value
from pijit.core.graph.passes.fusion import scalar_operation
from pijit.core.kernel.plan.array_layouts import ArrayLayout, are_one
from pijit.core.kernel.plan.graph_facts import GraphFacts
from pijit.core.kernel.plan.operands import array_type
from pijit.core.named_tuples import NamedTuple


class Strategy(enum.Enum):
    """How the nest of a store writes."""

    NEW = "into new memory"
    APART = "one nest"
    BLOCKS = "by blocks"
    DELAYED = "delayed stores, or by blocks"


class StorePlan(NamedTuple):
    """How a group stores into its target.

    Attributes:
        strategy: how the nest writes.
        buffered: True if results always pass through a buffer, None if a test at run time decides, else False.
        waits: whether flags may be raised that no bound excludes, so that nothing is written before all are known.
        same: the operands that are the written elements.
        own: the operands that are other parts of the array that is written.
        tested: the arrays that may share memory with the target, as a test at run time decides.
        is_whole: whether all rows are one block.
    """

    strategy: Strategy
    buffered: Optional[bool]
    waits: bool = False
    same: Tuple[Value, ...] = ()
    own: Tuple[Value, ...] = ()
    tested: Tuple[Value, ...] = ()
    is_whole: bool = False

    def __str__(self) -> str:
        through = {True: ", through a buffer", None: ", through a buffer if a test demands it", False: ""}
        parts = [self.strategy.value + through[self.buffered]]
        parts += ["waits for flags"] * self.waits + ["all rows at once"] * self.is_whole
        for text, values in (("reads the written elements as", self.same), ("reads itself at", self.own),
                             ("compares memory with", self.tested)):
            parts += ["%s %s" % (text, ", ".join(map(repr, values)))] * bool(values)
        return "; ".join(parts)


NEW = StorePlan(Strategy.NEW, False)
"""The plan of a store that writes the initial contents of its target."""


def find_shared(facts: GraphFacts, target: Value, values: Sequence[Value]) -> Optional[Tuple[Value, ...]]:
    """The arrays among others that may share memory with a target; None if one is a part of the same array."""
    root = facts.root_of(target)
    others = list(dict.fromkeys(facts.root_of(value) for value in values))
    if root in others:
        return None
    return tuple(other for other in others if not facts.is_apart(root, other))


def plan_store(group: Sequence[Op], values: Sequence[Value], arrays: Mapping[Value, ArrayLayout], facts: GraphFacts,
               raising: bool, is_bounded: bool) -> StorePlan:
    """The plan of a group that stores into an array with contents.

    Args:
        group: the operations; the last one stores.
        values: the arrays that the nest reads.
        arrays: the layouts of all arrays.
        facts: facts about the graph.
        raising: whether the nest may leave because of a flag or an index.
        is_bounded: whether exponent bounds may prove that no flag can be raised.
    """
    written: Value = group[-1].args[0]
    target, root = arrays[written], facts.root_of(written)
    same = tuple(value for value in values if are_one(arrays[value], target))
    others = [value for value in values if value not in same]
    rows = [value for value in others if facts.are_rows(value, written)]
    own = tuple(value for value in others if facts.root_of(value) is root and value not in rows)
    tested = find_shared(facts, written, [value for value in others if value not in (*own, *rows)]) or ()
    tested += tuple(rows)
    waits = raising and not is_bounded
    may_overlap_itself = array_type(root).layout == "A" and array_type(root).ndim > 1 and root not in facts.made
    if not own:
        always = waits or may_overlap_itself
        return StorePlan(Strategy.APART, True if always else None if raising or tested else False, waits, same, own,
                         tested)
    is_whole = waits or any(arrays[value].strides != target.strides for value in own)
    delayed = (is_bounded or not raising) and not is_whole and can_delay(group, values, arrays)
    return StorePlan(Strategy.DELAYED if delayed else Strategy.BLOCKS, True, waits, same, own, tested, is_whole)


def can_delay(group: Sequence[Op], values: Sequence[Value], arrays: Mapping[Value, ArrayLayout]) -> bool:
    """Whether stores can be delayed: vectors of floats compute each row."""
    target = arrays[group[-1].args[0]]
    code, ndim = target.type.dtype.char, len(target.shape)
    return code in "fd" and ndim <= 2 and all(
        arrays[value].type.dtype.char == code and len(arrays[value].shape) == ndim for value in values) and all(
        scalar_operation(op) in WIDE and set(op.attrs["types"]) <= set(code + "->")
        for op in group if op.name != "assign")
