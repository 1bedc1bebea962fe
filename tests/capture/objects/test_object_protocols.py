"""What Python asks of classes: __new__, super() in class methods, operators that decline, properties that are set."""

import dataclasses

import numpy as np
import pytest

from tests.capture.exits.test_polls import NATIVE, PYTHON
from tests.harness import assert_nothing_breaks, check, fail_unless_captured, jitted

X = np.linspace(0.5, 4.0, 6)


class Base:
    made = 3

    def __init__(self):
        super().__init__()
        self.level = 1.0

    @classmethod
    def start(cls, level):
        self = cls()
        self.level = level * cls.made
        return self

    @staticmethod
    def twice(x):
        return 2.0 * x


class Derived(Base):
    made = 5

    def __new__(cls, *args):
        self = super().__new__(cls)
        self.early = 0.25
        return self

    def __init__(self, extra=0.5):
        super().__init__()
        self.extra = extra + self.early

    @classmethod
    def start(cls, level):
        self = super().start(level + 1.0)
        self.extra = super(Derived, cls).twice(level)
        return self


class Number:
    """Is no object of itself."""

    def __new__(cls, x):
        return x * 2.0

    def __init__(self, x):
        raise RuntimeError("never")


class Changes:
    def __new__(cls, box, k):
        box.level = k
        return object.__new__(cls)

    def __init__(self, box, k):
        self.level = box.level + k


class Money:
    def __init__(self, amount):
        self.amount = amount

    def __add__(self, other):
        if isinstance(other, Money):
            return Money(self.amount + other.amount)
        if isinstance(other, float):
            return Money(self.amount + other)
        return NotImplemented

    def __radd__(self, other):
        return Money(other * 0.5 + self.amount)

    def __iadd__(self, other):
        if not isinstance(other, Money):
            return NotImplemented
        self.amount += other.amount
        return self

    def __mul__(self, other):
        return Money(self.amount * other)

    def __lt__(self, other):
        return self.amount < other.amount if isinstance(other, Money) else NotImplemented

    def __eq__(self, other):
        return self.amount == other.amount if isinstance(other, Money) else NotImplemented

    __hash__ = None


class Euro(Money):
    """Reflects as its base does."""


class Yen(Money):
    def __radd__(self, other):
        return Yen(other.amount - self.amount)


class Change:
    def __init__(self, cents):
        self.cents = cents

    def __radd__(self, other):
        return Change(self.cents + other.amount)

    def __gt__(self, other):
        return self.cents > other.amount


@dataclasses.dataclass
class Point:
    x: float
    y: float = 1.0


class Tank:
    limit = 8.0

    def __init__(self, level):
        self.level = level

    @property
    def level(self):
        return self._level

    @level.setter
    def level(self, value):
        if value < 0.0:
            raise ValueError("below the bottom: %r" % value)
        self._level = min(float(value), self.limit)


class Small(Tank):
    limit = 2.0


def made_by_new(a, b):
    d, e = Derived(), Derived(a)
    d.level += b * e.extra
    return d, e, Number(a) + b, d.early


def made_and_changed(a, b):
    box = Base()
    one = Changes(box, a)
    return one, box, box.level + b * one.level


def by_class_methods(a, b):
    s, t = Base.start(a), Derived.start(b)
    return s, t, s.level * t.level + t.extra + s.made * t.made + Derived.made + t.twice(a)


def sums(a, b):
    m, c, e, y = Money(a), Change(b), Euro(a), Yen(b)
    return m + c, m + a, a + m, 3 + m, m + e, m + y, y + m, e + y, (m + b).amount * (a + e).amount


def sums_in_place(a, b):
    m, n = Money(a), Money(b)
    kept = m
    m += n
    n += b
    return kept is m, m, n, m.amount * n.amount


def with_arrays(x, k):
    return (Money(k) * x).amount + x, Money(x) * k


def compared(a, b):
    m, n, c, p, e = Money(a), Money(b), Change(b), Point(a), Euro(a)
    return (m < n, m > n, m < c, m == n, m != n, m == 3, m != "text", None == m, m == p, p == m, p == Point(a),
            p != p, p == None, p != 3, m == e, e != m, e < n, a * b + m.amount)


