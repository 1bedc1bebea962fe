"""Reductions against NumPy: bits, result types, layouts, exits, and what has no machine code."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_graphs import BACKENDS, Builder

from pijit.core.graph.types import Array, numpy_scalar
from pijit.core.kernel.emit.reductions import why_not_reduce

KERNELS = {}


def reduction(backend, ufunc, code, ndim, axis, layout="A"):
    """A kernel of one reduction, made once."""
    key = backend, ufunc, code, ndim, axis, layout
    if key not in KERNELS:
        dtype = np.dtype(code)
        scalar = axis is None or ndim == 1
        b = Builder("reduce", Array(dtype, ndim, layout))
        result = b.op("reduce", numpy_scalar(dtype) if scalar else Array(dtype, ndim - 1, "C"), b.inputs[0],
                      exit=b.exit(1), ufunc=ufunc, axis=axis, keepdims=False, types=dtype.char)
        b.leave(2, result)
        KERNELS[key] = b.run(backend)
    return KERNELS[key]


def assert_reduces(run, ufunc, x, axis):
    with np.errstate(all="ignore"):
        number, got = run(x)
        want = ufunc.reduce(x, axis=axis)
    assert number == 2 and type(got) is type(want) and got.dtype == want.dtype
    assert got.tobytes() == want.tobytes() and got.shape == want.shape and got.strides == want.strides


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("code, ufunc", [
    ("d", np.add), ("f", np.multiply), ("l", np.maximum), ("B", np.minimum), ("?", np.maximum),
    ("h", np.bitwise_xor), ("H", np.bitwise_and)])
def test_vectors(backend, code, ufunc):
    run = reduction(backend, ufunc, code, 1, None)
    random = np.random.RandomState(5)
    for length in (1, 2, 7, 129, 9000):
        near_one, small = random.rand(length) * 0.002 + 0.999, random.randint(0, 100, length)
        x = (near_one if code in "fd" else small).astype(code)
        for one in (x, x[::-1], x[::3]):
            assert_reduces(run, ufunc, one, None)


UFUNCS = st.sampled_from([np.add, np.minimum])


def strided(shape, order, steps):
    """An array whose axes are in memory as in ``order``, with gaps or backwards."""
    size = [extent * abs(step) for extent, step in zip(shape, steps)]
    base = np.sin(np.arange(np.prod(size))).reshape([size[k] for k in order])
    return base.transpose(np.argsort(order))[tuple(slice(None, None, step) for step in steps)]


@pytest.mark.parametrize("ndim, axis", [(2, None), (2, 0), (2, 1), (3, None)])
@settings(max_examples=60, deadline=None)
@given(data=st.data(), ufunc=UFUNCS)
def test_layouts(ndim, axis, data, ufunc):
    sizes, steps = st.integers(1, 4), st.sampled_from([1, -1, 2])
    x = strided(data.draw(st.tuples(*[sizes] * ndim)), data.draw(st.permutations(range(ndim))),
                data.draw(st.tuples(*[steps] * ndim)))
    assert_reduces(reduction("numba", ufunc, "d", ndim, axis), ufunc, x, axis)


@pytest.mark.parametrize("axis", [0, 1, 2])
@settings(max_examples=40, deadline=None)
@given(shape=st.tuples(*[st.integers(1, 4)] * 3), ufunc=UFUNCS)
def test_one_axis_of_three(axis, shape, ufunc):
    x = np.sin(np.arange(np.prod(shape))).reshape(shape)
    assert_reduces(reduction("numba", ufunc, "d", 3, axis, "C"), ufunc, x, axis)


@pytest.mark.parametrize("backend", BACKENDS)
def test_special_values(backend):
    values = [0.0, -0.0, np.nan, np.inf, -np.inf, 1.5]
    for ufunc in (np.add, np.maximum, np.minimum):
        run = reduction(backend, ufunc, "d", 1, None)
        for x in itertools.product(values, repeat=2):
            if ufunc is np.add and {np.inf, -np.inf} <= set(x):
                assert run(np.array(x)) == (1,)
            else:
                assert_reduces(run, ufunc, np.array(x), None)


@pytest.mark.parametrize("backend", BACKENDS)
def test_flags_leave(backend):
    run = reduction(backend, np.add, "d", 1, None)
    huge = np.full(9, 1e308)
    assert run(huge) == (1,)
    if backend == "numba":
        with np.errstate(over="ignore"):
            assert run(huge) == (2, np.inf)


@pytest.mark.parametrize("backend", BACKENDS)
def test_empty_arrays(backend):
    run = reduction(backend, np.add, "d", 1, None)
    assert_reduces(run, np.add, np.empty(0), None)
    assert reduction(backend, np.maximum, "l", 1, None)(np.empty(0, "l")) == (1,)
    run = reduction(backend, np.minimum, "d", 3, 1, "C")
    if backend == "numba":  # strides of the result would follow those of the operand, which may be any
        assert run(np.empty((0, 2, 3))) == (1,)
    assert run(np.empty((2, 0, 3))) == (1,)


def test_what_has_no_machine_code():
    def why(ufunc, code, to, keepdims=False, ndim=2):
        attrs = {"ufunc": ufunc, "axis": 0, "keepdims": keepdims, "types": to}
        return why_not_reduce(attrs, (Array(np.dtype(code), ndim),))
    assert why(np.add, "d", "d") is None
    assert why(np.add, "i", "l") == "add.reduce of int32 with another dtype is not supported"
    assert why(np.add, "d", "d", True) == "keepdims of a strided array is not supported"
    assert why(np.subtract, "d", "d") == "subtract.reduce of float64 is not supported"
    assert why(np.add, "d", "d", ndim=3) == ("the reduction of a strided array along one axis of 3 is not "
                                             "supported")
