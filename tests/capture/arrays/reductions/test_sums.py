"""Sums of what is computed on the way: along the last axis, without the array in between, with NumPy's bits."""

import numpy as np
import pytest

from tests.harness import check, fail_unless_captured, jitted


def sums(x, y, z):
    d = x - y
    rows = (d * d).sum(axis=1)
    total = (z * z + 1.0).sum()
    return rows, total, np.sqrt(rows).sum(), (x * 2.0 - y).sum(axis=-1)


def noise(code, *shape):
    return np.random.RandomState(5).standard_normal(shape).astype(code)


LENGTHS = (0, 1, 3, 7, 8, 9, 127, 129, 1000, 8191, 8192, 8200, 20000)


@pytest.mark.parametrize("code", "df")
@pytest.mark.filterwarnings("ignore")
def test_bits_of_floats(code):
    calls = [(noise(code, 4, n), noise(code, n), noise(code, n)) for n in LENGTHS]
    calls += [(noise(code, 0, 3), noise(code, 3), noise(code, 3)), (noise(code, 3, 5), noise(code, 1), noise(code, 1))]
    with fail_unless_captured():
        check(sums, *calls[3], others=calls, config={"backend": "numba"}, calls=1)


def wide(x, y, a, column):
    return ((np.abs(-x) / np.sqrt(y * y + a)).sum(), ((x - a) ** 2).sum(), (column * x + y).sum(axis=-1),
            (1.0 / (y * y + 0.5) - x).sum())


@pytest.mark.parametrize("code", "df")
@pytest.mark.filterwarnings("always::RuntimeWarning")
def test_all_that_vectors_compute(code):
    """Whole runs of 8192, which have a loop of their own, what is left behind them, and errors in either."""
    calls = [(noise(code, n), noise(code, n)[::-1].copy(), np.dtype(code).type(0.25), noise(code, 3, 1))
             for n in (9, 127, 300, 8192, 8200, 3 * 8192 + 131)]
    x, y, a, column = calls[-1]
    least, most = np.finfo(code).tiny, np.finfo(code).max
    calls += [(x * least, y * least, a, column), (x * 0, y * -0.0, a * 0, column), (x * most, y, a, column),
              (x, y * most, -a, column), (x, y[:1], a, column[:, :0])]
    with np.errstate(all="warn"), fail_unless_captured():
        check(wide, *calls[0], others=calls, config={"backend": "numba"}, calls=1)


def with_nans(code, size, places):
    """Noise with NaNs at some places, each of its own bits, and of either sign."""
    x = noise(code, size)
    word = "q" if code == "d" else "i"
    quiet = int(np.array(np.nan, code).view(word))
    for number, place in enumerate(places):
        x[place] = np.array(quiet + 5 * number, word).view(code) * (-1) ** number
    return x


@pytest.mark.parametrize("code", "df")
@pytest.mark.filterwarnings("always::RuntimeWarning")
def test_which_nan_comes_out(code):
    """Adding two NaNs gives one of them: the one that NumPy's loop gives."""
    y = noise(code, 20000)
    places = [(0, 1), (1, 0), (3, 11), (11, 3), (5, 5 + 128), (7, 8200), (8200, 7), (1000, 19999), (9, 17, 8191, 8192)]
    calls = [(with_nans(code, 20000, some).reshape(-1, rest), y[:rest], with_nans(code, 20000, some))
             for some in places for rest in (20000, 200)]
    calls += [(x * np.array(np.inf, code), z[:x.shape[1]], x[0]) for x, z, _ in calls[:2]]
    with np.errstate(invalid="warn"), fail_unless_captured():
        check(sums, *calls[0], others=calls, config={"backend": "numba"}, calls=1)


def plain_sums(x):
    return x.sum(), np.sum(x[1:]), x[::2].sum(), x.mean()


