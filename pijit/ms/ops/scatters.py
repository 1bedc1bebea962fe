"""Scatters: operations that store into, or combine with, elements at positions that index tensors give."""

from __future__ import annotations

from typing import Any, Callable, Tuple

import numpy as np

from pijit.core.graph.scatters import (
    scatter_add,
    scatter_div,
    scatter_floor_div,
    scatter_max,
    scatter_min,
    scatter_mul,
    scatter_sub,
)
from pijit.core.graph.scatters import scatter_update as scatter_store
from pijit.ms.tensor import Tensor, array_of, as_shape, made


def places_of(name: str, shape: Tuple[int, ...], indices: Any, updates: Any) -> Tuple[Any, ...]:
    """The positions in the last axis of `indices`, as an index of an array of this shape.

    Raises:
        ValueError: the indices have no dimensions, or the shape of the updates does not fit.
    """
    if not indices.ndim:
        raise ValueError("{}: indices must have at least one dimension".format(name))
    depth = indices.ndim - 1 + len(shape) - updates.ndim
    if not 0 < depth <= len(shape) or indices.shape[-1] != depth or updates.shape != indices.shape[:-1] + shape[depth:]:
        raise ValueError("{}: updates must have the dimensions of indices without the last one, and then those of the "
                         "tensor without the first {}; the shapes are {}, {} and {}".format(
                             name, indices.shape[-1], shape, indices.shape, updates.shape))
    return tuple([indices[..., k] for k in range(depth)])


def in_dtype(updates: Any, array: Any) -> Any:
    """Updates in the element type of an array."""
    return updates if updates.dtype == array.dtype else updates.astype(array.dtype)


def _axis_of(name: str, axis: int, ndim: int) -> int:
    """The number of an axis from the first one on.

    Raises:
        ValueError: there is no such axis.
    """
    if not -ndim <= axis < ndim:
        raise ValueError("{}: axis must be from {} to {}; not {!r}".format(name, -ndim, ndim - 1, axis))
    return axis % ndim


def _scatter(name: str, function: Callable[..., Any], text: str) -> Callable[..., Tensor]:
    def operation(input_x: Any, indices: Any, updates: Any) -> Tensor:
        x, u = array_of(input_x), array_of(updates)
        return made(function(x, in_dtype(u, x), 0, *places_of(name, x.shape, array_of(indices), u)))
    operation.__name__ = operation.__qualname__ = name
    operation.__doc__ = text
    return operation


tensor_scatter_update = _scatter(
    "tensor_scatter_update", scatter_store, "A copy with parts stored at the positions in the last axis of `indices`.")
tensor_scatter_add = _scatter(
    "tensor_scatter_add", scatter_add, "A copy with parts added at the positions in the last axis of `indices`.")
tensor_scatter_sub = _scatter(
    "tensor_scatter_sub", scatter_sub, "A copy with parts subtracted at the positions in the last axis of `indices`.")
tensor_scatter_max = _scatter(
    "tensor_scatter_max", scatter_max, "A copy with the greater values at the positions in the last axis of `indices`.")
tensor_scatter_min = _scatter(
    "tensor_scatter_min", scatter_min, "A copy with the smaller values at the positions in the last axis of `indices`.")
tensor_scatter_mul = _scatter(
    "tensor_scatter_mul", scatter_mul, "A copy multiplied by parts at the positions in the last axis of `indices`.")


def tensor_scatter_div(input_x: Any, indices: Any, updates: Any) -> Tensor:
    """A copy divided by parts at the positions in the last axis of `indices`; quotients of integers are rounded down.
    """
    x, u = array_of(input_x), array_of(updates)
    key = places_of("tensor_scatter_div", x.shape, array_of(indices), u)
    if x.dtype.kind in "fc":
        return made(scatter_div(x, in_dtype(u, x), 0, *key))
    return made(scatter_floor_div(x, in_dtype(u, x), 0, *key))


def scatter_nd(indices: Any, updates: Any, shape: Any) -> Tensor:
    """Zeros of a shape, with parts added at the positions in the last axis of `indices`."""
    u, lengths = array_of(updates), as_shape(shape)
    key = places_of("scatter_nd", tuple(lengths), array_of(indices), u)
    return made(scatter_add(np.zeros(lengths, u.dtype), u, 0, *key))


def scatter_update(input_x: Tensor, indices: Any, updates: Any) -> Tensor:
    """Store parts at positions along the first axis; returns the tensor."""
    input_x._array[array_of(indices)] = array_of(updates)
    return input_x


def index_add(x: Any, indices: Any, y: Any, axis: int, use_lock: bool = True, check_index_bound: bool = True) -> Tensor:
    """A copy with parts added at positions along an axis; the last two arguments are accepted without effect.

    Raises:
        ValueError: there is no such axis, or the shape of `y` does not fit.
    """
    a, places, u = array_of(x), array_of(indices), array_of(y)
    axis = _axis_of("index_add", axis, a.ndim)
    if u.shape != a.shape[:axis] + places.shape + a.shape[axis + 1:]:
        raise ValueError("index_add: y must have the shape of x, with as many elements along the axis as there are "
                         "indices; the shapes are {}, {} and {}".format(a.shape, places.shape, u.shape))
    return made(scatter_add(a, in_dtype(u, a), axis, places))


def index_fill(x: Any, axis: int, index: Any, value: Any) -> Tensor:
    """A copy with a number at positions along an axis.

    Raises:
        ValueError: there is no such axis.
    """
    a = array_of(x)
    number = value._array.astype(a.dtype) if isinstance(value, Tensor) else a.dtype.type(value)
    return made(scatter_store(a, number, _axis_of("index_fill", axis, a.ndim), array_of(index)))


def _rows(indices: Any) -> Any:
    return [indices] if isinstance(indices, int) else list(indices)


def inplace_add(x: Any, v: Any, indices: Any) -> Tensor:
    """A copy with rows added at positions along the first axis."""
    r = np.array(array_of(x))
    r[_rows(indices)] += array_of(v)
    return made(r)


def inplace_sub(x: Any, v: Any, indices: Any) -> Tensor:
    """A copy with rows subtracted at positions along the first axis."""
    r = np.array(array_of(x))
    r[_rows(indices)] -= array_of(v)
    return made(r)


def inplace_update(x: Any, v: Any, indices: Any) -> Tensor:
    """A copy with rows stored at positions along the first axis."""
    r = np.array(array_of(x))
    r[_rows(indices)] = array_of(v)
    return made(r)
