"""Derivatives of functions that move, copy or select elements, and of interpolation."""

from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple

import numpy as np

from pijit.core.graph.derivatives.adjoints import sum_to
from pijit.core.graph.derivatives.table import ALL, FIRST, MOVED, NEW, attribute, cut, derivative
from pijit.core.graph.library_helpers import constant_copy

Adjoints = Tuple[Any, ...]


@derivative(np.copy, np.array, method="copy", result=NEW, sized_as=FIRST)
@derivative(np.asarray, np.asanyarray, np.ascontiguousarray, attribute("asfarray"), np.asfortranarray)
def _array(g: Any, r: Any, a: Any, *args: Any, **kwargs: Any) -> Adjoints:
    return _parts(g, a),


def _parts(g: Any, a: Any) -> Any:
    """The adjoint of `np.array(a)`; the adjoint of a nested list is a nested list."""
    if isinstance(a, (list, tuple)):
        return [_parts(g[k], item) for k, item in enumerate(a)]
    return np.reshape(g, np.shape(a))


@derivative(constant_copy, result=NEW, sized_as=FIRST)
def _constant_copy(g: Any, r: Any, x: Any) -> Adjoints:
    return np.zeros_like(x),


cut("the result is a constant for gradients", constant_copy)


@derivative(np.ravel, np.squeeze, np.expand_dims, result=MOVED)
@derivative(np.reshape, np.atleast_1d, np.atleast_2d, np.atleast_3d, method="reshape")
def _reshape(g: Any, r: Any, a: Any, *args: Any, **kwargs: Any) -> Adjoints:
    return np.reshape(g, np.shape(a)) if kwargs.get("order", "C") == "C" else _ordered(g, r, a, kwargs["order"]),


def _ordered(g: Any, r: Any, a: Any, order: Any) -> Any:
    places = np.reshape(np.arange(np.size(a)), np.shape(a))
    moved = np.reshape(np.ravel(places, order=order), -1)
    flat = np.zeros(np.size(a), dtype=np.asarray(g).dtype)
    flat[moved] = np.ravel(g, order=order)
    return np.reshape(flat, np.shape(a))


@derivative(np.transpose, method="transpose")
def _transpose(g: Any, r: Any, a: Any, axes: Any = None) -> Adjoints:
    return np.transpose(g) if axes is None else np.transpose(g, np.argsort([one % np.ndim(a) for one in axes])),


@derivative(np.concatenate)
def _concatenate(g: Any, r: Any, arrays: Sequence[Any], axis: Optional[int] = 0, *args: Any, **kwargs: Any) -> Adjoints:
    parts: List[Any] = []
    start = 0
    for one in arrays:
        n = np.size(one) if axis is None else np.shape(one)[axis]
        place = [slice(None)] * np.ndim(g)
        place[0 if axis is None else axis] = slice(start, start + n)
        parts.append(np.reshape(g[tuple(place)], np.shape(one)))
        start += n
    return parts,


@derivative(np.where, operands=3)
def _where(g: Any, r: Any, condition: Any, x: Any = None, y: Any = None) -> Adjoints:
    zero = np.zeros_like(g)
    return None, sum_to(np.where(condition, g, zero), np.shape(x)), sum_to(np.where(condition, zero, g), np.shape(y))


def where_true(g: Any, r: Any, condition: Any, x: Any, y: Any) -> Any:
    """The adjoint of the second argument of np.where, before it is summed to that argument's shape."""
    return np.where(condition, g, 0.0)


def where_false(g: Any, r: Any, condition: Any, x: Any, y: Any) -> Any:
    """The adjoint of the third argument of np.where, as `where_true`."""
    return np.where(condition, 0.0, g)


def _clip_element(g: Any, r: Any, a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, min: Any = None,
                  max: Any = None, **kwargs: Any) -> Any:
    least, most = a_min if min is None else min, a_max if max is None else max
    inner = a if least is None else np.maximum(a, least)
    upper = np.ones_like(r) if most is None else _share(inner, most, r)
    lower = np.ones_like(r) if least is None else _share(a, least, inner)
    whole = g * upper * lower
    if (least is None or np.ndim(least) == 0) and (most is None or np.ndim(most) == 0):
        return whole
    return sum_to(whole, np.shape(a))


def _clip_least(g: Any, r: Any, a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, min: Any = None,
                max: Any = None, **kwargs: Any) -> Any:
    least, most = a_min if min is None else min, a_max if max is None else max
    inner = np.maximum(a, least)
    upper = np.ones_like(r) if most is None else _share(inner, most, r)
    return sum_to(g * upper * (1.0 - _share(a, least, inner)), np.shape(least))


