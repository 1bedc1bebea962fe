"""Exponent bounds: the arrays whose largest exponents a kernel keeps, each in a variable.

emit/exponent_bounds.py writes the scans and the propagation of bounds. `kernel_plan` makes them. A bound must never be
below the true one.
"""

from __future__ import annotations

from typing import Dict, List, Sequence, Set, cast

from pijit.core.graph.ir import Graph, Op, Value
from pijit.core.graph.ops import EFFECTS, ELEMENTWISE
from pijit.core.graph.passes.fusion import raises_flags
from pijit.core.graph.types import Array
from pijit.core.kernel.plan.graph_facts import GraphFacts
from pijit.core.kernel.plan.group_operands import can_look, float_arrays
from pijit.core.named_tuples import NamedTuple

_BEGINNING = ELEMENTWISE | {"alloc"}
"""Operations whose results may have bounds."""


class BoundedArrays(NamedTuple):
    """The arrays that have bounds.

    Attributes:
        inputs: the inputs that groups read or write.
        made: the arrays that groups compute and stores read.
        begun: arrays that the kernel makes otherwise; their bounds are unknown until they are made.
        regions: those of ``inputs`` and ``begun`` of which groups read rows; some rows of each have a bound of their
            own.
    """

    inputs: List[Value]
    made: List[Value]
    begun: List[Value]
    regions: List[Value]

    def all(self) -> Set[Value]:
        return {*self.inputs, *self.made, *self.begun}


def find_bounded(graph: Graph, facts: GraphFacts) -> BoundedArrays:
    """The arrays of a graph that have bounds."""
    touched: Set[Value] = set()
    for last, group in facts.groups.items():
        if _reports(last, group):
            touched.update(facts.root_of(value) for op in group for value in op.args)
    inputs = [value for value in graph.inputs if value in touched and isinstance(value.type, Array) and can_look(value)]
    made = _made_for_stores(facts.groups)
    inner = {op for group in facts.groups.values() for op in group[:-1]}
    others = (cast(Value, op.result) for block in graph.blocks for op in block.ops
              if op.name in _BEGINNING and op not in inner)
    begun = [value for value in others if value in touched and value not in made
             and isinstance(value.type, Array) and value.type.ndim > 0 and can_look(value)]
    proven = [group for last, group in facts.groups.items() if _reports(last, group) or last.result in made]
    in_rows = {root for group in proven for root in read_by_rows(group, facts)}
    return BoundedArrays(inputs, made, begun, [value for value in inputs + begun if value in in_rows])


def read_by_rows(group: Sequence[Op], facts: GraphFacts) -> Dict[Value, List[Value]]:
    """The arrays of which a group reads nothing but parts of rows, with these parts."""
    found: Dict[Value, List[Value]] = {}
    for value in float_arrays(group) or ():
        found.setdefault(facts.root_of(value), []).append(value)
    return {root: values for root, values in found.items() if all(map(facts.is_in_row, values))}


def _reports(last: Op, group: List[Op]) -> bool:
    """Whether a group stores into an array, and may raise a flag that NumPy reports before it stores."""
    return last.name in EFFECTS and any(map(raises_flags, group))


def _made_for_stores(groups: Dict[Op, List[Op]]) -> List[Value]:
    """The arrays that groups compute for stores in place, or for other such arrays, if all have bounds."""
    last = {op.result: group for op, group in groups.items()
            if op.name == "ufunc" and float_arrays(group) is not None}
    found: Dict[Value, None] = {}
    waiting = [group for op, group in groups.items() if _reports(op, group)]
    while waiting:
        for value in float_arrays(waiting.pop()) or ():
            if value in last and value not in found and cast(Array, value.type).ndim > 0:
                found[value] = None
                waiting.append(last[value])
    return list(found)


def has_bounds(group: Sequence[Op], facts: GraphFacts, bounded: BoundedArrays) -> bool:
    """Whether exponent bounds may prove that a group raises no flag: all arrays that it reads have some."""
    arrays = float_arrays(group)
    return arrays is not None and all(root in bounded.made or can_look(root) for root in map(facts.root_of, arrays))
