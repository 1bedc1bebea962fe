"""Derivatives of `numpy.linalg`: the textbook adjoints.

Source: M. Giles, "An extended collection of matrix derivative results", 2008, unless a rule names another one.
`derivatives` imports it. A rule must be plain NumPy code.
"""

from __future__ import annotations

from typing import Any, Tuple

import numpy as np

from pijit.core.graph.derivatives.adjoints import (
    Parts,
    adjoint_matrix,
    conjugated,
    expanded,
    root_of,
    transposed,
    unstacked,
)
from pijit.core.graph.derivatives.table import FIRST, NEW, SECOND, derivative

Adjoints = Tuple[Any, ...]


def _eye(a: Any) -> Any:
    return np.eye(np.shape(a)[-1])


@derivative(np.linalg.inv, result=NEW, sized_as=FIRST)
def _inv(g: Any, r: Any, a: Any) -> Adjoints:
    back = adjoint_matrix(r)
    return -np.matmul(np.matmul(back, g), back),


@derivative(np.linalg.solve, operands=2, result=NEW, sized_as=SECOND)
def _solve(g: Any, r: Any, a: Any, b: Any) -> Adjoints:
    vector = np.ndim(r) == np.ndim(a) - 1 or np.ndim(b) == 1
    columns, result = (np.asarray(g)[..., None], r[..., None]) if vector else (g, r)
    s = np.linalg.solve(adjoint_matrix(a), columns)
    to_a = -np.matmul(s, adjoint_matrix(result))
    return unstacked(to_a, a), unstacked(s[..., 0] if vector else s, b)


@derivative(np.linalg.det, result=NEW)
def _det(g: Any, r: Any, a: Any) -> Adjoints:
    """The matrix of cofactors by singular values, so that singular matrices have a derivative, too."""
    u, s, vh = np.linalg.svd(a)
    n = np.shape(a)[-1]
    others = np.stack([np.prod(np.delete(s, k, axis=-1), axis=-1) for k in range(n)], axis=-1)
    sign = np.linalg.det(u) * np.linalg.det(vh)
    cofactors = np.matmul(u * (others * np.asarray(sign)[..., None])[..., None, :], vh)
    return np.asarray(g)[..., None, None] * (
        cofactors if not np.iscomplexobj(a) else
        np.conj(np.asarray(r))[..., None, None] * adjoint_matrix(np.linalg.inv(a))),


@derivative(np.linalg.slogdet)
def _slogdet(g: Any, r: Any, a: Any) -> Adjoints:
    to_log = np.asarray(g[1])[..., None, None] * adjoint_matrix(np.linalg.inv(a))
    if not np.iscomplexobj(a):
        return to_log,
    rotated = np.asarray(1j * np.imag(np.conj(g[0]) * r[0]))[..., None, None]
    return to_log - rotated * adjoint_matrix(np.linalg.inv(a)),


@derivative(np.linalg.cholesky, result=NEW, sized_as=FIRST)
def _cholesky(g: Any, r: Any, a: Any, **kwargs: Any) -> Adjoints:
    """The adjoint is that of a symmetric matrix (Murray, 2016)."""
    n = np.shape(a)[-1]
    half = np.tril(np.ones((n, n))) - 0.5 * np.eye(n)
    middle = np.matmul(adjoint_matrix(r), np.tril(g)) * half
    outer = np.linalg.solve(adjoint_matrix(r),
                            adjoint_matrix(np.linalg.solve(adjoint_matrix(r), adjoint_matrix(middle))))
    return 0.5 * (outer + adjoint_matrix(outer)),


def _gaps(values: Any) -> Any:
    """1 / (values[j] - values[i]) off the diagonal, 0 on it.

    Raises:
        ArithmeticError: two values are equal, so the vectors have no derivative.
    """
    difference = values[..., None, :] - values[..., :, None]
    off = ~np.eye(np.shape(values)[-1], dtype=bool)
    if np.any((difference == 0) & off):
        raise ArithmeticError("two of the values are equal: the vectors have no derivative")
    return np.where(off, 1.0 / np.where(difference == 0, 1.0, difference), 0.0)


