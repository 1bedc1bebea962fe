"""Attributes of instances, wherever CPython keeps them; guards make no dict for an instance that has none yet."""

import ctypes
import sys

import pytest

from pijit.guards._evaluate import UNBOUND, count_own, find_own
from pijit.guards.guard import IsAbsent, OwnCountIs
from pijit.guards.program import GuardProgram
from pijit.guards.source import Attr, Local
from tests.guards.test_guard_sources import ABSENT, fetch

X = Local(0, "x")
MANAGED_DICT = 1 << 4  # Py_TPFLAGS_MANAGED_DICT


class Plain:
    of_class = "class"


class Rows(tuple):
    """The place of the dict is behind the items."""


class Slots:
    __slots__ = ("one", "__weakref__")


class SlotsAndDict(Slots):
    pass


class Failure(Exception):
    pass


class DictSub(dict):
    pass


def with_values(made):
    made.one, made.two = 1, "two"
    return made


def with_dict():
    made = with_values(Plain())
    made.__dict__
    return made


def with_dict_gone():
    made = with_values(Plain())
    del made.__dict__
    made.two = 2
    return made


def with_other_dict(kind):
    made = Plain()
    made.__dict__ = kind(one=11, two=22)
    return made


def with_many():
    made = Plain()
    for number in range(60):
        setattr(made, "name%d" % number, number)
    made.one = 1
    return made


def with_deleted():
    made = with_values(Plain())
    del made.one
    return made


def with_number_key():
    made = with_values(Plain())
    made.__dict__[5] = 5
    return made


def of_another_class():
    made = with_values(Plain())
    made.__class__ = type("Other", (), {"of_class": "other"})
    return made


MADE = [lambda: with_values(Plain()), Plain, lambda: with_values(Rows((1, 2, 3))), Rows, lambda: with_values(SlotsAndDict()),
        SlotsAndDict, lambda: with_values(Failure("no")), Failure, with_dict, with_dict_gone, lambda: with_other_dict(dict),
        lambda: with_other_dict(DictSub), with_many, with_deleted, with_number_key, of_another_class,
        lambda: with_values(type("Int", (int,), {})(7)), lambda: sys]
NAMES = ("one", "two", "of_class", "name7", "name59", "nope")


@pytest.mark.parametrize("make", MADE)
@pytest.mark.parametrize("name", NAMES)
def test_what_is_read_is_what_python_reads(make, name):
    target = make()
    expected = getattr(target, name, ABSENT)
    assert fetch(Attr(X, name), target) is expected
    if target is not sys and not (make is SlotsAndDict and name == "one"):  # what modules and slots lack is never certain
        absent = GuardProgram([IsAbsent(Attr(X, name))], []).check([target], {}, {}) is not None
        assert absent == (expected is ABSENT)


def has_dict(instance):
    """Whether an instance of a plain class has a dict already; see guards/native/lookup/managed_dict_*_inl.h."""
    word = ctypes.c_size_t.from_address(id(instance) - 3 * ctypes.sizeof(ctypes.c_size_t)).value
    return word != 0 and word & 1 == 0


@pytest.mark.skipif(not Plain.__flags__ & MANAGED_DICT or sys.version_info < (3, 11), reason="instances have dicts")
@pytest.mark.parametrize("name", NAMES)
def test_no_dict_is_made(name):
    targets = [with_values(Plain()), Plain()]
    programs = [GuardProgram([IsAbsent(Attr(X, name))], []), GuardProgram([], [Attr(X, name)])]
    for target in targets:  # by C, and by its twin in Python
        had = has_dict(target)  # 3.11 itself makes one for the first instance with many attributes
        found = [program.check([target], {}, {}) for program in programs]
        assert (found[0] is None) == (found[1] is not None)
        assert has_dict(target) == had
        target.__dict__
        assert has_dict(target)


def test_references_are_given_back():
    target, value = Plain(), object()
    target.one = value
    program = GuardProgram([], [Attr(X, "one"), Attr(X, "of_class")])
    counts = sys.getrefcount(value), sys.getrefcount(target)
    for _ in range(100):
        assert program.check([target], {}, {}) == [value, "class"]
    assert (sys.getrefcount(value), sys.getrefcount(target)) == counts


def test_what_is_held_is_found_without_a_read():
    assert find_own(with_values(Plain()), "two") == "two" and find_own(Plain(), "of_class") is UNBOUND
    with pytest.raises(TypeError, match="read in another way"):
        find_own(Plain, "of_class")


@pytest.mark.parametrize("make", MADE)
def test_what_is_counted_is_what_the_dict_has(make):
    target, twin = make(), make()
    expected = len(twin.__dict__) if type(twin.__dict__) is dict else None
    for count in range(70):
        held = GuardProgram([OwnCountIs(X, count)], []).check([target], {}, {}) is not None
        assert held == OwnCountIs(X, count).check(target) == (count == expected)


@pytest.mark.skipif(not Plain.__flags__ & MANAGED_DICT or sys.version_info < (3, 11), reason="instances have dicts")
@pytest.mark.parametrize("make", [lambda: with_values(Plain()), Plain, with_deleted])
def test_no_dict_is_made_to_count(make):
    target = make()
    had = has_dict(target)
    program = GuardProgram([OwnCountIs(X, len(make().__dict__))], [])
    assert program.check([target], {}, {}) is not None and has_dict(target) == had
    target.three = 3  # may make a dict
    assert program.check([target], {}, {}) is None


def test_attributes_that_a_class_defines_are_counted():
    class Counted(Plain):
        one = 1

    count = len(vars(Counted))
    guard = OwnCountIs(X, count)
    program = GuardProgram([guard], [])
    assert count_own(Counted) == count and guard.check(Counted) and program.check([Counted], {}, {}) is not None
    Plain.of_base = 2
    assert program.check([Counted], {}, {}) is not None
    del Plain.of_base
    Counted.two = 2
    assert count_own(Counted) == count + 1 and not guard.check(Counted) and program.check([Counted], {}, {}) is None


def test_what_has_no_plain_dict_is_not_counted():
    for target in (int, Slots(), 3, with_other_dict(DictSub)):
        with pytest.raises(TypeError, match="no plain dict"):
            count_own(target)
