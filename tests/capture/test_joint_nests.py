"""Several new arrays of one loop nest: NumPy's bits, warnings and exceptions, and which statements run together."""

import warnings

import numpy as np
import pytest

import pijit
from pijit.core.kernel.numba_backend import NumbaEmitter
from tests.harness import check, fail_unless_captured, jitted

BACKENDS = pytest.mark.parametrize("backend", ["python", "numba"])
NATIVE = {"backend": "numba", "force_breaks": None}
X = np.linspace(-2.0, 3.0, 101)
Y = np.cos(X) + 1.5
ODD = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 5e-324, 1e200, -1e308, 2.0] * 7)
OTHER = np.array([0.0, 1e308, 0.0, 2.0, -1.0, 0.5, 5e-324, 1e200, 1e308, -0.0] * 7)
"""Of no two NaNs NumPy tells which is the result, so these are none."""


def unit(x, y):
    n = np.sqrt(x * x + y * y)
    return x / n, y / n


def unit_and_size(x, y):
    n = np.sqrt(x * x + y * y)
    a = x / n
    b = y / n
    return a, b, n


def lotka(x, y):
    return x + 0.01 * (1.1 * x - 0.4 * x * y), y + 0.01 * (0.1 * x * y - 0.4 * y)


def products(x, y):
    return x * y - 2.0, y * x - 2.0, x - y * 0.5, y - x * 0.5


def orders(x, y):
    return x * y, y * x, x + y, y + x


def steps(x, y):
    for _ in range(5):
        x, y = x + 0.01 * (1.1 * x - 0.4 * x * y), y + 0.01 * (0.1 * x * y - 0.4 * y)
    return x, y


def wholes(x, y):
    return x * 3 + y, y * 3 - x


def kept(x, y):
    a = x * 2.0 + y
    b = y * 2.0 - x
    c = np.divide(a, b)
    return a, b, c


def renewed(x, y):
    a = x * y
    a += x
    b = x * 2.0
    b -= y
    return a, b


def chosen(x, y, m):
    return np.where(m > 0.0, x, y), np.where(m > 0.0, y, x)


def unread(x, y):
    a = x / y
    b = x * y - x / y
    c = x * a + y
    return c


def neighbours(x, y):
    return x[2:] - x[:-2] + y[1:-1], x[2:] * y[2:] + x[:-2]


TOGETHER = {unread: 4, unit: 4, unit_and_size: 5, lotka: 4, products: 6, steps: 4, kept: 5, renewed: 4}
"""How many arrays each nest has to do with: those it reads, and those it makes."""


def three_sizes(x, y, z):
    return x * y + 1.0, x * y + z


def effect_between(x, y):
    a = x * y + 1.0
    x[0] = 7.0
    b = x * y + 2.0
    return a, b


def needed_between(x, y):
    a = x * y + 1.0
    s = a.sum()
    b = x * y + 2.0
    return a, b, s


def written_between(x, y):
    a = x * y + 1.0
    a[1:] = 0.5
    b = x * y + a
    return a, b


def other_state(x, y):
    with np.errstate(all="ignore"):
        a = x / y + y
    b = x / y - y
    return a, b


def judged(x, y):
    return x * y + 1.0, x < y, x > y


APART = [three_sizes, effect_between, needed_between, written_between, other_state, judged]


def sources(monkeypatch, f, *args):
    """The source of the kernels of a function, which tells what its nests compute."""
    found, write = [], NumbaEmitter.source

    def noted(emitter, name):
        text = write(emitter, name)
        found.append(text + "".join("\n# %s" % (symbol,) for symbol in emitter.symbols.values()))
        return text
    monkeypatch.setattr(NumbaEmitter, "source", noted)
    jitted(f, NATIVE)(*args)
    return "\n".join(found)


@pytest.mark.parametrize("f", sorted(TOGETHER, key=lambda f: f.__name__))
def test_one_nest(f, monkeypatch):
    text = sources(monkeypatch, f, X.copy(), Y.copy())
    calls = [line for line in text.splitlines() if line.strip().startswith("nest_")]
    assert len(calls) == 1 and "stores=((" in text and "arrays='%s'" % ("d" * TOGETHER[f]) in text, text


