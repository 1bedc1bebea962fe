"""Indexing and slicing of arrays: every basic form, out of range, stores, overlaps, casts, read-only targets."""

import numpy as np
import pytest

from tests.capture.arrays.indexing.test_gathers import NUMBA
from tests.capture.scalars.test_scalars import EVERY, define
from tests.harness import check, fail_unless_captured

CUBE = np.arange(60.0).reshape(3, 4, 5)
ARRAYS = [CUBE, CUBE[::-1, ::2, 1:], np.asfortranarray(CUBE), np.arange(24).reshape(2, 3, 4), CUBE[:, :0],
          CUBE.astype(np.float32), CUBE > 7.0]

LOOKS = ("0", "-1", "2", "3", "-4", "0, 0", "-1, -1", "0, 0, 0", "-1, -1, -1", "1, 2, 5", "0, 0, 0, 0", "1:", ":-1", ":",
         "::2", "::-1", "5:0:-2", "-1:-4:-1", "10:20", "2:1", "-100:100", "1:, 1", "1, 1:", ":, :, 0", "..., 0", "0, ...",
         "...", "None", "None, 0", "0, None, 1", "..., None", "None, ..., None", "(1,)", "()", "::0", "True", "False",
         "0, True", "[0, 1]", "1.0", "'a'", "..., ...", "1:, 1:, 1:", "::2, ::-1, 3:0:-1", "0:1, 0:1, 0:1",
         "slice(1, 2)", "slice(None)", "np.int64(1)", "np.newaxis, 1", "2**62", "-2**63", "2**63", "2**70",
         "1:2**62", "-2**62:", "::2**62", "::-2**63", ":2**70")


@pytest.mark.parametrize("look", LOOKS)
def test_reads(look):
    f = define("def f(x):\n    return x[%s]" % look)
    check(f, CUBE, calls=1, config=EVERY, others=[(a,) for a in ARRAYS])


@pytest.mark.parametrize("look", LOOKS)
def test_writes(look):
    f = define("def f(x, v):\n    x[%s] = v\n    return x" % look)
    check(f, CUBE, 1.5, calls=1, config=EVERY, others=[(a, v) for a in ARRAYS[:5] for v in (2, True)])
    g = define("def f(x, v):\n    x[%s] += v\n    return x" % look)
    check(g, CUBE, 1.5, calls=1, config=EVERY, others=[(a, v) for a in ARRAYS[:4] for v in (2, True)])


INDICES = (0, 1, -1, 3, -4, 7, 2 ** 62, -2 ** 63, True, False, np.int64(1), np.int32(-1), np.uint8(1), np.uint64(1),
           np.bool_(True), np.int8(-3), 1.0, None, 2 ** 63, np.float64(1), Ellipsis, slice(1, None), (0, 1), [0, 1],
           np.array([0, 2]), np.array(1), np.array([True, False, True]), "a")


@pytest.mark.parametrize("form", ("i", "i, i", "i:", ":i", "i, 1:", "..., i", "::i", "i::i"))
def test_indices(form):
    f = define("def f(x, i):\n    return x[%s]" % form)
    check(f, CUBE, 0, calls=2, config=EVERY, others=[(CUBE, i) for i in INDICES])
    g = define("def f(x, i):\n    x[%s] = 7\n    return x" % form)
    check(g, CUBE, 0, calls=2, config=EVERY, others=[(CUBE, i) for i in INDICES])


VALUES = (0, 1, -1, 255, 256, 300, -129, 2 ** 31, 2 ** 40, 2 ** 63 - 1, -2 ** 63, 2 ** 63, 2 ** 70, 1.5, -0.0, 1e30, 1e300,
          float("nan"), float("inf"), True, False, np.float32(1.5), np.float64(1e300), np.int8(-1), np.uint8(255),
          np.int64(2 ** 60 + 1), np.uint64(2 ** 63), np.bool_(True), 1j, "3", None, np.array(3), np.array([4.0]),
          np.float16(2), [1], 2 ** 53 + 1)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("code", ("?", "b", "B", "H", "i", "l", "L", "f", "d", "e", "D", "O"))
def test_stored_values(code):
    """Values are converted as NumPy does it, with its errors and warnings."""
    x = np.zeros((2, 3), code)
    for form in ("0, 1", "0", ":, 1:"):
        f = define("def f(x, v):\n    x[%s] = v\n    return x" % form)
        check(f, x, 0, calls=2, config=EVERY, others=[(x, v) for v in VALUES])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("code", ("?", "b", "B", "i", "l", "L", "f", "d"))
def test_stored_arrays(code):
    f = define("def f(x, v):\n    x[1:] = v\n    return x")
    x = np.zeros((3, 4), code)
    with np.errstate(all="ignore"):
        others = [(x, np.array([1.5, -1.0, 300.0, 7.0]).astype(dtype)) for dtype in "?bBhilLfdeDO"]
    shapes = [(x, np.ones(shape, code)) for shape in ((), (1,), (4,), (2, 4), (2, 1), (3, 4), (1, 2, 4), (3,), (1, 1, 1))]
    check(f, x, np.ones(4, code), calls=1, config=EVERY, others=others + shapes)


def test_read_only():
    x = np.arange(5.0)
    x.flags.writeable = False
    for line in ("x[1] = 2.0", "x[1:] = 2.0", "x[1:] = x[:-1]", "x[1:] += 1.0", "x[0] += 1.0", "x += 1.0"):
        f = define("def f(x):\n    y = x * 2.0 + 1.0\n    %s\n    return y" % line)
        check(f, np.arange(5.0), others=[(x,), (np.broadcast_to(x, (5, 5)),)])
        check(f, x, others=[(np.arange(5.0),)])


