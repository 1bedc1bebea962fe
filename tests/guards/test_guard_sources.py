"""Sources: notation, equality, and what each fetches - in C and in the twin - without running user code."""

import builtins
import collections
import pickle
import types

import numpy as np
import pytest

from pijit.guards.guard import IsUnbound
from pijit.guards.program import GuardProgram
from pijit.guards.source import UNBOUND, Attr, ClosureCell, Constant, Global, Item, Local, SourceError, TypeOf

X = Local(0, "x")
Pair = collections.namedtuple("Pair", "first second")
ABSENT = object()


def fetch(source, *values, globals=None, builtins=None):
    """What the source fetches, the same in C and in the twin, or ABSENT."""
    roots = list(values), {} if globals is None else globals, {} if builtins is None else builtins
    found = GuardProgram([], [source]).check(*roots)
    try:
        assert source.fetch(*roots) is found[0]
    except SourceError:
        assert found is None
    return ABSENT if found is None else found[0]


@pytest.mark.parametrize("source, text", [
    (X, "L['x']"), (ClosureCell(3, "w"), "closure cell 'w'"), (Attr(Global("np"), "sqrt"), "G['np'].sqrt"),
    (Item(Local(1, "xs"), 2), "L['xs'][2]"), (Item(X, "k"), "L['x']['k']"), (TypeOf(X), "type(L['x'])"),
    (Attr(Attr(Local(0, "self"), "w"), "v"), "L['self'].w.v"), (Constant(3), "constant 3"),
    (Constant(object()), "constant an object of type object"),
    (Constant(vars(builtins)), "builtins"),
    (Constant(object.__setattr__), "constant the method object.__setattr__"),
])
def test_text(source, text):
    assert str(source) == text
    assert repr(source) == f"<{type(source).__name__} {text}>"


def test_sources_are_values():
    assert Attr(Local(0, "x"), "w") == Attr(X, "w") != Attr(X, "v")
    assert hash(Attr(Local(0, "x"), "w")) == hash(Attr(X, "w"))
    assert Local(0, "x") != ClosureCell(0, "x")
    assert Item(X, 1) != Item(X, "1")
    one, other = [], []
    assert Constant(one) == Constant(one) != Constant(other)
    assert pickle.loads(pickle.dumps(Item(Attr(X, "w"), 2))) == Item(Attr(X, "w"), 2)
    assert Attr(base=X, name="w").children == (X,) and X.children == ()
    with pytest.raises(AttributeError, match="Local is immutable"):
        X.name = "y"
    with pytest.raises(AttributeError):
        X.other = 1
    with pytest.raises(TypeError, match="takes exactly index, name"):
        Local(1)
    with pytest.raises(TypeError, match="int or a str, not bool"):
        Item(X, True)


def test_locals_and_cells():
    value = object()
    cell = (lambda: value).__closure__[0]
    assert fetch(X, value) is value
    assert fetch(X, UNBOUND) is ABSENT
    assert fetch(X) is ABSENT
    assert fetch(Local(7, "y"), 1, 2) is ABSENT
    assert fetch(ClosureCell(1, "value"), 0, cell) is value
    assert fetch(ClosureCell(0, "value"), 0, cell) is ABSENT
    assert fetch(ClosureCell(0, "value"), UNBOUND) is ABSENT
    if value is None:
        hole = 1
    assert fetch(ClosureCell(0, "hole"), (lambda: hole).__closure__[0]) is ABSENT


def test_globals_then_builtins():
    assert fetch(Global("len"), builtins=builtins.__dict__) is len
    assert fetch(Global("len"), globals={"len": 3}, builtins=builtins.__dict__) == 3
    assert fetch(Global("nope"), builtins=builtins.__dict__) is ABSENT

    class Recording(dict):
        def __getitem__(self, key):
            raise RuntimeError("user code ran")

    assert fetch(Global("x"), globals=Recording(x=1)) is ABSENT
    assert fetch(Global("x"), builtins=Recording(x=1)) is ABSENT
    assert fetch(Global("x"), globals={"x": 1}, builtins=Recording(x=2)) == 1