@derivative(np.linalg.eigh)
def _eigh(g: Any, r: Any, a: Any, UPLO: str = "L") -> Adjoints:
    values, vectors = r[0], r[1]
    inner = np.asarray(g[0])[..., None] * _eye(a)
    if np.any(g[1] != 0):
        inner = inner + _gaps(values) * np.matmul(adjoint_matrix(vectors), g[1])
    whole = np.matmul(np.matmul(vectors, inner), adjoint_matrix(vectors))
    triangle = np.tril(np.ones(np.shape(a)[-2:]), -1) if UPLO == "L" else np.triu(np.ones(np.shape(a)[-2:]), 1)
    both = whole + adjoint_matrix(whole)
    return both * triangle + whole * _eye(a),


@derivative(np.linalg.eigvalsh, result=NEW)
def _eigvalsh(g: Any, r: Any, a: Any, UPLO: Any = "L") -> Adjoints:
    vectors = np.linalg.eigh(a, UPLO)[1]
    return _eigh((g, np.zeros_like(vectors)), (r, vectors), a, UPLO)


@derivative(np.linalg.eig)
def _eig(g: Any, r: Any, a: Any) -> Adjoints:
    """Eigenvectors have length 1; the part of their adjoint along themselves is ignored (Boeddeker et al., 2017)."""
    values, vectors = r[0], r[1]
    inner = np.asarray(g[0])[..., None] * _eye(a)
    if np.any(g[1] != 0):
        projected = np.matmul(adjoint_matrix(vectors), g[1])
        along = np.real(np.sum(projected * _eye(a), axis=-1))
        rest = projected - np.matmul(adjoint_matrix(vectors), vectors) * along[..., None, :]
        inner = inner + conjugated(_gaps(values)) * rest
    return np.linalg.solve(adjoint_matrix(vectors), np.matmul(inner, adjoint_matrix(vectors))),


@derivative(np.linalg.eigvals)
def _eigvals(g: Any, r: Any, a: Any) -> Adjoints:
    values, vectors = np.linalg.eig(a)
    return _eig((g, np.zeros_like(vectors)), (values, vectors), a)


@derivative(np.linalg.svd, result=NEW)
def _svd(g: Any, r: Any, a: Any, full_matrices: bool = True, compute_uv: bool = True,
         hermitian: bool = False) -> Adjoints:
    if not compute_uv:
        u, s, vh = np.linalg.svd(a, full_matrices=False)
        return np.matmul(u * np.asarray(g)[..., None, :], conjugated(vh)) if not np.iscomplexobj(a) else \
            np.matmul(u * np.asarray(g)[..., None, :], vh),
    u, s, vh = r[0], r[1], r[2]
    k = np.shape(s)[-1]
    if full_matrices and np.shape(a)[-1] != np.shape(a)[-2]:
        raise NotImplementedError(
            "no derivative is known of np.linalg.svd with full_matrices of a matrix that is not square")
    if np.iscomplexobj(a):
        raise NotImplementedError("no derivative is known of the vectors of np.linalg.svd of complex matrices")
    g_u, g_s, g_v = g[0], np.asarray(g[1]), transposed(g[2])
    inner = g_s[..., None] * np.eye(k)
    whole = np.matmul(u * 1.0, np.matmul(inner, vh))
    if np.any(g_u != 0) or np.any(g_v != 0):
        v = transposed(vh)
        f = _gaps(s * s)
        uu, vv = np.matmul(transposed(u), g_u), np.matmul(transposed(v), g_v)
        part_u = f * (uu - transposed(uu)) * s[..., None, :]
        part_v = s[..., :, None] * (f * (vv - transposed(vv)))
        whole = whole + np.matmul(np.matmul(u, part_u + part_v), vh)
        rest_u = g_u / s[..., None, :]
        whole = whole + np.matmul(rest_u - np.matmul(u, np.matmul(transposed(u), rest_u)), vh)
        rest_v = transposed(g_v / s[..., None, :])
        whole = whole + np.matmul(u, rest_v - np.matmul(np.matmul(rest_v, v), vh))
    return whole,


