"""Jitted functions that call themselves, each other, or are called back; and calls while they are being captured."""

import functools
import inspect
import sys

import numpy as np
import pytest

import pijit
from pijit.core import function_state
from pijit.differential import plain_twin
from tests.capture.scalars.test_scalars import define
from tests.harness import jitted, kernel_count, same

X = np.linspace(-1.0, 2.0, 7)


def recursive(decorate):
    def f(x, n):
        y = x * 2.0 + n
        if n == 0:
            return y
        z = f(x * 0.5, n - 1)
        return y + z * 3.0
    f = decorate(plain_twin(f))
    return f


def test_recursive_function():
    f, plain = recursive(jitted), recursive(lambda g: g)
    for n in (0, 1, 5, 30, 5):
        same(f(X, n), plain(X, n))
    assert kernel_count(f) >= 1


def mutual(decorate):
    def even(x, n):
        y = x + 1.0
        return y * 2.0 if n == 0 else odd(y * 0.5, n - 1) - y

    def odd(x, n):
        y = x * 3.0
        return y - 1.0 if n == 0 else even(y + 0.25, n - 1) + y
    even, odd = decorate(plain_twin(even)), decorate(plain_twin(odd))
    return even


def test_mutual_recursion():
    f, plain = mutual(jitted), mutual(lambda g: g)
    for n in (0, 1, 7, 20, 7):
        same(f(X, n), plain(X, n))


def test_jitted_calls_jitted():
    @jitted
    def inner(x):
        return x * 2.0 + 1.0

    def outer(x):
        y = x * 3.0 + 1.0
        z = inner(y)
        return z * y - x
    outer = jitted(outer, {"max_inline_depth": 0})
    for _ in range(4):
        same(outer(X), ((X * 3.0 + 1.0) * 2.0 + 1.0) * (X * 3.0 + 1.0) - X)
    assert inner.cache_info().hits >= 2 and outer.cache_info().hits >= 1


def test_key_function_called_from_c():
    @jitted
    def key(row):
        y = row * 2.0 - 1.0
        return y.sum()
    rows = [X * k for k in (3.0, -2.0, 0.5, 1.0, -7.0)]
    plain = sorted(rows, key=key.py_func)
    for _ in range(3):
        assert [id(row) for row in sorted(rows, key=key)] == [id(row) for row in plain]
        assert list(map(float, map(key, rows))) == [float(key.py_func(row)) for row in rows]
    assert functools.reduce(lambda a, row: max(a, key(row)), rows, 0.0) == max(map(key.py_func, rows))


def test_callback_into_the_same_function():
    depths = []

    def f(values, depth):
        y = X * 2.0 + depth
        depths.append(depth)
        ordered = sorted(values, key=lambda v: g(values[:1], depth + 1)[0] * v) if depth < 2 else values
        return y * len(ordered)
    g = jitted(f)
    for _ in range(3):
        del depths[:]
        same(g([3, 1, 2], 0), (X * 2.0) * 3)
        assert depths == [0] + [1, 2] * 3


class Reentrant:
    """An attribute whose lookup calls the function that is reading it."""

    calls = 0
    busy = False

    def __getattr__(self, name):
        type(self).calls += 1
        if not self.busy:
            type(self).busy = True
            try:
                self.inner = reads(self, X)
            finally:
                type(self).busy = False
        return 2.0


def reads(model, x):
    y = x * 2.0 + 1.0
    return y * model.weight


def test_attribute_that_calls_the_function_itself(monkeypatch):
    monkeypatch.setitem(globals(), "reads", jitted(plain_twin(reads)))
    for count in range(1, 4):
        model = Reentrant()
        same(reads(model, X), (X * 2.0 + 1.0) * 2.0)
        assert Reentrant.calls == 2 * count


def test_call_of_the_function_during_its_own_capture(monkeypatch):
    def f(x):
        return x * 2.0 + 1.0
    j = jitted(plain_twin(f))
    make_entry = function_state.make_entry
    inner = []

    def calling(*args):
        inner.append(j(X))
        return make_entry(*args)
    monkeypatch.setattr(function_state, "make_entry", calling)
    same(j(X), X * 2.0 + 1.0)
    assert len(inner) == 1
    same(inner[0], X * 2.0 + 1.0)
    assert kernel_count(j) >= 1 and len(j.state.entries) == 1


def test_capture_runs_no_code_of_the_arguments():
    class Loud:
        def __getattribute__(self, name):
            raise AssertionError("read " + name)

        def __repr__(self):
            raise AssertionError("repr")

        def __eq__(self, other):
            raise AssertionError("eq")

        def __bool__(self):
            raise AssertionError("bool")
        __hash__ = None
    loud = Loud()

    def f(x, thing):
        y = x * 2.0 + 1.0
        kept = (thing, y)
        return kept
    j = jitted(f)
    for _ in range(3):
        kept = j(X, loud)
        assert kept[0] is loud
        same(kept[1], X * 2.0 + 1.0)


