"""Groups of elementwise operations in one loop: NumPy's bits, layouts and exits, and which operations
group."""

import itertools
import re

import numpy as np
import pytest
from kernel_graphs import BACKENDS, Builder

from pijit.core.graph.library import CLIP
from pijit.core.graph.passes.fusion import find_groups, watched
from pijit.core.graph.types import INT, Array, numpy_scalar
from pijit.core.graph.verify import verify
from pijit.core.kernel.abi import FrameLayout
from pijit.core.kernel.emit.kernel_emitter import KernelEmitter
from pijit.core.kernel.llvm import codegen
from pijit.core.kernel.options import PLAIN
from pijit.core.kernel.plan.kernel_plan import make_plan

VECTOR = Array(np.dtype("d"), 1, "C")


def ufunc(b, kind, function, types, *args, exit):
    return b.op("ufunc", kind, *args, exit=exit, ufunc=function, types=types,
                loop=function.types.index(types))


def axpy(dtype, *kinds):
    """x * s + y - x, all of one dtype."""
    code = np.dtype(dtype).char
    types = "%s%s->%s" % (code, code, code)
    out = Array(np.dtype(dtype), max(kind.ndim for kind in kinds), "A")
    b = Builder("axpy", *(kinds + (numpy_scalar(np.dtype(dtype)),)))
    x, y, s = b.inputs
    first = ufunc(b, Array(np.dtype(dtype), x.type.ndim, "A"), np.multiply, types, x, s, exit=b.exit(1))
    second = ufunc(b, out, np.add, types, first, y, exit=b.exit(5, first))
    b.leave(2, ufunc(b, out, np.subtract, types, second, x, exit=b.exit(6, second)))
    return b


@pytest.mark.parametrize("code", "bBhHiIlLfd")
def test_bits_per_dtype(code):
    dtype = np.dtype(code)
    run = axpy(dtype, Array(dtype, 1, "C"), Array(dtype, 1, "C")).run("numba")
    assert "layout_like" not in run.kernel.source and "nest_0(" in run.kernel.source
    random = np.random.RandomState(3)
    x, y = ((random.rand(101) * 200).astype(dtype) for _ in range(2))
    s = dtype.type(3)
    assert run(x, y, s)[1].tobytes() == (x * s + y - x).tobytes()


@pytest.mark.parametrize("backend", BACKENDS)
def test_broadcasting_and_strides(backend):
    kind = Array(np.dtype("d"), 2, "C")
    run = axpy("d", kind, kind).run(backend)
    base, s = np.linspace(0.1, 9.7, 20).reshape(4, 5), np.float64(1.7)
    for shapes in itertools.product(((4, 5), (1, 5), (4, 1), (1, 1), (3, 5), (4, 4), (0, 5)), repeat=2):
        x, y = (np.resize(base, shape) for shape in shapes)
        try:
            want = x * s + y - x
        except ValueError:
            assert run(x, y, s)[0] in (1, 5)
            continue
        got = run(x, y, s)[1]
        assert got.tobytes() == want.tobytes() and got.strides == want.strides and got.shape == want.shape


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("layout", ("C", "A"))
def test_other_layouts(backend, layout):
    kind = Array(np.dtype("d"), 2, "A")
    run = axpy("d", Array(np.dtype("d"), 2, layout), kind).run(backend)
    base, s = np.linspace(0.1, 9.7, 24).reshape(4, 6), np.float64(1.7)
    for x, y in ((base, base.T.copy().T), (base, base[:, ::-1]), (base[::1], base[::-1])):
        want, got = x * s + y - x, run(x, y, s)[1]
        assert got.tobytes() == want.tobytes() and got.strides == want.strides


def test_flags_leave_before_the_first_operation():
    run = axpy("d", VECTOR, VECTOR).run("numba")
    ones = np.ones(9)
    assert run(np.full(9, 1e308), ones, np.float64(100)) == (1,)
    huge = np.full(9, 1.7e308)
    assert run(huge, huge, np.float64(1)) == (1,)
    assert run(np.full(9, np.nan), ones, np.float64(1))[0] == 2


@pytest.mark.parametrize("function, value", [(np.sqrt, 2.0), (np.square, 3.1), (np.negative, -0.0),
                                             (np.absolute, -0.0)])
