"""An array is known to fit what it was broadcast to: shapes are compared once, and others raise as ever."""

import itertools

import numpy as np
import pytest

from tests.capture.kernels.test_straight_arrays import made
from tests.harness import check, fail_unless_captured, jitted

EMPTY_STRIDES_ARE_KNOWN = np.empty((2, 0)).strides == (0, 0)
"""Whether all empty arrays have strides of 0, as from NumPy 1.23 on; see docs/limits.md."""
NUMBA = {"force_breaks": None, "backend": "numba", "cache": False}


def chained(x, y, z):
    a = x + y
    b = a * x
    c = b - z
    d = z * a + y
    return a, b, c, d


def in_place(x, y, z):
    a = x * y + z
    a += y
    a *= x
    a -= z + y
    return a


def stored(x, y, z):
    x[:] = y * 2.0
    x[:] = x + y
    z[:] = x - y
    return x * z + y


def branching(x, y, z):
    a = x + y
    if a.shape[0] > 2:
        a = a * z
    else:
        a = z - y
    b = a * x
    return b + y, a - z


def looping(x, y, z):
    a = x + y
    for _ in range(3):
        a = a * x
        b = a - z
        a = b + y
    return a, b


def minimum(x, y, z):
    a = np.minimum(x, y)
    b = np.where(a < z, a, x)
    return np.maximum(b * z, y), b


SIZES = (0, 1, 3) if tuple(map(int, np.__version__.split(".")[:2])) > (1, 21) else (1, 2, 3)
"""NumPy up to 1.21 gives other strides of what is empty."""
SHAPES = [shapes for shapes in itertools.product(itertools.product(SIZES, repeat=2), repeat=3)
          if EMPTY_STRIDES_ARE_KNOWN or 0 not in sum(shapes, ())]


def numbers(shape, seed):
    return np.random.RandomState(seed).rand(*shape) + 0.25


@pytest.mark.parametrize("first", [((3, 3), (3, 3), (3, 3)), ((3, 1), (1, 3), (1, 1)), ((1, 1), (3, 1), (3, 3))])
@pytest.mark.parametrize("f", [chained, in_place, stored, branching, looping, minimum])
def test_all_shapes(f, first):
    """They broadcast in any order, or do not, and then the same statement says so."""
    step = {chained: 7, looping: 11}.get(f, 13)
    calls = [tuple(numbers(shape, k) for k, shape in enumerate(shapes)) for shapes in SHAPES[::step]]
    with fail_unless_captured():
        check(f, *(numbers(shape, k) for k, shape in enumerate(first)), others=calls, calls=1)


@pytest.mark.parametrize("ranks", [(1, 2, 1), (2, 1, 1), (1, 1, 3)])
@pytest.mark.parametrize("f", [chained, in_place, minimum])
def test_other_ranks(f, ranks):
    shapes = [tuple(sizes[:rank] for rank in ranks) for sizes in itertools.product((1, 3), repeat=3)]
    calls = [tuple(numbers(shape, k) for k, shape in enumerate(one)) for one in itertools.product(*zip(*shapes))]
    with fail_unless_captured():
        check(f, *(numbers((3,) * rank, k) for k, rank in enumerate(ranks)), others=calls[::23], calls=1)


@pytest.mark.parametrize("lines, expected", [(["a = a * c + d"], 2), (["a = a * c + d", "a += b"], 2),
                                             (["a = a * c + d", "e = c - a"], 2),
                                             (["a = a * c + d", "e = np.exp(c - a)"], 4)])
def test_shapes_are_compared_once(lines, expected):
    """Where blocks of rows are computed, before these and inside."""
    def comparisons(count):
        j = jitted(made(lines * count + ["g = a.sum()"], "a, g"), dict(NUMBA, parallel=False))
        j(np.ones(5), np.full(5, 0.5), np.ones(1))
        return [kernel.source.count("_fails(") for kernel in j.state.entries[0].record.kernels]

    assert comparisons(3) == comparisons(30) == [expected]