@derivative(np.linalg.qr)
def _qr(g: Any, r: Any, a: Any, mode: str = "reduced") -> Adjoints:
    if mode != "reduced" or np.shape(a)[-2] < np.shape(a)[-1]:
        raise NotImplementedError(
            "no derivative is known of np.linalg.qr of a wide matrix or with mode={!r}".format(mode))
    q, upper = r[0], r[1]
    g_q, g_r = g[0], np.triu(g[1])
    m = np.matmul(upper, adjoint_matrix(g_r)) - np.matmul(adjoint_matrix(g_q), q)
    lower = np.tril(m, -1)
    symmetric = lower + adjoint_matrix(lower) + m * _eye(a)
    return adjoint_matrix(np.linalg.solve(upper, adjoint_matrix(g_q + np.matmul(q, symmetric)))),


@derivative(np.linalg.pinv, result=NEW)
def _pinv(g: Any, r: Any, a: Any, *args: Any, **kwargs: Any) -> Adjoints:
    """The differential of the pseudo-inverse (Golub and Pereyra, 1973)."""
    back, g_h = adjoint_matrix(r), adjoint_matrix(g)
    left = -np.matmul(np.matmul(back, g), back)
    rows, columns = np.eye(np.shape(a)[-2]), np.eye(np.shape(a)[-1])
    first = np.matmul(np.matmul(rows - np.matmul(a, r), g_h), np.matmul(r, back))
    second = np.matmul(np.matmul(np.matmul(back, r), g_h), columns - np.matmul(r, a))
    return left + first + second,


@derivative(np.linalg.lstsq, operands=2)
def _lstsq(g: Any, r: Any, a: Any, b: Any, rcond: Any = None) -> Adjoints:
    if np.size(g[1]) and np.any(g[1] != 0) or np.any(g[3] != 0):
        raise NotImplementedError("only the solution of np.linalg.lstsq has a derivative")
    vector = np.ndim(b) == 1
    g_x = g[0][:, None] if vector else g[0]
    right = np.reshape(b, (-1, 1)) if vector else b
    inverse = np.linalg.pinv(a)
    to_b = np.matmul(adjoint_matrix(inverse), g_x)
    to_a = _pinv(np.matmul(g_x, adjoint_matrix(right)), inverse, a)[0]
    return to_a, np.reshape(to_b, np.shape(b))


@derivative(np.linalg.norm)
def _norm(g: Any, r: Any, x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Adjoints:
    if ord is None and axis is None and np.ndim(x) == 1 and x.flags.c_contiguous and x.dtype.kind == "f":
        half = root_of(g, r) * x  # the root of the product of the vector with itself
        return Parts((half, half)),
    size = expanded(r, np.ndim(x), axis, keepdims)
    whole = expanded(np.asarray(g), np.ndim(x), axis, keepdims)
    vector = isinstance(axis, int) or axis is None and np.ndim(x) == 1
    if ord is None or vector and ord == 2 or ord == "fro":
        return np.where(size == 0, np.zeros_like(x), whole * x / np.where(size == 0, 1.0, size)),
    if not vector:
        raise NotImplementedError("no derivative is known of np.linalg.norm with ord={!r} of a matrix".format(ord))
    absolute = np.abs(x)
    sign = np.where(absolute == 0, np.zeros_like(x), x / np.where(absolute == 0, 1.0, absolute))
    if ord in (np.inf, -np.inf):
        hit = absolute == size
        return whole * sign * hit / np.sum(hit, axis=axis, keepdims=True),
    if ord == 1:
        return whole * sign,
    if ord == 0:
        return np.zeros_like(x),
    ratio = np.where(size == 0, 0.0, absolute / np.where(size == 0, 1.0, size))
    return whole * sign * np.power(ratio, ord - 1),


def _power_of(a: Any, n: int) -> Any:
    return np.linalg.matrix_power(a, n)


@derivative(np.linalg.matrix_power)
def _matrix_power(g: Any, r: Any, a: Any, n: int) -> Adjoints:
    if n < 0:
        inverse = np.linalg.inv(a)
        return _inv(_matrix_power(g, r, inverse, -n)[0], inverse, a)
    whole = np.zeros_like(a)
    for k in range(n):
        whole = whole + np.matmul(np.matmul(adjoint_matrix(_power_of(a, k)), g),
                                  adjoint_matrix(_power_of(a, n - 1 - k)))
    return whole,
