"""Comprehensions and generators, consumed at once or kept."""

import itertools
import types

import numpy as np

from tests.behaviour.cases import Case, X, Y, each, group
from tests.harness import jitted


def any_of(x, limit):
    y = x * 2.0 + 1.0
    if any(i % 2 == 0 for i in range(limit)):
        y = y - x
    return y, all(v > 1.0 for v in y), sum(v * v for v in y)


def kept_generator(x):
    y = x * 2.0 + 1.0
    g = (v * 2.0 for v in y)
    first = next(g)
    return y * first, list(g)


def generator_of_generators(x, n):
    y = x * 2.0 + 1.0
    return sum(sum(y[j] * i for j in range(i)) for i in range(n)), y - x


@each(
    Case(18, any_of, X, 3, kernels=1, others=[(X, 0), (Y, 1)]),
    Case(18, kept_generator, X, kernels=1, others=[(X[:1],), (X[:0],)]),
    Case(18, generator_of_generators, X, 4, kernels=1, others=[(X, 0), (X, 99)]),
)
def test_generator_expressions(case):
    case.run()


@group(18)
def test_a_returned_generator_is_one():
    def f(x):
        y = x * 2.0 + 1.0
        y = y - x
        return (v for v in y)
    j = jitted(f)
    for _ in range(3):
        assert type(j(X)) is types.GeneratorType and list(j(X)) == list(f(X))


def over_lists(x, xs):
    y = x * 2.0 + 1.0
    return [one * 2 for one in xs], [y * one for one in xs if one], [i + one for i, one in enumerate(xs)], y - x


def over_dicts(x, d):
    y = x * 2.0 + 1.0
    return {k: y * v for k, v in d.items()}, [k for k in d], [v for v in d.values()], {str(k) for k in d.keys()}


def over_ranges(x, a, b, s):
    y = x * 2.0 + 1.0
    return [i * 2 for i in range(a)], [y[0] * i for i in range(a, b)], [i for i in range(a, b, s) if i % 2], y - x


def over_zips(x, xs, ys):
    y = x * 2.0 + 1.0
    pairs = list(itertools.product(xs, ys))
    return [(a, b) for a, b in zip(xs, ys)], [a * i for i, a in enumerate(xs, 1)], pairs, y * x


def nested_comprehension(x, n):
    k = 2.0
    y = x * k + 1.0
    products = [i * j for i in range(n) for j in range(i) if i != j]
    return [[y[j] * k + i for j in range(i)] for i in range(n)], products, y - x


def breaks_around(x, xs):
    k = 3.0
    print("before", k)
    y = x * k + 1.0
    a = [one * k for one in xs]
    print("after")
    y = y * x - k
    b = [print(one) or one + k for one in xs]
    k = 4.0
    return y * 2.0 - x, a, b, [one * k for one in xs]


def arrays_from(x, n):
    rows = np.array([x * i + 1.0 for i in range(n)])
    return rows * 2.0 - x, np.array([v * 2 for v in x if v > 1.0])


@each(
    Case(19, over_lists, X, [1, 2.5], kernels=1,
         others=[(X, ()), (X, (X, Y)), (X, Y[:3]), (X, {1: 2}), (X, "ab"), (X, [None, 1])]),
    Case(19, over_dicts, X, {"a": 1, "b": Y}, kernels=1, others=[(X, {}), (X, {1: None}), (X, [1])]),
    Case(19, over_ranges, X, 2, 5, 2, kernels=1,
         others=[(X, 0, 0, 1), (X, 3, -3, -2), (X, 1, 2, 0), (X, 1.5, 2, 1)]),
    Case(19, over_zips, X, [1, 2], (3, 4, 5), kernels=1, others=[(X, [], [1]), (X, X[:2], [Y]), (X, 3, [])]),
    Case(19, nested_comprehension, X, 3, kernels=1, others=[(X, 0), (X, 99)]),
    Case(19, breaks_around, X, [1, 2], kernels=1, others=[(Y, ()), (X, [Y])]),
    Case(19, arrays_from, X, 3, others=[(X, 0), (2.0, 1)]),
)
def test_comprehensions(case):
    case.run()


def produce(x, n):
    for i in range(n):
        yield x * i + 1.0


def delegate(x):
    yield x
    got = yield from [x * 2.0, 3.0]
    yield got


def delegate_to(it):
    return (yield from it)


def consume(x, n):
    y = x * 1.0
    for one in produce(x, n):
        y = y * 0.5 + one
    return y - x


def consume_delegated(x):
    y = x * 1.0
    for one in delegate(x):
        y = y * 0.5 if one is None else y + one
    return y - x


def consume_iterator(x, xs):
    y = x * 1.0
    for one in iter([x, 2.0]):
        y = y * 0.5 + one
    for one in delegate_to(xs):
        y = y + one
    return y * 2.0 - x


@each(
    Case(20, consume, X, 3, kernels=1, others=[(X, 0), (2.0, 2)]),
    Case(20, consume_delegated, X, kernels=1, others=[(2.0,)]),
    Case(20, consume_iterator, X, [1.0, 2.0], kernels=1, others=[(X, range(3)), (X, [Y]), (X, 3)]),
)
def test_generators_consumed_in_loops(case):
    case.run()
