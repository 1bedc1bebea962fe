"""Benchmarks: sparse matrices in compressed rows (CSR) and coordinates."""

from __future__ import annotations

import numpy as np

from benchmarks.cases.case import LOOPS, Case, noise, uniform

PER_ROW = 8


def product(data, columns, starts, x):
    y = np.zeros(len(starts) - 1, dtype=data.dtype)
    for i in range(len(y)):
        for k in range(starts[i], starts[i + 1]):
            y[i] += data[k] * x[columns[k]]
    return y


def product_by_slices(data, columns, starts, x):
    y = np.empty(len(starts) - 1, dtype=data.dtype)
    for i in range(len(y)):
        a, b = starts[i], starts[i + 1]
        y[i] = np.dot(data[a:b], x[columns[a:b]])
    return y


def product_tuned(data, columns, starts, x):
    y = np.empty(starts.size - 1, data.dtype)
    for i in range(y.size):
        total = data.dtype.type(0.0)
        for k in range(starts[i], starts[i + 1]):
            total += data[k] * x[columns[k]]
        y[i] = total
    return y


def product_by_coordinates(data, rows, columns, x):
    y = np.zeros(len(x), dtype=data.dtype)
    np.add.at(y, rows, data * x[columns])
    return y


def product_by_coordinates_tuned(data, rows, columns, x):
    y = np.zeros(x.size, data.dtype)
    for k in range(data.size):
        y[rows[k]] += data[k] * x[columns[k]]
    return y


def product_by_bincount(data, rows, columns, x):
    return np.bincount(rows, data * x[columns], len(x))


def product_by_bincount_tuned(data, rows, columns, x):
    y = np.zeros(x.size, np.float64)
    for k in range(data.size):
        y[rows[k]] += data[k] * x[columns[k]]
    return y


def relax(data, columns, starts, diagonal, b, x):
    new = np.empty_like(x)
    for i in range(len(x)):
        rest = b[i]
        for k in range(starts[i], starts[i + 1]):
            if columns[k] != i:
                rest = rest - data[k] * x[columns[k]]
        new[i] = rest / diagonal[i]
    return new


def page_rank(columns, starts, degree, rank, damping):
    share = damping * rank / degree
    new = np.full(len(rank), (1.0 - damping) / len(rank), dtype=rank.dtype)
    for i in range(len(rank)):
        new[columns[starts[i]:starts[i + 1]]] += share[i]
    return new


def page_rank_tuned(columns, starts, degree, rank, damping):
    t, n = rank.dtype.type, rank.size
    new = np.full(n, t((1.0 - damping) / n))
    for i in range(n):
        share = t(damping) * rank[i] / degree[i]
        for k in range(starts[i], starts[i + 1]):
            new[columns[k]] += share
    return new


def _columns(rows: int) -> np.ndarray:
    """The columns of each row: distinct, and spread over the matrix."""
    step = max(rows // PER_ROW, 1)
    base = np.random.RandomState(0).randint(0, rows, rows)
    return np.sort((base[:, None] + step * np.arange(PER_ROW)) % rows, axis=1).ravel()


def _csr(n, dtype):
    rows = n // PER_ROW
    return noise(dtype, rows * PER_ROW), _columns(rows), np.arange(rows + 1) * PER_ROW


def _product(n, dtype):
    return _csr(n, dtype) + (noise(dtype, n // PER_ROW, seed=1),)


def _coordinates(n, dtype):
    data, columns, starts = _csr(n, dtype)
    return data, np.repeat(np.arange(len(starts) - 1), PER_ROW), columns, noise(dtype, len(starts) - 1, seed=1)


def _relax(n, dtype):
    return _csr(n, dtype) + tuple(uniform(dtype, n // PER_ROW, low=1.0, high=2.0, seed=k) for k in range(3))


def _page_rank(n, dtype):
    _, columns, starts = _csr(n, dtype)
    rows = n // PER_ROW
    return columns, starts, np.full(rows, PER_ROW, dtype), np.full(rows, 1.0 / rows, dtype), 0.85


CASES = (
    Case("CSR product by loops", product, _product, product_tuned, sizes=LOOPS),
    Case("CSR product by slices", product_by_slices, _product, product_tuned, sizes=LOOPS),
    Case("COO product by add.at", product_by_coordinates, _coordinates, product_by_coordinates_tuned),
    Case("COO product by bincount", product_by_bincount, _coordinates, product_by_bincount_tuned),
    Case("Jacobi sweep over CSR", relax, _relax, relax, sizes=LOOPS),
    Case("PageRank step over CSR", page_rank, _page_rank, page_rank_tuned, sizes=LOOPS),
)
