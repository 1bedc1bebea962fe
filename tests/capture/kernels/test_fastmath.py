"""`fastmath`: other orders of floating-point arithmetic, and vectors where NumPy's order forbids them."""

import re
import warnings

import numpy as np
import pytest

from pijit.core.kernel import compile as kernels
from pijit.core.kernel.llvm import codegen
from pijit.differential import plain_twin
from tests.harness import check, jitted, kernel_count

FAST = {"backend": "numba", "force_breaks": None, "fastmath": True, "cache": False}
REDUCTION = r"vector\.reduce\.(v2\.)?fadd"  # as LLVM 11 and later ones call it
X, Y = np.random.RandomState(1).rand(2, 1003)


def loop(x, y):
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i] * 0.5
    return s


def product(x, y):
    return (x * y).sum()


def alone(x, y):
    return x.sum() + y.mean()


def rows(x, y):
    return (x[1:].reshape(2, 501) - y[0]).sum(axis=1)  # too long to be unrolled as a whole


def in_place(x, y):
    y = y.copy()
    y[1:-1] += 0.25 * (x[:-2] - 2.0 * x[1:-1] + x[2:])
    return y


def functions(x, y):
    return np.exp(-x) * np.sqrt(y) / (x + y)


PROGRAMS = [loop, product, alone, rows, in_place, functions]


def compiled(program, config, monkeypatch, *args):
    """(the jitted function, the LLVM code of its kernels)."""
    codes, library = [], codegen.library

    def watched(*what):
        made = library(*what)
        codes.append(made.get_llvm_str())
        return made
    monkeypatch.setattr(codegen, "library", watched)
    monkeypatch.setattr(kernels, "_compiled", kernels._compiled.copy())
    kernels._compiled.clear()
    f = jitted(plain_twin(program), config)
    for _ in range(3):
        f(*args)
    return f, "".join(codes)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("program", PROGRAMS)
def test_results_are_close(program, dtype, monkeypatch):
    x, y = X.astype(dtype), Y.astype(dtype)
    wanted = program(x, y)
    f, code = compiled(program, FAST, monkeypatch, x, y)
    got = f(x, y)
    assert kernel_count(f) > 0 and type(got) is type(wanted) and got.dtype == wanted.dtype
    np.testing.assert_allclose(got, wanted, rtol=1e-5 if dtype is np.float32 else 1e-12)
    assert np.shares_memory(got, y) is np.shares_memory(wanted, y)


@pytest.mark.parametrize("program", [loop, product, alone, rows])
def test_sums_are_vectors_where_they_may(program, monkeypatch):
    _, code = compiled(program, FAST, monkeypatch, X, Y)
    assert re.search(REDUCTION, code) and "reassoc" in code
    _, exact = compiled(program, dict(FAST, fastmath=False), monkeypatch, X, Y)
    assert not re.search(REDUCTION, exact) and "reassoc" not in exact


def test_nothing_is_said_of_flags_and_values_stay():
    x = np.array([1e308, 0.0, np.inf, np.nan, -1.0] * 10)
    f = jitted(plain_twin(quotients), FAST)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        got = [f(x) for _ in range(3)][-1]
    with np.errstate(all="ignore"):
        wanted = quotients(x)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(wanted))
    np.testing.assert_array_equal(got[~np.isnan(got)], wanted[~np.isnan(wanted)])


def quotients(x):
    return (x * 10.0) / (x - 1.0) + 1.0 / x


def python_floats(a, b):
    return (a - b) / (b + 1.0)


def test_errors_of_python_stay():
    check(python_floats, 1.5, -1.0, others=[(2.0, 3.0)], config=FAST)
