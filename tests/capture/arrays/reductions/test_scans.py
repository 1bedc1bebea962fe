"""Running sums and products along the last axis, in a loop of the kernel's own."""

import numpy as np
import pytest

from pijit.core.capture.models.numpy import library
from tests.capture.arrays.indexing.test_gathers import NUMBA, steps, table
from tests.capture.scalars.test_scalars import define
from tests.harness import check, fail_unless_captured

VECTORS = ("np.cumsum(x)", "np.cumprod(x)", "x.cumsum()[2:] - x.cumsum(axis=0)[:-2]", "np.cumsum(x * x, axis=-1) * 2",
           "x.cumprod(0).sum()", "np.cumsum(x[::-1])[::-1], np.cumprod(x[1:])")


@pytest.mark.parametrize("call", VECTORS)
@pytest.mark.filterwarnings("ignore")
def test_vectors(call):
    """Dtypes, steps, empty ones; small integers become large ones, and those wrap."""
    f = define("def f(x):\n    return " + call)
    x = table("d")
    odd = np.array([-0.0, 0.0, -0.0, np.nan, 1.0])
    calls = [(x,), (x[:0],), (x[:1],), (steps(x),), (x[::-1],), (odd,), (odd[:1],)]
    if call in VECTORS[:2]:
        calls += [(table(code),) for code in "flibhqBHIQ?"]
        calls += [(np.full(9, 2 ** 62 + 3),), (np.full(9, 2 ** 63 + 1, "Q"),)]
    with fail_unless_captured():
        check(f, *calls[0], others=calls[1:], config=NUMBA, calls=1)


@pytest.mark.parametrize("start, factor", ((1e308, 1.0), (np.inf, -np.inf), (1e-300, 1e-300), (np.nan, 1.0)))
@pytest.mark.parametrize("call", ("x.cumsum()", "np.cumprod(x)"))
def test_flags(call, start, factor):
    """Where NumPy warns, bytecode does, and once."""
    f = define("def f(x):\n    return " + call)
    with fail_unless_captured():
        check(f, np.ones(4), others=[(np.array([start, start, factor, 1.0]),), (np.ones(4),)], config=NUMBA)


MATRICES = ("np.cumsum(x, axis=1) + 1", "x.cumprod(-1)", "x.cumsum(axis=0) * 2", "x.cumsum() / 2")


@pytest.mark.parametrize("call", MATRICES)
def test_matrices(call):
    """Rows of arrays in C order; NumPy does the others."""
    f = define("def f(x):\n    return " + call)
    x = np.arange(1.0, 13.0).reshape(3, 4) / 4
    calls = [(x,), (x[:0],), (x[:, :0],), (np.asfortranarray(x),), (x[:, ::2],), (x.astype("i4"),)]
    with fail_unless_captured():
        check(f, *calls[0], others=calls[1:], config=NUMBA, calls=1)
    cube = define("def f(x):\n    return x.cumsum(axis=2) - x")
    with fail_unless_captured():
        check(cube, np.arange(24.0).reshape(2, 3, 4), config=NUMBA)


def test_bad_axes_raise():
    f = define("def f(x, axis):\n    return x.cumsum(axis)")
    for axis in (1, -2, 0.5, "x"):
        check(f, np.ones(3), axis, config=NUMBA)


def test_no_call_of_numpy_is_left(monkeypatch):
    def refuse(*_):
        raise AssertionError("a call of NumPy's function")

    monkeypatch.setattr(library, "invoke", refuse)
    f = define("def f(x):\n    return x.cumsum() + np.cumprod(x, axis=-1)")
    with fail_unless_captured():
        check(f, np.ones(3), config=NUMBA)
