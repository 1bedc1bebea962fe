"""Operations with positions that tensors give: gathers, scatters, selections. A jitted cell breaks no graph for them."""

import numpy as np
import pytest

import pijit

RANDOM = np.random.RandomState(11)
X = RANDOM.uniform(-1.0, 1.0, (4, 5)).astype("f")
CUBE = RANDOM.uniform(-1.0, 1.0, (3, 4, 5)).astype("f")
ROWS, PAIRS, TRIPLES = [[0], [3], [0]], [[0, 1], [3, 4], [0, 1]], [[0, 1, 2], [2, 3, 4]]
UPDATES = RANDOM.uniform(0.5, 1.5, (3, 5)).astype("f")

CALLS = {
    "ops.gather_nd(x, i)": [(X, ROWS), (X, PAIRS), (CUBE, TRIPLES), (CUBE, [PAIRS, PAIRS])], "ops.GatherNd()(x, i) * 2": [(X, PAIRS)],
    "x.gather_nd(i)": [(X, PAIRS)], "ops.gather_nd(x, ops.cast(i, ms.int64))": [(X, PAIRS)],
    "ops.gather_nd(x, ops.stack((i[:, 0], i[:, 1]), 1))": [(X, PAIRS)], "ops.gather_nd(x, ms.Tensor([[0, 1], [1, 1]]))": [(X, ROWS)],
    "ops.scatter_nd(i, x[:3], (6, 5))": [(X, ROWS)], "ops.ScatterNd()(i, x[:3, 0], (4, 6))": [(X, PAIRS)],
    "ops.index_add(x, i[:, 0], u, 0)": [(X, ROWS)], "ops.IndexAdd(1)(x, i[:, 0], u.T[:4])": [(X, ROWS)],
    "ops.index_fill(x, 1, i[:, 0], 2.0)": [(X, ROWS)], "ops.gather_elements(x, 1, ops.tile(i, (1, 4)).T)": [(X, ROWS)],
    "ops.gather(x[:3], i, 1, 1) * 2": [(X, PAIRS)], "ops.gather(x, ops.stack((i, i), 1), -1, 1)": [(CUBE, ROWS)],
    "ops.Gather(1)(x, i, 2)": [(CUBE, ROWS)],
    "ops.unstack(x, 1)[int(i[1, 0])]": [(X, ROWS)], "ops.stack([one * 2 for one in x])": [(X, ROWS), (CUBE, ROWS)],
    "[one + k for k, one in enumerate(x)]": [(X, ROWS)], "(x * 2 if x in [x] else x), x in (x, i)": [(X, ROWS)],
}
for _name in ("update", "add", "sub", "max", "min", "mul", "div"):
    CALLS["ops.tensor_scatter_%s(x, i, u)" % _name] = [(X, ROWS)]
    CALLS["ops.TensorScatter%s()(x, i, u[:, 0])" % _name.title()] = [(X, PAIRS)]
    CALLS["ops.tensor_scatter_%s(x, i, u[:2, 0])" % _name] = [(CUBE, TRIPLES)]


def define(expression):
    from pijit import ms
    from pijit.ms import ops

    scope = {"ops": ops, "ms": ms}
    exec("def f(x, i, u):\n    y = ops.tanh(x * 2.0)\n    x = y + x\n    return %s, y" % expression, scope)
    return scope["f"]


def seen(result):
    from pijit import ms

    if isinstance(result, (tuple, list)):
        return type(result), [seen(one) for one in result]
    if isinstance(result, ms.Tensor):
        return type(result), result.asnumpy().dtype, result.shape, result.strides, result.asnumpy().tobytes()
    return type(result), repr(result)


def answer(f, *args):
    try:
        return seen(f(*args))
    except Exception as error:
        return type(error), str(error)


def tensors(x, i, u=UPDATES):
    from pijit import ms

    return ms.Tensor(x), ms.Tensor(np.array(i, np.int32)), ms.Tensor(u)


@pytest.mark.parametrize("expression", sorted(CALLS))
def test_no_break(expression):
    from pijit import ms

    f = define(expression)
    for x, i in CALLS[expression]:
        j = ms.jit(f)
        for args in ([tensors(x, i)] * 3 + [tensors(x * 2, np.array(i)[..., ::-1] % 3), tensors(x[:2], i), tensors(x, np.array(i) + 9),
                                            tensors(x, i, UPDATES[:, :2]), tensors(x, np.array(i)[:1])] + [tensors(x, i)] * 2):
            assert answer(j, *args) == answer(f, *args)
        report = pijit.explain(j, *tensors(x, i))
        assert report.kernels and not report.breaks, str(report)


def test_wrong_shapes():
    from pijit import ms
    from pijit.ms import ops

    x, i, u = tensors(X, PAIRS)
    for function in (ops.tensor_scatter_add, ms.jit(lambda *args: ops.tensor_scatter_add(*args))):
        with pytest.raises(ValueError, match=r"tensor_scatter_add: .* the shapes are \(4, 5\), \(3, 2\) and \(3, 5\)"):
            function(x, i, u)


@pytest.mark.parametrize("call", ["ops.scatter_nd(i, u, (4, 5))", "ops.tensor_scatter_div(x, i, u)", "ops.tensor_scatter_update(x, i, u)"])
@pytest.mark.parametrize("u", [UPDATES[0], UPDATES])
def test_indices_without_dimensions(call, u):
    from pijit import ms

    f, text = define(call), "%s: indices must have at least one dimension" % call[4:call.index("(")]
    j = ms.jit(f)
    for _ in range(3):
        assert answer(j, *tensors(X, 1, u)) == answer(f, *tensors(X, 1, u)) == (ValueError, text)


