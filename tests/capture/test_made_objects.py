"""Objects of plain classes that captured code makes: their attributes are values of the kernel, until somebody else
needs the object."""

import dataclasses
import gc
import weakref

import numpy as np
import pytest

from tests.capture.test_polls import NATIVE, PYTHON
from tests.harness import calls_of, check, fail_unless_captured, jitted

X = np.linspace(0.5, 4.0, 12)


class Vec:
    """Three numbers."""

    __slots__ = ("x", "y", "z")

    def __init__(self, x, y, z=0.5):
        self.x = x
        self.y = y
        self.z = z

    def __add__(self, other):
        return Vec(self.x + other.x, self.y + other.y, self.z + other.z)

    def __sub__(self, other):
        return Vec(self.x - other.x, self.y - other.y, self.z - other.z)

    def __mul__(self, k):
        return Vec(self.x * k, self.y * k, self.z * k)

    __rmul__ = __mul__

    def __neg__(self):
        return Vec(-self.x, -self.y, -self.z)

    def __eq__(self, other):
        return self.x == other.x and self.y == other.y and self.z == other.z

    __hash__ = None

    def __bool__(self):
        return self.x != 0.0

    def __getitem__(self, k):
        return self.x * k + self.y

    def dot(self, other):
        return self.x * other.x + self.y * other.y + self.z * other.z

    @property
    def square(self):
        return self.dot(self)

    @classmethod
    def unit(cls, x):
        return cls(x, 0.0, 1.0)

    @staticmethod
    def twice(x):
        return 2.0 * x


class State:
    """Attributes in a dict, some of them by a base class and by the class itself."""

    rate = 0.25

    def __init__(self, level, data=None):
        self.level = level
        if data is not None:
            self.data = data
        self.steps = 0

    def step(self, by):
        self.level = self.level * self.rate + by
        self.steps += 1
        return self.level


class Tuned(State):
    def __init__(self, level, data, gain):
        super().__init__(level, data)
        self.gain = gain

    def step(self, by):
        return super().step(by * self.gain)


@dataclasses.dataclass
class Point:
    x: float
    y: float = 2.0

    def scaled(self, k):
        return Point(self.x * k, self.y * k)


@dataclasses.dataclass(frozen=True)
class Fixed:
    x: float
    y: float = 2.0

    def scaled(self, k):
        return Fixed(self.x * k, self.y)


def dies_at_once(a, b):
    v, w = Vec(a, b, 1.0), Vec(b, a, 2.0)
    return (v + w * 2.0 - v * a).dot(v) + (3.0 * w).dot(-w) + v.square + Vec.unit(a).dot(w) + v.twice(b) + w[3]


def is_returned(a, b):
    v = Vec(a, b)
    return v + v * b


def leaves_in_many_places(a, b):
    v = Vec(a, b, a * b)
    w = v + v * b
    return [v, w, v, (w, {"v": v}), State(w, v)]


def is_asked(a, b):
    v, w = Vec(a, b), Vec(a, b)
    known = [v is w, v is v, v is None, isinstance(v, Vec), isinstance(v, State), type(v) is Vec, hasattr(v, "x"),
             getattr(v, "nothing", 3.0), v.__class__ is Vec]
    return known, v == w, v != w, not v, 1.0 if v else 2.0


def keeps_order(a, b):
    s = State(a)
    s.late = b
    s.level = a + b * b + a
    t = State(b, s)
    t.more = s
    s.step(a)
    return s, t, s.steps


def changes_by_methods(a, b):
    s, t = State(a), Tuned(b, X, a)
    s.step(b)
    t.step(b)
    t.gain += 1.0
    return s.level + t.step(a) + s.rate, s, t


def of_arrays(x, k):
    s = State(x, Vec(x * k, x, k))
    s.level = s.level + s.data.x
    return s.data.y * s.level + s.data.z, s


def carried(n, dt):
    p, v = Vec(0.0, 0.0, 0.0), Vec(1.0, 2.0, 3.0)
    for i in range(n):
        v = v - p * dt
        p = p + v * dt
    return p, v, p.dot(v)


def best_of(n, k):
    best = last = Vec(0.0, 0.0)
    for i in range(n):
        here = Vec(float(i % 7) * k, float(i % 5))
        if here.x > best.x:
            best = here
        last = here
    return best, last, best is last


def starts_with_an_argument(p, n):
    for i in range(n):
        p = p + p * 0.25
    return p


