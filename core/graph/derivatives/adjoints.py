"""Arithmetic on adjoints that all rules and the tape share.

It must be plain NumPy code, so that it can itself be differentiated.
"""

from __future__ import annotations

from typing import Any, Optional, Tuple, Union

import numpy as np

Axis = Union[None, int, Tuple[int, ...]]


class Parts(tuple):  # type: ignore[type-arg]
    """Contributions to the adjoint of one operand, added one by one, as those of several operations in a kernel."""

    __slots__ = ()


def sum_to(g: Any, shape: Tuple[int, ...]) -> Any:
    """The sum of ``g`` over the axes that broadcasting added or repeated; its shape is ``shape``.

    A sum over added axes is never -0.0, so that kernels need no signs of zeros in what they add up.
    """
    if np.shape(g) == shape:
        return g
    if np.ndim(g) < len(shape) or any(n not in (1, m) for n, m in zip(shape[::-1], np.shape(g)[::-1])):
        g = g + np.zeros(shape)  # a partial that does not depend on the operand has fewer elements
    extra = np.ndim(g) - len(shape)
    if extra:
        g = 0.0 + np.sum(g, axis=tuple(range(extra)))
    axes = tuple(k for k, n in enumerate(shape) if n == 1 and np.shape(g)[k] != 1)
    if axes:
        g = np.sum(g, axis=axes, keepdims=True)
    if np.shape(g) != shape:
        g = np.broadcast_to(g, shape)
    return g


def _unrepeated(g: Any, x: Any, axis: int) -> Any:
    """An adjoint summed over an axis that broadcasting repeats."""
    return np.sum(g, axis=axis, keepdims=True) if np.shape(x)[axis] == 1 and np.shape(g)[axis] != 1 else g


def unstacked(g: Any, x: Any) -> Any:
    """An adjoint summed over the stacks that broadcasting adds to an operand; matrices and vectors have none.

    Up to two axes of stacks have code of their own, which kernels contain.
    """
    if np.ndim(g) > np.ndim(x) + 2 or np.ndim(x) > 4:
        return sum_to(g, np.shape(x))
    if np.ndim(g) == np.ndim(x) + 2:
        g = 0.0 + np.sum(g, axis=(0, 1))
    elif np.ndim(g) == np.ndim(x) + 1:
        g = 0.0 + np.sum(g, axis=0)
    if np.ndim(x) > 2:
        g = _unrepeated(g, x, 0)
    if np.ndim(x) > 3:
        g = _unrepeated(g, x, 1)
    return g


def cast_to(g: Any, dtype: Any) -> Any:
    """``g`` in the dtype of the value that it belongs to; the real part if that value is real."""
    g = np.asarray(g)
    if g.dtype == dtype:
        return g
    if g.dtype.kind == "c" and dtype.kind != "c":
        g = np.real(g)
    return g.astype(dtype)


def number_adjoint(g: Any, r: Any, x: Any) -> Any:
    """The adjoint of an array of shape () as that of the number that it was made from."""
    return 0.0 + g


def strong_zero(g: Any, contribution: Any) -> Any:
    """``contribution``, but 0 where the adjoint ``g`` is 0 and the partial is infinite or NaN.

    Where the partial is finite the contribution stays as it is: it is 0, too, and its own derivative is the partial.
    """
    return np.where((g == 0) & ~np.isfinite(contribution), np.zeros_like(contribution), contribution)


def strong_zero_array(g: Any, contribution: Any, zero: Any) -> Any:
    """`strong_zero` with a zero of the contribution's type, for code that is compiled."""
    return np.where((g == 0) & ~np.isfinite(contribution), zero, contribution)


def strong_zero_number(g: Any, contribution: Any) -> Any:
    """`strong_zero` of numbers, for code that is compiled. The result has one type: NumPy's number."""
    return np.float64(contribution) if g != 0 or contribution - contribution == 0 else np.float64(0.0)


def root_of(g: Any, r: Any) -> Any:
    """The adjoint of what a square root `r` is taken of; 0 where `r` is 0."""
    return np.where(r == 0, 0.0, strong_zero(g, g * 0.5 / np.where(r == 0, 1.0, r)))


def expanded(g: Any, ndim: int, axis: Axis, keepdims: bool) -> Any:
    """The adjoint or result of a reduction, with the reduced axes put back as axes of length 1."""
    if keepdims or ndim == 0:
        return g
    if axis is None:
        return np.reshape(g, (1,) * ndim)
    return np.expand_dims(g, axis)


def count(shape: Tuple[int, ...], axis: Axis) -> int:
    """The number of elements that a reduction adds up for each result."""
    if axis is None:
        axis = tuple(range(len(shape)))
    product = 1
    for one in axis if isinstance(axis, tuple) else (axis,):
        product *= shape[one]
    return product


def spread(g: Any, a: Any, axis: Axis, keepdims: bool) -> Any:
    """The adjoint of a reduction, repeated to the shape of its operand."""
    return np.broadcast_to(expanded(g, np.ndim(a), axis, keepdims), np.shape(a))


def given(value: Any) -> bool:
    """Whether an optional argument of NumPy was passed; NumPy's own marker for "no value" counts as absent."""
    return value is not None and value is not getattr(np, "_NoValue", None)


def kept(keepdims: Any) -> bool:
    """`keepdims` as a bool."""
    return bool(keepdims) if given(keepdims) else False


def transposed(a: Any) -> Any:
    """The array with its last two axes exchanged."""
    return np.swapaxes(a, -1, -2)


def conjugated(a: Any) -> Any:
    """The complex conjugate of complex arrays; real arrays unchanged."""
    return np.conj(a) if np.iscomplexobj(a) else a


def adjoint_matrix(a: Any) -> Any:
    """The conjugate transpose of the last two axes."""
    return conjugated(transposed(a))


def masked(g: Any, where: Optional[Any]) -> Any:
    """``g``, and 0 where a `where=` argument excluded the element."""
    return g if where is None or where is True else np.where(where, g, np.zeros_like(g))
