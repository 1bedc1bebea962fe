"""Calls of objects that captured code has made: ``layer = Dense(2.0)`` and ``layer(x)``."""

import numpy as np
import pytest

from tests.harness import check, nothing_breaks, same_answers

X = np.linspace(-2.0, 3.0, 7)
PYTHON = {"backend": "python"}


class Relu:
    def __call__(self, x):
        return np.maximum(x, 0)


class Dense:
    def __init__(self, w):
        self.w = w
        self.calls = 0

    def __call__(self, x, *, k=1.0):
        self.calls += 1
        return x * self.w * k


class Shifted(Dense):
    def __call__(self, x, **options):
        return super().__call__(x, **options) + 1.0


class Own:
    def __init__(self, own):
        if own:
            self.__call__ = own


class Changing:
    def __call__(self, x):
        self.seen = x.sum()
        return x / self.seen


LAYERS = {"relu": Relu, "double": lambda: Dense(2.0)}


def by_name(names, x):
    for name in names:
        x = LAYERS[name]()(x)
    return x


def of_subclasses(x, n):
    a, b = Dense(2.0), Shifted(0.5)
    for _ in range(n):
        x = a(x) - b(x, k=0.25)
    return x, a.calls, b


def of_a_list(x, n):
    layers = [Dense(float(i)) for i in range(n)]
    for layer in layers:
        x = layer(x) + 1.0
    return x, layers


def given_to_calls(x):
    layer = Dense(2.0)
    return list(map(layer, [1.0, 2.0])), sorted([3.0, -1.0, 2.0], key=Relu()), layer.calls, (lambda f: f(x))(layer)


def storing(x):
    f = Changing()
    return f(x), f.seen, f


def wrong_arguments(x):
    return Dense(2.0)(x, 1)


def own_attribute(x, own):
    return Own(own)(x)


CASES = [
    (by_name, (["relu", "double"], X), [(["double"], X), ((), X), (["relu", "relu"], 2)]),
    (of_subclasses, (X, 3), [(X, 0), (1.5, 2)]),
    (of_a_list, (X, 3), [(X, 20), (2, 1)]),
    (given_to_calls, (X,), [(1,)]),
    (storing, (X,), [(X * 0.0,), (np.arange(4),)]),
    (wrong_arguments, (X,), []),
    (own_attribute, (X, None), [(X, abs)]),
]

test_same_answers = same_answers(CASES, PYTHON)
test_in_machine_code = same_answers(CASES[:3])
test_nothing_breaks = nothing_breaks([CASES[0], CASES[1], CASES[4]])


def test_the_method_may_change():
    def f(x):
        return Relu()(x)

    compiled = check(f, X, config=PYTHON)
    before = Relu.__call__
    try:
        Relu.__call__ = lambda self, x: x - 1.0
        assert np.array_equal(compiled(X), X - 1.0)
        del Relu.__call__
        with pytest.raises(TypeError, match="'Relu' object is not callable"):
            compiled(X)
    finally:
        Relu.__call__ = before
    assert np.array_equal(compiled(X), f(X))
