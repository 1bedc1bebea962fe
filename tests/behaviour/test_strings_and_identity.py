"""Strings, membership, identity, comparison of sequences, constants, and what the environment says."""

import math
import os

import numpy as np

from tests.behaviour.cases import Case, X, Y, each, group
from tests.harness import jitted, same


def from_environment(x, name):
    k = float(os.environ.get(name, "2.5"))
    y = x * k + 1.0
    return y - x, os.getenv(name), name in os.environ


@group(60)
def test_environment(monkeypatch):
    j = jitted(from_environment)
    for value in (None, "3.0", "4.0", None):
        if value is None:
            monkeypatch.delenv("PIJIT_TEST_SCALE", raising=False)
        else:
            monkeypatch.setenv("PIJIT_TEST_SCALE", value)
        for _ in range(3):
            same(from_environment(X, "PIJIT_TEST_SCALE"), j(X, "PIJIT_TEST_SCALE"))


def compare_nested(a, b, x):
    y = x * 2.0 + 1.0
    y = y - x
    return y, a == b, a != b


def order_nested(a, b, x):
    y = x * 2.0 + 1.0
    y = y * x if a < b else y - x
    return y, a <= b


def concatenated(a, b, x):
    y = x * 2.0 + 1.0
    return y - x, a + b, a * 2


NESTED = [((1, (2, 3)), (1, (2, 3))), ([1, [2, "a"]], [1, [2, "b"]]), ((1, X), (1, X)), ((1, X), (1, Y)),
          ((X,), (X.copy(),)), ((1, 2), [1, 2]), ((1, None), (1, 2)), ("ab", "b"),
          ((1, X[:1]), (1, Y[:1])), (None, None)]


@each(*[Case(77, f, *NESTED[0], X, kernels=1, others=[pair + (X,) for pair in NESTED])
        for f in (compare_nested, order_nested, concatenated)])
def test_sequences_compared(case):
    case.run()


def constants(x):
    y = x * (2 * 3 + 1) + len("four") - abs(-2)
    return y * math.sqrt(4.0) - max(1, 2) + int("3") + np.pi


def type_tests(x, k):
    y = x * 2.0 + 1.0
    if isinstance(k, (int, float)):
        y = y * k
    if isinstance(x, np.ndarray) and type(k) is not str:
        y = y - x
    if callable(k) or hasattr(k, "shape"):
        y = y + 1.0
    return y


def math_of_array(x):
    y = x * 2.0 + 1.0
    return math.exp(y) * x - 1.0


def replaced(x, name):
    y = x * 2.0 + len(name.replace("a", "bcd"))
    return y - x, name.upper()


@each(
    Case(84, constants, X, kernels=1, others=[(2.0,), (X.astype("f"),)]),
    Case(84, type_tests, X, 2, kernels=1, others=[(X, 2.0), (X, "s"), (X, Y), (X, len), (2.0, True), (X, None)]),
    Case(84, math_of_array, X[:1], others=[(X,), (2.0,), (np.array(1.0),), (X[:0],)]),
    Case(84, replaced, X, "abca", kernels=1, others=[(X, ""), (X, 3), (X, b"a")]),
)
def test_constants_and_type_tests(case):
    case.run()


def formatted(x, name, k):
    y = x * 2.0 + 1.0
    text = f"{name}: {k!r:>5} {y[0]:.3f}" + "-" * 3
    return y * x - 1.0, text, "%s" % name, "{:d}".format(len(y)), name + "!"


def member(x, k, xs):
    y = x * 2.0 + 1.0
    if k in xs:
        y = y * x
    if k not in xs:
        y = y - 1.0
    return y


def member_of_constants(x, mode):
    y = x * 2.0 + 1.0
    if mode in ("a", "b", 3):
        return y * x
    return y - x if mode not in {"c", None} else y


def element_of_array(x, k):
    y = x * 2.0 + 1.0
    return y * x - 1.0 if k in y else y - x


def identical(x, y):
    z = x * 2.0 + 1.0
    if x is y:
        z = z * y
    if x is not y and y is not None:
        z = z - y
    return z, z is x, x is y


def in_place_is_same(x, y):
    z = x
    z += 1.0
    z *= y
    w = z * 2.0
    return z is x, w is z, w - x


def kept_identity(x, t):
    y = x * 2.0 + 1.0
    y = y - x
    a = t
    return y, a is t, a[0] is t[0], (x,)[0] is x


def characters(s, k, x):
    codes = 0
    for c in s:
        codes += ord(c) if c > "a" else k
    return s[k] == s[-1], s[:k], codes, x * 2.0 + len(s)


@each(
    Case(85, characters, "some text", 2, X, kernels=1,
         others=[("\u00e9t\u00e9", 2, X), ("", 0, X), ("ab", 2, X), (b"ab", 0, X), (["a", "b"], 1, X), ("ab", 1.0, X)]),
    Case(85, formatted, X, "n", 3, kernels=1, others=[(X, "m", "k"), (X, 1, Y[:1]), (X[:0], "n", 1)]),
    Case(85, member, X, 2, [1, 2], kernels=1,
         others=[(X, 3, (1, 2)), (X, "a", {"a": 1}), (X, "a", "abc"), (X, 1.0, X), (X, 1, 1), (X, X, [X])]),
    Case(85, member_of_constants, X, "a", kernels=1,
         others=[(X, "z"), (X, 3), (X, 3.0), (X, None), (X, [1]), (X, Y)]),
    Case(85, element_of_array, X, 2.0, kernels=1, others=[(X, 99), (X, "s"), (X[:0], 1), (X, X)]),
    Case(85, identical, X, X, kernels=1, others=[(X, Y), (X, None), (X, X[:]), (2.0, X)], aliased=[(Y, Y)]),
    Case(85, in_place_is_same, X, Y, kernels=1, others=[(2.0, Y), (X, 2.0), (X.astype(int), 2)], aliased=[(X, X)]),
    Case(85, kept_identity, X, (X, 1), kernels=1, others=[(X, [Y]), (Y, (2.5,))]),
)
def test_strings_membership_and_identity(case):
    case.run()
