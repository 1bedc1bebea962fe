"""A ufunc's result in the memory of an operand that nobody needs any more: nothing that is still named changes."""

import tracemalloc

import numpy as np
import pytest

from tests.harness import check, fail_unless_captured, jitted


def named(x, y):
    a = np.exp(x[::2] * 0.1)
    b = np.log(a)
    c = np.sin(b)
    kept = [a]
    d = np.cos(c)
    e = np.tanh(d)
    seen = d[1:]
    f = np.arctan2(e, y)
    g = np.arctan2(f, f)
    return b, kept, seen, g, np.exp(g), np.maximum(np.sin(y), y[0])


def in_loops(x, n):
    total = np.zeros_like(x)
    for i in range(n):
        a = np.sin(x + i)
        b = np.cos(a)
        if i % 3 == 1:
            b = np.exp(b)
        total += np.tanh(b)
        x = np.arctan(np.sinh(b))
    return total, x, b


def leaving(x, y):
    a = np.exp(x)
    b = np.log(a)
    c = np.log(np.sin(b) + y)
    return a, c, np.sqrt(np.log(c))


@pytest.mark.parametrize("f, calls", [
    (named, [(np.linspace(0, 1, 2 * n), np.linspace(-1, 2, n)) for n in (6, 1, 3000)] + [
        (np.ones((6, 3)), np.arange(9.0).reshape(3, 3)), (np.ones((6, 3)), np.ones(3))]),
    (in_loops, [(np.linspace(0, 1, 7), 5), (np.linspace(0, 1, 12).reshape(3, 4), 4),
                (np.linspace(0, 1, 7)[::-1], 0)]),
], ids=["named", "loops"])
def test_results(f, calls):
    with fail_unless_captured():
        check(f, *calls[0], others=calls[1:], config={"backend": "numba"})


def one_by_one(x):
    return np.sin(np.cos(np.tanh(np.exp(x))))


def test_a_chain_needs_one_array():
    x = np.zeros(100000)
    j = jitted(one_by_one, {"backend": "numba", "force_breaks": None})
    expected = one_by_one(x)
    for _ in range(3):
        j(x)
    tracemalloc.start()
    result = j(x)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.5 * x.nbytes
    assert result.tobytes() == expected.tobytes()


@pytest.mark.filterwarnings("always::RuntimeWarning")
def test_a_warning_after_memory_was_reused():
    x = np.linspace(0.1, 1, 9)
    calls = [(x, np.full(9, 3.0)), (x, np.r_[np.full(8, 3.0), -5.0]), (x, np.zeros(9)), (x * 1000, np.full(9, 3.0))]
    with fail_unless_captured():
        check(leaving, *calls[0], others=calls[1:], config={"backend": "numba"})
