"""Loops over lists of more objects than are unrolled: attributes are read and stored natively, of any class."""

import collections
import types

import numpy as np
import pytest

from tests.capture.containers.effects_common import launches
from tests.capture.exits.test_polls import NATIVE, PYTHON
from tests.harness import assert_nothing_breaks, check, fail_unless_captured, jitted, mode_config

X = np.linspace(0.5, 4.0, 6)


class Particle:
    mass = 2.0
    kind = "plain"

    def __init__(self, x, v, tag=None):
        self.x = x
        self.v = v
        self.tag = tag


class Slotted:
    __slots__ = ("x", "v", "mass")

    def __init__(self, x, v, mass=3.0):
        self.x, self.v, self.mass = x, v, mass


class Computed(Particle):
    @property
    def mass(self):
        return self.x + 1.0


class Watched(Particle):
    def __setattr__(self, name, value):
        object.__setattr__(self, name, value * 2.0)


class Layer:
    def __init__(self, k):
        self.w = np.full(6, 0.5 + k)
        self.b = float(k)
        self.shape = (k, 2.0)
        self.seen = []


class Ends:
    """Says when it ends."""

    ended = []

    def __init__(self, x):
        self.x = x

    def __del__(self):
        self.ended.append(self.x)


def particles(n, kind=Particle):
    return [kind(0.5 * k, 1.0 + k) for k in range(n)]


def mixed(n):
    made = [(Particle, Slotted, types.SimpleNamespace)[k % 3] for k in range(n)]
    return [kind(0.5 * k, 1.0) if kind is not types.SimpleNamespace else kind(x=0.5 * k, v=1.0, mass=1.5)
            for k, kind in enumerate(made)]


def with_odd_one(n, k, change):
    found = particles(n)
    change(found, k)
    return found


def energy(ps):
    s = 0.0
    for p in ps:
        s += p.mass * p.x + p.v * p.v
    return s


def moved(ps, dt, n):
    for step in range(n):
        for p in ps:
            p.x += p.v * dt
            p.v = p.v - p.x * dt
    return ps


def by_generators(ps):
    return sum(p.x * p.v for p in ps), [p.v * 2.0 for p in ps], max(p.x for p in ps)


def layers(ls, x):
    s = 0.0
    for layer in ls:
        x = x * layer.w + layer.b
        s += layer.shape[0] * layer.shape[1]
    return x, s


def kept(ps, k):
    """The variable of the loop is read behind it."""
    s = 0.0
    for p in ps:
        s += p.x
        if p.x > k:
            break
    return p, s


def with_prints(ps):
    s = 0.0
    for p in ps:
        s += p.x
        if s > 8.0:
            print(s, p.v)
            s = p.x - s
    return s


def one_of_them(ps, q, dt):
    """What is stored may be what is read by another name."""
    s = 0.0
    for p in ps:
        p.x = p.x + dt
        s += q.x
    return s, q.x


def stored_elsewhere(ps, q, dt):
    s = 0.0
    for p in ps:
        q.x = q.x + dt
        s += p.x
    return s


def own_and_theirs(ps, dt):
    mine = Particle(1.0, 2.0)
    ps.append(mine)
    s = 0.0
    for p in ps:
        p.x = p.x + dt
        s += mine.x
    return s, mine.x


def of_others(ps, k):
    """What is stored is made here."""
    s = 0.0
    for p in ps:
        s += p.v * k + p.v
        p.x = Particle(s, k)
    return s, ps[3].x.x, ps[-1].x.v


def cleared(ps):
    s = 0.0
    for p in ps:
        if p.x > 3.0:
            ps.clear()
        s += p.x * p.v + p.mass
    return s, ps


def called(ps):
    s = 0.0
    for p in ps:
        s += abs(p.x) + len(vars(p))
    return s


def not_an_object(found, k):
    found[k] = 3.5


def another_type(found, k):
    found[k].x = 7


def lacks_it(found, k):
    del found[k].x


def computed(found, k):
    found[k] = Computed(1.0, 2.0)


def own_setattr(found, k):
    found[k] = Watched(1.0, 2.0, 0.5)


