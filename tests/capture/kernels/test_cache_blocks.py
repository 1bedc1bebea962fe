"""Operations along the same rows that are done block by block: nothing shows that, but their speed."""

import numpy as np
import pytest

from pijit.core.kernel.emit.stores import tiled_loops
from pijit.core.kernel.llvm.nest import nontemporal
from pijit.core.kernel.plan import tiling
from pijit.core.kernel.plan.forms import block_size
from tests.harness import check, fail_unless_captured

NUMBA = {"backend": "numba", "force_breaks": None, "parallel": False}
VECTOR, PLANE = np.linspace(-3.0, 3.0, 23), np.linspace(-2.0, 2.0, 66).reshape(11, 6)


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of four rows, or of eight numbers; the number of runs that were written with such."""
    written, write = [], tiled_loops.TiledLoops.write
    monkeypatch.setattr(block_size, "TILED_BYTES", 64)
    monkeypatch.setattr(block_size, "ALIGNMENT", 8)
    monkeypatch.setattr(block_size, "TILED_ROWS", 4)
    monkeypatch.setattr(tiled_loops.TiledLoops, "write", lambda self, run: (written.append(run), write(self, run)))
    return written


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def softmax_by_view(x):
    e = np.exp(x - x.max(axis=-1)[:, None])
    return e / e.sum(axis=-1)[:, np.newaxis]


def log_softmax(x, weight):
    y = x - x.max(axis=1, keepdims=True)
    e = np.exp(y) * weight
    total = e.sum(axis=1)
    return y, e, np.log(total)


def logistic(k, x):
    return 1.0 / (1.0 + np.exp(-k * x))


def waves(x, y, a):
    u = np.sin(x) * np.cos(y)
    v = np.exp(a * u)
    w = np.where(u > 0.25, v, -u)
    return np.log(v + 1.0) * w, v


def neighbours(x):
    e = np.exp(x[1:] - x[:-1])
    f = np.sin(x[1:]) * e
    return f + e * x[:-1]


def step(x, count):
    for _ in range(count):
        y = np.exp(-x * x)
        x = np.cos(y) * x + y
    return x


def whole_numbers(i, j):
    k = i % 7
    return (k * j) // 3 + k, k.astype(float)


def by_weights(x, w):
    y = np.tanh(x * w)
    return np.exp(y - w) + y.sum(axis=-1, keepdims=True)


def normalised(x, gamma):
    mean = x.mean(axis=-1, keepdims=True)
    var = ((x - mean) ** 2).mean(axis=-1, keepdims=True)
    return gamma * (x - mean) / np.sqrt(var + 1e-5), mean


def three_axes(x):
    y = np.exp(x)
    return np.sin(y) / y.sum(axis=2, keepdims=True)


def unused(x):
    y = np.exp(x)
    z = np.sin(y) + 1.0
    return np.cos(x) * 2.0, z.size


def variants(x):
    """An array of other layouts, dtypes and sizes."""
    return [(x[::-1],), (x.astype("f"),), (x[:1],), (x[:4],), (x[:5],), (x[:0],), (np.repeat(x, 2, axis=0)[::2],),
            (x.T,)]


@pytest.mark.parametrize("f", [softmax, softmax_by_view, step, unused], ids=lambda f: f.__name__)
@fail_unless_captured()
def test_rows(f, small_blocks):
    more = (3,) if f is step else ()
    others = [args + more for args in variants(PLANE)] + [
        (PLANE[:, ::2],) + more, (PLANE[:, :1].copy(),) + more, (PLANE[:, :0],) + more,
        (PLANE[::2][:1],) + more, (PLANE[:1].T,) + more, (PLANE[:1, :1].T,) + more]
    check(f, PLANE, *more, others=others, config=NUMBA)
    assert small_blocks


@pytest.mark.parametrize("f", [neighbours, step, unused], ids=lambda f: f.__name__)
@fail_unless_captured()
def test_vectors(f, small_blocks):
    more = (3,) if f is step else ()
    check(f, VECTOR, *more, others=[args + more for args in variants(VECTOR)], config=NUMBA)
    assert small_blocks


@fail_unless_captured()
def test_several_arrays(small_blocks):
    x, y = VECTOR, VECTOR[::-1].copy()
    others = [(x, y[:1]), (x[:1], y), (x[:0], y[:0]), (x[:0], y[:1]), (x, y[:7]), (x[:9], y[:9]),
              (PLANE, PLANE[:1]), (PLANE, PLANE[:, :1]), (PLANE[:1], PLANE), (PLANE, PLANE[0]), (PLANE[:, 0], PLANE),
              (PLANE[0], PLANE[:, :1])]
    check(logistic, x, y, others=others, config=NUMBA)
    check(waves, x, y, 0.5, others=[pair + (0.5,) for pair in others], config=NUMBA)
    check(waves, PLANE, PLANE + 1.0, 2.0, others=[pair + (2.0,) for pair in others], config=NUMBA)
    assert len(small_blocks) > 2


@fail_unless_captured()
def test_what_lasts(small_blocks):
    weight = np.linspace(0.5, 1.0, 6)
    others = [(PLANE, weight[:1]), (PLANE, weight[:5]), (PLANE[:3], PLANE[:3]), (PLANE, 2.0),
              (PLANE[:, 1:], weight[1:])]
    check(log_softmax, PLANE, weight, others=others, config=NUMBA)
    check(normalised, PLANE, weight, others=others, config=NUMBA)
    check(by_weights, PLANE, weight, others=others[:-2] + others[-1:], config=NUMBA)
    check(three_axes, PLANE.reshape(11, 2, 3), others=[(PLANE.reshape(11, 3, 2),), (PLANE.reshape(11, 2, 3)[:, :0],),
                                                       (PLANE.reshape(1, 11, 6),)], config=NUMBA)
    i = np.arange(-20, 21)
    check(whole_numbers, i, i[::-1], others=[(i, i[:3]), (i.astype("i1"), i.astype("i1")), (i[:1], i)], config=NUMBA)
    assert len(small_blocks) > 3


@pytest.mark.parametrize("place", [0, 5, 10])
@fail_unless_captured()
def test_flags_in_any_block(place, small_blocks):
    """A warning for a late block comes once, and from the line that NumPy gives it for."""
    calls = []
    for odd in (np.inf, -np.inf, np.nan, 800.0, -800.0, 1e308, 5e-324):
        x = PLANE.copy()
        x[place, 2] = odd
        calls.append((x,))
    for f in (softmax, lambda x: np.sqrt(np.exp(x) * x) + np.exp(x)):
        check(f, PLANE, others=calls, config=NUMBA)
        with np.errstate(all="raise"):
            check(f, PLANE, others=calls, config=NUMBA)
    assert small_blocks


@pytest.mark.parametrize("code", ["d", "f"])
@fail_unless_captured()
def test_large_arrays(code):
    """Of more than one block as they are; in two of them the last one is short."""
    x = np.linspace(-4.0, 4.0, 70001).astype(code)
    check(logistic, x, x[::-1], others=[(x[:65536], x[:65536]), (x, x[:1]), (x[::2], x[1::2][:1])], config=NUMBA)
    check(neighbours, x, config=NUMBA)
    plane = x[:69888].reshape(273, 256)
    planes = [plane.reshape(48, 1456), plane.reshape(3, 23296), plane[:, 1:]]
    check(softmax, plane, others=[(one,) for one in planes], config=NUMBA)


@pytest.mark.parametrize("code", ["d", "f"])
@fail_unless_captured()
def test_blocks_go_past_the_caches(code, small_blocks, monkeypatch):
    """Those of a large result, whatever is behind what they are computed from."""
    monkeypatch.setattr(block_size, "TILED_BYTES", 512)
    monkeypatch.setattr(block_size, "ALIGNMENT", 16)
    monkeypatch.setattr(nontemporal, "LEAST", 1024)
    monkeypatch.setattr(nontemporal, "LEAST_ROW", 128)
    parts, part_of = [], tiled_loops.TiledLoops.part_of
    monkeypatch.setattr(tiled_loops.TiledLoops, "part_of", lambda self, value: parts.append(part_of(self, value)) or parts[-1])
    x = np.linspace(-4.0, 4.0, 1501).astype(code)
    sizes = [(x[:size], x[-size:]) for size in (1, 15, 64, 127, 128, 129, 255, 256, 257, 1000)]
    check(logistic, x, x[::-1].copy(), others=sizes + [(x, x[::-1]), (x, x[:1]), (x[1:], x[:-1])], config=NUMBA)
    check(neighbours, x, others=[(x[:size],) for size in (1, 2, 17, 300)], config=NUMBA)
    plane = x[:1500].reshape(30, 50)
    check(waves, x, x[::-1].copy(), 0.5, others=[(plane, plane + 1.0, 0.5), (plane[1:], plane[:-1], 0.5)], config=NUMBA)
    odd = x.copy()
    odd[1400] = np.inf
    check(lambda x: np.exp(x) * x - np.exp(-x) * x, x, others=[(odd,), (odd[1000:],)], config=NUMBA)
    assert [part for part in parts if len(part) > 1]


def cheap(x, y):
    a = x * y + 1
    b = a * a - x
    c = b * a + y
    d = c * b - a
    return a, b, c, d


@pytest.mark.parametrize("few", [False, True])
def test_one_thread_does_many_cheap_operations_by_blocks_where_two_would_share_them(few, small_blocks, monkeypatch):
    """Integers: groups of floats become one nest with several results instead."""
    monkeypatch.setattr(tiling, "is_alone", lambda least: least == 0)
    monkeypatch.setattr(tiling, "gains_little", lambda least: few)
    x = np.arange(300)
    check(cheap, x, x[::-1].copy(), others=[(x[:7], x[7:14]), (x, x[:1])], config=dict(NUMBA, parallel="auto"))
    assert bool(small_blocks) == few


@pytest.mark.parametrize("alone", [False, True])
def test_threads_share_whole_arrays(alone, small_blocks, monkeypatch):
    monkeypatch.setattr(tiling, "is_alone", lambda least: least == 0 or alone)
    check(softmax, PLANE, config=dict(NUMBA, parallel="auto"))
    assert bool(small_blocks) == alone
