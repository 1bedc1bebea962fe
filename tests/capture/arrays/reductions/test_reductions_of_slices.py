"""Reductions of arrays that are computed from slices: in kernels where the array is in C order, as it mostly is."""

import itertools

import numpy as np
import pytest

from tests.capture.scalars.test_scalars import define
from tests.harness import fail_unless_captured, jitted, mode_config

REDUCTIONS = ("np.sum({}, axis=(1, 2))", "({}).sum(axis=0)", "({}).sum()", "np.sum({}, axis=(0, 1), keepdims=True)",
              "({}).mean(axis=1)", "({}).max(axis=2)", "({}).mean(axis=(0, 2))", "({}).std(axis=1)",
              "np.cumsum({}, axis=2)", "({}).sum(axis=(0, 1, 2))", "({}).min(axis=(0, 1))")
COMPUTED = ("x[:, 1:, i:i + 3] * y[:, :-1, 1:4] + x[:, 1:, i:i + 3]", "x[:, 1:, 1:4] * y[0, 1:, :3, None][:, :, 0]",
            "np.sqrt(np.abs(x[:, ::2, 1:]))", "-x[:, :, ::-1]", "x[:, 1:, :][:, :, :2] + 1")


def outcome(f, *arguments):
    try:
        (result,) = f(*arguments)
    except (ValueError, IndexError) as error:
        return type(error).__name__, str(error)
    return type(result), result.dtype, result.shape, result.strides, result.tobytes()


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("computed", COMPUTED)
@pytest.mark.filterwarnings("ignore")
def test_bits_and_strides(reduction, computed):
    f = define("def f(x, y, i):\n    return {},\n".format(reduction.format(computed)))
    g = jitted(f)
    for dtype, shape in [*itertools.product("d", ((3, 4, 5), (5, 9, 40), (1, 4, 5), (3, 2, 4), (3, 0, 5))),
                         ("f", (5, 9, 40)), ("i8", (3, 4, 5))]:
        x = (np.random.RandomState(1).standard_normal(shape) * 50).astype(dtype)
        y = (np.random.RandomState(2).standard_normal(shape) * 50).astype(dtype)
        for one, other in ((x, y), (np.asfortranarray(x), y), (x, np.asfortranarray(y))):
            assert outcome(g, one, other, 0) == outcome(f, one, other, 0), (dtype, shape)
    fail_unless_captured(g)


def windows(x, w):
    k, channels = w.shape[0], w.shape[3]
    out = np.empty((x.shape[0], x.shape[1] - k + 1, x.shape[2] - k + 1, channels), x.dtype)
    for i in range(out.shape[1]):
        for j in range(out.shape[2]):
            out[:, i, j, :] = np.sum(x[:, i:i + k, j:j + k, :, np.newaxis] * w[np.newaxis, :, :, :], axis=(1, 2, 3))
    return out,


def test_a_convolution_by_windows_calls_no_numpy_function():
    g = jitted(windows, {"force_breaks": None, "backend": "numba"})
    for dtype in ("f", "d"):
        x = np.random.RandomState(3).standard_normal((2, 8, 9, 3)).astype(dtype)
        w = np.random.RandomState(4).standard_normal((3, 3, 3, 5)).astype(dtype)
        assert outcome(g, x, w) == outcome(windows, x, w)
    fail_unless_captured(g)
    assert not any("object_0" in kernel.source for entry in g.state.entries for kernel in entry.record.kernels)


def test_an_array_in_another_order_leaves_the_kernel():
    def f(x):
        return np.sum(x * 2.0 + 1.0, axis=(0, 1)),

    g = jitted(f)
    whole = np.random.RandomState(5).standard_normal((7, 8, 9, 10))
    arrays = [whole[1:, :, 0, 1:], whole[0, 1:, :, 1:]] * 3
    arrays += [whole[:, 1:, 0, 1:].transpose(2, 0, 1), whole[:, 1:, 0, 1:].transpose(1, 0, 2), whole[0, :, 1:, 1:]]
    for x in arrays:
        assert outcome(g, x) == outcome(f, x)
    fail_unless_captured(g)
    assert mode_config().get("force_breaks") or len(g.state.entries) == 1
