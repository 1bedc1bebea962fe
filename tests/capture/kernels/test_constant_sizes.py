"""Nests with sizes that are constants along some axes only: their contiguous rows are joined, as those of others are."""

import numpy as np
import pytest

from tests.harness import check, fail_unless_captured

NUMBA = {"backend": "numba"}


def added_rows(x):
    w = np.zeros((4, 3))
    w[1:] += x[1:]
    return w


def added_columns(x):
    w = np.zeros((4, 3))
    w[:, 1:] += x[:, 1:]
    return w


def added_planes(x):
    w = np.ones((5, 2, 3))
    w[1:4] *= x[1:4]
    w[:, :1] -= x[:, 1:]
    return w


def made_rows(x, n):
    w = np.zeros((n, 3))
    w[:] = x[:n] * 2.0 + x[:n]
    w[1:] -= 1.0
    return w


@fail_unless_captured()
@pytest.mark.parametrize("function, shape", [(added_rows, (4, 3)), (added_columns, (4, 3)), (added_planes, (5, 2, 3))])
def test_stores_into_parts_of_arrays_of_constant_shapes(function, shape):
    x = np.random.RandomState(0).standard_normal(shape)
    check(function, x, config=NUMBA, others=[(np.asfortranarray(x),), (np.repeat(x, 2, axis=-1)[..., ::2],),
                                             (x.astype("f4"),), (-0.0 * x,)])


@fail_unless_captured()
def test_one_constant_size():
    x = np.random.RandomState(0).standard_normal((40, 3))
    check(made_rows, x, 7, config=NUMBA, others=[(x, 40), (x, 1), (x[:, ::-1], 9), (np.asfortranarray(x), 12)])
