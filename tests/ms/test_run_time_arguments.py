"""Jitted functions of tensors whose sizes are arguments, and control flow that tensors decide: one graph, the same answers."""

import numpy as np
import pytest

import pijit

A = np.random.RandomState(3).uniform(-1.0, 1.0, (4, 6, 5)).astype("f")
M = A[0, :4]

SIZED = {
    "ops.slice(x, a, b)": [((0, 1, 2), (2, 3, -1)), ((1, 0, 1), (3, 2, 4)), ((0, 0, 0), (9, 1, 1)), ((-1, 0, 0), (1, 1, 1)), ((0, 1), (1, 1))],
    "ops.slice(x, (a, 0, b), (2, b, a))": [(1, 2), (2, 3), (-1, 2), (1, 9)],
    "ops.strided_slice(x, a, (3, 5, 0), b)": [((0, 1, 4), (1, 2, -1)), ((1, 1, 3), (2, 1, -2)), ((1, 1, 4), (2, 0, -2))],
    "ops.pad(x, a, value=b)": [((1, 2), 0.5), ((2, 1), 1.5), ((-1, 3), 0.0), ((1, 2, 3, 4), 2.0)],
    "ops.pad(x, (a, b), 'reflect')": [(1, 2), (2, 1), (0, 3), (-1, 1)],
    "ops.pad(x, (a, b), 'replicate')": [(1, 2), (7, 1)],
    "ops.split(x, a, b)[0]": [(2, 1), (3, 1), (0, 1)],
    "ops.chunk(x, a, b)[-1]": [(2, 1), (3, 1)],
    "ops.tile(x, (a, b, 1))": [(1, 2), (2, 1), (0, 1), (-1, 2)],
    "ops.roll(x, (a, b), (0, 1))": [(1, 2), (-3, 7)],
    "ops.broadcast_to(x, (a, 4, b, 5))": [(1, 6), (3, -1), (3, 7)],
    "ops.repeat_interleave(x, a, b)": [(2, 1), (3, 1), (0, 1)],
    "ops.one_hot(ops.cast(x > 0, ms.int32), a)[b]": [(2, 1), (3, 0)],
    "ops.squeeze(x[a:b]) * 2": [(0, 1), (1, 2), (0, 3)],
    "x.sum(axis=a, keepdims=True).squeeze() * b": [(1, 2.0), (1, 3.0)],
}


def define(expression):
    from pijit import ms
    from pijit.ms import ops

    scope = {"ops": ops, "ms": ms}
    exec("def f(x, a, b):\n    y = ops.tanh(x * 2.0 - 1.0) + x\n    return %s, y" % expression, scope)
    return scope["f"]


def answer(f, *args):
    """What a call gives, in a form that compares types, shapes and bits."""
    try:
        return seen(f(*args))
    except Exception as error:
        return type(error), str(error)


def seen(result):
    from pijit import ms

    if isinstance(result, (tuple, list)):
        return type(result), [seen(one) for one in result]
    if isinstance(result, ms.Tensor):
        array = result.asnumpy()
        return type(result), array.dtype, array.shape, array.strides, array.tobytes()
    return type(result), repr(result)


@pytest.mark.parametrize("expression", sorted(SIZED))
def test_sizes(expression):
    from pijit import ms

    f = define(expression)
    j, x = ms.jit(f), ms.Tensor(A)
    for args in SIZED[expression][:1] + SIZED[expression]:
        for _ in range(3):
            assert answer(j, x, *args) == answer(f, x, *args)
    for _ in range(3):
        j(x, *SIZED[expression][0])
    report = pijit.explain(j, x, *SIZED[expression][0])
    assert report.kernels and not report.breaks, str(report)


def decided(x, y):
    if (x.sum() > 0).all() and x.max() > y:
        return x * 2.0
    return x - y


def looped(x, y):
    while x.max() < 3.0:
        x = x * 1.5 + y
    return x


def converted(x, y):
    return x * float(x.sum()) + int(y), bool(y), y.item() * x


def unpacked(x, y):
    a, b, c, d = x
    e, f = x.split(2)
    return a * b + c - d, e * f + y


def selected(x, y):
    return x.masked_select(x > y).sum(), x.masked_select(x[0] > 0.0)


@pytest.mark.parametrize("f", [decided, looped, converted, unpacked, selected])
def test_tensors_decide(f):
    from pijit import ms

    j = ms.jit(f)
    calls = [(M, 0.25), (np.abs(M), 0.125), (M[:, :1] + 1.0, 0.5), (np.abs(M) + 1.0, 0.5)]
    for x, y in calls * 3:
        args = ms.Tensor(x), ms.Tensor(np.float32(y))
        assert answer(j, *args) == answer(f, *args)
    args = ms.Tensor(M), ms.Tensor(np.float32(0.25))
    report = pijit.explain(j, *args)
    assert report.kernels and not report.breaks, str(report)