def test_unary_operations(function, value):
    for code in "fd":
        kind = Array(np.dtype(code), 1, "C")
        types = "%s->%s" % (code, code)
        b = Builder("unary", kind)
        exit = b.exit(1)
        inner = ufunc(b, kind, function, types, b.inputs[0], exit=exit)
        b.leave(2, ufunc(b, kind, np.negative, types, inner, exit=exit))
        run = b.run("numba")
        x = np.array([value, 0.0, 1.5, 1e10, 0.1, 7.0, 9.0], code)
        assert run(x)[1].tobytes() == (-function(x)).tobytes()
        if function is np.sqrt:
            assert run(-x) == (1,)


def test_what_groups():
    b = Builder("groups", VECTOR, VECTOR)
    x, y = b.inputs
    exit = b.exit(1)
    shared = ufunc(b, VECTOR, np.add, "dd->d", x, y, exit=exit)
    left = ufunc(b, VECTOR, np.multiply, "dd->d", shared, y, exit=exit)
    right = ufunc(b, VECTOR, np.multiply, "dd->d", shared, x, exit=b.exit(3, left))
    total = ufunc(b, VECTOR, np.add, "dd->d", left, right, exit=exit)
    outer = ufunc(b, VECTOR, np.exp, "d->d", total, exit=exit)
    b.leave(2, outer)
    groups = find_groups(b.graph)
    assert [[op.result for op in group] for group in groups.values()] == [[shared, left, right, total]]
    x, y = np.array([0.1, 11.0, -3.0]), np.array([7.0, 0.3, 1e-9])
    assert b.run("numba")(x, y)[1].tobytes() == np.exp((x + y) * y + (x + y) * x).tobytes()


def test_a_result_used_outside_is_no_part_of_a_group():
    b = Builder("outside", VECTOR, VECTOR)
    x, y = b.inputs
    exit = b.exit(1)
    shared = ufunc(b, VECTOR, np.add, "dd->d", x, y, exit=exit)
    squared = ufunc(b, VECTOR, np.multiply, "dd->d", shared, shared, exit=exit)
    b.leave(2, ufunc(b, VECTOR, np.subtract, "dd->d", squared, y, exit=exit), shared)
    assert [[op.result for op in group] for group in find_groups(b.graph).values()][0][0] is squared
    x, y = np.arange(3.0), np.ones(3)
    _, result, kept = b.run("numba")(x, y)
    assert result.tolist() == ((x + y) ** 2 - y).tolist() and kept.tolist() == (x + y).tolist()


def test_what_is_written_to_is_no_inner_result():
    b = Builder("into", VECTOR, VECTOR)
    x, y = b.inputs
    exit = b.exit(1)
    fresh = ufunc(b, VECTOR, np.add, "dd->d", x, y, exit=exit)
    b.op("ufunc_into", None, fresh, fresh, y, exit=exit, ufunc=np.multiply, types="dd->d",
         loop=np.multiply.types.index("dd->d"))
    b.leave(2, fresh)
    assert all(len(group) == 1 for group in find_groups(b.graph).values())
    x, y = np.arange(3.0), np.full(3, 2.0)
    assert b.run("numba")(x, y)[1].tolist() == ((x + y) * y).tolist()


@pytest.mark.parametrize("function", [np.subtract, np.true_divide, np.add])
@pytest.mark.parametrize("layout", "CF")
def test_rows_against_a_vector(function, layout):
    matrix = Array(np.dtype("d"), 2, layout)
    b = Builder("rows", matrix, VECTOR)
    x, y = b.inputs
    b.leave(2, ufunc(b, Array(np.dtype("d"), 2, "A"), function, "dd->d", x, y, exit=b.exit(1)))
    assert len(find_groups(b.graph)) == 1
    run = b.run("numba")
    assert ("nest_0(" in run.kernel.source) == (layout == "C")
    x = np.array(np.random.RandomState(1).rand(7, 3), order=layout)
    for y in (np.array([0.5, 3.0, -1.0]), np.array([4.0])):
        got, want = run(x, y)[1], function(x, y)
        assert got.tobytes() == want.tobytes() and got.strides == want.strides
    assert run(x, np.ones(2)) == (1,)
    assert run(np.full((2, 3), 1.5e308), np.array([1.5e308, -1.5e308, 1e-10])) == (1,)


