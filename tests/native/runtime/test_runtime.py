"""The runtime table: every entry against what NumPy itself does."""

import ctypes
import math
import sys

import numpy as np
import pytest

from pijit.core import _launcher
from tests.native.launcher.native_kernels import descriptor, launcher, native_kernel, pointer_address, runtime
from tests.native.runtime.runtime_operands import (
    new_descriptor,
    operand_triples,
    random_array,
    random_operands,
    random_shape,
    seeds,
    word_of,
)

try:
    from numpy._core.umath import clip
except ImportError:
    from numpy.core.umath import clip


# ---- allocation and layout ----

@pytest.mark.parametrize("order, code", [("C", 0), ("F", 1)])
@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i4", "i8", "f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 0, 4), (1, 5, 1)])
def test_alloc(table, order, code, dtype, shape):
    dtype = np.dtype(dtype)
    expected = np.empty(shape, dtype, order)
    words = new_descriptor(shape)
    assert table.call("alloc", table.frame, words, dtype.num, len(shape), code) == 0
    made, = table.objects()
    assert type(made) is np.ndarray and made.dtype == dtype
    assert (made.shape, made.strides, str(made.flags)) == (expected.shape, expected.strides, str(expected.flags))
    assert list(words) == list(descriptor(made))


def test_alloc_raises(table):
    with pytest.raises(ValueError, match="negative dimensions"):
        table.call("alloc", table.frame, new_descriptor((-1,)), 12, 1, 0)
    with pytest.raises(MemoryError):
        table.call("alloc", table.frame, new_descriptor((2 ** 58,)), 12, 1, 0)
    assert table.owned.count == 0


UFUNCS = {1: np.negative, 2: np.add, 3: clip}


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("dtypes", [["f8"], ["f8", "f4", "i8"]], ids=["one dtype", "casts"])
@pytest.mark.parametrize("choices", [(1, 2, 3, 5), (1, 2), (0, 1, 3)], ids=["usual", "ones", "empty"])
def test_alloc_like_and_layout_like_are_numpy_strides(table, count, dtypes, choices):
    for random in seeds(150):
        operands = random_operands(random, count, dtypes, choices)
        expected = UFUNCS[count](*operands)
        if not isinstance(expected, np.ndarray):
            continue
        triples, kept = operand_triples(operands, expected.dtype)
        words = new_descriptor(expected.shape)
        table.call("layout_like", words, expected.ndim, expected.itemsize, count, triples)
        where = [(each.shape, each.strides, each.dtype.char) for each in operands]
        assert tuple(words[2 + expected.ndim:]) == expected.strides, where
        table.call("alloc_like", table.frame, words, expected.dtype.num, expected.ndim, count, triples)
        made = table.objects()[-1]
        assert (made.dtype, made.shape, made.strides) == (expected.dtype, expected.shape, expected.strides), where
        assert str(made.flags) == str(expected.flags)
        assert list(words) == list(descriptor(made))
        del made
        table.release_all()
        assert len(kept) == count


# ---- views ----

BASE = np.arange(60.0).reshape(3, 4, 5)


@pytest.mark.parametrize("expected", [
    BASE[1:], BASE[:, ::-1, ::2], BASE.T, BASE[0], BASE[0, 1, 2, ...], BASE[:, None], BASE[:0], BASE[1:][1:]])
def test_view(table, expected):
    words = descriptor(expected)
    words[1] = 0
    assert table.call("view", table.frame, words, expected.ndim, expected.dtype.num, id(BASE)) == 0
    made, = table.objects()
    assert words[1] == id(made)
    assert made.base is BASE.base if BASE.base is not None else made.base is BASE
    assert made.base is expected.base
    assert made.dtype is expected.dtype
    assert (made.shape, made.strides, str(made.flags)) == (expected.shape, expected.strides, str(expected.flags))
    assert made.ctypes.data == expected.ctypes.data


def test_view_of_a_read_only_array_and_of_another_dtype(table):
    base = np.ones((3, 4), "c16")
    base.flags.writeable = False
    expected = base.imag
    table.call("view", table.frame, descriptor(expected), 2, expected.dtype.num, id(base))
    made, = table.objects()
    assert made.dtype == np.float64 and not made.flags.writeable and made.base is base
    assert made.strides == expected.strides and made.ctypes.data == expected.ctypes.data


def test_view_keeps_its_base_alive(table):
    base = np.arange(5)
    before = sys.getrefcount(base)
    table.call("view", table.frame, descriptor(base[1:]), 1, base.dtype.num, id(base))
    assert sys.getrefcount(base) == before + 1
    table.release_all()
    assert sys.getrefcount(base) == before


