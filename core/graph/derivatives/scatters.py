"""Derivatives of scatters: copies of arrays with other elements at places that index arrays select.

The adjoint of the array comes first, then that of the values. `derivatives` imports it. A rule must not change its
operands.
"""

from __future__ import annotations

from typing import Any, Tuple

import numpy as np

from pijit.core.graph.derivatives.adjoints import sum_to
from pijit.core.graph.derivatives.table import FIRST, NEW, cut, derivative
from pijit.core.graph.scatters import (
    scatter_add,
    scatter_div,
    scatter_floor_div,
    scatter_max,
    scatter_min,
    scatter_mul,
    scatter_sub,
    scatter_update,
)

Adjoints = Tuple[Any, ...]


def index_of(axis: int, indices: Tuple[Any, ...]) -> Tuple[Any, ...]:
    """The index of the elements that a scatter changes."""
    return (slice(None),) * axis + indices


def like_values(g: Any, b: Any) -> Any:
    """The adjoint of values. They have the shape of the elements that they change, or fewer axes."""
    return g if np.ndim(g) == np.ndim(b) else sum_to(g, np.shape(b))


@derivative(scatter_add, operands=2, result=NEW, sized_as=FIRST)
def _scatter_add(g: Any, r: Any, a: Any, b: Any, axis: int, *indices: Any) -> Adjoints:
    index = index_of(axis, indices)
    return np.array(g), like_values(g[index], b)


@derivative(scatter_sub, operands=2, result=NEW, sized_as=FIRST)
def _scatter_sub(g: Any, r: Any, a: Any, b: Any, axis: int, *indices: Any) -> Adjoints:
    index = index_of(axis, indices)
    return np.array(g), like_values(-g[index], b)


@derivative(scatter_update, operands=2, result=NEW, sized_as=FIRST)
def _scatter_update(g: Any, r: Any, a: Any, b: Any, axis: int, *indices: Any) -> Adjoints:
    index = index_of(axis, indices)
    part = g[index]
    order = np.zeros(np.shape(a), dtype=np.int64)
    number = np.reshape(np.arange(np.size(part)), np.shape(part))
    order[index] = number
    last = order[index] == number  # the values that stay
    zeros = np.zeros_like(part)
    return scatter_update(g, zeros, axis, *indices), like_values(np.where(last, part, zeros), b)


@derivative(scatter_max, scatter_min, operands=2, result=NEW, sized_as=FIRST)
def _scatter_extreme(g: Any, r: Any, a: Any, b: Any, axis: int, *indices: Any) -> Adjoints:
    """The array and the values that are equal to the result share the adjoint."""
    index = index_of(axis, indices)
    dtype, part = np.asarray(g).dtype, g[index]
    kept, chosen = (a[index] == r[index]).astype(dtype), (b == r[index]).astype(dtype)
    marked = scatter_update(np.ones(np.shape(a), dtype), kept, axis, *indices)
    several = scatter_add(marked, chosen, axis, *indices)[index]
    share = part / np.maximum(several, dtype.type(1))
    return scatter_update(g, share * kept, axis, *indices), like_values(share * chosen, b)


@derivative(scatter_mul, operands=2, result=NEW, sized_as=FIRST)
def _scatter_mul(g: Any, r: Any, a: Any, b: Any, axis: int, *indices: Any) -> Adjoints:
    """The adjoint of a value has the product of the array and of the other values of its place."""
    index = index_of(axis, indices)
    dtype, part = np.asarray(g).dtype, g[index]
    wide = b + np.zeros_like(part)
    zero = wide == 0
    factors = np.where(zero, np.ones_like(part), wide)
    zeros = scatter_add(np.zeros(np.shape(a), dtype), zero.astype(dtype), axis, *indices)[index]
    others = scatter_mul(a, factors, axis, *indices)[index] / factors
    single = (zeros == 0) | zero & (zeros == 1)
    return scatter_mul(g, b, axis, *indices), like_values(part * np.where(single, others, np.zeros_like(part)), b)


@derivative(scatter_div, operands=2, result=NEW, sized_as=FIRST)
def _scatter_div(g: Any, r: Any, a: Any, b: Any, axis: int, *indices: Any) -> Adjoints:
    index = index_of(axis, indices)
    return scatter_div(g, b, axis, *indices), like_values(-(g[index] * r[index]) / b, b)


cut("the result is rounded", scatter_floor_div)
