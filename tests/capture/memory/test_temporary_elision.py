"""Results that NumPy's operators compute into a large temporary, whose strides they then have."""

import gc

import numpy as np
import pytest

from tests.harness import check, fail_unless_captured, jitted

LIMIT = 256 * 1024


def facts(arrays):
    """Everything that can be seen of some arrays."""
    return [(x.shape, x.strides, x.dtype, str(x.flags), x.base is None, x.tobytes()) for x in arrays]


def agree(f, argument_lists, **config):
    """The first call and hits for all arguments in turn."""
    captured = jitted(f, dict(config, cache_limit=32))
    for args in argument_lists * 2:
        assert facts(captured(*args)) == facts(f(*args)), [getattr(x, "shape", x) for x in args]


def squares(dtype, difference=0):
    """Two square arrays of at least as many bytes as count, or less by a row and a column."""
    size = int(np.ceil((LIMIT / np.dtype(dtype).itemsize) ** 0.5)) - difference
    values = np.arange(2 * size * size).reshape(2, size, size) % 17 + 1
    return [values[0].astype(dtype), values[1].astype(dtype)]


def floats(x, y):
    c = x.dtype.type(2.5)
    return (x * (y.T + c), (y.T + c) * x, x - (y.T + c), (y.T + c) - x, (y.T + c) / x, x / (y.T - c) / y,
            (y.T + c) // x, (y.T + c) % x, (x + c) * (y.T + c), (y.T + c) * (x + c), x + (-abs(y.T + c)) ** 2,
            np.multiply(x, y.T + c), x + (y.T + c)[::-1], x[0] * (y.T + c), x[:1] + (y.T + c),
            np.cos(x * np.exp(y.T - 20 * c)))


def integers(x, y):
    c = x.dtype.type(3)
    return (x & (y.T | c), (y.T ^ c) << c, x << (y.T & c), (y.T & c) >> x, x + ~(y.T + c), (y.T + c) / x,
            x * 0.5 * (y.T + c), (y.T + c) * x, (y.T > c) & (x > c), x * (y.T > c), x + (y.T - c) ** 2)


def deep(x, y):
    z, w = x.transpose(2, 0, 1), x.transpose(1, 0, 2)
    planes = y * (w * 2.0 + w), (x - (w + 1.0)) * w, (w / 2.0 - 1.0) * x - y[0]
    return planes + (x * (z + 1.0), (z - 1.0) * y, (z * 2.0 + y) * x,
                     x[0] + (z + 1.0), x[:, :1] * (z + 1.0), (x + 1.0) * z)


@pytest.mark.parametrize("backend", ("numba", "python"))
@fail_unless_captured()
def test_operators(backend):
    agree(floats, [squares(np.float64, difference) for difference in (1, 0)], backend=backend)


@fail_unless_captured()
def test_operators_of_other_types():
    for f, dtype in ((floats, np.float32), (integers, np.int32), (integers, np.int64)):
        agree(f, [squares(dtype, difference) for difference in (1, 0)], backend="python")
    agree(integers, [squares(np.int32, difference) for difference in (1, 0)], backend="numba")


@pytest.mark.parametrize("backend", ("numba", "python"))
@fail_unless_captured()
def test_more_axes(backend):
    cubes = [[np.arange(2.0 * n ** 3).reshape(2, n, n, n)[k] for k in (0, 1)] for n in (31, 32)]
    agree(deep, cubes + [(x.T, y) for x, y in cubes], backend=backend)


def made(y):
    t = y.T + 1.0
    return t


def held(x, y):
    t = y.T + 1.0
    many = [y.T - 1.0, t]
    pair = (x + 1.0, y.T * 2.0)
    return (x * made(y), x * t, x * [y.T + 1.0][0], x * many[0], abs(t - 1.0) * x, (t + 1.0) * many[1],
            pair[0] * pair[1], x * (y.T + 1.0, x)[0], many[0], t)


def summed(x, y):
    return sum([y.T, x, x]), sum(v for v in (y.T, x, y)), sum([x + 1.0, y.T])


def looping(x, y, n):
    z = y.T * 0.5
    for i in range(n):
        z = x * (z.T + i) if i % 2 else (z - i) * x
    return z, x * (z.T + 1.0)


@pytest.mark.parametrize("backend", ("numba", "python"))
@fail_unless_captured()
def test_what_holds_them(backend):
    pairs = [squares(np.float64, difference) for difference in (1, 0)]
    agree(held, pairs, backend=backend)
    agree(summed, pairs, backend=backend)
    agree(looping, [(x, y, n) for x, y in pairs for n in (0, 3)], backend=backend)


def on_the_stack(x, y, many):
    left = (y.T + 1.0) * (x if gc.isenabled() else y) + (y.T if gc.isenabled() else x)
    both = (y.T + 1.0) - (x + 1.0 if gc.isenabled() else y)
    held = many[0] * (x if gc.isenabled() else y)
    view = (y + 1.0).T * (x if gc.isenabled() else y)
    found = x * many.pop(), x * many[0], np.roll(y, 1).T * x, x * np.roll(y.T, 1), x * np.roll(y.T, 1, 0)
    return (left, both, held, view) + found


@pytest.mark.parametrize("backend", ("numba", "python"))
@fail_unless_captured()
def test_arrays_that_kernels_find(backend):
    agree(lambda x, y: on_the_stack(x, y, [y.T, y.T + 1.0]),
          [squares(np.float64, difference) for difference in (1, 0)], backend=backend)
    f = jitted(on_the_stack, {"backend": backend})
    for difference in (0, 1, 0, 0, 0):
        x, y = squares(np.float64, difference)
        assert facts(f(x, y, [y.T, y.T + 1.0])) == facts(on_the_stack(x, y, [y.T, y.T + 1.0]))


def small(x, y):
    return (y | x) // x


def shifted(x, y):
    return (y.T | x) << x


@pytest.mark.parametrize("f", (small, shifted))
@fail_unless_captured()
def test_a_result_that_does_not_fit(f):
    """NumPy refuses to put integers into a temporary of bools."""
    large, less = np.ones((512, 512), bool), np.ones((511, 512), bool)[:, :511]
    for backend in ("numba", "python"):
        check(f, less, less, others=[(large, large), (less, less)], config={"backend": backend})