# ---- references ----

def test_retain_and_release_from_the_end(table):
    a, b = np.arange(2), np.arange(3)
    before = sys.getrefcount(a)
    for item in [a, b, a]:
        table.call("retain", table.frame, id(item))
    del item
    assert sys.getrefcount(a) == before + 2
    table.call("release", table.frame, id(a))
    assert [id(item) for item in table.objects()] == [id(a), id(b)]
    table.call("release", table.frame, id(BASE))
    assert table.owned.count == 2
    table.release_all()
    assert sys.getrefcount(a) == before


# ---- copy, overlap, same ----

@pytest.mark.parametrize("dtype", ["?", "i2", "f8", "c16"])
def test_copy_broadcasts(table, dtype):
    for random in seeds(150):
        source, = random_operands(random, 1, [dtype], (1, 2, 3))
        shape = random_shape(random, random.randrange(2), (2, 3))
        shape += tuple(random.choice([2, 4]) if length == 1 else length for length in source.shape)
        target = random_array(random, shape, dtype)
        if not target.flags.writeable:
            continue
        expected = target.copy()
        expected[...] = source
        assert table.call("copy", table.frame, descriptor(target), target.ndim, target.dtype.num,
                          descriptor(source), source.ndim) == 0
        assert (target == expected).all()


def test_copy_with_leading_ones(table):
    target, source = np.zeros(3), np.arange(3.0).reshape(1, 1, 3)
    table.call("copy", table.frame, descriptor(target), 1, 12, descriptor(source), 3)
    assert list(target) == [0, 1, 2]


SLICES = [slice(None, -1), slice(1, None), slice(None, None, -1), slice(2, 8), slice(0, 6), slice(None, None, 2)]


@pytest.mark.parametrize("target", SLICES)
@pytest.mark.parametrize("source", SLICES)
def test_copy_that_overlaps_is_numpy_assignment(table, target, source):
    array = np.arange(10)
    length = min(array[target].size, array[source].size)
    expected = array.copy()
    expected[target][:length] = expected[source][:length]
    into, out_of = array[target][:length], array[source][:length]
    table.call("copy", table.frame, descriptor(into), 1, array.dtype.num, descriptor(out_of), 1)
    assert (array == expected).all()


@pytest.mark.parametrize("shape", [(0,), (1,), (700,), (2 ** 17,), (2 ** 17 + 1,), (3, 50000), (5, 1, 900), (0, 4)])
def test_copies_of_all_sizes(table, shape):
    random = np.random.RandomState(3)
    source = np.asarray(random.rand(*shape))
    large = np.zeros((2,) + shape)
    for target in (large[0], np.zeros(shape, order="F"), large[::-1][1]):
        table.call("copy", table.frame, descriptor(target), target.ndim, 12, descriptor(source), source.ndim)
        assert (target == source).all()
    assert not large[1].any()
    line = random.rand(40000)
    for into, out_of in ((line[1:30001], line[:30000]), (line[:30000], line[7:30007])):
        expected = out_of.copy()
        table.call("copy", table.frame, descriptor(into), 1, 12, descriptor(out_of), 1)
        assert into.tobytes() == expected.tobytes()


def test_copy_raises(table):
    with pytest.raises(ValueError, match="broadcast"):
        table.call("copy", table.frame, descriptor(np.zeros(3)), 1, 12, descriptor(np.zeros(4)), 1)


def test_overlap_is_may_share_memory(table):
    pool = np.zeros((8, 9))
    seen = set()
    for random in seeds(600):
        pair = []
        for _ in range(2):
            rows, columns = (slice(*sorted(random.sample(range(9), 2)), random.choice([1, 2])) for _ in range(2))
            view = pool[rows, columns]
            pair.append(view[:, ::-1] if random.random() < 0.3 else view.T if random.random() < 0.5 else view)
        a, b = pair
        result = table.call("overlap", descriptor(a), a.ndim, a.itemsize, descriptor(b), b.ndim, b.itemsize)
        assert bool(result) == np.may_share_memory(a, b)
        seen.add(result)
    assert seen == {0, 1}
    empty = pool[:0]
    assert table.call("overlap", descriptor(empty), 2, 8, descriptor(pool), 2, 8) == 0


def test_same(table):
    a = np.zeros((3, 4))
    cases = [(a, a[:], 1), (a, a[:, ::1], 1), (a, a[::-1], 0), (a, a[:2], 0), (a[:, :3], a.T[:3].T, 1), (a, a.copy(), 0),
             (a[:3, :3], a[:3, :3].T, 0)]
    for first, second, expected in cases:
        assert table.call("same", descriptor(first), descriptor(second), 2) == expected
    assert table.call("same", descriptor(a[0, ..., 0]), descriptor(a[0, ..., 0]), 0) == 1


