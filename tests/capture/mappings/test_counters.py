"""``collections.Counter``: counts in kernels, zero for missing keys, and classes, objects and methods that differ."""

from collections import Counter, OrderedDict, defaultdict

import numpy as np
import pytest

from tests.capture.containers.effects_common import CUT, launches
from tests.harness import assert_nothing_breaks, check, fail_unless_captured, jitted

X = np.linspace(0.5, 9.0, 40) % 5.0
NAN = float("nan")
PYTHON = {"backend": "python"}


def counted_here(x):
    c = Counter()
    for v in x:
        c[int(v)] += 1
    t = 0
    for k, n in c.items():
        t += k * n
    return t, c.get(3, 0), c.get(99), c[1], c[77], 77 in c, len(c), c


def counted_outside(c, x):
    for v in x:
        c["big" if v > 2.0 else "small"] += 2
    del c["nothing"]
    del c["small"]
    return c["small"], c.get("big"), "big" in c, len(c), x * 2.0, c


def pairs(x, n):
    c = Counter()
    for i in range(n):
        c[i % 3, int(x[i])] += i
        if i % 5 == 0:
            c[i % 3, int(x[i])] -= 3
    best = max(c, key=c.get)
    return best, sum(c.values()), sorted(c), c.most_common(3), c


def weights(x):
    c = Counter()
    for i in range(len(x)):
        c[i % 4] += x[i]
    return c, c[2], c[9]


def of_items(items, x):
    c = Counter(items)
    s = x.sum()
    for k, n in c.items():
        s += n
    return s, c.most_common(1), c.most_common(), c


def of_comprehension(x):
    c = Counter(int(v) % 3 for v in x)
    d = Counter([round(v, 1) for v in x.tolist()])
    return c, d, c.most_common(2), x * 2.0


def emptied(x, c):
    while c:
        del c[max(c)]
    return x * 2.0, len(c)


class Loud(Counter):
    def __missing__(self, key):
        return 100

    def __setitem__(self, key, value):
        Counter.__setitem__(self, key, value + 1)


class Odd:
    def __init__(self, n):
        self.n = n

    def __hash__(self):
        return 3

    def __eq__(self, other):
        return True


CASES = [
    (counted_here, (X,), [(X[:1],), (X[:0],), (X.astype(int),), (np.array([1.0, NAN]),)]),
    (counted_outside, (Counter(), X), [(Counter(small=4, other=2), X), (Counter(big=2.5), X), (Counter(big=2 ** 62), X),
                                       (Loud(), X), (defaultdict(int, small=1), X), (OrderedDict(small=1, big=2), X),
                                       ({"big": 1}, X), (Counter(big="ab"), X), (Counter(big=True), X)]),
    (pairs, (X, 30), [(X, 3), (X, 41), (X.astype(int), 20)]),
    (weights, (X,), [(X[:3],), (X.astype(int),), (X[:0],)]),
    (of_items, ([3, 1, 3, 2] * 9, X), [(["a", "b", "a"], X), ([], X), ([1, True, 1.0, 2], X), ([NAN, NAN, 1.0], X),
                                       ("abracadabra", X), ((2, 2, 3), X), ([(1, 2), (1, 2)], X), (np.arange(9) % 4, X),
                                       ([Odd(1), Odd(2), 3], X), ([[1], 2], X), (5, X), ({1: 5, 2: 7}, X), ({1, 2}, X),
                                       (Counter("aab"), X)]),
    (of_comprehension, (X,), [(X[:2],), (X[:0],), (np.array([0.5, NAN]),)]),
    (emptied, (X, Counter([3, 4, 4, 1])), [(X, Counter()), (X, Counter("abc")), (X, {1: 2})]),
]


@pytest.mark.usefixtures("little_work")
@pytest.mark.parametrize("f, args, others", CASES, ids=[case[0].__name__ for case in CASES])
def test_same_as_python(f, args, others):
    with fail_unless_captured():
        check(f, *args, others=others, calls=4, config=PYTHON)


@pytest.mark.usefixtures("little_work", "leaves_often")
def test_each_effect_once_whatever_exits_are_taken():
    for f, args, _ in CASES:
        check(f, *args, calls=4, config=PYTHON)


@pytest.mark.parametrize("f, args", [(counted_here, (X,)), (pairs, (X, 30)), (weights, (X,))],
                         ids=["counted_here", "pairs", "weights"])
def test_in_machine_code(f, args):
    with fail_unless_captured():
        check(f, *args, calls=4)


@pytest.mark.skipif(CUT, reason="cut everywhere")
def test_new_keys_are_counted_without_leaving():
    assert_nothing_breaks(counted_here, X)
    assert launches(jitted(counted_here), X) == 1


def changed_between_calls(f, args, change, restore):
    """What a function answers before a change, under it and after it, plain and jitted."""
    g = jitted(f)
    for step in (None, change, None, restore, None):
        if step is not None:
            step()
        for _ in range(2):
            assert repr(g(*args())) == repr(f(*args()))


@pytest.mark.parametrize("name, new", [
    ("__missing__", lambda self, key: 5), ("__getitem__", lambda self, key: 7), ("get", lambda self, key, default=None: 9),
    ("__setitem__", lambda self, key, value: None), ("__iter__", lambda self: iter([1])), ("__len__", lambda self: 3),
    ("__contains__", lambda self, key: False), ("__bool__", lambda self: False), ("items", lambda self: [(1, 2)]),
    ("most_common", lambda self, n=None: []), ("__getattribute__", lambda self, name: lambda *arguments: [(4, 4)]),
    ("__delitem__", lambda self, key: None)])
def test_methods_that_the_program_gives_the_class(name, new):
    own = Counter.__dict__.get(name)

    def restore():
        setattr(Counter, name, own) if own is not None else delattr(Counter, name)

    def f(c, x):
        for v in x:
            c[int(v)] += 1
        if c:
            del c[1]
        return c[1], c.get(2, 0), 3 in c, len(c), list(c), list(c.items()), c.most_common(1)

    changed_between_calls(f, lambda: (Counter([1, 2]), X), lambda: setattr(Counter, name, new), restore)


def test_objects_with_methods_of_their_own():
    def f(c, x):
        for v in x:
            c[int(v)] += 1
        return c.get(2, 0), x * 2.0

    def own(n):
        c = Counter()
        if n:
            c.get = lambda *arguments: n
        return c

    g = jitted(f)
    for n in (0, 0, 0, 5, 0, 6):
        assert repr(g(own(n), X)) == repr(f(own(n), X))