def _clip_most(g: Any, r: Any, a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, min: Any = None,
               max: Any = None, **kwargs: Any) -> Any:
    least, most = a_min if min is None else min, a_max if max is None else max
    inner = a if least is None else np.maximum(a, least)
    return sum_to(g * (1.0 - _share(inner, most, r)), np.shape(most))


@derivative(np.clip, operands=3, method="clip", partials=(_clip_element, _clip_least, _clip_most),
            result=NEW, sized_as=ALL)
def _clip(g: Any, r: Any, a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, **kwargs: Any) -> Adjoints:
    """The adjoint goes to the operand that is the result; half each if a bound equals the element."""
    least, most = kwargs.get("min", a_min), kwargs.get("max", a_max)
    return (_clip_element(g, r, a, least, most), None if least is None else _clip_least(g, r, a, least, most),
            None if most is None else _clip_most(g, r, a, least, most))


def _share(x: Any, y: Any, r: Any) -> Any:
    return np.where(x == y, 0.5, np.where((r == x) | (x != x), 1.0, 0.0))


@derivative(np.take, method="take", same_parameters=True, result=NEW)
def _take(g: Any, r: Any, a: Any, indices: Any, axis: Optional[int] = None, out: Any = None,
          mode: str = "raise") -> Adjoints:
    indices = np.asarray(indices)
    n = np.size(a) if axis is None else np.shape(a)[axis]
    if mode == "clip":
        indices = np.clip(indices, 0, n - 1)
    if mode == "wrap":
        indices = indices % n
    if axis is None:
        flat = np.zeros(np.size(a), dtype=np.asarray(g).dtype)
        np.add.at(flat, indices, g)
        return np.reshape(flat, np.shape(a)),
    whole = np.zeros(np.shape(a), dtype=np.asarray(g).dtype)
    np.add.at(whole, (slice(None),) * (axis % np.ndim(a)) + (indices,), g)
    return whole,


@derivative(np.take_along_axis, result=NEW)
def _take_along_axis(g: Any, r: Any, arr: Any, indices: Any, axis: Optional[int]) -> Adjoints:
    if np.ndim(arr) == 2 and axis == 1:
        rows, columns = np.shape(arr)
        flat = np.zeros(rows * columns, dtype=np.asarray(g).dtype)
        places = np.reshape(np.arange(rows)[:, None] * columns + indices % np.int64(columns), -1)
        np.add.at(flat, places, np.reshape(g, -1))
        return np.reshape(flat, (rows, columns)),
    values = np.reshape(arr, -1) if axis is None else arr
    axis = 0 if axis is None else axis % np.ndim(values)
    whole = np.zeros(np.shape(values), dtype=np.asarray(g).dtype)
    place = list(np.ogrid[tuple(slice(n) for n in np.shape(indices))])
    place[axis] = indices
    np.add.at(whole, tuple(place), g)
    return np.reshape(whole, np.shape(arr)),


@derivative(np.repeat, method="repeat", same_parameters=True, result=NEW)
def _repeat(g: Any, r: Any, a: Any, repeats: Any, axis: Optional[int] = None) -> Adjoints:
    n = np.size(a) if axis is None else np.shape(a)[axis]
    source = np.repeat(np.arange(n), repeats)
    whole = np.zeros((n,) if axis is None else np.shape(a), dtype=np.asarray(g).dtype)
    place: Any = (source,) if axis is None else (slice(None),) * (axis % np.ndim(a)) + (source,)
    np.add.at(whole, place, g)
    return np.reshape(whole, np.shape(a)),


@derivative(np.roll, result=NEW, sized_as=FIRST)
def _roll(g: Any, r: Any, a: Any, shift: Any, axis: Any = None) -> Adjoints:
    back = tuple(-one for one in shift) if isinstance(shift, tuple) else -shift
    return np.roll(g, back, axis=axis),


@derivative(np.tril, result=NEW, sized_as=FIRST)
def _tril(g: Any, r: Any, m: Any, k: int = 0) -> Adjoints:
    return np.tril(g, k),


@derivative(np.triu, result=NEW, sized_as=FIRST)
def _triu(g: Any, r: Any, m: Any, k: int = 0) -> Adjoints:
    return np.triu(g, k),


@derivative(np.diag)
def _diag(g: Any, r: Any, v: Any, k: int = 0) -> Adjoints:
    if np.ndim(v) == 1:
        return np.diag(g, k),
    whole = np.zeros(np.shape(v), dtype=np.asarray(g).dtype)
    rows = np.arange(np.shape(g)[0]) + max(-k, 0)
    whole[rows, rows + k] = g
    return whole,


