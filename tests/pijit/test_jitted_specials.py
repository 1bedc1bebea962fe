"""Jitted special methods are found and guarded as plain ones are: the second call hits."""

import functools

import numpy as np
import pytest

import pijit
from tests.harness import HIT, MISS, assert_calls, fail_unless_captured, jitted, mode_config, same

jit = functools.partial(pijit.jit, jit_config=mode_config())


class Plain:
    def __init__(self, w):
        self.w = w

    def __call__(self, x):
        return x * self.w + 1.0

    def __getitem__(self, x):
        return x * self.w - 1.0

    def __setitem__(self, key, value):
        self.w = value + key

    def __add__(self, x):
        return x + self.w * 3.0

    def __radd__(self, x):
        return x - self.w * 3.0

    def __neg__(self):
        return self.w * -2.0 - 1.0

    def __eq__(self, other):
        return self.w == other

    def __lt__(self, other):
        return self.w < other

    def __len__(self):
        return 3

    def __contains__(self, value):
        return value == self.w

    def __iter__(self):
        return iter([1.0, 2.0, self.w])

    def __enter__(self):
        return self.w * 2.0

    def __exit__(self, *error):
        return None

    @property
    def double(self):
        return self.w * 2.0 + 1.0

    @staticmethod
    def fixed(x):
        return x * 2.0 + 1.0

    @classmethod
    def made(cls, x):
        return x * 4.0 + 1.0


def wrapped(value):
    """A member of a class, jitted where it is or holds a function."""
    if isinstance(value, property):
        return property(jit(value.fget))
    return jit(value) if callable(value) or isinstance(value, (staticmethod, classmethod)) else value


Jitted = type("Jitted", (), {name: wrapped(value) for name, value in vars(Plain).items()
                             if callable(value) or isinstance(value, (staticmethod, classmethod, property))})


def call(h, x):
    return h(x) + 1.0


def call_by_name(h, x):
    return type(h).__call__(h, x) + 1.0


def subscript(h, x):
    return h[x] + 1.0


def store(h, x):
    h[2] = 5.0
    return x * h.w


def add(h, x):
    return (h + 2.0) * x


def reflected(h, x):
    return (2.0 + h) * x


def negate(h, x):
    return -h * x


def compare(h, x):
    return (x + 1.0 if h == 2.0 else x - 1.0) * (3.0 if h < 5.0 else 4.0)


def truth(h, x):
    return x * 2.0 + len(h) if h else x


def contains(h, x):
    return x * 2.0 + 1.0 if 2.0 in h else x * 3.0 + 1.0


def iterate(h, x):
    total = 0.0
    for value in h:
        total += value * 2.0 + 1.0
    return x * total + 1.0


def manage(h, x):
    with h as w:
        y = x * w + 1.0
    return y * 2.0 + 1.0


def others(h, x):
    return h.double * x + h.fixed(x) + h.made(x)


CASES = (call, call_by_name, subscript, store, add, reflected, negate, compare, truth, contains, manage, others)


@pytest.mark.parametrize("f", CASES, ids=[f.__name__ for f in CASES])
def test_second_call_hits(f):
    x = np.arange(5.0)
    with fail_unless_captured():
        compiled = jitted(f, {"force_breaks": None})  # which would observe the first run
        assert_calls(compiled, [MISS, HIT, HIT], [(Jitted(2.0), x), (Jitted(2.0), x), (Jitted(4.0), x)])
    for w in (2.0, 3.0):
        same(f(Plain(w), x), compiled(Jitted(w), x))


def test_iterator_hits_from_the_second_call_on():
    x = np.arange(5.0)
    f = jitted(iterate)
    assert_calls(f, [MISS, HIT, HIT], [(Jitted(2.0), x)] * 3)
    same(iterate(Plain(2.0), x), f(Jitted(2.0), x))


def test_jitted_init_is_inlined():
    def make(x):
        return Jitted(3.0)(x) + 1.0

    x = np.arange(5.0)
    with fail_unless_captured():
        f = jitted(make)
        assert_calls(f, [MISS, HIT, HIT], [(x,)] * 3)
    same(Plain(3.0)(x) + 1.0, f(x))


def test_method_that_is_replaced_is_seen():
    kind = type("Kind", (), {"__call__": jit(lambda self, x: x * 2.0 + 1.0)})
    f = jitted(lambda h, x: h(x) + 1.0)
    x = np.arange(4.0)
    assert_calls(f, [MISS, HIT], [(kind(), x)] * 2)
    kind.__call__ = jit(lambda self, x: x * 3.0 + 1.0)
    same(x * 3.0 + 1.0 + 1.0, f(kind(), x))
    kind.__call__ = lambda self, x: x * 4.0 + 1.0
    same(x * 4.0 + 1.0 + 1.0, f(kind(), x))


def test_getter_of_a_subclass_is_not_trusted():
    """A subclass of jitted functions with a __get__ of its own may run code there."""
    from pijit.function import Jitted as Function
    from pijit.guards.reading import read_attribute

    class Strange(Function):
        def __get__(self, instance, owner=None):
            raise AssertionError("guards ran a __get__")

    plain = jit(lambda self, x: x)
    kind = type("Kind", (), {"plain": plain, "strange": Strange(lambda self, x: x, plain.config)})
    assert read_attribute(kind, "plain") is plain
    from pijit.guards.source import UNBOUND
    assert read_attribute(kind, "strange") is UNBOUND