def moves(x):
    x[1:] = x[:-1]
    x[:-1] = x[1:]
    x[::-1] = x
    x[2:] = x[:-2] + x[1:-1]
    x[:] = x[::-1]
    return x


def test_overlapping_stores():
    with fail_unless_captured():
        check(moves, np.arange(9.0), others=[(np.arange(40.0)[::4],), (np.arange(9.0)[::-1],), (np.arange(9),)])
    check(moves, np.arange(9.0), config=EVERY)


VIEWS = ("np.ravel(y)", "np.split(y, 2)[0]", "np.squeeze(y)", "np.flip(y)", "np.broadcast_to(y, (1, 12))[0]",
         "np.swapaxes(y.reshape(3, 4), 0, 1)[:, 0]", "[y][len(x) - 12]")


@pytest.mark.parametrize("view", VIEWS)
def test_calls_give_views_of_what_the_kernel_has_made(view):
    """Stores through one are seen through the other."""
    f = define("def f(x):\n    y = x * 2.0\n    v = %s\n    y[1:5] = v[:4] + 1.0\n    y[:4] += v[:4]\n"
               "    return y, v" % view)
    with fail_unless_captured():
        check(f, np.arange(12.0), config=NUMBA, calls=1)


def fills_both(x):
    y = np.zeros(len(x))
    v = np.ravel(y)
    for i in range(1, len(x)):
        v[i - 1] = x[i]
        y[i] = y[i - 1] + 1.0
        v[i] = x[i] * 2.0
    return y


def test_loops_that_store_into_such_a_view():
    with fail_unless_captured():
        check(fills_both, np.arange(12.0), config=NUMBA, calls=1)


def loops(x, n):
    for i in range(n):
        for k in range(1, x.shape[1] - 1):
            x[i, k] = x[i - 1, k] + x[i, k + 1] * 0.5
        x[i, 0] += x[i, -1]
        x[i] *= 2.0
        x[i, 1:3] = x[0, :2]
    return x


def test_loops_that_leave_the_array():
    x = np.arange(20.0).reshape(4, 5)
    with fail_unless_captured():
        check(loops, x, 4, others=[(x, 5), (x.T, 5), (x, 0), (x[:, ::2], 3), (x.astype(np.float32), 4), (x[:, :1], 2)])


def caught(x, i):
    total = 0.0
    try:
        for k in range(i):
            total += x[k]
    except IndexError as error:
        return total, str(error)
    return total


def test_index_error_in_a_loop():
    with fail_unless_captured():
        check(caught, np.arange(5.0), 4, others=[(np.arange(5.0), 6), (np.arange(0.0), 1)])


def tuples(t, k):
    a, b = t
    c = (a, b, a + b)
    d, (e, f) = c[0], c[1:] if k else (b, a)
    return c[-1], c[k], d * e + f, len(c)


def test_tuples():
    check(tuples, (1.0, 2.0), 1, others=[((np.arange(3.0), 2.0), 0), ((1.0, 2.0), 3), ((1, 2.5), -4)])
    check(tuples, (1.0, 2.0), 1, config=EVERY)


def computed_bounds(x, i, j):
    y = x[i + 1:j - 1] * 2.0
    z = x[i:j:2] + 1.0
    y[i - i:] += 1.0
    return y, z, x[-i:], x[:len(x) // 2]


def test_computed_bounds():
    x = np.arange(12.0)
    with fail_unless_captured():
        check(computed_bounds, x, 1, 9, others=[(x, 0, 100), (x, 9, 1), (x, -3, -1), (x[:0], 1, 2), (x[::-2], 0, 5),
                                                (x, np.int64(2), np.int32(7)), (x, True, 5)])


def test_other_owners():
    f = define("def f(x, i):\n    y = x[i]\n    return y")
    check(f, [1, 2], 0, config=EVERY, others=[("ab", 1), ({1: 2}, 1), ((3, 4), -1), (b"xy", 0), (range(9), 3), ([1], 5)])


def walks(x, starts, ends):
    """Indices are counted from either end, are read again, and run out at last."""
    seen = []
    total = 0.0
    for k in range(len(starts)):
        for i in range(starts[k], ends[k]):
            total += x[i, i + 1] * x[i - 1, i]
            x[i, i - 1] = total - i
        seen.append(i)
    return total, seen


@pytest.mark.parametrize("backend", ("python", "numba"))
def test_indices_that_change_sides(backend):
    x = np.random.RandomState(3).standard_normal((5, 6))
    starts, ends = np.array([0, -5, -4]), np.array([5, 0, 5])
    others = [(x.copy(), np.array([start]), np.array([end])) for start, end in
              ((-6, 2), (3, 6), (-7, -5), (-4, -1), (2 ** 62, 2 ** 62 + 1), (-2 ** 63 + 1, -2 ** 63 + 2))]
    with fail_unless_captured():
        check(walks, x, starts, ends, others=others, config={"backend": backend, "force_breaks": None})


def scaled_by_rows(a, r):
    r = np.asarray(r)
    if a.ndim > 1:
        cut = r[..., np.newaxis] * a.max(axis=-1, keepdims=True)
    else:
        cut = r[np.newaxis] * a
    return np.where(a > cut, a / cut, 0.0)


@pytest.mark.parametrize("backend", ("python", "numba"))
def test_new_axes_of_arrays_without_any(backend):
    x = np.random.RandomState(4).uniform(0.5, 1.0, (3, 4))
    with fail_unless_captured():
        check(scaled_by_rows, x, 0.5, others=[(x[0], 0.5), (x[:0], 0.5), (x, np.array(0.25)), (x[1], np.float32(0.5))],
              config={"backend": backend, "force_breaks": None})
