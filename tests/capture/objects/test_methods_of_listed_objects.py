"""Long lists of objects of one class: methods, properties and operators are inlined, whatever leads to the object."""

import collections
import gc
import heapq
import weakref
from dataclasses import dataclass

import numpy as np
import pytest

from tests.capture.containers.effects_common import launches
from tests.capture.exits.test_polls import NATIVE, PYTHON
from tests.capture.objects.test_list_elements import Slotted, particles
from tests.harness import assert_nothing_breaks, check, fail_unless_captured, jitted, mode_config


class Body:
    mass = 2.0

    def __init__(self, x, v):
        self.x = x
        self.v = v
        self.f = 0.0

    def step(self, dt):
        self.v += self.f * dt
        self.x += self.v * dt
        self.f = 0.0

    def pull(self, other):
        apart = other.x - self.x
        force = self.mass * other.mass * apart / (abs(apart) ** 3 + 0.1)
        self.f += force
        other.f -= force

    @property
    def momentum(self):
        return self.mass * self.v

    @momentum.setter
    def momentum(self, value):
        self.v = value / self.mass

    @classmethod
    def weight(cls):
        return cls.mass * 9.81

    @staticmethod
    def twice(x):
        return 2.0 * x

    def __call__(self, t):
        return self.x + self.v * t

    def __lt__(self, other):
        return self.x < other.x


class Heavy(Body):
    mass = 20.0

    def step(self, dt):
        super().step(dt * 0.5)


@dataclass
class Point:
    x: float
    y: float = 0.5

    def __add__(self, other):
        return Point(self.x + other.x, self.y + other.y)

    def __mul__(self, k):
        return Point(self.x * k, self.y * k)

    def dot(self, other):
        return self.x * other.x + self.y * other.y


class Mover:
    __slots__ = ("place", "speed", "path")

    def __init__(self, place, speed):
        self.place, self.speed, self.path = place, speed, []

    def move(self, dt):
        self.place = self.place + self.speed * dt

    def note(self):
        self.path.append(self.place.x)


class Cell:
    def __init__(self, w):
        self.w = w
        self.near = []
        self.total = 0.0

    def gather(self):
        total = 0.0
        for cell in self.near:
            total += cell.w
        self.total = total
        return total


class World:
    def __init__(self, bodies, dt):
        self.bodies, self.dt, self.x = bodies, dt, 0.0

    def advance(self, n):
        for step in range(n):
            for body in self.bodies:
                body.step(self.dt)
            self.x += self.dt
        return self.x


def bodies(n, kind=Body):
    return [kind(0.5 * k, 1.0 + k) for k in range(n)]


def movers(n):
    return [Mover(Point(0.5 * k), Point(1.0, 0.1 * k)) for k in range(n)]


def ring(n):
    cells = [Cell(0.25 * k) for k in range(n)]
    for k, cell in enumerate(cells):
        cell.near = [cells[k - 1], cells[(k + 1) % n]] * 10
    return cells


def odd(change, n=40, k=20):
    found = bodies(n)
    change(found, k)
    return found


def of_another_class(found, k):
    found[k] = Heavy(3.0, 2.0)


def of_another_type(found, k):
    found[k].x = 7


def lacking(found, k):
    del found[k].v


def a_number(found, k):
    found[k] = 2.5


def stepped(ps, dt, n):
    for _ in range(n):
        for p in ps:
            p.step(dt)
    return [p.x for p in ps], sum(p.momentum for p in ps)


def counted(ps):
    s = 0.0
    for k, p in enumerate(ps):
        s += k * p.momentum + p(0.5) + p.twice(k) * p.weight()
    return s


def together(ps, qs):
    s = 0.0
    for p, q in zip(ps, qs):
        p.momentum = q.x
        s += p.x * q.v + q.mass
    return s


def pairs(ps):
    for i in range(len(ps)):
        for j in range(i + 1, len(ps)):
            ps[i].pull(ps[j])
    return [p.f for p in ps]


def indexed(ps, k):
    s = 0.0
    for i in range(len(ps)):
        p = ps[i]
        s += p.momentum if p.x > k else ps[-i].x
    return s, p


def chosen(ps):
    best = max(ps, key=lambda p: p.x * 0.5)
    first = min(ps, key=lambda p: p.momentum)
    order = [p.v for p in sorted(ps, key=lambda p: -p.x)]
    return best.x, first.v, order, [p.x for p in ps if p.v > 10.0], any(p.x > 3.0 for p in ps)


def moved(ms, dt):
    for m in ms:
        m.move(dt)
    return sum(m.place.dot(m.speed) for m in ms)


