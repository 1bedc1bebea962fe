"""Integer expressions that LLVM folds to constants: floating-point operations on them still raise their flags."""

import numpy as np
import pytest

from tests.capture.arrays.indexing.test_gathers import NUMBA
from tests.capture.scalars.test_scalars import define
from tests.harness import check

INTEGERS = np.arange(1, 41)
FLOATS = np.linspace(0.5, 2.0, 40)


@pytest.mark.parametrize("expression", [
    "(y - y) / (y - y)", "1.0 / (y - y)", "(y * 0) / (y * 0)", "(x > x) / (x > x)", "1.0 / (y != y)",
    "1e308 * (y - y + 10)", "((y - y) / (y - y)).sum()", "(y ^ y) / (y & 0)", "1.0 / np.where(y == y, 0.0, x)",
    "np.sqrt(y - y - 1)", "np.reciprocal((y - y) * 1.0)", "np.cumsum(1.0 / (y - y))", "x[0] / (y[:3] - y[:3])",
    "(1.0 / (np.arange(40) - np.arange(40)))"])
@pytest.mark.parametrize("dtype", ["i8", "i4", "i1", "u2"])
def test_flags_of_constants_that_llvm_finds(expression, dtype):
    f = define("def f(y, x):\n    return " + expression)
    check(f, INTEGERS.astype(dtype), FLOATS, others=[(INTEGERS.astype(dtype)[::-2], FLOATS[::2])], config=NUMBA, calls=2)


def in_place(y, x):
    x[1:-1] = (y[2:] - y[2:]) / (y[1:-1] - y[1:-1])
    x /= y - y
    return x


def in_a_loop(y, x):
    total = 0.0
    for i in range(len(y)):
        total += 1.0 / (y[i] - y[i])
        total += x[i] / np.float64(y[i] != y[i])
    return total


@pytest.mark.parametrize("f", [in_place, in_a_loop], ids=lambda f: f.__name__)
def test_statements(f):
    check(f, INTEGERS, FLOATS, config=NUMBA)
