"""Functions of math and operator, and builtins that the kernel calls as they are."""

import math
import operator

import numpy as np
import pytest

from tests.harness import assert_nothing_breaks, check, fail_unless_captured

X = np.array([2.5, -1.0, 7.0, 0.5, 3.0, -0.0])
PYTHON = {"backend": "python"}
ONE = ["floor", "ceil", "trunc", "fabs", "isnan", "isfinite", "isinf", "degrees", "radians", "asinh", "acosh", "atanh",
       "erf", "erfc", "gamma", "lgamma", "log2"]
TWO = ["pow", "hypot", "atan2", "fmod", "copysign", "isclose", "gcd"]


def of_one(f):
    def one(a, x):
        return f(a), x * 2.0 + 1.0
    return one


def whole_numbers(x, a):
    s, n = 0.0, 0
    for v in x:
        s += np.float32(v) + np.int64(v)
        n += np.int32(v * 3.0)
    return s, n, np.uint8(abs(a)), np.int8(a), np.uint64(abs(a)), np.int64(a), x * 2.0


def of_two(f):
    def two(a, b, x):
        return f(a, b), x * 2.0 + 1.0
    return two


@pytest.mark.parametrize("name", ONE)
def test_one_number(name):
    others = [(a, X) for a in (0.5, -2.5, 3, True, np.float64(2.5), np.float32(0.25), 0.0, float("nan"), float("inf"),
                               1e300, 2 ** 62, "text", X[:1])]
    check(of_one(getattr(math, name)), 1.5, X, others=others, config=PYTHON)


@pytest.mark.parametrize("config", [{}, PYTHON], ids=["numba", "python"])
def test_numpys_integers_of_floats(config):
    others = [(X, a) for a in (127.9, -128.5, -0.9, 128.0, 255.5, 256.0, 2.0**63, -2.0**63, 1e300, float("nan"),
                               np.float64(-3.5), np.float32(7.75), 5, True)]
    others += [(X.astype(np.float32), 1.5), (X * 1e10, 1.5), (X / 0.5, 1.5)]
    check(whole_numbers, X, 2.5, others=others, config=config)
    assert_nothing_breaks(whole_numbers, X, 2.5)


@pytest.mark.parametrize("name", TWO)
def test_two_numbers(name):
    others = [(a, b, X) for a, b in ((2.0, 3.0), (-0.0, 0.0), (6, 4), (np.float64(2.0), 3), (1e300, 1e300),
                                     (0.0, -1.0), (float("inf"), 2.0), (2, X[:1]))]
    check(of_two(getattr(math, name)), 1.5, 2.0, X, others=others, config=PYTHON)


def operators(a, b, x):
    lists = operator.getitem(x, 1), operator.getitem((a, b), 0)
    return (operator.add(a, b), operator.mul(x, a), operator.neg(a), operator.truediv(a, b), operator.lt(a, b), lists,
            operator.sub(x, x[0]), operator.is_(a, None), operator.pow(a, 2), operator.abs(b))


def rounded(a, x):
    return round(a), round(a, 1), round(x[2]), round(3), [round(v * 1.25, 1) for v in x]


def made(a, x):
    d = dict(p=a, q=x)
    return d, dict(), x[slice(1, 4)], x[slice(2)], bool(d), bool((a,)), bool(()), d["p"] * 2.0


def questions(x, items, table):
    s = 0.0
    for i in range(len(x)):
        if operator.not_(i) or operator.truth(x[i] - 1.0) and not operator.contains(items, i):
            s += operator.index(i) + operator.index(np.int32(i)) * x[i]
    return s, operator.contains(table, "a"), operator.not_(table), operator.truth(items), operator.index(items[0])


def stores(x, items, table):
    operator.setitem(items, 0, x[0] * 2.0)
    operator.setitem(x, 1, 5.0)
    operator.setitem(table, "b", x[2])
    operator.delitem(table, "a")
    y = operator.imul(operator.iadd(x, 1.0), 2.0)
    more = operator.iadd(items, [x[1]])
    y += operator.iadd(x[0], 3)
    return y, more, operator.ipow(3, 2), operator.iand(6, 3)


CASES = [(questions, (X, [3, 5], {"a": 1.0}), [(X, [0.0], {}), (X, [True], {}), (X, [], {"b": 1})]),
         (stores, (X, [3.0, 5.0], {"a": 1.0}), [(X, [1.0], {}), (X, [], {"a": 2.0})]), (operators, (1.5, 2.0, X), [(3, 2, X), (3, 0, X), (np.float64(1.0), 0.5, X)]),
         (rounded, (2.5, X), [(1e300, X), (-0.5, X), (np.float64(2.675), X), (7, X), (float("inf"), X)]),
         (made, (2.0, X), [(3, X)])]


@pytest.mark.parametrize("f, args, others", CASES, ids=[case[0].__name__ for case in CASES])
def test_same_answers(f, args, others):
    check(f, *args, others=others, config=PYTHON)


@pytest.mark.parametrize("f, args", [case[:2] for case in CASES], ids=[case[0].__name__ for case in CASES])
def test_nothing_breaks(f, args):
    assert_nothing_breaks(f, *args)


@fail_unless_captured()
def test_in_machine_code():
    def f(x, n):
        s = 0
        for i in range(n):
            s += math.floor(x[i] * 1.5) + operator.mul(i, 2) + (1 if math.isnan(x[i]) else 0)
        return s, round(x[0], 1), math.hypot(x[0], x[1])

    check(f, X, 5, others=[(np.array([1.0, np.inf, 2.0]), 2), (np.array([1.0, 2.0]), 2)])


def compared(a, b, x):
    return (np.greater(a, b), np.less_equal(a, 2), np.equal(a, b), np.not_equal(a, a)), x * np.less(a, b)


@pytest.mark.parametrize("config", [{}, PYTHON], ids=["numba", "python"])
def test_numpys_comparisons_of_pythons_numbers(config):
    others = [(a, b, X) for a, b in ((3, 3), (2, -1), (-2**63, 2**63 - 1), (2**70, 3), (3, -2**70), (True, 1), (1, 0.5),
                                     (np.int8(3), 3), (2**53 + 1, 2.0**53), (3, np.uint64(3)), (1.5, True))]
    check(compared, 0, -1, X, others=others, config=config)
    with fail_unless_captured():
        check(compared, 0, -1, X, config=config)
    assert_nothing_breaks(compared, 0, -1, X)
