"""Subscripts by arrays of integers that find one element for each, in loops of the kernel's own."""

from __future__ import annotations

from typing import Any, List, Optional

from pijit.core.capture.values import Abstract, Const, Slice, Tensor, number_type
from pijit.core.graph.types import Array

FULL = Slice((Const(None), Const(None), Const(None)))


def is_index_vector(value: Abstract) -> bool:
    """Whether a value is an array of integers with one axis."""
    return isinstance(value, Tensor) and value.type.ndim == 1 and value.type.dtype.kind in "iu"


def is_integer(value: Abstract) -> bool:
    kind = number_type(value)
    return kind is not None and kind.dtype.kind in "iu"


def elements_at(self: Any, owner: Tensor, items: List[Abstract]) -> Optional[Abstract]:
    """``owner[i, j...]`` of integers and of vectors of them, one for each axis; None for another index.

    An integer says which part of the owner is looked at. Of several vectors none may be empty: NumPy warns of what is
    out of range in the others then.
    """
    vectors = [item for item in items if is_index_vector(item)]
    if (len(items) != owner.type.ndim or owner.type.dtype.kind not in "iufc" or not vectors
            or not all(is_index_vector(item) or is_integer(item) for item in items)):
        return None
    for vector in vectors[1:] and vectors:
        self._require_elements_of(vector)
    table = owner
    if len(vectors) < len(items):
        table = self.view_of(owner, [FULL if is_index_vector(item) else item for item in items])
    types = "".join(vector.type.dtype.char for vector in vectors) + "->" + owner.type.dtype.char
    kind = Array(owner.type.dtype, 1, "C")
    operands = [table.value] + [vector.value for vector in vectors]
    return Tensor(kind, self.emit("gather", operands, kind, {"types": types}, exits=True))
