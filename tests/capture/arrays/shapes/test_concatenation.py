"""``np.concatenate``, ``hstack`` and ``vstack`` of arrays in C order: new arrays that kernels make without a call."""

import numpy as np
import pytest

from tests.capture.kernels.test_strides import agree, arrays
from tests.capture.scalars.test_scalars import define
from tests.harness import check, fail_unless_captured

X, Y = np.arange(12.0), np.linspace(-1.0, 1.0, 7)
GRID = X.reshape(4, 3)

VECTORS = ("np.concatenate((x, y)), np.hstack([y, x, y])",
           "np.concatenate([x[::2], y[::-1], x], 0) * 2.0, np.hstack((x,))",
           "np.concatenate((x, y), axis=-1)[1:], np.concatenate((x, y), axis=n)",
           "np.hstack((x + 1.0, y * x[0])), np.vstack((x, x))")


@pytest.mark.parametrize("expression", VECTORS)
def test_vectors(expression):
    f = define("def f(x, y, n):\n    return %s" % expression)
    calls = [(Y, X, 0), (X[:1], Y[:0], 0), (X[::3], Y[1:5], -1), (X, Y, 1), (np.arange(900.0), Y, 0),
             (X, np.arange(3), 0), (GRID, GRID, 0), (GRID, Y, 0)]
    with fail_unless_captured(1):
        check(f, X, Y, 0, others=calls, calls=1)


def grids(x, y):
    return (np.concatenate((x, y)), np.vstack((y, x)) + 1.0, np.concatenate((x, x, y), axis=0)[::2],
            np.vstack([x[:1], y, x[1:]]))


def columns(x, y):
    return (np.hstack((x, y)), np.concatenate([y, x], axis=1).T, np.concatenate((x, y, x), -1),
            np.hstack((x[1:], y[1:])))


@pytest.mark.parametrize("f", [grids, columns])
@fail_unless_captured(1)
def test_grids(f):
    """With lengths that fit and others, in other orders, of other dtypes, and read-only."""
    frozen = GRID.copy()
    frozen.flags.writeable = False
    others = [(GRID, GRID[:2]), (GRID, GRID[:, :1].copy()), (GRID[:0], GRID), (GRID.T, GRID.T), (GRID, frozen),
              (frozen, frozen), (np.asfortranarray(GRID), GRID), (GRID.astype("f"), GRID), (GRID, GRID.astype(int)),
              (GRID[:1], GRID[:1]), (GRID > 3, GRID < 3), (GRID[:, :1].copy(), GRID[:, 1:2].copy()), (GRID, X),
              (np.ones((200, 9)), np.ones((200, 9)))]
    check(f, GRID, GRID + 1.0, others=others, calls=1)


@fail_unless_captured(1)
def test_strides():
    agree(lambda x: (np.hstack((x, x)), np.vstack((x, x)), np.hstack((x, x))[::2]), [(x,) for x in arrays(2)])


@fail_unless_captured(1)
def test_cubes():
    def f(x, y):
        return (np.concatenate((x, y), axis=1), np.concatenate((x, y), axis=2), np.concatenate((x, y)),
                np.hstack((x, y)))

    cube = np.arange(24.0).reshape(2, 3, 4)
    others = [(cube[:, :, :0].copy(), cube[:, :, :0].copy()), (cube[:, :1].copy(), cube[:, :1].copy()),
              (cube, cube[:1]), (cube.astype("c16"), cube * 1j), (cube, cube[..., ::-1])]
    check(f, cube, -cube, others=others)


def transformed(re, im):
    while re.shape[0] > 1:
        half, done = re.shape[0] // 2, re.shape[1]
        c = np.cos(np.arange(done) / done)
        odd_re, odd_im = re[half:] * c - im[half:], im[half:] * c + re[half:]
        re = np.hstack((re[:half] + odd_re, re[:half] - odd_re))
        im = np.hstack((im[:half] + odd_im, im[:half] - odd_im))
    return re.ravel(), im.ravel()


def grown(x, steps):
    for k in range(steps):
        x = np.concatenate((x, x[:1] + k))
        if x[-1] > 100.0:
            return x[::-1]
    return x


