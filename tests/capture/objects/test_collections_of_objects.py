"""Loops over objects whose `__iter__` returns an iterator over a tuple, a list or a dict of other objects; and loops over
indices of objects, which are unrolled."""

import sys

import numpy as np
import pytest

import pijit
from tests.harness import check, fail_unless_captured, jitted

X = np.linspace(-1.0, 1.0, 20)


class Scale:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, x):
        return x * self.factor


class Shift(Scale):
    def __call__(self, x):
        return x + self.factor


class Layers:
    def __init__(self, *layers):
        self.layers = layers

    def __iter__(self):
        return iter(self.layers)


class Listed(Layers):
    def __init__(self, *layers):
        self.layers = list(layers)


class Named(Layers):
    def __init__(self, *layers):
        self.layers = {"layer %d" % k: layer for k, layer in enumerate(layers)}

    def __iter__(self):
        return iter(self.layers.values())


class Backwards(Layers):
    def __iter__(self):
        return reversed(self.layers)


class Counted(Layers):
    def __iter__(self):
        return iter(enumerate(self.layers))


def loop(layers, x):
    for layer in layers:
        x = layer(x)
    return x


def numbered(layers, x):
    for k, layer in enumerate(layers):
        x = layer(x) + k
    return x


def paired(layers, x):
    for one, other in zip(layers, layers):
        x = one(x) - other(x * 2.0)
    return x


def listed(layers, x):
    return [layer(x) for layer in layers]


def leaves_early(layers, x):
    for layer in layers:
        x = layer(x)
        if x[0] > 0.0:
            break
    return x


def two_loops(layers, x):
    for outer in layers:
        for inner in layers:
            x = inner(outer(x))
    return x


@pytest.mark.parametrize("kind", [Layers, Listed, Named, Backwards])
@pytest.mark.parametrize("program", [loop, numbered, paired, listed, leaves_early, two_loops])
def test_layers_are_captured(kind, program):
    layers = kind(Scale(2.0), Shift(0.5), Scale(-1.5))
    fail_unless_captured(check(program, layers, X))
    assert not pijit.explain(program, layers, X).breaks or program is leaves_early


def test_a_tuple_of_the_iterator():
    def f(layers, x):
        for k, layer in layers:
            x = layer(x) + k
        return x

    fail_unless_captured(check(f, Counted(Scale(2.0), Shift(0.5)), X))


def test_other_layers_are_followed():
    f = jitted(loop)
    layers = Layers(Scale(2.0), Shift(0.5))
    assert np.array_equal(f(layers, X), loop(layers, X))
    layers.layers += (Shift(1.0),)
    assert np.array_equal(f(layers, X), loop(layers, X))
    layers.layers = (Scale(3.0),)
    assert np.array_equal(f(layers, X), loop(layers, X))
    layers.layers = ()
    assert f(layers, X) is X


def test_a_list_that_changes_in_the_loop():
    def f(layers, x):
        for layer in layers:
            x = layer(x)
            if len(layers.layers) < 4:
                layers.layers.append(Shift(1.0))
        return x

    results = [function(Listed(Scale(2.0), Shift(0.5)), X) for function in (f, jitted(f), f)]
    assert np.array_equal(results[0], results[1])


def test_breaks_and_errors_in_the_loop():
    said = []

    def f(layers, x):
        for layer in layers:
            x = layer(x)
            said.append(float(x[0]))
        return x

    layers = Layers(Scale(2.0), Shift(0.5), Scale(3.0))
    expected = f(layers, X), list(said)
    g = jitted(f)
    for _ in range(3):
        del said[:]
        assert np.array_equal(g(layers, X), expected[0]) and said == expected[1]
    wrong = Layers(Scale(2.0), Scale("x"), Scale(3.0))
    for function in (f, g):
        del said[:]
        with pytest.raises(TypeError):
            function(wrong, X)
        assert said == [-2.0]


def by_index(layers, x):
    for k in range(len(layers)):
        x = layers[k](x)
    return x


def by_three_indices(layers, x):
    for k in range(3):
        x = layers[k](x) * k
    return x


def backwards_by_index(layers, x):
    for k in range(2, -1, -1):
        x = layers[k](x)
    return x


def by_index_with_numbers(layers, x):
    total = 0.0
    for k in range(3):
        for i in range(len(x)):
            total += x[i] * k
        x = layers[k](x)
    return x, total


def chosen_by_index(layers, x):
    return [layers[k](x) if k > 0 else x for k in range(3)]


class Indexed(Layers):
    def __len__(self):
        return len(self.layers)

    def __getitem__(self, k):
        return self.layers[k]


@pytest.mark.parametrize("layers", [
    lambda: (Scale(2.0), Shift(0.5), Scale(-1.5)), lambda: [Scale(2.0), Shift(0.5), Scale(-1.5)],
    lambda: (Scale(2.0), Scale(0.5), Scale(-1.5)), lambda: [Scale(2.0), Scale(0.5), Scale(-1.5)],
    lambda: Indexed(Scale(2.0), Shift(0.5), Scale(-1.5))], ids=["tuple", "list", "tuple of a kind", "list of a kind", "object"])
@pytest.mark.parametrize("program", [by_index, by_three_indices, backwards_by_index, by_index_with_numbers,
                                     chosen_by_index])
def test_indices_of_objects(layers, program):
    fail_unless_captured(check(program, layers(), X))
    if program is not chosen_by_index or sys.version_info >= (3, 12):  # before, a comprehension is a function
        assert not pijit.explain(program, layers(), X).breaks


def test_a_list_of_objects_of_several_classes_that_is_too_long_to_be_unrolled():
    layers = [(Scale if k % 3 else Shift)(1.0 + k / 50) for k in range(40)]
    check(by_index, layers, X)


def test_ranges_of_numbers_are_loops():
    """Nothing is unrolled where an index selects numbers or arrays."""
    def f(table, x):
        for k in range(10):
            x = x + table[k]
        return x

    entry = pijit.explain(f, tuple(float(k) for k in range(10)), X)
    assert not entry.breaks and str(entry).count("k1") <= 4
    fail_unless_captured(check(f, tuple(float(k) for k in range(10)), X))
