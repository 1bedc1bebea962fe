"""Arrays of any strides: parts of others that are passed on, and what a loop has from its round before. Most have
rows, and loop nests go along those; nothing depends on it but time."""

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

from pijit.core.kernel.plan import group_plans
from tests.harness import check, fail_unless_captured, jitted

NUMBA = {"backend": "numba", "force_breaks": None}


def plane(rows, columns, code="d"):
    return np.sin(np.arange(1.0, rows * columns + 1.0)).reshape(rows, columns).astype(code)


def views(code="d", writeable=True):
    """Arrays of 6 x 5 numbers with all kinds of strides; the first is a part with rows."""
    whole, deep = plane(14, 15, code), plane(42, 15, code).reshape(14, 3, 15)
    with np.errstate(all="ignore"):
        large = whole * 1e300
    found = [whole[1:7, 2:7], whole[:12:2, :15:3], whole[5::-1, 4::-1], whole.T[3:9, 1:6], whole.T[3:9, 6:1:-1],
             np.asfortranarray(whole)[1:7, 2:7], deep[:6, 1, :5], deep[2, :, :].T[:6, :1] * np.ones(5),
             whole[:6, :5].copy(), np.asfortranarray(whole[:6, :5]), np.zeros((14, 15), code)[1:7, 2:7], large[1:7, 2:7]]
    shared = [np.broadcast_to(whole[0, :5], (6, 5)), np.broadcast_to(whole[:6, :1], (6, 5))]
    return found + ([] if writeable else shared)


def chain(x, y):
    return (x * 2.0 + y) * (x - y) + 0.5


def choice(x, y):
    z = np.where(x > y, x * y, x - y)
    return (z, np.maximum(z, 0.0), (z * z).sum(axis=1), (z + x).sum(axis=0), (x * y).max(),
            x - x.mean(axis=1, keepdims=True))


def parts(x, y):
    return x[1:, 1:] * 0.5 + y[:-1, :-1], x.T * 2.0 + y.T, (x * y)[::-1, ::2] + 1.0, x[2] * y[3] + x[:, 1:2]


def stores(x, y):
    x += y * 0.5
    x[1:-1, 1:-1] = x[:-2, 1:-1] + x[2:, 1:-1] - 0.25 * y[1:-1, 1:-1]
    x[0] *= 2.0
    return x


def evolves(x, y):
    for _ in range(3):
        x = x + 0.1 * (y * x - x)
    return x


def shrinks(x, y):
    for _ in range(3):
        x = np.maximum(x[1:, 1:] * 0.5, x[:-1, :-1]) - 0.125
        y = y * 2.0
    return x, y


def turns(x, y):
    for k in range(4):
        x = x.T * 2.0 - 0.5 * k
    return x + y


def either(x, y):
    z = x
    for k in range(4):
        if k & 1:
            z = y * 2.0 + k
        else:
            z = z[:, ::-1] - x * 0.5
    return z * z + z


def shortest(x, y):
    d = x.copy()
    for k in range(5):
        d = np.minimum(d, d[:, k:k + 1] + d[k] + y)
    return d


@pytest.fixture
def nests(monkeypatch):
    """Asks which groups become nests: those of several operations."""
    asked, is_nest = [], group_plans.is_nest
    monkeypatch.setattr(group_plans, "is_nest", lambda group, *facts: (
        asked.append((len(group), is_nest(group, *facts))) or asked[-1][1]))
    return asked


def calls_of(code="d", writeable=True):
    x = views(code, writeable)
    y = [one.copy() if k % 3 == 0 else one for k, one in enumerate(views(code, writeable)[::-1])]
    return list(zip(x, y)) + [(x[0], x[0]), (x[3], x[3].copy()), (x[0], x[5])]


@pytest.mark.parametrize("f", [chain, choice, parts, stores, evolves, shrinks, either, shortest],
                         ids=lambda f: f.__name__)
