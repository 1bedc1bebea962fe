"""Stores into attributes, globals and lists by functions that run inside the caller's kernel."""

import numpy as np
import pytest

import pijit
from tests.capture.containers.effects_common import CUT, launches
from tests.capture.scalars.test_scalars import define
from tests.harness import check, jitted

X = np.linspace(0.0, 1.0, 20)


class Sum:
    """Attributes in a dictionary."""

    def __init__(self, total=0.0, other=None):
        self.total = total
        self.other = other

    def add(self, v):
        self.total += v

    def fold(self, v):
        if v > 0.5:
            self.total = t = self.total + v
        else:
            t = self.total - v
            self.total = t
        return t

    def add_twice(self, v):
        self.add(v)
        return self.total

    def add_to_other(self, v):
        self.other.total = self.total + v


class Best:
    """Not every path writes the same."""

    def __init__(self, best=0):
        self.best = self.count = best

    def note(self, x, i):
        if x[i] > x[self.best]:
            self.best = i
        self.count += 1


class Slots(Sum):
    """The same in slots, but for ``other``."""

    __slots__ = ("total",)


class Checked(Sum):
    """A store that runs code."""

    @property
    def total(self):
        return self._total

    @total.setter
    def total(self, value):
        self._total = value


COUNT = 0


def bump(k):
    global COUNT
    COUNT = COUNT + k


def bumped():
    return COUNT * 2


def adds(acc, x):
    for i in range(len(x)):
        acc.add(x[i])
    return acc.total


def reads_behind(acc, x):
    s = 0.0
    for i in range(len(x)):
        acc.add(x[i])
        s += acc.total * x[i]
        acc.total = s * 0.5
    return s, acc.total


def folds(acc, x):
    s = 0.0
    for i in range(len(x)):
        s += acc.fold(x[i]) * acc.total
    return s


def nests(acc, x):
    s = 0.0
    for i in range(len(x)):
        s += acc.add_twice(x[i])
    return s, acc.total


def two_objects(acc, more, x):
    for i in range(len(x)):
        acc.add(x[i])
        more.add(x[i] * 2.0)
    return acc.total - more.total


def through_another(acc, x):
    for i in range(len(x)):
        acc.add_to_other(x[i])
        acc.add(x[i])
    return acc.total, acc.other.total


def counts(x):
    global COUNT
    s = 0
    for i in range(len(x)):
        bump(i)
        s += COUNT + bumped()
    COUNT = COUNT - 1
    return s, COUNT


def put(values, i, v):
    values[i] = v


def puts(values, x):
    for i in range(len(x)):
        put(values, i, x[i])
        put(values, 0, x[i] * 2.0)
    return values


def push(values, v):
    values.append(v)


def pushes(values, x):
    s = 0.0
    for i in range(len(x)):
        push(values, x[i])
        s += x[i]
    return s


def overflows(acc, n):
    for i in range(n):
        acc.add(2 ** 62)
    return acc.total


def leaves_behind_a_call(acc, x, k):
    s = 0.0
    for i in range(len(x)):
        s += acc.add_twice(x[i]) * x[i + k]
    return s


def finds_best(b, x):
    s = 0
    for i in range(len(x)):
        b.note(x, i)
        s += b.best
    return s, b.best, b.count


SELF = Sum(1.0)
SELF.other = SELF
PROGRAMS = [
    (adds, lambda: (Sum(), X), [lambda: (Sum(1), X), lambda: (Slots(), X), lambda: (Checked(), X),
                                lambda: (Sum("a"), X), lambda: (Sum(), X.astype("f")), lambda: (Sum(X), X)]),
    (reads_behind, lambda: (Sum(), X), [lambda: (Slots(2.0), X), lambda: (Checked(), X)]),
    (folds, lambda: (Sum(0.0), X), [lambda: (Sum(1), X), lambda: (Slots(1.0), X[::-1])]),
    (nests, lambda: (Sum(), X), [lambda: (Slots(3), X), lambda: (Sum(), X[:0])]),
    (two_objects, lambda: (Sum(), Sum(1.0), X), [lambda: (lambda s: (s, s, X))(Sum()), lambda: (Sum(), Slots(), X)]),
    (through_another, lambda: (Sum(0.0, Sum(1.0)), X), [lambda: (SELF, X), lambda: (Sum(0.0, None), X)]),
    (puts, lambda: ([0.0] * 20, X), [lambda: ([0.0] * 5, X), lambda: ([], X), lambda: ((), X)]),
    (pushes, lambda: ([], X), [lambda: ([1], X), lambda: ((), X)]),
    (finds_best, lambda: (Best(), X), [lambda: (Best(), X[::-1]), lambda: (Best(3), X[:4]), lambda: (Best(0.0), X)]),
    (overflows, lambda: (Sum(0), 1), [lambda: (Sum(0), 5), lambda: (Sum(0.0), 5)]),
    (leaves_behind_a_call, lambda: (Sum(), X, -1), [lambda: (Sum(), X, 1), lambda: (Sum(2), X, 0),
                                                    lambda: (Slots(), X, -30)]),
]


@pytest.mark.parametrize("f, args, others", PROGRAMS, ids=[row[0].__name__ for row in PROGRAMS])
def test_effects_of_inlined_functions(f, args, others):
    check(f, *args(), others=[make() for make in others])
    assert not [one for one in pijit.explain(f, *args()).breaks if one.reason_id in ("PJ220", "PJ230", "PJ231")]


@pytest.mark.parametrize("f, args, others", PROGRAMS[:9], ids=[row[0].__name__ for row in PROGRAMS[:9]])
def test_the_loop_is_one_kernel(f, args, others):
    if not CUT:
        assert 1 <= launches(jitted(f), *args()) <= 2


@pytest.mark.parametrize("f", [adds, counts, folds])
def test_effects_in_machine_code(f):
    arguments = (X,) if f is counts else (Sum(), X)
    check(f, *arguments, config={"backend": "numba", "force_breaks": None})


def test_globals_of_one_module():
    check(counts, X, others=[(X[:1],), (X[:0],)])
    assert not pijit.explain(counts, X).breaks


def test_globals_of_the_same_name_in_two_modules():
    other = define("COUNT = 100.0\ndef f(k):\n    global COUNT\n    COUNT = COUNT + k\n    return COUNT")
    reader = define("COUNT = 7.0\ndef f():\n    return COUNT")
    f = define("""
COUNT = 0.0
def f(x):
    global COUNT
    s = 0.0
    for i in range(len(x)):
        COUNT = COUNT + x[i]
        s += reader() * COUNT
        s += g(x[i])
    return s, COUNT
""", g=other, reader=reader)
    j = jitted(f)
    for _ in range(3):
        other.__globals__["COUNT"] = f.__globals__["COUNT"] = 1.0
        wanted = f(X), other.__globals__["COUNT"]
        other.__globals__["COUNT"] = f.__globals__["COUNT"] = 1.0
        assert (j(X), other.__globals__["COUNT"]) == wanted


def test_an_exception_behind_the_effect_of_a_callee():
    def f(acc, x, k):
        try:
            for i in range(len(x)):
                y = acc.add_twice(x[i]) + x[i + k]
        except IndexError as error:
            return str(error), acc.total
        return y, acc.total
    check(f, Sum(), X, 0, others=[(Sum(), X, 5), (Sum(), X, -99)])
