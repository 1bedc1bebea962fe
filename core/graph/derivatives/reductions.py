"""Derivatives of reductions, scans and order statistics.

`derivatives` imports it. A rule must be plain NumPy code.
"""

from __future__ import annotations

import math
from typing import Any, Dict, Optional, Tuple

import numpy as np

from pijit.core.graph.derivatives.adjoints import (
    Axis,
    Parts,
    conjugated,
    count,
    expanded,
    given,
    kept,
    masked,
    root_of,
    spread,
    strong_zero,
)
from pijit.core.graph.derivatives.table import FIRST, NEW, attribute, cut, derivative

Adjoints = Tuple[Any, ...]
SCANS: Dict[Any, Any] = {np.add: np.cumsum, np.multiply: np.cumprod}
"""By ufunc, the function with a rule that does the same as its method ``accumulate``."""


@derivative(np.sum, method="sum", result=NEW)
def _sum(g: Any, r: Any, a: Any, axis: Axis = None, dtype: Any = None, out: Any = None, keepdims: Any = False,
         initial: Any = None, where: Any = True) -> Adjoints:
    return masked(spread(g, a, axis, kept(keepdims)), where),


@derivative(np.mean, method="mean", result=NEW)
def _mean(g: Any, r: Any, a: Any, axis: Axis = None, dtype: Any = None, out: Any = None, keepdims: Any = False, *,
          where: Any = True) -> Adjoints:
    whole = spread(g, a, axis, kept(keepdims))
    if where is True or not given(where):
        return whole / count(np.shape(a), axis),
    counted = np.sum(np.broadcast_to(where, np.shape(a)), axis=axis, keepdims=True)
    return masked(whole / counted, where),


@derivative(np.var, method="var")
def _var(g: Any, r: Any, a: Any, axis: Axis = None, dtype: Any = None, out: Any = None, ddof: float = 0,
         keepdims: Any = False) -> Adjoints:
    """The adjoints of the steps: the mean of the squares of the differences to the mean."""
    n = count(np.shape(a), axis)
    centred = a - np.mean(a, axis=axis, keepdims=True)
    half = spread(strong_zero(g, g / np.float64(n - ddof)), a, axis, kept(keepdims)) * centred
    to_centred = half + half
    total = 0.0 + np.sum(-to_centred, axis=axis, keepdims=True)
    return Parts((to_centred, strong_zero(total, total / np.float64(n)))),


@derivative(np.std, method="std")
def _std(g: Any, r: Any, a: Any, axis: Axis = None, dtype: Any = None, out: Any = None, ddof: float = 0,
         keepdims: Any = False) -> Adjoints:
    return _var(root_of(g, r), r, a, axis, dtype, out, ddof, keepdims)


def _without_each(a: Any, axis: Any) -> Any:
    """Products of all other elements along an axis, by two scans; correct for elements that are 0."""
    if np.ndim(a) == 1:
        one = np.ones_like(a[:1])
        after = np.cumprod(np.concatenate((one, a[:0:-1])))
        return np.cumprod(np.concatenate((one, a[:-1]))) * after[::-1]
    ones = np.ones_like(np.take(a, [0], axis=axis))
    before = np.cumprod(np.concatenate([ones, np.delete(a, -1, axis=axis)], axis=axis), axis=axis)
    mirrored = np.flip(a, axis=axis)
    after = np.cumprod(np.concatenate([ones, np.delete(mirrored, -1, axis=axis)], axis=axis), axis=axis)
    return before * np.flip(after, axis=axis)


@derivative(np.prod, method="prod")
def _prod(g: Any, r: Any, a: Any, axis: Axis = None, dtype: Any = None, out: Any = None, keepdims: Any = False,
          initial: Any = None, where: Any = True) -> Adjoints:
    whole = spread(g, a, axis, kept(keepdims))
    factor = initial if given(initial) else 1.0
    values = a if where is True else np.where(where, a, np.ones_like(a))
    if np.size(a) == 0:
        return np.zeros_like(a),
    if axis is None:
        others = np.reshape(_without_each(np.reshape(values, -1), -1), np.shape(a))
    elif isinstance(axis, tuple):
        axes = tuple(sorted(one % np.ndim(a) for one in axis))
        last = np.moveaxis(values, axes, tuple(range(-len(axes), 0)))
        flat = np.reshape(last, last.shape[:last.ndim - len(axes)] + (-1,))
        others = np.moveaxis(np.reshape(_without_each(flat, -1), last.shape), tuple(range(-len(axes), 0)), axes)
    else:
        others = _without_each(values, axis)
    return masked(whole * conjugated(others) * factor, where),


def _extreme(g: Any, r: Any, a: Any, axis: Axis, keepdims: Any) -> Any:
    """The adjoint goes to the elements that equal the result, in equal shares."""
    result = expanded(r, np.ndim(a), axis, kept(keepdims))
    hit = (a == result) | (a != a) & (result != result)
    shares = np.sum(np.where(hit, 1.0, 0.0), axis=axis, keepdims=True)
    return np.where(hit, expanded(g, np.ndim(a), axis, kept(keepdims)) / np.maximum(shares, 1.0), 0.0)


@derivative(np.max, method="max", result=NEW)
@derivative(np.min, method="min", result=NEW)
@derivative(np.amax, np.amin, np.nanmax, np.nanmin)  # older versions have one function for np.max and np.amax
def _max(g: Any, r: Any, a: Any, axis: Axis = None, out: Any = None, keepdims: Any = False, initial: Any = None,
         where: Any = True) -> Adjoints:
    return masked(_extreme(g, r, a, axis, keepdims), where),


