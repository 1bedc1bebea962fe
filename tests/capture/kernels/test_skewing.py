"""Statements in place that are done for some rows after the others: nothing shows that, but their speed."""

import numpy as np
import pytest

from pijit.core.kernel.emit.stores import skewed_loops
from pijit.core.kernel.plan import skewing
from pijit.core.kernel.plan.forms import block_size
from tests.harness import check, fail_unless_captured

NUMBA = {"backend": "numba", "force_breaks": None, "parallel": False}
U, V = np.linspace(0.0, 1.0, 29 * 6).reshape(29, 6) % 0.37, np.linspace(1.0, 0.0, 29 * 6).reshape(29, 6) % 0.41
X, Y = np.linspace(-1.0, 2.0, 101), np.linspace(3.0, 1.0, 101) % 1.3


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of a few rows; the runs that were written."""
    written, write = [], skewed_loops.SkewedLoops._write_loop
    monkeypatch.setattr(block_size, "SKEWED_BYTES", 96)
    monkeypatch.setattr(block_size, "ALIGNMENT", 4)
    monkeypatch.setattr(skewed_loops, "LEAST_BLOCKS", 2)
    monkeypatch.setattr(skewed_loops.SkewedLoops, "_write_loop", lambda self, run: (written.append(run), write(self, run)))
    return written


@pytest.fixture
def blocks_alone(small_blocks, monkeypatch):
    """A kernel that would have to do all rows at once fails."""
    write = skewed_loops.SkewedLoops._write_loop

    def write_loop(self, run):
        self.emitter.indented("if %s == 0:" % self._blocks, "return -2")
        write(self, run)
    monkeypatch.setattr(skewed_loops.SkewedLoops, "_write_loop", write_loop)
    return small_blocks


def laplacian(u):
    return u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * u[1:-1, 1:-1]


def reaction(u, v, feed):
    lu, lv = laplacian(u), laplacian(v)
    inner_u, inner_v = u[1:-1, 1:-1], v[1:-1, 1:-1]
    uvv = inner_u * inner_v ** 2
    inner_u += 0.16 * lu - uvv + feed * (1.0 - inner_u)
    inner_v += 0.08 * lv + uvv - (feed + 0.06) * inner_v
    return u, v


def reaction_that_shows(u, v, feed):
    lu, lv = laplacian(u), laplacian(v)
    u[1:-1, 1:-1] += feed * lu
    v[1:-1, 1:-1] += feed * lv - u[1:-1, 1:-1]
    return lv


def alternating(u, w):
    for _ in range(3):
        w[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        u[1:-1, 1:-1] = 0.25 * (w[:-2, 1:-1] + w[2:, 1:-1] + w[1:-1, :-2] + w[1:-1, 2:])
    return u


def string(v, u):
    v[1:-1] += 0.25 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    u[1:-1] += 0.5 * v[1:-1]


def momentum(m, w):
    m *= 0.9
    m += 0.1 * w
    w -= 0.01 * m
    return m.sum()


def three_phases(a, b):
    c = a * 0.5
    c[:-1] += b[1:]
    a[:-1] -= 0.5 * b[:-1]
    b[:-1] += a[1:] * 0.25
    a[:-1] += b[1:] - a[:-1]
    return c


def from_afar(a, b):
    a[40:] += b[:-40]
    b[:-40] -= a[40:] * 0.5
    b[40:] += a[:-40] * 0.25


def by_row_vector(a, b):
    row = b[0] * 2.0
    a += row
    a *= 0.5
    a -= row


def of_one(a, b):
    a[1:] += 0.5 * b[:-1]
    b[1:] -= 0.5 * a[:-1]
    a[:-1] *= 0.75


def two_lengths(a, b):
    a[1:] -= 0.5 * b[1:]
    b[:] = a * 0.5 + b
    return a


BY_VALUE = int(np.__version__.partition(".")[0]) < 2
"""NumPy looks at the value of a Python float that meets float32: bytecode asks it."""

FLAT = [string, momentum, three_phases, from_afar, of_one]
PLANES = [reaction_that_shows, alternating, momentum, of_one, by_row_vector]


def pairs(x, y):
    """Arrays of other dtypes, layouts and sizes, and such that share memory."""
    wide = np.repeat(x, 2, axis=0)
    return [(x.astype("f"), y.astype("f")), (x.astype("f"), y), (x[:5].copy(), y[:5].copy()), (x[:1].copy(), y[:1].copy()),
            (x[:0].copy(), y[:0].copy()), (wide[::2], y), (x, wide[1::2]), (np.asfortranarray(x), np.asfortranarray(y)),
            (wide[:len(x)], wide[len(x):]), (wide[1:len(x) + 1], wide[:len(x)]), (wide[:len(x)], wide[1:len(x) + 1]),
            (wide[:len(x)],) * 2, (wide[:len(x)], wide[len(x) - 1::-1])]


@pytest.mark.parametrize("f", FLAT, ids=lambda f: f.__name__)
@fail_unless_captured()
def test_vectors(f, small_blocks):
    check(f, X, Y, others=pairs(X, Y), config=NUMBA)
    assert small_blocks


@pytest.mark.parametrize("f", PLANES, ids=lambda f: f.__name__)
@fail_unless_captured()
def test_planes(f, small_blocks):
    more = (0.05,) if f is reaction_that_shows else ()
    narrow = [(U[:, :2].copy(), V[:, :2].copy()), (U[:, :0].copy(), V[:, :0].copy()), (U[:, 1:], V[:, 1:])]
    check(f, U, V, *more, others=[pair + more for pair in pairs(U, V) + narrow], config=NUMBA)
    assert small_blocks


@fail_unless_captured()
def test_helpers(small_blocks):
    check(reaction, U, V, 0.035, others=[pair + (0.035,) for pair in pairs(U, V)], config=NUMBA)
    assert {len(run.phases) for run in small_blocks} == {2}
    assert sorted(small_blocks[0].slots.values()) == [2, 2, 2]


@pytest.mark.parametrize("code", ["d", "f"])
@pytest.mark.parametrize("f", FLAT, ids=lambda f: f.__name__)
def test_vectors_by_blocks(f, code, blocks_alone):
    x, y = (np.tile(one, 3).astype(code) for one in (X, Y))
    check(f, x, y, others=[(x[:211], y[:211])], config=NUMBA)
    assert blocks_alone


@pytest.mark.parametrize("code", ["d", "f"])
@pytest.mark.parametrize("f", PLANES + [reaction], ids=lambda f: f.__name__)
def test_planes_by_blocks(f, code, blocks_alone):
    more = (0.05,) if f in (reaction_that_shows, reaction) else ()
    check(f, U.astype(code), V.astype(code), *more,
          others=[(U[:27, :5].astype(code), V[:27, :5].astype(code)) + more], config=NUMBA)
    assert blocks_alone or BY_VALUE and more and code == "f"


@fail_unless_captured()
def test_other_lengths(small_blocks):
    """The second statement may fail where the first one does not; the first one is done then."""
    others = [(X, Y[:100]), (X, Y[:1]), (X[:1], Y), (X, Y[:0]), (X[:0], Y), (X[:2], Y[:2])]
    check(two_lengths, X, Y, others=others, config=NUMBA)
    check(momentum, X, Y, others=others, config=NUMBA)
    check(by_row_vector, U, V, others=[(U, V[:, :1]), (U, V[:, :5]), (U[:1], V), (U[:, :1], V)], config=NUMBA)
    check(reaction, U, V, 0.1, others=[(U, V[:28], 0.1), (U, V[:3], 0.1), (U[:3], V, 0.1), (U[:, :3], V, 0.1)],
          config=NUMBA)
    assert small_blocks


@pytest.mark.parametrize("errors", ["warn", "raise", "ignore", "underflow"])
@pytest.mark.parametrize("place", [0, 14, 28])
@fail_unless_captured()
def test_flags_in_any_block(place, errors, small_blocks):
    """A warning for a late row comes before anything is stored that depends on it, and an error instead of that."""
    calls = []
    for odd in (np.inf, np.nan, 1e308, -1e308, 5e-324, 1e-300):
        for which in range(2):
            pair = [U.copy(), V.copy()]
            pair[which][place, 3] = odd
            calls.append(tuple(pair))
    asked = {"under": "warn"} if errors == "underflow" else dict.fromkeys(("divide", "over", "invalid"), errors)
    with np.errstate(**asked):
        check(reaction, U, V, 0.035, others=[pair + (1e300,) for pair in calls], config=NUMBA)
        check(alternating, U, V, others=calls, config=NUMBA)
        check(momentum, U, V, others=calls, config=NUMBA)
        check(of_one, X, Y, others=[(a[:, 3].copy(), b[:, 3].copy()) for a, b in calls], config=NUMBA)
    assert small_blocks


@fail_unless_captured()
def test_bounds_grow(small_blocks):
    """What is known of an array in front of a run holds behind it only as far as the run goes."""
    def grows(a, b, count):
        for _ in range(count):
            a *= 1e100
            b += a
            a += b
        return a

    check(grows, np.ones(101), np.ones(101), 2, others=[(np.ones(101), np.ones(101), count) for count in (1, 3, 4, 5)],
          config=NUMBA)
    assert small_blocks


@pytest.mark.parametrize("code", ["d", "f"])
@fail_unless_captured()
def test_large_arrays(code):
    """Of more than one block as they are."""
    x = np.linspace(-1.0, 1.0, 300 * 257).astype(code)
    u, v = x.reshape(300, 257), x[::-1].copy().reshape(300, 257)
    check(reaction, u, v, 0.035, others=[(x.reshape(257, 300), x.reshape(257, 300) * 2, 0.1),
                                         (x.reshape(6, -1), x.reshape(6, -1) * 2, 0.1)], config=NUMBA)
    check(from_afar, x, x * 2, config=NUMBA)
    check(momentum, x, x * 2, others=[(u, v)], config=NUMBA)


@pytest.mark.parametrize("alone", [False, True])
def test_threads_share_whole_arrays(alone, small_blocks, monkeypatch):
    monkeypatch.setattr(skewing, "is_alone", lambda least: least == 0 or alone)
    check(momentum, X, Y, config=dict(NUMBA, parallel="auto"))
    assert bool(small_blocks) == alone


@fail_unless_captured()
def test_other_operations(small_blocks):
    """What is no arithmetic in place ends a run, and groups of one stay apart where np.errstate does."""
    def others(a, b, m):
        a += b
        a[m] = -a[m]
        b[m] *= 0.5
        b -= a[np.minimum(np.arange(len(a)), 5)]
        with np.errstate(divide="ignore", invalid="ignore"):
            c = a / b
        c += 1.0
        a *= 0.5
        return c, a.astype(np.float32)

    check(others, X, Y, X > 0.5, others=[(X, Y * 0.0, X > 0.5), (X[:0], Y[:0], X[:0] > 0)], config=NUMBA)
