"""Copies of dicts of any length, and getters that global variables and attributes hold."""

import operator
from collections import Counter, OrderedDict, defaultdict

import numpy as np
import pytest

from tests.capture.containers.effects_common import CUT
from tests.harness import assert_nothing_breaks, check, fail_unless_captured, jitted

X = np.linspace(0.5, 9.0, 40)
PYTHON = {"backend": "python"}
MANY = {k: k * 0.5 for k in range(60)}
SECOND = operator.itemgetter(1)
BOTH = operator.itemgetter(1, 0)
SIZE = operator.attrgetter("size")
AT = operator.itemgetter(2)


class Equal:
    """Keys that are compared by code of the program."""

    asked = []

    def __hash__(self):
        return 3

    def __eq__(self, other):
        self.asked.append(1)
        return self is other


class Own(dict):
    def copy(self):
        return dict(self, own=1)


def method(d, x):
    e = d.copy()
    for i in range(len(x)):
        e[i] = x[i] * 2.0
    return e, d, len(e)


def constructor(d, x):
    e = dict(d)
    for i in range(len(x)):
        e[i] = float(x[i]) * 2.0
    s = 0.0
    for k, v in e.items():
        s = s * 0.5 + k * v
    return e, s


def made_here(x):
    d = {"a": x[0], "b": 2.0}
    e = d.copy()
    e["a"] = 7.0
    counts, groups = Counter(), defaultdict(list)
    for i in range(len(x)):
        counts[i % 3] += 1
        groups[i % 3].append(i)
    before, rows = counts.copy(), groups.copy()
    counts[0] += 5
    rows[9].append(1)
    return d, e, counts, before, groups, rows, dict(groups), e["a"] + d["a"]


def by_getters(rows, x):
    best = max(rows, key=SECOND)
    s = 0.0
    for row in rows:
        s += SECOND(row) * x[0]
    return best, s, sorted(rows, key=SECOND), BOTH(rows[0]), SIZE(x)


def past_the_end(rows, x):
    return x * 2.0, AT(rows[0])


DICTS = [
    (MANY, X), ({}, X), ({1: 2.0}, X), ({"a": 1, 2: "b"}, X), (defaultdict(float, MANY), X), (Counter([1, 2, 2]), X),
    (OrderedDict(MANY), X), (Own(MANY), X), ({k: X for k in range(30)}, X), ({Equal(): 1.0, Equal(): 2.0}, X),
    ({(k, 1): 1.0 for k in range(30)}, X), ({k: 1 for k in range(90)}, X)]
ROWS = [(float(i % 7), float(-i)) for i in range(30)]
CASES = [
    (method, (MANY, X), DICTS), (constructor, (MANY, X), DICTS), (made_here, (X,), [(X[:2],), (X[:0],)]),
    (by_getters, (ROWS, X), [(ROWS[:3], X), ([(1, 2), (3, 1)], X), ([(1.0,)], X), ([], X), ([[1.0, 2.0]] * 20, X)]),
    (past_the_end, ([(1.0, 2.0, 3.0)], X), [(ROWS, X), ([{2: 5}], X), ([5], X)]),
]


@pytest.mark.usefixtures("little_work")
@pytest.mark.parametrize("f, args, others", CASES, ids=[case[0].__name__ for case in CASES])
def test_same_as_python(f, args, others):
    with fail_unless_captured():
        check(f, *args, others=others, calls=4, config=PYTHON)


@pytest.mark.parametrize("f, args", [(method, (MANY, X)), (constructor, (MANY, X)), (by_getters, (ROWS, X))],
                         ids=["method", "constructor", "by_getters"])
def test_in_machine_code(f, args):
    with fail_unless_captured():
        check(f, *args, calls=4)
    if not CUT:
        assert_nothing_breaks(f, *args, one_segment=False)


def test_another_getter_in_the_global_variable():
    g = jitted(by_getters)
    try:
        for getter in (SECOND, SECOND, operator.itemgetter(0), lambda row: row[1] - 1.0, operator.itemgetter(-1)):
            globals()["SECOND"] = getter
            for _ in range(2):
                assert g(ROWS, X) == by_getters(ROWS, X)
    finally:
        globals()["SECOND"] = operator.itemgetter(1)


def test_keys_are_compared_as_often():
    for d in (MANY, {Equal(): 1.0, Equal(): 2.0}):
        asked = []
        for f in (method, jitted(method)):
            for _ in range(3):
                del Equal.asked[:]
                f(d, X)
                asked.append(len(Equal.asked))
        assert asked[:3] == asked[3:]
