"""Writes to what others can see: in program order, exactly once, also around breaks and in callees."""

import numpy as np
import pytest

from tests.behaviour import elsewhere
from tests.behaviour.cases import Case, X, Y, each, group
from tests.harness import fail_unless_captured, jitted, same


def store_items(xs, a):
    y = a * 2.0 + 1.0
    xs[0] = y
    xs[1] = a
    xs[0] = xs[0] * a - 1.0
    return y * xs[0]


def delete_items(xs, d, x):
    del xs[0]
    y = x * 2.0 + len(xs)
    last = xs.pop()
    first = xs.pop(0)
    value = d.pop("k")
    y = y * value - x
    return y, last, first, d.pop("missing", None), xs, d


def local_pops(x):
    d = {"a": x * 2.0 + 1.0, "b": 3}
    xs = [1, x, 2]
    y = d.pop("a") * x
    del xs[0]
    return y - xs.pop(0) * 2.0, xs, d


def many_mutations(xs, d, x):
    y = x * 2.0 + 1.0
    xs.append(y)
    xs.insert(0, x)
    xs.extend([1, y])
    xs.reverse()
    xs.remove(1)
    d.update(a=y, b=2)
    d.setdefault("a", x)
    d["c"] = xs[0]
    del d["b"]
    return xs[-1] * d["c"] + y, xs, d


@each(
    Case(35, store_items, [1, 2], X, kernels=1,
         others=[([1], X), ((1, 2), X), ({}, X), ([Y, Y, 3], Y), (np.zeros((3, 11)), X)]),
    Case(36, delete_items, [1, 2, 3, 4], {"k": Y}, X, kernels=1,
         others=[([1], {"k": 1}, X), ([], {}, X), ([1, 2, 3], {}, X), ([1, 2, 3, 4], {"k": 2.0, "missing": 1}, X)]),
    Case(36, local_pops, X, kernels=1, others=[(2.0,)]),
    Case(36, many_mutations, [5], {}, X, kernels=1, others=[([], {"a": 1}, X), ([1], {"c": 2, "b": 1}, X)]),
)
def test_items_stored_and_deleted(case):
    case.run()


total = 0.0
doomed = 1.0


def store_global(x):
    global total
    total = x * 2.0 + 1.0
    total *= 2.0
    y = total - x
    return y * total


def delete_global(x, flag):
    global doomed
    y = x * 2.0 + doomed
    if flag:
        del doomed
    y = y * x - 1.0
    return y * doomed


def count_global(x, n):
    global total
    for i in range(n):
        x = x * 0.5 + 1.0
        total = total + x[0]
    return x * total


@each(
    Case(37, store_global, X, kernels=1, others=[(2.0,), ("x",)]),
    Case(37, delete_global, X, False, kernels=1, others=[(X, False), (X, True), (X, False)]),
    Case(37, count_global, X, 3, kernels=1, others=[(Y, 2), (X, 0)]),
)
def test_globals(case):
    case.run()


def through_the_other_module(x):
    y = x * 2.0 + 1.0
    before = elsewhere.remember(y)
    z = y * elsewhere.seen - x
    elsewhere.counter += 1
    return z + before, elsewhere.counter


@group(38)
def test_a_callee_writes_the_globals_of_its_own_module():
    results = []
    for f in (through_the_other_module, jitted(through_the_other_module)):
        elsewhere.seen, elsewhere.counter = 0.0, 0
        results.append([(f(X * k), elsewhere.seen, elsewhere.counter) for k in (1.0, 2.0, 3.0, 4.0)])
    same(*results)
    assert "seen" not in globals()


class Box:
    def __init__(self, a=0.0, inner=None):
        self.a, self.inner = a, inner


def two_names(x, box):
    x.value = box * 2.0 + 1.0
    x.other = x
    x.other.value = x.value * box
    y = x.value - x.other.value * 2.0
    x.other.other.value = y
    return x.value * 2.0 + y, x.other is x


def two_arguments(p, q, x):
    p.a = x * 2.0 + 1.0
    q.a = q.a * 2.0 - 1.0
    y = p.a * x
    del q.inner
    return y + q.a, hasattr(p, "inner")


class Kept:
    total = None


def class_and_module(x, alias):
    Kept.total = x * 2.0
    alias.total = Kept.total * x
    elsewhere.counter = 3
    elsewhere.counter += 1
    return Kept.total - 1.0, alias.total is Kept.total, elsewhere.counter


SHARED = Box(X)


@each(
    Case(39, two_names, Box(), X, kernels=1, others=[(Box(1), 2.0), (3, X)]),
    Case(39, two_arguments, Box(Y), Box(X), X, kernels=1,
         others=[(Box(2.0), Box(3), X), (Box(), Box("t"), X)], aliased=[(SHARED, SHARED, X)]),
    Case(39, class_and_module, X, Kept, kernels=1, others=[(Y, Kept), (X, Box), (2.0, Kept)]),
)
def test_attributes_through_two_names(case):
    case.run()


def assign_around_break(x, y):
    x[:] = y
    x += 1.0
    print("between", x[0])
    x[1:] = y[:-1] * 2.0
    x *= 0.5
    return x, x * y