def nobody_adds(a, b):
    s = a * b + 1.0
    return Money(s) + "text"


def nobody_compares(a, b):
    s = a * b + 1.0
    return Money(s) < s


def filled(x, k):
    tank, small = Tank(0.0), Small(k)
    for v in x:
        tank.level += v
        small.level = tank.level * k
    return tank, small, tank.level + small.level


def emptied(tank, k):
    for i in range(3):
        tank.level = tank.level - k
    return tank.level


PROGRAMS = [
    (made_by_new, (1.5, 2.5), [(2, 3)]),
    (made_and_changed, (1.5, 2.5), [(2, 3)]),
    (by_class_methods, (1.5, 2.5), [(2, 3)]),
    (sums, (1.5, 2.5), [(2.0, 3.5)]),
    (sums_in_place, (1.5, 2.5), [(2.0, 3.0)]),
    (with_arrays, (X, 2.0), [(X[::2], 3)]),
    (compared, (1.5, 2.5), [(2.5, 1.5), (1.5, 1.5), (2, 3)]),
    (nobody_adds, (1.5, 2.5), []),
    (nobody_compares, (1.5, 2.5), []),
    (filled, (X, 0.25), [(X[:0], 0.25), (-X, 0.25), (X, -1.0)]),
    (emptied, (Tank(4.0), 1.0), [(Tank(1.0), 0.75), (Small(1.0), 0.25)]),
]
FAILING = (nobody_adds, nobody_compares)


@pytest.mark.parametrize("f, args, others", PROGRAMS, ids=[row[0].__name__ for row in PROGRAMS])
def test_programs(f, args, others, little_work):
    with fail_unless_captured(0 if f in FAILING else 1):
        check(f, *args, others=others, config=PYTHON)


@pytest.mark.parametrize("f, args, others", PROGRAMS[1:4] + PROGRAMS[-2:],
                         ids=[row[0].__name__ for row in PROGRAMS[1:4] + PROGRAMS[-2:]])
def test_in_machine_code(f, args, others, little_work):
    with fail_unless_captured():
        check(f, *args, others=others, config=NATIVE)


@pytest.mark.parametrize("f, args, others", PROGRAMS, ids=[row[0].__name__ for row in PROGRAMS])
def test_leaving_anywhere(f, args, others, little_work, leaves_often, open_gates):
    check(f, *args, others=others, config=PYTHON, calls=6)


@pytest.mark.parametrize("f, args", [row[:2] for row in PROGRAMS if row[0] not in FAILING],
                         ids=[row[0].__name__ for row in PROGRAMS if row[0] not in FAILING])
def test_nothing_breaks(f, args, little_work):
    assert_nothing_breaks(f, *args, one_segment=False)


def test_a_class_that_changes(little_work):
    class Box:
        def __new__(cls, x):
            self = object.__new__(cls)
            self.x = x
            return self

    class Other:
        def __radd__(self, other):
            return other.x * 3.0

    def f(a):
        return Box(a) + Other()

    def g(a):
        box = Box(a)
        box.y = a * 2.0 + 1.0
        return box.x + box.y

    j, k = jitted(f, PYTHON), jitted(g, PYTHON)
    assert [j(1.5), j(1.5), k(1.5), k(1.5)] == [4.5, 4.5, 5.5, 5.5]
    Box.__add__ = lambda self, other: NotImplemented
    assert j(1.5) == f(1.5) == 4.5
    Box.__add__ = lambda self, other: self.x
    assert j(1.5) == f(1.5) == 1.5
    Box.y = property(lambda self: 10.0, lambda self, value: None)
    assert k(1.5) == g(1.5) == 11.5
    Box.y = property(lambda self: 10.0, lambda self, value: setattr(self, "x", value))
    assert k(1.5) == g(1.5) == 14.0
    Box.__new__ = lambda cls, x: object.__new__(cls)
    Box.x = 0.0
    assert k(1.5) == g(1.5) == 14.0
