"""Functions made inside the function that calls them."""

import numpy as np
import pytest

import pijit
from tests.capture.inlining.test_inlining import frames_of
from tests.capture.scalars.test_scalars import define
from tests.harness import check, fail_unless_captured, jitted, kernel_count

X = np.linspace(-2.0, 3.0, 40)


def without_cells(x):
    def twice(v):
        return v * 2.0 + 1.0
    s = 0.0
    for i in range(len(x)):
        s += twice(x[i])
    return s


def over_an_argument(x, w):
    def weighted(v):
        return v * w
    y = weighted(x) + 1.0
    return weighted(y) - y


def over_a_local(x):
    w = x * 2.0

    def weighted(v):
        return v * w
    return weighted(x) + weighted(w)


def immediate(x):
    y = (lambda a, b: a * b - 1.0)(x, 2.0)
    return y * y


def nested_twice(x, w):
    def outer(v):
        def inner(u):
            return u * w
        return inner(v) + 1.0
    return outer(x) - x


def with_defaults(x):
    def shifted(v, by=2.0, *, k=1.0):
        return v * k + by
    return shifted(x) + shifted(x, 3.0, k=2.0)


def in_a_branch(x, flag):
    if flag:
        def g(v):
            return v * 2.0
    else:
        def g(v):
            return v - 1.0
    return g(x) + g(x * 2.0)


def changed(x, w):
    def weighted(v):
        return v * w
    y = weighted(x)
    w = x
    return y + weighted(x)


def by_the_callee(x, n):
    def count():
        nonlocal n
        n = n + 1.0
        return n
    y = x * 2.0
    count()
    return y * count() + n


def handed_on(x, w):
    def weighted(v):
        return v * w
    return weighted(x) * 2.0, weighted


PROGRAMS = [
    (without_cells, (X,), [(X[:0],), (np.arange(5),), (["a"],)]),
    (over_an_argument, (X, 2.0), [(X, X), (X, 3), (X, "a"), (X.astype("f"), np.float32(2))]),
    (over_a_local, (X,), [(X[::2],)]),
    (immediate, (X,), [(np.arange(4),)]),
    (nested_twice, (X, 2.0), [(X, X)]),
    (with_defaults, (X,), [(X[:3],)]),
    (in_a_branch, (X, True), [(X, False), (X, X[:1] > 0)]),
    (changed, (X, 2.0), [(X, X * 3.0), (X, 3)]),
    (by_the_callee, (X, 1.0), [(X, 2), (X, X)]),
]


@pytest.mark.parametrize("f, args, others", PROGRAMS, ids=[row[0].__name__ for row in PROGRAMS])
def test_programs(f, args, others):
    check(f, *args, others=others)


@pytest.mark.parametrize("f, args", [(without_cells, (X,)), (over_an_argument, (X, 2.0)), (immediate, (X,))])
def test_calls_are_inlined(f, args):
    with fail_unless_captured():
        j = check(f, *args)
    found = pijit.explain(f, *args)
    assert not [one for one in found.breaks if one.opname.startswith("CALL")], found
    assert kernel_count(j)


def test_the_function_that_is_returned_is_the_one_that_was_made():
    j = jitted(handed_on)
    for _ in range(3):
        y, g = j(X, 2.0)
        np.testing.assert_array_equal(y, X * 2.0 * 2.0)
        assert g.__code__ is handed_on(X, 2.0)[1].__code__ and g(3.0) == 6.0
    assert j(X, 2.0)[1] is not j(X, 2.0)[1]


def test_exceptions():
    def f(x, limit):
        def checked(v):
            if v > limit:
                raise ValueError("above")
            return v * 2.0
        s = 0.0
        for i in range(len(x)):
            s += checked(x[i])
        return s

    j = jitted(f)
    for _ in range(2):
        assert j(X, 9.0) == f(X, 9.0)
        assert frames_of(j, X, 2.0) == frames_of(f, X, 2.0) is not None
    assert kernel_count(j)


def doubled(fn):
    def wrapper(*args, **kwargs):
        return fn(*args, **kwargs) * 2.0
    return wrapper


@doubled
@doubled
def decorated(v, by=1.0, *, k=2.0):
    return v * k + by


def target(a, b=1.0, *rest, c=2.0):
    return a * b + c + len(rest)


FORWARDED = ["decorated(x)", "decorated(x, 3.0)", "decorated(x, by=3.0, k=x)", "decorated(by=3.0, v=x)", "decorated()",
             "target(*t)", "target(*t, c=5.0)", "target(*(x, x))", "target(x, *t)", "target(*t, **{})", "target(x, **d)",
             "target(*[x, 2.0])", "target(**d, a=x)", "target(x, **{'b': 4.0})", "target(x, **3)", "target(*3)"]


@pytest.mark.parametrize("call", FORWARDED)
def test_star_arguments(call):
    f = define("def f(x, t, d):\n    y = x * 1.0\n    return " + call + " + y", decorated=decorated, target=target)
    check(f, X, (X, 2.0), {"b": 3.0}, others=[(X, (X,), {}), (X, [X, 3.0], {"c": X}), (X, (1, 2, 3, 4), {"z": 1})])


def test_decorated_functions_are_inlined():
    def f(x):
        s = 0.0
        for i in range(len(x)):
            s += decorated(x[i], by=0.5)
        return s

    with fail_unless_captured():
        check(f, X, others=[(X[:0],), (np.arange(4),)])
    assert not pijit.explain(f, X).breaks, pijit.explain(f, X)