@pytest.mark.parametrize("code", "df")
@pytest.mark.filterwarnings("always::RuntimeWarning")
def test_plain_sums(code):
    calls = [(noise(code, n),) for n in LENGTHS[2:]] + [(noise(code, 70000).reshape(7, -1)[:, :9000],)]
    calls += [(with_nans(code, 9000, some),) for some in [(8, 9), (9, 8), (100, 8999), (8999, 100)]]
    calls += [(x.astype(code),) for x in (np.full(99, 1e308 if code == "d" else 3e38), np.full(9000, -0.0),
                                          np.array([np.inf, -np.inf] * 9))]
    with np.errstate(all="warn"), fail_unless_captured():
        check(plain_sums, *calls[5], others=calls, config={"backend": "numba"}, calls=1)


def integers(x, y):
    return (x * y + x).sum(axis=1), (x[0] * 3).sum()


def test_integers_wrap():
    x, y = np.arange(24).reshape(4, 6), np.arange(6) - 3
    with fail_unless_captured():
        check(integers, x, y, others=[((x * 2 ** 60).astype("l"), y), (x[:, :1], y[:1]), (x[:0], y), (x[:, :0], y[:0])],
              config={"backend": "numba"}, calls=1)


def many(points, steps):
    result = np.empty((points.shape[0], steps))
    for i in range(steps):
        d = points - points[i]
        result[:, i] = np.sqrt((d * d).sum(axis=1))
    return result


@pytest.mark.filterwarnings("always::RuntimeWarning")
def test_in_a_loop():
    """Overflow warns at its line; signed zeros; arrays in Fortran order go NumPy's other way."""
    x = noise("d", 6, 3)
    with fail_unless_captured():
        check(many, x, 4, config={"backend": "numba"}, calls=1, others=[
            (x, 7), (x * 1e200, 3), (x * -0.0, 2), (np.asfortranarray(noise("d", 5, 12)), 5), (noise("d", 5, 12)[:, ::2], 5)])


def test_what_is_used_again_is_kept():
    def f(x):
        d = x * x
        return d.sum(), d, (d + x).sum(axis=0)

    j = jitted(f, {"backend": "numba"})
    for x in (noise("d", 9), noise("d", 300)):
        for _ in range(3):
            for expected, got in zip(f(x), j(x)):
                assert np.asarray(expected).tobytes() == np.asarray(got).tobytes() and type(expected) is type(got)


def kept(x, y):
    rows = (x * x).sum(axis=1, keepdims=True)
    unit = x / np.sqrt(rows + 1.0)
    centred = x - x.mean(axis=-1, keepdims=True)
    spread = (centred ** 2).mean(axis=-1, keepdims=True)
    return (rows, unit, centred / np.sqrt(spread + 1e-5), x.max(axis=0, keepdims=True), x.sum(keepdims=True),
            y.sum(axis=(0, 1, 2)), y.sum(axis=1, keepdims=True), y.mean(axis=(-2,)),
            (y * 2.0).sum(axis=2, keepdims=True))


@pytest.mark.parametrize("backend, code", [("numba", "d"), ("numba", "f"), ("python", "d")])
@pytest.mark.filterwarnings("ignore")
def test_kept_axes(backend, code):
    calls = [(noise(code, *shape), noise(code, 2, *shape)) for shape in [(5, 12), (1, 1), (3, 1), (1, 9), (40, 260)]]
    calls += [(noise(code, 2, 9000), noise(code, 2, 1, 3)), (noise(code, 3, 0), noise(code, 2, 3, 0)),
              (noise(code, 12, 5).T, noise(code, 3, 4, 5)[:, ::2])]
    with fail_unless_captured():
        check(kept, *calls[0], others=calls[1:], config={"backend": backend}, calls=1)


def columns(x, a, b):
    return x / (a * a + 1.0), np.sqrt(np.abs(a)) * x - b, a * (x + b), a - b


def test_columns_and_rows():
    """Which operands are broadcast is known only at run time."""
    x, column, row, corner = noise("d", 7, 11), noise("d", 7, 1), noise("d", 1, 11), noise("d", 1, 1)
    calls = [(x, a, b) for a in (column, row, x, corner) for b in (column, row, corner, x[:, ::-1])]
    calls += [(column, x, column), (row, column, x), (column, row, corner), (x[:0], row, row),
              (x[:, :0], column, corner)]
    with fail_unless_captured():
        check(columns, *calls[0], others=calls[1:], config={"backend": "numba"}, calls=1)