def noted(ms, dt, n):
    s = 0.0
    for _ in range(n):
        for m in ms:
            m.move(dt)
            m.note()
            s += len(m.path)
    return s


def gathered(cells):
    s = 0.0
    for cell in cells:
        s += cell.gather()
    return s, [cell.total for cell in cells]


def made_here(n, dt):
    ps = [Body(0.1 * k, 0.2 + k) for k in range(n)]
    for _ in range(5):
        for p in ps:
            p.step(dt)
    return sum(p.momentum for p in ps), ps[-1].x


def grown(n):
    ps = []
    for k in range(n):
        ps.append(Point(float(k), k * 0.5))
    total = Point(0.0, 0.0)
    for p in ps:
        total = total + p * 2.0
    return total.x, total.y


def of_the_world(world, n):
    return world.advance(n), world.bodies[5].x


def told(ps, dt):
    s = 0.0
    for k, p in enumerate(ps):
        p.step(dt)
        s += p.x
        if k % 16 == 0:
            print(k, p.x)
    return s


def handed_on(ps, log):
    """What bytecode does with the object."""
    s = 0.0
    for p in ps:
        s += p.momentum
        log.append(repr(type(p)))
    return s


def is_one(ps, q):
    s = 0.0
    for p in ps:
        if p is q:
            continue
        if p is not None and isinstance(p, Body):
            s += p.x
    return s


def others_of(ps):
    """The force of all others on each, as bodies are compared by identity."""
    for p in ps:
        for q in ps:
            if p is not q:
                p.f += q.x - p.x
    return [p.f for p in ps]


def raising(ps, dt):
    s = 0.0
    for p in ps:
        p.step(dt)
        s += 1.0 / (p.x - 7.0)
    return s


SHARED = bodies(40)
TIES = [Body(float(k % 3), float(k)) for k in range(30)]
PROGRAMS = [
    (stepped, (bodies(40), 0.25, 3), [(bodies(40, Heavy), 0.25, 2), (bodies(3), 0.5, 2), ([], 0.5, 1)]
     + [(odd(change), 0.25, 2) for change in (of_another_class, of_another_type, lacking, a_number)]),
    (counted, (bodies(40),), [(bodies(40, Heavy),), (odd(of_another_class),), (odd(lacking),)]),
    (together, (bodies(40), bodies(30)), [(SHARED, SHARED), (SHARED, particles(40)), (bodies(30, Heavy), SHARED)]),
    (pairs, (bodies(20),), [(odd(of_another_class, 20, 7),), ([SHARED[0]] * 20,), (bodies(2),)]),
    (indexed, (bodies(40), 7.0), [(odd(of_another_type), 3.0), (bodies(3), 1.0), (particles(40, Slotted), 100.0)]),
    (chosen, (bodies(40),), [(odd(of_another_class),), (TIES,), (odd(of_another_type),)]),
    (moved, (movers(30), 0.5), [(movers(3), 0.5), (movers(30), 2)]),
    (noted, (movers(30), 0.5, 3), [(movers(20), 1.5, 1)]),
    (gathered, (ring(20),), [(ring(30),), (ring(3),)]),
    (made_here, (30, 0.5), [(40, 1), (2, 0.5)]),
    (grown, (30,), [(3,)]),
    (of_the_world, (World(bodies(30), 0.25), 3), [(World(bodies(30, Heavy), 0.5), 2), (World(bodies(2), 0.5), 2)]),
    (told, (bodies(40), 0.5), [(bodies(20), 0.5)]),
    (handed_on, (bodies(40), []), [(bodies(20, Heavy), [])]),
    (is_one, (SHARED, SHARED[7]), [(SHARED, None), (bodies(40), SHARED[3])]),
    (others_of, (bodies(20),), [([SHARED[0], SHARED[1]] * 10,), (bodies(20, Heavy),), (bodies(3),)]),
    (raising, (odd(lambda found, k: setattr(found[k], "x", -14.0)), 1.0), [(bodies(30), 0.25)]),
]
IDS = [row[0].__name__ for row in PROGRAMS]
WHOLE = (stepped, counted, others_of, is_one, together, moved, gathered, of_the_world)


@pytest.mark.parametrize("f, args, others", PROGRAMS, ids=IDS)
def test_programs(f, args, others):
    with fail_unless_captured(0 if f is handed_on else 1):
        check(f, *args, others=others, config=PYTHON)


@pytest.mark.parametrize("f, args, others", PROGRAMS[:8], ids=IDS[:8])
def test_in_machine_code(f, args, others):
    with fail_unless_captured():
        check(f, *args, others=others, config=NATIVE)


