"""``x[x < low] = low``: numbers under masks that are computed where they are needed."""

import numpy as np
import pytest

import pijit
from tests.harness import check, fail_unless_captured

BACKENDS = pytest.mark.parametrize("backend", ["python", "numba"])


def bounded(x, y, low, high):
    x[x < low] = low
    x[x > high] = high
    return x


def repaired(x, y, low, high):
    y[~(np.isfinite(x) & (x != low))] = high
    y[(x > y) | (x <= low)] = low
    return y


def shifted(x, y, low, high):
    u, v = y[:-1], y[1:]
    u[v > x[1:]] = high
    v[u == high] = low
    return y


def in_a_loop(x, y, low, high):
    for k in range(5):
        x[x == k] = low
        y[x < k] = high
    return x, y


FUNCTIONS = [bounded, repaired, shifted, in_a_loop]
ODD = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 5e-324, 1.0, 2.0, -3.0, 4.0])


@pytest.mark.parametrize("f", FUNCTIONS)
def test_they_are_nests(f, groups):
    pijit.jit(f, jit_config={"backend": "numba", "cache": False})(ODD.copy(), ODD[::-1].copy(), 1.0, 2.0)
    assert [group[-1].name for group in groups].count("put_mask") >= 2 and min(map(len, groups)) > 1


@BACKENDS
@pytest.mark.parametrize("f", FUNCTIONS)
@pytest.mark.filterwarnings("error")
def test_same_answers(f, backend):
    """Nothing warns; what is not chosen keeps its bits; masks of other shapes, and what is read-only, raise."""
    x, y = ODD, ODD[::-1].copy()
    fixed = x.copy()
    fixed.setflags(write=False)
    large = np.linspace(-5.0, 5.0, 3001)
    whole = np.arange(12.0)
    calls = [(x, y, 0.0, -0.0), (x, y, np.nan, np.inf), (x, x, 1.0, 2.0), (fixed, y, 1.0, 2.0), (y, fixed, 1.0, 2.0),
             (large, large[::-1].copy(), -1.0, 1.5), (x[:0].copy(), y[:0].copy(), 1.0, 2.0), (x[:1].copy(), y, 1.0, 2.0),
             (x, y[:1].copy(), 1.0, 2.0), (x, y[:5].copy(), 1.0, 2.0), (x[::2], y[::2], 1.0, 2.0)]
    shared = [(whole[1:], whole[:-1], 3.0, 7.0), (whole[:-1], whole[1:], 3.0, 7.0), (whole, whole, 3.0, 7.0)]
    with fail_unless_captured():
        check(f, x, y, 1.0, 2.0, others=calls, aliased=shared, config={"backend": backend}, calls=1)


@pytest.mark.parametrize("code", "BhlLf?")
@fail_unless_captured()
def test_other_types(code):
    x, y = np.arange(12).astype(code), (np.arange(12)[::-1] % 5).astype(code)
    low, high = x[1], x[7]
    calls = [(x.reshape(3, 4), y.reshape(3, 4), low, high), (x.reshape(3, 4), y.reshape(3, 4).T, low, high),
             (x.reshape(3, 4), y[:4], low, high), (x, y, 1, 0), (x, y, True, False)]
    for f in (bounded, repaired):
        check(f, x, y, low, high, others=calls, config={"backend": "numba"}, calls=1)


@BACKENDS
@fail_unless_captured()
def test_odd_bits_stay(backend):
    """Bools that are neither 0 nor 1, and NaNs that signal."""
    x, bits = np.arange(6, dtype="B"), np.array([0x7ff0000000000001, 0xfff0000000000002, 0], "Q")
    for x, y in ((x.view(bool), x > 3), (bits.view("d"), np.array([1.0, 2.0, 3.0]))):
        check(repaired, y.copy(), x, y[0], y[2], config={"backend": backend}, calls=1)
        check(bounded, x, y, y[2], y[0], config={"backend": backend}, calls=1)
