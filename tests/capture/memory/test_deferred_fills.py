"""New arrays of which a store replaces most: what is around it, and what is there when the store reports an error."""

import itertools

import numpy as np
import pytest

from tests.harness import check, fail_unless_captured, jitted

BACKENDS = pytest.mark.parametrize("backend", ["python", "numba"])
LINE = np.linspace(-3.0, 3.0, 100)
GRID = np.cos(np.arange(12.0 * 11)).reshape(12, 11)


def diffused(u, c):
    new = u.copy()
    new[1:-1] = u[1:-1] + c * (u[2:] - u[:-2])
    return new


def in_zeros(u, c):
    new = np.zeros_like(u)
    new[1:-1, 2:] = u[1:-1, 2:] * c - u[2:, :-2]
    return new, new[0]


def in_a_number(u, c):
    new = np.full(u.shape, c)
    new[:-2] = u[2:] * c - c
    return new


def anywhere(u, c):
    new = np.empty_like(u)
    new[1:-1] = u[2:] * c - c
    return new[1:-1] + 0.0


def steps(u, c):
    new = u.copy()
    new[::2] = u[::2] * c + c
    row = np.ones_like(u)
    row[-1:0:-1] = u[1:] * c - u[:-1]
    return new, row


def read_before(u, c):
    new = u.copy()
    first = new[:2] * 3.0 + c
    u[0] = c
    new[1:-1] = u[1:-1] + c * (u[2:] - new[:-2])
    other = u.copy()
    u[1:] = c
    other[1:] = u[1:] * c + c
    return new, first, other


def one_row(u, c):
    new = u.copy()
    new[1, 1:-1] = u[0, 1:-1] * c + u[2, 1:-1]
    return new


def caught(u, c):
    new = u.copy()
    zero = np.zeros_like(u)
    try:
        new[1:-1] = u[1:-1] * c + u[2:]
        zero[1:] = u[1:] * c * u[:-1]
    except FloatingPointError:
        return new, zero, -1
    return new, zero, 1


CASES = [(diffused, LINE), (in_zeros, GRID), (in_a_number, LINE), (anywhere, LINE), (steps, LINE),
         (read_before, LINE), (one_row, GRID), (caught, LINE)]


@BACKENDS
@pytest.mark.parametrize("f, u", CASES)
@pytest.mark.filterwarnings("always::RuntimeWarning")
def test_same_answers(f, u, backend):
    odd = u.copy()
    odd.flat[[3, 40, -5, -20]] = np.inf, -np.inf, np.nan, 1e308
    calls = [(odd, 1e308), (odd, 0.5), (u[:3], 0.5), (u[:2], 1e308), (u[:1], 2.0), (u[::2], 2.0), (u[::-1], 2.0)]
    with np.errstate(all="warn"), fail_unless_captured():
        check(f, u, 0.25, others=calls, config={"backend": backend, "cache_limit": 16}, calls=1)
    with np.errstate(all="raise"):
        check(f, u, 0.25, others=[(odd, 1e308), (u * 1e300, 1e100)], config={"backend": backend}, calls=1)


@pytest.mark.parametrize("code", ["f", "i", "b", "D", "?"])
def test_other_elements(code):
    c = np.dtype(code).type(1)
    with fail_unless_captured():
        check(_doubled, GRID.astype(code), c, others=[(GRID.T.astype(code), c)], calls=1)


def _doubled(u, c):
    new, ones = u.copy(), np.ones_like(u)
    new[2:-1, 1:-2] = u[2:-1, :-3] + c * u[2:-1, 3:]
    ones[1:, 1:] = u[1:, 1:] + c * u[:-1, :-1]
    return new, ones


def _box(u, a, b, c, d):
    new = u.copy()
    new[a:b, c:d] = u[a:b, c:d] * 2.0 + 1.0
    cube = np.zeros((2,) + u.shape)
    cube[:1, a:b, c:d] = (u[a:b, c:d] * 2.0 - 1.0)[None]
    return new, cube


@pytest.mark.parametrize("shape", [(4, 3), (1, 3), (3, 0)])
def test_boxes_anywhere(shape):
    """Also empty ones, and all of the array."""
    u = np.arange(float(np.prod(shape))).reshape(shape)
    box = jitted(_box)
    for ends in itertools.product((0, 1, -1, 9), (0, 2, -1, 9), (0, 1, -2), (0, 2, 9)):
        for mine, theirs in zip(box(u, *ends), _box(u, *ends)):
            assert mine.tobytes() == theirs.tobytes() and mine.strides == theirs.strides, ends
