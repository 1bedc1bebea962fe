"""Reductions and scans of tensors."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from pijit.ms.dtype import as_numpy
from pijit.ms.ops.elementwise import floating
from pijit.ms.tensor import Tensor, array_of, made


def axes(axis: Any) -> Any:
    """An axis in NumPy's form: MindSpore's () means all axes, which is None in NumPy; lists become tuples."""
    if axis is None or isinstance(axis, int):
        return axis
    if isinstance(axis, Tensor):
        axis = axis._array.tolist()
        return axis if isinstance(axis, int) else tuple(axis)
    return tuple(axis) if len(axis) else None


def sum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Sums along axes, in the element type of the input; booleans are summed as int64."""
    x = array_of(input)
    if dtype is not None:
        x = x.astype(as_numpy(dtype, "sum"))
    elif x.dtype.kind == "b":
        x = x.astype(np.int64)
    return made(np.sum(x, axis=axes(dim), keepdims=keepdim, dtype=x.dtype))


def reduce_sum(x: Any, axis: Any = (), keep_dims: bool = False) -> Tensor:
    """Sums along axes."""
    return sum(x, axis, keep_dims)


def mean(x: Any, axis: Any = None, keep_dims: bool = False) -> Tensor:
    """Mean values along axes."""
    return made(np.mean(floating(array_of(x)), axis=axes(axis), keepdims=keep_dims))


def reduce_mean(x: Any, axis: Any = (), keep_dims: bool = False) -> Tensor:
    """Mean values along axes."""
    return mean(x, axis, keep_dims)


def prod(input: Any, axis: Any = None, keep_dims: bool = False) -> Tensor:
    """Products along axes."""
    x = array_of(input)
    return made(np.prod(x, axis=axes(axis), keepdims=keep_dims, dtype=x.dtype))


def reduce_max(x: Any, axis: Any = (), keep_dims: bool = False) -> Tensor:
    """Greatest values along axes."""
    return made(np.max(array_of(x), axis=axes(axis), keepdims=keep_dims))


def reduce_min(x: Any, axis: Any = (), keep_dims: bool = False) -> Tensor:
    """Smallest values along axes."""
    return made(np.min(array_of(x), axis=axes(axis), keepdims=keep_dims))


def amax(input: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Greatest values along axes."""
    return reduce_max(input, axis, keepdims)


def amin(input: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Smallest values along axes."""
    return reduce_min(input, axis, keepdims)


def max(input: Any, axis: Optional[int] = None, keepdims: bool = False) -> Any:
    """The greatest value and 0; with an axis, the greatest values along it and their positions."""
    x = array_of(input)
    if axis is None:
        return made(np.max(x)), made(np.zeros((), np.int64))
    return reduce_max(input, axis, keepdims), argmax_with_keep(input, axis, keepdims)


def min(input: Any, axis: Optional[int] = None, keepdims: bool = False) -> Any:
    """The smallest value and 0; with an axis, the smallest values along it and their positions."""
    x = array_of(input)
    if axis is None:
        return made(np.min(x)), made(np.zeros((), np.int64))
    places = np.argmin(x, axis=axis)
    return reduce_min(input, axis, keepdims), made(np.expand_dims(places, axis) if keepdims else places)


def argmax_with_keep(input: Any, axis: int, keepdims: bool) -> Tensor:
    """The positions of the greatest values along an axis."""
    places = np.argmax(array_of(input), axis=axis)
    return made(np.expand_dims(places, axis) if keepdims else places)


def argmax(input: Any, dim: Optional[int] = None, keepdim: bool = False) -> Tensor:
    """The positions of the greatest values."""
    if dim is None:
        return made(np.argmax(array_of(input)))
    return argmax_with_keep(input, dim, keepdim)


def argmin(input: Any, axis: Optional[int] = None, keepdims: bool = False) -> Tensor:
    """The positions of the smallest values."""
    places = np.argmin(array_of(input), axis=axis)
    return made(np.expand_dims(places, axis) if keepdims and axis is not None else places)


def all(input: Any, axis: Any = None, keep_dims: bool = False) -> Tensor:
    """Whether all values along axes are true."""
    return made(np.all(array_of(input), axis=axes(axis), keepdims=keep_dims))


def any(input: Any, axis: Any = None, keep_dims: bool = False) -> Tensor:
    """Whether any value along axes is true."""
    return made(np.any(array_of(input), axis=axes(axis), keepdims=keep_dims))


def std(input: Any, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Tensor:
    """Standard deviations along axes."""
    return made(np.std(floating(array_of(input)), axis=axes(axis), ddof=int(ddof), keepdims=keepdims))


def var(input: Any, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Tensor:
    """Variances along axes."""
    return made(np.var(floating(array_of(input)), axis=axes(axis), ddof=int(ddof), keepdims=keepdims))


def norm(A: Any, ord: Any = None, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Norms along axes."""
    return made(np.linalg.norm(floating(array_of(A)), ord, axes(dim), keepdim))


def cumsum(x: Any, axis: int, dtype: Any = None) -> Tensor:
    """Running sums along an axis."""
    a = array_of(x)
    return made(np.cumsum(a, axis=int(axis), dtype=a.dtype if dtype is None else as_numpy(dtype, "cumsum")))


def cumprod(input: Any, dim: int, dtype: Any = None) -> Tensor:
    """Running products along an axis."""
    a = array_of(input)
    return made(np.cumprod(a, axis=int(dim), dtype=a.dtype if dtype is None else as_numpy(dtype, "cumprod")))


def logsumexp(input: Any, axis: Any = None, keep_dims: bool = False) -> Tensor:
    """Logarithms of sums of exponentials along axes."""
    x = floating(array_of(input))
    if axis is None and not keep_dims:
        most = np.max(x)
        return made(np.log(np.sum(np.exp(x - most))) + most)
    top = np.max(x, axis=axes(axis), keepdims=True)
    total = np.log(np.sum(np.exp(x - top), axis=axes(axis), keepdims=True)) + top
    return made(total if keep_dims else np.squeeze(total, axis=axes(axis)))


def median(input: Any, axis: Optional[int] = None, keepdims: bool = False) -> Any:
    """The lower middle value; with an axis, the values along it and their positions."""
    x = array_of(input)
    if axis is None:
        flat = np.sort(np.reshape(x, -1))
        return made(np.array(flat[(flat.size - 1) // 2]))
    places = np.take(np.argsort(x, axis=axis, kind="stable"), [(x.shape[axis] - 1) // 2], axis=axis)
    values = np.take_along_axis(x, places, axis=axis)
    if keepdims:
        return made(values), made(places)
    return made(np.squeeze(values, axis=axis)), made(np.squeeze(places, axis=axis))


def median_of(x: Any, global_median: bool = False, axis: int = 0, keep_dims: bool = False) -> Any:
    """The lower middle value of all elements and 0; or those along an axis and their positions."""
    if isinstance(axis, bool) or not isinstance(axis, int):
        raise TypeError("For 'Median', the type of 'axis' should be 'int', but got type '{}'.".format(
            type(axis).__name__))
    if not isinstance(keep_dims, bool):
        raise TypeError("For 'Median', the type of 'keep_dims' should be 'bool', but got type '{}'.".format(
            type(keep_dims).__name__))
    ndim = array_of(x).ndim
    if ndim and not -ndim <= axis < ndim:
        raise ValueError("For primitive[Median], the axis must be in [{},{}), but got {}.".format(-ndim, ndim, axis))
    if global_median:
        return median(x), made(np.zeros((), np.int64))
    return median(x, axis, keep_dims)
