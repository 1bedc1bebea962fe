"""Named tuples, and other objects of classes of tuples, that captured code makes: their items are its values."""

import collections
import gc
import typing

import numpy as np
import pytest

import pijit
from tests.capture.exits.test_polls import NATIVE, PYTHON
from tests.harness import assert_nothing_breaks, check, fail_unless_captured, jitted

X = np.linspace(0.5, 4.0, 12)

Pair = collections.namedtuple("Pair", "x y", defaults=(2.0,))
Empty = collections.namedtuple("Empty", "")


class Vec(typing.NamedTuple):
    """Methods beside the fields."""

    x: float
    y: float
    z: float = 0.5

    def __add__(self, other):
        return Vec(self.x + other.x, self.y + other.y, self.z + other.z)

    def __mul__(self, k):
        return Vec(self.x * k, self.y * k, self.z * k)

    def dot(self, other):
        return sum(a * b for a, b in zip(self, other))

    @property
    def square(self):
        return self.dot(self)

    @classmethod
    def unit(cls, x):
        return cls(x, 0.0, 1.0)


class Named(Pair):
    """A subclass that has a dict, and a way of its own to be made."""

    def __new__(cls, x, y):
        return super().__new__(cls, x + 1.0, y)

    def total(self):
        return self.x + self.y


class Slim(Pair):
    __slots__ = ()

    def __eq__(self, other):
        return self.x == other.x

    __hash__ = None


class Row(tuple):
    """No named tuple."""

    def __new__(cls, *items):
        return tuple.__new__(cls, items)

    @property
    def last(self):
        return self[-1]


class Turned(Pair):
    def __reversed__(self):
        return iter([7.0, 8.0])


class Loud(Pair):
    """Reads items in its own way."""

    def __getitem__(self, k):
        return 100.0 + k


def dies_at_once(a, b):
    v, w = Vec(a, b, 1.0), Vec(y=b, x=a)
    x, y, z = v
    return (v + w * 2.0).dot(v) + v.square + Vec.unit(a).dot(w) + v[0] + w[-1] + x * y * z + len(v)


def is_returned(a, b):
    return Pair(a * b + a, b * a - b)


def leaves_in_many_places(a, b):
    p = Pair(a, b * 2.0)
    q = p._replace(x=b)
    return [p, q, p, (q, {"p": p}), Pair(q, p)], p is q, Empty(), type(p), Named(a, b), Slim(a, b), Row(a, b, p)


def reads(a, b):
    p, r, n = Pair(a, b), Row(a, b, a), Named(a, b)
    known = [isinstance(p, tuple), isinstance(p, Pair), isinstance(p, Vec), type(p) is Pair, p is p, not p,
             not Empty()]
    return (known, p == (a, b), p != Pair(a, b), p == Pair(b, b), (a, b) == p, a in p, p[:1], p[:], tuple(p), list(p),
            sum(p), max(p), [c * 2.0 for c in p], r.last, r[1:], n.total(), n.x, n[0], p._asdict(), p._fields,
            Pair._make([a, b]), Pair._make((b, a)).x, Slim(a, b) == Slim(a, a), spread(*p), spread(*r[:2]))


def spread(x, y):
    return x - y


def its_own_items(a, b):
    p = Loud(a, b)
    return p[0] + p.x, p[1] + p.y, p


def carried(n, dt):
    p, v = Vec(0.0, 0.0, 0.0), Vec(1.0, 2.0, 3.0)
    for i in range(n):
        v = v + p * -dt
        p = p + v * dt
    return p, v, p.dot(v)


def state_machine(x, k):
    s = Pair(0.0, 0)
    for v in x:
        s = s._replace(x=s.x * k + v) if v > 1.0 else s._replace(y=s.y + 1)
    return s, s.x, s.y


def best_of(n, k):
    best = last = Pair(0.0)
    for i in range(n):
        here = Pair(float(i % 7) * k, float(i % 5))
        if here.x > best.x:
            best = here
        last = here
    return best, last, best is last


def starts_with_an_argument(p, n):
    q = p._replace(y=0.25)
    for i in range(n):
        p = Pair(p.x + p.y * 0.25, p[1] + q.y)
    return p, q


def with_prints(n, dt):
    p, total, seen = Vec(1.0, 2.0), 0.0, []
    for i in range(n):
        p = p + p * dt
        q = p + Vec(dt, dt)
        total += q.x
        if i % 5 == 3:
            print(i, p.x, q)
            seen.append(p)
    return p, q, total, seen


def appended(n, dt):
    path, p = [], Pair(0.0, 1.0)
    for i in range(n):
        path.append(p)
        p = Pair(p.x + dt, p.y * dt)
        path.append(p)
    return path, p


def of_arrays(x, k):
    s = Pair(x * k, x)
    t = Pair(s.x + s.y, s)
    return t.y.x * t.x, t, s


