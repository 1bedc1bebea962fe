"""Random sources, guards and values: the C program and the Python twin agree on every fact."""

import types

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pijit.guards.axes import AxisLength, SameAxis, UnitAxes
from pijit.guards.cache import EntryCache
from pijit.guards.guard import (
    Equals,
    FunctionCode,
    IntRange,
    IsAbsent,
    IsArray,
    IsIdentical,
    IsType,
    IsUnbound,
    LengthIs,
    OwnCountIs,
)
from pijit.guards.pairs import DistinctObject, NoOverlap, SameObject, SameShape
from pijit.guards.program import GuardProgram
from pijit.guards.source import UNBOUND, Attr, ClosureCell, Constant, Global, Item, Local, TypeOf

SLOTS = 4
NAMES = ["a", "b", "shared", "method", "prop", "static", "__class__", "__dict__", "real", "append"]


class Thing:
    shared = (1, 2)
    prop = property(lambda self: 1)

    def method(self):
        return self

    @staticmethod
    def static():
        return 0


class Slots:
    __slots__ = ("a", "b")


def thing(attributes):
    made = Thing()
    made.__dict__.update(attributes)
    return made


def slots(value):
    made = Slots()
    made.a = value
    return made


def module(attributes):
    made = types.ModuleType("m")
    made.__dict__.update(attributes)
    return made


def cell(value):
    return (lambda: value).__closure__[0]


def empty_cell(_):
    made = cell(None)
    del made.cell_contents
    return made


base = np.arange(24.0)
arrays = st.sampled_from([
    base, base[:12], base[12:], base[::2], base[::-1], base.reshape(4, 6), base.reshape(4, 6).T, base[:0],
    np.arange(24), np.arange(24, dtype="f4"), np.arange(3, dtype=">f8"), np.array(1.0), np.zeros((2, 0)),
    np.zeros(17, "u1")[1:].view("f8"), np.zeros(3, np.longlong), np.zeros(3, np.int_), np.zeros(2, "M8[s]"),
    np.zeros(2, "M8[D]"), np.array([None]), np.ma.array([1.0]), np.zeros(3, "S2"),
    np.broadcast_to(1.0, (3, 3)),
])
scalars = st.one_of(
    st.integers(-3, 3), st.sampled_from([2**63 - 1, 2**63, -2**63, -2**63 - 1, 2**200]), st.booleans(),
    st.none(),
    st.sampled_from([0.0, -0.0, 1.0, float("nan"), float("inf"), 1j, complex(0.0, -0.0)]),
    st.sampled_from(["", "a", "\u20ac", b"", b"a", ...]))
constants = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=5)
others = st.sampled_from([len, np.sqrt, np, Thing, Slots, int, type, np.float64(1.0), Thing.method,
                          Thing.static])
# What says that a variable is unbound is no value that programs could put anywhere.
bound = st.recursive(
    st.one_of(constants, arrays, others, st.none().map(empty_cell)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.sampled_from(NAMES + [0, 1]), inner, max_size=3),
        st.dictionaries(st.sampled_from(NAMES[:6]), inner, max_size=3).map(thing),
        st.dictionaries(st.sampled_from(NAMES), inner, max_size=3).map(module),
        inner.map(slots), inner.map(cell)),
    max_leaves=6)
values = st.one_of(bound, st.just(UNBOUND))
roots = st.one_of(
    st.integers(0, SLOTS).map(lambda index: Local(index, f"l{index}")),
    st.integers(0, SLOTS).map(lambda index: ClosureCell(index, f"c{index}")),
    st.sampled_from(NAMES).map(Global), constants.map(Constant), others.map(Constant))
sources = st.recursive(
    roots,
    lambda inner: st.one_of(
        st.builds(Attr, inner, st.sampled_from(NAMES)), st.builds(TypeOf, inner),
        st.builds(Item, inner, st.one_of(st.integers(-3, 3), st.sampled_from(NAMES), st.just(2**70)))),
    max_leaves=3)
unbindable = st.one_of(
    st.integers(0, SLOTS).map(lambda index: Local(index, "x")),
    st.integers(0, SLOTS).map(lambda index: ClosureCell(index, "x")),
    st.sampled_from(NAMES).map(Global))
