"""Attributes of objects, arrays and dtypes: read under guards that notice every way in which they can change."""

import collections
import dataclasses
from operator import methodcaller

import numpy as np
import pytest

from tests.harness import check, fail_unless_captured, jitted

X = np.linspace(0.5, 4.0, 11)
Y = np.linspace(3.0, -1.0, 11)


class Layer:
    scale = 2.0

    def __init__(self, weight, inner=None):
        self.weight = weight
        self.inner = inner


class Derived(Layer):
    offset = 1.0


class Slotted:
    __slots__ = ("weight", "scale", "inner")

    def __init__(self, weight):
        self.weight, self.scale, self.inner = weight, 3.0, None


@dataclasses.dataclass
class Point:
    weight: object
    scale: float = 0.5


def weighted(layer, x):
    return x * layer.weight + layer.scale


def deep(layer, x):
    return x * layer.inner.inner.weight + layer.inner.scale * layer.weight


def through_locals(layer, x):
    params = layer.inner
    weight = params["w"]
    y = x * weight
    return y * params["k"] + layer.scale


OBJECTS = [
    (weighted, (Layer(Y), X), [(Derived(Y), X), (Slotted(Y), X), (Point(Y), X), (Layer(2.0), X)]),
    (deep, (Layer(Y, Layer(2.0, Layer(X))), X), [(Layer(1, Layer(2.0, Slotted(3))), X)]),
    (through_locals, (Layer(None, {"w": Y, "k": 2}), X), [(Layer(None, {"w": 3.0, "k": 2.5}), X)]),
]


@pytest.mark.parametrize("f, args, others", OBJECTS, ids=[row[0].__name__ for row in OBJECTS])
def test_attributes(f, args, others):
    with fail_unless_captured():
        check(f, *args, others=others)


@pytest.mark.parametrize("args", [(Slotted(Y), X), (Point(Y), X), (Derived(Y), X)],
                         ids=lambda args: type(args[0]).__name__)
def test_kinds_of_instances(args):
    with fail_unless_captured():
        check(weighted, *args)


def test_every_way_an_attribute_changes():
    class Local(Layer):
        pass

    layer = Local(Y.copy())
    changes = [
        lambda: setattr(layer, "weight", X),
        lambda: setattr(Local, "scale", 5.0),
        lambda: setattr(Local, "scale", 7),
        lambda: setattr(layer, "scale", -1.0),
        lambda: delattr(layer, "scale"),
        lambda: delattr(Local, "scale"),
        lambda: setattr(Local, "scale", property(lambda self: 9.0)),
        lambda: setattr(Local, "__getattribute__", lambda self, name: X * 3.0),
        lambda: delattr(Local, "__getattribute__"),
        lambda: setattr(layer, "weight", None) or setattr(layer, "weight", X.astype("f")),
    ]
    j = jitted(weighted)
    with fail_unless_captured():
        jitted(weighted)(layer, X)
    for change in changes:
        for _ in range(3):
            expected, got = weighted(layer, X), j(layer, X)
            np.testing.assert_array_equal(got, expected)
            assert got.dtype == expected.dtype
        change()
    del layer.weight
    with pytest.raises(AttributeError, match="weight"):
        j(layer, X)


def replaced_between(layer, x):
    y = x * layer.weight + layer.scale
    methodcaller("__setattr__", "weight", y)(layer)
    methodcaller("__setattr__", "scale", 3)(layer)
    return y * layer.weight + layer.scale


def test_attributes_that_bytecode_changes_between_segments():
    with fail_unless_captured(2):
        check(replaced_between, Layer(Y), X, calls=4)


Pair = collections.namedtuple("Pair", "first second")


def of_arrays(x):
    return x * x.dtype.itemsize + x.nbytes + x.real - x.itemsize


def dtype_steers(x):
    if x.dtype.kind == "f":
        return x * 2.0 + 1.0
    return x * 3 + 1


def dtype_of_an_element(x):
    return x * x[0].dtype.itemsize + x[0].itemsize


CONSTANTS = [
    (of_arrays, (X,), [(X.astype("f"),), (np.arange(6).reshape(2, 3),)]),
    (dtype_steers, (X,), [(np.arange(5),), (np.arange(5, dtype="u1"),)]),
    (dtype_of_an_element, (X,), [(X.astype("f"),)]),
]


@pytest.mark.parametrize("f, args, others", CONSTANTS, ids=[row[0].__name__ for row in CONSTANTS])
def test_attributes_of_arrays_and_dtypes(f, args, others):
    with fail_unless_captured():
        check(f, *args, others=others)


Fields = collections.namedtuple("Fields", "weight scale")


def fields(p, x):
    weight, scale = p
    return p.weight * x + p.scale + p[0] * len(p) - scale


def test_named_tuples():
    with fail_unless_captured():
        check(fields, Fields(Y, 2.0), X, others=[(Fields(3.0, X), X), (Fields(scale=Y, weight=2), X)])


def test_a_named_tuple_whose_class_changes():
    class Own(Fields):
        pass

    j = jitted(weighted)
    with fail_unless_captured():
        check(weighted, Own(Y, 2.0), X)
    for change in [lambda: None, lambda: setattr(Own, "scale", property(lambda self: 7.0)),
                   lambda: setattr(Own, "weight", property(lambda self: X)), lambda: delattr(Own, "scale"),
                   lambda: setattr(Own, "__getitem__", lambda self, k: 1.0)]:
        change()
        for _ in range(3):
            np.testing.assert_array_equal(j(Own(Y, 2.0), X), weighted(Own(Y, 2.0), X))
    check(fields, Own(Y, 2.0), X)
