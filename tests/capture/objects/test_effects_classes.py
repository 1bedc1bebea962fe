"""Stores into attributes of classes and modules: native, at once, and seen by all who read them."""

import sys
import types

import numpy as np
import pytest

import pijit
from tests.capture.containers.effects_common import CUT, launches
from tests.harness import fail_unless_captured, jitted, kernel_count, mode_config, same

X = np.linspace(0.5, 4.0, 11)

PROGRAM = """
import numpy as np

class Base:
    count = 0
    best = None
    table = np.zeros(3)

    def __init__(self, gain):
        self.gain = gain

    def step(self, x):
        type(self).count += 1
        return x * self.gain + type(self).count

    def by_class(self, x):
        self.__class__.count += 2
        return x * self.gain

    @classmethod
    def make(cls, gain):
        cls.count += 1
        return cls(gain)

    @property
    def shown(self):
        return 1.0

class Sub(Base):
    pass

class Unlike:
    count = 5

alias = Base

def counter(x):
    Base.count += 1
    return x * 2.0 + Base.count

def counter_in_loop(x, n):
    total = 0.0
    for i in range(n):
        Base.count += 1
        total += x[i] * Base.count
    return total, Base.count

def two_names(x):
    Base.count += 1
    alias.count += 2
    return x * Base.count + alias.count

def others_of_that_name(x):
    Base.count += 1
    return x * Unlike.count + Base.count

def through_methods(x, one, two):
    y = one.step(x)
    y = two.by_class(y)
    return one.step(y) + two.step(x)

def made(x, cls):
    thing = cls.make(2.0)
    return x * thing.gain + cls.count

def read_of_instance(x, one):
    Base.count += 1
    return x * one.count + Base.count

def read_of_subclass(x):
    Base.count += 1
    return x * Sub.count + Base.count

def own_in_subclass(x):
    Sub.count += 1
    return x * Sub.count + Base.count

def both(x):
    Sub.count = Sub.count + 1
    Base.count += 10
    return x * Sub.count + Base.count

def array_in_class(x):
    Base.table = x * 2.0
    Base.table[0] = 7.0
    Base.table += 1.0
    return Base.table, Base.table[1:] * x[1:]

def best_so_far(x):
    if Base.best is None or x.sum() > Base.best:
        Base.best = x.sum()
    return x * Base.best

def all_kinds(x):
    Base.text = "a"
    Base.pair = (x, 1)
    Base.items = [x, 2.0]
    Base.none = None
    Base.kind = Sub
    Base.number = x[0]
    return Base.text, Base.pair, Base.items, Base.none, Base.kind, Base.number, x * 2.0 + 1.0

def raises(x, k):
    Base.count += 1
    y = x * 2.0
    Base.last = y[k]
    Base.count += 1
    return y - 1.0

def functions(x, f):
    Base.helper = f
    return x * 2.0 + 1.0

def property_of_class(x):
    y = x * 2.0 + 1.0
    Base.shown = 3.0
    return y * x

def module_flag(x):
    other.flag = 5
    other.flag += 1
    return x * 2.0 + other.flag

def module_in_loop(x, n):
    for i in range(n):
        other.flag += i
        x = x * 0.5 + other.flag
    other.kept = x
    return other.kept - 1.0

def read_by_its_function(x):
    other.flag += 1
    return other.use(x) + other.flag

def imported_after_store(x):
    other.flag += 1
    import pijit_other_module
    from pijit_other_module import flag
    return x * flag + pijit_other_module.flag

def own_module(x):
    this.setting = 4
    return x * setting + this.setting
"""

OTHER = """
flag = 3

def use(x):
    return x * flag
"""


def program():
    """A module of its own, and another one that it refers to."""
    other, this = types.ModuleType("pijit_other_module"), types.ModuleType("program")
    exec(compile(OTHER, "other.py", "exec"), other.__dict__)
    this.__dict__.update(other=other, this=this, setting=2)
    exec(compile(PROGRAM, "program.py", "exec"), this.__dict__)
    return this


def named(value):
    """A value with the names of the classes in it: each program has its own."""
    if isinstance(value, (list, tuple)):
        return type(value)(map(named, value))
    return value.__name__ if isinstance(value, type) else value


def state_of(this):
    kept = [(cls.__name__, name, value) for cls in (this.Base, this.Sub, this.Unlike)
            for name, value in sorted(cls.__dict__.items()) if not name.startswith("__") and not callable(value)]
    return named([one for one in kept if not isinstance(one[2], (classmethod, property))]
                 + [this.other.flag, this.other.__dict__.get("kept"), this.setting])


def outcome(this, f, args):
    """What a call gives or raises, and what is left in classes and modules."""
    try:
        result = named(f(*args))
    except Exception as error:
        lines = []
        trace = error.__traceback__.tb_next
        while trace is not None:
            lines.append((trace.tb_frame.f_code.co_name, trace.tb_lineno))
            trace = trace.tb_next
        result = type(error).__name__, str(error), lines
    return result, state_of(this)


def compare(monkeypatch, name, arguments, between=(), config=None):
    """Call a function plain and jitted, each in a program of its own; returns the jitted one.

    Args:
        name: the function's.
        arguments: what gives the arguments, of a program.
        between: what is done to a program before further calls.
    """
    plain, fast = program(), program()
    j = jitted(getattr(fast, name), config)
    for change in (None, None, None) + tuple(between):
        answers = []
        for this, f in ((plain, getattr(plain, name)), (fast, j)):
            monkeypatch.setitem(sys.modules, "pijit_other_module", this.other)
            if change is not None:
                change(this)
            answers.append(outcome(this, f, arguments(this)))
        same(*answers)
    return j