def spreads(x, y):
    return (x.var(), x.std(), np.var(y, axis=1), np.std(y, axis=-1, keepdims=True), y.std(axis=0, ddof=1),
            y.var(ddof=2), (x - x.mean()) / x.std(), (y - y.mean(axis=0)) / (y.std(axis=0) + 1e-9),
            y.var(keepdims=True))


@pytest.mark.parametrize("backend, code", [("numba", "d"), ("numba", "f"), ("python", "f")])
@pytest.mark.filterwarnings("always::RuntimeWarning")
def test_variances(backend, code):
    calls = [(noise(code, n) + 3, noise(code, k, m)) for n, k, m in [
        (20, 4, 9), (9000, 3, 8200), (2, 2, 2), (3, 1, 3), (1, 3, 1), (3, 9000, 3), (0, 2, 5), (5, 0, 3)]]
    calls += [(noise(code, 9)[::2], noise(code, 6, 5).T), (noise(code, 5) * 1e38, noise(code, 3, 4)),
              (noise(code, 5) * 0, noise(code, 3, 4))]
    with fail_unless_captured():
        check(spreads, *calls[0], others=calls[1:], config={"backend": backend}, calls=1)


def blocks(x, y):
    rows, columns = x.shape
    fours = x.reshape(rows // 4, 4, columns // 4, 4)
    return (fours.mean(axis=(1, 3)), fours.sum(axis=(3, 1)), y.sum(axis=(0, 2)), y.mean(axis=(-1, -2)),
            y.sum(axis=(0, 1), keepdims=True), np.var(y, axis=(0, 2)), (y * 2.0).sum(axis=(1, 2)))


@pytest.mark.parametrize("backend, code", [("numba", "d"), ("numba", "f"), ("python", "d")])
@pytest.mark.filterwarnings("always::RuntimeWarning")
def test_several_axes(backend, code):
    """Each run along the last axis is added up by itself, pairwise where it is long."""
    calls = [(noise(code, 4 * n, 4 * m), noise(code, *shape)) for n, m, shape in [
        (5, 7, (3, 4, 5)), (1, 1, (1, 1, 1)), (2, 3, (1, 6, 9)), (2, 2, (4, 1, 130)), (3, 1, (2, 3, 9000)),
        (1, 2, (6, 5, 1)), (2, 71, (3, 71, 4))]]
    x, y = calls[0]
    calls += [(x * -0.0, y * np.finfo(code).max), (x[:0], y[:0]), (x.T, y.T)]
    with fail_unless_captured():
        check(blocks, *calls[0], others=calls[1:], config={"backend": backend}, calls=1)


def plain_rows(x):
    return x.sum(axis=1), x.sum(axis=-1, keepdims=True), x.mean(axis=1), x.reshape(-1, 2, x.shape[1]).sum(axis=(0, 2))


@pytest.mark.parametrize("code", "df")
@pytest.mark.filterwarnings("ignore")
def test_rows_that_lie_in_memory(code):
    """Also where a row has infinities of two signs, NaN of several kinds, or zeros of one sign."""
    calls = [(noise(code, 4, n),) for n in LENGTHS + (2, 4, 5, 6, 136, 255, 256, 257, 1023)]
    odd = noise(code, 6, 300)
    odd[0], odd[1, 5], odd[2, [7, 200]] = -0.0, np.inf, (np.inf, -np.inf)
    odd[3, 9], odd[4, [3, 4, 150]] = np.nan, (-np.nan, np.nan, np.inf)
    calls += [(odd,), (odd[:, :7].copy(),), (odd[:, 3:6].copy(),), (noise(code, 0, 3),), (odd * np.finfo(code).max,)]
    with fail_unless_captured():
        check(plain_rows, *calls[3], others=calls, config={"backend": "numba", "cache_limit": 64}, calls=1)
