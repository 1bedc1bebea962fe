"""Operands of a fusion group: the arrays and scalars that a group of elementwise operations reads.

The plans of tiling and skewing and the emitters of nests and in-place stores call this. It never writes kernel code.
"""

from __future__ import annotations

from typing import Dict, List, Optional, Sequence, Tuple, cast

from pijit.core.graph.ir import Op, Value
from pijit.core.graph.passes.fusion import PLACING, STEPLESS, operands, scalar_operation
from pijit.core.graph.types import Array, Scalar

EXPONENTS = {"f": 127, "d": 1023}
"""The largest exponents of floats, by the dtype's character."""

_BOUNDED = frozenset("add sub mul truediv neg abs square".split())
"""Operations whose results' exponents are bounded by those of their operands."""

CHOICES = frozenset(("pick", "put_mask"))
"""Operations whose first operand is a mask, and whose result has elements of the others."""


def find_leaves(group: List[Op]) -> Tuple[List[Value], List[Tuple[Value, str]]]:
    """The arrays that the group reads, and its scalars with the loop dtypes that they are converted to."""
    inner = {op.result for op in group if op.name not in PLACING}
    arrays: Dict[Value, None] = {}
    scalars: Dict[Tuple[Value, str], None] = {}
    for op in group:
        if op.name in PLACING:
            continue
        codes = op.attrs["types"] if op.name not in STEPLESS else ""
        for value, code in zip(operands(op), codes.partition("->")[0] or "?"):
            if isinstance(value.type, Scalar):
                scalars[value, code] = None
            elif value not in inner:
                arrays[value] = None
    return list(arrays), list(scalars)


def can_look(root: Value) -> bool:
    """Whether an array is contiguous and of floats, so that its exponents can be scanned."""
    kind = cast(Array, root.type)
    return kind.layout != "A" and kind.dtype.char in EXPONENTS


def float_arrays(group: Sequence[Op]) -> Optional[List[Value]]:
    """The arrays of floats that a group reads; None if its results have no exponent bounds."""
    made = {op.result for op in group}
    arrays: Dict[Value, None] = {}
    for op in group:
        if op.name in PLACING:
            return None
        if op.name == "assign":
            if op.args[1] not in made:
                return None
            continue
        name, choice = scalar_operation(op), int(op.name in CHOICES)
        codes = op.attrs["types"].partition("->")[0][choice:]
        if not choice and name not in _BOUNDED or not set(codes) <= set(EXPONENTS):
            return None
        if name == "truediv" and not isinstance(operands(op)[1].type, Scalar):
            return None
        arrays.update((value, None) for value in operands(op)[choice:]
                      if value not in made and isinstance(value.type, Array) and value.type.dtype.kind == "f")
    return list(arrays)
