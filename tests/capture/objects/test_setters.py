"""Setters of properties, ``setattr``, sentinels that are told by identity, and what arrays no longer have."""

import dataclasses

import numpy as np

from tests.harness import check, fail_unless_captured, nothing_breaks, same_answers

X = np.array([2.5, -1.0, 7.0, 0.5, 3.0, -0.0])
PYTHON = {"backend": "python"}


class Gauge:
    """A property that checks what it is given."""

    def __init__(self, level=1.0):
        self._level, self.sets = level, 0

    @property
    def level(self):
        return self._level

    @level.setter
    def level(self, value):
        if value > 50.0:
            raise ValueError("too much: %r" % value)
        self._level = value

    @property
    def fixed(self):
        return 2.0

    def __eq__(self, other):
        return vars(self) == vars(other)

    __hash__ = None


class Loud(Gauge):
    @Gauge.level.setter
    def level(self, value):
        self.sets += 1
        self._level = value * 2.0


@dataclasses.dataclass
class Path:
    x: float = 0.0
    steps: list = dataclasses.field(default_factory=list)

    def step(self, by):
        self.x += by
        self.steps.append(self.x)


class Marker:
    """Told by identity alone."""


START, STOP = Marker(), Marker()


def sets(g, x):
    for v in x:
        g.level = g.level * 0.5 + v
    g.level += 1.0
    return g.level


def sets_fixed(g, x):
    g.level = x.sum() * 2.0 + 1.0
    g.fixed = 3.0


def sets_by_name(g, x):
    setattr(g, "sets", len(x) * 2)
    setattr(g, "level", x[0] * 2.0 + 1.0)
    return g.sets + g.level


def makes_and_sets(x):
    g = Gauge()
    for v in x:
        g.level = g.level * 0.5 + v
    return g.level, g


def walks(x):
    p, q = Path(x=1.0), Path(2.0, [])
    for v in x:
        p.step(v)
    q.step(p.x)
    return p.x, p.steps, q


def marked(mark, other, x):
    s = 0.0
    for v in x:
        s += v if mark is START else -v
        if mark is not STOP and mark is other:
            s *= 0.5
    return s


def has(x):
    names = [hasattr(x, "T"), hasattr(x, "nothing"), getattr(x, "nothing", 3.0), hasattr(x, "sum")]
    return names, x * 2.0 + 1.0


CASES = [
    (sets, (Gauge(), X), [(Gauge(), X * 20.0), (Gauge(3), X), (Loud(), X)]),
    (sets_by_name, (Gauge(), X), [(Gauge(), X * 20.0), (Loud(), X)]),
    (makes_and_sets, (X,), [(X * 20.0,), (X[:0],)]),
    (walks, (X,), [(X[:0],), (X.astype("f"),)]),
    (marked, (START, STOP, X), [(STOP, STOP, X), (START, START, X), (Marker(), STOP, X), (None, None, X)]),
    (has, (X,), [(X[:0],)]),
]

test_same_answers = same_answers(CASES, PYTHON)
test_nothing_breaks = nothing_breaks(CASES)


def test_a_property_without_a_setter():
    check(sets_fixed, Gauge(), X, config=PYTHON)


def test_the_setter_is_changed_between_calls():
    class Own(Gauge):
        pass

    with fail_unless_captured() as watched:
        check(sets, Own(), X, config=PYTHON)
    j, one, other = watched[0], Own(), Own()
    assert j(one, X) == sets(other, X)
    Own.level = Loud.level
    assert j(one, X) == sets(other, X) and one.sets == other.sets == len(X) + 1
    Own.__setattr__ = lambda self, name, value: None
    assert j(one, X) == sets(other, X) and vars(one) == vars(other)


def test_what_arrays_have_only_to_refuse_it():
    def f(x):
        return hasattr(x, "ptp"), hasattr(x, "itemset"), getattr(x, "newbyteorder", None) is None, x * 2.0 + 1.0

    check(f, X, others=[(X[:1],)], config=PYTHON)


@fail_unless_captured()
def test_in_machine_code():
    def f(g, mark, x):
        for v in x:
            g.level = g.level * 0.5 + v
        return g.level if mark is START else walks(x)

    check(f, Gauge(), START, X, others=[(Gauge(), STOP, X * 20.0)])