@pytest.mark.parametrize("f, args, others", PROGRAMS, ids=IDS)
def test_leaving_anywhere(f, args, others, leaves_often, open_gates):
    check(f, *args, others=others, config=PYTHON, calls=6)


@pytest.mark.parametrize("f, args", [row[:2] for row in PROGRAMS if row[0] in WHOLE])
def test_nothing_breaks(f, args):
    assert_nothing_breaks(f, *args, one_segment=False)


@pytest.mark.skipif("force_breaks" in mode_config(), reason="other segments")
def test_one_launch_runs_the_loops():
    assert launches(jitted(stepped, PYTHON), bodies(100), 0.5, 3) <= 2
    assert launches(jitted(counted, PYTHON), bodies(100)) == 1


@pytest.mark.parametrize("config", [NATIVE, PYTHON], ids=["numba", "python"])
def test_a_class_that_changes(config):
    ps = bodies(30)
    j = jitted(counted, config)
    before, mass, momentum = j(ps), Body.mass, Body.momentum
    assert j(ps) == before == counted(ps)
    try:
        Body.mass = 5.0
        assert j(ps) == counted(ps) != before
        Body.momentum = property(lambda self: self.x)
        assert j(ps) == j(ps) == counted(ps)
        Body.__getattr__ = lambda self, name: 1.0
        del ps[3].x
        assert j(ps) == counted(ps)
        del Body.__getattr__
        with pytest.raises(AttributeError):
            j(ps)
    finally:
        Body.mass, Body.momentum = mass, momentum
    ps[3].x = 1.5
    Body.__getattribute__ = lambda self, name: 0.5 if name == "momentum" else object.__getattribute__(self, name)
    try:
        assert j(ps) == counted(ps) != before
    finally:
        del Body.__getattribute__
    assert j(ps) == counted(ps)


def test_lists_that_bytecode_gets():
    """What takes the list does not take its objects, and what is not captured is not tried again and again."""
    def f(n):
        queue, s = [], 0.0
        for k in range(n):
            heapq.heappush(queue, Body(float(k * 7 % 5), 1.0))
        while queue and s < 50.0:
            first = heapq.heappop(queue)
            s += first.x
            if first.x > 1.0:
                heapq.heappush(queue, Body(first.x - 1.0, 1.0))
        for p in queue:
            s += repr(p.x).count("1")
        return s, len(queue)

    check(f, 30, others=[(3,)], config=PYTHON)


def test_a_method_of_one_object_alone():
    ps = bodies(30)
    j = jitted(stepped, PYTHON)
    j(ps, 0.5, 1)
    j(ps, 0.5, 1)
    calls = []
    ps[9].step = calls.append
    j(ps, 0.5, 2)
    assert calls == [0.5, 0.5]


def test_objects_of_a_class_that_ends():
    """Neither guards nor kernels keep a class alive, and one at its place is another one."""
    def made(factor):
        class Local:
            def __init__(self, x):
                self.x = x

            def value(self):
                return self.x * factor
        return Local

    def total(ps):
        s = 0.0
        for p in ps:
            s += p.value()
        return s

    j = jitted(total, PYTHON)
    for factor in (2.0, 3.0, 4.0):
        kind = made(factor)
        ps = [kind(float(k)) for k in range(30)]
        assert [j(ps) for _ in range(3)] == [total(ps)] * 3
        gone = weakref.ref(kind)
        del ps, kind
        gc.collect()
        assert gone() is None


def test_classes_that_differ_only_in_what_they_hold():
    """Two lists in one function."""
    def f(ps, qs):
        s = 0.0
        for p in ps:
            p.step(0.5)
            s += p.x
        for q in qs:
            q.step(0.5)
            s += q.x
        return s

    check(f, bodies(30), bodies(30, Heavy), others=[(bodies(30, Heavy), bodies(30)), (bodies(30), bodies(30))],
          config=PYTHON)


def test_named_tuples_are_no_such_objects():
    Row = collections.namedtuple("Row", "x v")

    def f(rows):
        s = 0.0
        for row in rows:
            s += row.x * row.v
        return s

    check(f, [Row(float(k), 2.0) for k in range(30)], config=PYTHON)


def test_arrays_in_attributes():
    class Layer:
        def __init__(self, k):
            self.w, self.b, self.out = np.full((4, 4), 0.25 + k), np.arange(4.0) + k, None

        def forward(self, x):
            self.out = np.tanh(x @ self.w + self.b)
            return self.out

    def f(layers, x):
        for layer in layers:
            x = layer.forward(x)
        return x

    with fail_unless_captured():
        check(f, [Layer(0.01 * k) for k in range(20)], np.arange(4.0), config=PYTHON)