def test_roots_of_a_vector_are_not_computed_for_each_row():
    matrix, whole = Array(np.dtype("d"), 2, "C"), Array(np.dtype("d"), 2, "A")
    b = Builder("norm", matrix, VECTOR)
    x, y = b.inputs
    exit = b.exit(1)
    more = ufunc(b, VECTOR, np.add, "dd->d", y, y, exit=exit)
    roots = ufunc(b, VECTOR, np.sqrt, "d->d", more, exit=exit)
    less = ufunc(b, VECTOR, np.negative, "d->d", y, exit=exit)
    centred = ufunc(b, whole, np.add, "dd->d", x, less, exit=exit)
    result = ufunc(b, whole, np.true_divide, "dd->d", centred, roots, exit=exit)
    b.leave(2, result)
    groups = {group[-1].result: [op.result for op in group] for group in find_groups(b.graph).values()}
    assert groups == {roots: [more, roots], result: [less, centred, result]}
    x, y = np.random.RandomState(1).rand(7, 30), np.linspace(0.5, 2.0, 30)
    run = b.run("numba")
    for x, y in ((x, y), (x[:, :1], y[:1]), (x[:0], y), (x[:, :0], y[:0]), (x, y[:1])):
        got, want = run(x, y)[1], (x + -y) / np.sqrt(y + y)
        assert got.tobytes() == want.tobytes() and got.strides == want.strides
    assert run(x, -y) == (1,) and run(x, np.ones(2)) == (1,)


def test_an_effect_ends_a_group():
    b = Builder("effect", VECTOR, VECTOR)
    x, y = b.inputs
    exit = b.exit(1)
    first = ufunc(b, VECTOR, np.add, "dd->d", x, y, exit=exit)
    b.op("assign", None, x, y, exit=exit)
    second = ufunc(b, VECTOR, np.multiply, "dd->d", first, y, exit=exit)
    b.leave(2, second)
    assert find_groups(b.graph) == {}
    x, y = np.arange(3.0), np.ones(3)
    assert b.run("numba")(x, y)[1].tolist() == [1.0, 2.0, 3.0] and x.tolist() == [1.0, 1.0, 1.0]


def test_an_inner_result_at_another_exit_ends_a_group():
    b = Builder("other", VECTOR, INT)
    x, n = b.inputs
    exit = b.exit(1)
    first = ufunc(b, VECTOR, np.add, "dd->d", x, x, exit=exit)
    b.op("floordiv", INT, n, n, exit=b.exit(4, first))
    b.leave(2, ufunc(b, VECTOR, np.multiply, "dd->d", first, x, exit=exit))
    assert find_groups(b.graph) == {}
    answer = b.run("numba")(np.ones(2), 0)
    assert answer[0] == 4 and answer[1].tolist() == [2.0, 2.0]


def chain(first, inner, second, outer, *kinds):
    """second(first(x, y), y), of the loops ``inner`` and ``outer``."""
    b = Builder("chain", *kinds)
    x, y = b.inputs
    exit = b.exit(1)
    middle = ufunc(b, Array(np.dtype(inner[-1]), 1, "C"), first, inner, x, y, exit=exit)
    b.leave(2, ufunc(b, Array(np.dtype(outer[-1]), 1, "C"), second, outer, middle, y, exit=exit))
    return b


SPECIAL = [0.0, -0.0, 1.5, -1.5, np.inf, -np.inf, np.nan]


@pytest.mark.parametrize("compare", [np.less, np.less_equal, np.greater, np.greater_equal, np.equal,
                                     np.not_equal])
@pytest.mark.parametrize("code", "dfiLB?")
def test_comparisons(compare, code):
    dtype = np.dtype(code)
    kind = Array(dtype, 1, "C")
    b = Builder("compare", kind, kind)
    x, y = b.inputs
    exit, types, out = b.exit(1), "{0}{0}->?".format(code), Array(np.dtype("?"), 1, "C")
    one = ufunc(b, out, compare, types, x, y, exit=exit)
    other = ufunc(b, out, compare, types, y, x, exit=exit)
    b.leave(2, ufunc(b, out, np.bitwise_or, "??->?", one, other, exit=exit))
    run = b.run("numba")
    assert "nest_0(" in run.kernel.source and "flags" not in run.kernel.source
    values = np.array(SPECIAL if code in "df" else [0, 1, 2, -1, 127, -128]).astype(dtype)
    left, right = (side.ravel().copy() for side in np.meshgrid(values, values))
    want = compare(left, right) | compare(right, left)
    got = run(left, right)[1]
    assert got.dtype == bool and got.tobytes() == want.tobytes()


