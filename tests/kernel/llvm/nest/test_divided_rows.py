"""Rows that are divided by one number: what was tried in vain shows nowhere."""

import numpy as np
import pytest
from kernel_graphs import Builder

from pijit.core.graph.types import WORD, Array, numpy_scalar

F8 = np.dtype(float)


def quotients():
    """x / d and the exit that the kernel takes: 2, or 1 where a flag is raised."""
    b = Builder("quotients", Array(F8, 1, "C"), numpy_scalar(F8), WORD)
    types = "dd->d"
    result = b.op("ufunc", Array(F8, 1, "C"), *b.inputs[:2], exit=b.exit(1), ufunc=np.divide, types=types,
                  loop=np.divide.types.index(types))
    product = b.op("ufunc", Array(F8, 1, "C"), result, b.const(0.5, numpy_scalar(F8)), exit=b.exit(1), ufunc=np.multiply,
                   types=types, loop=np.multiply.types.index(types))
    b.leave(2, product)
    return b.run("numba")


@pytest.mark.parametrize("special", [np.inf, -np.inf, np.nan, 0.0, -0.0, 1e-200, 1e300])
def test_special_dividends_raise_no_flag(special):
    run, x = quotients(), np.arange(2000.0)
    for at in (0, 600, 1999):
        x[at] = special
        number, found = run(x, np.float64(3.0), 0)
        assert number == 2 and found.tobytes() == (x / 3.0 * 0.5).tobytes()


@pytest.mark.parametrize("divisor, number", [(0.0, 1), (np.inf, 2), (np.nan, 2), (-7.0, 2), (1e-300, 1)])
def test_other_divisors(divisor, number):
    run, x = quotients(), np.arange(1.0, 2000.0) * 1e10
    with np.errstate(all="warn", under="ignore"):
        assert run(x, np.float64(divisor), 0)[0] == number
