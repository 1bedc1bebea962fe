"""Array operations against NumPy: values, dtypes, strides, views, aliasing, exits."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_graphs import BACKENDS, Builder

from pijit.core.graph.types import FLOAT, INT, WORD, Array, numpy_scalar

NUMPY_WARNS_OF_CASTS = tuple(map(int, np.__version__.split(".")[:2])) >= (1, 24)
DTYPES = "?bBhHiIlLqQfd"


def kind_of(array, layout="A"):
    return Array(array.dtype, array.ndim, layout)


def one_ufunc(backend, function, types, *kinds):
    out = Array(np.dtype(types[-1]), max(kind.ndim if isinstance(kind, Array) else 0 for kind in kinds))
    b = Builder("ufunc", *kinds)
    b.leave(2, b.op("ufunc", out, *b.inputs, exit=b.exit(1), ufunc=function, types=types,
                    loop=function.types.index(types)))
    return b.run(backend)


def assert_same_array(got, want):
    assert type(got) is np.ndarray and got.dtype == want.dtype and got.shape == want.shape
    assert got.strides == want.strides, (got.strides, want.strides)
    assert got.tobytes() == want.tobytes()
    assert got.flags.writeable and got.base is None


LAYOUTS = (
    lambda a: a, lambda a: np.asfortranarray(a), lambda a: a[::-1], lambda a: a[:, ::-2],
    lambda a: a.T[:4, :4].T[:4, :4],
    lambda a: np.broadcast_to(a[:1], a.shape).copy()[:, :], lambda a: a[:1], lambda a: a[:, :1],
    lambda a: a[1:1],
)


@pytest.mark.parametrize("backend", BACKENDS)
def test_ufunc_layouts_and_broadcasting(backend):
    kind = Array(np.dtype("d"), 2)
    run = one_ufunc(backend, np.add, "dd->d", kind, kind)
    base = np.linspace(0.1, 3.7, 24).reshape(4, 6)
    for first, second in itertools.product(LAYOUTS, repeat=2):
        x, y = first(base), second(base * 1.5)
        try:
            want = x + y
        except ValueError:
            assert run(x, y) == (1,)
            continue
        answer = run(x, y)
        assert answer[0] == 2
        assert_same_array(answer[1], want)


@pytest.mark.parametrize("backend", BACKENDS)
def test_ufunc_dims_and_scalars(backend):
    matrix, vector = np.arange(12.0).reshape(3, 4), np.array([1.0, 2.0, 4.0, 8.0])
    run = one_ufunc(backend, np.multiply, "dd->d", kind_of(matrix), kind_of(vector))
    assert_same_array(run(matrix, vector)[1], matrix * vector)
    assert run(matrix, vector[:3]) == (1,)
    run = one_ufunc(backend, np.subtract, "ff->f", Array(np.dtype("f"), 1), FLOAT)
    x = np.array([1, 2, 3], np.float32)
    assert_same_array(run(x, 0.1)[1], x - np.float32(0.1))
    run = one_ufunc(backend, np.exp, "d->d", Array(np.dtype("d"), 2))
    assert_same_array(run(matrix / 7)[1], np.exp(matrix / 7))


@pytest.mark.parametrize("backend", BACKENDS)
def test_ufunc_converts_operands(backend):
    x, y = np.arange(6, dtype=np.int32).reshape(2, 3), np.array([0.5, 1.5, 2.5])
    run = one_ufunc(backend, np.add, "dd->d", kind_of(x), kind_of(y))
    assert_same_array(run(x, y)[1], x + y)
    assert_same_array(run(x[:, ::-1], y)[1], x[:, ::-1] + y)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("bad", [(1e308, 10.0), (0.0, np.inf)])
def test_flags_leave(backend, bad):
    kind = Array(np.dtype("d"), 1)
    run = one_ufunc(backend, np.multiply, "dd->d", kind, kind)
    assert run(np.array([1.0, bad[0]]), np.array([1.0, bad[1]])) == (1,)
    run = one_ufunc(backend, np.true_divide, "dd->d", kind, kind)
    assert run(np.ones(3), np.array([1.0, 0.0, 2.0])) == (1,)
    assert run(np.array([np.nan, np.inf]), np.ones(2))[0] == 2
    run = one_ufunc(backend, np.floor_divide, "ll->l", Array(np.dtype("l"), 1), Array(np.dtype("l"), 1))
    assert run(np.array([5, 7]), np.array([2, 0])) == (1,)
    assert run(np.array([5, -7]), np.array([2, 2]))[1].tolist() == [2, -4]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("code", DTYPES)
def test_load_and_store(backend, code):
    kind = Array(np.dtype(code), 2)
    b = Builder("elements", kind, WORD, WORD)
    a, i, j = b.inputs
    zero = b.const(0, WORD)
    value = b.op("load", numpy_scalar(np.dtype(code)), a, i, j, exit=b.exit(1))
    b.op("store", None, a, zero, j, value, exit=b.exit(1))
    b.leave(2, value)
    run = b.run(backend)
    info = np.array([0, 1]) if code in "?fd" else np.array([np.iinfo(code).min, np.iinfo(code).max],
                                                           dtype=code)
    original = np.resize(np.append(info, info[1]), 12).astype(code).reshape(3, 4)
    for view in (lambda a: a, lambda a: a.T, lambda a: a[::-1, ::2]):
        for i, j in itertools.product(range(-5, 6), repeat=2):
            mine, theirs = view(original.copy()), view(original.copy())
            try:
                want = theirs[i, j]
                theirs[0, j] = want
            except IndexError:
                assert run(mine, i, j) == (1,)
            else:
                number, got = run(mine, i, j)
                assert number == 2 and type(got) is type(want) and got == want
            assert np.array_equal(mine, theirs)


ENDS = st.one_of(st.integers(-9, 9), st.sampled_from([2 ** 63 - 1, -2 ** 63, 2 ** 62]))
SLICERS = {}


def slicer(backend, form):
    """A kernel of (array, start, stop, step) for one slice form, made once."""
    if (backend, form) not in SLICERS:
        b = Builder("slice", Array(np.dtype("l"), 2), WORD, WORD, WORD)
        chosen = [value for value, part in zip(b.inputs[1:], form[1:]) if part == "v"]
        view = b.op("view", Array(np.dtype("l"), 3), b.inputs[0], *chosen, exit=b.exit(1),
                    index=("n", "e", form))
        b.leave(2, view)
        SLICERS[backend, form] = b.run(backend)
    return SLICERS[backend, form]


@pytest.mark.parametrize("backend", BACKENDS)
@settings(max_examples=300, deadline=None)
@given(start=ENDS, stop=ENDS, step=st.integers(-9, 9), size=st.integers(0, 7),
       form=st.sampled_from(["s" + "".join(parts) for parts in itertools.product("-v", repeat=3)]))
def test_slices(backend, start, stop, step, size, form):
    array = np.arange(3 * size).reshape(3, size)
    given_parts = [value if part == "v" else None for value, part in zip((start, stop, step), form[1:])]
    answer = slicer(backend, form)(array, start, stop, step)
    if given_parts[2] == 0:
        assert answer == (1,)
        return
    want = array[None, :, slice(*given_parts)]
    got = answer[1]
    assert answer[0] == 2 and got.shape == want.shape and got.strides == want.strides
    assert got.base is want.base and got.__array_interface__["data"] == want.__array_interface__["data"]


@pytest.mark.parametrize("backend", BACKENDS)
def test_views_of_read_only_and_transposed(backend):
    kind = Array(np.dtype("d"), 2)
    b = Builder("transpose", kind)
    t = b.op("transpose", kind, b.inputs[0], axes=(1, 0))
    b.leave(2, t, b.op("dim", WORD, t, axis=0))
    run = b.run(backend)
    array = np.arange(6.0).reshape(2, 3).copy()
    array.setflags(write=False)
    _, view, size = run(array)
    assert view.strides == array.T.strides and view.base is array and not view.flags.writeable and size == 3


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("target, source", list(itertools.product("?bBHiIlLfd", "?bLfd")))
def test_assign_converts(backend, target, source):
    b = Builder("assign", Array(np.dtype(target), 2), Array(np.dtype(source), 1))
    b.op("assign", None, *b.inputs, exit=b.exit(1))
    b.leave(2)
    run = b.run(backend)
    values = np.array([0, 1, 2, 100, 3]).astype(source)
    mine, theirs = np.zeros((2, 5), target), np.zeros((2, 5), target)
    theirs[...] = values
    assert run(mine, values) == (2,)
    assert np.array_equal(mine, theirs)
    assert run(mine, values[:3]) == (1,)
    if source in "fd" and target not in "?fd":
        mine, values = np.zeros((2, 5), target), np.array([1, 2, np.nan, 1, 1], source)
        answer = run(mine, values)
        if backend == "numba" or NUMPY_WARNS_OF_CASTS:
            assert answer == (1,) and not mine.any()
        else:
            assert answer == (2,) and np.array_equal(mine[1], values.astype(target))


@pytest.mark.parametrize("backend", BACKENDS)
def test_overlapping_assign_and_ufunc_into(backend):
    kind = Array(np.dtype("d"), 1)
    b = Builder("overlap", kind, kind, FLOAT)
    b.op("assign", None, b.inputs[0], b.inputs[1], exit=b.exit(1))
    b.op("ufunc_into", None, b.inputs[0], b.inputs[1], b.inputs[2], exit=b.exit(1), ufunc=np.multiply,
         types="dd->d",
         loop=np.multiply.types.index("dd->d"))
    b.leave(2)
    run = b.run(backend)
    for cut in ((slice(1, None), slice(None, -1)), (slice(None, -1), slice(1, None)),
                (slice(None), slice(None)),
                (slice(None), slice(None, None, -1))):
        mine, theirs = np.arange(9.0), np.arange(9.0)
        theirs[cut[0]][...] = theirs[cut[1]]
        np.multiply(theirs[cut[1]], 3.0, out=theirs[cut[0]])
        assert run(mine[cut[0]], mine[cut[1]], 3.0) == (2,)
        assert np.array_equal(mine, theirs)


@pytest.mark.parametrize("backend", BACKENDS)
def test_nothing_is_written_when_ufunc_into_leaves(backend):
    kind = Array(np.dtype("d"), 1)
    b = Builder("into", kind, kind)
    b.op("ufunc_into", None, b.inputs[0], b.inputs[0], b.inputs[1], exit=b.exit(1), ufunc=np.multiply,
         types="dd->d",
         loop=np.multiply.types.index("dd->d"))
    b.leave(2)
    run = b.run(backend)
    x = np.array([1.0, 2.0, 1e300])
    assert run(x, np.array([3.0, 3.0, 1e300])) == (1,)
    assert x.tolist() == [1.0, 2.0, 1e300]
    assert run(x, np.ones(2)) == (1,)
    assert run(x, np.array([2.0])) == (2,) and x.tolist() == [2.0, 4.0, 2e300]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("code", "?bBld")
def test_assign_scalar_and_alloc(backend, code):
    dtype = np.dtype(code)
    b = Builder("alloc", WORD, WORD, INT)
    n, m, value = b.inputs
    kinds = Array(dtype, 2, "C"), Array(dtype, 2, "F")
    exit = b.exit(1)
    zeros = b.op("alloc", kinds[0], n, m, exit=exit, fill=0, order="C")
    ones = b.op("alloc", kinds[1], n, m, exit=exit, fill=1, order="F")
    empty = b.op("alloc", kinds[0], m, n, exit=exit, fill=None, order="C")
    b.op("assign", None, empty, value, exit=exit)
    b.leave(2, zeros, ones, empty)
    run = b.run(backend)
    number, *arrays = run(3, 4, 1)
    wanted = np.zeros((3, 4), code), np.ones((3, 4), code, order="F"), np.full((4, 3), 1, code)
    assert number == 2
    for got, want in zip(arrays, wanted):
        assert_same_array(got, want)
    assert run(-1, 2, 1) == (1,) and run(2 ** 40, 2 ** 40, 1) == (1,)
    assert run(0, 3, 1)[1].shape == (0, 3)
    if code in "bB":
        assert run(1, 1, 300) == (1,)
