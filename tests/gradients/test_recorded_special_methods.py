"""Special methods in Python that CPython and NumPy call by themselves: what they compute and store has its gradient."""

import functools
import math
import sys

import numpy as np
import pytest
import special_method_programs
from gradient_comparison import compare, weighted

from pijit import GradientError, grad

POINT = np.array([0.7, 1.3, 0.41, 0.93, 1.13])
SCOPE = dict(vars(special_method_programs), math=math)


@pytest.mark.parametrize("source", special_method_programs.SNIPPETS)
def test_programs(source):
    made = eval("lambda x: " + source, SCOPE)

    def f(x):
        return weighted(made(x)) + np.sum(x * x)

    compare(f, POINT)


@pytest.mark.skipif(sys.version_info < (3, 8), reason="functools.cached_property is of CPython 3.8")
def test_cached_property():
    class Squares:
        def __init__(self, x):
            self.x = x

        @functools.cached_property
        def total(self):
            return (self.x * self.x).sum()

    def f(x):
        squares = Squares(x)
        return squares.total * squares.total

    compare(f, POINT)


def test_an_error_is_that_of_the_object():
    class Empty:
        pass

    for source, text in (("len(c)", "has no len"), ("[*c]", "Empty"), ("1 in c", "not iterable|not a container"),
                         ("[1][c]", "indices must be integers"), ("float(c)", "Empty"), ("c.other", "no attribute 'other'"),
                         ("del_item(c)", "item deletion"), ("~c", "bad operand type")):
        scope = {"c": Empty(), "del_item": lambda c: c.__delitem__ if False else exec("del c[0]", {"c": c})}
        with pytest.raises((TypeError, AttributeError), match=text) as plain:
            eval(source, scope)
        recorded = eval("lambda x: (" + source + ", x.sum())[1]", scope)
        with pytest.raises(type(plain.value), match=text) as found:
            grad(recorded)(POINT.copy())
        assert str(found.value) == str(plain.value)


def test_exact_ratios_have_no_derivative():
    with pytest.raises(GradientError, match="PJ502.*as_integer_ratio"):
        grad(lambda x: float(x[0]).as_integer_ratio()[0] / 1.0)(POINT.copy())
    with pytest.raises(GradientError, match="PJ502.*as_integer_ratio"):
        grad(lambda x: x[0].item().as_integer_ratio()[0] / 1.0)(POINT.copy())


def test_objects_are_passed_on_as_they_are():
    """Stand-ins are for what reads an object; containers and results have the object itself."""
    seen = []

    def f(x):
        c = special_method_programs.Values(x)
        kept = [c, (c,), {"a": c}]
        seen.extend([max([c], key=id) is c, kept[0] is c, kept[1][0] is c, kept[2]["a"] is c, next(iter([c])) is c,
                     (c or None) is c, list(filter(None, [c]))[0] is c])
        return c.x.sum()

    grad(f)(POINT.copy())
    assert seen and all(seen)


def test_looking_for_active_values_runs_no_code_of_the_program():
    seen = []

    class Watched:
        __slots__ = ("x", "__hidden")

        def __init__(self, x):
            self.x, self.__hidden = x, [x * 2.0]

        def __getattribute__(self, name):
            seen.append(name)
            return object.__getattribute__(self, name)

    def f(x):
        one = Watched(x)
        seen.append("before")
        return np.sum(np.array([float(v) for v in x])) + len({id(one): one}) * 0.0 + copied(one)

    def copied(one):
        return one.x.sum()

    given = POINT.copy()
    plain = f(given)
    expected, seen[:] = list(seen), []
    assert grad(f)(given).tolist() == [2.0] * 5 and seen == expected and f(given) == plain