def slices_of_local(x):
    y = x * 2.0 + 1.0
    y[:2] = x[1:3]
    y[2:] = 0.0
    y[-1] = x[0]
    return y * x


def merged_slices(x):
    x[:1] = 1
    x[2:] = 2
    x[1:3] += 0.5
    return x * 2.0 + x[0]


VIEWS = [(X, X), (X[1:], X[:-1]), (X[::-1], X)]


@each(
    Case(40, assign_around_break, X, Y, kernels=2,
         others=[(X[:2], Y[:2]), (X, Y[:2]), (X.astype("f"), Y), (X, 2.0)], aliased=VIEWS),
    Case(45, slices_of_local, X, kernels=1, others=[(X[:3],), (X[:1],), (X.astype("f"),), (X.astype(int),)]),
    Case(46, merged_slices, X, kernels=1, others=[(X[:2],), (X[:0],), (X.astype(int),), (X[::2],), ([1, 2],)]),
)
def test_array_writes(case):
    case.run()


@group(40, 46)
def test_read_only_arrays_stay_as_they_are():
    frozen = X.copy()
    frozen.flags.writeable = False
    with fail_unless_captured():
        j = jitted(merged_slices)
        for _ in range(3):
            j(X.copy())
            with pytest.raises(ValueError, match="read-only"):
                j(frozen)
    assert frozen.tobytes() == X.tobytes()


class Deep:
    def __init__(self, a):
        self.a, self.log = a, []

    def first(self, x):
        self.a = x * 2.0 + 1.0
        return self.second(x) + self.a

    def second(self, x):
        self.b = self.a * x
        self.third(x)
        return self.b - self.c

    def third(self, x):
        self.c = self.b - x
        self.log.append(len(self.log))


def in_deep_callees(net, x):
    y = net.first(x) * 2.0
    net.third(y)
    return y - net.c, net.log


def nothing_returned(net, x):
    net.first(x * 2.0 + 1.0)
    net.first(x)


@each(
    Case(41, in_deep_callees, Deep(0), X, kernels=1, others=[(Deep(1), 2.0), (Deep(1), "x")]),
    Case(41, nothing_returned, Deep(0), X, others=[(Deep(0), 3.0)]),
)
def test_attributes_written_in_callees(case):
    case.run()


def add_to_items(lst, x):
    for i in range(1, 4):
        lst[i - 1] += abs(x)
        x = x * 2.0 - 1.0
    return lst, x


def add_to_item_of_dict(d, x):
    d["n"] += 1
    d["x"] *= x
    d["x"] -= x * 2.0
    return d["x"] * d["n"] + x


@each(
    Case(42, add_to_items, [1.0, 2.0, 3.0], X, kernels=1,
         others=[([Y, 1, 2], X), ([1], X), ([1, "t", 3], X), ([X, X, X], X), (Y[:3], 2.0)]),
    Case(42, add_to_item_of_dict, {"n": 0, "x": Y}, X, kernels=1, others=[({"n": 1}, X), ({"n": 1, "x": 2.0}, X)]),
)
def test_in_place_on_items(case):
    case.run()


class Result:
    def __init__(self, value, size):
        self.value, self.size = value, size


class Holder:
    def keep(self, x):
        self.a = (x, x * 2.0 + 1.0)
        return len(self.a)

    def build(self, x):
        y = x * 2.0 - 1.0
        return Result(y * x, len(y))


def constant_from_callee(h, x):
    n = h.keep(x)
    y = x * n + 1.0
    return y - h.a[1], h.a[0] is x


def object_from_callee(h, x):
    r = h.build(x)
    r.size += 1
    return r.value * r.size + x, r


@each(
    Case(43, constant_from_callee, Holder(), X, kernels=1, others=[(Holder(), 2.0)]),
    Case(43, object_from_callee, Holder(), X, kernels=1, others=[(Holder(), Y.astype("f"))]),
)
def test_what_callees_return_behind_effects(case):
    case.run()


class Counter:
    def __init__(self):
        self.n = self.m = 0

    def one(self, x):
        self.n += 1
        y = x * 2.0 + self.n
        y = self.two(y) - x
        self.n += 10
        return y

    def two(self, x):
        self.m += 1
        print("two", self.n, self.m)
        y = x * 3.0 - self.m
        self.m += 100
        return y


def break_in_callee_after_effect(c, x):
    y = x * 2.0 + 1.0
    y = c.one(y) * 2.0
    c.n += 1000
    return c.two(y) - y, c.n, c.m


def break_behind_effects_in_loop(c, x, n):
    for _ in range(n):
        c.n += 1
        x = x * 0.5 + c.n
        c.two(x)
        x = x - 1.0
    return x, c.n, c.m


@each(
    Case(44, break_in_callee_after_effect, Counter(), X, kernels=1, others=[(Counter(), 2.0), (Counter(), "x")]),
    Case(44, break_behind_effects_in_loop, Counter(), X, 3, kernels=1, others=[(Counter(), X, 0)]),
)
def test_effects_before_breaks_in_callees(case):
    case.run()
