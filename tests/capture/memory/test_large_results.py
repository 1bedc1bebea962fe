"""Results of more than 16 MiB, which are written past the caches."""

import numpy as np
import pytest

from tests.harness import check, fail_unless_captured

SIZE = (17 << 20) // 4


def chain(x, y):
    return (x * y - 1.0) / (y + 3.0)


def inner(x, y):
    new = x.copy()
    new[1:-1] = x[1:-1] + y[1:-1] * (x[2:] - x[:-2])
    return new


@pytest.mark.parametrize("f", [chain, inner])
@pytest.mark.filterwarnings("always::RuntimeWarning")
def test_same_bits(f):
    x = np.linspace(-1.0, 1.0, SIZE, dtype="f")
    y = x[::-1].copy()
    odd = x.copy()
    odd[-2] = np.float32(3e38)
    grids = tuple(line[:2100 * 2100].reshape(2100, 2100)[:, 1:] for line in (x, y))
    with fail_unless_captured():
        check(f, x, y, others=[(odd, odd), (x[:999], y[:999]), grids], config={"backend": "numba"}, calls=1)
