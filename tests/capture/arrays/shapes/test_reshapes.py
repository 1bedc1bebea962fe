"""``x.reshape(...)`` of arrays in C order: views that kernels make without a call."""

import numpy as np
import pytest

import pijit
from tests.capture.kernels.test_strides import agree, arrays
from tests.capture.scalars.test_scalars import define
from tests.harness import check, fail_unless_captured

X = np.arange(24.0)


def flat(x):
    rows = np.reshape(x, (x.size, 1))
    return x.reshape(-1), x.reshape(x.size), x.reshape(-1, 1), x.reshape((1, x.size)), rows[:, 0]


def of_two(x):
    return (x.reshape(-1), x.reshape(x.shape), x.reshape(x.shape[1], x.shape[0]), x.reshape(1, -1, 1)[:, ::2],
            x.reshape([x.shape[0], 1, x.shape[1]]), x.reshape(-1)[::2].reshape(-1))


@pytest.mark.parametrize("f, ndim", [(flat, 1), (flat, 3), (of_two, 2)])
@fail_unless_captured(1)
def test_strides(f, ndim):
    agree(f, [(x,) for x in arrays(ndim)])


def shaped(x, a, b):
    y = x.reshape(a, b)
    return y, y.shape, y.strides, y.base is x or y.base is x.base, y.flags.writeable


SIZES = [(4, 6), (24, 1), (1, 24), (5, 5), (-4, -6), (-1, 6), (4, -1), (-1, -1), (0, 6), (0, 0), (7, -1),
         (2 ** 32, 2 ** 32), (2 ** 62, 4), (True, 24), (np.int32(8), 3)]


@fail_unless_captured(1)
def test_sizes_that_fit_and_others():
    others = [(X, a, b) for a, b in SIZES] + [(X[:0], a, b) for a, b in SIZES] + [(X[1:23], 2, 11), (X[::2], 3, 4)]
    check(shaped, X, 3, 8, others=others, calls=1)


@pytest.mark.parametrize("shape", ["-1, 0", "0, -1", "-1, 5", "-1, 4, -1", "2, -2, -6", "-1, n", "n, -1, 2", "(n, 4)",
                                   "()", "n"])
def test_sizes_that_are_constants(shape):
    f = define("def f(x, n):\n    return x.reshape(%s), np.reshape(x, (%s)) * 2.0" % (shape, shape))
    others = [(X, 0), (X, -1), (X, 24), (X[:0], 6), (X[:0], 0), (X.reshape(4, 6)[:, ::-1], 6), (X[:1], 1)]
    check(f, X, 6, others=others, calls=2)


@fail_unless_captured(1)
def test_layouts():
    """Only of arrays in C order are all reshapes views."""
    def f(x, n):
        y = x.reshape(n, -1)
        y[0] += 1.0
        return y, x, y.sum(), y.T.reshape(-1)

    cube = X.reshape(2, 3, 4)
    frozen = X.copy()
    frozen.flags.writeable = False
    arrays = (X, cube, np.asfortranarray(cube), cube.T, cube[:, ::2], cube[::-1], cube[0], cube[:, :0], frozen)
    calls = [(x, 2) for x in arrays]
    check(f, cube, 4, others=calls + [(X.astype("c16"), 3), (np.arange(6), 2)], calls=1)


@fail_unless_captured(1)
def test_memory_is_shared():
    def f(x, out):
        y = x.reshape(-1, 2)
        z = (x + 1.0).reshape(2, -1)
        y[:, 0] = z[1, ::2][:y.shape[0]].sum()
        w = z.reshape(-1)
        z *= 2.0
        out[:] = w + x
        return y[1:], z[:, 1:], np.shares_memory(x, y), y.base is x

    x = X.copy()
    check(f, x, np.zeros(24), others=[(np.zeros(8), np.zeros(8)), (np.ones(100000), np.zeros(100000))],
          aliased=[(x, x), (x[:12], x[12:])])


def transformed(x):
    x = x.copy()
    h = 1
    while h < len(x):
        y = x.reshape(-1, 2, h)
        a = y[:, 0, :] + y[:, 1, :]
        b = y[:, 0, :] - y[:, 1, :]
        y[:, 0, :] = a
        y[:, 1, :] = b
        h *= 2
    return x


def stepped(x, steps):
    """Views that loops carry, and that outlive what they look into."""
    y = x.reshape(2, -1)
    for k in range(steps):
        y = (y + 1.0).reshape(-1, 2).T.copy().reshape(y.shape)
        if y[0, 0] > 1e3:
            return y.reshape(-1)
    return y[::-1], y.base is None


@pytest.mark.filterwarnings("always::RuntimeWarning")
def test_loops():
    with fail_unless_captured(1):
        others = [(np.ones(1),), (np.ones(1024) * 1e308,), (np.ones(6),), (np.zeros(0),)]
        check(transformed, np.sin(np.arange(64.0)), others=others)
    with fail_unless_captured(1):
        check(stepped, X, 3, others=[(X, 0), (X + 995.0, 9), (X[:7], 2), (np.ones(2), 4)])


class Shape:
    def __init__(self, *sizes):
        self.a, self.b, self.c = sizes


def by_attributes(x, shape):
    return x.reshape(shape.a, shape.b, shape.c) * 2.0, x.reshape((shape.c, shape.a * shape.b)).shape


def test_sizes_that_are_known_at_run_time_alone():
    """One may be -1, and the kernel goes on; shapes that do not fit raise as NumPy does."""
    x = np.arange(24.0)
    sizes = [(2, -1, 4), (2, 3, 4), (-1, 3, 4), (2, 3, -1), (-1, -1, 4), (5, -1, 1), (0, -1, 2), (-1, 0, 0), (-2, 3, 4),
             (2 ** 40, 2 ** 40, -1), (24, 1, 1)]
    others = [(y, Shape(*one)) for y in (x, x.reshape(2, 3, 4), x[:0]) for one in sizes]
    with fail_unless_captured():
        j = check(by_attributes, x, Shape(2, 3, 4), others=others)
    before = list(map(str, pijit.explain(j, x, Shape(2, 3, 4)).exits))
    for one in ((-1, 3, 4), (2, -1, 4)) * 5:
        j(x, Shape(*one))
    assert list(map(str, pijit.explain(j, x, Shape(2, 3, 4)).exits)) == before
