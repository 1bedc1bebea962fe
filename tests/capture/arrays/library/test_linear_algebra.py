"""Products and np.linalg by inner loops of NumPy's ufuncs: bits, layouts, errors and warnings are NumPy's."""

import ctypes
import itertools
import warnings
from pathlib import Path

import numpy as np
import pytest

import pijit
from pijit.core import _launcher
from tests.capture.scalars.test_scalars import define
from tests.harness import check, fail_unless_captured, jitted

DIRECT = {"force_breaks": None, "perf_statistics": False, "cache_limit": 64}
SIZES = (0, 1, 2, 5, 17)


def noise(code, *shape):
    source = np.random.RandomState(sum(shape) + 1)
    made = source.standard_normal(shape) * 4
    return (made + 1j * source.standard_normal(shape) if code in "FD" else made).astype(code)


def layouts(code, *shape):
    """The same elements in C and Fortran order, with steps and turned around, and as a part of rows."""
    plain = noise(code, *shape)
    wide = np.zeros(tuple(2 * size for size in shape), code)
    steps = wide[(slice(None, None, 2),) * len(shape)]
    steps[...] = plain
    found = [plain, steps, np.ascontiguousarray(plain[::-1])[::-1]]
    if len(shape) == 2:
        part = np.zeros((shape[0], shape[1] + 3), code)[:, 1:-2]
        part[...] = plain
        found += [np.asfortranarray(plain), part]
    return found


def operands(code):
    """Pairs of matrices and vectors of all layouts, among them some that do not fit."""
    shapes = [((m, k), (k, n)) for m, k, n in itertools.product(SIZES, repeat=3) if m != 5 or n == 17]
    shapes += [((m, k), (k,)) for m, k in itertools.product(SIZES, repeat=2)]
    shapes += [((k,), (k, n)) for k, n in itertools.product(SIZES, repeat=2)]
    shapes += [((n,), (n,)) for n in SIZES + (1000,)] + [((3, 4), (5, 6)), ((3,), (4,)), ((3, 4), (3,)), ((1,), (4,))]
    for number, (one, other) in enumerate(shapes):
        pairs = list(itertools.product(layouts(code, *one), layouts(code, *other)))
        yield from pairs[number % 5::4]


PRODUCTS = [("x @ y", "d"), ("x @ y", "f"), ("x @ y", "D"), ("x @ y", "l"), ("np.dot(x, y)", "d"), ("x.dot(y)", "F"),
            ("np.inner(x, y), y * 2", "f"), ("np.matmul(x, x.T), x.T @ x", "d"), ("x.T.dot(x)", "d")]


