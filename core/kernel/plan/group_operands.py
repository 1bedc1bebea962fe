"""Operands of a fusion group: the arrays and scalars that a group of elementwise operations reads.

The plans of tiling and skewing and the emitters of nests and in-place stores call this. It never writes kernel code.
"""

from __future__ import annotations

from typing import Dict, List, Optional, Sequence, Tuple, cast

from pijit.core.graph.element_ops import BOUNDED
from pijit.core.graph.ir import Op, Value
from pijit.core.graph.ops import COMPUTES_NO_ELEMENTS, PLACES_ELEMENTS, UNDER_MASK
from pijit.core.graph.passes.fusion import operands, rounds, scalar_operation
from pijit.core.graph.types import Array, Scalar

EXPONENTS = {"f": 127, "d": 1023}
"""The largest exponents of floats, by the dtype's character."""


def find_leaves(group: List[Op]) -> Tuple[List[Value], List[Tuple[Value, str]]]:
    """The arrays that the group reads, and its scalars with the loop dtypes that they are converted to."""
    inner = {op.result for op in group if op.name not in PLACES_ELEMENTS}
    arrays: Dict[Value, None] = {}
    scalars: Dict[Tuple[Value, str], None] = {}
    for op in group:
        if op.name in PLACES_ELEMENTS:
            continue
        codes = op.attrs["types"] if op.name not in COMPUTES_NO_ELEMENTS else ""
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
        if op.name in PLACES_ELEMENTS or rounds(op):
            return None
        if op.name == "assign":
            if op.args[1] not in made:
                return None
            continue
        name, choice = scalar_operation(op), int(op.name in UNDER_MASK)
        codes = op.attrs["types"].partition("->")[0][choice:]
        if not choice and name not in BOUNDED or not set(codes) <= set(EXPONENTS):
            return None
        if name == "truediv" and not isinstance(operands(op)[1].type, Scalar):
            return None
        read = {value: value.type.dtype for value in operands(op)[choice:]
                if value not in made and isinstance(value.type, Array)}
        if any(dtype.char == "e" for dtype in read.values()):
            return None
        arrays.update((value, None) for value, dtype in read.items() if dtype.kind == "f")
    return list(arrays)
