"""Guards do not keep what they compare with: a dead object's guard never holds again, its entry makes room, and
the program's own weak references count as before."""

import gc
import sys
import types
import weakref

import numpy as np
import pytest

from pijit.guards import _evaluate
from pijit.guards.cache import EntryCache
from pijit.guards.guard import FunctionCode, IsIdentical, IsType
from pijit.guards.held import GONE, Held
from pijit.guards.program import GuardProgram
from pijit.guards.source import Local

X = Local(0, "x")


class Thing:
    pass


def new_class():
    return type("Fresh", (), {})


def new_function():
    return types.FunctionType(compile("def f(): pass", "fresh.py", "exec").co_consts[0], {}, "f")


def new_code():
    return new_function().__code__


MAKERS = {"class": new_class, "function": new_function, "instance": Thing, "array": lambda: np.arange(3.0),
          "module": lambda: types.ModuleType("fresh"), "code": new_code}


def holds(program, value):
    return program.check([value], {}, {}) is not None


def collect():
    gc.collect()


@pytest.mark.parametrize("kind", MAKERS)
def test_an_object_guarded_by_identity_is_not_kept(kind):
    thing = MAKERS[kind]()
    program, alive = GuardProgram([IsIdentical(X, thing)]), weakref.ref(thing)
    assert holds(program, thing) and not program.dead and alive() is thing
    text = str(program)
    del thing
    collect()
    assert alive() is None and program.dead and str(program) == text
    assert not holds(program, None) and not holds(program, MAKERS[kind]())


def test_a_type_is_not_kept():
    cls = new_class()
    program, alive = GuardProgram([IsType(X, cls)]), weakref.ref(cls)
    assert holds(program, cls()) and not holds(program, new_class()())
    del cls
    collect()
    assert alive() is None and program.dead
    assert program.explain_failure([new_class()()], {}, {}) == (
        "guard `type(L['x']) is Fresh` failed: L['x'] was of type Fresh and is now of another type Fresh")


def test_code_is_not_kept():
    function = new_function()
    program, alive = GuardProgram([FunctionCode(X, function.__code__)]), weakref.ref(function.__code__)
    twin = types.FunctionType(function.__code__, {})
    assert holds(program, function) and holds(program, twin) and not holds(program, new_function())
    del function, twin
    assert alive() is None and program.dead and not holds(program, new_function())


@pytest.mark.parametrize("kind", ["instance", "function", "array", "class"])
def test_a_new_object_at_the_same_address_is_another(kind):
    make, code = MAKERS[kind], new_code()
    if kind == "function":
        make = lambda: types.FunctionType(code, {})  # noqa: E731
    for _ in range(200):
        thing = make()
        guard, address = IsIdentical(X, thing), id(thing)
        program, typed = GuardProgram([guard]), GuardProgram([IsType(X, thing)]) if kind == "class" else None
        del thing
        if kind == "class":
            collect()
        others = make(), make(), make(), make()  # a comprehension is a function itself, and would take the place
        same = [other for other in others if id(other) == address]
        for other in same:
            assert not holds(program, other) and not guard.check(other)
            assert guard != IsIdentical(X, other) and program.dead
            assert typed is None or not holds(typed, other())
        if same:
            return
    pytest.fail("no address was used again")


STRONG = [3, "text", (1, 2), None, int, np.float64, np.sqrt, np.dtype("f8"), weakref.ref(Thing)]


@pytest.mark.parametrize("value", STRONG, ids=lambda value: type(value).__name__)
def test_what_cannot_be_referred_to_weakly_or_never_dies_is_kept(value):
    program = GuardProgram([IsIdentical(X, value)])
    assert not Held(value, "").is_weak and holds(program, value) and not program.dead
    assert not holds(program, object())


def test_a_strong_guard_keeps_its_object():
    value = (object(), 1)
    program, before = None, sys.getrefcount(value)
    program = GuardProgram([IsIdentical(X, value)])
    assert sys.getrefcount(value) > before
    del program
    assert sys.getrefcount(value) == before


def test_counts_of_weak_references_to_classes_stay():
    cls = new_class()
    before = weakref.getweakrefcount(cls)
    guards = [IsType(X, cls), IsIdentical(X, cls)]
    assert weakref.getweakrefcount(cls) == before and guards[0].check(cls())


@pytest.mark.parametrize("kind", sorted(set(MAKERS) - {"class"}))
def test_a_guard_shares_the_plain_reference_of_the_program(kind):
    thing = MAKERS[kind]()
    own = weakref.ref(thing)
    guards = [IsIdentical(X, thing), IsIdentical(X, thing)]
    assert weakref.getweakrefcount(thing) == 1 and guards[0].held.holder is own
    assert guards[0] == guards[1] and hash(guards[0]) == hash(guards[1])


