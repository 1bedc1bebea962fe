"""``d.popitem()`` and ``s.pop()`` in loops: which entry goes, and in which order, is what CPython says."""

from collections import Counter, OrderedDict, defaultdict

import numpy as np
import pytest

from tests.capture.containers.effects_common import CUT
from tests.harness import assert_nothing_breaks, check, fail_unless_captured

X = np.linspace(0.5, 9.0, 8)
PYTHON = {"backend": "python"}
MANY = {k: k * 0.5 for k in range(60)}


def with_holes():
    d = {k: k * 0.5 for k in range(300)}
    for k in list(range(100)) + list(range(150, 170)) + list(range(280, 300)):
        del d[k]
    return d


class Own(dict):
    def popitem(self):
        return dict.popitem(self)[0], 1.5


class Loud:
    def __repr__(self):
        return "Loud"


def emptied(d, x):
    s, last = 0.0, None
    while d:
        k, v = d.popitem()
        s = s * 0.5 + k * v
        last = k
    return s, last, len(d), x * 2.0


def refilled(d, x):
    s = 0.0
    for i in range(40):
        pair = d.popitem()
        s = s * 0.5 + pair[1]
        d[i] = x[i % 8] * 1.0
        if i % 3 == 0:
            d[i + 1000] = 2.5
    return s, d


def names(d, x):
    words = []
    for i in range(3):
        k, v = d.popitem()
        words.append(k)
        x = x + v
    return words, x, d


def members(s, x):
    t = 0
    while s:
        v = s.pop()
        t = t * 3 % 1000003 + v
        if v % 5 == 0 and v < 200:
            s.add(v + 1001)
    return t, x * 2.0, s


def words_of(s, x):
    found = []
    for _ in range(2):
        found.append(s.pop())
    return found, x * 2.0, s


CASES = [
    (emptied, (MANY, X), [(with_holes(), X), ({}, X), ({1: 2}, X), (OrderedDict(MANY), X), (Own(MANY), X),
                          (defaultdict(float, MANY), X), ({1: 2.0, "a": 3.0}, X), ({1: Loud(), 2: 1.0}, X)]),
    (emptied, (Counter({1: 3, 5: 2}), X), [(Counter(), X)]),
    (refilled, (MANY, X), [({1: 2.0}, X), ({}, X), (with_holes(), X)]),
    (names, ({"n%d" % k: k * 0.5 for k in range(20)}, X), [({"a": 1.0}, X), ({"a": X, "b": X, "c": X}, X), ({1: 2.0}, X)]),
    (members, (set(range(0, 900, 7)), X), [(set(range(50)), X), (set(), X), ({1, 2.5, 3}, X), ({"a"}, X), ({Loud()}, X)]),
    (words_of, ({"a", "b", "c"}, X), [({"a"}, X), ({1, 2}, X), ({(1, 2), (3, 4)}, X), (frozenset(), X)]),
]
NAMES = ["emptied", "counted", "refilled", "names", "members", "words_of"]


@pytest.mark.usefixtures("little_work")
@pytest.mark.parametrize("f, args, others", CASES, ids=NAMES)
def test_same_as_python(f, args, others):
    with fail_unless_captured():
        check(f, *args, others=others, calls=4, config=PYTHON)


@pytest.mark.parametrize("f, args, others", CASES[:3] + CASES[4:5], ids=NAMES[:3] + NAMES[4:5])
def test_in_machine_code(f, args, others):
    check(f, *args, calls=4, others=others)
    if not CUT and f is not refilled:
        assert_nothing_breaks(f, *args, one_segment=False)


@pytest.mark.usefixtures("little_work", "leaves_often")
def test_each_entry_once_whatever_exits_are_taken():
    for f, args, _ in CASES:
        check(f, *args, calls=4, config=PYTHON)
