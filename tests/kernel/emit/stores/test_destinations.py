"""Fused statements that write to arrays that were there before: overlap, flags, conversions."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_graphs import BACKENDS, Builder

from pijit.core.graph.types import FLAG, FLOAT, WORD, Array, numpy_scalar
from pijit.core.kernel.emit import exponent_bounds
from pijit.core.kernel.emit.stores import inplace_store
from pijit.core.kernel.llvm.nest import delayed_store
from pijit.core.kernel.plan import store_plan
from pijit.core.kernel.runtime_entries import ENTRIES

MADE = {}
SLICE = "svv-"


def ufunc(b, kind, function, types, *args, exit, name="ufunc"):
    return b.op(name, kind, *args, exit=exit, ufunc=function, types=types,
                loop=function.types.index(types))


def arithmetic(b, code, x, y, exit):
    """x * 3 + y"""
    dtype, types = np.dtype(code), "{0}{0}->{0}".format(code)
    kind = Array(dtype, max(x.type.ndim, y.type.ndim))
    three = b.const(dtype.type(3), numpy_scalar(dtype))
    product = ufunc(b, kind, np.multiply, types, x, three, exit=exit)
    return ufunc(b, kind, np.add, types, product, y, exit=exit)


@mock.patch.object(exponent_bounds, "FEW", 0)
@mock.patch.object(inplace_store, "BLOCK", 48)
def of_one_buffer(code, into, ndim=1, reach=0):
    """buffer[a:b] = buffer[c:d] * 3 + buffer[e:f], or += of it; slices on the first axis, by blocks of a few rows, or by
    vectors of so many bytes."""
    key = code, into, ndim, reach
    if key not in MADE:
        kind = Array(np.dtype(code), ndim, "C")
        b = Builder("views", kind, *[WORD] * 6)
        buffer, exit = b.inputs[0], b.exit(1)
        index = (SLICE,) + ("e",) * (ndim - 1)
        target, x, y = (b.op("view", kind, buffer, *b.inputs[k:k + 2], exit=exit, index=index)
                        for k in (1, 3, 5))
        value = arithmetic(b, code, x, y, exit)
        if into:
            ufunc(b, None, np.add, "{0}{0}->{0}".format(code), target, target, value, exit=exit,
                  name="ufunc_into")
        else:
            b.op("assign", None, target, value, exit=exit)
        b.leave(2)
        with mock.patch.object(delayed_store, "REACH", reach or 8), mock.patch.object(
                store_plan, "can_delay", store_plan.can_delay if reach else lambda *args: False):
            MADE[key] = b.run("numba")
        assert "nest_" in MADE[key].kernel.source and ("delays_stores=True" in MADE[key].kernel.source) == (reach > 0)
    return MADE[key]


ENDS = st.integers(0, 12)


@pytest.mark.parametrize("into", [False, True])
@pytest.mark.parametrize("code, ndim, reach", [("d", 1, 0), ("d", 2, 0), ("i", 1, 0), ("d", 1, 16), ("f", 1, 16),
                                               ("d", 1, 128)])
@settings(max_examples=200, deadline=None)
@given(a=ENDS, c=ENDS, e=ENDS, size=st.integers(0, 20), sizes=st.tuples(*[st.sampled_from([None, 1])] * 2))
def test_views_of_one_buffer(into, code, ndim, reach, a, c, e, size, sizes):
    shape = (30, 3)[:ndim]
    mine = (np.arange(np.prod(shape)).reshape(shape) * 1.7).astype(code)
    theirs = mine.copy()
    ends = [(start, start + (size if one is None else one)) for start, one in zip((a, c, e), (None,) + sizes)]
    target, x, y = (theirs[start:stop] for start, stop in ends)
    try:
        value = x * theirs.dtype.type(3) + y
        if into:
            np.add(target, value, out=target)
        else:
            target[...] = value
    except ValueError:
        assert of_one_buffer(code, into, ndim, reach)(mine, *sum(ends, ())) == (1,)
    else:
        assert of_one_buffer(code, into, ndim, reach)(mine, *sum(ends, ())) == (2,)
    assert mine.tobytes() == theirs.tobytes()


def test_integers_are_written_in_place():
    """x += y for one array, or for two that do not overlap."""
    kind = Array(np.dtype("i"), 1, "C")
    b = Builder("in_place", kind)
    ufunc(b, None, np.add, "ii->i", b.inputs[0], b.inputs[0], b.inputs[0], exit=b.exit(1), name="ufunc_into")
    b.leave(2)
    run = b.run("numba")
    assert "nest_" in run.kernel.source and "buffer" not in run.kernel.source
    x = np.array([1, 2 ** 31 - 1, -5], "i")
    assert run(x) == (2,) and x.tolist() == [2, -2, -10]


def of_inputs(code, result, into=True):
    """np.add(x * 3, y, out=target), or target[...] = x * 3 + y."""
    key = code, result, into, "inputs"
    if key not in MADE:
        kind = Array(np.dtype(code), 1, "C")
        b = Builder("inputs", Array(np.dtype(result), 1, "C"), kind, kind)
        target, x, y = b.inputs
        exit, types = b.exit(1), "{0}{0}->{0}".format(code)
        if into:
            three = b.const(np.dtype(code).type(3), numpy_scalar(np.dtype(code)))
            product = ufunc(b, kind, np.multiply, types, x, three, exit=exit)
            ufunc(b, None, np.add, types, target, product, y, exit=exit, name="ufunc_into")
        else:
            b.op("assign", None, target, arithmetic(b, code, x, y, exit), exit=exit)
        b.leave(2)
        MADE[key] = b.run("numba")
    return MADE[key]


@pytest.mark.parametrize("into", [False, True])
@pytest.mark.parametrize("code", "dh")
@settings(max_examples=100, deadline=None)
@given(starts=st.tuples(*[st.integers(0, 12)] * 3), size=st.integers(0, 8))
def test_inputs_that_may_overlap(into, code, starts, size):
    run = of_inputs(code, code, into)
    assert "choose(t" in run.kernel.source and "buffer_d" in run.kernel.source
    mine = (np.sin(np.arange(20.0)) * 9e3).astype(code)
    theirs = mine.copy()
    target, x, y = (theirs[start:start + size] for start in starts)
    target[...] = x * theirs.dtype.type(3) + y
    assert run(*[mine[start:start + size] for start in starts]) == (2,)
    assert mine.tobytes() == theirs.tobytes()


@pytest.mark.parametrize("into", [False, True])
@pytest.mark.parametrize("code, result", [("i", "d"), ("f", "d"), ("B", "i"), ("l", "f"), ("d", "f")])
def test_results_of_another_type(code, result, into):
    run = of_inputs(code, result, into)
    x, y = np.array([1, 2, 250, 7]).astype(code), np.array([0, 5, 100, 3]).astype(code)
    target = np.zeros(4, result)
    assert run(target, x, y) == (2,)
    assert target.tobytes() == (x * np.dtype(code).type(3) + y).astype(result).tobytes()


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_buffer_is_made_once_for_a_loop(backend):
    """A loop of x[1:-1] = x[:-2] + x[2:] * s."""
    kind = Array(np.dtype("d"), 1, "C")
    b = Builder("loop", kind, FLOAT, WORD)
    x, s, n = b.inputs
    head, body = b.block(WORD), b.block()
    b.jump(head, b.const(0, WORD))
    b.at = head
    b.branch(b.op("compare", FLAG, head.params[0], n, operator="<"), body, b.exit(2))
    b.at = body
    exit = b.exit(1)
    one, two, last, end = (b.const(number, WORD) for number in (1, 2, -2, -1))
    left = b.op("view", kind, x, last, exit=exit, index=("s-v-",))
    right = b.op("view", kind, x, two, exit=exit, index=("sv--",))
    middle = b.op("view", kind, x, one, end, exit=exit, index=("svv-",))
    scaled = ufunc(b, kind, np.multiply, "dd->d", right, s, exit=exit)
    b.op("assign", None, middle, ufunc(b, kind, np.add, "dd->d", left, scaled, exit=exit), exit=exit)
    b.jump(head, b.op("add", WORD, head.params[0], one))
    run = b.run(backend)
    mine = np.sin(np.arange(50.0))
    theirs = mine.copy()
    for _ in range(20):
        theirs[1:-1] = theirs[:-2] + theirs[2:] * 0.3
    assert run(mine, 0.3, 20) == (2,) and mine.tobytes() == theirs.tobytes()
    if backend == "numba":
        assert run.kernel.source.count("> buffer_n:") == 1


@pytest.mark.parametrize("into", [False, True])
def test_a_flag_leaves_the_destination_as_it_was(into):
    """As NumPy does where np.errstate raises."""
    run = of_inputs("d", "d", into)
    x, huge = np.arange(5.0), np.array([1.0, 1.0, 1.0, 1.0, 1.7e308])
    target = huge.copy()
    assert run(target, huge, x) == (1,) and target.tobytes() == huge.tobytes()
    assert run(target, target, x) == (1,) and target.tobytes() == huge.tobytes()
    assert run(target[:4], target[:4], x[:4]) == (2,) and target[:4].tolist() == [3.0, 4.0, 5.0, 6.0]


def test_first_contents_wait_for_the_store():
    """new = x.copy(); new[1:-1] = x[1:-1] * 3 + x[1:-1]: only the two ends are copied."""
    kind = Array(np.dtype("d"), 1, "C")
    b = Builder("inner", kind, WORD, WORD)
    x, exit, around = b.inputs[0], b.exit(1), ENTRIES["copy_around"].offset
    new = b.op("alloc", kind, b.op("dim", WORD, x, axis=0), exit=exit, fill=None, order="C")
    b.op("assign", None, new, x, exit=exit)
    inner = b.op("view", kind, x, *b.inputs[1:3], exit=exit, index=(SLICE,))
    target = b.op("view", kind, new, *b.inputs[1:3], exit=exit, index=(SLICE,))
    b.op("assign", None, target, arithmetic(b, "d", inner, inner, b.exit(2, new)), exit=b.exit(2, new))
    b.leave(3, new)
    run = b.run("numba")
    assert "0), %d)" % around in run.kernel.source and "below_all" not in run.kernel.source
    given = np.linspace(1.0, 2.0, 90)
    number, new = run(given, 1, 89)
    wanted = given.copy()
    wanted[1:89] = given[1:89] * 3 + given[1:89]
    assert number == 3 and new.tobytes() == wanted.tobytes()
    given[5] = 1e308
    number, new = run(given, 1, 89)
    assert number == 2 and new.tobytes() == given.tobytes()