@pytest.mark.parametrize("code", ["d", "f"])
@pytest.mark.filterwarnings("always::RuntimeWarning")
def test_same_answers(f, code):
    calls = calls_of(code, f is not stores)
    with fail_unless_captured(1):
        check(f, *calls[0], others=calls[1:], config=NUMBA)
    with np.errstate(all="raise"):
        check(f, *calls[0], others=calls[1:], config=NUMBA)


@pytest.mark.parametrize("first", range(12))
@pytest.mark.parametrize("f", [chain, stores, evolves, parts], ids=lambda f: f.__name__)
@pytest.mark.filterwarnings("always::RuntimeWarning")
def test_the_first_call_decides_nothing_but_time(f, first):
    calls = calls_of(writeable=f is not stores)
    calls.insert(0, calls.pop(first))
    with fail_unless_captured(1):
        check(f, *calls[0], others=calls[1:], config=NUMBA)


@pytest.mark.parametrize("first", [(0, 1, 2), (2, 0, 1)])
def test_axes_in_any_order(first):
    """A nest goes along the axis whose elements lie closest."""
    def f(x, y):
        z = (x * 2.0 + y) * (x - y)
        return z, np.where(z > x, z * y, x), (x - y)[::-1, 1:] * 0.5

    def part(axes, steps=(1, 1, 1)):
        whole = np.sin(np.arange(1.0, 9 * 10 * 11 + 1.0)).reshape(9, 10, 11)
        return whole.transpose(axes)[tuple(slice(1, 1 + 4 * step, step) for step in steps)]

    orders = [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]
    calls = [(part(one, steps), part(other)) for one in orders for other in (one, orders[0])
             for steps in ((1, 1, 1), (2, 1, 2))]
    with fail_unless_captured(1):
        check(f, part(first), part(first) + 1.0, others=calls, config=NUMBA)


def test_squares_that_turn():
    x, y = plane(9, 9)[:6, :6], plane(9, 9)[1:7, 2:8]
    check(turns, x, y, others=[(x.T, y), (x, y.T), (x.copy(), y.T.copy()), (x[::-1], y)], config=NUMBA)


@pytest.mark.parametrize("f", [chain, evolves, shrinks, shortest], ids=lambda f: f.__name__)
def test_they_are_nests(f, nests):
    x, y = plane(12, 13)[1:9, 2:10], plane(12, 13)[2:10, 1:9]
    check(f, x, y, config=dict(NUMBA, cache=False))
    assert nests and all(fused for _, fused in nests)


def test_parts_by_columns(nests):
    """Stores into them are left to NumPy: a buffer would have rows."""
    x, y = (np.asfortranarray(plane(12, 13))[k:8 + k, 2:10] for k in (1, 2))
    check(chain, x, y, config=dict(NUMBA, cache=False))
    assert nests and all(fused for _, fused in nests)
    del nests[:]
    check(stores, x, y, config=dict(NUMBA, cache=False))
    assert nests and not any(fused for size, fused in nests if size > 1)


@pytest.mark.parametrize("strides", [(8, 8), (16, 8), (0, 8), (8, -8)])
@pytest.mark.parametrize("first", ["shared", "part"])
def test_arrays_that_overlap_themselves(strides, first):
    """NumPy computes all before it stores anything."""
    def f(x, y):
        x += y
        x[1:] = x[:-1] * 0.5 + y[1:]
        z = x * y - 0.5
        return z * z + x

    def made():
        memory = plane(1, 60)[0]
        return memory, as_strided(memory[20:], (8, 8), strides), plane(12, 13)[1:9, 2:10]

    with fail_unless_captured(1):
        g = jitted(f, NUMBA)
        g(made()[1] if first == "shared" else plane(12, 13)[1:9, 2:10], plane(8, 8))
        (memory, x, y), (expected, u, v) = made(), made()
        assert g(x, y).tobytes() == f(u, v).tobytes() and memory.tobytes() == expected.tobytes()
