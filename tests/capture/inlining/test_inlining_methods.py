"""Methods, properties, super(), bound methods and callable objects that run inside the caller's kernel."""

import functools
import operator

import numpy as np
import pytest

import pijit
from tests.capture.inlining.test_inlining import frames_of
from tests.harness import check, fail_unless_captured, jitted, kernel_count

X = np.linspace(-2.0, 3.0, 40)


class Base:
    bias = 0.5

    def __init__(self, w=2.0):
        self.w = w
        self.limit = 100.0

    def scale(self, x, by=1.0, *, more=0.0):
        return x * self.w * by + more

    def step(self, a):
        return a * self.w + self.bias

    @staticmethod
    def shift(x):
        return x - 1.0

    @classmethod
    def biased(cls, x):
        return x + cls.bias

    @property
    def double(self):
        return self.w * 2.0

    def chain(self, x):
        return self.scale(self.shift(self.biased(x))) * self.double

    def __call__(self, x, k=3.0):
        return x * k + self.w

    def checked(self, v):
        if v > self.limit:
            raise ValueError("%r is above %r" % (float(v), self.limit))
        return v * self.w


class Derived(Base):
    bias = 0.25

    def step(self, a):
        return super().step(a) * 2.0

    def scale(self, x, by=1.0, *, more=0.0):
        return super(Derived, self).scale(x, by, more=more) - 1.0

    @property
    def double(self):
        return super().double + 1.0


class Slotted:
    __slots__ = ("w",)

    def __init__(self, w):
        self.w = w

    def times(self, x):
        return x * self.w


class Layer:
    def __init__(self, w, after):
        self.w = w
        self.after = after

    def __call__(self, x):
        y = x * self.w
        return y if self.after is None else self.after(y)


def scaled(m, x):
    return m.scale(x) + m.scale(x, 2.0) - m.scale(x, by=3.0, more=1.0)


def steps(m, x):
    s = 0.0
    for i in range(len(x)):
        s += m.step(x[i])
    return s


def chained(m, x):
    return m.chain(x) + m.double


def of_class(m, x):
    return m.shift(x) * m.biased(x) + Base.shift(x) + Derived.biased(x) + Base.scale(m, x)


def called(m, x):
    return m(x) + m(x, 4.0) - m(k=1.0, x=x)


def by_local_name(m, x):
    f = m.scale
    return f(x) + f(x, 2.0)


def checking(m, x):
    s = 0.0
    for i in range(len(x)):
        s += m.checked(x[i])
    return s


PROGRAMS = [scaled, steps, chained, of_class, called, checking]


@pytest.mark.parametrize("kind", [Base, Derived])
@pytest.mark.parametrize("f", PROGRAMS, ids=[f.__name__ for f in PROGRAMS])
def test_methods_are_part_of_the_kernel(f, kind):
    with fail_unless_captured():
        check(f, kind(), X, others=[(kind(3.0), X), (kind(3), X), (kind(np.float32(3)), X.astype("f")), (kind(X), X)])
    assert not pijit.explain(f, kind(), X).breaks, pijit.explain(f, kind(), X)


def test_an_object_of_another_class():
    j = jitted(scaled)
    for m in (Base(), Derived(), Base(3), Derived(1.5), Base(X)):
        for _ in range(2):
            np.testing.assert_array_equal(j(m, X), scaled(m, X))


def test_other_objects():
    def f(m, x):
        return m.times(x) + 1.0

    with fail_unless_captured():
        check(f, Slotted(2.0), X, others=[(Slotted(X), X), (Slotted("a"), X), (3, X)])
    check(by_local_name, Base(), X, others=[(Derived(), X)])


def test_layers():
    def f(layer, x):
        return layer(x) * 2.0

    layers = Layer(2.0, Layer(X, Layer(3.0, None)))
    with fail_unless_captured():
        check(f, layers, X, others=[(Layer(1.0, None), X)])
    assert not pijit.explain(f, layers, X).breaks


CHANGES = {
    "method of the class": lambda kind, m: setattr(kind, "scale", lambda self, x, by=1.0, more=0.0: x - by),
    "method of the object": lambda kind, m: setattr(m, "scale", lambda x, by=1.0, more=0.0: x + by),
    "method of the base": lambda kind, m: delattr(kind, "scale"),
    "attribute": lambda kind, m: setattr(m, "w", 7),
    "class of the object": lambda kind, m: setattr(m, "__class__", Derived),
    "static": lambda kind, m: setattr(kind, "scale", staticmethod(lambda x, by=1.0, more=0.0: x * 5.0)),
    "property": lambda kind, m: setattr(kind, "scale", property(lambda self: Base().scale)),
    "getattr": lambda kind, m: setattr(kind, "__getattribute__", lambda self, name: object.__getattribute__(Base(), name)),
    "no attribute": lambda kind, m: delattr(m, "w"),
}


