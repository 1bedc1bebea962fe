"""The runtime table's reductions against NumPy's, bit for bit."""

from itertools import combinations
from random import Random

import numpy as np
import pytest

from pijit.core import _launcher
from tests.native.launcher.native_kernels import descriptor
from tests.native.runtime.runtime_operands import random_array, word_of


def run_reduce(table, ufunc, operand, axis, least, dtype):
    """The table's ufunc.reduce(operand, axis, dtype), in an array of the result's shape."""
    function, data = _launcher.ufunc_loop(ufunc, ufunc.types.index("%s%s->%s" % (dtype.char, dtype.char, dtype.char)))
    axes = range(operand.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    shape = tuple(size for place, size in enumerate(operand.shape) if place not in axes)
    out = np.full(shape, 77, dtype)
    identity = 0 if ufunc.identity is None else word_of(dtype.type(ufunc.identity))
    own, result = descriptor(operand), descriptor(out)
    spec = [function, data, dtype.num, operand.ndim, own.ctypes.data, -1 if axis is None else sum(1 << place for place in axes),
            ufunc.identity is not None, identity, result.ctypes.data, least, ufunc is np.add, operand.dtype.num]
    assert table.call("reduce", table.frame, np.array(spec, np.int64)) == 0
    return out


def assert_reduces_like_numpy(table, ufunc, operand, axis, dtype=None):
    dtype = dtype or operand.dtype
    assert _launcher.reduce_supported(ufunc, dtype.num)
    with np.errstate(all="ignore"):
        expected = np.asarray(ufunc.reduce(operand, axis=axis, dtype=dtype))
        results = [run_reduce(table, ufunc, operand, axis, least, dtype) for least in (0, 1)]  # 1: in several threads
    for result in results:
        assert result.tobytes() == expected.tobytes(), (operand.shape, operand.strides, operand.dtype, axis)


LENGTHS = [1, 2, 7, 8, 9, 127, 128, 129, 1000, 8191, 8192, 8193, 16384, 16385, 24577, 100003]


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16", "i8", "u1"])
@pytest.mark.parametrize("length", LENGTHS)
def test_reduce_of_vectors(table, dtype, length):
    numbers = np.random.RandomState(length)
    for step in [1, 2, -1, -3]:
        operand = (numbers.standard_normal(length * abs(step)) * 50).astype(dtype)[::step]
        for ufunc in [np.add, np.multiply, np.maximum]:
            for axis in [None, 0]:
                assert_reduces_like_numpy(table, ufunc, operand, axis)


SHAPES = [(3, 9000), (9000, 3), (1, 20000), (100, 200), (2, 8192), (5, 8191), (20000, 2), (3, 5000, 2), (130, 1, 130),
          (3, 20, 130), (2, 3, 4, 5), (17, 40, 17), (40, 5, 3, 17), (1, 1), (3, 8192, 1)]


@pytest.mark.parametrize("shape", SHAPES + [(5000,), (30001,), (3, 10, 900), (4, 9000, 2)], ids=str)
def test_sums_of_float16_as_float32(table, shape):
    """NumPy converts the operand in a buffer, so that its size decides the order of additions."""
    numbers, layouts = np.random.RandomState(7), Random(str(shape))
    values = numbers.standard_normal(shape).astype("f2")
    operands = [values, np.asfortranarray(values)]
    for _ in range(6):
        operands.append(random_array(layouts, shape, "f2"))
        if operands[-1].flags.writeable:
            operands[-1][...] = values
    for special in (np.nan, np.inf):
        strange = values.copy()
        strange.ravel()[::777] = special
        operands += [strange, -strange]
    for operand in operands:
        for axis in [None, *range(operand.ndim)]:
            assert_reduces_like_numpy(table, np.add, operand, axis, np.dtype("f4"))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_reduce_of_any_layout(table, dtype, shape):
    numbers, layouts = np.random.RandomState(7), Random(str(shape))
    values = numbers.standard_normal(shape)
    operands = [values.astype(dtype), np.asfortranarray(values.astype(dtype))]
    for _ in range(6):
        operands.append(random_array(layouts, shape, dtype))
        if operands[-1].flags.writeable:
            operands[-1][...] = values
    for operand in operands:
        for ufunc in [np.add, np.multiply, np.minimum]:
            for axis in [None, *range(operand.ndim)]:
                assert_reduces_like_numpy(table, ufunc, operand, axis)


@pytest.mark.parametrize("dtype", ["f4", "f8", "i8", "c16"])
@pytest.mark.parametrize("shape", [(5, 4, 6, 4), (2, 3, 4, 5), (3, 5, 9), (40, 3, 30), (3, 2, 9000), (3, 1, 9000), (2, 4, 1, 3),
                                   (1, 7, 1, 7), (6, 1, 5), (2, 0, 3), (0, 2, 3), (2, 3, 4, 2, 8)], ids=str)
def test_sums_along_several_axes(table, dtype, shape):
    operand = (np.random.RandomState(3).standard_normal(shape) * 50).astype(dtype)
    for count in range(2, len(shape)):
        for axes in combinations(range(len(shape)), count):
            for operand in (operand, operand * 0, operand * -0.0):
                assert_reduces_like_numpy(table, np.add, operand, axes)


@pytest.mark.parametrize("values", [[-0.0], [-0.0, -0.0], [np.nan, 1.0], [1.0, np.inf, -np.inf], [0.0, -0.0], [-0.0, 0.0]])
def test_reduce_of_special_values(table, values):
    for ufunc in [np.add, np.multiply, np.minimum, np.maximum, np.fmin, np.fmax]:
        for shape in [(-1,), (1, -1), (-1, 1)]:
            operand = np.array(values).reshape(shape)
            for axis in [None, *range(operand.ndim)]:
                assert_reduces_like_numpy(table, ufunc, operand, axis)


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 3), (2, 0, 3)])
def test_reduce_of_empty_arrays(table, shape):
    operand = np.empty(shape)
    for axis in [None, *range(len(shape))]:
        assert_reduces_like_numpy(table, np.add, operand, axis)
    with pytest.raises(ValueError, match="zero-size array"):
        run_reduce(table, np.minimum, operand, None, 0, operand.dtype)


def test_reduce_of_a_0d_array(table):
    assert_reduces_like_numpy(table, np.add, np.array(2.5), None)
    assert_reduces_like_numpy(table, np.minimum, np.array(2.5), None)


def test_reduce_supported():
    number = {code: np.dtype(code).num for code in "defDOMi?"}
    supported = [(ufunc.__name__, code) for ufunc in [np.add, np.multiply, np.bitwise_xor, np.subtract, np.logical_and, np.sin]
                 for code in "defDOMi?" if _launcher.reduce_supported(ufunc, number[code])]
    expected = {("add", code) for code in "edfDi"} | {("multiply", code) for code in "edfDi"}
    assert {pair for pair in supported if pair[1] != "?"} == expected | {("bitwise_xor", "i")}
    with pytest.raises(TypeError):
        _launcher.reduce_supported(len, 12)