@pytest.mark.parametrize("f", APART)
def test_what_stays_apart(f, monkeypatch):
    args = (X.copy(), Y.copy(), Y.copy())[:f.__code__.co_argcount]
    assert "stores=((" not in sources(monkeypatch, f, *args)


@BACKENDS
@pytest.mark.parametrize("f", list(TOGETHER) + [orders, wholes, chosen, neighbours] + APART)
@pytest.mark.filterwarnings("always::RuntimeWarning")
def test_same_answers(f, backend):
    count = f.__code__.co_argcount
    calls = [(ODD, OTHER, OTHER), (OTHER, ODD, OTHER), (OTHER, OTHER[::-1], ODD),
             (X * 1e200, Y * 1e200, X), (X * 1e-200, Y * 1e-200, X),
             (X[:0], Y[:0], X[:0]), (X[:1], Y, Y), (X, Y[:1], X), (X, Y[:2], X), (X[::2], Y[::2], X[::2]), (X[::-1], Y, X),
             (np.tile(X, 60), np.tile(Y, 60), np.tile(X, 60)), (np.zeros(9), np.zeros(9), np.ones(9)),
             (X.astype("f"), Y.astype("f"), X.astype("f")), (X.astype("f"), Y, X),
             (np.arange(30), np.arange(1, 31), np.arange(30)),
             (X[:100].reshape(10, 10), Y[:100].reshape(10, 10), X[:100].reshape(10, 10)),
             (X[:100].reshape(10, 10).T, Y[:100].reshape(10, 10), X[:100].reshape(10, 10)),
             (X[:100].reshape(10, 10), Y[:10], Y[:10])]
    one = X.copy()
    with fail_unless_captured():
        check(f, *[a.copy() for a in (X, Y, X)[:count]], others=[tuple(a.copy() for a in args[:count]) for args in calls],
              aliased=[(one, one, one)[:count], (one[1:], one[:-1], one[1:])[:count]], config={"backend": backend})


@pytest.mark.parametrize("f", [unit, unit_and_size, lotka, kept, unread])
def test_errors_are_raised_where_numpy_raises(f):
    """At the line and in the order of the statements, with what was assigned by then."""
    def told(g):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                g(ODD, OTHER)
            except RuntimeWarning as error:
                frames, trace = [], error.__traceback__
                while trace is not None:
                    frames.append((trace.tb_frame.f_code.co_name, trace.tb_lineno, sorted(
                        name for name in trace.tb_frame.f_locals)))
                    trace = trace.tb_next
                return str(error), frames[-1]
        return None
    j = jitted(f, NATIVE)
    for _ in range(3):
        j(X, Y)
        assert told(j) == told(f) is not None


@pytest.mark.parametrize("shape", [(3,), (64,), (1000,), (30000,), (7, 11), (40, 3, 5)])
@pytest.mark.parametrize("f", [unit, lotka, steps, products])
def test_sizes(f, shape):
    """Small results that have no object, results whose memory is used again, and rows that are no whole vectors."""
    random = np.random.RandomState(5)
    j = jitted(f)
    kept = []
    for _ in range(4):
        x, y = random.rand(*shape) + 0.5, random.rand(*shape) + 0.5
        wanted, got = f(x, y), j(x, y)
        kept.append((wanted, got))
        for before, now in kept:
            assert [a.tobytes() for a in before] == [a.tobytes() for a in now]
        assert all(a.strides == b.strides and a.flags.owndata for a, b in zip(wanted, got))
        assert not any(np.shares_memory(a, b) for k, a in enumerate(got) for b in got[:k] + (x, y))


def test_threads_share_a_nest():
    x, y = np.linspace(0.5, 2.0, 200001), np.linspace(1.5, 0.25, 200001)
    j = pijit.jit(unit_and_size, jit_config=dict(NATIVE, parallel=True))
    for _ in range(3):
        assert [a.tobytes() for a in j(x, y)] == [a.tobytes() for a in unit_and_size(x, y)]
