"""Operators that write in place, on arrays that only the function has seen: one loop, and nothing of it shows."""

import numpy as np
import pytest

import pijit
from pijit.core.graph.passes import recorded
from tests.harness import check, fail_unless_captured

BACKENDS = pytest.mark.parametrize("backend", ["python", "numba"])
X = np.linspace(-3.0, 3.0, 11)


def chain(x, y, scale):
    z = x * scale
    z += 0.5 * np.abs(z) * z
    z *= y
    z -= 1.0
    return z


def clipped(x, y, scale):
    z = np.clip(x * scale, -0.75, 0.5)
    z += z * y
    np.divide(z, 0.25, out=z)
    z *= z
    return z


def two_names(x, y, scale):
    z = w = x - y
    z /= scale
    pair = [z, w]
    z += y
    return pair, z is w, w


def in_a_loop(x, y, scale):
    total = np.zeros_like(x)
    for k in range(4):
        step = x * k
        step *= scale
        step += y
        total += step
    return total


def seen_before(x, y, scale):
    z = x * scale
    ahead, s = z[1:], z.sum()
    z += y
    return z, ahead, s


def errors_between(x, y, scale):
    z = x + y
    z += np.exp(y)
    z *= np.exp(x)
    return z


FUNCTIONS = [chain, clipped, two_names, in_a_loop, seen_before, errors_between]
LEFT = {chain: 0, clipped: 0, two_names: 1, in_a_loop: 1, seen_before: 1, errors_between: 2}


@pytest.mark.parametrize("f", FUNCTIONS)
def test_which_are_renewed(f):
    with recorded() as stages:
        pijit.jit(f, jit_config={"backend": "python"})(X, X + 1.0, 2.0)
    text = next(iter(stages.values()))[-1].text
    assert text.count("ufunc_into") == LEFT[f]


@BACKENDS
@pytest.mark.parametrize("f", FUNCTIONS)
@pytest.mark.filterwarnings("always::RuntimeWarning")
def test_same_answers(f, backend):
    """Also where an operand does not fit into the array, or the operator has to convert, warn or raise."""
    odd = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, 1.5, 1e308, -1e308, 2.0, 3.0])
    large = np.linspace(-9.0, 9.0, 3000)
    calls = [(X, odd, 2.0), (odd, X, 1e308), (X, X, 0.0), (X, X[::-1], np.nan), (large, large[::-1].copy(), 0.5),
             (X[::2], X[5:], 2.0), (X[:1], X, 2.0), (X, X[:1], 2.0), (X, X[:3], 2.0), (X[:0], X[:0], 1.0)]
    with np.errstate(all="warn"), fail_unless_captured():
        check(f, X, X + 1.0, 2.0, others=calls, config={"backend": backend}, calls=1)
    with np.errstate(all="raise"):
        check(f, X, X + 1.0, 2.0, others=[(X, odd, 2.0), (odd, X, 1e308)], config={"backend": backend}, calls=1)


@BACKENDS
def test_other_types_and_layouts(backend):
    grid, row = np.arange(12.0).reshape(3, 4), np.arange(4.0)
    calls = [(grid, row, 2.0), (row, grid, 2.0), (grid.T.copy().T, grid, 2.0), (grid, grid.T.copy().T, 2.0),
             (grid[:, ::2], row[:2], 2.0), (grid.astype("f"), row.astype("f"), np.float32(2.0)),
             (grid.astype("f"), row, 2.0), (grid.astype("l"), row.astype("l"), 3), (grid.astype("l"), row, 3),
             (grid.astype("b"), row.astype("b"), np.int8(100)), (row, row[:, None], 2.0)]
    with fail_unless_captured():
        check(chain, X, X, 2.0, others=calls, config={"backend": backend, "cache_limit": 32}, calls=1)