guards = st.one_of(
    st.builds(IsType, sources, st.sampled_from([int, bool, float, tuple, np.ndarray, Thing, types.ModuleType,
                                                type])),
    st.builds(IsArray, sources, st.sampled_from(["f8", "f4", "i8", np.longlong, "M8[s]", "O", "S2"]),
              st.integers(0, 2),
              st.sampled_from("CFA"), st.sampled_from([True, None]), st.sampled_from([True, None])),
    st.builds(IsIdentical, sources, st.one_of(others, st.just(base), scalars)),
    st.builds(Equals, sources, constants), st.builds(IntRange, sources),
    st.builds(LengthIs, sources, st.integers(0, 3)), st.builds(OwnCountIs, sources, st.integers(0, 2)), st.builds(IsUnbound, unbindable),
    st.builds(IsAbsent, sources.filter(lambda source: type(source) in (Attr, Item))),
    st.builds(NoOverlap, sources, sources), st.builds(SameShape, sources, sources),
    st.builds(AxisLength, sources, st.integers(0, 2), st.integers(0, 3), st.integers(0, 4), st.integers(1, 3),
              st.integers(0, 3)),
    st.builds(SameAxis, sources, sources, st.integers(0, 2), st.integers(0, 2)),
    st.builds(UnitAxes, sources, st.frozensets(st.integers(0, 2))),
    st.builds(SameObject, sources, sources), st.builds(DistinctObject, sources, sources),
    st.builds(FunctionCode, sources, st.sampled_from([Thing.method.__code__, Thing.static.__code__])))
scopes = st.dictionaries(st.sampled_from(NAMES), bound, max_size=4)
patient = settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))


@patient
@given(st.lists(guards, max_size=5), st.lists(sources, max_size=4),
       st.lists(values, min_size=SLOTS, max_size=SLOTS),
       scopes, scopes)
def test_c_and_python_agree(guard_list, fetch, slot_values, globals, builtins):
    program = GuardProgram(guard_list, fetch)
    found = program.check(slot_values, globals, builtins)
    twin = program.check_python(slot_values, globals, builtins)
    assert (found is None) == (twin is None) == (program.misses == 1)
    assert found is None or [id(item) for item in found] == [id(item) for item in twin]
    assert (program.explain_failure(slot_values, globals, builtins) is None) == (found is not None)


@patient
@given(guards, st.lists(values, min_size=SLOTS, max_size=SLOTS), scopes, scopes)
def test_single_guards_agree(guard, slot_values, globals, builtins):
    program = GuardProgram([guard])
    passed = program.check(slot_values, globals, builtins) is not None
    reason = guard.why_not_at(slot_values, globals, builtins)
    assert passed == (reason is None)
    assert program.failures == [0 if passed else 1]
    assert program.last_failed is (None if passed else guard)


@patient
@given(bound, st.data())
def test_equals_holds_for_a_copy_and_only_for_equals(value, data):
    constant = data.draw(constants)
    copy = eval(repr(constant), {"nan": float("nan"), "inf": float("inf"), "Ellipsis": ...})
    program = GuardProgram([Equals(Local(0, "x"), constant)])
    if "j" not in repr(constant):  # the repr of a complex number loses the sign of a zero
        assert program.check([copy], {}, {}) == []
    assert (program.check([value], {}, {}) is not None) == Equals(Local(0, "x"), constant).check(value)


@patient
@given(st.lists(st.integers(0, 5), max_size=30), st.integers(1, 4))
def test_the_cache_serves_the_entry_that_fits(calls, limit):
    cache = EntryCache(limit)
    model = []
    for n in calls:
        found = cache.lookup([n], {}, {})
        assert found == (n if n in model else None)
        if n in model:
            model.remove(n)
            model.insert(0, n)
        else:
            assert cache.add(GuardProgram([Equals(Local(0, "n"), n)]), n) == (len(model) < limit)
            model = [n] + model if len(model) < limit else model
        assert [payload for _, payload, _ in cache.entries] == model
    assert cache.hits + cache.misses == len(calls)
