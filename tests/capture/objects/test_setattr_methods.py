"""Attribute stores of classes that define ``__setattr__``: the method runs in the kernel, and what it passes to
``object.__setattr__`` is stored there."""

import threading

import numpy as np
import pytest

import pijit
from tests.harness import assert_nothing_breaks, jitted, same_answers

X = np.array([2.5, -1.0, 7.0, 0.5, 3.0, -0.0])
PYTHON = {"backend": "python"}


class Record:
    def __eq__(self, other):
        return type(self) is type(other) and vars(self) == vars(other)

    __hash__ = None


class Doubling(Record):
    """Stores twice what it is given."""

    def __init__(self, total=0.0):
        object.__setattr__(self, "total", total)

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value * 2.0)


class BySuper(Doubling):
    def __setattr__(self, name, value):
        super().__setattr__(name, value + 1.0)


class Limited(Doubling):
    """Refuses large values."""

    def __setattr__(self, name, value):
        if value > 50.0:
            raise ValueError("%s is too much: %r" % (name, value))
        object.__setattr__(self, name, value)


class Registered(Doubling):
    """Names of a table are stored in it, others as attributes."""

    def __init__(self, start=0.0, **table):
        object.__setattr__(self, "table", table)
        super().__init__(start)

    def __setattr__(self, name, value):
        if isinstance(value, np.ndarray) or name in self.table:
            self.table[name] = value
        else:
            object.__setattr__(self, name, value)


class Frozen(Doubling):
    def __setattr__(self, name, value):
        raise AttributeError("cannot assign to %s" % name)


class WithProperty(Doubling):
    """``object.__setattr__`` calls the setter of the property."""

    @property
    def total(self):
        return self.hidden * 0.5

    @total.setter
    def total(self, value):
        object.__setattr__(self, "hidden", value + 3.0)


class Slotted(Record):
    __slots__ = ("total",)

    def __init__(self, total=0.0):
        object.__setattr__(self, "total", total)

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value + 0.25)

    def __eq__(self, other):
        return self.total == other.total

    __hash__ = None


class Counting(Doubling):
    """Counts the stores in an attribute of its own."""

    def __init__(self, total=0.0):
        super().__init__(total)
        object.__setattr__(self, "stores", 0)

    def __setattr__(self, name, value):
        object.__setattr__(self, "stores", self.stores + 1)
        object.__setattr__(self, name, value)


class Loud(Doubling):
    def __setattr__(self, name, value):
        print("set", name)
        object.__setattr__(self, name, value)


class Local(threading.local):
    """``object.__setattr__`` refuses objects of classes in C that have their own."""

    total = 0.0


def accumulates(target, x):
    for v in x:
        target.total = target.total * 0.5 + v
    target.total += 1.0
    return target.total


def sets_by_name(target, x):
    setattr(target, "total", x[0] + 1.0)
    return target.total + x.sum()


def sets_new(target, x):
    target.other = x.sum()
    return target.other * 2.0


def passes_by(target, x):
    y = x * 2.0 + 1.0
    object.__setattr__(target, "total", y.sum())
    return y * target.total


def sets_made(target, x):
    made = Limited(x.sum())
    target.made = made
    target.pair = made.total, x[0]
    made.total = 3.0
    return made


def catches(target, x):
    seen = 0
    for v in x:
        try:
            target.total = v * 10.0
        except ValueError:
            seen += 1
    return seen, target.total


def makes(x):
    made = Limited(1.0)
    for v in x:
        made.total = made.total * 0.5 + v
    return made.total, made


KINDS = [Doubling, BySuper, Limited, WithProperty, Slotted, Counting]
CASES = [(program, (kind(), X), [(kind(3.0), X * 20.0), (kind(), X[:1]), (kind(1), X), (kind(), X.astype("f"))])
         for program in (accumulates, sets_by_name, passes_by) for kind in KINDS]
CASES += [(sets_new, (kind(), X), [(kind(), X * 20.0)]) for kind in KINDS if kind is not Slotted]
CASES += [
    (sets_made, (Registered(), X), [(Registered(made=1), X), (Registered(), X[1:])]),
    (accumulates, (Doubling(), X), [(BySuper(), X), (Limited(), X), (Loud(), X), (Record(), X), (Doubling(), X)]),
    (accumulates, (Registered(), X), [(Registered(total=2.0), X), (Registered(1.0, total=5.0), X), (Registered(), X)]),
    (sets_new, (Registered(), X), [(Registered(other=1.0), X), (Registered(), X)]),
    (catches, (Limited(), X), [(Limited(), X * 0.0), (Limited(), X * 1e3)]),
    (makes, (X,), [(X * 20.0,), (X[:0],)]),
    (accumulates, (Frozen(), X), [(Frozen(), X[:0]), (Doubling(), X)]),
]

test_same_answers = same_answers(CASES, PYTHON)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind is not Counting])
def test_stores_are_captured(kind):
    for program in [accumulates, sets_by_name, passes_by] + [sets_new] * (kind is not Slotted):
        assert_nothing_breaks(program, kind(), X)


def test_tables_are_guarded():
    assert_nothing_breaks(sets_made, Registered(), X)
    assert_nothing_breaks(accumulates, Registered(), X)


def outcome(f, target):
    """The result or the error's text, and the attributes afterwards."""
    try:
        found = f(target, X)
    except TypeError as error:
        found = str(error)
    return repr(found), vars(target)


@pytest.mark.parametrize("program", [accumulates, sets_by_name, passes_by])
def test_methods_of_classes_in_c(program):
    """Whether ``object.__setattr__`` refuses such objects depends on the Python."""
    j = jitted(program)
    for _ in range(3):
        assert outcome(j, Local()) == outcome(program, Local())


def test_methods_that_change_between_calls():
    class Changing(Doubling):
        pass

    class Plain(Doubling):
        pass

    def both():
        """Plain and captured results with the class as it is now."""
        return accumulates(Changing(), X), j(Changing(), X)

    j = jitted(accumulates)
    changes = [lambda self, name, value: object.__setattr__(self, name, value - 1.0), Doubling.__setattr__,
               object.__setattr__, Limited.__setattr__]
    for change in [None, *changes]:
        if change is not None:
            Changing.__setattr__ = change
        for _ in range(3):
            plain, found = both()
            assert plain == found


def test_properties_that_come_between_calls():
    class Changing(Doubling):
        pass

    j = jitted(passes_by)
    for _ in range(3):
        assert np.array_equal(j(Changing(), X), passes_by(Changing(), X))
    Changing.total = property(lambda self: 4.0, lambda self, value: seen.append(value))
    for _ in range(3):
        seen = []
        assert np.array_equal(j(Changing(), X), passes_by(Changing(), X))
        assert seen == [0.0, (X * 2.0 + 1.0).sum()] * 2


def test_explain_names_the_method():
    j = jitted(accumulates)
    for _ in range(3):
        j(Doubling(), X)
    text = pijit.explain(j)
    assert ", 0 breaks" in str(text) and "Doubling.__setattr__" in str(text)