def test_items_of_a_tuple_subclass_that_reads_them_by_code():
    for name in ("__getitem__", "__len__", "__iter__"):
        changed = type("Changed", (Pair,), {name: lambda *args: 0})
        assert fetch(Item(X, 0), changed(10, 20)) is ABSENT


def test_the_fields_of_a_named_tuple_are_read_from_its_class():
    assert fetch(Attr(TypeOf(X), "first"), Pair(10, 20)) is Pair.__dict__["first"]
    assert fetch(Attr(X, "first"), Pair(10, 20)) is ABSENT


def test_items():
    xs = [10, 20, 30]
    assert [fetch(Item(X, i), xs) for i in (0, 2, -1, -3)] == [10, 30, 30, 10]
    assert fetch(Item(X, 1), tuple(xs)) == 20
    assert [fetch(Item(X, i), xs) for i in (3, -4, 2**80, -2**80)] == [ABSENT] * 4
    assert fetch(Item(X, "k"), {"k": 5}) == 5
    assert fetch(Item(X, 2**80), {2**80: 6}) == 6
    assert fetch(Item(X, -1), {-1: 7}) == 7
    assert fetch(Item(X, -1), Pair(10, 20)) == 20
    assert fetch(Item(X, "k"), {}) is ABSENT
    assert fetch(Item(X, "k"), xs) is ABSENT
    for other in ("abc", np.zeros(3), range(3), type("L", (list,), {})(xs), type("D", (dict,), {})({0: 1}),
                  None):
        assert fetch(Item(X, 0), other) is ABSENT


def test_type_of_ignores_class_properties():
    class Liar:
        __class__ = int

    assert fetch(TypeOf(X), Liar()) is Liar
    assert fetch(TypeOf(TypeOf(X)), Liar()) is type
    assert fetch(Attr(X, "__class__"), Liar()) is int
    assert fetch(Attr(X, "__class__"), 3) is ABSENT


class Plain:
    shared = ["class value"]

    def __init__(self):
        self.own = ["own value"]

    def method(self):
        raise RuntimeError("user code ran")

    @property
    def computed(self):
        raise RuntimeError("user code ran")

    @staticmethod
    def static():
        raise RuntimeError("user code ran")

    @classmethod
    def of_class(cls):
        raise RuntimeError("user code ran")


class Slotted:
    __slots__ = ("a", "b")


class Descriptor:
    def __init__(self, *methods):
        self.__class__ = type("D", (Descriptor,), {name: self.run for name in methods})

    def run(self, *args):
        raise RuntimeError("user code ran")


def test_instance_attributes():
    p = Plain()
    assert fetch(Attr(X, "own"), p) is p.own
    assert fetch(Attr(X, "shared"), p) is Plain.shared
    assert fetch(Attr(X, "static"), p) is Plain.static
    for name in ("method", "computed", "of_class", "__init__", "__dict__", "__class__", "nope"):
        assert fetch(Attr(X, name), p) is ABSENT
    p.__dict__.update(shared=1, method=2, computed=3, static=4)
    assert [fetch(Attr(X, name), p) for name in ("shared", "method", "static")] == [1, 2, 4]
    assert fetch(Attr(X, "computed"), p) is ABSENT


def test_slots():
    s = Slotted()
    s.a = ["slot"]
    assert fetch(Attr(X, "a"), s) is s.a
    assert fetch(Attr(X, "b"), s) is ABSENT

    class Thief:
        stolen = Slotted.a

    assert fetch(Attr(X, "stolen"), Thief()) is ABSENT


def test_user_descriptors_are_not_called():
    class Holder:
        get = Descriptor("__get__")
        get_set = Descriptor("__get__", "__set__")
        get_delete = Descriptor("__get__", "__delete__")
        set_only = Descriptor("__set__")

    h = Holder()
    for name in ("get", "get_set", "get_delete"):
        assert fetch(Attr(X, name), h) is ABSENT
        assert fetch(Attr(X, name), Holder) is ABSENT
    assert fetch(Attr(X, "set_only"), h) is Holder.__dict__["set_only"]
    h.__dict__.update(get=1, get_set=2, get_delete=3, set_only=4)
    assert [fetch(Attr(X, name), h) for name in ("get", "set_only")] == [1, 4]
    assert fetch(Attr(X, "get_set"), h) is fetch(Attr(X, "get_delete"), h) is ABSENT


