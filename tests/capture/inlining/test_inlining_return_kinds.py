"""Callees whose result has nothing in common on some paths: None or a number, an int or a float, one array or two."""

import numpy as np
import pytest

import pijit
from tests.capture.containers.effects_common import CUT, launches
from tests.capture.exits.test_polls import NATIVE, PYTHON
from tests.harness import check, fail_unless_captured, jitted

X = np.linspace(0.0, 1.0, 20)
N = np.arange(20)


def maybe(x, i):
    if x[i] > 0.5:
        return None
    return x[i] * 2.0


def skips_none(x, n):
    s = 0.0
    for i in range(n):
        v = maybe(x, i)
        if v is None:
            continue
        s += v
    return s


def keeps_none(x, n):
    v = last = None
    for i in range(n):
        v = maybe(x, i)
        if v is not None:
            last = v
    return v, last


def clamp(v):
    if v < 0.3:
        return 0
    return v * 1.0


def clamps(x, n):
    s = 0.0
    for i in range(n):
        s += clamp(x[i]) * clamp(1.0 - x[i]) + 1.0
    return s


def assigned(v, w):
    r = 0
    if v > w:
        r = v - w
    return r


def sums_assigned(x, n):
    s = 0
    for i in range(n):
        s += assigned(x[i], 0.5)
    return s


def as_operand(x, n):
    s = 0.0
    for i in range(n):
        s = x[i] * (1.0 + clamp(x[i])) - s * 0.5
    return s


def found(x, limit):
    for i in range(len(x)):
        if x[i] > limit:
            return i, x[i]
    return None


def finds(x, n):
    s = 0.0
    for i in range(n):
        pair = found(x, i * 0.1)
        if pair:
            k, v = pair
            s += k * v
        else:
            s -= 1.0
    return s


def deeper(x, i):
    v = maybe(x, i)
    if v is None:
        return clamp(x[i])
    return v


def nested(x, n):
    s = 0.0
    for i in range(n):
        s += deeper(x, i)
    return s


class Log:
    def __init__(self):
        self.last = 0.0
        self.count = 0

    def note(self, x, i):
        self.count += 1
        if x[i] > 0.5:
            self.last = None
            return None
        self.last = x[i]
        return self.count

    @property
    def limit(self):
        if self.count > 3:
            return None
        return 7

    def __getitem__(self, i):
        if i > 5:
            return None
        return i * 0.5


def notes(log, x, n):
    s = 0
    for i in range(n):
        k = log.note(x, i)
        if k is not None:
            s += k
    return s, log.last, log.count


def reads(log, x, n):
    s = 0.0
    for i in range(n):
        v, limit = log[i], log.limit
        if v is not None and limit is not None:
            s += v * limit * x[i]
    return s


def truths(x, n):
    s = 0.0
    for i in range(n):
        s += i if maybe(x, i) else 0.5
    return s


def four_kinds(x, i):
    if i == 0:
        return None
    if i == 1:
        return 1
    if i == 2:
        return 2.0
    return x[i]


def collects_four(x, n):
    return [four_kinds(x, i) for i in range(n)], four_kinds(x, n - 1)


MANY = [lambda: (X, 25), lambda: (X.astype("f"), 20), lambda: (N, 5), lambda: (X[::-1], 0), lambda: (X[:0], 1)]
PROGRAMS = [(f, lambda: (X, 20), MANY)
            for f in (skips_none, keeps_none, clamps, sums_assigned, as_operand, finds, nested, truths)]
PROGRAMS += [(notes, lambda: (Log(), X, 20), [lambda: (Log(), X, 25), lambda: (Log(), X[::-1].copy(), 3)]),
             (reads, lambda: (Log(), X, 9), [lambda: (Log(), X, 3)])]


@pytest.mark.parametrize("f, args, others", PROGRAMS, ids=[row[0].__name__ for row in PROGRAMS])
def test_outcomes(f, args, others):
    with fail_unless_captured():
        check(f, *args(), others=[make() for make in others], config={"backend": "python"})
    assert not [one for one in pijit.explain(f, *args()).breaks if one.reason_id == "PJ230"]


@pytest.mark.parametrize("f", [skips_none, clamps])
def test_outcomes_in_machine_code(f):
    with fail_unless_captured():
        check(f, X, 20, others=[(X, 25), (X[::-1].copy(), 3)], config=NATIVE)


@pytest.mark.skipif(CUT, reason="each instruction is a kernel")
@pytest.mark.parametrize("f", [skips_none, clamps, as_operand])
def test_the_loop_is_one_kernel(f):
    assert launches(jitted(f), X, 20) == 1


def test_what_has_too_many_outcomes_stays_a_call():
    check(collects_four, X, 9, others=[(X, 1), (X, 2)], config=PYTHON)
    assert "PJ230" in [one.reason_id for one in pijit.explain(collects_four, X, 9).breaks]
