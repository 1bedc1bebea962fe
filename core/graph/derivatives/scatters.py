"""Derivatives of scatters: copies of arrays with other elements at places that index arrays select.

The adjoint of the array comes first, then that of the values.
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


@derivative(scatter_add, operands=2, result=NEW, sized_as=FIRST)
def _scatter_add(g: Any, r: Any, a: Any, b: Any, indices: Any) -> Adjoints:
    return np.array(g), sum_to(g[indices], np.shape(b))


@derivative(scatter_sub, operands=2, result=NEW, sized_as=FIRST)
def _scatter_sub(g: Any, r: Any, a: Any, b: Any, indices: Any) -> Adjoints:
    return np.array(g), sum_to(-g[indices], np.shape(b))


@derivative(scatter_update, operands=2, result=NEW, sized_as=FIRST)
def _scatter_update(g: Any, r: Any, a: Any, b: Any, indices: Any) -> Adjoints:
    part = g[indices]
    order = np.zeros(np.shape(a), dtype=np.int64)
    number = np.reshape(np.arange(np.size(part)), np.shape(part))
    order[indices] = number
    last = order[indices] == number  # the values that stay
    zeros = np.zeros_like(part)
    return scatter_update(g, zeros, indices), sum_to(np.where(last, part, zeros), np.shape(b))


@derivative(scatter_max, scatter_min, operands=2, result=NEW, sized_as=FIRST)
def _scatter_extreme(g: Any, r: Any, a: Any, b: Any, indices: Any) -> Adjoints:
    """The array and the values that are equal to the result share the adjoint."""
    dtype, part = np.asarray(g).dtype, g[indices]
    kept, chosen = (a[indices] == r[indices]).astype(dtype), (b == r[indices]).astype(dtype)
    several = scatter_add(scatter_update(np.ones(np.shape(a), dtype), kept, indices), chosen, indices)[indices]
    share = part / np.maximum(several, dtype.type(1))
    return scatter_update(g, share * kept, indices), sum_to(share * chosen, np.shape(b))


@derivative(scatter_mul, operands=2, result=NEW, sized_as=FIRST)
def _scatter_mul(g: Any, r: Any, a: Any, b: Any, indices: Any) -> Adjoints:
    """The adjoint of a value has the product of the array and of the other values of its place."""
    dtype, part = np.asarray(g).dtype, g[indices]
    wide = b + np.zeros_like(part)
    zero = wide == 0
    factors = np.where(zero, np.ones_like(part), wide)
    zeros = scatter_add(np.zeros(np.shape(a), dtype), zero.astype(dtype), indices)[indices]
    others = scatter_mul(a, factors, indices)[indices] / factors
    single = (zeros == 0) | zero & (zeros == 1)
    return scatter_mul(g, b, indices), sum_to(part * np.where(single, others, np.zeros_like(part)), np.shape(b))


@derivative(scatter_div, operands=2, result=NEW, sized_as=FIRST)
def _scatter_div(g: Any, r: Any, a: Any, b: Any, indices: Any) -> Adjoints:
    return scatter_div(g, b, indices), sum_to(-(g[indices] * r[indices]) / b, np.shape(b))


cut("the result is rounded", scatter_floor_div)