# ---- scalars ----

@pytest.mark.parametrize("code", "?bhilqBHILQfd")
def test_store_and_load_scalar(table, code):
    dtype = np.dtype(code)
    values = [dtype.type(0), dtype.type(1)]
    if dtype.kind in "iu":
        values += [np.iinfo(dtype).min, np.iinfo(dtype).max]
    if dtype.kind == "f":
        values += [0.1, -0.0, np.inf, np.finfo(dtype).tiny]
    for value in np.array(values, dtype):
        memory = np.zeros(3, dtype)
        table.call("store_scalar", memory[1:], dtype.num, word_of(value))
        assert memory[1].tobytes() == value.tobytes()
        assert memory[0] == memory[2] == 0
        assert table.call("load_scalar", memory[1:], dtype.num) == word_of(value)


def test_complex_scalars_go_by_halves(table):
    memory = np.zeros(1, "c8")
    for half, value in [(0, 1.5), (4, -2.5)]:
        table.call("store_scalar", memory.ctypes.data + half, memory.dtype.num, word_of(np.float64(value)))
    assert memory[0] == 1.5 - 2.5j
    assert table.call("load_scalar", memory.ctypes.data + 4, memory.dtype.num) == word_of(np.float64(-2.5))


# ---- floating-point flags ----

def divide(table, a, b):
    run_ufunc(table, np.divide, "dd->d", [np.array([a]), np.array([b])], np.empty(1))


@pytest.mark.parametrize("a, b, flag", [(1.0, 0.0, 1), (1e308, 1e-10, 2), (1e-308, 1e10, 4), (0.0, 0.0, 8), (1.0, 2.0, 0)])
def test_flags(table, a, b, flag):
    table.call("flags_clear")
    with np.errstate(all="warn"):
        divide(table, a, b)
        assert table.call("flags_test", 15) == flag
        assert table.call("flags_test", 15 & ~flag) == 0
    with np.errstate(all="ignore"):
        assert table.call("flags_test", 15) == 0
    table.call("flags_clear")
    assert table.call("flags_test", 15) == 0


# ---- ufunc loops ----

def ufunc_spec(ufunc, types, operands, fresh):
    function, data = _launcher.ufunc_loop(ufunc, ufunc.types.index(types))
    descriptors = [descriptor(each) for each in operands]
    words = [function, data, ufunc.nin, ufunc.nout, fresh]
    for each, own in zip(operands, descriptors):
        words += [each.ndim, own.ctypes.data, each.itemsize]
    return np.array(words, np.int64), descriptors


def run_ufunc(table, ufunc, types, inputs, *outputs, fresh=1):
    spec, kept = ufunc_spec(ufunc, types, [*inputs, *outputs], fresh)
    shape = np.array(outputs[0].shape or [0], np.int64)
    status = table.call("ufunc", table.frame, spec, shape, outputs[0].ndim)
    assert len(kept) == ufunc.nargs
    return status


LOOPS = [(np.add, "dd->d"), (np.exp, "d->d"), (np.sin, "f->f"), (np.exp, "f->f"), (np.tanh, "d->d"), (np.power, "dd->d"),
         (np.arctan2, "ff->f"), (np.less, "dd->?"), (clip, "ddd->d"), (np.multiply, "DD->D"), (np.log, "d->d")]


@pytest.mark.parametrize("ufunc, types", LOOPS, ids=["%s %s" % (ufunc.__name__, types) for ufunc, types in LOOPS])
@pytest.mark.parametrize("choices", [(1, 2, 3, 5), (0, 1, 3), (7, 11, 16)], ids=["small", "empty", "large"])
def test_ufunc_gives_numpy_bits(table, ufunc, types, choices):
    kinds = list(types.split("->")[0])
    for random in seeds(6 if choices[0] == 7 else 60):
        inputs = random_operands(random, ufunc.nin, kinds[0], choices)
        with np.errstate(all="ignore"):
            expected, output = ufunc(*inputs), ufunc(*inputs)
        if not isinstance(expected, np.ndarray) or expected.size > 20000:
            continue
        output[...] = 0
        assert run_ufunc(table, ufunc, types, inputs, output) == 0
        assert output.tobytes() == expected.tobytes()
        target = random_array(random, expected.shape, expected.dtype)
        if target.flags.writeable:
            with np.errstate(all="ignore"):
                expected_there = ufunc(*inputs, out=target).tobytes()  # with AVX-512, bits depend on the strides of `out`
            target[...] = 0
            run_ufunc(table, ufunc, types, inputs, target, fresh=0)
            assert target.tobytes() == expected_there


