"""The signs of NaNs, of which LLVM takes no care, in arithmetic with one of them: in loops over arrays and over elements."""

import numpy as np
import pytest

from tests.capture.arrays.indexing.test_gathers import NUMBA
from tests.capture.scalars.test_scalars import define
from tests.harness import check, fail_unless_captured

X = np.resize([np.nan, -np.nan, 1.5, -0.0, np.inf, -2.0], 500)
HERE = ("-x * 0.5 + 1.0, 1.0 - (-x)", "-x / 3.0 + 1.0, -(x * 2.0) * 2.0", "(-x) * (-x) + 1.0, x * 0.5 - -1.0")
ARRAYS = ("(x - 1.0) * -1.0, (x + 2.0) / -1.0", "abs(x) * abs(x) + 1.0, abs(-x) + 0.0")


@pytest.mark.parametrize("code", "df")
@pytest.mark.parametrize("expressions", HERE + ARRAYS)
def test_arrays(expressions, code):
    f = define("def f(x):\n    return %s" % expressions)
    with np.errstate(invalid="ignore"), fail_unless_captured(1):
        check(f, X.astype(code), others=[(X[::2].astype(code),), (X.reshape(100, 5).astype(code),)], config=NUMBA)


@pytest.mark.parametrize("expressions", HERE)
def test_elements(expressions):
    f = define("def f(a, r, s):\n    for i in range(len(a)):\n        x = a[i]\n        r[i], s[i] = %s\n"
               "    return r, s" % expressions)
    with np.errstate(invalid="ignore"), fail_unless_captured(1):
        check(f, X, X.copy(), X.copy(), config=NUMBA)
        check(f, X.tolist(), X.copy(), X.copy(), config=NUMBA)


def test_complex_elements():
    def f(a, r):
        for i in range(len(a)):
            r[i] = -a[i] + 1.0
        return r

    z = np.array([complex(a, b) for a in X[:6] for b in X[:6]])
    with np.errstate(invalid="ignore"), fail_unless_captured(1):
        check(f, z, z.copy(), config=NUMBA)
