"""Stores by masks, arrays and slices together, in-place forms of functions, NumPy's single scalars with Python's."""

import numpy as np
import pytest

import pijit
from pijit.core.capture.typing import result_types
from tests.capture.scalars.test_scalars import agree, define
from tests.harness import check, fail_unless_captured, jitted, kernel_count

PYTHON = {"backend": "python", "force_breaks": None}

STORES = ("x[x > 0.5] = 0.25", "x[[0, 2]] = 3", "x[:, [0, 1]] = 2.0", "x[[0, 1], 1:3] = y[:2, :2]",
          "x[1:, x[0] > 0.5] = 7.0", "x[x > y] = True", "x[[5]] = 1.0", "x[::2, [0, 9]] = 1.0", "np.copyto(x, y)", "np.copyto(x, 1)",
          "np.copyto(x[0], y[:, 0])", "np.put(x[0], [0, 1], 2.5)", "x[1].put(np.array([-1, 0]), 2)",
          "np.putmask(x, x > 0.5, 9.0)", "x.sort()", "x.sort(axis=0)", "x[0].sort()", "np.clip(x, 0.25, 0.5, out=x)",
          "np.clip(x, 0.25, 0.5, out=x[::-1])", "x[x > 0.5] = 1e300", "x[[0]] = 1e-60")


@pytest.mark.parametrize("store", STORES)
def test_stores(store):
    """Into floats of both sizes, strided and read-only arrays, integers, and none at all."""
    f = define("def f(x, y):\n    z = x * 2 + y\n    %s\n    return x, z - y" % store)
    x, y = np.linspace(0.0, 1.0, 12).reshape(3, 4)[:, ::-1].copy(), np.linspace(1.0, 0.0, 12).reshape(3, 4)
    fixed = x.copy()
    fixed.flags.writeable = False
    others = [(x.astype("f"), y.astype("f")), (x[::-1, ::-1], y), (x, x), (fixed, y), (x[:, :0], y[:, :0]),
              ((x * 9).astype(int), y), (x.astype("f"), y), (np.asfortranarray(x), y), (x * np.nan, y)]
    j = check(f, x, y, config=PYTHON, others=others)
    assert kernel_count(j) and not pijit.explain(j, x, y).breaks


SINGLES = ("a + n", "n - a", "a / n", "a > n", "n >= a", "a == n", "a < d", "d != a", "a * d", "a ** d", "a ** n",
           "n ** a", "a ** a")
WHOLE = (3, 0, -7, 2 ** 24 + 1, 2 ** 53 + 1, 2 ** 60 + 2 ** 36 + 1, 2 ** 62, -2 ** 63)
FLOATS = (0.1, 0.5, -0.0, 2.0, 1e-46, 1e39, 1e300, float("nan"), float("inf"))


@pytest.mark.parametrize("form", SINGLES)
@pytest.mark.parametrize("kind", (np.float32, np.float64))
@pytest.mark.parametrize("backend", ("numba", "python"))
def test_scalars_of_numpy_and_numbers(backend, kind, form):
    """As the installed NumPy converts them: by way of doubles, in the smaller type or in the larger one."""
    f = define("def f(a, n, d):\n    return %s, (a + a) * a - a * a" % form)
    j = jitted(f, {"backend": backend})
    with fail_unless_captured():
        jitted(define("def f(x):\n    return x * 2.0 + x"))(np.ones(3))
    ones = (kind(0.1), kind(2.0), kind(-1.5), kind(16777216.0), kind("nan"), kind(1e38))
    agree(f, j, [(a, n, 0.5) for a in ones for n in WHOLE] + [(a, 3, d) for a in ones for d in FLOATS])
    assert kernel_count(j), pijit.explain(j)


def several(x, y, index, n):
    x[y > 0.5] = 0.0
    x[index] = y[index] * 2.0
    part = np.subtract.outer(x, y)[1:, index]
    y.sort()
    return part, (x.sum() / x.size) ** 1.5, np.add.accumulate(x), np.eye(n, dtype=x.dtype)


def test_in_machine_code():
    x, y = np.linspace(0.0, 1.0, 7).astype("f"), np.linspace(1.0, 0.0, 7).astype("f")
    index = np.array([0, 3, 6])
    with fail_unless_captured():
        j = check(several, x, y, index, 3, others=[(x[::-1], y, index, 3), (x, x, index, 3), (x, y, index + 1, 3)])
    assert not pijit.explain(j, x, y, index, 3).breaks or not result_types.WEAK_SCALARS


ORDERS = ("np.transpose(x)", "np.transpose(x, (1, 2, 0))", "np.transpose(x, axes=(0, -1, 1))", "x.transpose()",
          "x.transpose(None)", "x.transpose(2, 0, 1)", "x.transpose((0, 1, 2))", "x.transpose([1, 0, 2])",
          "np.swapaxes(x, 0, -1)", "x.swapaxes(1, 1)", "x.swapaxes(-2, 0)", "np.asarray(x)", "np.asanyarray(x)",
          "np.asarray(x, float)", "np.asarray(x.T)")


@pytest.mark.parametrize("view", ORDERS)
def test_axes_in_another_order(view):
    """Views of the array's memory, or the array itself, which is read after a store into it."""
    f = define("def f(x):\n    v = %s\n    x[0] = x[0] * 2.0 + 1.0\n    return v, v * 2.0 - 1.0, v is x" % view)
    x = np.arange(24.0).reshape(2, 3, 4)
    others = [(np.asfortranarray(x),), (x[:, ::-1, ::2],), (x[:, :0],), (x.T,), (x[:1, :1, :1],)]
    j = check(f, x, config=PYTHON, others=others)
    assert kernel_count(j) and not pijit.explain(j, x).breaks


WRONG = ("np.transpose(x, (0, 0, 1))", "x.transpose(1, 0)", "np.swapaxes(x, 0, 3)", "x.swapaxes(1.0, 0)")


@pytest.mark.parametrize("view", WRONG)
def test_wrong_axes(view):
    """Errors are NumPy's."""
    f = define("def f(x):\n    y = x * 2.0 + x\n    return %s + y" % view)
    check(f, np.arange(24.0).reshape(2, 3, 4), config=PYTHON)