def counts_in_floats(this):
    this.Base.count = 0.5


def nothing_to_count(this):
    del this.Base.count


def counts_again(this):
    this.Base.count = 3


def counts_in_an_object(this):
    this.Base.count = np.float32(1.5)


def text_flag(this):
    this.other.flag = "ab"


def another_class(this):
    this.Base = type("Base", (), {"count": 100, "table": None, "best": None})


def other_module(this):
    this.other = types.ModuleType("another")
    exec(compile(OTHER, "other.py", "exec"), this.other.__dict__)


def descriptor_there(this):
    this.Base.count = property(lambda self: 7)


ONE = lambda p: (X,)  # noqa: E731
KERNELS = [
    ("counter", ONE, [counts_in_floats, None, nothing_to_count, counts_again, counts_in_an_object, another_class]),
    ("counter_in_loop", lambda p: (X, 5), [counts_in_floats, nothing_to_count, counts_again]),
    ("two_names", ONE, [another_class, None]),
    ("others_of_that_name", ONE, [lambda p: setattr(p, "Unlike", p.Base), None]),
    ("through_methods", lambda p: (X, p.Base(2.0), p.Base(0.5)), [counts_in_floats]),
    ("made", lambda p: (X, p.Base), [None]),
    ("own_in_subclass", ONE, []),
    ("array_in_class", ONE, [None]),
    ("best_so_far", ONE, [lambda p: setattr(p.Base, "best", None), None]),
    ("all_kinds", ONE, [None]),
    ("raises", lambda p: (X, 3), []),
    ("module_flag", ONE, [text_flag, other_module, None]),
    ("module_in_loop", lambda p: (X, 4), [counts_again, text_flag]),
    ("imported_after_store", ONE, [None]),
]
AROUND = [
    ("through_methods", lambda p: (X, p.Base(2.0), p.Sub(0.5)), [None]),
    ("made", lambda p: (X, p.Sub), [None]),
    ("read_of_instance", lambda p: (X, p.Base(1.0)), [None]),
    ("read_of_subclass", ONE, [None, lambda p: setattr(p.Sub, "count", 50), None]),
    ("own_in_subclass", ONE, [None]),
    ("both", ONE, [None]),
    ("raises", lambda p: (X, 50), [None]),
    ("functions", lambda p: (X, len), [None]),
    ("property_of_class", ONE, [None]),
    ("read_by_its_function", ONE, [None]),
    ("own_module", ONE, [None]),
    ("counter", ONE, [descriptor_there, None]),
]
PYTHON = {"backend": "python"}


@pytest.mark.parametrize("name, arguments, between", KERNELS, ids=[case[0] for case in KERNELS])
@fail_unless_captured()
def test_stores_in_kernels(monkeypatch, name, arguments, between):
    compare(monkeypatch, name, arguments, between, PYTHON)


@pytest.mark.parametrize("name, arguments, between", AROUND, ids=[case[0] for case in AROUND])
def test_stores_that_others_read(monkeypatch, name, arguments, between):
    compare(monkeypatch, name, arguments, between, PYTHON)


@pytest.mark.parametrize("name, arguments", [KERNELS[number][:2] for number in (0, 1, 7, 8, 9, 12)])
@fail_unless_captured()
def test_stores_in_this_mode(monkeypatch, name, arguments):
    compare(monkeypatch, name, arguments)


@pytest.mark.parametrize("name, arguments", [case[:2] for case in KERNELS], ids=[case[0] for case in KERNELS])
def test_such_stores_break_nothing(name, arguments, monkeypatch):
    this = program()
    monkeypatch.setitem(sys.modules, "pijit_other_module", this.other)
    report = pijit.explain(pijit.jit(getattr(this, name), jit_config=PYTHON), *arguments(this))
    assert report.kernels and not report.breaks, str(report)


class Loud:
    def __init__(self, seen):
        self.seen = seen

    def __del__(self):
        self.seen.append("gone")


def test_what_ends_loudly_is_replaced_by_bytecode():
    class Holder:
        held = None

    def replace(x):
        y = x * 2.0 + 1.0
        Holder.held = None
        y[0] = len(seen)
        return y * x

    seen = []
    j = jitted(replace)
    for _ in range(4):
        Holder.held = Loud(seen)
        before = len(seen)
        y = X * 2.0 + 1.0
        y[0] = before + 1
        same(y * X, j(X))
        assert len(seen) == before + 1


class Meta(type):
    seen = []

    def __setattr__(cls, name, value):
        Meta.seen.append((name, value))
        type.__setattr__(cls, name, value)


class Watched(metaclass=Meta):
    count = 0


def test_a_metaclass_that_stores_is_asked():
    def count(x):
        y = x * 2.0 + 1.0
        Watched.count += 1
        return y * x

    j = jitted(count)
    for number in range(1, 4):
        j(X)
        assert Meta.seen[-1] == ("count", number) and len(Meta.seen) == number


def test_a_class_that_gets_a_metaclass_attribute_is_bytecode():
    class Kind(type):
        pass

    class Counted(metaclass=Kind):
        count = 0

    def count(x):
        Counted.count += 1
        return x * 2.0 + Counted.count

    j = jitted(count)
    for _ in range(3):
        j(X)
    assert kernel_count(j) or CUT
    Kind.count = property(lambda cls: 100, lambda cls, value: None)
    same(X * 2.0 + 100, j(X))
    assert Counted.__dict__["count"] == 3


@pytest.mark.skipif(CUT or mode_config().get("backend") == "python", reason="about machine code without breaks")
def test_a_loop_that_counts_is_one_kernel():
    this = program()
    j = jitted(this.counter_in_loop)
    assert launches(j, X, 8) == 1
