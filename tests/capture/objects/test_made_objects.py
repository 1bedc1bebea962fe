"""Objects of plain classes that captured code makes: their attributes are values of the kernel, until somebody else
needs the object."""

import dataclasses
import sys

import numpy as np
import pytest

from pijit.guards._evaluate import present_dict
from tests.capture.exits.test_polls import NATIVE, PYTHON
from tests.harness import check, fail_unless_captured, jitted

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

    def plus(self, more):
        return self.level + more


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


class Body:
    def __init__(self, pos, vel, mass):
        self.pos = pos
        self.vel = vel
        self.mass = mass

    def move(self, dt):
        self.pos = self.pos + self.vel * dt


def bodies(n, dt):
    sun, one = Body(Vec(0.0, 0.0), Vec(0.0, 0.0), 40.0), Body(Vec(4.8, -1.1), Vec(0.6, 2.8), 0.04)
    two = Body(Vec(8.3, 4.1), Vec(-1.0, 1.8), 0.01)
    for step in range(n):
        for a, b in ((sun, one), (sun, two), (one, two)):
            d = a.pos - b.pos
            pull = dt / (d.dot(d) + 0.1)
            a.vel = a.vel - d * (b.mass * pull)
            b.vel = b.vel + d * (a.mass * pull)
        for a in [sun, one, two]:
            a.move(dt)
        if step % 6 == 4:
            print(step, sun.pos.x, one.vel.y)
    return sun, one, [two, sun], sun.pos.x + two.vel.y


def from_outside(body, n, dt):
    for i in range(n):
        body.pos = body.pos + body.vel * dt
        body.move(dt)
        if i % 5 == 3:
            print(body.pos.x)
    return body.pos.y


def stored_and_found(body, n, dt):
    for i in range(n):
        p = body.pos
        v = Vec(dt, p.x)
        body.vel = v
        if i % 4 == 2:
            body.pos.x = v.y + 1.0
        p = body.vel
        same = p is v, p is body.vel, body.vel is body.pos
        v = v + p
    return same, v, p


def held_by_tuples(a, b):
    v, w = Vec(a, b), Vec(b, a)
    pair = both = (v, w)
    first, second = (v, (w, v))
    twice = ((v, w),) * 2
    found = [t for t in ((v, w), (w, v))]
    s = State((v, w))
    v.x = w.y + b
    for one, other in ((v, w), (w, v)):
        one.y = other.x + a
    return pair, both, first, second, twice, found, s, given((v, w)), (v, w)[0] is v, ((v, w), v)


def changed_inside_others(a, b):
    """Each print begins a segment that finds all of these."""
    t, v, s = State(Vec(a, b), State(b)), Vec(b, a), State(a)
    pair, kept = (v, a), [s]
    inner = t.data
    print(a)
    t.data.level = t.data.level + a
    t.level.x += b
    y = inner.level + t.data.level + t.level.x
    print(y)
    pair[0].x = a * b
    kept[0].level = pair[0].x + y
    y = s.level + v.x + kept[0].level + pair[0].x
    y += s.plus(s.step(b)) + s.plus(t.data.step(a)) * v.x
    print(y)
    return t, pair, kept, inner is t.data, y, s.level


def given(pair):
    one, other = pair
    one.z = other.x
    return pair, one, pair


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


def given_away_in_handlers(xs):
    """A list gets an object that bytecode has had, and that is stored into then."""
    kept, s = [], State(0.0)
    for x in xs:
        v = Vec(x, 0.0)
        try:
            s.level += 1.0 / v.x
        except ZeroDivisionError:
            kept.append(v)
            v.y = -1.0
    return kept, s.level


def stores_below(a, b):
    s = State(a)
    s.level = a + b
    held = s.__dict__
    held["level"] = a * b
    return s.level + b * b, s


PROGRAMS = [
    (given_away_in_handlers, ([1.5, 0.0, 2.5, 0.0],), [([0.0],), ([2.0],), ([],)]),
    (stores_below, (1.5, 2.5), [(2.5, 1.5), (2, 3)]),
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
    (bodies, (13, 0.1), [(0, 0.1), (1, 0.5)]),
    (from_outside, (Body(Vec(1.0, 2.0), Vec(0.5, 0.5), 1.0), 9, 0.25), [(Body(Vec(1, 2), Vec(0, 0), 1), 0, 0.5)]),
    (stored_and_found, (Body(Vec(1.0, 2.0), Vec(0.5, 0.5), 1.0), 9, 0.25), [(Body(Vec(1, 2), Vec(0, 0), 1), 1, 0.5)]),
    (changed_inside_others, (1.5, 2.5), [(2, 3)]),
    (held_by_tuples, (1.5, 2.5), [(2, 3)]),
    (conditional, (1.5, 2.5), [(2.5, 1.5), (1.0, 4.0), (5.0, 4.0)]),
    (nested, (1.5, 2.5), [(2, 3)]),
]


@pytest.mark.parametrize("config", [NATIVE, PYTHON], ids=["numba", "python"])
@pytest.mark.parametrize("f, args, others", PROGRAMS, ids=[row[0].__name__ for row in PROGRAMS])
def test_programs(f, args, others, config, little_work):
    with fail_unless_captured():
        check(f, *args, others=others, config=config)


@pytest.mark.parametrize("f, args, others", PROGRAMS, ids=[row[0].__name__ for row in PROGRAMS])
def test_leaving_anywhere(f, args, others, little_work, leaves_often, open_gates):
    """Objects leave in the middle of everything, and the kernel comes back to those that bytecode has then."""
    check(f, *args, others=others, config=PYTHON, calls=6)


class Summed:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def __iadd__(self, other):
        self.a = self.a + other
        return self

    def __iter__(self):
        yield self.a
        yield self.b


def test_an_object_that_only_the_operand_stack_has():
    """A segment in the middle of a statement asks nothing of the variable that is about to be bound."""
    def f(x, y, s):
        point = Summed(x, s)
        if s in list(x + x):
            y, s = point
        point += y[::-1]
        return point.a, s

    check(f, X, X * 2.0, 0.5, others=[(X, X * 2.0, X[0] * 2.0)], calls=4)


def made_beside_a_break(x, y):
    point = Summed(x.sum(), y)
    point.a = point.a + 1.0
    print(end="")
    return point, point.a * point.b.sum()


def test_guards_make_no_dict_of_made_objects():
    f, x = jitted(made_beside_a_break, {"backend": "numba", "force_breaks": None}), np.arange(3.0)
    for _ in range(4):
        point, product = f(x, x)
        assert product == 12.0 and point.a == 4.0 and point.b is x
        assert (present_dict(point) is None) == (sys.version_info >= (3, 11))  # earlier ones have it from the first attribute on
