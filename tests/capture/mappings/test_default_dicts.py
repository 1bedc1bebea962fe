"""``collections.defaultdict``: entries that are there are read and stored in kernels, bytecode makes those that are missing."""

from collections import Counter, OrderedDict, defaultdict

import numpy as np
import pytest

import pijit
from tests.capture.containers.effects_common import CUT, launches
from tests.harness import check, fail_unless_captured, jitted

X = np.linspace(0.5, 4.0, 40)
MANY = {"backend": "python"}


def sums(d, x):
    for i in range(len(x)):
        d[i % 3] += x[i] * 2.0
    return len(d)


def counts(d, x):
    for v in x:
        d["large" if v > 2.0 else "small"] += 1
    return x * 2.0


def groups(d, x):
    for i in range(len(x)):
        d[i % 3].append(x[i] * 2.0)
    return x.sum()


def stores(d, x):
    for i in range(len(x)):
        d["last"] = x[i] * 2.0
        d[i, 1] = i
        if i % 2 == 0:
            del d[i, 1]
        if i in d:
            d[i] = x
    return d["last"] + d["none"]


def rare_break(d, x):
    for i in range(len(x)):
        d["sum"] += x[i]
        if i == 7:
            print(dict(d))
            d.clear()
    return d["sum"]


def raises(d, x, n):
    for i in range(n):
        d["sum"] += x[i]
        d["n"] += 1
    return d


def made_inside(x, factory):
    d = defaultdict(factory)
    for v in x:
        d[int(v)] += v
    return d, len(d)


def groups_made_inside(x, factory):
    d = defaultdict(factory)
    for i in range(len(x)):
        d[int(x[i]), i % 2].append(i)
    return d


def factory_that_fails():
    raise ValueError("no default")


class Loud(defaultdict):
    def __setitem__(self, key, value):
        print("set", key)
        defaultdict.__setitem__(self, key, value)


CASES = [
    (sums, (defaultdict(float), X), [(defaultdict(int), X), (defaultdict(None, {0: 1.0, 1: 2.0, 2: 3.0}), X), (defaultdict(None), X)]),
    (counts, (defaultdict(int), X), [({"large": 1, "small": 2}, X), (Counter(), X), (OrderedDict(small=1, large=2), X)]),
    (groups, (defaultdict(list), X), [(defaultdict(lambda: [0]), X), (defaultdict(factory_that_fails), X)]),
    (stores, (defaultdict(float), X), [(defaultdict(float, {2: 1, 5: 2}), X), (Loud(float), X), ({"none": 1}, X)]),
    (made_inside, (X, float), [(X, int), (X, None), (X * 3.0, lambda: 1.5), (X, factory_that_fails), (X, str)]),
    (groups_made_inside, (X, list), [(X, None), (X, lambda: [0]), (X * 3.0, list), (X, float)]),
    (rare_break, (defaultdict(float), X), [(Loud(float), X)]), (raises, (defaultdict(int), X, 40), [(defaultdict(float), X, 41)]),
]


@pytest.mark.usefixtures("little_work")
@pytest.mark.parametrize("f, args, others", CASES, ids=[case[0].__name__ for case in CASES])
def test_same_as_python(f, args, others):
    with fail_unless_captured():
        check(f, *args, others=others, calls=4, config=MANY)


@pytest.mark.usefixtures("little_work", "leaves_often")
def test_each_effect_once_whatever_exits_are_taken():
    for f, args, _ in CASES:
        check(f, *args, calls=4, config=MANY)


@pytest.mark.skipif(CUT, reason="cut everywhere")
@pytest.mark.parametrize("f, args", [(sums, (defaultdict(float, {0: 0.0, 1: 0.0, 2: 0.0}), X)), (groups, (defaultdict(list, {0: [], 1: [], 2: []}), X))],
                         ids=["sums", "groups"])
def test_the_loop_is_one_kernel(f, args):
    assert launches(jitted(f), *args) <= 2
    check(f, *args, calls=4)


def test_others_stay_bytecode_and_are_named():
    report = str(pijit.explain(counts, OrderedDict(large=1, small=1), X))
    assert "PJ205" in report and "OrderedDict" in report


def made_and_read(x):
    d, rows = defaultdict(float), defaultdict(list)
    for i in range(len(x)):
        d[i % 5] += x[i]
        rows[i % 3].append(i)
    s = 0.0
    for k, v in d.items():
        s = s * 0.5 + k * v
    for k in d:
        s += d.get(k, 0.0) - d[k] * 2.0 + len(d)
    for k, own in rows.items():
        for i in own:
            s = s * 0.5 + i * k
    return s, max(d, key=d.get), sorted(d.items()), sum(d.values()), d, rows


def from_outside(d):
    s = 0.0
    for k, v in d.items():
        s += k * v
    return s, len(d), sorted(d), max(d, key=d.get), 3 in d, d.get(1, 0.0)


@pytest.mark.parametrize("f, args, others", [
    (made_and_read, (X,), [(X[:3],), (X[:0],), (X.astype(int),)]),
    (from_outside, (defaultdict(float, {k: k * 0.5 for k in range(40)}),),
     [({1: 2.0},), (defaultdict(None, {1: 2.0, 3: 4.0}),), (defaultdict(int, {"a": 1}),), (Counter([1, 1, 2]),)]),
], ids=["made_and_read", "from_outside"])
def test_views(f, args, others):
    check(f, *args, others=others, config=MANY)


@fail_unless_captured()
def test_views_in_machine_code():
    check(made_and_read, X, others=[(X[:3],)])
    check(from_outside, defaultdict(float, {k: k * 0.5 for k in range(40)}), others=[({1: 2.0},)])


def test_a_factory_of_the_program():
    def f(x):
        made = []
        d = defaultdict(lambda: made.append(1) or 0.5)
        for i in range(len(x)):
            d[i % 4] += x[i]
        return d[0], len(made), sorted(d)

    check(f, X, others=[(X[:2],)], config=MANY)