@derivative(np.trace, method="trace", same_parameters=True, result=NEW)
def _trace(g: Any, r: Any, a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None,
           out: Any = None) -> Adjoints:
    last = np.moveaxis(np.zeros(np.shape(a), dtype=np.asarray(g).dtype), (axis1, axis2), (-2, -1))
    n = max(0, min(last.shape[-2] - max(-offset, 0), last.shape[-1] - max(offset, 0)))
    rows = np.arange(n) + max(-offset, 0)
    last[..., rows, rows + offset] = np.asarray(g)[..., None]
    return np.moveaxis(last, (-2, -1), (axis1, axis2)),


@derivative(np.pad, result=NEW)
def _pad(g: Any, r: Any, array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Adjoints:
    """The source of each element is found by padding the array's indices in the same way."""
    widths = np.broadcast_to(np.asarray(pad_width, dtype=int), (np.ndim(array), 2))
    if mode == "constant":
        place = tuple(slice(low, low + n) for (low, _), n in zip(widths, np.shape(array)))
        return g[place],
    if mode not in ("edge", "reflect", "symmetric", "wrap"):
        raise NotImplementedError("no derivative is known of np.pad with mode={!r}".format(mode))
    source = np.pad(np.reshape(np.arange(np.size(array)), np.shape(array)), pad_width, mode=mode, **kwargs)
    flat = np.zeros(np.size(array), dtype=np.asarray(g).dtype)
    np.add.at(flat, source, g)
    return np.reshape(flat, np.shape(array)),


@derivative(np.choose, operands=2)
def _choose(g: Any, r: Any, a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Adjoints:
    chosen = np.asarray(a)
    return None, [sum_to(np.where(chosen == k, g, np.zeros_like(g)), np.shape(one)) for k, one in enumerate(choices)]


@derivative(np.interp, operands=3, result=NEW, sized_as=FIRST)
def _interp(g: Any, r: Any, x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None,
            period: Any = None) -> Adjoints:
    if period is not None:
        raise NotImplementedError("no derivative is known of np.interp with a period")
    xs, points, values = np.asarray(x, dtype=float), np.asarray(xp, dtype=float), np.asarray(fp)
    low = np.clip(np.searchsorted(points, xs, side="right") - 1, 0, len(points) - 2)
    width, inside = points[low + 1] - points[low], (xs >= points[0]) & (xs <= points[-1])
    slope, weight = (values[low + 1] - values[low]) / width, np.clip((xs - points[low]) / width, 0.0, 1.0)
    below, above = xs < points[0], xs > points[-1]
    weighted = np.where(below & (left is not None) | above & (right is not None), 0.0, g)
    to_values, to_points = np.zeros(np.shape(values), dtype=np.asarray(g).dtype), np.zeros(np.shape(points))
    np.add.at(to_values, low, weighted * (1.0 - weight))
    np.add.at(to_values, low + 1, weighted * weight)
    moved = np.where(inside, -g * slope, 0.0)
    np.add.at(to_points, low, moved * (1.0 - weight))
    np.add.at(to_points, low + 1, moved * weight)
    return np.where(inside, g * slope, 0.0), to_points, to_values


@derivative(np.bincount, operands=2, result=NEW)
def _bincount(g: Any, r: Any, x: Any, weights: Any = None, minlength: int = 0) -> Adjoints:
    return None, np.take(g, x),


@derivative(np.real)
def _real(g: Any, r: Any, val: Any) -> Adjoints:
    return g,


@derivative(np.imag)
def _imag(g: Any, r: Any, val: Any) -> Adjoints:
    return 1j * g if np.iscomplexobj(val) else np.zeros_like(val),


@derivative(np.angle)
def _angle(g: Any, r: Any, z: Any, deg: bool = False) -> Adjoints:
    scale = 180.0 / np.pi if deg else 1.0
    if not np.iscomplexobj(z):
        return np.zeros_like(z),
    return scale * g * 1j * z / np.square(np.abs(z)),


@derivative(np.nan_to_num)
def _nan_to_num(g: Any, r: Any, x: Any, copy: bool = True, *args: Any, **kwargs: Any) -> Adjoints:
    return np.where(np.isfinite(x), g, np.zeros_like(g)),


@derivative(np.compress, operands=2, result=NEW)
def _compress(g: Any, r: Any, condition: Any, a: Any, axis: Optional[int] = None, out: Any = None) -> Adjoints:
    return None, _take(g, r, a, np.flatnonzero(condition), axis)[0]


@derivative(np.flip)
def _flip(g: Any, r: Any, m: Any, axis: Any = None) -> Adjoints:
    return np.flip(g, axis=axis),


@derivative(np.broadcast_arrays, operands=0)
def _broadcast_arrays(g: Any, r: Any, *arrays: Any, subok: bool = False) -> Adjoints:
    return tuple(sum_to(one, np.shape(array)) for one, array in zip(g, arrays))


@derivative(np.broadcast_to)
def _broadcast_to(g: Any, r: Any, array: Any, shape: Any, subok: bool = False) -> Adjoints:
    return sum_to(g, np.shape(array)),
