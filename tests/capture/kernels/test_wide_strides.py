"""Arithmetic on views whose neighbouring elements lie apart: channels of an image, every second element, columns."""

import warnings

import numpy as np
import pytest

from tests.capture.kernels.test_strides import facts
from tests.harness import check, fail_unless_captured, jitted


def channels(rgb):
    grey = 0.25 * rgb[..., 0] + 0.5 * rgb[..., 1] + 0.125 * rgb[..., 2]
    return grey, grey[1:] - grey[:-1], (rgb[..., 0] * rgb[..., 1]).sum()


def halves(x):
    return (x[::2] + x[1::2]) * 0.5, (x[::-2] - x[-2::-2]) * x[::2], x[::3].astype(x.dtype) * x[:x.size // 2 * 3:3][0]


def columns(a):
    return a[:, 0] * a[:, 1] - 1.0, a[:, ::2] * a[:, 1::2] + a[:, :1], a[::-1, ::-1] * 2.0 - a


def strips(a, k):
    return a[:, :, k] * a[:, k, :] + 1.0, a[k] * 2.0 + a[:, k], (a[:, k, ::2] * a[k, :, ::2] + 1.0).T


def turned(a):
    part = a.transpose(1, 0, 2)[..., 0]
    return part * 2.0 + 1.0, (part * 2.0 + a[..., 0])[1:], a.T[:, :, 0] * 0.5 - 1.0


def within(x):
    x[:x.size // 2] = x[::2] * 2.0 + x[1::2]
    x[::2] -= x[1::2] * 0.5
    return x


def grids(*shape, seed=0):
    return np.random.RandomState(seed).uniform(-1.0, 1.0, shape)


CASES = {
    channels: [(grids(*shape),) for shape in ((6, 7, 3), (1, 1, 3), (0, 4, 3), (5, 1, 4), (2, 9, 3))],
    halves: [(grids(size),) for size in (24, 300, 6, 2)],
    columns: [(grids(*shape),) for shape in ((5, 6), (1, 2), (40, 2), (3, 130))],
    strips: [(grids(5, 5, 5), k) for k in (0, 3, -1)],
    turned: [(grids(6, 6, 3),), (grids(1, 1, 1),), (grids(9, 9, 2),)],
    within: [(grids(size),) for size in (64, 2, 400, 4096)],
}


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4"])
@pytest.mark.parametrize("f", list(CASES), ids=lambda f: f.__name__)
@fail_unless_captured()
def test_results_and_their_layouts(f, dtype):
    if dtype == "i4" and f is within:
        pytest.skip("floats do not go back into integers in place")
    cases = [tuple((8.0 * one).astype(dtype) if isinstance(one, np.ndarray) else one for one in case)
             for case in CASES[f]]
    captured = jitted(f, {"backend": "numba", "cache_limit": 32})
    for case in cases:
        for _ in range(2):
            mine, theirs = ([np.copy(one) if isinstance(one, np.ndarray) else one for one in case] for _ in range(2))
            assert tuples(captured(*mine)) == tuples(f(*theirs)), [np.shape(one) for one in case]
            assert tuples(mine) == tuples(theirs)


def tuples(values):
    return [facts(one) if isinstance(one, np.ndarray) else repr(one)
            for one in (values if isinstance(values, (tuple, list)) else (values,))]


@pytest.mark.parametrize("f, odd", [(channels, (2, 1, 1)), (halves, 1), (columns, (2, 0)), (within, 11)],
                         ids=["channels", "halves", "columns", "within"])
@fail_unless_captured()
def test_warnings(f, odd):
    """A flag leaves to bytecode, which warns once for the statement and finds the arrays as they were."""
    case = CASES[f][0][0].copy()
    captured = jitted(f, {"backend": "numba"})
    captured(case.copy())
    case[odd] = 1e308
    case *= np.where(np.abs(case) > 1.0, 1.7, 1.0)
    found = []
    for call in (captured, f):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            given = case.copy()
            result = call(given)
        found.append((tuples(result), tuples([given]), [(str(one.message), one.lineno) for one in told]))
    assert found[0] == found[1]


@fail_unless_captured()
def test_other_strides_come_later():
    """The same code for views that come in, and for arrays in Fortran order."""
    def f(x, y):
        return x * 2.0 + y, (x - y).sum()

    big = grids(40, 60)
    check(f, big[:, 3], big[:, 4], config={"backend": "numba", "cache_limit": 32},
          others=[(big[3, :40], big[:, 4]), (big[3], big[4]), (big[::-1, 0], big[:, 1]),
                  (big[::2, ::3], big[1::2, 1::3]), (np.asfortranarray(big), big), (big.T, big.T)])