def test_gathers_by_batches():
    from pijit import ms
    from pijit.ms import ops

    x, places = RANDOM.randint(0, 9, (2, 3, 4, 5)), np.array([[0, 2], [3, 1]])
    y = np.repeat(places[:, None], 3, axis=1)
    for axis, wanted in ((1, [x[k][places[k] % 3] for k in range(2)]), (2, [x[k][:, places[k]] for k in range(2)])):
        found = ops.gather(ms.Tensor(x), ms.Tensor(places % (3 if axis == 1 else 4)), axis, 1).asnumpy()
        assert found.tolist() == np.array(wanted).tolist() and found.flags.c_contiguous
    found = ops.gather(ms.Tensor(x), ms.Tensor(y), -2, -1).asnumpy()
    assert found.tolist() == [[x[k, m][places[k]].tolist() for m in range(3)] for k in range(2)]
    for axis, count in ((0, 1), (2, 3), (9, 1)):
        with pytest.raises(ValueError, match="gather: batch_dims=%d and axis=%d do not fit" % (count, axis)):
            ops.gather(ms.Tensor(x), ms.Tensor(places), axis, count)


def test_axes_that_are_not_there():
    from pijit import ms
    from pijit.ms import ops

    x, i, u = tensors(X, [0, 1])
    for axis in (2, -3):
        for call in (lambda x: ops.index_add(x, i, u[:2], axis), lambda x: ops.index_fill(x, axis, i, 1.0)):
            for function in (call, ms.jit(call)):
                with pytest.raises(ValueError, match="axis must be from -2 to 1; not %d" % axis):
                    function(x)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int64", "bool", "float32"])
def test_descending_order(dtype):
    from pijit import ms
    from pijit.ms import ops

    least = np.iinfo(dtype).min if dtype.startswith(("i", "u")) else 0
    x = ms.Tensor(np.array([1, 0, 3, least, 2]).astype(dtype))
    wanted = sorted(range(5), key=lambda k: -int(x.asnumpy()[k]))
    for function in (lambda x: ops.sort(x, descending=True), ms.jit(lambda x: ops.sort(x, descending=True))):
        for _ in range(3):
            values, places = function(x)
            assert places.asnumpy().tolist() == wanted and values.asnumpy().tolist() == x.asnumpy()[wanted].tolist()
    assert ops.topk(x, 2)[1].asnumpy().tolist() == wanted[:2]


def test_types_of_updates():
    from pijit import ms
    from pijit.ms import ops

    counts = ms.Tensor(np.array([7, -7, 5, 1], np.int32))
    places, by = ms.Tensor([[0], [1], [0]]), ms.Tensor([2.0, 2.0, 2.0])
    for function in (lambda *args: ops.tensor_scatter_div(*args), lambda *args: ops.tensor_scatter_add(*args)):
        wanted = function(counts, places, by)
        assert wanted.dtype == ms.int32 and answer(ms.jit(function), counts, places, by) == answer(function, counts, places, by)
    assert ops.tensor_scatter_div(counts, places, by).asnumpy().tolist() == [1, -4, 5, 1]


@pytest.mark.parametrize("name", ["add", "sub", "max", "min", "mul", "div", "update"])
def test_gradients_by_kernels(name):
    """The kernel of a gradient has the tape's answers, with places that occur twice and with zeros."""
    from pijit import ms
    from pijit.ms import ops

    scatter = getattr(ops, "tensor_scatter_" + name)
    x, i, u = tensors(X, PAIRS, UPDATES[:, 0])
    if name == "mul":
        u = ms.Tensor(np.array([0.0, 2.0, 3.0], "f"))
    gradient = ms.grad(lambda x, u: (scatter(ops.tanh(x), i, u) * x).sum(), (0, 1))
    wanted = [one.asnumpy().copy() for one in gradient(x, u)]
    for _ in range(4):
        for one, got in zip(wanted, gradient(x, u)):
            assert np.allclose(one, got.asnumpy(), rtol=1e-6, atol=1e-7)


def test_shares_of_equal_values():
    from pijit import ms
    from pijit.ms import ops

    x, places, u = ms.Tensor([1.0, 5.0]), ms.Tensor([[0], [0], [1]]), ms.Tensor([1.0, 1.0, 2.0])
    found = ms.grad(lambda x, u: ops.tensor_scatter_max(x, places, u).sum(), (0, 1))(x, u)
    assert np.allclose(found[0].asnumpy(), [1 / 3, 1.0]) and np.allclose(found[1].asnumpy(), [1 / 3, 1 / 3, 0.0])


def test_second_derivatives():
    from pijit import ms
    from pijit.ms import ops

    places = ms.Tensor([[0], [1], [0]])
    first = ms.grad(lambda x, u: (ops.tensor_scatter_mul(x * x, places, u) ** 2).sum(), 1)
    second = ms.grad(lambda x, u: first(x, u).sum(), 0)
    x, u = np.array([1.5, 0.5]), np.array([2.0, 3.0, 0.25])
    found = second(ms.Tensor(x), ms.Tensor(u)).asnumpy()
    for k in range(2):
        step = np.eye(2)[k] * 1e-6
        ends = [first(ms.Tensor(x + sign * step), ms.Tensor(u)).sum().item() for sign in (1, -1)]
        assert abs(found[k] - (ends[0] - ends[1]) / 2e-6) < 1e-5
