"""Long lists of named tuples and of dicts, and long dicts of objects: records as data analysis has them."""

import collections
import math
from typing import NamedTuple

import numpy as np
import pytest

from tests.capture.exits.test_polls import NATIVE, PYTHON
from tests.capture.objects.test_methods_of_listed_objects import Body, Heavy
from tests.harness import assert_nothing_breaks, check, fail_unless_captured, jitted

Row = collections.namedtuple("Row", "t x w")


class Sample(NamedTuple):
    t: float
    x: int
    w: np.ndarray

    def scaled(self, k):
        return self.x * k + self.w[1]

    @property
    def late(self):
        return self.t > 5.0


class Own(Row):
    def __getitem__(self, key):
        return 7.0


def rows(n, change=None):
    found = [Row(0.1 * k, math.sin(k), 1.0 + k % 3) for k in range(n)]
    if change is not None:
        found[n // 2] = change(found[n // 2])
    return found


def samples(n):
    return [Sample(0.5 * k, k, np.arange(3.0) + k) for k in range(n)]


def dicts(n, change=None):
    found = [{"x": 0.5 * k, "n": k % 7, "v": np.arange(2.0) * k, "name": "ab"[k % 2]} for k in range(n)]
    if change is not None:
        change(found[n // 2])
    return found


def table(n, kind=Body):
    return {"b%d" % k: kind(0.5 * k, 1.0) for k in range(n)}


def odd_table(n):
    found = table(n)
    found["b7"] = Heavy(1.0, 2.0)
    return found


def fields(rs):
    s, w = 0.0, 0.0
    for r in rs:
        s += r.x * r.w + r[0]
        w += r.w
    return s / (w + 1.0), max(r.x for r in rs), [r.t for r in rs if r.x > 0.0]


def unpacked(rs):
    s = 0.0
    for k, (t, x, w) in enumerate(rs):
        s += t * x - w * k
    for i in range(len(rs)):
        s += rs[i].t
    return s


def methods(rs, k):
    s = 0.0
    for r in rs:
        s += r.scaled(k) if r.late else r.t
    return s, r


def entries(ds):
    s, n = 0.0, 0
    for d in ds:
        s += d["x"] * 2.0 + d["v"][1]
        n += d["n"]
    return s, n, sum(d["x"] for d in ds), max(ds, key=lambda d: d["n"])["x"], [d["n"] for d in ds if d["x"] > 3.0]


def stored(ds, k):
    for d in ds:
        d["x"] += d["n"] * k
        d["y"] = d["x"] * 0.5
    return sum(d["x"] for d in ds)


def looked_up(ds):
    s = 0.0
    for i, d in enumerate(ds):
        s += d.get("x", 0.0) if "n" in d else 1.0
        s += ds[i]["n"]
    return s


def items(bs, dt):
    s = 0.0
    for name, b in bs.items():
        b.step(dt)
        s += b.x
    for b in bs.values():
        s += b.momentum
    return s, name


def grown(bs, k):
    """The dict gets an entry on the way."""
    s = 0.0
    for name, b in bs.items():
        s += b.x
        if b.x > k:
            bs["new"] = b
    return s


PROGRAMS = [
    (fields, (rows(40),), [(rows(3),), (rows(40, lambda r: r._replace(x=7)),), (rows(40, lambda r: Own(*r)),),
                           (rows(40, tuple),), ([Sample(*r) for r in rows(40)],)]),
    (unpacked, (rows(40),), [(rows(40, tuple),), (rows(40, lambda r: Own(*r)),), (rows(40, lambda r: r[:2]),), ([],)]),
    (methods, (samples(40), 0.5), [(samples(30), 2), (samples(2), 0.5)]),
    (entries, (dicts(40),), [(dicts(3),), (dicts(40, lambda d: d.update(x=3)),), (dicts(40, lambda d: d.pop("n")),),
                             (dicts(40, lambda d: d.update(v=[1.0, 2.0])),)]),
    (stored, (dicts(40), 0.5), [(dicts(40), 2), (dicts(40, lambda d: d.update(x="a")), 0.5), (dicts(2), 0.5)]),
    (looked_up, (dicts(40),), [(dicts(40, lambda d: d.pop("n")),), ([collections.OrderedDict(d) for d in dicts(40)],)]),
    (items, (table(30), 0.5), [(table(30, Heavy), 0.5), (odd_table(30), 0.5), (table(3), 0.5)]),
    (grown, (table(30), 100.0), [(table(30), 3.0)]),
]
IDS = [row[0].__name__ for row in PROGRAMS]


@pytest.mark.parametrize("f, args, others", PROGRAMS, ids=IDS)
def test_programs(f, args, others):
    with fail_unless_captured():
        check(f, *args, others=others, config=PYTHON)


@pytest.mark.parametrize("f, args, others", PROGRAMS, ids=IDS)
def test_in_machine_code(f, args, others):
    with fail_unless_captured():
        check(f, *args, others=others, config=NATIVE)


@pytest.mark.parametrize("f, args, others", PROGRAMS, ids=IDS)
def test_leaving_anywhere(f, args, others, leaves_often, open_gates):
    check(f, *args, others=others, config=PYTHON, calls=6)


@pytest.mark.parametrize("f, args", [row[:2] for row in PROGRAMS], ids=IDS)
def test_nothing_breaks(f, args):
    assert_nothing_breaks(f, *args, one_segment=False)


def test_a_class_of_rows_that_changes():
    rs = rows(30)
    j = jitted(fields, PYTHON)
    before, t, x = fields(rs), Row.t, Row.x
    assert j(rs) == j(rs) == before
    try:
        Row.x = t
        assert j(rs) == fields(rs) != before
        Row.x = x
        Row.__getitem__ = lambda self, key: 100.0
        assert j(rs) == fields(rs) != before
    finally:
        Row.x = x
        if "__getitem__" in Row.__dict__:
            del Row.__getitem__
    assert j(rs) == before