class Proxy:
    """Raises where isinstance looks at the class, as proxies of an absent object do."""

    @property
    def __class__(self):
        raise RuntimeError("no object behind this proxy")


@pytest.mark.parametrize("where", ["argument", "result"])
def test_proxy_whose_class_cannot_be_read(where):
    def f(x, make):
        proxy = make()
        y = x * 2.0 + 1.0
        return y, proxy
    j, proxy = jitted(f), Proxy()
    g = jitted(lambda x, proxy: (x * 2.0 + 1.0, proxy))
    for _ in range(3):
        assert (j(X, lambda: proxy) if where == "result" else g(X, proxy))[1] is proxy


def test_exception_through_nested_jitted_calls():
    @jitted
    def inner(x, k):
        y = x * 2.0 + 1.0
        return y[k]

    @jitted
    def outer(x, k):
        y = x * 2.0
        return inner(y, k) + y
    for k in (1, 99, 2, -99, 3):
        if abs(k) < 7:
            same(outer(X, k), (X * 2.0 * 2.0 + 1.0)[k] + X * 2.0)
            continue
        with pytest.raises(IndexError, match="index {} is out of bounds for axis 0 with size 7".format(k)):
            outer(X, k)


def test_recursion_of_a_callee_without_end(no_collections):
    f = define("""
def down(x, n):
    y = x * 2.0 + n
    down(y, n + 1)
    return y

def f(x):
    try:
        return down(x * 2.0, 0)
    except RecursionError:
        return "too deep"
""")
    j = jitted(f)
    for _ in range(3):
        assert j(X) == "too deep"


@pytest.mark.parametrize("depth", [0, 3, 8])
def test_recursion_of_helpers_near_the_limit(depth, little_work, no_collections):
    count = define("def f(n, limit):\n    return n * 0.5 if n == limit else f(n + 1, limit) + 1.0", jit=None)
    source = "@jit\ndef f(limit):\n    return g(0, limit)"
    f = define(source, jit=lambda f: jitted(f, {"max_inline_depth": depth}), g=count)
    plain, most = define(source, jit=lambda f: f, g=count), sys.getrecursionlimit()
    for limit in (3, 40, most // 2):
        for _ in range(3):
            same(f(limit), plain(limit))
    for _ in range(3):
        with pytest.raises(RecursionError, match="maximum recursion depth exceeded"):
            f(most + 50)
    same(f(40), plain(40))
    assert kernel_count(f) >= 1 or depth == 0


@pytest.mark.parametrize("depth", [0, 2, 8])
def test_recursion_without_end(depth, little_work, no_collections):
    source = "@jit\ndef f(n, log):\n    log.append(n)\n    return n if n < 0 else f(n + 1, log) + f(n, log)"
    f = define(source, jit=lambda f: jitted(f, {"backend": "python", "max_inline_depth": depth}))
    levels = []
    for function in (define(source, jit=lambda f: f), f, f, f):
        log = []
        with pytest.raises(RecursionError, match="maximum recursion depth exceeded"):
            function(0, log)
        assert log == list(range(len(log))) and function(-3, log) == -3
        levels.append(len(log))
    assert max(levels) - min(levels) <= 10, levels


def test_pijit_check_of_recursion():
    def f(x, n):
        y = x * 1.5
        return y if n == 0 else y + f(x, n - 1)
    pijit.check(f, X, 4, config={"backend": "python"})


class ProxyWithWeight(Proxy):
    weight = 2.0


PROXY = ProxyWithWeight()


def test_attribute_of_a_proxy_whose_class_cannot_be_read():
    j = jitted(lambda x, model: x * model.weight + 1.0)
    k = jitted(lambda x: x * PROXY.weight + 1.0)
    for _ in range(3):
        same(j(X, PROXY), X * 2.0 + 1.0)
        same(k(X), X * 2.0 + 1.0)


def picks_one(x, y):
    return y if x[0] * x[1] + x[2] * x[3] + x[4] * x[5] - y[0] > 1e9 else x


def levels_left(function, left):
    """How many levels deep a call may be that needs one level of its own; ``left`` are possible."""
    def at_level(n):
        return function(X, X) if n == 0 else at_level(n - 1)

    while True:
        try:
            at_level(left)
        except RecursionError:
            return left
        left += 1


def test_calls_without_a_frame_stop_at_the_same_level(no_collections):
    f = jitted(plain_twin(picks_one), {"backend": "numba", "force_breaks": None})
    for _ in range(3):
        assert f(X, X) is X
    start = sys.getrecursionlimit() - len(inspect.stack(0)) - 40
    assert levels_left(f, start) == levels_left(lambda x, y: x, start)
