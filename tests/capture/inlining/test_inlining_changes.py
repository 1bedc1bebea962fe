"""What callees see that run inside the caller's kernel, and what changes of it: code, defaults, modules, closures."""

import numpy as np
import pytest

import pijit
from tests.capture.inlining.test_inlining import N, X
from tests.capture.scalars.test_scalars import define
from tests.harness import HIT, assert_calls, check, fail_unless_captured, jitted, kernel_count

MODULE = """
SCALE = 2.0
TABLE = np.arange(5.0)
def inner(v, k=3.0, *, m=1.0):
    return v * SCALE + k * m + TABLE
def f(x):
    y = x * 2.0
    return inner(y) + y
"""


def rebound(change):
    """A program before and after ``change`` of its namespace: plain and jitted."""
    plain, twin = define(MODULE, np=np), define(MODULE, np=np)
    j = jitted(twin)
    x = np.arange(5.0)
    for _ in range(3):
        np.testing.assert_array_equal(j(x), plain(x))
    assert kernel_count(j)
    for f in (plain, twin):
        change(f.__globals__)
    for _ in range(3):
        try:
            wanted = plain(x)
        except Exception as error:
            with pytest.raises(type(error), match=str(error).replace("(", r"\(").replace(")", r"\)")):
                j(x)
        else:
            got = j(x)
            assert got.dtype == wanted.dtype
            np.testing.assert_array_equal(got, wanted)


def other_code(names):
    def inner(v, k=3.0, *, m=1.0):
        return v - k
    names["inner"].__code__ = inner.__code__


CHANGES = {
    "function": lambda names: names.update(inner=lambda v: v * 7.0),
    "builtin": lambda names: names.update(inner=abs),
    "code": other_code,
    "defaults": lambda names: setattr(names["inner"], "__defaults__", (5.0,)),
    "default of another type": lambda names: setattr(names["inner"], "__defaults__", (np.arange(5),)),
    "no defaults": lambda names: setattr(names["inner"], "__defaults__", None),
    "more defaults": lambda names: setattr(names["inner"], "__defaults__", (1.0, 7.0)),
    "keyword default": lambda names: names["inner"].__kwdefaults__.update(m=4.0),
    "no keyword defaults": lambda names: setattr(names["inner"], "__kwdefaults__", None),
    "global of the callee": lambda names: names.update(SCALE=11.0),
    "global of another type": lambda names: names.update(SCALE=np.float32(3)),
    "array": lambda names: names.update(TABLE=np.ones(5)),
    "array in place": lambda names: names["TABLE"].fill(3.0),
    "deleted global": lambda names: names.pop("SCALE"),
    "deleted function": lambda names: names.pop("inner"),
}


@pytest.mark.parametrize("name", sorted(CHANGES))
def test_what_the_callee_sees_changes(name):
    rebound(CHANGES[name])


def test_the_callee_sees_its_own_module():
    other = define("SCALE = 10.0\ndef f(v):\n    return v * SCALE + len(v) + abs(-1)\n")
    for text in ("def f(x):\n    y = x * SCALE\n    return inner(y) - SCALE", "def f(x):\n    return inner(x * SCALE)"):
        f = define("SCALE = 2.0\n" + text, inner=other)
        with fail_unless_captured():
            j = check(f, X, others=[(N,)])
        assert not pijit.explain(f, X).breaks
        for names in (other.__globals__, f.__globals__):
            names["SCALE"] = names["SCALE"] + 1.0
            np.testing.assert_array_equal(j(X), f(X))
        other.__globals__["len"] = lambda v: 100.0
        np.testing.assert_array_equal(j(X), f(X))
        del other.__globals__["len"]
        np.testing.assert_array_equal(j(X), f(X))


def test_closures_made_anew_share_what_was_compiled():
    def make(scale, table):
        def inner(v):
            return v * scale + table
        return inner

    def f(x, inner):
        y = x * 2.0
        return inner(y) - y

    j = jitted(f)
    table = np.ones(40)
    j(X, make(2.0, table))
    assert kernel_count(j)
    rows = [(X, make(float(k), table * k)) for k in range(10)]
    assert_calls(j, [HIT] * 10, rows)
    for row in rows + [(X, make(3, table)), (X, make(2.0, 5)), (X, make("a", "b")), (X, abs), (X, 3)]:
        check(f, *row)
    assert not pijit.explain(f, X, rows[0][1]).breaks


def test_cells_that_change():
    def outer(decorate):
        scale = 2.0

        def inner(v):
            return v * scale

        def change(value):
            nonlocal scale
            scale = value

        def f(x):
            y = x + 1.0
            return inner(y) * y
        return decorate(f), change

    (plain, change_plain), (j, change) = outer(lambda f: f), outer(jitted)
    for value in (2.0, 3.0, 4, np.float32(1.5), X, 2.0):
        change_plain(value), change(value)
        for _ in range(3):
            got, wanted = j(X), plain(X)
            assert got.dtype == wanted.dtype
            np.testing.assert_array_equal(got, wanted)
    assert kernel_count(j)
