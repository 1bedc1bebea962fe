"""Sizes of the results of library functions, as far as they follow from those of operands.

`dims.py` asks. A function gives None where nothing is known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, Mapping, Optional, Sequence, Tuple

import numpy as np

from pijit.core.graph.ir import Value
from pijit.core.graph.reverse.library_calls import LibraryCall

if TYPE_CHECKING:
    from pijit.core.graph.reverse.sizes.dims import Dims
    from pijit.core.graph.reverse.sizes.symbols import Dim


def _known_axis(call: LibraryCall, position: int, ndim: int, constants: Mapping[Value, Any]) -> Optional[int]:
    """The argument ``axis`` of a call, from 0 on; None if it is not known."""
    value = dict(call.keywords).get("axis", call.args[position] if position < len(call.args) else None)
    axis = constants.get(value) if value is not None else None
    return axis % ndim if type(axis) is int and -ndim <= axis < ndim else None


def _with_axis(dims: Dims, call: LibraryCall, constants: Mapping[Value, Any]) -> Optional[Tuple[Dim, ...]]:
    shape = dims.of.get(call.args[0], ())
    axis = _known_axis(call, 1, len(shape) + 1, constants)
    return None if axis is None else shape[:axis] + (1,) + shape[axis:]


def _without_axis(dims: Dims, call: LibraryCall, constants: Mapping[Value, Any]) -> Optional[Tuple[Dim, ...]]:
    shape = dims.of.get(call.args[0], ())
    axis = _known_axis(call, 1, max(len(shape), 1), constants)
    return None if axis is None or shape[axis] != 1 else shape[:axis] + shape[axis + 1:]


def _along_axis(dims: Dims, call: LibraryCall, constants: Mapping[Value, Any]) -> Optional[Tuple[Dim, ...]]:
    shape, index = dims.of.get(call.args[0], ()), dims.of.get(call.args[1], ())
    axis = _known_axis(call, 2, max(len(shape), 1), constants)
    if axis is None or len(shape) != len(index):
        return None
    return tuple(two if number == axis else dims.meet(one, two) for number, (one, two) in enumerate(zip(shape, index)))


def _taken(dims: Dims, call: LibraryCall, constants: Mapping[Value, Any]) -> Optional[Tuple[Dim, ...]]:
    shape, index = dims.of.get(call.args[0], ()), dims.of.get(call.args[1], ()) if len(call.args) > 1 else ()
    axis = _known_axis(call, 2, max(len(shape), 1), constants)
    return None if axis is None else shape[:axis] + index + shape[axis + 1:]


def _reduced(dims: Dims, call: LibraryCall, constants: Mapping[Value, Any]) -> Optional[Tuple[Dim, ...]]:
    """A reduction over one axis, or over those of a tuple."""
    shape, given = dims.of.get(call.args[0], ()), dict(call.keywords)
    known = {name: constants.get(value) for name, value in given.items()}
    axes = known.get("axis", constants.get(call.args[1]) if len(call.args) == 2 else None)
    keepdims = known.get("keepdims", False)
    axes = (axes,) if type(axes) is int else axes
    if type(axes) is not tuple or len(call.args) > 2 or type(keepdims) is not bool or set(given) - {"axis", "keepdims"}:
        return None
    gone = {axis % len(shape) for axis in axes}
    return tuple(1 if number in gone else dim for number, dim in enumerate(shape) if keepdims or number not in gone)


def matrix_product(dims: Dims, left: Sequence[Dim], right: Sequence[Dim]) -> Tuple[Dim, ...]:
    """The sizes of the product of vectors, matrices or stacks of matrices."""
    rows, columns = tuple(left[-2:-1]), tuple(right[-1:]) if len(right) > 1 else ()
    dims.unify(left[-1], right[-2:][0])
    return dims.broadcast([tuple(left[:-2]), tuple(right[:-2])]) + rows + columns


def _matmul(dims: Dims, call: LibraryCall, constants: Mapping[Value, Any]) -> Optional[Tuple[Dim, ...]]:
    left, right = (dims.of.get(arg, ()) for arg in call.args[:2])
    return matrix_product(dims, left, right) if left and right else None


SIZES: Dict[Any, Callable[[Dims, LibraryCall, Mapping[Value, Any]], Optional[Tuple[Dim, ...]]]] = {
    np.expand_dims: _with_axis, np.squeeze: _without_axis, np.take_along_axis: _along_axis, np.take: _taken,
    np.sum: _reduced, np.mean: _reduced, np.max: _reduced, np.min: _reduced, np.matmul: _matmul}
"""The sizes of results of functions that are not elementwise."""
