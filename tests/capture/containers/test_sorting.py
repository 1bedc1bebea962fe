"""``sorted`` of numbers, strings, tuples and dicts, by keys of all kinds, and functions that take or make functions:
``functools.reduce``, ``next`` and the getters of ``operator``."""

import functools
import operator

import numpy as np

from tests.harness import check, fail_unless_captured, jitted, nothing_breaks, same, same_answers

X = np.array([2.5, -1.0, 7.0, 0.5, 3.0, -0.0])
PAIRS = [(2.0, "b"), (1.0, "a"), (1.0, "c"), (-0.0, "z"), (0.0, "y")]
WORDS = ["pear", "fig", "apple", "fig", "Quince"]
TABLE = {"b": 2.0, "a": 3.5, "c": 1.0}
PYTHON = {"backend": "python"}


class Backwards:
    """Compares the wrong way round, and counts."""

    def __init__(self, value):
        self.value, self.asked = value, 0

    def __lt__(self, other):
        self.asked += 1
        return self.value > other.value

    def __eq__(self, other):
        return type(other) is Backwards and (self.value, self.asked) == (other.value, other.asked)

    __hash__ = None


def of_keys(d, x):
    s = 0.0
    for k in sorted(d):
        s = s * 0.5 + d[k] * x[0]
    for k, v in sorted(d.items(), reverse=True):
        s = s * 0.5 + v * len(k)
    return s, sorted(d), sorted(d.keys(), reverse=True), sorted(d.values()), x * 2.0 + 1.0


def of_strings(words, x):
    return sorted(words), sorted(words, reverse=True), x * len(words) + 1.0


def of_tuples(pairs, x):
    return sorted(pairs), sorted(pairs, reverse=True), sorted([(v, k) for k, v in enumerate(x)]), x * 2.0 + 1.0


def by_keys(pairs, x):
    return (sorted(pairs, key=lambda t: (t[0], t[1])), sorted(pairs, key=lambda t: t[1]), x * 2.0 + 1.0,
            sorted(pairs, key=operator.itemgetter(1, 0)), sorted(pairs, key=operator.itemgetter(0), reverse=True))


def got(pairs, table, x):
    best = max(table.items(), key=operator.itemgetter(1))
    widest = max([x, x[:2]], key=operator.attrgetter("size"))
    return best, widest, [v for v in map(operator.itemgetter(1), pairs)], operator.attrgetter("dtype.kind", "ndim")(x)


def reduced(x, items):
    total = functools.reduce(operator.add, items) + functools.reduce(lambda a, b: a * 0.5 + b, x)
    return total, functools.reduce(max, x, 0.25), functools.reduce(lambda a, b: a + b, [x, x * 2.0, x])


def first(x, limit):
    at = next((i for i, v in enumerate(x) if v > limit), -1)
    found = next((v for v in x if v < -limit), None)
    return at, found, next(iter(x)) + next(reversed(x)) + next(zip(x, x))[1], next(map(lambda v: v * 2.0, x))


CASES = [
    (of_keys, (TABLE, X), [({}, X), ({"q": 1, "p": 2.5}, X), ({2: 1.0, 1: 2.0}, X), ({2: 1.0, "a": 2.0}, X)]),
    (of_strings, (WORDS, X), [([], X), (tuple(WORDS), X), (WORDS * 20, X), (["b", 1], X), (["b", None], X)]),
    (of_tuples, (PAIRS, X), [([], X), (PAIRS * 9, X), ([(1, 2), (1,)], X), ([(1, "a"), (1, 2)], X), ([(1, X)], X),
                             ([(float("nan"), 1), (2.0, 0)], X)]),
    (by_keys, (PAIRS, X), [([], X), (PAIRS * 9, X), ([(1, 2), (1,)], X), ([(X, 1), (X, 2)], X)]),
    (got, (PAIRS, TABLE, X), [(PAIRS, {"a": 1, "b": 2.0}, X), ([], {}, X), (PAIRS[:1], TABLE, X.reshape(2, 3))]),
    (reduced, (X, [1.0, 2.5, 4.0]), [(X[:1], [1]), (X[:0], [1.0]), (X, [])]),
    (first, (X, 2.6), [(X, 100.0), (X[:0], 1.0), (X.astype(int), 0)]),
]

test_same_answers = same_answers(CASES, PYTHON)
test_nothing_breaks = nothing_breaks(CASES)


def test_objects_with_an_order_of_their_own_are_compared_once():
    def f(items, x):
        return [item.value for item in sorted(items)], x * 2.0 + 1.0

    check(f, [Backwards(1), Backwards(3), Backwards(2)], X, config=PYTHON,
          others=[(["a", "b"], X), ([Backwards(2), Backwards(5)], X)])


def test_a_sorted_list_is_nobody_else_s():
    def f(words, x):
        more = sorted(words)
        more.append("z")
        more[0] = words[0]
        return more, words, x * 2.0 + 1.0

    with fail_unless_captured():
        check(f, WORDS, X, others=[(WORDS[:2], X)], config=PYTHON)


def test_next_of_an_iterator_of_the_caller_s():
    def f(it, x):
        return next(it) + x.sum(), next(it, None)

    j = jitted(f, PYTHON)
    for _ in range(3):
        plain, ours = iter(X), iter(X)
        same(f(plain, X), j(ours, X))
        same(list(plain), list(ours))


@fail_unless_captured()
def test_in_machine_code():
    def f(words, pairs, x):
        s = functools.reduce(lambda a, b: a * 0.5 + b, x, 0.0)
        at = next((i for i, v in enumerate(x) if v > 2.6), -1)
        return s + at, sorted(words), sorted(pairs, key=operator.itemgetter(1))

    check(f, WORDS, PAIRS, X, others=[(WORDS[:1], PAIRS * 3, X[:2])])


def again_of_another_kind(x, s):
    for _ in range(3):
        for t in sorted(x):
            x = x * s
    return x, t


def test_items_of_another_kind_in_the_next_round():
    check(again_of_another_kind, np.array([3, 1, 2]), 0.5)
