"""Sources and guards of what is called: parts of functions, methods and cells, and what a class binds."""

import functools
import sys

import numpy as np
import pytest

from pijit.guards.guard import Equals
from pijit.guards.program import GuardProgram
from pijit.guards.source import UNBOUND, Attr, ClassAttr, Inner, Item, KeyAt, Local, Scope, TypeOf
from tests.guards.test_guard_sources import ABSENT, Plain, fetch

X = Local(0, "x")


def make(value):
    def inner(a, b=value, *, c=value):
        return value
    return inner


def test_parts_of_functions():
    value = object()
    f, bare = make(value), lambda: 0
    assert fetch(Inner(X, "__defaults__"), f) is f.__defaults__
    assert fetch(Item(Inner(X, "__defaults__"), -1), f) is value
    assert fetch(Item(Inner(X, "__kwdefaults__"), "c"), f) is value
    assert fetch(Inner(Item(Attr(X, "__closure__"), 0), "cell_contents"), f) is value
    assert fetch(Item(Attr(X, "__globals__"), "make"), f) is make
    assert fetch(Inner(X, "__defaults__"), bare) is fetch(Inner(X, "__kwdefaults__"), bare) is None
    assert str(Item(Inner(X, "__defaults__"), -1)) == "L['x'].__defaults__[-1]"
    with pytest.raises(TypeError, match="is one of __defaults__"):
        Inner(X, "__code__")


def test_the_dict_of_globals():
    program = GuardProgram([], [Item(Scope(), "make"), Scope()])
    assert program.check([], globals(), {}) == [make, globals()] and program.check([], {"make": 1}, {})[0] == 1
    assert str(Scope()) == "globals()"


def test_keys_of_dicts():
    d = {"gone": 0, "a": 1, (2, 3): 4}
    del d["gone"]
    assert fetch(KeyAt(X, 0), d) == "a" and fetch(KeyAt(X, 1), d) == (2, 3)
    assert fetch(KeyAt(X, 2), d) is ABSENT and fetch(KeyAt(X, 0), ["a"]) is ABSENT
    assert str(KeyAt(X, 1)) == "list(L['x'])[1]"


def test_parts_of_methods():
    class Owner:
        def m(self):
            return 0

    bound = Owner().m
    assert fetch(Inner(X, "__func__"), bound) is Owner.m
    assert fetch(Inner(X, "__self__"), bound) is bound.__self__


def test_empty_cells_and_other_objects_have_no_parts():
    if np is None:
        hole = 1
    cell = (lambda: hole).__closure__[0]
    assert fetch(Inner(X, "cell_contents"), cell) is ABSENT
    for part in Inner.PARTS:
        for value in (3, "text", UNBOUND):
            assert fetch(Inner(X, part), value) is ABSENT
        if part not in ("__self__", "__name__"):
            assert fetch(Inner(X, part), [].append) is ABSENT


def test_parts_of_slices_and_of_functions_in_c():
    items, stop = [], object()
    assert fetch(Inner(X, "__self__"), items.append) is items and fetch(Inner(X, "__self__"), bytes.maketrans) is None
    assert fetch(Inner(X, "__name__"), make) == "make" and fetch(Inner(X, "__name__"), Inner) == "Inner"
    assert fetch(Inner(X, "__name__"), 1) is ABSENT and fetch(Inner(X, "__name__"), int) is ABSENT
    named = GuardProgram([Equals(Inner(X, "__name__"), "append")], [])
    assert [named.check((value,), {}, {}) is not None for value in (items.append, items.pop, make)] == [True, False, False]
    parts = [fetch(Inner(X, name), slice(1, stop)) for name in ("start", "stop", "step")]
    assert parts[0] == 1 and parts[1] is stop and parts[2] is None