def with_prints(n, dt):
    p, total = Vec(1.0, 2.0), 0.0
    seen = []
    for i in range(n):
        p = p + p * dt
        q = p - Vec(dt, dt)
        total += q.x
        if i % 5 == 3:
            print(i, p.x, q.z)
            seen.append(p)
    return p, q, total, seen


def appended(n, dt):
    path, p = [], Vec(0.0, 1.0)
    for i in range(n):
        path.append(p)
        p = p + Vec(dt, dt)
        path.append(p)
    return path, p


def data_classes(n, k):
    p, q = Point(1.0), Fixed(k, 3.0)
    for i in range(n):
        p = p.scaled(k)
        q = q.scaled(p.y)
    return p, q, p.x + q.x


def counted(n, k):
    """Objects that a loop changes."""
    stats, other = State(k), State(0.0, 1)
    for i in range(n):
        if i % 3:
            stats.step(k)
        else:
            other.level += stats.level
        other.steps, stats.data = stats.steps, i
    return stats, other, stats.level + other.level


def changed_and_shown(n, k):
    stats, other, last = State(k), State(0.0), None
    for i in range(n):
        stats.level += k
        other.steps += 1
        if i % 4 == 2:
            print(i, stats.level, other.steps)
        if i % 7 == 5:
            print(vars(other))
            last = other
            other = State(k)
    return stats, other, last


def changed_and_kept(n, k):
    kept, s = [], State(k)
    for i in range(n):
        s.level += 1.0
        if i % 5 == 3:
            kept.append(s)
            s = State(s.level * k)
    s = None
    return kept


def index_error_later(x, n):
    s = State(0.0)
    for i in range(n):
        s.level += x[i]
        s.steps += 1
    return s


def caught(x, n):
    s = State(0.0)
    for i in range(n):
        try:
            s.level += x[i]
            s.steps += 1
        except IndexError as error:
            s.data = str(error)
    return s


def conditional(a, b):
    v = Vec(a, b) if a > b else Vec(b, a, 4.0)
    w = v
    if b > 3.0:
        w = Vec(b, b)
    return v, w, v.x * w.y


def nested(a, b):
    s = State(Vec(a, b), Vec(b, a))
    s.level = s.level + s.data
    t = State(s.level, s)
    return t.data.level.x + t.level.y, t, s


PROGRAMS = [
    (dies_at_once, (1.5, 2.5), [(2, 3.5), (0.0, -1.0)]),
    (is_returned, (1.5, 2.5), [(2, 3), (np.float64(2.0), 3.5)]),
    (leaves_in_many_places, (1.5, 2.5), [(2, 3)]),
    (is_asked, (1.5, 2.5), [(0.0, 1.0)]),
    (keeps_order, (1.5, 2.5), [(2, 3)]),
    (changes_by_methods, (1.5, 2.5), [(0.5, 3.0)]),
    (of_arrays, (X, 2.0), [(X[::2], 3.0)]),
    (carried, (20, 0.1), [(0, 0.1), (1, 0.5)]),
    (best_of, (30, 1.0), [(0, 1.0), (1, 1.0), (7, 2.0)]),
    (starts_with_an_argument, (Vec(1.0, 2.0), 9), [(Vec(1.0, 2.0), 0), (Vec(1, 2), 3)]),
    (with_prints, (23, 0.1), [(2, 0.5)]),
    (appended, (10, 0.1), [(0, 0.5)]),
    (data_classes, (10, 1.5), [(0, 1.5)]),
    (counted, (20, 0.5), [(0, 0.5), (1, 1.5)]),
    (changed_and_shown, (30, 0.5), [(1, 0.5)]),
    (changed_and_kept, (30, 0.5), [(1, 0.5)]),
    (index_error_later, (X, 12), [(X, 0), (X, 14)]),
    (caught, (X, 12), [(X, 0), (X, 14)]),
    (conditional, (1.5, 2.5), [(2.5, 1.5), (1.0, 4.0), (5.0, 4.0)]),
    (nested, (1.5, 2.5), [(2, 3)]),
]


@pytest.mark.parametrize("config", [NATIVE, PYTHON], ids=["numba", "python"])
@pytest.mark.parametrize("f, args, others", PROGRAMS, ids=[row[0].__name__ for row in PROGRAMS])
def test_programs(f, args, others, config, little_work):
    with fail_unless_captured():
        check(f, *args, others=others, config=config)


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