def test_ufunc_with_two_outputs_and_in_place(table):
    x = np.linspace(-5, 5, 24).reshape(4, 6)[:, ::2]
    fraction, whole = np.empty((4, 3)), np.empty((4, 3))
    run_ufunc(table, np.modf, "d->dd", [x], fraction, whole)
    assert all((got == want).all() for got, want in zip((fraction, whole), np.modf(x)))
    expected = np.exp(x)
    run_ufunc(table, np.exp, "d->d", [x], x, fresh=0)
    assert (x == expected).all()


def test_ufunc_broadcasts_a_scalar(table):
    x = np.arange(12.0).reshape(3, 4)
    output = np.empty((3, 4), order="F")
    run_ufunc(table, np.subtract, "dd->d", [np.array(2.5), x], output)
    assert (output == 2.5 - x).all()


def test_ufunc_reports_an_exception(table):
    objects = np.array([1, None], object)
    with pytest.raises(TypeError):
        run_ufunc(table, np.add, "OO->O", [objects, objects], np.array([None, None], object))


# ---- kernels made by numba ----

alloc_like = runtime("alloc_like")
run_loop = runtime("ufunc")
view = runtime("view")


@native_kernel
def exp_of_rows(frame):
    """np.exp(x) of a matrix through the table; also x[1:] as a view. Word 10 and 11: function and data address."""
    base = pointer_address(frame)
    frame[50], frame[51], frame[52] = 2, base + 16, 8
    frame[62], frame[63] = frame[4], frame[5]
    if alloc_like(frame, (base, base + 8 * 60, 12, 2, 1, base + 8 * 50)) != 0:
        return -2
    frame[70], frame[71], frame[72], frame[73], frame[74] = frame[8], frame[9], 1, 1, 1
    frame[75], frame[76], frame[77], frame[78], frame[79], frame[80] = 2, base + 16, 8, 2, base + 8 * 60, 8
    if run_loop(frame, (base, base + 8 * 70, base + 8 * 62, 2)) != 0:
        return -2
    frame[90] = frame[2] + frame[6]
    frame[92], frame[93], frame[94], frame[95] = frame[4] - 1, frame[5], frame[6], frame[7]
    if view(frame, (base, base + 8 * 90, 2, 12, frame[3])) != 0:
        return -2
    frame[40], frame[41] = frame[61], frame[91]
    return 0


def test_a_numba_kernel_uses_the_table():
    loop = _launcher.ufunc_loop(np.exp, np.exp.types.index("d->d"))
    tested = launcher(exp_of_rows, (("array", 2), ("int",), ("int",)), ((("array", 40), ("array", 41)),), width=2)
    for x in [BASE[0], BASE[1].T, BASE[:, :, 2], np.sqrt(BASE[:, ::-1, 0])]:
        result, rest = tested.callable(x, *loop)[1:]
        expected = np.exp(x)
        assert result.tobytes() == expected.tobytes() and result.strides == expected.strides
        assert rest.base is x[1:].base and rest.strides == x.strides and (rest == x[1:]).all()


# ---- helpers of the module ----

@pytest.mark.parametrize("name, arguments", [("pow", (2.5, 3.5)), ("fmod", (7.5, -2.0)), ("sin", (1.0,)), ("atan2", (1.0, -2.0)),
                                             ("log1p", (0.1,)), ("copysign", (1.0, -0.0)), ("hypot", (3.0, 4.0))])
def test_libm(name, arguments):
    function = ctypes.CFUNCTYPE(ctypes.c_double, *[ctypes.c_double] * len(arguments))(_launcher.libm(name))
    assert function(*arguments) == getattr(math, name)(*arguments)


def test_libm_of_floats_and_unknown_names():
    function = ctypes.CFUNCTYPE(ctypes.c_float, ctypes.c_float)(_launcher.libm("sqrtf"))
    assert function(2.0) == float(np.sqrt(np.float32(2)))
    with pytest.raises(KeyError, match="bessel"):
        _launcher.libm("bessel")
    with pytest.raises(TypeError):
        _launcher.libm(1)


def test_ufunc_loop_checks_its_arguments():
    assert all(isinstance(word, int) for word in _launcher.ufunc_loop(np.add, 0))
    with pytest.raises(IndexError, match="add has"):
        _launcher.ufunc_loop(np.add, 1000)
    with pytest.raises(IndexError):
        _launcher.ufunc_loop(np.add, -1)
    with pytest.raises(TypeError):
        _launcher.ufunc_loop(len, 0)