@pytest.mark.parametrize("hook", ["__getattr__", "__getattribute__"])
def test_attribute_hooks_are_not_called(hook):
    def run(self, name):
        raise RuntimeError("user code ran")

    hooked = type("Hooked", (), {hook: run, "x": 1})
    assert fetch(Attr(X, "x"), hooked()) is ABSENT
    assert fetch(Attr(X, "y"), hooked()) is ABSENT
    meta = type("Meta", (type,), {hook: run})
    assert fetch(Attr(X, "x"), meta("C", (), {"x": 1})) is ABSENT


def test_modules():
    module = types.ModuleType("m")
    module.value = []
    module.__getattr__ = lambda name: 1 / 0
    assert fetch(Attr(X, "value"), module) is module.value
    assert fetch(Attr(X, "other"), module) is ABSENT
    assert fetch(Attr(Global("np"), "sqrt"), globals={"np": np}) is np.sqrt
    assert fetch(Attr(X, "__dict__"), module) is module.__dict__
    assert fetch(Attr(X, "__class__"), module) is ABSENT


def test_type_attributes():
    class Meta(type):
        of_meta = ["meta"]
        hidden = property(lambda cls: 1 / 0)

        def meta_method(cls):
            raise RuntimeError("user code ran")

    class Derived(Plain, metaclass=Meta):
        hidden = 1
        __slots__ = ("slot",)

    assert fetch(Attr(X, "shared"), Derived) is Plain.shared
    assert fetch(Attr(X, "method"), Derived) is Plain.method
    assert fetch(Attr(X, "static"), Derived) is Plain.static
    assert fetch(Attr(X, "computed"), Derived) is Plain.__dict__["computed"]
    assert fetch(Attr(X, "slot"), Derived) is Derived.__dict__["slot"]
    assert fetch(Attr(X, "of_meta"), Derived) is Meta.of_meta
    for name in ("of_class", "hidden", "meta_method", "__name__", "mro", "nope"):
        assert fetch(Attr(X, name), Derived) is ABSENT
    assert fetch(Attr(X, "join"), str) is str.join
    assert fetch(Attr(X, "__add__"), int) is int.__add__
    assert fetch(Attr(X, "shape"), np.ndarray) is np.ndarray.__dict__["shape"]
    assert fetch(Attr(TypeOf(X), "method"), Derived()) is Plain.method


def test_array_attributes_are_computed_hence_absent():
    for name in ("T", "shape", "sum", "data"):
        assert fetch(Attr(X, name), np.zeros(3)) is ABSENT


def test_function_attributes():
    def f():
        pass

    f.note = ["x"]
    assert fetch(Attr(X, "note"), f) is f.note
    assert fetch(Attr(X, "__globals__"), f) is globals()
    assert fetch(Attr(X, "__code__"), f) is ABSENT


def test_constants():
    value = object()
    assert fetch(Constant(value)) is value
    assert fetch(Attr(Constant(np), "sqrt")) is np.sqrt


class Colliding:
    """A dict key with the hash of a string."""

    def __init__(self, name, act):
        self.name, self.act = name, act

    def __hash__(self):
        return hash(self.name)

    def __eq__(self, other):
        return self.act()


def test_colliding_keys_that_raise_are_a_failure():
    d = {Colliding("k", lambda: 1 / 0): 1}
    d["other"] = 2
    assert fetch(Item(X, "k"), d) is ABSENT
    assert fetch(Item(X, "other"), d) == 2
    assert fetch(Global("k"), globals=d, builtins={"k": 3}) is ABSENT
    assert GuardProgram([IsUnbound(Global("k"))]).check([], d, {}) is None
    p = Plain()
    p.__dict__[Colliding("shared", lambda: 1 / 0)] = 1
    assert fetch(Attr(X, "shared"), p) is ABSENT
