"""Floating-point flags of nests: which flags a nest tests, which steps it watches, and whether bounds may exclude
flags.

group_plans.py makes one plan for each nest, and the modules of emit read it. Operations that are written alone are not
planned; for them the emitter asks `flags_mask`.
"""

from __future__ import annotations

from typing import List, Optional, Sequence, Tuple

from pijit.core._launcher import ABI_NUMBERS
from pijit.core.graph.ir import Op
from pijit.core.graph.ops import EFFECTS
from pijit.core.graph.passes.fusion import can_report, raises_flags
from pijit.core.kernel.plan.exponents import BoundedArrays, has_bounds
from pijit.core.kernel.plan.graph_facts import GraphFacts, MergedGroup
from pijit.core.kernel.plan.multi_output_fusion import reported_ops
from pijit.core.kernel.plan.nests import asked, finds, hides_underflow, reports_flags, watched_steps
from pijit.core.kernel.plan.operands import dtype_of
from pijit.core.named_tuples import NamedTuple

LISTENING = 1 | 2 | 4 | 8
"""The mask of all floating-point flags. The runtime leaves out those that np.errstate ignores."""
ALWAYS_CHECKED = ABI_NUMBERS["ALWAYS_CHECKED_SHIFT"]
"""The shift in a mask for flags that the runtime does not leave out."""


class FlagPlan(NamedTuple):
    """How a nest finds out whether NumPy would report a floating-point flag.

    Attributes:
        watched: the numbers of the steps whose results the nest watches; then it tests no flags.
        clears: whether flags are cleared before the nest.
        mask: the flags that are tested after the nest; 0: none.
        raising: whether a store may leave at the end of its nest, because of a flag or an index, while others may see
            the array.
        has_bounds: whether exponent bounds may prove that no flag is raised, and something needs the proof.
        hides_underflow: whether the nest's arithmetic may underflow without a flag, as that of float16.
    """

    watched: Tuple[int, ...] = ()
    clears: bool = False
    mask: int = 0
    raising: bool = False
    has_bounds: bool = False
    hides_underflow: bool = False


NO_FLAGS = FlagPlan()
"""The plan of a nest that raises no flags."""


def flags_mask(ops: Sequence[Op], fast: bool) -> int:
    """The mask of the flags that are reported if these operations raise them; 0 if there are none."""
    if not reports_flags(ops, fast):
        return 0
    ignored, always_checked = LISTENING, 0
    for op in ops:
        always_checked |= op.attrs.get("always_checked", 0)
        ignored &= op.attrs.get("ignored", 0) if can_report(op) else LISTENING
    return LISTENING & ~ignored | always_checked | always_checked << ALWAYS_CHECKED


def plan_flags(group: List[Op], merged: Optional[MergedGroup], facts: GraphFacts, bounded: BoundedArrays,
               fast: bool) -> FlagPlan:
    """The flags of the nest that computes a group; ``merged`` is the group if it has several results."""
    last = group[-1]
    if last.name in EFFECTS:
        return _of_store(group, facts, bounded, fast)
    if last.name == "reduce" and merged is None:
        clears = not fast and dtype_of(last.args[0]).kind == "f"
        return FlagPlan(clears=clears, mask=flags_mask(group, fast) if clears else 0)
    watched = watched_steps(group, fast) if merged is None else ()
    if watched:
        return FlagPlan(watched)
    clears = not fast and any(map(raises_flags, group))
    tested = group if merged is None else reported_ops(merged.parts, merged.ops)
    return FlagPlan(clears=clears, mask=flags_mask(tested, fast) if clears else 0,
                    has_bounds=last.result in bounded.made and has_bounds(group, facts, bounded),
                    hides_underflow=clears and any(map(hides_underflow, group)))


def _of_store(group: List[Op], facts: GraphFacts, bounded: BoundedArrays, fast: bool) -> FlagPlan:
    checked = asked(group)
    mask = flags_mask(checked, fast) if any(map(raises_flags, checked)) else 0
    raising = (bool(mask) or any(map(finds, checked))) and not facts.is_unseen(group[-1].args[0], group[0])
    return FlagPlan(clears=bool(mask or group[-1].attrs.get("reports")), mask=mask, raising=raising,
                    has_bounds=raising and has_bounds(group, facts, bounded),
                    hides_underflow=bool(mask) and any(map(hides_underflow, checked)))
