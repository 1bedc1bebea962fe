"""The ways in which linked code calls functions that are compiled on their own: with star arguments, as `__init__`, as `__call__`."""

import abc
import functools
import sys

import numpy as np
import pytest

from tests.capture.functions.test_compiled_callees import callees_of, kernels_run
from tests.capture.scalars.test_scalars import define
from tests.harness import check, jitted

X = np.linspace(-1.0, 2.0, 20)
WORKING = """
import numpy as np

def working(x, n=2, *more, scale=1.0, **names):
    y = x * 2.0 + scale
    print("working", n, more, sorted(names))
    for i in range(n):
        y = y * y - x
    return y * n

"""
CALLS = ["working(*pair)", "working(*[x, n])", "working(x, *(n,))", "working(x, *(n, 5, 6))", "working(*pair, scale=2.0)",
         "working(*pair, **names)", "working(x, **{'n': n, 'scale': 0.5})", "working(*(x for x in pair))", "working(*pair, **{})"]


@pytest.mark.parametrize("call", CALLS)
def test_star_arguments(call):
    f = define(WORKING + """
def f(x, n):
    pair, names = (x, n), {"scale": 3.0, "other": n}
    y = x * 3.0 - 1.0
    total = y * 0.0
    for i in range(4):
        total = total * 0.5 + %s * y
    return total
""" % call)
    j = check(f, X, 3, others=[(X.astype("f"), 2)])
    if sys.version_info >= (3, 11) or "for" not in call:  # up to 3.10 the next frame is to be the callee's, not a generator's
        assert kernels_run(callees_of(j)["working"]) > 3


@pytest.mark.parametrize("call", ["working(*n)", "working(x, **n)", "working(*(x, n), **{'n': 2})", "working(*())", "n(*(x, n))",
                                  "working(*pair, **{1: 2})", "np.sin(*pair, *pair, *pair)", "method(*n)", "method(*(n,))"])
def test_star_arguments_that_are_wrong(call):
    f = define(WORKING + """
class Holder:
    def method(self, x):
        print("method")
        return x

def f(x, n):
    pair, method = (x, n), Holder().method
    y = x * 3.0 - 1.0
    return %s * y
""" % call)
    check(f, X, 3)


def test_star_arguments_of_methods_and_objects_are_given_as_they_are():
    f = define(WORKING + """
class Layer:
    def __init__(self, w):
        self.w = w
        print("made", w)

    def method(self, x, n):
        y = x * self.w + 1.0
        print("method")
        return y * y - n

    def __call__(self, x, n):
        print("called")
        return self.method(x, n) * 2.0

def f(x, n):
    pair = (x, n)
    y = x * 3.0 - 1.0
    for i in range(3):
        layer = Layer(*(float(i),))
        y = layer.method(*pair) + layer(*pair) * y
    return y
""")
    check(f, X, 3)


MADE = """
class Made:
    def __init__(self, x, n=1):
        y = x * 2.0 + n
        print("made", n)
        self.value = y * y - x
        {end}

{more}
def f(x, n):
    y = x * 3.0 - 1.0
    for i in range(3):
        y = Made(y, {argument}).value + x
    return y
"""


@pytest.mark.parametrize("end, more, argument", [
    ("", "", "i"), ("", "", "n=i"), ("return y", "", "i"), ("raise KeyError(n)", "", "i"), ("", "", "i, 2, 3"), ("", "", "m=1"),
    ("", "Made.__new__ = lambda kind, *args: object.__new__(kind)", "i"), ("self.gone = x[99]", "", "i"),
    ("", "Made.__slots__ = ()", "i")])
def test_classes_that_are_called(end, more, argument):
    check(define(MADE.format(end=end, more=more, argument=argument)), X, 3)


def test_the_init_of_a_class_runs_kernels():
    j = check(define(MADE.format(end="", more="", argument="i")), X, 3)
    assert kernels_run(callees_of(j)["__init__"]) > 3


def test_classes_that_make_objects_in_other_ways():
    f = define("""
class Number(float):
    def __init__(self, x):
        print("number", x)
        self.twice = self * 2.0

class Meta(type):
    def __call__(cls, x):
        print("meta")
        return type.__call__(cls, x * 2.0)

class Odd(metaclass=Meta):
    def __init__(self, x):
        print("odd")
        self.value = x + 1.0

class Other:
    def __new__(cls, x):
        print("new")
        return Odd(x)

    def __init__(self, x):
        print("never")

class Abstract(abc.ABC):
    @abc.abstractmethod
    def method(self): pass

    def __init__(self, x):
        print("abstract")

def f(x, n):
    y = x * 3.0 - 1.0
    for i in range(3):
        y = y * Number(n).twice + Odd(y).value + Other(y).value
    if n > 5:
        Abstract(y)
    return y
""", abc=abc)
    check(f, X, 3, others=[(X, 9)])


def test_objects_whose_class_gets_another_call_in_between():
    f = define(WORKING + """
class Layer:
    def __call__(self, x):
        y = x * 2.0 + 1.0
        print("layer")
        return y * y

def other(self, x):
    print("other")
    return x * 3.0

layer = Layer()
first = Layer.__call__

def f(x, n):
    y = x * 3.0 - 1.0
    Layer.__call__ = first
    for i in range(n):
        y = layer(y) + x
        if i == 2:
            Layer.__call__ = other
    return y
""")
    check(f, X, 6)


def test_reports_say_what_runs_as_plain_python():
    f = define(WORKING + """
class Box:
    def __init__(self, x):
        self.x = x

    @property
    def wide(self):
        print("wide")
        return self.x * 2.0

part = functools.partial(working, n=3)

def f(x, box):
    y = x * 3.0 - 1.0
    y = part(y) + y
    return y + box.wide * 2.0
""", functools=functools)
    box = f.__globals__["Box"](X)
    j = jitted(f, {"force_breaks": None})
    for _ in range(3):
        j(X, box)
    text = str(j.explain(X, box))
    if sys.version_info < (3, 11):
        assert "instead: compiled on its own" in text and "runs as plain Python" not in text
    else:
        assert text.count("instead: runs as plain Python") == 2 and not j.state.callees