def test_shapes_of_exact_arrays():
    class Sub(np.ndarray):
        @property
        def shape(self):
            raise AssertionError("asked")

    def holds(value, shape):
        return GuardProgram([Equals(Inner(X, "shape"), shape)], []).check((value,), {}, {}) is not None

    assert holds(np.zeros((3, 0, 2)), (3, 0, 2)) and holds(np.zeros(()), ()) and not holds(np.zeros(4), (3,))
    for value in (np.zeros(3).view(Sub), np.float64(1.0), (3,)):
        assert not holds(value, (3,)) and fetch(Inner(X, "shape"), value) is ABSENT


def test_instance_dicts():
    @functools.wraps(len)  # has a dict with __wrapped__ in it, as what jit makes
    def f(x):
        return x

    p = Plain()
    p.own = 1
    bare = type("Bare", (), {})()  # has no dict until somebody asks for it
    assert fetch(Inner(X, "present_dict"), bare) is None and fetch(Inner(X, "present_dict"), bare) is None
    assert fetch(Inner(X, "__dict__"), bare) is vars(bare) is fetch(Inner(X, "present_dict"), bare)
    assert fetch(Inner(X, "present_dict"), 3) is ABSENT and fetch(Inner(X, "present_dict"), Plain) is ABSENT
    assert fetch(Inner(X, "__dict__"), p) is vars(p)
    assert fetch(Item(Inner(X, "__dict__"), "__wrapped__"), f) is len
    assert fetch(Inner(X, "__dict__"), Plain) is ABSENT
    assert fetch(Inner(X, "__mro__"), Plain) is Plain.__mro__ and fetch(Inner(TypeOf(X), "__mro__"), p) is Plain.__mro__


NAMES = ("method", "computed", "static", "of_class", "shared")


def test_what_classes_bind():
    p = Plain()
    for name in NAMES:
        assert fetch(ClassAttr(X, name), p) is vars(Plain)[name]
        assert fetch(ClassAttr(X, name), Plain) is vars(Plain)[name]
    assert fetch(ClassAttr(X, "nope"), p) is fetch(ClassAttr(X, "nope"), Plain) is ABSENT
    assert fetch(Attr(ClassAttr(X, "of_class"), "__func__"), p) is Plain.of_class.__func__
    assert fetch(Attr(ClassAttr(X, "computed"), "fget"), p) is Plain.computed.fget
    assert fetch(Attr(TypeOf(X), "method"), p) is Plain.method
    p.__dict__.update(dict.fromkeys(NAMES, 1))
    assert [fetch(ClassAttr(X, name), p) is ABSENT for name in NAMES] == [True, False, True, True, True]
    assert str(ClassAttr(X, "method")) == "type(L['x']).method"


def test_classes_that_take_part_in_attribute_reads():
    class Hooked(Plain):
        def __getattr__(self, name):
            raise RuntimeError("user code ran")

    class Meta(type):
        method = property(lambda self: 0)

    class Ruled(Plain, metaclass=Meta):
        pass

    assert fetch(ClassAttr(X, "method"), Hooked()) is ABSENT
    assert fetch(ClassAttr(X, "method"), Ruled) is ABSENT
    assert fetch(ClassAttr(X, "static"), Ruled) is vars(Plain)["static"]


def test_references():
    f, p = make(object()), Plain()
    sources = [Inner(X, "__defaults__"), Inner(X, "__kwdefaults__"), Inner(Item(Attr(X, "__closure__"), 0), "cell_contents")]
    program, classes = GuardProgram([], sources), GuardProgram([], [ClassAttr(X, name) for name in NAMES + ("nope",)])
    held = [f, f.__defaults__, f.__kwdefaults__, f.__closure__[0].cell_contents, p, Plain.method] + [
        vars(Plain)[name] for name in NAMES]
    before = [sys.getrefcount(one) for one in held]
    for _ in range(100):
        program.check([f], {}, {})
        program.check([p], {}, {})
        classes.check([p], {}, {})
    assert [sys.getrefcount(one) for one in held] == before
