"""A first call that could not be captured does not decide for the calls that follow."""

from sys import getsizeof

import numpy as np
import pytest

from tests.harness import check, jitted, kernel_count


class Anything:
    def __add__(self, other):
        return self

    __mul__ = __radd__ = __rmul__ = __add__

    def __eq__(self, other):
        return isinstance(other, Anything)


def arithmetic(x, y):
    z = x + y
    w = z * 2
    return w + z * y


FIRST = {"objects": (Anything(), Anything()), "floats": (1.5, 2.0), "lists": ([1], [2]), "big": (2 ** 70, 1),
         "complex": (np.ones(4, complex), 1.0), "object": (np.ones(4, object), 1.0), "0-d": (np.array(2.0), 1.0),
         "strings": ("a", "b"), "None": (None, None)}


@pytest.mark.parametrize("kind", sorted(FIRST))
def test_types_that_were_not_captured(kind):
    f, first = jitted(arithmetic), FIRST[kind]
    for _ in range(3):
        try:
            f(*first)
        except TypeError:
            pass
    x = np.arange(4.0)
    for _ in range(3):
        assert f(x, x).tobytes() == arithmetic(x, x).tobytes()
    assert kernel_count(f) > 0
    check(arithmetic, x, x, others=[(x, 2.0)])


def of_a_field(box, x):
    return box.w * x + x * box.w - 1.0


class Box:
    def __init__(self, w):
        self.w = w


def test_a_field_that_was_not_captured():
    f = jitted(of_a_field)
    x, box = np.arange(3.0), Box(Anything())
    for _ in range(2):
        with pytest.raises(TypeError):
            f(box, x)
    box.w = x + 1.0
    for _ in range(3):
        assert f(box, x).tobytes() == of_a_field(box, x).tobytes()
    assert kernel_count(f) > 0


def test_what_always_stays_bytecode_is_not_guarded():
    def report(values, names):
        import math
        return getsizeof(names) > 0, math

    f = jitted(report, {"force_breaks": None})
    for names in ("a", 1, None, [2], (3,)):
        for _ in range(2):
            assert f(names, names) == report(names, names)
    assert f.cache_info().misses <= 3
