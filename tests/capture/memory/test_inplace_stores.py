"""Statements that write floats in place where no flag can be raised, and by way of a buffer where one may be."""

import signal
import warnings

import numpy as np
import pytest

import pijit
from tests.capture.arrays.indexing.test_gathers import NUMBA
from tests.capture.exits.test_polls import alarm
from tests.capture.scalars.test_scalars import define
from tests.harness import check, fail_unless_captured

LARGE = {"d": [2.0 ** 1020, 1.7e308, np.inf, np.nan, -np.inf], "f": [2.0 ** 125, 3e38, np.inf, np.nan]}

VECTORS = ("u[1:] -= c * (u[1:] - u[:-1])", "u[:-1] = u[1:] + u[:-1] * c", "v[:] = np.sqrt(u * u) + c", "u += c * v",
           "u[1:] = u[:-1]; u[2:] = (u[:-2] + v[2:]) / c", "v[1:-1] = c * (u[2:] - 2.0 * u[1:-1] + u[:-2])",
           "u[:] = u[::-1] * c + v", "u[::2] += v[::2] * c", "u[3:] = u[:-3] * u[:-3] - abs(u[3:]) + k[3:]",
           "u -= u[0] * c - v; u *= u; u += u", "np.add(u[:-1], v[1:] * c, out=u[1:]); u[1:] += u[:-1]",
           "u[1:] = np.sqrt(u[:-1])")


@pytest.mark.parametrize("code", "df")
@pytest.mark.parametrize("store", VECTORS)
@pytest.mark.filterwarnings("always::RuntimeWarning")
def test_vectors(store, code):
    """Of several blocks and of none; with elements that overflow, and the same array twice, or two parts of one."""
    f = define("def f(u, v, c, k):\n    %s\n    return u, v, u[-1]" % store)
    size = 40000
    u, v, k = np.sin(np.arange(size)).astype(code), np.cos(np.arange(size)).astype(code), np.arange(size)
    kind = {"d": float, "f": np.float32}[code]
    half, three, small, large, zero = map(kind, (0.5, 3, 1e-300, np.inf, 0))
    calls = [(u, v, half, k), (u[:65], v[:65], three, k[:65]), (u[:9], v[:9], three, k[:9]), (u, v, small, k),
             (u, v, large, k), (u, v, zero, k)]
    for number in LARGE[code]:
        middle, last = u.copy(), u.copy()
        middle[size // 3:size // 3 + 2], last[-1] = number, number
        calls += [(middle, v, half, k), (u, last, three, k)]
    both = np.tan(np.arange(2 * size)).astype(code)
    aliased = [(u, u, half, k), (both[:size], both[1:size + 1], half, k), (both[5:size + 5], both[:size], half, k)]
    with fail_unless_captured():
        check(f, *calls[0], others=calls[1:], aliased=aliased, config=NUMBA, calls=1)


GRIDS = ("a[1:-1, 1:-1] = 0.25 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])",
         "b[1:-1, 1:-1] = 2.0 * a[1:-1, 1:-1] - b[1:-1, 1:-1] + c * (a[2:, 1:-1] + a[:-2, 1:-1])",
         "a[5:] = a[:-5] * c + b[5:]; b[:] += a", "a[:, 1:] -= 0.5 * (b[:, 1:] - a[:, :-1])", "a[:] = a.T * c + b",
         "a[1:] = a[:1] * c + b[1:]", "a[::-1] = a * c + b", "a[2:, 2:] = a[2:, :-2] + a[:-2, 2:] * c")


@pytest.mark.parametrize("store", GRIDS)
@pytest.mark.filterwarnings("always::RuntimeWarning")
def test_grids(store):
    """In loops that look at operands now and then; other layouts, few rows, single elements stored between."""
    f = define("def f(a, b, c, steps, late):\n    for k in range(steps):\n        if k == 1:\n"
               "            a[4, 5] = late\n        %s\n    return a, b" % store)
    a, b = (make(np.arange(150.0 * 150)).reshape(150, 150) for make in (np.sin, np.cos))
    calls = [(a, b, 0.5, 5, 0.5), (a, b, 0.5, 5, 1.6e308), (a, b, 0.5, 5, np.inf), (a, b, 2.0 ** 300, 6, 1.0),
             (a, b, 0.5, 0, 1.0), (a[:6, :6], b[:6, :6], 0.5, 5, 1.0), (a.T, b, 0.5, 5, 1.0),
             (a, b * 1e308, 0.5, 5, 1.0),
             (np.asfortranarray(a), b, 0.5, 5, 1.0), (a[:, ::2][:75], b[:75, :75], 0.5, 5, 1.0),
             (a[::-1], b[::-1], 0.5, 5, 1e308)]
    aliased = [(a, a, 0.5, 5, 0.5), (a[1:], a[:-1], 0.5, 5, 1e308)]
    with fail_unless_captured():
        check(f, *calls[0], others=calls[1:], aliased=aliased, config=NUMBA, calls=1)


@pytest.mark.parametrize("kind", ["under", "over", "invalid"])
def test_what_errstate_raises(kind):
    """Nothing has been written when an error is raised, also by an underflow, which NumPy ignores by default."""
    def step(u, v):
        u[1:] = (u[:-1] * v[1:]) * v[:-1]

    f = pijit.jit(step, jit_config=NUMBA)
    u, v = np.full(5000, 1e-160), np.full(5000, 0.5)
    f(u.copy(), v)
    v[4321] = {"under": 1e-160, "over": 1e308, "invalid": np.inf}[kind]
    v[4320] = {"under": 1e-160, "over": 1e308, "invalid": -1.0}[kind]
    u[4320] = {"under": 1e-160, "over": 1e308, "invalid": 0.0}[kind]
    before = u.tobytes()
    for states in ({kind: "raise"}, {kind: "call", "call": lambda *_: seen.append(u.tobytes())}):
        seen = []
        with np.errstate(**{key: how for key, how in states.items() if key != "call"}):
            old = np.seterrcall(states.get("call"))
            try:
                if "call" in states:
                    f(u, v)
                else:
                    with pytest.raises(FloatingPointError):
                        f(u, v)
            finally:
                np.seterrcall(old)
        assert set(seen) <= {before} and bool(seen) == ("call" in states)
        assert (u.tobytes() == before) == ("call" not in states)


def test_warnings_that_are_errors():
    def step(u, c):
        u[1:] = u[:-1] * c + u[1:]

    f = pijit.jit(step, jit_config=NUMBA)
    u = np.full(3000, 1e300)
    f(u.copy(), 2.0)
    before = u.tobytes()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="overflow encountered in multiply"):
            f(u, 1e10)
        assert u.tobytes() == before
        f(u, 1e7)
    assert u[1] == 1e300 * 1e7 + 1e300