def steps(n, k):
    s = Pair(Vec(k, k), [1.0])
    for i in range(n):
        s = step(s, k)
    return s


def step(s, k):
    v, seen = s
    seen.append(v.x)
    return Pair(v + v * k, seen)


def of_an_argument(p, q, k):
    s = 0.0
    for c in p:
        s += c * k
    for c in reversed(p):
        s = s * k + c
    return (s, sum(a * b for a, b in zip(p, q)), max(p), spread(*p[:2]), p[1:], p[:], list(p), tuple(p), p == q,
            p != q, p == (1.0, 2.0), p._replace(x=k), [c + k for c in p], k in p)


def stops_early(p, x):
    """Leaves in the middle of the items."""
    s = 0.0
    for c in p:
        s += x[int(c)]
    return s


def caught(x, n):
    s = Pair(0.0, 0)
    for i in range(n):
        try:
            s = Pair(s.x + x[i], s.y + 1)
        except IndexError as error:
            s = s._replace(y=str(error))
    return s


def wrong_fields(a, b):
    p = Pair(a, b)
    s = a * b + p.x
    if s > 6.0:
        return Pair._make([a, b, s])
    return p._replace(z=s)


def cannot_be_changed(a, b):
    p = Pair(a, b)
    p.x = a * b + p.y
    return p


class Adding(Pair):
    """Its own sums and products, also from the right; its own search."""

    def __add__(self, other):
        return "sum", len(other)

    def __radd__(self, other):
        return "sum from the right", len(other)

    def __mul__(self, k):
        return "product", k

    __rmul__ = __mul__

    def index(self, value):
        return -5


Indexed = collections.namedtuple("Indexed", "index count")


def joins(a, b):
    s = 0.0
    for k in range(10):
        s += k * a
    p, e = Pair(s * b, b), Empty()
    return (p + (a, p.x), (b,) + p, p + Pair(a, p.x), p * 2, 2 * p, p * 1, p * 0, e + (a,), e + e, () + p, p + (),
            type(p + ()), type(p * 1))


def joins_arguments(p, q, k):
    total = 0.0
    for item in p + q + q * 2:
        total += item * k
    return total, p + q, q + p, q * 1


def searches(p, a, b):
    made = Pair(a * 2.0, b * 2.0)
    found = made.index(b * 2.0), made.count(a * 2.0), made.count(50.0), p.index(p[1]), p.count(p[0])
    return found, made.index(a)


def keeps_methods(p, a):
    find = p.index
    return find.__self__ is p, find(p[0]) + a * 2.0


PROGRAMS = [
    (dies_at_once, (1.5, 2.5), [(2, 3.5), (0.0, -1.0)]),
    (is_returned, (1.5, 2.5), [(2, 3), (np.float64(2.0), 3.5)]),
    (leaves_in_many_places, (1.5, 2.5), [(2, 3)]),
    (reads, (1.5, 2.5), [(2, 3), (1.5, 1.5)]),
    (its_own_items, (1.5, 2.5), [(2, 3)]),
    (carried, (20, 0.1), [(0, 0.1), (1, 0.5)]),
    (state_machine, (X, 0.5), [(X[:0], 0.5), (X[:1], 2)]),
    (best_of, (30, 1.0), [(0, 1.0), (1, 1.0), (7, 2.0)]),
    (starts_with_an_argument, (Pair(1.0, 2.0), 9), [(Pair(1.0, 2.0), 0), (Pair(1, 2), 3), (Slim(1.0, 2.0), 3)]),
    (with_prints, (23, 0.1), [(2, 0.5)]),
    (appended, (10, 0.1), [(0, 0.5)]),
    (of_arrays, (X, 2.0), [(X[::2], 3.0)]),
    (steps, (8, 0.5), [(0, 0.5)]),
    (of_an_argument, (Pair(1.0, 2.0), Pair(1.0, 3.0), 0.5), [
        (Pair(1, 2), (1, 2), 2), (Turned(1.0, 2.0), Pair(1.0, 2.0), 0.5),
        (Slim(1.0, 2.0), Pair(1.0, 2.0), 0.5), (Loud(1.0, 2.0), (3.0, 4.0), 0.5)]),
    (stops_early, (Pair(1.0, 2.0), X), [(Pair(3, 50), X), (Pair(60, 1), X)]),
    (caught, (X, 12), [(X, 0), (X, 14)]),
    (joins, (1.5, 2.5), [(2, 3), (0.0, -1.0)]),
    (joins_arguments, (Pair(1.0, 2.0), Pair(1.0, 3.0), 0.5), [
        (Pair(1, 2), (1, 2), 2), (Pair(1.0, 2.0), Slim(3.0, 4.0), 1.0), (Pair(1.0, 2.0), (), 0.5)]),
    (searches, (Pair(1.0, 2.0), 0.0, 2.5), [(Pair(1, 2), 0, 3), (Pair(1.0, 2.0), 1.5, 2.5), ((1, 2), 0, 1)]),
    (keeps_methods, (Pair(1.0, 2.0), 2.5), [(Adding(1.0, 2.0), 2.5), (Indexed(len, 3), 1.0)]),
    (cannot_be_changed, (1.5, 2.5), [(2, 3)]),
    (wrong_fields, (1.5, 2.5), [(2, 3)]),
]
COMPILED = (leaves_in_many_places, carried, best_of, with_prints, appended)
IN_MACHINE_CODE = [row for row in PROGRAMS if row[0] in COMPILED]
NOT_CAPTURED = (its_own_items, cannot_be_changed, wrong_fields, keeps_methods)


