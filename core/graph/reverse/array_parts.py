"""Parts of arrays in the statements of a joint function: slices with literal ends along each axis.

The modules that change such statements use it. It must not guess a part that it cannot read.
"""

from __future__ import annotations

import ast
from typing import Any, Optional, Sequence, Tuple

from pijit.core.named_tuples import NamedTuple

Cuts = Tuple[int, ...]
"""For each axis, how many elements fewer than another array an array has."""

SliceBounds = Tuple[int, Optional[int]]
"""The start and the stop of a slice."""

WHOLE: SliceBounds = (0, None)


class ArrayPart(NamedTuple):
    """A part ``name[low:-high, ...]`` of an array, with both numbers for each axis."""

    name: str
    low: Tuple[int, ...]
    high: Tuple[int, ...]

    @property
    def cuts(self) -> Cuts:
        """For each axis, the number of elements that are not in the part."""
        return tuple(low + high for low, high in zip(self.low, self.high))


def _number(node: Any) -> Optional[int]:
    """The number of a literal; None for other nodes."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _number(node.operand)
        return None if value is None else -value
    value = literal(node)
    return value if type(value) is int else None


def literal(node: Any) -> Any:
    """The value of a literal; None for other nodes. CPython 3.7 has another attribute for it."""
    return node.value if hasattr(node, "value") else vars(node).get("n")


def part_of(node: Any) -> Optional[ArrayPart]:
    """A part of an array with literal ends, or None."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name):
        return None
    index = getattr(node.slice, "value", node.slice)  # up to CPython 3.8 a tuple is in an Index
    slices = index.elts if isinstance(index, ast.Tuple) else getattr(node.slice, "dims", [node.slice])
    ends = [_ends(one) for one in slices]
    if None in ends:
        return None
    return ArrayPart(node.value.id, tuple(low for low, _ in ends), tuple(high for _, high in ends))  # type: ignore[misc]


def _ends(node: Any) -> Optional[Tuple[int, int]]:
    """How many elements a slice leaves out at the beginning and at the end."""
    if not isinstance(node, ast.Slice) or node.step is not None:
        return None
    low = 0 if node.lower is None else _number(node.lower)
    high = 0 if node.upper is None else _number(node.upper)
    if low is None or high is None or low < 0 or high > 0 or high == 0 and node.upper is not None:
        return None
    return low, -high


def slices_code(ranges: Sequence[SliceBounds]) -> str:
    return "[%s]" % ", ".join("%s:%s" % (start or "", "" if stop is None else stop) for start, stop in ranges)


def within_part(low: int, high: int, within: SliceBounds) -> SliceBounds:
    """The elements of a part of an axis, counted in the axis."""
    start, stop = within
    return (low + start if start >= 0 else start - high,
            -high or None if stop is None else low + stop if stop >= 0 else stop - high)