@pytest.mark.parametrize("call, code", PRODUCTS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_products(call, code):
    """Matrices and vectors of all layouts, among them empty ones, single elements, and shapes that do not fit."""
    f = define("def f(x, y):\n    return " + call)
    pairs = list(operands(code))
    with fail_unless_captured():
        check(f, *pairs[-1], others=pairs, config=dict(DIRECT, backend="numba"), calls=1)


def small_pairs(code):
    """All small shapes, in all layouts in turn: their products are computed without the library."""
    source = np.random.RandomState(7)
    with np.errstate(over="ignore", under="ignore"):
        odd = np.array([0.0, -0.0, 1e-30, -1e-300, 1e30, 1e200, np.inf, -np.inf, np.nan, -np.nan]).astype(code)
    depths = (1, 2, 3, 4, 5, 6, 7, 8, 15, 17)
    for number, (m, k, n) in enumerate(itertools.product(range(10), depths, range(10))):
        shapes = ((m, k) if m else (k,)), ((k, n) if n else (k,))
        for turn in range(3):
            x, y = (layouts(code, *shape) for shape in shapes)
            x, y = x[(number + turn) % len(x)], y[(number // 3 + turn) % len(y)]
            for each in (x, y):
                each[...] = source.standard_normal(each.shape) * 10.0 ** source.randint(-3, 3, each.shape)
                if turn:
                    each[source.random_sample(each.shape) < 0.2] *= 0.0
                if turn == 2:
                    chosen = source.random_sample(each.shape) < 0.1
                    each[chosen] = source.choice(odd, chosen.sum())
            yield x, y


@pytest.mark.parametrize("call", ("x @ y", "np.dot(x, y)"))
@pytest.mark.parametrize("code", "df")
def test_small_products(code, call):
    """Sums in the library's order, whatever it is: signed zeros, NaN and its sign, and all warnings."""
    f = define("def f(x, y):\n    return " + call)
    with fail_unless_captured(), np.errstate(under="warn"):
        j = jitted(f, dict(DIRECT, backend="numba"))
        for x, y in small_pairs(code):
            outcomes = []
            for function in (f, j, j):
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    result = function(x, y)
                outcomes.append((type(result), result.tobytes(), result.shape, [str(one.message) for one in caught]))
            assert outcomes[1:] == outcomes[:1] * 2, (x, y)


def multiplied(x, y, v, n):
    """Products by itself, of views, and into arrays that the next round reads."""
    total = np.zeros(x.shape[0])
    for i in range(n):
        v = x @ v
        total = total + v + (x @ x.T) @ v + x.T @ (y @ v)
        z = x[:2, :2] @ y[::-1, ::-1][:2, 1:3] @ x[1:3, 2:0:-1]
        v = v / (np.dot(v, v) + v[:2] @ z @ v[1:3])
        x = x @ y
        x = x / 4.0
    return total, v, x


@pytest.mark.parametrize("config", ({"backend": "numba"}, {"backend": "numba", "nogil": True}))
def test_small_products_in_loops(config):
    source = np.random.RandomState(1)
    x, y, v = source.standard_normal((3, 3)), source.standard_normal((3, 3)), source.standard_normal(3)
    others = [(np.asfortranarray(x), y.T, v, 20), (x, np.eye(3), v, 20), (x * 1e150, y, v, 20), (x, y, v * np.inf, 3)]
    with fail_unless_captured(), np.errstate(all="ignore"):
        check(multiplied, x, y, v, 20, others=others, config=config)


def tall(code):
    """Matrices of few columns: parts of rows, and some with signed zeros, tiny numbers, infinity and NaN."""
    source = np.random.RandomState(3)
    with np.errstate(over="ignore", under="ignore"):
        odd = np.array([0.0, -0.0, 1e-30, -1e-170, 1e30, 1e200, np.inf, -np.inf, np.nan, -np.nan]).astype(code)
    depths = (1, 2, 3, 7, 63, 64, 191, 383, 384, 385, 447, 448, 449, 640, 767, 768, 895, 897, 1000, 1153, 2100)
    for number, (side, depth) in enumerate(itertools.product(tuple(range(1, 34)) + (40,), depths)):
        gap = (0, 3)[number % 2]
        x = source.standard_normal((depth, side + gap)).astype(code)[:, :side]
        if number % 3 == 1:
            x[source.random_sample(x.shape) < 0.3] *= 0.0
        if number % 7 == 3:
            chosen = source.random_sample(x.shape) < 0.01
            x[chosen] = source.choice(odd[:(4, 10)[number % 2]], chosen.sum())
        yield x if number % 5 else np.asfortranarray(x)


@pytest.mark.parametrize("code", "df")
def test_columns_by_themselves(code):
    """Products of a tall matrix, transposed, with itself: the library's sums, signs of NaN and all warnings."""
    f = define("def f(x):\n    return x.T @ x")
    with fail_unless_captured(), np.errstate(under="warn"):
        j = jitted(f, dict(DIRECT, backend="numba"))
        for x in tall(code):
            outcomes = []
            for function in (f, j, j):
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    result = function(x)
                outcomes.append((type(result), result.tobytes(), result.shape, [str(one.message) for one in caught]))
            assert outcomes[1:] == outcomes[:1] * 2, (x.shape, x.strides)


def regressed(x, y, n):
    total = np.zeros((x.shape[1], x.shape[1]), x.dtype)
    for i in range(n):
        centred = x - x.mean(axis=0)
        total = total + centred.T @ centred + x[i:].T @ x[i:] + (x[::2, 1:].T @ x[::2, 1:] @ y).sum()
        x = x / (1.0 + abs(total).max())
    return total


@pytest.mark.parametrize("config", ({"backend": "numba"}, {"backend": "numba", "nogil": True}, {"backend": "python"}))
def test_columns_by_themselves_in_loops(config):
    x, y = noise("d", 500, 7), noise("d", 6, 7)
    others = [(x.astype("f"), y.astype("f"), 3), (x * 1e60, y, 3), (noise("d", 70000, 7), y, 3)]
    others += [(np.asfortranarray(x), y, 3), (x[:7].copy(), y, 7)]
    with np.errstate(all="ignore"):
        check(regressed, x, y, 3, others=others, config=config)


FUSED_CORES = ("Haswell", "Zen", "SkylakeX", "Cooperlake", "SapphireRapids")


def openblas_core():
    """The processor that OpenBLAS computes for; an old release knows no new processor. None without OpenBLAS."""
    np.ones((4, 4)) @ np.ones((4, 4))
    with open("/proc/self/maps") as maps:
        paths = sorted({line.split()[-1] for line in maps if "openblas" in line})
    for path, prefix, suffix in itertools.product(paths, ("", "scipy_"), ("", "64_", "_64_")):
        function = getattr(ctypes.CDLL(path), prefix + "openblas_get_corename" + suffix, None)
        if function is not None:
            function.restype = ctypes.c_char_p
            return function().decode()
    return None


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="no list of the loaded libraries")
def test_order_of_columns_by_themselves_is_known():
    """Otherwise the library would be called for all of them."""
    if openblas_core() not in FUSED_CORES:
        pytest.skip("the order of %s is not known" % openblas_core())
    for code in "df":
        loop = _launcher.ufunc_loop(np.matmul, np.matmul.types.index("{0}{0}->{0}".format(code)))
        intervals = {side: _launcher.gram_interval(*loop, np.dtype(code).itemsize, side) for side in (4, 8, 16)}
        assert all(intervals.values()), (code, intervals)


def squares(code):
    """(matrix, its right side): regular, definite, singular, not square, empty, NaN."""
    for m, more in itertools.product((0, 1, 2, 3, 9, 40), ((), (1,), (3,))):
        for number, (x, y) in enumerate(itertools.product(layouts(code, m, m), layouts(code, m, *more))):
            if number % 4 == m % 4:
                yield x, y
                yield x @ x.conj().T + np.eye(m, dtype=code), y
    for x in (np.ones((3, 3)), np.full((3, 3), np.nan), np.zeros((2, 2)), np.ones((2, 3)), np.diag([1e200] * 2),
              np.zeros((1, 1))):
        yield x.astype(code), np.ones(len(x), code)
    yield noise(code, 3, 3), noise(code, 4)
    yield noise(code, 2, 3, 3), noise(code, 2, 3)


SOLVERS = [("np.linalg.solve(x, y)", "d"), ("np.linalg.solve(x, y)", "D"), ("np.linalg.inv(x)", "d"),
           ("np.linalg.det(x)", "d"), ("np.linalg.det(x)", "D"), ("np.linalg.cholesky(x)", "d"),
           ("np.linalg.eigvalsh(x)", "D"), ("np.linalg.inv(x)", "f"), ("np.linalg.solve(x, y)", "l")]


@pytest.mark.parametrize("call, code", SOLVERS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_solvers(call, code):
    """NumPy raises LinAlgError at the statement's line, and det warns of overflow."""
    f = define("def f(x, y):\n    z = y * 2\n    return %s, z - y" % call)
    pairs = list(squares(code))
    with fail_unless_captured():
        check(f, *pairs[-8], others=pairs, config=dict(DIRECT, backend="numba"), calls=1)


def kalman(readings, f, h, x, p):
    out = np.empty((len(readings), x.size))
    for k in range(len(readings)):
        x = f @ x
        p = f @ p @ f.T
        gain = p @ h / (h @ p @ h + 0.1)
        x = x + gain * (readings[k] - h @ x)
        p = p - np.outer(gain, np.dot(h, p))
        out[k] = x / np.linalg.norm(x)
    return out, x, np.linalg.inv(p), h.dot(x)


@pytest.mark.parametrize("config", ({"backend": "numba"}, {"backend": "numba", "nogil": True}, {"backend": "python"}))
def test_in_loops(config):
    """Results of products are temporaries, whose memory the next operation may take; a singular matrix ends it."""
    f, h = np.eye(4) + 0.1 * np.eye(4, k=2), np.array([1.0, 1.0, 0.0, 0.0])
    readings, x, p = np.arange(1.0, 30.0), np.ones(4), np.eye(4) + 0.5
    others = [(readings, f.T, h[::-1], x, p), (readings[:1], f, h * 0, x, p * 0), (readings, f, h[:3], x, p)]
    with fail_unless_captured():
        j = check(kalman, readings, f, h, x, p, others=others, config=config)
    assert not pijit.explain(j, readings, f, h, x, p).breaks


def overflowing(x, y):
    z = x @ y
    w = np.dot(x, y)
    return z, w, np.linalg.norm(y)


@pytest.mark.parametrize("how", ("warn", "raise", "ignore"))
@pytest.mark.filterwarnings("always::RuntimeWarning")
def test_floating_point_errors(how):
    """matmul reports them; dot and norm do since NumPy 2.4."""
    x, y = np.full((2, 2), 1e200), np.full(2, 1e200)
    with np.errstate(all=how), fail_unless_captured():
        others = [(x, y), (x, y * 0), (x * np.inf, y * 0)]
        check(overflowing, x / 1e150, y, others=others, config={"backend": "numba"})
