"""Transposed operands of loop nests: arrays that lie by columns where the other operands lie by rows.

If NumPy combines one with an array in C order, it goes along the rows of that array; the result has C order, too.
`group_plans` and `nests` ask here. It must not write source.
"""

from __future__ import annotations

from typing import List, Mapping, Set

from pijit.core.graph.ir import Op, Value
from pijit.core.graph.passes.fusion import operands
from pijit.core.kernel.plan.array_layouts import ArrayLayout
from pijit.core.kernel.plan.operands import array_type, result_of


def transposed_leaves(group: List[Op], values: List[Value], arrays: Mapping[Value, ArrayLayout]) -> Set[Value]:
    """The transposed arrays among those that a group reads; none unless the group makes a new array.

    Each must be combined directly with elements in C order, otherwise the result is empty.
    """
    last, found = group[-1], {value for value in values if arrays[value].has_transposed_order}
    if not found or last.name != "ufunc":
        return set()
    ndim = array_type(result_of(last)).ndim
    ordered = {value for value in values if array_type(value).layout == "C" and array_type(value).ndim == ndim
               and all(size != 1 for size in arrays[value].shape)}
    for op in group:
        if ordered.intersection(operands(op)):
            ordered.add(result_of(op))
        elif found.intersection(operands(op)):
            return set()
    return found
