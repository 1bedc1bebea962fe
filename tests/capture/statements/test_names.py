"""Locals, globals, closures, attributes: read under guards, never stale."""

import math
import types

import numpy as np
import pytest

import pijit
from tests.harness import HIT, MISS, assert_calls, check, fail_unless_captured, jitted, kernel_count

X = np.linspace(0.5, 4.0, 11)
SCALE = 2.0
TABLE = np.arange(11.0)
sqrt = np.sqrt


def reads_globals(x):
    return sqrt(x) * SCALE + TABLE


def closure_over(w, k):
    def inner(x):
        y = x * w
        return y + k
    return inner


def reads_attributes(model, x):
    return x * model.weight + model.bias


class Model:
    def __init__(self, weight, bias):
        self.weight = weight
        self.bias = bias

    def forward(self, x):
        y = x * self.weight
        print("forward", y[0])
        return y + self.bias


def test_globals():
    with fail_unless_captured():
        check(reads_globals, X)


def test_rebound_global_number_array_and_function():
    namespace = {"np": np, "sqrt": np.sqrt, "SCALE": 2.0, "TABLE": np.arange(11.0)}
    f = types.FunctionType(reads_globals.__code__, namespace)
    j = jitted(f)
    for name, value in [("SCALE", 3.0), ("SCALE", 3), ("TABLE", np.arange(11)), ("TABLE", np.ones((2, 11))),
                        ("sqrt", np.square), ("SCALE", np.float32(0.5)), ("sqrt", lambda x: x), ("sqrt", np.sqrt)]:
        for _ in range(3):
            np.testing.assert_array_equal(j(X), f(X))
            assert j(X).dtype == f(X).dtype
        namespace[name] = value


def test_closures():
    with fail_unless_captured():
        check(closure_over(X + 1.0, 2.0), X)


def test_rebound_closure_cell():
    def make():
        k = 2.0

        def inner(x):
            return x * k + k

        def rebind(value):
            nonlocal k
            k = value
        return inner, rebind
    inner, rebind = make()
    j = jitted(inner)
    for value in (2.0, 3.0, 3, np.float64(1.5), X, 1.0):
        rebind(value)
        for _ in range(3):
            np.testing.assert_array_equal(j(X), inner(X))


def test_attributes_and_their_changes():
    model = Model(X + 1.0, 0.5)
    j = jitted(reads_attributes)
    assert_same = np.testing.assert_array_equal
    for name, value in [("bias", 1), ("bias", X), ("weight", X.astype(np.float32)), ("weight", 2.0), ("bias", X[::2].repeat(2)[:11])]:
        for _ in range(3):
            assert_same(j(model, X), reads_attributes(model, X))
        setattr(model, name, value)
    assert_same(j(model, X), reads_attributes(model, X))
    assert kernel_count(j) > 0


def test_method():
    class Local(Model):
        forward = pijit.jit(Model.forward)
    model = Local(X, 1.0)
    for _ in range(3):
        np.testing.assert_array_equal(model.forward(X), Model.forward(model, X))
    assert kernel_count(Local.forward) > 0


def test_property_is_not_read_at_capture():
    class Counted:
        reads = 0

        @property
        def weight(self):
            self.reads += 1
            return X

        bias = 1.0
    one, two = Counted(), Counted()
    j = jitted(reads_attributes)
    for _ in range(3):
        np.testing.assert_array_equal(j(one, X), reads_attributes(two, X))
    assert one.reads == two.reads == 3


def unbound(x, flag):
    if flag:
        y = x * 2.0 + 1.0
    return y + x


def test_unbound_local():
    check(unbound, X, True, others=[(X, False), (X, True)])
    check(unbound, X, False)


def arguments(x, *rest, scale=2.0, **named):
    y = x * scale + 1.0
    return y, rest, named


def test_signatures():
    check(arguments, X, 1, 2, scale=3.0, other=4)
    check(arguments, X)


def test_misses_and_hits():
    j = jitted(lambda x, k: x * k + x)
    assert_calls(j, [MISS, HIT, HIT, MISS, HIT, MISS, HIT, HIT],
                 [(X, 2.0), (X, 3.0), (X, -1.0), (X, 2), (X, 5), (X.astype("f4"), 2.0), (X.astype("f4"), 2.0), (X, 2.0)])


def uses_math(x, n):
    total = 0.0
    for i in range(n):
        total += math.sqrt(x[i]) * math.sin(total)
    return total


def test_math():
    with fail_unless_captured():
        check(uses_math, X, 11)
    check(uses_math, X - 2.0, 11)


@pytest.mark.parametrize("value", [None, "text", (1, 2), 3, 2.5, True, np.float64(2), 1j, [1, 2], {}, object()])
def test_other_arguments_pass_through(value):
    def f(x, other):
        y = x * 2.0 + 1.0
        return y, other
    if type(value) is object:
        j = jitted(f)
        assert j(X, value)[1] is value
    else:
        check(f, X, value)


def test_a_dead_variable_lets_go_of_its_object():
    import weakref

    class Kept:
        pass

    def f(x, make):
        kept = make()
        watch = weakref.ref(kept)
        y = x * 2.0 + 1.0
        kept = None
        y = y * 3.0
        return y, watch() is None

    j = jitted(f, {"force_breaks": "every", "backend": "python"})
    for _ in range(3):
        assert f(X, Kept)[1] is j(X, Kept)[1] is True