@pytest.mark.filterwarnings("always::RuntimeWarning")
def test_loops():
    column = X[:8].reshape(-1, 1)
    with fail_unless_captured(1):
        others = [(column * 2e307, column), (column[:1], column[:1]), (column[:6], column[:6]),
                  (np.ones((256, 1)), np.ones((256, 1)))]
        check(transformed, column, column * 0.5, others=others)
    with fail_unless_captured(1):
        check(grown, X, 5, others=[(X, 0), (X + 97.0, 9), (X[:0], 2), (np.ones(1000), 3)])


STACKS = ("np.stack((x, y)), np.stack([x, y], axis=-1), np.stack([x[::-1], y * 2.0], 1)",
          "np.column_stack((x, y)), np.dstack([x, y, x]), np.vstack((x, y[::-1]))",
          "np.stack([x]), np.stack((x, y), axis=n), np.column_stack([x, y, y])[1:]")


@pytest.mark.parametrize("expression", STACKS)
def test_stacks_of_vectors(expression):
    f = define("def f(x, y, n):\n    return %s" % expression)
    calls = [(X, X[::-1], 1), (X[:1], X[1:2], -1), (X[::3], X[::3], -2), (X, Y, 0), (X[:0], X[:0], 0), (X, X, 2),
             (X.astype("f"), X, 0), (X, np.arange(12), 1), (GRID, GRID, 0)]
    with fail_unless_captured(1):
        check(f, X, X + 1.0, 0, others=calls, calls=1)


def windows(x):
    parts = [x[i:i + 2, j:j + 2] for i, j in ((0, 0), (0, 1), (1, 0), (2, 1))]
    return np.stack(parts, axis=2) * 1.0, np.concatenate((parts[0], parts[3])), np.dstack(parts)


@fail_unless_captured(1)
def test_slices_are_joined():
    """Slices of arrays in C order, and of others, whose result has another order."""
    turned = GRID[::-1]
    others = [(GRID + 1.0,), (turned,), (np.asfortranarray(GRID),), (np.repeat(GRID, 2, 1)[:, ::2],), (GRID[:, ::-1],),
              (np.broadcast_to(X[:3], (4, 3)),), (GRID.astype("f"),), (GRID[:3],), (GRID.T[:, :3],)]
    check(windows, GRID, others=others, calls=2)


@fail_unless_captured(1)
def test_stacks_of_grids():
    def f(x, y):
        return np.stack((x, y)), np.stack((x, y), 1), np.stack([x, y], -1), np.dstack((x, y)), np.column_stack((x, y))

    others = [(GRID, GRID[::-1]), (GRID[:, :1].copy(), GRID[:, 1:2]), (GRID, GRID[:3]), (GRID[:0], GRID[:0]),
              (GRID.T, GRID.T), (np.ones((200, 9)), np.ones((200, 9)))]
    check(f, GRID, GRID + 1.0, others=others, calls=2)


def turned(x):
    return np.concatenate((x[:, 1:], x[:, :1]), axis=1), np.concatenate((x[2:], x[:2]))


@pytest.mark.parametrize("shape", [(3, 1), (1, 3), (2, 1), (1, 1), (5, 1)])
@fail_unless_captured(1)
def test_empty_parts_have_an_order(shape):
    """NumPy looks at all strides of an empty array, also at those of a column whose part it is."""
    x = np.random.RandomState(0).standard_normal(40)
    strides = [(8, 24), (24, 8), (8, 8), (16, 8), (8, -8), (-8, 16), (0, 8), (8, 0)]
    check(turned, x[:15].reshape(5, 3), others=[(np.lib.stride_tricks.as_strided(x[20:], shape, one),) for one in strides])


def joined_cubes(x, y):
    return np.concatenate((x, y), axis=2), np.concatenate((x, y), axis=0)


@fail_unless_captured(1)
def test_axes_of_length_1_between_others_have_no_order():
    x = np.random.RandomState(0).standard_normal((4, 1, 3))
    odd = np.lib.stride_tricks.as_strided(x, x.shape, (24, 800, 8))
    turned_odd = np.lib.stride_tricks.as_strided(x, (3, 1, 3), (8, 16, 24))
    others = [(odd, odd), (turned_odd, turned_odd), (turned_odd, x[:3]), (x[:, :0], x[:, :0]), (odd[::2], odd[::2])]
    check(joined_cubes, x, x, others=others)
