"""Products and np.linalg by inner loops of NumPy's ufuncs: bits, layouts, errors and warnings are NumPy's."""

import itertools

import numpy as np
import pytest

import pijit
from tests.harness import check, fail_unless_captured
from tests.capture.test_scalars import define

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
    """matmul reports them, dot and norm do not."""
    x, y = np.full((2, 2), 1e200), np.full(2, 1e200)
    with np.errstate(all=how), fail_unless_captured():
        others = [(x, y), (x, y * 0), (x * np.inf, y * 0)]
        check(overflowing, x / 1e150, y, others=others, config={"backend": "numba"})