FACTORS = ("u[:] = u * a / b", "u[:] = u * a * b * a * b", "u[:] = u * a - v * a", "u[:] = (w + v) * a - (w + v) * a",
           "u[:] = u * a * v; u[:] = u - u * 1.0 - v", "u[:] = abs(-u) * a / b - v")


@pytest.mark.parametrize("store", FACTORS)
@pytest.mark.filterwarnings("always::RuntimeWarning")
def test_small_factors_hide_nothing(store):
    """What is infinite, or divided by nothing, is so however small the rest is."""
    f = define("def f(u, v, w, a, b):\n    %s\n    return u, v" % store)
    u, v, w = np.sin(np.arange(500.0)), np.cos(np.arange(500.0)), np.sin(np.arange(500)).astype("f")
    large = [array.copy() for array in (u, v, w)]
    for array in large:
        array[70:72] = np.inf, -np.inf
    pairs = [(2.0 ** -50, 0.0), (1e-300, 5e-324), (1e-300, np.inf), (1e-300, np.nan), (2.0 ** -50, 2.0 ** -1022),
             (np.float64(1e-20), np.float64(-0.0)), (np.inf, 1e-300)]
    calls = [(u, v, w, 0.5, 2.0)] + [(u, v, w) + pair for pair in pairs] + [tuple(large) + pair for pair in pairs]
    with fail_unless_captured():
        check(f, *calls[0], others=calls[1:], config=NUMBA, calls=1)


@pytest.mark.filterwarnings("always::RuntimeWarning")
def test_bounds_of_the_same_memory_as_another_type():
    def f(u, v, w, steps):
        for _ in range(steps):
            u[:] = u * 0.5 + 0.25
            w[:] = w * w - w * w

    u = np.sin(np.arange(400.0)) * 1e-12
    calls = [(u, u, np.float32(1) * u.astype("f"), 3), (u, u, u.view("f"), 4), (u * 1e80, u, u.view("f"), 4)]
    with fail_unless_captured():
        check(f, *calls[0], aliased=calls[1:], config=NUMBA, calls=1)


class Rang(Exception):
    pass


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers")
def test_signals_arrive_while_numpy_is_asked():
    """A handler runs between two statements of the loop, not in what asks NumPy which errors are ignored."""
    def step(u, v, n):
        for _ in range(n):
            u[1:] = u[:-1] * 0.5 + v[1:]

    def ring():
        rung.append(True)
        raise Rang

    f = pijit.jit(step, jit_config=dict(NUMBA, perf_statistics=False))
    u, v, rung, caught = np.ones(100), np.ones(100), [], 0
    f(u, v, 5)
    for _ in range(15):
        try:
            with alarm(0.003, ring):
                f(u, v, 300000)
        except Rang:
            caught += 1
    assert caught == len(rung) == 15
