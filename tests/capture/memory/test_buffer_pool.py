"""Arrays that never leave a kernel, and large results that nobody has any more, have memory that is used again."""

import tracemalloc
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
    assert 0 < _launcher.buffers_clear() <= KEPT_AT_MOST
    assert _launcher.buffers_clear() == 0
    f(x, y, 0.01)
    f.cache_clear()
    assert _launcher.buffers_clear() == 0
    assert f(x.copy(), y.copy(), 0.01)[0].tobytes() == step(x, y, 0.01)[0].tobytes()


def turned(x, y):
    return x + x.T, x.T - y, (x.T * y) * 0.5, x[:, ::-1].T / y, x.T > y


@fail_unless_captured()
def test_operands_that_lie_the_other_way():
    for size in (5, 513, 1024):
        x, y = grids(size, size)
        check(turned, x, y, config={"backend": "numba"}, others=[(x.astype("f4"), y.astype("f4"))])


def chain(x, y):
    return x * y + 1.0, (y - x) * 2.0


def handler_name(x):
    """Who has the memory of an array, in the words of NumPys that say so."""
    core = np.core if int(np.__version__.split(".")[0]) < 2 else np._core
    return core.multiarray.get_handler_name(x) if hasattr(core.multiarray, "get_handler_name") else None


@fail_unless_captured()
def test_large_results_are_numpys_in_all_that_shows():
    f = jitted(chain, {"backend": "numba"})
    x, y = grids(512, 700)
    held = [f(x, y) for _ in range(4)]
    for results in held:
        assert who_owns(results) == who_owns(chain(x, y))
        assert [handler_name(z) for z in results] == [handler_name(x)] * 2
    everything = [z for results in held for z in results]
    assert not any(np.shares_memory(a, b) for a in everything for b in everything if a is not b)
    last = everything[0]
    expected = last.copy()
    last.resize((700, 600), refcheck=False)
    expected.resize((700, 600), refcheck=False)
    assert last.tobytes() == expected.tobytes() and last.flags.owndata
    last.resize((3, 4), refcheck=False)
    del held, everything, results
    assert f(x, y)[0].tobytes() == chain(x, y)[0].tobytes()
    assert last.ravel().tobytes() == expected.ravel()[:12].tobytes()


@pytest.mark.skipif(not _launcher.RESULTS_COME_BACK, reason="NumPy has no handlers, or had none when this was built")
@fail_unless_captured()
def test_memory_of_large_results_comes_back():
    f = jitted(chain, {"backend": "numba", "force_breaks": None})
    x, y = grids(600, 500)
    f(x, y)
    _launcher.buffers_clear()
    first = f(x, y)
    places = {z.ctypes.data for z in first}
    assert not {z.ctypes.data for z in f(x, y)} & places
    first[0].shape = (x.size,)
    first[0].dtype = np.float32
    assert _launcher.buffers_clear() == 2 * x.nbytes
    del first
    assert {z.ctypes.data for z in f(x, y)} == places
    assert _launcher.buffers_clear() == 2 * x.nbytes
    with_others = f(x[:300], y[:300])
    assert with_others[0].tobytes() == chain(x[:300], y[:300])[0].tobytes()


@fail_unless_captured()
def test_what_traces_memory_sees_large_results():
    f = jitted(chain, {"backend": "numba"})
    x, y = grids(600, 500)
    domain = [tracemalloc.DomainFilter(True, getattr(np.lib, "tracemalloc_domain", 389047))]
    f(x, y)
    for call in (f, chain):
        tracemalloc.start()
        try:
            results = call(x, y)
            held = sum(one.size for one in tracemalloc.take_snapshot().filter_traces(domain).traces)
            del results
            left = sum(one.size for one in tracemalloc.take_snapshot().filter_traces(domain).traces)
        finally:
            tracemalloc.stop()
        assert (held, left) == (2 * x.nbytes, 0), call
