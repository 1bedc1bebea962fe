"""Transposed operands of loop nests: arrays that lie by columns where the other operands lie by rows.

If NumPy combines one with an array in C order, it goes along the rows of that array; the result has C order, too.
Called by emit/fused_nest.py.
"""

from __future__ import annotations

from typing import Any, List, Set, cast

from pijit.core.graph.ir import Op, Value
from pijit.core.graph.passes.fusion import operands
from pijit.core.graph.types import Array


def turned_leaves(emitter: Any, group: List[Op], arrays: List[Value]) -> Set[Value]:
    """The transposed arrays that a group reads; none unless the group makes a new array.

    Each must be combined directly with elements in C order, otherwise the result is empty.
    """
    last, found = group[-1], {value for value in arrays if emitter.arrays[value].goes_by_columns}
    if not found or last.name != "ufunc":
        return set()
    kinds = {value: cast(Array, value.type) for value in arrays}
    made = cast(Array, cast(Value, last.result).type)
    ordered = {value for value, kind in kinds.items() if kind.layout == "C" and kind.ndim == made.ndim
               and "(1)" not in emitter.arrays[value].shape}
    for op in group:
        if ordered.intersection(operands(op)):
            ordered.add(cast(Value, op.result))
        elif found.intersection(operands(op)):
            return set()
    return found