@pytest.mark.parametrize("code", "bBhHiIlL")
@pytest.mark.parametrize("pick", [np.minimum, np.maximum])
def test_integer_minimum_and_maximum(pick, code):
    kind, types = Array(np.dtype(code), 1, "C"), "{0}{0}->{0}".format(code)
    run = chain(pick, types, np.add, types, kind, kind).run("numba")
    info = np.iinfo(code)
    values = np.array([info.min, info.min + 1, 0, 1, info.max - 1, info.max], code)
    x, y = (side.ravel().copy() for side in np.meshgrid(values, values))
    assert "nest_0(" in run.kernel.source and run(x, y)[1].tobytes() == (pick(x, y) + y).tobytes()


@pytest.mark.parametrize("first, second, types, expected", [
    (np.maximum, np.add, "dd->d", [1, 1]), (np.add, np.maximum, "dd->d", [1, 1]), (np.add, np.less, "dd->?", [1, 0]),
    (np.add, np.multiply, "dd->d", [0, 0])])
def test_what_flags_cannot_tell_is_watched(first, second, types, expected):
    """Minima of 0.0 and -0.0, and arithmetic below a comparison."""
    graph = chain(first, "dd->d", second, types, VECTOR, VECTOR).graph
    group, = find_groups(graph).values()
    found = watched(group)
    assert [op in found for op in group] == expected


def test_arithmetic_whose_flags_are_all_ignored_is_not_watched():
    """A comparison of a computed number mixes with arithmetic, whose flags LLVM may then drop."""
    for ignored, count in ((0, 1), (8, 1), (15, 0)):
        graph = chain(np.multiply, "dd->d", np.less, "dd->?", VECTOR, VECTOR).graph
        group, = find_groups(graph).values()
        for op in group:
            op.attrs["ignored"] = ignored
        assert len(watched(group)) == count


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("code, to", [("b", "d"), ("H", "f"), ("i", "d"), ("l", "d"), ("L", "d"), ("?", "d"),
                                      ("f", "d"), ("B", "l")])
def test_operands_of_another_type(backend, code, to):
    dtype, types = np.dtype(code), "{0}{0}->{0}".format(to)
    run = chain(np.multiply, types, np.subtract, types, Array(dtype, 1, "C"), Array(np.dtype(to), 1, "C")
                ).run(backend)
    big = [0, 1] if code == "?" else [0, 3, 7] if code == "f" else [0, 3, np.iinfo(code).max]
    x = np.resize(np.array(big, dtype), 11)
    y = (np.arange(11) * 1.5 + 0.25).astype(to)
    assert run(x, y)[1].tobytes() == (x * y - y).tobytes()
    if backend == "numba":
        assert "nest_0(" in run.kernel.source


def test_a_nan_among_the_constants_hides_no_flag():
    b = Builder("nan", VECTOR)
    x, exit = b.inputs[0], b.exit(1)
    nan = b.const(np.float64("nan"), numpy_scalar(np.dtype("d")))
    product = ufunc(b, VECTOR, np.multiply, "dd->d", x, x, exit=exit)
    b.leave(2, ufunc(b, VECTOR, np.add, "dd->d", product, nan, exit=exit))
    run = b.run("numba")
    assert run(np.full(5, 1e200)) == (1,) and np.isnan(run(np.ones(5))[1]).all()


def between(low, high):
    b = Builder("between", VECTOR)
    x, exit = b.inputs[0], b.exit(1)
    bounds = [b.const(np.float64(bound), numpy_scalar(np.dtype("d"))) for bound in (low, high)]
    product = ufunc(b, VECTOR, np.multiply, "dd->d", x, x, exit=exit)
    b.leave(2, ufunc(b, VECTOR, CLIP, "ddd->d", product, *bounds, exit=exit))
    return b


@pytest.mark.parametrize("builder", [axpy("d", VECTOR, VECTOR), chain(
    np.minimum, "dd->d", np.maximum, "dd->d", VECTOR, VECTOR), between(0.0, 255.0), between(-0.5, 0.5)],
    ids=["arithmetic", "extremes", "from zero", "bounds"])
def test_unit_strides_are_vectorised(builder):
    graph = verify(builder.graph)
    emitter = KernelEmitter(graph, FrameLayout(graph), make_plan(graph, PLAIN), PLAIN)
    made = codegen.library(emitter.source("kernel"), emitter.names, False)
    assert re.search(r"<\d+ x double>", made.get_llvm_str())
