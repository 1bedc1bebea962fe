"""Elements found by vectors of integers, in loops of the kernel's own with the arithmetic around them."""

import numpy as np
import pytest

from tests.capture.scalars.test_scalars import define
from tests.harness import check, fail_unless_captured

NUMBA = {"backend": "numba", "force_breaks": None, "perf_statistics": False, "cache_limit": 64}
INDEX = np.array([3, 0, -1, 2, 2, -6, 5])


def table(code, size=6):
    made = np.arange(1.0, size + 1) ** 2
    return (made + 1j * made[::-1] if code in "FD" else made).astype(code)


def steps(x):
    """The same elements with steps between them."""
    wide = np.zeros((len(x), 3), x.dtype)
    wide[:, 1] = x
    return wide[:, 1]


ALONE = ("x[i]", "np.take(x, i)", "x.take(i)", "x[i] * 2 + 1", "x[i + i // 2]", "x[x[i].astype(np.int64) % 3]",
         "x[i][1:], (x + 1)[i]", "np.where(x[i] > 4, x[i], 0)", "x[i].sum(), np.sum(x[i] * x[i])", "x[i] + x[-i]",
         "np.outer(x, x)[i] * x[i][:, None], x[i] * np.outer(x[i], x[i])", "np.exp(x[i] / 40), x[i] > 4")


@pytest.mark.parametrize("call", ALONE)
@pytest.mark.filterwarnings("ignore")
def test_vectors(call):
    """Dtypes, steps, empty ones, and indices out of range, of which NumPy raises."""
    f = define("def f(x, i):\n    return " + call)
    x = table("d")
    calls = [(x, INDEX), (x, INDEX[:0]), (x[:0], INDEX), (x[:0], INDEX[:0]), (x, INDEX * 2), (x, np.array([0, -7])),
             (steps(x), INDEX), (x, steps(INDEX)), (x[::-1], INDEX[::-1]), (x, INDEX[:1]), (x[:1], INDEX[1:3])]
    if call in ("x[i]", "x[i] * 2 + 1"):
        calls += [(table(code), INDEX) for code in "fliFDbB?"]
        calls += [(x, INDEX.astype(code)) for code in "bhq"] + [(x, np.abs(INDEX % 6).astype(code)) for code in "BHIQ"]
    calls += [(x, np.array([2 ** 64 - 1, 2 ** 63], np.uint64)), (np.zeros((6, 2)), INDEX), (x, INDEX.reshape(7, 1))]
    with fail_unless_captured():
        check(f, *calls[0], others=calls[1:], config=NUMBA, calls=1)


MATRICES = ("x[i, j]", "x[i, 1] + x[-1, j]", "x[i, j] * x[j, i] - 1.0", "x[0, i][j]", "x.T[j, i], x[::2, 1:][i, j]",
            "np.add.reduce(x[i, j])", "x[i, 7], i", "x[i, j, 0]")


@pytest.mark.parametrize("call", MATRICES)
@pytest.mark.filterwarnings("ignore")
def test_matrices(call):
    f = define("def f(x, i, j):\n    return " + call)
    x, i, j = np.arange(16.0).reshape(4, 4), np.array([0, 3, -1, 1]), np.array([1, -4, 3, 0])
    calls = [(x, i, j), (x, i, j[:1]), (x, i[:1], j), (x, i[:0], j[:0]), (x, i[:0], j[:1] + 9), (x, i, j[:3]),
             (x, i + 1, j), (np.asfortranarray(x), i.astype("i1"), j), (x[:0], i, j), (x[:0], i[:0], j[:0]),
             (x[:, ::2], i, j), (x, j, i + 9)]
    with fail_unless_captured(0):
        check(f, *calls[0], others=calls[1:], config=NUMBA, calls=1)


def rows(x, i):
    y = x[i] * 2.0
    return y, np.sum(x[i], axis=0), x[i].T, y[i[::2]]


@pytest.mark.parametrize("backend", ("numba", "python"))
@pytest.mark.filterwarnings("ignore")
def test_rows(backend):
    x, i = np.arange(24.0).reshape(4, 6), np.array([3, 0, -1, 2])
    calls = [(x, i), (x, i[::-1]), (x, i.astype("u1") % 4), (x, i + 1), (x, i[:0]), (x[:0], i), (x[:, :0], i),
             (x[:, :0], i + 9), (x.T, i), (x[:, ::2], i), (x.reshape(4, 3, 2), i), (x[:1], i[:1] * 0), (x.astype("f"), i), (x > 4, i)]
    with fail_unless_captured():
        check(rows, *calls[0], others=calls[1:], config=dict(NUMBA, backend=backend), calls=1)


def in_place(x, i, w, out):
    out[...] = x[i] * w
    x[:] = x[i] + 1.0
    w *= x[i]
    np.multiply(x[i], w, out=x)
    out[1:] = out[i[1:]]
    total = 0.0
    for k in range(3):
        total += x[i[k:]].sum()
        x[k] = total
    return x, w, out, total


@pytest.mark.parametrize("backend", ("numba", "python"))
@pytest.mark.filterwarnings("always::RuntimeWarning")
def test_writing_to_what_is_read(backend):
    """All is read before anything is written, and nothing is written where an index is out of range."""
    x, w, out = table("d") / 7, np.linspace(0.5, 1.5, 6), np.zeros(6)
    i, bad = np.array([5, 0, 3, -1, 2, 2]), np.array([5, 0, 3, -1, 2, 6])
    both = np.arange(12.0)
    others = [(x, bad, w, out), (x * 1e308, i, w, out), (x, i[:5], w, out), (x.astype("f"), i, w, out)]
    aliased = [(x, i, x, out), (x, i, w, x), (x, i, x, x), (both[:6], i, both[3:9], both[6:]),
               (i.astype("d"), i, w, out)]
    with fail_unless_captured():
        check(in_place, x, i, w, out, others=others, aliased=aliased, config=dict(NUMBA, backend=backend))


def where_computed(x, i):
    y = x * 3.0
    z = y[i] + y
    low = (i * 2) % len(x)
    return z, y[low] - y[low - 1], x[y[i] > 4]


def test_tables_that_are_made_before():
    x = table("d")
    i = np.array([5, 0, 3, -1, 2, 2])
    with fail_unless_captured():
        check(where_computed, x, i, others=[(x, i + 1), (x[:3], i % 3), (x[::-1], i[::-1])], config=NUMBA)
