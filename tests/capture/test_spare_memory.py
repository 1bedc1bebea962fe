"""Arrays that never leave a kernel have memory that is used again; what leaves has memory of its own."""

import warnings

import numpy as np
import pytest
from pijit.core import _launcher

from tests.harness import check, fail_unless_captured, jitted

KEPT_AT_MOST = 128 << 20


def step(u, v, rate):
    lu = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * u[1:-1, 1:-1]
    lv = v[:-2, 1:-1] + v[2:, 1:-1] + v[1:-1, :-2] + v[1:-1, 2:] - 4.0 * v[1:-1, 1:-1]
    inner, other = u[1:-1, 1:-1], v[1:-1, 1:-1]
    both = inner * other ** 2
    inner += 0.16 * lu - both + rate * (1.0 - inner)
    other += 0.08 * lv + both - rate * other
    return u, v


def seen(x, y):
    a = x * y + 1.0
    b = np.sqrt(a)
    c = b - a
    part = b[1:]
    d = a * b * c
    return c, part, (d * d).sum(), d.T, abs(a - c) - a, np.exp(np.cos(d + a)), np.exp(a.T - c.T)


def grids(rows, columns):
    return [np.random.RandomState(seed).uniform(0.1, 1.0, (rows, columns)) for seed in (0, 1)]


@fail_unless_captured()
def test_steps_of_a_grid():
    """Also where an axis has one element, or none: results have no certain strides then."""
    shapes = [(150, 140), (3, 3), (150, 3), (3, 150), (2, 9), (300, 280), (4, 5)]
    config = {"backend": "numba", "cache_limit": 32}
    check(step, *grids(*shapes[0]), 0.03, config=config, others=[(*grids(*shape), 0.03) for shape in shapes[1:]])


def who_owns(arrays):
    return [(x.flags.owndata, getattr(x.base, "flags", x.flags).owndata, type(x.base), x.strides, x.tobytes())
            for x in arrays if isinstance(x, np.ndarray)]


@fail_unless_captured()
def test_what_leaves_owns_its_memory():
    f = jitted(seen, {"backend": "numba"})
    for size in (4, 200, 150, 200, 151):
        x, y = grids(size, size)
        results = [f(x, y) for _ in range(3)]
        for result in results:
            assert who_owns(result) == who_owns(seen(x, y))
        everything = [x for result in results for x in result if isinstance(x, np.ndarray)]
        assert not any(np.shares_memory(a, b) for a in everything for b in everything if a is not b)


@pytest.mark.parametrize("where", ["first", "second"])
@fail_unless_captured()
def test_an_exit_takes_copies(where):
    """A statement that warns is repeated by bytecode, with arrays that only the kernel had had."""
    f = jitted(step, {"backend": "numba"})
    x, y = grids(200, 150)
    assert f(x.copy(), y.copy(), 0.03)[0].tobytes() == step(x.copy(), y.copy(), 0.03)[0].tobytes()
    (x if where == "first" else y)[50, 50] = 1e308
    found = []
    for call in (f, step, f):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            u, v = call(x.copy(), y.copy(), 3.0)
        found.append((u.tobytes(), v.tobytes(), [(str(one.message), one.lineno) for one in told]))
    assert found[0] == found[1] == found[2] and found[0][2]


@fail_unless_captured()
def test_what_is_kept_is_bounded():
    f = jitted(step, {"backend": "numba"})
    for size in (1000, 1500, 1900, 2200, 200):
        x, y = grids(size, size)
        for _ in range(3):
            f(x, y, 0.01)
    assert 0 < _launcher.spare_clear() <= KEPT_AT_MOST
    assert _launcher.spare_clear() == 0
    f(x, y, 0.01)
    f.cache_clear()
    assert _launcher.spare_clear() == 0
    assert f(x.copy(), y.copy(), 0.01)[0].tobytes() == step(x, y, 0.01)[0].tobytes()


def turned(x, y):
    return x + x.T, x.T - y, (x.T * y) * 0.5, x[:, ::-1].T / y, x.T > y


@fail_unless_captured()
def test_operands_that_lie_the_other_way():
    for size in (5, 513, 1024):
        x, y = grids(size, size)
        check(turned, x, y, config={"backend": "numba"}, others=[(x.astype("f4"), y.astype("f4"))])
