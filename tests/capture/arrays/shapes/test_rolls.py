"""``np.roll`` of arrays in C order: two parts, the other way round."""

import numpy as np
import pytest

import pijit
from tests.harness import check, fail_unless_captured, jitted

LINE, PLANE = np.linspace(-1.0, 1.0, 11), np.arange(24.0).reshape(4, 6)


def rolled(x, shift):
    return np.roll(x, shift) * 2.0


def along(x, shift, axis):
    return np.roll(x, shift, axis=axis) - x


def periodic(u, c):
    return u + c * (np.roll(u, 1) - 2.0 * u + np.roll(u, -1))


def laplace(u):
    return np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, axis=-1) - 4.0 * u


def corner(u):
    return np.roll(u, (1, -2), axis=(0, 1)), np.roll(u, 1, (0, 1)), np.roll(u, shift=(1, 3), axis=(1, -1))


def steps(u, count):
    for _ in range(count):
        u = u - 0.1 * (u - np.roll(u, 1))
    return u


def in_place(u):
    u[:] = np.roll(u, 3)
    v = np.roll(u, 1)
    v[0] = 7.0
    return u, v


@pytest.mark.parametrize("x", [LINE, LINE[::2], LINE[::-1], LINE.astype("f"), np.arange(7), LINE > 0, LINE + 1j, LINE[:1], LINE[:0]],
                         ids=lambda x: "%s%s%s" % (x.dtype.char, x.shape, x.strides))
@fail_unless_captured()
def test_vectors(x):
    for shift in (0, 1, -1, 3, 11, -12, 10 ** 12, -2 ** 62):
        check(rolled, x, shift, others=[(x, 2), (LINE, shift)])
    check(periodic, x, 0.1)
    check(steps, x, 5, others=[(LINE, 3)])
    check(in_place, x.copy(), others=[(LINE.copy(),)])


@pytest.mark.parametrize("x", [PLANE, PLANE.astype("f"), PLANE[:1], PLANE[:, :1].copy(), PLANE[:0], PLANE[:, :0]],
                         ids=lambda x: "%s%s" % (x.dtype.char, x.shape))
@fail_unless_captured()
def test_planes(x):
    for axis in (0, 1, -1, -2):
        check(along, x, 2, axis, others=[(x, -1, axis)])
    check(laplace, x)
    check(corner, x)
    check(corner, np.zeros((3, 4, 5)) + x[:1, :1].sum())


def test_these_run_in_kernels_of_their_own():
    """None of them calls np.roll."""
    for f, args in ((periodic, (LINE, 0.1)), (laplace, (PLANE,)), (corner, (PLANE,)), (steps, (LINE, 4)), (rolled, (LINE, 1))):
        j = jitted(f, {"force_breaks": None, "backend": "numba"})
        for _ in range(3):
            j(*args)
        report = pijit.explain(j, *args)
        assert report.kernels and not report.breaks, str(report)
        sources = "".join(kernel.source for kernel in j.state.entries[0].record.kernels)
        assert "invoke" not in sources and "object_0" not in sources


@pytest.mark.parametrize("args", [(PLANE, 1, None), (LINE, 1, None), (PLANE.T, 1, 0), (PLANE[:, ::2], 1, 1), (PLANE, 1.0, 0), (PLANE, True, 0),
                                  (PLANE, np.int64(1), 0), (PLANE, (1, 2), 0), (PLANE, 1, 2), (PLANE, (1, 2, 3), (0, 1)),
                                  (PLANE, "a", 0), (PLANE, [1, 1], (0, 1)), (PLANE, 1, True)])
def test_other_forms_are_numpys(args):
    check(along, *args, others=[(PLANE, 1, 0)])
    check(along, PLANE, 1, 0, others=[args])


def test_large_temporaries_are_numpys():
    """From 256 KiB on operators compute into temporaries; the result of a roll is one."""
    x = np.random.RandomState(0).standard_normal((300, 300))
    check(laplace, x, others=[(x[::-1],), (x.T,)])
    check(rolled, x.ravel(), 7)


def named(u, c):
    left = np.roll(u, 1)
    right = np.roll(u, -1)
    return c * (left + right - 2.0 * u)


def named_twice(u):
    left = np.roll(u, 1)
    first = left * 2.0
    u[0] = 5.0
    return first + left, left - u


def life(cells):
    around = sum(np.roll(np.roll(cells, i, 0), j, 1) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j)
    return (around == 3) | ((around == 2) & (cells == 1))


def flux(u, v, dt):
    f = 0.5 * u * u
    u = u - dt * (f - np.roll(f, 1))
    v += np.roll(u, 2) - v
    return u, v


def broadcasts(u, v):
    return np.roll(u, 1) + v, np.roll(v, 1, axis=0) * np.roll(v, 2, axis=1) + u, np.roll(v[:, :1].copy(), 1, axis=1) - v


def chosen(u):
    return np.where(np.roll(u, 1) > u, np.roll(u, -1) * 2.0, u), np.minimum(np.roll(u, 1), u), np.roll(u, 1) > u


def reduced(u):
    return (np.roll(u, 1) * u).sum(), np.roll(u, 1).max(), (np.roll(u, -1) - u)[1:] / 3.0


def divided(u, d):
    return (np.roll(u, 1) - u) / d, np.roll(u, 1) / np.roll(u, 2)


def streams(f):
    for k in range(len(f)):
        f[k] = np.roll(f[k], k - 1) * 0.5
    return f


@pytest.mark.parametrize("n", [1, 2, 3, 11, 700])
@fail_unless_captured()
def test_parts_of_nests(n):
    u, v = np.linspace(-1.0, 1.0, n), np.arange(4.0 * n).reshape(4, n) / 7.0
    check(named, u, 0.5, others=[(u.astype("f"), 2.0), (u[::-1], 0.5)])
    check(named_twice, u)
    check(flux, u, v[0].copy(), 0.1, aliased=[(u, u, 0.1)])
    check(broadcasts, u, v, others=[(u, v[:1].copy()), (u[:1], v)])
    check(chosen, u, others=[(u * np.nan,), (u * 0.0,)])
    check(reduced, u)
    check(divided, u, 3.0, others=[(u, 0.0), (u * 1e200, 1e-200)])
    check(streams, v)
    check(life, (v % 3).astype(int) % 2)


def test_parts_are_no_arrays():
    """Neither a roll nor a view of one is made where a nest reads the elements."""
    for f, args in ((periodic, (LINE, 0.1)), (laplace, (PLANE,)), (named, (LINE, 0.1)), (flux, (LINE, LINE.copy(), 0.1))):
        j = jitted(f, {"force_breaks": None, "backend": "numba"})
        j(*args)
        sources = "".join(kernel.source for kernel in j.state.entries[0].record.kernels)
        assert "rolled=((" in sources and "copy_apart" not in sources


@pytest.mark.parametrize("state", ["warn", "raise"])
@fail_unless_captured()
def test_flags_of_rolled_arrays(state):
    x = LINE.copy()
    x[3] = 1e308
    large = np.full((4, 6), 1e308)
    with np.errstate(all=state):
        check(periodic, LINE, 0.1, others=[(x, 100.0)])
        check(laplace, PLANE, others=[(large,)])