@derivative(np.ptp, method="ptp")
def _ptp(g: Any, r: Any, a: Any, axis: Axis = None, out: Any = None, keepdims: Any = False) -> Adjoints:
    most, least = np.max(a, axis=axis), np.min(a, axis=axis)
    g = np.reshape(g, np.shape(most))
    return _extreme(g, most, a, axis, False) - _extreme(g, least, a, axis, False),


@derivative(np.cumsum, method="cumsum", same_parameters=True, result=NEW, sized_as=FIRST)
def _cumsum(g: Any, r: Any, a: Any, axis: Optional[int] = None, dtype: Any = None, out: Any = None) -> Adjoints:
    if axis is None:
        return np.reshape(np.cumsum(g[::-1])[::-1], np.shape(a)),
    return np.flip(np.cumsum(np.flip(g, axis=axis), axis=axis), axis=axis),


@derivative(np.cumprod, method="cumprod", same_parameters=True, result=NEW, sized_as=FIRST)
def _cumprod(g: Any, r: Any, a: Any, axis: Optional[int] = None, dtype: Any = None, out: Any = None) -> Adjoints:
    """For each element the sum over later results of the product of all other factors; correct for factors of 0."""
    flat_shape = np.shape(a)
    values = np.reshape(a, -1) if axis is None else np.moveaxis(a, axis, -1)
    last = g if axis is None else np.moveaxis(g, axis, -1)
    before = np.concatenate([np.ones_like(values[..., :1]), np.cumprod(values, axis=-1)[..., :-1]], axis=-1)
    parts = []
    for k in range(values.shape[-1]):
        later = np.cumprod(np.concatenate([np.ones_like(values[..., :1]), values[..., k + 1:]], axis=-1), axis=-1)
        parts.append(conjugated(before[..., k]) * np.sum(last[..., k:] * conjugated(later), axis=-1))
    if not parts:
        return np.zeros_like(a),
    whole = np.stack(parts, axis=-1)
    return np.reshape(whole, flat_shape) if axis is None else np.moveaxis(whole, -1, axis),


@derivative(np.sort, result=NEW, sized_as=FIRST)
def _sort(g: Any, r: Any, a: Any, axis: Optional[int] = -1, kind: Any = None, order: Any = None) -> Adjoints:
    if axis is None:
        return np.reshape(_scattered(g, np.argsort(np.reshape(a, -1), kind="stable"), 0), np.shape(a)),
    return _scattered(g, np.argsort(a, axis=axis, kind="stable"), axis),


def _scattered(g: Any, order: Any, axis: int) -> Any:
    """The elements of ``g`` at the positions that ``order`` took them from."""
    return np.take_along_axis(g, np.argsort(order, axis=axis, kind="stable"), axis=axis)


def _order_statistic(g: Any, r: Any, a: Any, q: Any, axis: Axis, keepdims: Any) -> Any:
    """The adjoint of a linear interpolation between two order statistics."""
    values = np.reshape(a, -1) if axis is None else np.moveaxis(a, axis, -1)
    order = np.argsort(values, axis=-1, kind="stable")
    n, total = values.shape[-1], np.zeros(values.shape)
    for k, fraction in enumerate(np.ravel(q)):
        part = g if np.ndim(q) == 0 else g[k]
        part = np.reshape(part, values.shape[:-1])
        low = int(math.floor(fraction * (n - 1)))
        high, weight = min(low + 1, n - 1), fraction * (n - 1) - low
        ranks = np.zeros(n)
        ranks[low] += 1.0 - weight
        ranks[high] += weight
        total = total + np.take_along_axis(part[..., None] * ranks, np.argsort(order, axis=-1), axis=-1)
    return np.reshape(total, np.shape(a)) if axis is None else np.moveaxis(total, -1, axis)


@derivative(np.median, result=NEW)
def _median(g: Any, r: Any, a: Any, axis: Axis = None, out: Any = None, overwrite_input: bool = False,
            keepdims: Any = False) -> Adjoints:
    return _order_statistic(g, r, a, 0.5, axis, keepdims),


@derivative(np.quantile, result=NEW)
def _quantile(g: Any, r: Any, a: Any, q: Any, axis: Axis = None, out: Any = None, overwrite_input: bool = False,
              *, keepdims: Any = False) -> Adjoints:
    return _order_statistic(g, r, a, np.asarray(q, dtype=float), axis, keepdims),


@derivative(np.percentile, result=NEW)
def _percentile(g: Any, r: Any, a: Any, q: Any, axis: Axis = None, out: Any = None, overwrite_input: bool = False,
                *, keepdims: Any = False) -> Adjoints:
    return _order_statistic(g, r, a, np.true_divide(np.asarray(q, dtype=float), 100.0), axis, keepdims),


@derivative(np.add.reduce)
def _add_reduce(g: Any, r: Any, a: Any, axis: Axis = 0, dtype: Any = None, out: Any = None, keepdims: Any = False,
                initial: Any = None, where: Any = True) -> Adjoints:
    return masked(spread(g, a, axis, kept(keepdims)), where),


cut("the result is an index or a count", np.argmax, np.argmin, np.argsort, np.argpartition, np.searchsorted, np.nonzero,
    np.flatnonzero, np.count_nonzero, np.digitize, np.unravel_index, np.ravel_multi_index, np.lexsort,
    np.argwhere, np.shape, np.ndim, np.size, len, np.nanargmax, np.nanargmin)
cut("the result is a truth value", np.all, np.any, attribute("in1d"), attribute("isin"), np.iscomplexobj, np.isrealobj,
    np.isscalar, np.may_share_memory, np.shares_memory, np.can_cast)
cut("constant between its steps", np.round, attribute("round_"), attribute("fix"))
cut("the result has the shape and dtype only", np.zeros_like, np.ones_like, np.empty_like, np.result_type,
    np.broadcast_shapes if hasattr(np, "broadcast_shapes") else None, np.min_scalar_type)

