"""Loops over np.ndindex and np.ndenumerate are nested loops in kernels."""

import numpy as np
import pytest

from tests.harness import check, fail_unless_captured

X = np.arange(24.0).reshape(2, 3, 4) - 7.5


def by_index(x):
    out = np.zeros(x.shape)
    for index in np.ndindex(x.shape):
        out[index] = x[index] * 2.0 + index[0]
    return out


def by_lengths(x):
    total = 0.0
    for i, k in np.ndindex(x.shape[0], x.shape[-1]):
        if i == k:
            continue
        total += x[i, ..., k].sum() * i - k
    return total


def by_element(x):
    best, where, seen = -np.inf, None, 0
    for index, value in np.ndenumerate(x):
        if value > best and index[0] != 1:
            best, where = value, index
        seen += len(index)
    return best, where, type(value), seen


def written_meanwhile(x):
    total = 0.0
    for (i, *rest), value in np.ndenumerate(x):
        total = total * 0.5 + value
        if i + 1 < len(x):
            x[i + 1] = total
    return total, x


def raised_inside(x, n):
    total, last = 0.0, None
    try:
        for index in np.ndindex(n, 4):
            last = index
            total += x[index]
    except (IndexError, ValueError) as error:
        return total, last, type(error), str(error)
    return total, last


@pytest.mark.parametrize("f", [by_index, by_lengths, by_element, written_meanwhile])
@pytest.mark.parametrize("x", [X[0], X, X.T, X[:, ::-1, ::2], X.astype(np.float32)[0]], ids="2cas4")
def test_loops(f, x):
    with fail_unless_captured():
        check(f, x, others=[(x[:0],)] if f is not by_element else [], calls=4)


@pytest.mark.parametrize("x", [X[0, 0], X[0, 0, ::2]])
def test_vectors(x):
    check(by_index, x)
    check(by_element, x)


def test_errors_inside_and_of_lengths():
    check(raised_inside, X[0], 3, others=[(X[0], 5), (X[0], -1), (X[0], 0)], calls=4)


def test_forms_that_stay_bytecode():
    def f(x):
        found = list(np.ndindex(2, 2)), list(np.ndindex()), list(np.ndindex(np.int64(2)))
        iterator = np.ndindex(x.shape)
        first = next(iterator)
        return found, first, [(i, float(v)) for i, v in np.ndenumerate(np.array(2.5))], list(np.ndenumerate(x[0]))

    check(f, X)
