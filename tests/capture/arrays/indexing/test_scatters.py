"""Stores at vectors of integers and under masks, what masks pick, and np.add.at, by loops of the runtime."""

import numpy as np
import pytest

import pijit
from tests.capture.arrays.indexing.test_gathers import INDEX, NUMBA, steps, table
from tests.capture.scalars.test_scalars import define
from tests.harness import check, fail_unless_captured

STORES = ("x[i] = v", "x[i] = 2", "x[i] += v", "x[i] *= 0.5", "np.add.at(x, i, v)", "np.add.at(x, i, x[0])",
          "np.put(x, i, 1)", "x[i] = x[i] + v; x[i[1:]] = v[:-1]")


def around(store):
    """A statement between operations that see what it has written."""
    return define("def f(x, i, v):\n    y = x * 2\n    %s\n    return x, y - x, x[i]" % store)


@pytest.mark.parametrize("store", STORES)
@pytest.mark.filterwarnings("always::RuntimeWarning")
def test_vectors(store):
    """Duplicates, steps, empty ones, lengths that do not fit, indices out of range, and arrays that share memory."""
    x, v, both = table("d"), np.linspace(-1.0, 3.0, 7), np.arange(14.0)
    calls = [(x, INDEX, v), (steps(x), INDEX, steps(v)), (x[::-1], INDEX[::-1], v[::-1]), (x, steps(INDEX), v),
             (x, INDEX[:3], v), (x, INDEX, v[:1]), (x, INDEX[:0], v[:0]), (x[:0], INDEX[:0], v[:0]), (x[:0], INDEX, v),
             (x, INDEX * 2, v), (x, np.array([0, 6]), v[:2]), (x, INDEX.astype("i1"), v), (x, INDEX % 6, v * 1e308),
             (x * 1e306, INDEX, v * 1e308), (x, abs(INDEX % 6).astype("Q"), v * np.inf), (x, INDEX, v - np.inf)]
    if store in ("x[i] = v", "np.add.at(x, i, v)"):
        calls += [(table(code), INDEX, v.astype(code)) for code in "fliFDbB?"] + [(x, INDEX, v.astype("f"))]
    readonly = x.copy()
    readonly.flags.writeable = False
    calls.append((readonly, INDEX, v))
    index = np.array([2, 1, 0, 2, 4, 3, 5])
    aliased = [(both[:7], INDEX, both[:7]), (both[:7], INDEX, both[3:10]), (index, index, index[::-1]),
               (both[::2], INDEX, both[1::2])]
    with fail_unless_captured():
        check(around(store), *calls[0], others=calls[1:], aliased=aliased, config=NUMBA, calls=1)


COLUMNS = ("x[i, 1] = v", "x[-1, i] += v", "x[1, i] = x[i, 0]", "x[i, 9] = v")


@pytest.mark.parametrize("store", COLUMNS)
def test_columns(store):
    x, i, v = np.arange(16.0).reshape(4, 4), np.array([2, 0, -1]), np.ones(3)
    f = define("def f(x, i, v):\n    y = x * 2\n    %s\n    return x, y - x" % store)
    calls = [(x, i, v), (np.asfortranarray(x), i, v), (x[:, ::2], i - 1, v), (x, i + 2, v), (x, i[:0], v[:0]),
             (x[:0], i[:0], v[:1])]
    with fail_unless_captured(0):
        check(f, *calls[0], others=calls[1:], aliased=[(x, i, x[1, 1:])], config=NUMBA, calls=1)


MASKED = ("r = x[m]", "x[m] = 2", "x[m] = v", "x[m] += 1", "x[m] = x[m] * x[m]", "r = x[x > 3].sum(), x[m].size",
          "x[~m] = x[m][0]", "r = (x * 2)[m] + 1, x[m][::-1]")


@pytest.mark.parametrize("store", MASKED)
@pytest.mark.filterwarnings("ignore")
def test_masks(store):
    """All, none, some; shapes that do not fit, layouts, dtypes, and arrays that share memory."""
    f = define("def f(x, m, v):\n    y = x * 2\n    r = 0\n    %s\n    return r, x, y - x" % store)
    x, v = np.arange(700.0), np.arange(350.0)
    m = x % 2 == 0
    square = x[:12].reshape(3, 4)
    calls = [(x, m, v), (x, ~m, v[:1]), (x, m, v[:4]), (x, x < 0, v[:0]), (x, x >= 0, x + 1), (x[:0], m[:0], v[:0]),
             (x[:10], m, v), (x[::2], m[::2], x[350:]), (square, square > 4, v[:7]), (square.T, square > 4, v[:7]),
             (square, square[:, 0] > 2, v), (square, square[:1] > 2, v[:1]), (x, m, v[::-1]), (x, m.astype("i1"), v)]
    if store in ("r = x[m]", "x[m] = v"):
        calls += [(x[:9].astype(code), m[:9], v[:5].astype(code)) for code in "flihbBFD?"]
    flags = np.array([True, False, True, True])
    aliased = [(x, m, x[:350]), (x, m, x[350:]), (flags, flags, flags[:3]), (flags, flags, flags[1:])]
    with fail_unless_captured():
        check(f, *calls[0], others=calls[1:], aliased=aliased, config=NUMBA, calls=1)


