"""Unit axes: the axes of arrays that are expected to have length 1, by operation.

They decide the rank of `np.squeeze`. Models attach them to the types of results. They are expectations only: guards, or
exits of kernels, check the lengths.
"""

from __future__ import annotations

from typing import Iterable, List, Optional, Sequence, Tuple, Union

from pijit.core.capture.values.lattice import Abstract, Const, Number
from pijit.core.graph.types import Array, Type, UnitAxisHint


def of_broadcast(kinds: Iterable[Type], ndim: int) -> UnitAxisHint:
    """Those of arrays that are broadcast to ``ndim`` axes."""
    arrays = [kind for kind in kinds if isinstance(kind, Array)]
    found: List[int] = []
    for axis in range(-ndim, 0):
        lengths = [_is_unit(array, axis) for array in arrays if array.ndim >= -axis]
        if False not in lengths:
            if None in lengths:
                return None
            found.append(axis + ndim)
    return frozenset(found)


def _is_unit(array: Array, axis: int) -> Optional[bool]:
    """Whether an axis is expected to have length 1; None if nothing is expected."""
    return axis % array.ndim in array.unit_axes if array.unit_axes is not None else None


def of_transpose(kind: Array, axes: Sequence[int]) -> UnitAxisHint:
    """Those of an array with its axes in this order."""
    if kind.unit_axes is None:
        return None
    return frozenset(place for place, axis in enumerate(axes) if axis in kind.unit_axes)


def of_reduction(kind: Array, axis: Union[int, Tuple[int, ...], None], keepdims: bool) -> UnitAxisHint:
    """Those of a reduction along these axes, or along all for None."""
    if kind.unit_axes is None:
        return None
    gone = range(kind.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    if keepdims:
        return kind.unit_axes.union(gone)
    left = [one for one in range(kind.ndim) if one not in gone]
    return of_transpose(kind, left)


def of_view(kind: Array, codes: Sequence[str], single: Sequence[bool]) -> UnitAxisHint:
    """Those of ``array[index]``, by the codes of the index, see the operation ``view``.

    ``single`` tells of each item whether it is a slice of one element. Other slices are expected to select more.
    """
    if kind.unit_axes is None:
        return None
    found: List[int] = []
    place = axis = 0
    for code, one in zip(codes, single):
        if code == "n" or code != "i" and (one or axis in kind.unit_axes):
            found.append(place)
        place += code != "i"
        axis += code != "n"
    return frozenset(found)


def of_sizes(sizes: Sequence[Abstract]) -> UnitAxisHint:
    """Those of a new array, or of one in another shape; None if a size is not known."""
    lengths = [size.object if isinstance(size, Const) else size.sample if isinstance(size, Number) else None
               for size in sizes]
    return None if None in lengths else frozenset(axis for axis, length in enumerate(lengths) if length == 1)
