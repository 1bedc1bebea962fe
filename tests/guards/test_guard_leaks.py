"""No evaluation keeps or loses a reference: hits, misses at every step, exceptions while fetching, failed
creation."""

import sys

import numpy as np
import pytest

from pijit.guards import _evaluate
from pijit.guards.cache import EntryCache
from pijit.guards.guard import Equals, IsArray, IsIdentical, IsType, LengthIs
from pijit.guards.pairs import DistinctObject, SameShape
from pijit.guards.program import GuardProgram, set_mirror
from pijit.guards.source import UNBOUND, Attr, ClosureCell, Constant, Global, Item, Local, TypeOf

X, Y = Local(0, "x"), Local(1, "y")
ROUNDS = 500
SLACK = ROUNDS // 2  # others count references to shared objects as well


class Holder:
    shared = object()

    @staticmethod
    def static():
        pass


class Slotted:
    __slots__ = ("a",)


class Raising:
    def __hash__(self):
        return hash("k")

    def __eq__(self, other):
        raise ValueError("no")


def tracked_objects():
    """Objects of every way to fetch, and the roots that lead to them."""
    array, content, item, slot = np.zeros(3), object(), object(), Slotted()
    slot.a = object()
    holder = Holder()
    holder.own = object()
    cell = (lambda: content).__closure__[0]
    bad = {Raising(): 1, "other": 2}
    roots = [array, [item, holder], cell, slot, holder, bad]
    names = {"np": np, "holder": holder}
    return [array, content, item, slot, slot.a, holder, holder.own, Holder, Holder.shared, Holder.static,
            cell, bad, np, np.sqrt, roots[1], None, float, Slotted], roots, names


SOURCES = [X, Item(Y, 0), ClosureCell(2, "content"), Attr(Local(3, "s"), "a"), Attr(Local(4, "h"), "own"),
           Attr(Local(4, "h"), "shared"), Attr(Local(4, "h"), "static"),
           Attr(TypeOf(Local(4, "h")), "static"), Attr(TypeOf(Local(3, "s")), "a"), Attr(Global("np"),
                                                                                         "sqrt"),
                                                                                         Attr(Item(Y, 1),
                                                                                              "own"),
           Constant(Holder)]

PROGRAMS = {
    "hit": ([IsArray(X, "f8", 1), LengthIs(Y, 2), SameShape(X, X)], SOURCES),
    "miss at once": ([IsType(X, int)], SOURCES),
    "miss after all fetches": ([DistinctObject(source, Constant(None)) for source in SOURCES]
                               + [IsIdentical(SOURCES[-1], None)], SOURCES),
    "miss late": ([LengthIs(Y, 2), IsIdentical(Attr(Item(Y, 1), "own"), None)], SOURCES),
    "absent in the end": ([], SOURCES + [Global("nope")]),
    "exception while fetching": ([LengthIs(Y, 2)], SOURCES + [Item(Local(5, "bad"), "k")]),
    "wrong kind of base": ([], SOURCES + [Item(X, 0)]),
    "many registers": ([], SOURCES + [Constant(object()) for _ in range(80)] + [Attr(Global("np"), "exp")]),
}


def counts(objects):
    return [sys.getrefcount(thing) for thing in objects]


def grown(before, after):
    return [number for number in (new - old for old, new in zip(before, after)) if abs(number) > SLACK]


@pytest.mark.parametrize("case", PROGRAMS)
@pytest.mark.parametrize("mirrored", [False, True])
def test_evaluations_keep_reference_counts(case, mirrored):
    set_mirror(mirrored)
    objects, roots, names = tracked_objects()
    program, cache = GuardProgram(*PROGRAMS[case]), EntryCache(2)
    payload = object()
    cache.add(program, payload)
    objects += [payload, program]
    program.check(roots, names, {})
    before, programs_before = counts(objects), program.hits + program.misses
    for _ in range(ROUNDS):
        program.check(roots, names, {})
        cache.lookup(roots, names, {})
    assert grown(before, counts(objects)) == []
    assert program.hits + program.misses == programs_before + 2 * ROUNDS
    assert bool(program.hits) == (case in ("hit", "many registers"))


def test_creation_and_destruction_keep_reference_counts():
    dtype, constant, cls = np.dtype([("x", "f8")]), (1, 2), type("Local", (), {})
    objects = [dtype, constant, cls, X, UNBOUND]
    before = counts(objects)
    for _ in range(ROUNDS):
        program = GuardProgram([IsArray(X, dtype, 1), Equals(X, constant), IsType(X, cls)],
                               [X, Constant(constant)])
        cache = EntryCache(1)
        cache.add(program, constant)
        cache.add(program_of_nothing, constant)
        cache.replace(program, constant)
        cache.entries, program.failures, program.last_failed, program.guards
        with pytest.raises(ValueError):
            _evaluate.Program((constant,), (), ((_evaluate.OPERATIONS["CHECK_EQUAL"], 0, 0, 0, 0, 0,
                                                 constant, 0, 0),),
                              (), 0, 0)
    del program, cache
    assert grown(before, counts(objects)) == []


program_of_nothing = GuardProgram([])


def test_memory_does_not_grow():
    tracemalloc = pytest.importorskip("tracemalloc")
    set_mirror(False)
    objects, roots, names = tracked_objects()
    programs = [GuardProgram(*case) for case in PROGRAMS.values()]

    def run(rounds):
        for _ in range(rounds):
            for program in programs:
                program.check(roots, names, {})

    run(50)
    tracemalloc.start()
    try:
        run(50)
        first = tracemalloc.get_traced_memory()[0]
        run(300)
        assert tracemalloc.get_traced_memory()[0] - first < 2000
    finally:
        tracemalloc.stop()
