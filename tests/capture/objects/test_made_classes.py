"""Which classes captured code makes objects of, and what it notices of changes to them."""

import gc
import weakref

import numpy as np
import pytest

from tests.capture.exits.test_polls import NATIVE, PYTHON
from tests.capture.objects.test_made_objects import Tuned, Vec
from tests.harness import calls_of, check, fail_unless_captured, jitted

X = np.linspace(0.5, 4.0, 12)


class Checked:
    """Raises in the middle of its __init__."""

    def __init__(self, a):
        self.a = a
        if a > 2.0:
            raise ValueError("too large: %r" % a)
        self.b = 1.0 / a


def may_raise(a, n):
    total = 0.0
    for i in range(n):
        total += Checked(a * i + 0.5).b
    return total


class Watched:
    """What bytecode must see: each of these is made as Python makes it."""

    made = []

    def __init__(self, a):
        self.a = a


class WithNew(Watched):
    def __new__(cls, a):
        Watched.made.append(a)
        return super().__new__(cls)


class WithSetattr(Watched):
    def __setattr__(self, name, value):
        object.__setattr__(self, name, value * 2.0)


class WithDel(Watched):
    def __del__(self):
        Watched.made.append(self.a)


class WithGetattr(Watched):
    def __getattr__(self, name):
        return 5.0


class WithSlot(Watched):
    __slots__ = ("b",)


class WithProperty(Watched):
    @property
    def a(self):
        return 7.0

    @a.setter
    def a(self, value):
        self.held = value


class Meta(type):
    def __call__(cls, a):
        return type.__call__(cls, a * 3.0)


class WithMeta(Watched, metaclass=Meta):
    pass


class Error(Exception):
    def __init__(self, a):
        super().__init__(a)
        self.a = a


def of_class(cls, a, x):
    made = cls(a)
    y = x * made.a + a
    return y, made, made.a, getattr(made, "missing", 1.0)


CLASSES = [Watched, WithNew, WithSetattr, WithDel, WithGetattr, WithSlot, WithProperty, WithMeta, Error]


@pytest.mark.parametrize("cls", CLASSES)
def test_classes_of_all_kinds(cls):
    with fail_unless_captured():
        check(of_class, cls, 1.5, X)


@pytest.mark.parametrize("n, captured", [(3, True), (9, True)])
def test_exceptions_in_init(n, captured):
    with fail_unless_captured():
        check(may_raise, 0.5, n, others=[(0.25, 4), (-0.5, 4)])


def local_program():
    class Local:
        scale = 2.0

        def __init__(self, a):
            self.a = a

        def weighted(self, k):
            return self.a * self.scale + k

    def program(n, k):
        total, last = 0.0, Local(k)
        for i in range(n):
            last = Local(total + k)
            total += last.weighted(k)
        return total, last

    return Local, program


CHANGES = [
    lambda cls: setattr(cls, "scale", 5.0),
    lambda cls: setattr(cls, "scale", 3),
    lambda cls: setattr(cls, "weighted", lambda self, k: self.a - k),
    lambda cls: setattr(cls, "__init__", lambda self, a: setattr(self, "a", a * 2.0)),
    lambda cls: setattr(cls, "__setattr__", lambda self, name, value: object.__setattr__(self, name, value + 1.0)),
    lambda cls: setattr(cls, "__getattr__", lambda self, name: 4.0),
    lambda cls: setattr(cls, "a", property(lambda self: 9.0, lambda self, value: None)),
    lambda cls: setattr(cls, "a", 3.0),
    lambda cls: setattr(cls, "__new__", lambda cls, a: object.__new__(Vec)),
]


@pytest.mark.parametrize("number", range(len(CHANGES)))
def test_a_class_that_changes_between_calls(number):
    cls, program = local_program()
    j = jitted(program)

    def same():
        expected, got = program(5, 0.5), j(5, 0.5)
        assert got[0] == expected[0] and type(got[1]) is type(expected[1])
        assert getattr(got[1], "__dict__", None) == getattr(expected[1], "__dict__", None)

    with fail_unless_captured():
        watched = jitted(program)
        watched(5, 0.5)
    same(), same()
    CHANGES[number](cls)
    try:
        same(), same()
    except (AttributeError, TypeError):
        with pytest.raises((AttributeError, TypeError)):
            program(5, 0.5)


def test_hits_and_misses():
    cls, program = local_program()
    j = jitted(program, PYTHON)
    j(5, 0.5)
    assert calls_of(j, [(5, 0.5), (7, 1.5)]) == ["hit", "hit"]
    cls.weighted = lambda self, k: self.a - k
    assert calls_of(j, [(5, 0.5), (7, 1.5)]) == ["miss", "hit"]


def refers(a):
    made = Tuned(a, X, 2.0)
    made.level = made.level * a + a * a - a / 2.0
    return made


def test_results_are_objects_like_others():
    j = jitted(refers, NATIVE)
    with fail_unless_captured():
        jitted(refers, NATIVE)(1.5)
    for _ in range(3):
        made = j(1.5)
        reference = weakref.ref(made)
        assert gc.is_tracked(made) and list(made.__dict__) == ["level", "data", "steps", "gain"]
        made.more = 1
        del made
        assert reference() is None
