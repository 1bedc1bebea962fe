"""Expected lengths of the axes of arrays, by operation.

The lengths decide the rank of `np.squeeze`, and how many iterations an unrolled loop has. Models attach them to the
types of results. They are expectations only: guards, or exits of kernels, check the lengths.
"""

from __future__ import annotations

from typing import Iterable, List, Optional, Sequence, Tuple, Union

from pijit.core.capture.values.lattice import Abstract, Const, Number
from pijit.core.graph.types import SEVERAL, Array, LengthHint, Type

LONG = (2 ** 40, 2 ** 40 + 2 ** 20)
"""Lengths that stand for those of long axes. Constant slices select as many elements of both, or a part of the axis."""


def expected_number(value: Abstract) -> Optional[int]:
    """The integer that a value is, or is expected to be; None if nothing is expected."""
    if isinstance(value, Const):
        return value.object if type(value.object) is int else None
    return value.expected if isinstance(value, Number) else None


def of_broadcast(kinds: Iterable[Type], ndim: int) -> LengthHint:
    """Those of arrays that are broadcast to ``ndim`` axes."""
    arrays = [kind for kind in kinds if isinstance(kind, Array)]
    found: List[int] = []
    for axis in range(-ndim, 0):
        lengths = [_length(array, axis) for array in arrays if array.ndim >= -axis]
        longer = [length for length in lengths if length not in (None, 1)]
        if not longer and None in lengths:
            return None
        known = [length for length in longer if length is not None and length != SEVERAL]
        found.append(1 if not longer else known[0] if known else SEVERAL)
    return tuple(found)


def _length(array: Array, axis: int) -> Optional[int]:
    """The expected length of an axis; None if nothing is expected."""
    return array.lengths[axis % array.ndim] if array.lengths is not None else None


def of_transpose(kind: Array, axes: Sequence[int]) -> LengthHint:
    """Those of an array with its axes in this order."""
    lengths = kind.lengths
    return tuple(lengths[axis] for axis in axes) if lengths is not None else None


def of_reduction(kind: Array, axis: Union[int, Tuple[int, ...], None], keepdims: bool) -> LengthHint:
    """Those of a reduction along these axes, or along all for None."""
    if kind.lengths is None:
        return None
    gone = range(kind.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    if keepdims:
        return tuple(1 if one in gone else length for one, length in enumerate(kind.lengths))
    return of_transpose(kind, [one for one in range(kind.ndim) if one not in gone])


def of_view(kind: Array, codes: Sequence[str], parts: Sequence[Optional[slice]]) -> LengthHint:
    """Those of ``array[index]``, by the codes of the index, see the operation ``view``.

    ``parts`` has the slices of constants among the items of the index. Other slices are expected to select several
    elements, unless the axis has length 1. Axes of unknown lengths are expected to be long.
    """
    if kind.lengths is None:
        return None
    found: List[int] = []
    axis = 0
    for code, part in zip(codes, parts):
        if code == "n":
            found.append(1)
        elif code != "i":
            found.append(kind.lengths[axis] if code == "e" else _of_part(kind.lengths[axis], part))
        axis += code != "n"
    return tuple(found)


def _of_part(length: int, part: Optional[slice]) -> int:
    """The expected number of elements that a slice selects of an axis."""
    if part is None or part.step == 0:
        return 1 if length == 1 else SEVERAL
    found = {len(range(one)[part]) for one in ((length,) if length != SEVERAL else LONG)}
    return found.pop() if len(found) == 1 else SEVERAL


def of_sizes(sizes: Sequence[Abstract]) -> LengthHint:
    """Those of a new array, or of one in another shape; None if a size is not known."""
    lengths = [size.sample if isinstance(size, Number) and size.sample is not None else expected_number(size)
               for size in sizes]
    return None if None in lengths else tuple(max(int(length or 0), SEVERAL) for length in lengths)
