"""``__name__`` of functions and classes, as wrappers and messages use it: known under guards, as it may be renamed."""

import functools

import numpy as np

from tests.harness import HIT, MISS, assert_calls, check, jitted, mode_config, nothing_breaks, same_answers

X = np.linspace(-2.0, 3.0, 7)
PYTHON = {"backend": "python"}
CALLS = {}


def counted(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        CALLS[f.__name__] = CALLS.get(f.__name__, 0) + 1
        return f(*args, **kwargs)
    return wrapper


@counted
def doubled(x, by=2.0):
    return x * by


class Layer:
    def __init__(self, k):
        self.k = k

    def describe(self):
        return "%s(%d)" % (type(self).__name__, self.k)


class Scale(Layer):
    pass


class Shift(Layer):
    __name__ = "of the class"


class Meta(type):
    @property
    def __name__(cls):
        return "of the metaclass"


class Odd(Layer, metaclass=Meta):
    pass


def by_wrapper(x, n):
    for i in range(n):
        x = doubled(x, by=0.5) + i
    return x, dict(CALLS), doubled.__name__


def by_class(layers, x):
    for layer in layers:
        kind = layer.__class__.__name__
        x = x * layer.k if kind == "Scale" else x + layer.k
    return x, [layer.describe() for layer in layers], kind


def plain_types(x):
    return type(x).__name__, type(x[0]).__name__, type(len(x)).__name__, x * 2.0


def of_an_argument(f, x):
    return f(x), f.__name__


def half(x):
    return x * 0.5


CASES = [
    (by_wrapper, (X, 3), [(X, 0)]),
    (by_class, ([Scale(2), Shift(3)], X), [([Shift(1), Scale(2)], X), ([Odd(2), Scale(2)], X)]),
    (plain_types, (X,), [([1.0, 2.0],), ("text",)]),
    (of_an_argument, (half, X), [(doubled, X), (np.sqrt, X), (lambda x: x - 1.0, X)]),
]

test_same_answers = same_answers(CASES, PYTHON)
test_in_machine_code = same_answers(CASES[:2])
test_nothing_breaks = nothing_breaks([case for case in CASES if case[0] is not plain_types])


def test_names_may_change():
    def renamed(x):
        return x * 3.0

    class Thing:
        pass

    def f(g, thing, x):
        return g(x), g.__name__, type(thing).__name__, thing.__class__.__name__

    compiled = jitted(f, PYTHON)
    one, other = Thing(), Scale(1)
    if "force_breaks" not in mode_config():
        assert_calls(compiled, [MISS, HIT], [(renamed, one, X)] * 2)
    renamed.__name__, Thing.__name__ = "changed", "Changed"
    assert compiled(renamed, one, X)[1:] == ("changed", "Changed", "Changed")
    assert compiled(half, other, X)[1:] == ("half", "Scale", "Scale")
    check(f, half, other, X, config=PYTHON, others=[(renamed, one, X)])


class Vector:
    def __init__(self, values):
        self.values = values

    def __add__(self, other):
        return self.__class__(self.values + other.values)


class Point(Vector):
    pass


class Disguised(Vector):
    __class__ = property(lambda self: Vector)


def test_the_class_of_an_object_costs_no_misses():
    def f(u, v):
        return u + v, u.__class__, v.__class__.__name__

    one, other, odd = Vector(X), Point(X), Disguised(X)
    if "force_breaks" not in mode_config():
        assert_calls(jitted(f, PYTHON), [MISS, HIT, MISS, HIT, HIT],
                     [(one, other), (one, other), (other, one), (other, one), (one, other)])
    check(f, one, other, config=PYTHON, others=[(other, one), (odd, one), (one, odd)])