@pytest.mark.parametrize("f, args, others", PROGRAMS, ids=[row[0].__name__ for row in PROGRAMS])
def test_programs(f, args, others, little_work):
    with fail_unless_captured(0 if f in NOT_CAPTURED else 1):
        check(f, *args, others=others, config=PYTHON)


@pytest.mark.parametrize("f, args, others", IN_MACHINE_CODE, ids=[row[0].__name__ for row in IN_MACHINE_CODE])
def test_in_machine_code(f, args, others, little_work):
    with fail_unless_captured():
        check(f, *args, others=others, config=NATIVE)


@pytest.mark.parametrize("f, args, others", PROGRAMS, ids=[row[0].__name__ for row in PROGRAMS])
def test_leaving_anywhere(f, args, others, little_work, leaves_often, open_gates):
    """They leave in the middle of everything, and the kernel comes back to those that bytecode has then."""
    check(f, *args, others=others, config=PYTHON, calls=6)


@pytest.mark.parametrize("f, args", [row[:2] for row in PROGRAMS if row[0] not in NOT_CAPTURED and row[0] not in (
    with_prints, caught)], ids=lambda value: getattr(value, "__name__", ""))
def test_nothing_breaks(f, args, little_work):
    if f is reads and not hasattr(Pair(1, 2)._asdict(), "__or__"):
        pytest.skip("_asdict gives an OrderedDict")
    assert_nothing_breaks(f, *args, one_segment=False)


@pytest.mark.parametrize("kind", [Adding, Named, Slim, Pair, Indexed])
def test_methods_of_subclasses(kind, little_work):
    p = kind(1.0, 2.0)
    for f in (joins_of, lambda p: (p * 2.0 if kind is Adding else p * 2, p[0] * 3.0)):
        check(f, p, config=PYTHON, others=[(Pair(1.0, 2.0),), ((1.0, 2.0),)])
    check(searches, p, 0.0, 2.5, config=PYTHON) if kind is not Indexed else None


def joins_of(p):
    return p + (p[0] * 2.0,), (p[0] * 3.0,) + p


def test_a_method_that_the_class_gets_later(little_work):
    class Point(typing.NamedTuple):
        x: float
        y: float

    def moved(a, b):
        p = Point(a, b)
        return p._replace(x=p.y)[0] + p.x, p

    j = jitted(moved, PYTHON)
    assert [j(1.5, 2.5), j(1.5, 2.5)] == [moved(1.5, 2.5)] * 2
    Point._replace = lambda self, x: (x * 100.0, self)
    assert j(1.5, 2.5) == moved(1.5, 2.5) == (251.5, (1.5, 2.5))
    Point.__new__ = lambda cls, x, y: tuple.__new__(cls, (y, x))
    assert j(1.5, 2.5) == moved(1.5, 2.5) == (152.5, (2.5, 1.5))


def test_defaults_that_change(little_work):
    Point = collections.namedtuple("Point", "x y", defaults=(1.0,))

    def f(a):
        return Point(a * 2.0 + 1.0).y + a

    j = jitted(f, PYTHON)
    assert [j(1.5), j(1.5)] == [2.5, 2.5]
    Point.__new__.__defaults__ = (5.0,)
    assert j(1.5) == f(1.5) == 6.5


@pytest.mark.parametrize("config", [NATIVE, PYTHON], ids=["numba", "python"])
def test_the_collector_sees_them(config, little_work):
    """They are made as Python makes them: the collector finds a cycle through one."""
    def f(a, held):
        p = Pair(a * 2.0 + 1.0, held)
        return p

    j = jitted(f, config)
    found = [j(1.5, []) for _ in range(3)]
    assert all(gc.is_tracked(p) and p == (4.0, []) for p in found)
    assert type(found[-1]) is Pair and not gc.get_referrers(found[-1]) == []


def test_what_is_said_where_one_is_not_made():
    class Meta(type):
        pass

    class Odd(Pair, metaclass=Meta):
        pass

    def f(a):
        return Odd(a + 1.0, a).x + a * 2.0

    report = str(pijit.explain(pijit.jit(f, jit_config=PYTHON), 1.5))
    assert "PJ2" in report