@pytest.mark.parametrize("name", sorted(CHANGES))
def test_a_method_that_changes(name):
    def of(decorate):
        class Kind(Base):
            def scale(self, x, by=1.0, *, more=0.0):
                return x * self.w * by + more * 2.0

            @property
            def other(self):
                return self.w + 1.0
        return decorate(lambda m, x: scaled(m, x) * m.other), Kind, Kind()

    (plain, kind, m), (j, other_kind, n) = of(lambda f: f), of(jitted)
    for _ in range(3):
        np.testing.assert_array_equal(j(n, X), plain(m, X))
    assert kernel_count(j)
    CHANGES[name](kind, m), CHANGES[name](other_kind, n)
    for _ in range(3):
        wanted, got = frames_of(plain, m, X), frames_of(j, n, X)
        assert (wanted and wanted[:2]) == (got and got[:2])
        if wanted is None:
            np.testing.assert_array_equal(j(n, X), plain(m, X))


def test_a_property_that_changes():
    class Kind(Base):
        @property
        def other(self):
            return self.w + 1.0

    def f(m, x):
        return x * m.other

    j, m = jitted(f), Kind()
    for change in (lambda: None, lambda: setattr(m, "w", 5.0), lambda: setattr(Kind, "other", property(lambda self: 2.0)),
                   lambda: setattr(Kind, "other", X)):
        change()
        for _ in range(2):
            np.testing.assert_array_equal(j(m, X), f(m, X))


def test_exceptions_in_methods():
    j = jitted(checking)
    for m in (Base(), Derived()):
        for _ in range(2):
            assert j(m, X) == checking(m, X)
            assert frames_of(j, m, X * 1000.0) == frames_of(checking, m, X * 1000.0) is not None
    assert kernel_count(j)


def test_bound_methods_and_partials():
    def f(x, g):
        y = x * 2.0
        return g(y) + y

    m = Base()
    callees = [m.scale, functools.partial(m.scale, by=2.0), functools.partial(Base.scale, m), m, Base.shift, Base.biased,
               functools.partial(m.scale, more=X), functools.partial(functools.partial(m.scale, by=3.0), more=1.0), abs]
    for callee in callees:
        check(f, X, callee, others=[(X, other) for other in callees])
    assert not pijit.explain(f, X, callees[0]).breaks and not pijit.explain(f, X, callees[1]).breaks


def test_partials_of_builtins_and_ufuncs():
    def f(x, g):
        y = x * 2.0
        return g(y) + y

    partial = functools.partial
    partials = [partial(operator.mul, 3.0), partial(np.add, 1.0), partial(np.multiply, X, dtype="f4"),
                partial(np.sum, axis=0), partial(partial(np.where, X > 0), 1.0), partial(min, 2.0), partial(print, "seen"),
                partial(np.add, X, 1.0, 2.0, 3)]
    for one in partials:
        check(f, X, one, others=[(X, other) for other in partials + [operator.neg]])
    for one in partials[:2] + partials[3:5]:
        assert not pijit.explain(f, X, one).breaks


def test_jitted_methods_are_inlined():
    class Model:
        w = 3.0

        @jitted
        def forward(self, x):
            return x * self.w

        @jitted
        def __call__(self, x):
            return self.forward(x) + 1.0

    def f(m, x):
        return m(x) - m.forward(x) * 0.5

    m = Model()
    j = jitted(f)
    for _ in range(3):
        np.testing.assert_array_equal(j(m, X), X * 3.0 + 1.0 - X * 3.0 * 0.5)
    assert not j.explain(m, X).breaks


def test_super_with_several_bases():
    class A:
        def value(self, x):
            return x * 2.0

    class B(A):
        def value(self, x):
            return super().value(x) + 1.0

    class C(A):
        def value(self, x):
            return super().value(x) * 3.0

    class D(B, C):
        def value(self, x):
            return super().value(x) - 0.5

    def f(m, x):
        return m.value(x)

    for kind in (D, B, C):
        check(f, kind(), X, others=[(A(), X)])


class Growing:
    def __init__(self, v):
        self.v = v

    def grow(self):
        self.v += 1.0
        return self.v

    def add(self, w, more=0.0):
        return self.v * 100.0 + w + more


def grows(x):
    made, s = Growing(float(x[0])), 0.0
    for i in range(len(x)):
        s += made.add(made.grow())
        s -= made.add(made.grow(), more=made.grow())
    return s


def test_arguments_change_the_object_of_the_method():
    with fail_unless_captured():
        check(grows, X, others=[(X * 2.0,)], config={"backend": "python"})
