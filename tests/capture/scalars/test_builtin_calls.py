"""Builtins, functions of math, methods of numbers, and questions about classes: answered or called by kernels."""

import collections.abc
import math
import numbers
import sys

import numpy as np
import pytest

import pijit
from tests.harness import check, fail_unless_captured, nothing_breaks, same_answers

X = np.array([2.5, -1.0, 7.0, 0.5, 3.0, -0.0])
I = np.array([3, 0, -2, 7, 7, 1])
LONG = [0.25 * k for k in range(40)]
PYTHON = {"backend": "python"}


def divided(x, b):
    s = 0.0
    for v in x:
        q, r = divmod(v, b)
        s += q * 10.0 + r
    return s, divmod(x[0], x[1]), divmod(7, 3)


def powers(x, n):
    return [pow(i, n, 7) for i in range(len(x))], pow(3, 4, 5), x * 2.0 + 1.0


def floats(x, b):
    s = 0.0
    for v in x:
        whole, part = math.modf(v), math.frexp(v)
        s += whole[0] * whole[1] + part[0] * part[1] + math.log(v * v + 1.0, b) + math.ldexp(v, 3)
        s += math.remainder(v, 0.7) + math.isclose(v, 2.5, rel_tol=0.1, abs_tol=1e-9) + math.hypot(v, b)
    return s, math.modf(x[0])


def integers(x, k):
    return sum(math.factorial(i) + math.gcd(i, 12) for i in range(k)), math.gcd(k, 18), x * 2.0, hash(k), hash(2.0)


def of_all(xs, x):
    return math.fsum(xs), math.fsum(x), math.fsum([v * 0.1 for v in x]), math.fsum(v for v in x)


def methods(x, k):
    s = 0.0
    for v in x:
        s += v.item() + float(v * 2).is_integer() + v.real
    return s, k.bit_length(), x[0].item(), x[0].real, type(x[0].item())


def parsed(x):
    return int("12") * x[0] + float("2.5") * x, int(" 7 "), float("inf")


def asked(x, v):
    answers = [isinstance(v, numbers.Real), isinstance(v, numbers.Integral), isinstance(v, collections.abc.Sized),
               isinstance(x, (list, collections.abc.Sequence)), issubclass(bool, int), issubclass(float, (int, str)),
               isinstance(v, (int, np.integer)), callable(math.sin), v is None, type(v) is float]
    return answers, x * 2.0 + 1.0


def chosen(x):
    s = 0.0
    for i, v in enumerate(x):
        if i in {1, 3, 4} and int(v) not in {7, -1}:
            s += v
        if "b" in {"a", "b"}:
            s += 1.0
    return s


def member(x, v):
    return v in {1, 2, "a"}, x * 2.0 + 1.0


CASES = [
    (divided, (X, 0.75), [(X, -2.0), (I, 3), (I, 0), (X, 0.0), (X, np.float64(0.5)), (X.astype("f"), 0.5),
                         (X, float("nan"))]),
    (powers, (X, 3), [(X, 0), (X, -1), (X, 2.0)]),
    (floats, (X, 2), [(X, 1), (X, 2.5), (np.array([np.inf, 1.0]), 2), (np.array([np.nan]), 2), (I, 3),
                     (X.astype("f"), 2)]),
    (integers, (X, 6), [(X, 25), (X, 0), (X, True), (X, 2.0)]),
    (of_all, (LONG, X), [(LONG[:20] + [3], X), (LONG[:20] + ["text"], X), ([1e308, 1e308] + LONG, X), ([], X[:0])]),
    (methods, (X, 5), [(I, -9), (X.astype("f"), 2 ** 70), (X > 0, 1)]),
    (parsed, (X,), [(I,)]),
    (asked, (X, 1.5), [(X, 2), (X, None), (X, np.float64(1.0)), (X, np.int64(3)), (X, "text"), (X, [1.0])]),
    (chosen, (X,), [(I.astype(float),), (np.array([np.nan, np.nan]),)]),
    (member, (X, 2), [(X, 1), (X, "a"), (X, [1]), (X, (1, 2)), (X, None), (X, X), (X, 2.0)]),
]

test_same_answers = same_answers(CASES, PYTHON)
test_nothing_breaks = nothing_breaks(CASES)


@pytest.mark.skipif(sys.version_info < (3, 8), reason="math.prod and math.dist are new")
def test_products_and_distances():
    def f(xs, x, k):
        products = math.prod(xs), math.prod(x, start=2), math.prod(i + 1 for i in range(k))
        return products, math.dist((x[0], 1), (k, x[1]))

    with fail_unless_captured():
        check(f, LONG[1:], X, 5, config=PYTHON, others=[
            (LONG, X, 40), ([2 ** 40, 2 ** 40] + [1] * 20, X, 3), (LONG + ["text"], X, 3), ([1, 0.5] * 20, X[:2], 0)])


@fail_unless_captured()
def test_in_machine_code():
    def f(x, n):
        s = 0.0
        for v in x:
            q, r = divmod(v, 0.75)
            whole, part = math.modf(v)
            s += q * r + whole * part + math.log(v * v + 1.0, n) + math.isclose(v, 2.5, rel_tol=0.1) + v.item()
            if int(v) in {2, 7} and isinstance(v, numbers.Real):
                s += pow(n, 3, 5)
        return s, math.fsum([v for v in x])

    check(f, X, 2, others=[(np.array([1.0, np.inf]), 2), (X, 1)])


def test_a_class_that_is_registered_later():
    class Late:
        pass

    def f(x, v):
        return isinstance(v, numbers.Rational), x * 2.0 + 1.0

    j = check(f, X, 1.5, others=[(X, Late())], config=PYTHON)
    assert not j(X, np.float64(2.0))[0]


def test_user_code_in_a_list_runs_once():
    calls = []

    class Number:
        def __float__(self):
            calls.append(1)
            return 0.5

    def f(xs, x):
        return math.fsum(xs) + x[0], x * 2.0 + 1.0

    j = pijit.jit(f, jit_config=PYTHON)
    j(LONG, X)
    for _ in range(3):
        del calls[:]
        assert j(LONG + [Number()], X)[0] == f(LONG + [0.5], X)[0]
        assert len(calls) == 1


@pytest.mark.parametrize("v", [2, 2.5, True, 1j, np.float32(1.5), "a", b"a", None, X, (1, 2), [1], {"a": 1}])
def test_isscalar(v):
    def f(x, v):
        return np.isscalar(v), (x * 2.0 if np.isscalar(v) else x + 1.0), np.isscalar(x[0]), np.isscalar(x)

    with fail_unless_captured():
        check(f, X, v, others=[(X, 3), (X, X)])
