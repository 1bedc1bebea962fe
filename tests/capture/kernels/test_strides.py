"""Strides of views and results where NumPy leaves them open: axes of length 1, and arrays without elements."""

import itertools

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

from tests.harness import fail_unless_captured, jitted, same

LENGTHS = {1: (0, 1, 2, 3), 2: (0, 1, 3), 3: (0, 1, 3)}


def arrays(ndim, order="C"):
    """Arrays in C or Fortran order of all shapes with these lengths, with any stride where it does not matter."""
    return [x for x in arrays_of_any_order(ndim) if x.flags.c_contiguous or order == "F" and x.flags.f_contiguous]


def arrays_of_any_order(ndim):
    for shape in itertools.product(LENGTHS[ndim], repeat=ndim):
        c = np.arange(float(np.prod(shape))).reshape(shape)
        yield c
        yield np.asfortranarray(c)
        yield c.T
        big = np.arange(float(np.prod(shape) * 2 ** ndim)).reshape([2 * size for size in shape])
        yield big[tuple(slice(None, None, 2) for _ in shape)]
        yield big[tuple(slice(None, size) for size in shape)]
        for order, axis, stride in itertools.product("CF", range(ndim), (0, 1000)):
            if shape[axis] < 2:
                strides = list(np.array(c, order=order).strides)
                strides[axis] = stride
                yield as_strided(np.array(c, order=order), shape, strides)


def facts(array):
    """Everything that can be seen of an array."""
    return (array.shape, array.strides, array.flags.c_contiguous, array.flags.f_contiguous, array.dtype,
            array.tobytes())


def agree(f, argument_lists):
    """A call and a hit for each; the results are arrays or tuples of them."""
    captured = jitted(f, {"cache_limit": 32})
    for args in argument_lists:
        wanted = [facts(array) for array in f(*args)]
        for _ in range(2):
            assert [facts(array) for array in captured(*args)] == wanted, [(a.shape, a.strides) for a in args]


def views(x):
    head = x[:1]
    row = x[None]
    flipped = x.T
    return x[::2], row, flipped, x[1:], head, x[..., None], row[:, ::2], flipped[::2], head[::2], x[::-1]


def results(x):
    y = x * 2.0
    return y, y[::2], y.T, (x[None] * 2.0)[::2], np.zeros_like(x)[::2], np.zeros_like(y), x[..., None] - 1.0


def rounds(x, n):
    y = x * 1.0
    for _ in range(n):
        y = y[1:] + 1.0
    return y, y[::2], y[None]


@pytest.mark.parametrize("ndim, order", [(1, "C"), (2, "F"), (3, "C")])
@fail_unless_captured(1)
def test_views(ndim, order):
    agree(views, [(x,) for x in arrays(ndim, order)])


@fail_unless_captured(1)
def test_results():
    agree(results, [(x,) for x in arrays(2)])


@fail_unless_captured(1)
def test_what_a_loop_carries():
    agree(rounds, [(x, n) for x in arrays(2) for n in (0, 1, 2)])


@fail_unless_captured(1)
def test_arrays_in_fortran_order_that_stretch_each_other():
    """The axes of the result are ordered by all strides: it need not be in Fortran order itself."""
    def f(x, y):
        z = x + y
        return z, z[::2], z.T, np.zeros_like(z)

    shapes = [((3, 1, 4), (3, 5, 1)), ((3, 1, 4), (3, 5, 4)), ((3, 5, 4), (3, 5, 4)), ((3, 5, 1), (3, 1, 4))]
    agree(f, [[np.asfortranarray(np.ones(shape)) for shape in pair] for pair in shapes])


@fail_unless_captured(1)
def test_sums_along_an_axis():
    agree(lambda x: (x.sum(axis=0), x.sum(axis=0)[::2]), [(x,) for x in arrays(3)])


def finite(y, dtype):
    y = y.astype(dtype, copy=False)
    return np.isfinite(y), np.isnan(y), -y


def test_inner_loops_go_in_the_direction_of_numpy():
    """NumPy goes backward only through outputs that are given; some of its loops do not write all elements then."""
    x = np.arange(144.0).reshape(12, 12) + 0.5
    with fail_unless_captured():
        j = jitted(finite)
        for base in (x * np.nan, x, x * np.inf, x):
            for y in (base[::-1, ::-1], base.T[::-1, ::-1], base[:, ::-1], base.T[::-1], base[::-2, ::-3]):
                for _ in range(2):
                    same(finite(y, float), j(y, float))
                    assert [one.strides for one in finite(y, float)] == [one.strides for one in j(y, float)]