DENSITIES = [0.0, 0.01, 0.3, 0.9, 0.97, 1.0]


@pytest.mark.parametrize("store", ["r = x[m]", "x[m] = v[:m.sum()]", "x[m] = 2"])
def test_masks_of_any_density(store):
    """Blocks of a mask that are empty, full, or have few gaps go ways of their own; so do lengths between blocks."""
    f = define("def f(x, m, v):\n    y = x * 2\n    r = 0\n    %s\n    return r, x, y - x" % store)
    choose = np.random.RandomState(3)
    calls = [(np.arange(float(size)), choose.random_sample(size) < density, np.arange(2.0 * size)[size:][::step])
             for density in DENSITIES for size, step in ((63, 1), (64, 1), (65, -1), (300, 1), (517, -1))]
    calls += [(x.astype(code), m, v.astype(code)) for x, m, v in calls[3::5] for code in "hD"]
    with fail_unless_captured():
        check(f, *calls[0], others=calls[1:], config=NUMBA, calls=1)


def histogram(values, weights, edges, rounds):
    counts = np.zeros(edges, weights.dtype)
    for k in range(rounds):
        np.add.at(counts, values[k:], weights[k:])
        low = counts < 1.0
        counts[low] = counts[low] + 0.5
        counts[values[:k]] -= 0.25
        if counts[k] > 1e300:
            counts[~low] = np.sqrt(counts[~low])
    return counts / counts.sum(), low


@pytest.mark.parametrize("config", ({"backend": "numba"}, {"backend": "numba", "nogil": True}, {"backend": "python"}))
@pytest.mark.filterwarnings("always::RuntimeWarning")
def test_in_loops(config):
    values, weights = np.array([3, 1, 4, 1, 5, 2, 6, 5]), np.linspace(0.1, 1.0, 8)
    others = [(values, weights, 6, 4), (values, weights * 1.7e308, 7, 3), (values.astype("h"), weights.astype("f"), 7, 3),
              (values, weights[:5], 7, 3)]
    with fail_unless_captured():
        j = check(histogram, values, weights, 7, 4, others=others, config=config)
    assert not pijit.explain(j, values, weights, 7, 4).breaks


def test_short_rows():
    """Stores of few elements at a time: duplicates, indices from the end, none, and one that is out of range."""
    f = define("""def f(x, columns, starts, v):
    for i in range(len(starts) - 1):
        x[columns[starts[i]:starts[i + 1]]] += v[i]
        x[columns[starts[i]:starts[i + 1]]] = v[starts[i]:starts[i + 1]]
    return x""")
    source = np.random.RandomState(5)
    starts = np.concatenate([[0], np.cumsum(source.permutation(np.arange(45)))])
    columns, v = source.randint(-60, 60, starts[-1]), source.standard_normal(starts[-1]) * 100
    v[::9] = np.nan
    late, low = columns.copy(), columns.copy()
    late[500], low[700] = 60, -61
    x, whole = np.arange(60.0), np.nan_to_num(v)
    calls = [(x.astype(code), one, starts, (v if code in "dfD" else abs(whole)).astype(code))
             for code in "dfliHD" for one in (columns, late)]
    calls += [(x, columns.astype("i4"), starts, v), (x, low, starts, v), (x[:0], columns, starts, v),
              (x, columns, starts, v[:900])]
    shared, words = np.arange(2000.0), np.tile(np.arange(50), 20)[:starts[-1]]
    aliased = [(shared[1000:1060], columns, starts, shared), (shared[:60], columns, starts, shared[60:]),
               (shared[:61], columns, starts, shared[60:]), (words[:60], words, starts, words[:starts[-1]])]
    with fail_unless_captured(), np.errstate(all="ignore"):
        check(f, *calls[0], others=calls[1:], aliased=aliased, config=dict(NUMBA, cache_limit=32), calls=1)