def test_references_of_a_subclass_and_with_a_callback_are_left_alone():
    class Own(weakref.ref):
        pass
    thing, died = Thing(), []
    references = [Own(thing), weakref.ref(thing, died.append)]
    guard = IsIdentical(X, thing)
    assert guard.check(thing) and type(guard.held.holder) is weakref.ref
    del thing
    assert died == references[1:] and guard.held.get() is GONE


def test_no_code_of_the_user_runs():
    class Meta(type):
        def __eq__(self, other):
            raise RuntimeError("user code ran")

        def __hash__(self):
            raise RuntimeError("user code ran")

        __bool__ = __len__ = __hash__

    class Strange(metaclass=Meta):
        __eq__, __hash__, __bool__ = Meta.__eq__, Meta.__hash__, Meta.__hash__
    thing = Strange()
    for guard, value in ((IsType(X, Strange), thing), (IsIdentical(X, thing), thing), (IsIdentical(X, Strange), Strange)):
        program = GuardProgram([guard, guard])
        assert holds(program, value) and not holds(program, 3) and guard == type(guard)(X, guard.held.get())


@pytest.mark.parametrize("name", ["CHECK_WEAK_TYPE", "CHECK_WEAK_IDENTICAL", "CHECK_CODE"])
def test_weak_steps_take_weak_references_only(name):
    fetch = (_evaluate.OPERATIONS["FETCH_LOCAL"], 0, 0, 0, 0, 0, None, 0, 0)
    for wrong in (Thing, Thing(), None, weakref.WeakMethod(types.MethodType(new_function(), Thing()))):
        check = (_evaluate.OPERATIONS[name], 0, 0, 0, 0, 0, wrong, 0, 0)
        with pytest.raises(ValueError, match="malformed"):
            _evaluate.Program(("guard",), (), (fetch, check), (), 1, 1)


# the cache

def cache_of(limit, *things):
    cache = EntryCache(limit)
    for number, thing in enumerate(things):
        assert cache.add(GuardProgram([IsIdentical(X, thing)]), number)
    return cache


def test_dead_entries_leave_at_the_next_miss():
    things = [Thing() for _ in range(4)]
    cache = cache_of(4, *things)
    del things[1], things[1]
    assert cache.lookup([things[0]], {}, {}) == 0 and len(cache) == 4
    assert cache.lookup([None], {}, {}) is None
    assert [payload for _, payload, _ in cache.entries] == [0, 3]
    assert [cache.lookup([thing], {}, {}) for thing in things] == [0, 3]


def test_a_dead_entry_makes_room_at_the_limit():
    things = [Thing(), Thing()]
    cache, third = cache_of(2, *things), Thing()
    program = GuardProgram([IsIdentical(X, third)])
    assert cache.add(program, 2) is False
    del things[0]
    assert cache.add(program, 2) is True
    assert sorted(payload for _, payload, _ in cache.entries) == [1, 2]


def test_eviction_survives_payloads_that_change_the_cache():
    class Meddler:
        def __del__(self):
            meddle()
    for meddle in (lambda: cache.clear(), lambda: cache.lookup([last], {}, {}), lambda: cache.lookup([None], {}, {})):
        things = [Thing() for _ in range(5)]
        cache, last = cache_of(6, *things), Thing()
        cache.add(GuardProgram([IsIdentical(X, last)]), 9)
        for program, _, _ in cache.entries[1:]:
            cache.replace(program, Meddler())
        del program, things
        assert cache.lookup([None], {}, {}) is None
        assert len(cache) <= 1
        assert cache.lookup([last], {}, {}) == (9 if len(cache) else None)


def test_no_reference_is_lost_or_kept():
    cls, function, extra = new_class(), new_function(), (1, object())
    objects = [cls, function, function.__code__, weakref.ref(cls), weakref.ref(function), extra]
    cache = EntryCache(2)

    def work():
        program = GuardProgram([IsType(X, cls), IsIdentical(X, function), FunctionCode(X, function.__code__)])
        program.check([cls()], {}, {})
        thing = Thing()
        cache.add(GuardProgram([IsIdentical(X, thing), IsIdentical(X, extra)]), extra)
        cache.lookup([thing], {}, {})
        del thing
        cache.lookup([None], {}, {})
        program.dead
    for _ in range(20):
        work()
    gc.collect()
    before = [sys.getrefcount(thing) for thing in objects], len(gc.get_objects())
    for _ in range(500):
        work()
    gc.collect()
    assert [sys.getrefcount(thing) for thing in objects] == before[0]
    assert len(cache) == 0 and len(gc.get_objects()) - before[1] < 20
