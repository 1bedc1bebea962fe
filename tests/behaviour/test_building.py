"""Tuples, lists, dicts and sets: built, taken apart and returned."""

import numpy as np

from tests.behaviour.cases import Case, X, Y, each


def joined_lists(xs, ys, x):
    y = x * 2.0 + 1.0
    return [*xs, y, *ys], (*xs, *ys), {*"ab", *"b"}, y - x


def star_of_tuple(t, x):
    y = x * 2.0 + 1.0
    u = (*t, y)
    return u[0] * u[-1] - x, u, [*t]


def joined_dicts(d, e, x):
    y = x * 2.0 - 1.0
    m = {"z": y, **d, "a": x, **e}
    return m, list(m), m["a"] * m["z"] + y


def unpacked_call(d, x):
    m = dict(w=x, **d)
    return x * m["w"] + len(m), m


def call_with(a, b, *, c, d):
    return a * b + c - d


def unpacked_everywhere(t, d, x):
    return call_with(*t, **d) * x + call_with(x, *[2.0], **{**d, "c": x})


@each(
    Case(4, joined_lists, [X, 1], (Y,), X, kernels=1,
         others=[((), [], Y), ("ab", {1: 2}, X), (X[:2], [None], X), (3, (), X)]),
    Case(4, star_of_tuple, (Y, 2), X, kernels=1, others=[((X,), X), ([Y, X, 1], X), ((), X), (Y, X)]),
    Case(4, joined_dicts, {"b": 1, "a": Y}, {"z": Y}, X, kernels=1,
         others=[({}, {}, X), ({"q": 1, "z": 0}, {"b": X, "a": X}, X), ({1: 2}, {None: 3}, Y), ([], {}, X)]),
    Case(4, unpacked_call, {"k": Y}, X, kernels=1, others=[({}, X), ({"w": 1}, X), ({1: 2}, X)]),
    Case(4, unpacked_everywhere, (X, Y), {"c": 1.0, "d": Y}, X, kernels=1,
         others=[([2.0, X], {"d": 1, "c": X}, X), ((X,), {"c": 1, "d": 2}, X), ((X, Y), {"c": 1}, X)]),
)
def test_building_and_unpacking(case):
    case.run()


def pair(c):
    a, b = c
    return a * b + 1.0, b


def starred(c):
    *s, = c
    return s, len(s)


def middle(c, x):
    first, *rest, last = c
    y = x * 2.0 + 1.0
    return y * first - last, rest


def two_and_rest(a, x):
    c, e, *b = a
    return c * x + e, b


def nested(t, x):
    (a, (b, c)), [d, *e] = t
    return a * x + b, c, d, e


def rows(m):
    a, b, c = m
    return a * b + c - (m[0] * 2.0 + 1.0)


def targets_in_order(xs, t, x):
    i, xs[i] = t
    xs[0], xs[1] = xs[1], xs[0]
    return x * i + 1.0, xs


def swapped(x, y, n):
    for _ in range(n):
        x, y = y * 0.5 + 1.0, x - y
    return x, y


@each(
    Case(14, pair, (X, Y), kernels=1,
         others=[([X, 2],), ({1.0: 2, 3: 4},), ((X,),), (np.array([[1.0, 2], [3, 4]]),), ("ab",),
                                              (7,), ((X, Y, X),)]),
    Case(14, starred, (1, X), others=[([X],), ("text",), ({"k": 1},), (X[:3],), ((),), (None,)]),
    Case(14, middle, (2.0, X, Y, X), X, kernels=1, others=[([1, 2], X), ((1.0,), X), (X[:4], X), ("abc", X)]),
    Case(14, two_and_rest, (X, 2.0, 3, "x"), Y,
         others=[([Y, X], Y), ({1: 0, 2: 0, 3: 0}, X), (X[:5], X), ((1,), X)]),
    Case(14, nested, ((X, (2.0, 3)), [4, Y, "e"]), X, kernels=1,
         others=[(([X, [Y, X]], (1,)), X), (((X, 1), [2]), X)]),
    Case(14, rows, np.arange(12.0).reshape(3, 4), kernels=1,
         others=[(np.arange(6).reshape(3, 2),), (np.arange(8.0).reshape(2, 4),),
                                                          (np.float64(3.0),), (np.arange(3.0),)]),
    Case(14, targets_in_order, [5.0, 6.0, 7.0], (2, X), X, kernels=1,
         others=[([1, 2], (0, "zero"), X), ([1], (0, 1), X)]),
    Case(14, swapped, X, Y, 3, kernels=1, others=[(X, 2.0, 2), (1.0, 2.0, 5), (X, Y, 0)], aliased=[(X, X, 2)]),
)
def test_unpacking(case):
    case.run()


def deep_tuple(x):
    t = (x * 2.0 + 1.0,)
    for i in range(22):
        t = (t, i)
    return t


def literal_nest(x, y):
    a = x * y + 1.0
    b = a - x
    return ((a, (b, ((a,), [x, {"k": (b, (a, y))}]))), x, (y, a))


def same_object_twice(x):
    y = x * 2.0 + 1.0
    t = (y, y)
    return t, [t, t], {"t": t}, y


def same_after_branches(x, n):
    y = x * 2.0 + 1.0
    t = u = (y, n)
    for i in range(n):
        y = y * 0.5 + i
        u = t
        if i % 2:
            t = (y, x)
    return [t, u, t is u, y]


@each(
    Case(62, deep_tuple, X, kernels=1),
    Case(62, same_object_twice, X, kernels=1, others=[(2.0,), (3,)]),
    Case(62, same_after_branches, X, 3, others=[(X, 0), (X, 1), (2.0, 2)]),
    Case(62, literal_nest, X, Y, kernels=1, others=[(X, 2.0), (1.0, 2)], aliased=[(X, X), (X, X[:])]),
)
def test_nested_results(case):
    case.run()


def nothing(x):
    y = x * 2.0 + 1.0
    y[0] = x[1]


def none_among(x, flag):
    y = x * 2.0 + 1.0
    return None if flag else y, None, True, "text", ...


def mix(x, k):
    y = x * k - 1.0
    return {"none": None, "y": y, "flag": k > 1, "t": (y, None), "name": "n%s" % k, 3: [x, {}],
            "s": slice(k), "f": len}


def choice(x, k):
    y = x * 2.0 + k
    if k > 2:
        return None
    if k == 2:
        return {"y": y}
    return y, k


@each(
    Case(64, nothing, X.copy(), kernels=1, others=[(X[:1].copy(),), (np.arange(3),)]),
    Case(64, none_among, X, True, kernels=1, others=[(X, False), (X, 0), (X, Y), (X, Y[:1])]),
    Case(64, mix, X, 2, kernels=1, others=[(X, 0.5), (X, True), (X, Y[0]), (X, Y)]),
    Case(64, choice, X, 1, kernels=1, others=[(X, 2), (X, 3), (X, 2.0), (X, "2")]),
)
def test_results_of_many_kinds(case):
    case.run()
