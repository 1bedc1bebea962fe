"""Loops over arrays do not keep what is dead, and never lose what is alive."""

import gc
import sys
import tracemalloc

import numpy as np
import pytest
from kernel_graphs import BACKENDS, Builder

from pijit.core.graph.types import FLAG, FLOAT, WORD, Array

VECTOR = Array(np.dtype("d"), 1, "C")
STRIDED = Array(np.dtype("d"), 1, "A")


def ufunc(b, kind, function, types, *args, exit):
    return b.op("ufunc", kind, *args, exit=exit, ufunc=function, types=types,
                loop=function.types.index(types))


def counting_loop(b, limit, carried, step):
    """``for i in range(limit)``: ``step(i, carried) -> carried``; the values of ``carried`` afterwards."""
    zero, one = b.const(0, WORD), b.const(1, WORD)
    head = b.block(WORD, *[value.type for value in carried])
    body, done = b.block(), b.block()
    b.jump(head, zero, *carried)
    b.at = head
    i, values = head.params[0], head.params[1:]
    b.branch(b.op("compare", FLAG, i, limit, operator="<"), body, done)
    b.at = body
    new = step(i, values)
    b.jump(head, b.op("add", WORD, i, one), *new)
    b.at = done
    return values


def power_iteration(backend):
    """x = x * 0.5 + y, n times, with a view and a swap of two arrays in every round."""
    b = Builder("loop", VECTOR, VECTOR, WORD)
    x, y, n = b.inputs
    half = b.const(0.5, FLOAT)

    def step(i, values):
        a, other = values
        exit = b.exit(1, a, other)
        scaled = ufunc(b, VECTOR, np.multiply, "dd->d", a, half, exit=exit)

        total = ufunc(b, VECTOR, np.add, "dd->d", scaled, y, exit=exit)
        return other, total

    a, other = counting_loop(b, n, (x, y), step)
    b.leave(2, a, other)
    return b.run(backend)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_loop_of_temporaries_does_not_grow(backend):
    run = power_iteration(backend)
    x, y = np.arange(5000.0), np.ones(5000)
    run(x, y, 3)
    gc.collect()
    tracemalloc.start()
    run(x, y, 2000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * x.nbytes


@pytest.mark.parametrize("backend", BACKENDS)
def test_references_are_balanced(backend):
    run = power_iteration(backend)
    x, y = np.arange(4.0), np.ones(4)
    before = sys.getrefcount(x), sys.getrefcount(y)
    for rounds in (0, 1, 2, 3, 50):
        answer = run(x, y, rounds)
        a, other = x.copy(), y.copy()
        for _ in range(rounds):
            a, other = other, a * 0.5 + y
        assert np.array_equal(answer[1], a) and np.array_equal(answer[2], other)
        if rounds == 0:
            assert answer[1] is x and answer[2] is y
        if rounds > 1:
            counts = [sys.getrefcount(answer[1]), sys.getrefcount(answer[2])]
            assert counts == [2, 2]
        answer = None
    assert (sys.getrefcount(x), sys.getrefcount(y)) == before


@pytest.mark.parametrize("backend", BACKENDS)
def test_views_carried_around_a_loop(backend):
    """rest = rest[1:] in a loop: each view is an object of its own, and only the last one survives."""
    b = Builder("views", STRIDED, WORD)
    x, n = b.inputs
    one = b.const(1, WORD)
    (rest,) = counting_loop(b, n, (x,), lambda i, values: (
        b.op("view", STRIDED, values[0], one, exit=b.exit(1, values[0]), index=("sv--",)),))
    b.leave(2, rest, rest)
    run = b.run(backend)
    x = np.arange(20.0)
    before = sys.getrefcount(x)
    _, first, second = run(x, 7)
    assert first is second and first.base is x and np.array_equal(first, x[7:])
    del first, second
    assert sys.getrefcount(x) == before


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_view_keeps_its_dead_base_alive(backend):
    """t = x + y; v = t[1:]; after the loop only the view of the last sum is used."""
    b = Builder("base", VECTOR, VECTOR, WORD)
    x, y, n = b.inputs
    one = b.const(1, WORD)

    def step(i, values):
        exit = b.exit(1, values[0])
        total = ufunc(b, VECTOR, np.add, "dd->d", x, y, exit=exit)
        v = b.op("view", STRIDED, total, one, exit=exit, index=("sv--",))
        return (v,)

    start = b.op("view", STRIDED, x, one, exit=b.exit(1, x), index=("sv--",))
    (v,) = counting_loop(b, n, (start,), step)
    b.leave(2, v)
    run = b.run(backend)
    x, y = np.arange(1000.0), np.ones(1000)
    _, view = run(x, y, 300)
    np.zeros(1000)
    count = sys.getrefcount(view.base)
    assert np.array_equal(view, (x + y)[1:]) and count == 2


def test_a_group_keeps_what_an_operation_in_between_uses_last():
    """t = x * x; p = t + y (deferred); e = exp(t), the last plain use of t; r = p - y."""
    b = Builder("deferred", VECTOR, VECTOR, WORD)
    x, y, n = b.inputs

    def step(i, values):
        exit = b.exit(1, *values)
        t = ufunc(b, VECTOR, np.exp, "d->d", values[0], exit=exit)
        p = ufunc(b, VECTOR, np.add, "dd->d", t, y, exit=exit)
        e = ufunc(b, VECTOR, np.tanh, "d->d", t, exit=exit)
        r = ufunc(b, VECTOR, np.subtract, "dd->d", p, y, exit=exit)
        return r, e

    a, e = counting_loop(b, n, (x, y), step)
    b.leave(2, a, e)
    run = b.run("numba")
    x, y = np.linspace(-5, -1, 5000), np.ones(5000)
    _, a, e = run(x, y, 3)
    want = x
    for _ in range(3):
        t = np.exp(want)
        want, other = t + y - y, np.tanh(t)
    assert a.tobytes() == want.tobytes() and e.tobytes() == other.tobytes()
