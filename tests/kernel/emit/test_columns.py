"""Reductions of rows at once, along an axis whose elements are apart and along short ones: NumPy's bits."""

import numpy as np
import pytest
from kernel_graphs import Builder

from pijit.core.graph.types import Array

KERNELS = {}
SHAPES = ((4, 1), (9, 3), (5, 16), (70, 17), (300, 2), (1000, 45), (33, 600), (6, 20000), (2, 5))


def reduction(ufunc, code, ndim, axis):
    """A kernel of one reduction of an array in C order, made once."""
    key = ufunc, code, ndim, axis
    if key not in KERNELS:
        dtype = np.dtype(code)
        left = ndim - (len(axis) if isinstance(axis, tuple) else 1)
        b = Builder("reduce", Array(dtype, ndim, "C"))
        result = b.op("reduce", Array(dtype, left, "C"), b.inputs[0], exit=b.exit(1), ufunc=ufunc, axis=axis,
                      keepdims=False, types=dtype.char)
        b.leave(2, result)
        KERNELS[key] = b.run("numba")
    return KERNELS[key]


def assert_reduces(ufunc, x, axis=0):
    """Nothing is odd about NaN: the kernel must not leave."""
    run = reduction(ufunc, x.dtype.char, x.ndim, axis)
    with np.errstate(all="warn"):
        number, got = run(x)
    want = ufunc.reduce(x, axis=axis)
    assert number == 2 and got.tobytes() == want.tobytes() and got.shape == want.shape


def noise(code, shape):
    return np.random.RandomState(7).standard_normal(shape).astype(code)


def nans(code, count):
    """Each of its own bits, of either sign; for old NumPy all the same, where memory decides which one a sum is."""
    word = "q" if code == "d" else "i"
    if tuple(map(int, np.__version__.split(".")[:2])) < (2, 0):
        return np.full(count, np.nan, code)
    numbers = np.arange(count)
    return (int(np.array(np.nan, code).view(word)) + 3 * numbers).astype(word).view(code) * (-1) ** numbers


CASES = [(ufunc, code) for ufunc in (np.add, np.minimum, np.maximum) for code in "df"]


@pytest.mark.parametrize("ufunc, code", CASES)
def test_shapes(ufunc, code):
    for shape in SHAPES:
        assert_reduces(ufunc, noise(code, shape))
    for shape in ((3, 50, 7), (2, 4, 600), (40, 1, 5), (7, 9, 1)):
        for axis in range(2):
            assert_reduces(ufunc, noise(code, shape), axis)


@pytest.mark.parametrize("ufunc, code", CASES)
def test_nans(ufunc, code):
    """In one block of rows, in both of its parts, in more blocks than are done again, and behind them."""
    for shape in SHAPES + ((3000, 18),):
        for step in (1, 7, 997, 7777):
            x = noise(code, shape)
            places = np.arange(x.size)[step // 2::step]
            x.ravel()[places] = nans(code, len(places))
            assert_reduces(ufunc, x)


@pytest.mark.parametrize("ufunc, code", CASES)
def test_zeros(ufunc, code):
    """Extremes that are 0.0, with and without those of the other sign, among NaNs too."""
    for shape in SHAPES:
        x = np.maximum(noise(code, shape), 0) * (1 if ufunc is np.minimum else -1)
        assert_reduces(ufunc, x + 0)
        for chosen in (slice(1), slice(None, None, 5), slice(-1, None)):
            for number in (-0.0, 0.0):
                y = x + 0
                y[chosen, ::2] = number
                assert_reduces(ufunc, y)
                y[-1, -1] = nans(code, 2)[1]
                assert_reduces(ufunc, y)


@pytest.mark.parametrize("code", "df")
def test_flags_leave(code):
    run, x = reduction(np.add, code, 2, 0), noise(code, (40, 17))
    x[20:22, 9] = np.finfo(code).max
    assert run(x) == (1,)
    x[20:22, 9] = np.inf, -np.inf
    assert run(x) == (1,)
    x[20:22, 9] = np.inf
    assert_reduces(np.add, x)
    assert_reduces(np.minimum, x)


@pytest.mark.parametrize("code", "df")
@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 6, 7, 8])
def test_short_rows(code, count):
    """Fewer rows than a block, blocks and a rest, and NaNs in one of them."""
    for rows in (1, 5, 63, 64, 150):
        x = noise(code, (3, 4, rows, count))
        x[1] *= -0.0
        assert_reduces(np.add, x, (1, 3))
        x[2, 1::2, rows // 2] = nans(code, 2 * count).reshape(2, count)
        x[0, 3, -1] = np.inf
        assert_reduces(np.add, x, (1, 3))
