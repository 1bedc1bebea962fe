"""Transposed operands of loop nests, whose elements along a row are as far apart as rows of the others.

Where NumPy meets one together with an array in C order it goes along the rows of that, whose order is the result's.
"""

from __future__ import annotations

from typing import Any, List, Set

from pijit.core.graph.ir import Op, Value
from pijit.core.graph.passes.fusion import operands


def turned_leaves(emitter: Any, group: List[Op], arrays: List[Value]) -> Set[Value]:
    """The transposed ones of the arrays that a group reads, if each is combined with elements in C order at once, and
    a new array is made of them."""
    last, found = group[-1], {value for value in arrays if emitter.arrays[value].goes_by_columns}
    if not found or last.name != "ufunc":
        return set()
    ordered = {value for value in arrays if value.type.layout == "C" and value.type.ndim == last.result.type.ndim
               and "(1)" not in emitter.arrays[value].shape}
    for op in group:
        if ordered.intersection(operands(op)):
            ordered.add(op.result)
        elif found.intersection(operands(op)):
            return set()
    return found
