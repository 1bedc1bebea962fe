"""How the arguments of calls that run inside the caller's kernel are bound: defaults, keywords, stars."""

import functools

import numpy as np
import pytest

import pijit
from tests.capture.scalars.test_scalars import define
from tests.harness import check, fail_unless_captured, jitted, kernel_count

X = np.linspace(-2.0, 3.0, 40)
N = np.arange(40)

FUNCTIONS = """
def a(a, b=2.0, c=3.0, *, k=0.5):
    return a * b + c * k

def v(first, *rest, k=1.0):
    return first * k + len(rest)

def w(first, **rest):
    return first * 2.0

p = functools.partial(a, c=9.0)

def f(%s):
    y = %s
    return %s
"""

CALLS = ["a(x, 2.0, 3.0)", "a(x, 2.0, c=3.0)", "a(x, c=3.0, b=2.0)", "a(c=3.0, b=2.0, a=x)", "a(x)", "a(x, c=4.0)",
         "a(x, k=5.0)", "a(a=x, k=1.0, c=2.0)", "a(x, 2.0, 3.0, 4.0)", "a()", "a(x, a=x)", "a(x, z=1.0)",
         "a(x, 1.0, b=2.0)", "p(x)", "p(x, b=7.0)", "v(x)", "v(x, 1.0)", "v(x, 1.0, 2.0, k=3.0)", "v(k=3.0)", "w(x)",
         "w(x, k=3.0)", "w(x, y=3.0)"]
WRONG = ["a(x, 2.0, 3.0, 4.0)"]
BOUND = [call for call in CALLS[:9] if call not in WRONG] + [
    "p(x)", "p(x, b=7.0)", "v(x)", "v(x, 1.0)", "v(x, 1.0, 2.0, k=3.0)", "w(x, k=3.0)"]


@pytest.mark.parametrize("call", CALLS)
def test_ways_to_pass_arguments(call):
    f = define(FUNCTIONS % ("x", "x * 2.0 + 1.0", call.replace("x", "y") + " + y"), functools=functools, np=np)
    check(f, X, others=[(N,), (2.0,)])


@pytest.mark.parametrize("call", BOUND)
def test_arguments_bind_without_a_break(call):
    f = define(FUNCTIONS % ("x", "x", call.replace("x", "y")), functools=functools)
    assert not pijit.explain(f, X).breaks, pijit.explain(f, X)


STARS = [
    ("v(x, *more)", ((1.0, 2.0), {})), ("v(*more, x)", ((X, 2.0), {})), ("v(x, 1.0, *more, 2.0)", ([3.0], {})),
    ("a(x, **named)", ((), {"c": 2.0})), ("a(x, **named)", ((), {"k": X, "b": 1.5})),
    ("a(x, b=1.5, **named)", ((), {"k": 2.0})), ("a(x, *more, **named)", ((1.5,), {"k": 2.0})),
    ("w(x, **named)", ((), {"z": 1, "y": 2.0})), ("p(x, **named)", ((), {"b": 2.0})), ("v(x, *more, k=2.0)", ((), {})),
]


@pytest.mark.parametrize("call, passed", STARS)
def test_stars_of_containers_from_outside(call, passed):
    f = define(FUNCTIONS % ("x, more, named", "x", call), functools=functools)
    with fail_unless_captured():
        check(f, X, *passed, others=[(X, (2.0,), {"k": 3.0}), (X, (1.0, 2.0), {"b": 2.0}), (X, (), {1: 2.0}),
                                     (X, 3, {"nobody": 1.0}), (X, (), {"a": 1.0}), (X, (), None)])
    assert not pijit.explain(f, X, *passed).breaks, pijit.explain(f, X, *passed)


def test_a_dict_of_keywords_that_changes():
    f = define("""
def g(x, b=1.0, c=2.0, **others):
    s = x * b + c
    for name, value in others.items():
        s = s * value + len(name)
    return s

def f(x, named):
    y = x + 1.0
    return g(y, **named) + y
""")
    j = jitted(f)
    named = {"b": 2.0}
    for change in (lambda: None, lambda: named.update(c=3.0), lambda: named.update(b=5),
                   lambda: named.update(some=2.0, more=3.0),
                   lambda: named.update(some=named.pop("some")), lambda: named.clear(), lambda: named.update(c=X)):
        change()
        for _ in range(3):
            np.testing.assert_array_equal(j(X, named), f(X, named))
    assert kernel_count(j)