ODD = [with_odd_one(40, 20, change) for change in (not_an_object, another_type, lacks_it, computed)]
SHARED = particles(20)
PROGRAMS = [
    (energy, (particles(40),), [(particles(3),), ([],), (mixed(30),), (particles(40, Slotted),)]
     + [(odd,) for odd in ODD]),
    (moved, (particles(30), 0.25, 3), [(mixed(30), 0.5, 2), (particles(30), 1, 1), (ODD[1], 0.5, 2),
                                       (with_odd_one(30, 7, own_setattr), 0.5, 2), (particles(30, Slotted), 0.5, 2)]),
    (by_generators, (particles(40),), [(ODD[1],), (ODD[2],), (particles(3),)]),
    (layers, ([Layer(k) for k in range(20)], X), [([Layer(k) for k in range(3)], X)]),
    (kept, (particles(40), 7.0), [(particles(40), 100.0), ([], 1.0)]),
    (with_prints, (particles(30),), [(particles(2),)]),
    (one_of_them, (SHARED, SHARED[4], 0.5), [(particles(20), Particle(1.0, 2.0), 0.5)]),
    (stored_elsewhere, (SHARED, SHARED[4], 0.5), [(particles(20), Particle(1.0, 2.0), 0.5)]),
    (own_and_theirs, (particles(20), 0.5), []),
    (cleared, (particles(40),), [(particles(20),)]),
    (called, (particles(40),), []),
    (of_others, (particles(40), 0.5), [(particles(3), 0.5)]),
]
IDS = [row[0].__name__ for row in PROGRAMS]
NOT_CAPTURED = (called, own_and_theirs, of_others)


@pytest.mark.parametrize("f, args, others", PROGRAMS, ids=IDS)
def test_programs(f, args, others):
    with fail_unless_captured(0 if f in NOT_CAPTURED else 1):
        check(f, *args, others=others, config=PYTHON)


@pytest.mark.parametrize("f, args, others", PROGRAMS[:5] + PROGRAMS[9:10], ids=IDS[:5] + IDS[9:10])
def test_in_machine_code(f, args, others):
    with fail_unless_captured():
        check(f, *args, others=others, config=NATIVE)


@pytest.mark.parametrize("f, args, others", PROGRAMS, ids=IDS)
def test_leaving_anywhere(f, args, others, leaves_often, open_gates):
    check(f, *args, others=others, config=PYTHON, calls=6)


@pytest.mark.parametrize("f, args", [row[:2] for row in PROGRAMS[:5]], ids=IDS[:5])
def test_nothing_breaks(f, args):
    assert_nothing_breaks(f, *args, one_segment=False)


@pytest.mark.skipif("force_breaks" in mode_config(), reason="other segments")
def test_one_launch_runs_the_loop():
    assert launches(jitted(energy, PYTHON), particles(100)) == 1
    assert launches(jitted(moved, PYTHON), particles(100), 0.5, 3) == 1


@pytest.mark.parametrize("config", [NATIVE, PYTHON], ids=["numba", "python"])
def test_ends_are_noticed_where_they_were(config):
    """An object is not kept alive by the kernel that reads it."""
    def f(xs):
        s = 0.0
        for p in xs:
            s += p.x
            if p.x == 5.0:
                xs.clear()
        return s, list(Ends.ended)

    def told(g):
        del Ends.ended[:]
        found = g([Ends(float(k)) for k in range(30)])
        del Ends.ended[:]
        return found

    j = jitted(f, config)
    expected = told(f)
    assert [told(j) for _ in range(4)] == [expected] * 4


def test_a_class_that_changes():
    ps = particles(30)
    j = jitted(energy, PYTHON)
    assert j(ps) == j(ps) == energy(ps)
    Particle.x = property(lambda self: 100.0)
    try:
        assert j(ps) == energy(ps)
    finally:
        del Particle.x
    Particle.mass = 5.0
    try:
        assert j(ps) == energy(ps)
    finally:
        Particle.mass = 2.0
    assert collections.Counter(type(p) for p in ps) == {Particle: 30}
