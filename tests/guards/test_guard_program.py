"""Guard programs: evaluation order, shared prefixes, fetching, counts, explanations, and the mirror."""

import gc
import weakref

import numpy as np
import pytest

from pijit.guards import _evaluate
from pijit.guards.guard import Equals, IsArray, IsIdentical, IsType, LengthIs
from pijit.guards.pairs import NoOverlap, SameShape
from pijit.guards.program import (
    FETCHES,
    GuardProgram,
    evaluation_order,
    failures_by_source,
    mirror_disagreements,
    set_mirror,
)
from pijit.guards.source import UNBOUND, Attr, Constant, Global, Item, Local, TypeOf

X, Y, Z = Local(0, "x"), Local(1, "y"), Local(2, "z")


class Layer:
    pass


def test_order_is_as_given_but_cheap_first_within_one_source():
    pair = NoOverlap(X, Y)
    guards = [Equals(X, 3), pair, IsArray(Y, "f8", 1), IsType(X, int), IsIdentical(Y, None), SameShape(X, Y),
              IsIdentical(X, 3)]
    expected = [guards[6], guards[5], guards[4], guards[3], guards[2], pair, guards[0]]
    assert evaluation_order(guards) == expected
    program = GuardProgram(guards)
    assert program.order == tuple(expected)
    assert program.guards == tuple(guards)
    assert str(program).splitlines() == [str(guard) for guard in expected]


def test_what_failed_most_often_is_looked_at_first():
    weight = Attr(Y, "w")
    guards = [IsType(X, int), IsType(Y, Layer), NoOverlap(X, weight), IsType(Z, int), IsType(weight, float),
              Equals(Z, 3)]
    before = [GuardProgram(guards), GuardProgram([Equals(Z, 3), IsType(X, int)])]
    layer = Layer()
    layer.w = 1
    for _ in range(3):
        assert before[0].check([1, layer, 3], {}, {}) is None
    assert before[1].check([1, None, 4], {}, {}) is None and before[1].check([1.0, None, 3], {}, {}) is None
    failures = failures_by_source(before)
    assert failures == {X: 4, Y: 3, weight: 3, Z: 1}
    first = [guards[0], guards[1], guards[2], guards[4], guards[3], guards[5]]
    assert evaluation_order(guards, failures) == first
    assert evaluation_order(guards, {weight: 3, Y: 3}) == [guards[k] for k in (1, 4, 0, 2, 3, 5)]
    program = GuardProgram(guards, [weight], failures)
    assert program.order == tuple(first) and program.guards == tuple(guards)
    assert program.check([1, 1, 3], {}, {}) is None and program.last_failed == guards[1]


def test_duplicate_guards_are_evaluated_once():
    program = GuardProgram([IsType(X, int), IsType(X, int), IsType(Y, int)])
    assert program.order == (IsType(X, int), IsType(Y, int))
    assert program.check([1.0, 1], {}, {}) is None
    assert program.check([1, 1.0], {}, {}) is None
    assert program.failures == [1, 0, 1]


def test_shared_prefixes_are_fetched_once(monkeypatch):
    fetched, plain = [], FETCHES[Global]
    monkeypatch.setitem(FETCHES, Global, lambda source: fetched.append(source) or plain(source))
    module = Global("np")
    program = GuardProgram([IsIdentical(module, np), IsIdentical(Attr(module, "sqrt"), np.sqrt),
                            IsIdentical(Attr(module, "exp"), np.exp)], [Attr(module, "sqrt"), module])
    assert program.check([], {"np": np}, {}) == [np.sqrt, np]
    assert fetched == [module]


def test_fetch_order_and_identity():
    xs, value = [object(), object()], object()
    program = GuardProgram([LengthIs(X, 2)],
                           [Item(X, 1), X, Item(X, 0), Item(X, 1), Constant(value), TypeOf(X)])
    found = program.check([xs], {}, {})
    assert [id(item) for item in found] == [id(item) for item in (xs[1], xs, xs[0], xs[1], value, list)]
    assert program.fetch == (Item(X, 1), X, Item(X, 0), Item(X, 1), Constant(value), TypeOf(X))
    assert GuardProgram([]).check([], {}, {}) == []


def test_more_registers_than_fit_on_the_stack():
    xs = [object() for _ in range(300)]
    items = [Item(X, i) for i in range(300)]
    program = GuardProgram([IsType(item, object) for item in items], items[::-1])
    assert program.check([xs], {}, {}) == xs[::-1]
    assert program.check([xs[:200]], {}, {}) is None
    assert program.failures == [0] * 200 + [1] + [0] * 99


def test_counts_and_last_failed():
    program = GuardProgram([IsType(X, int), Equals(Y, 3)], [Z])
    assert (program.hits, program.misses, program.failures, program.last_failed) == (0, 0, [0, 0], None)
    program.check([1, 3, 0], {}, {})
    assert (program.hits, program.misses, program.last_failed) == (1, 0, None)
    program.check([1, 4, 0], {}, {})
    program.check([1, 5, 0], {}, {})
    assert program.last_failed is program.guards[1]
    program.check([1.0, 3, 0], {}, {})
    assert program.last_failed is program.guards[0]
    program.check([1, UNBOUND, 0], {}, {})
    assert (program.hits, program.misses, program.failures) == (1, 4, [1, 3])
    program.check([1, 3, UNBOUND], {}, {})
    assert (program.hits, program.misses, program.failures, program.last_failed) == (1, 5, [1, 3], None)


def test_a_shared_absent_source_is_charged_to_the_guard_that_reads_it_first():
    w = Attr(X, "w")
    program = GuardProgram([IsType(X, object), IsType(w, int), LengthIs(Attr(w, "v"), 2)])
    assert program.check([object()], {}, {}) is None
    assert program.last_failed == IsType(w, int)


def test_explain_failure():
    program = GuardProgram([IsType(X, float), IsType(Attr(Global("m"), "w"), int),
                            LengthIs(Item(Y, "k"), 2)], [Z])
    m = type("M", (), {"w": 1})
    good = [1.0, {"k": (1, 2)}, 0]
    assert program.explain_failure(good, {"m": m}, {}) is None
    cases = [
        ([1, good[1], 0], {"m": m},
         "guard `type(L['x']) is float` failed: L['x'] was of type float and is now of type int"),
        ([UNBOUND, good[1], 0], {"m": m}, "guard `type(L['x']) is float` failed: L['x'] is unbound"),
        (good, {}, "guard `type(G['m'].w) is int` failed: G['m'] is not defined"),
        (good, {"m": object},
         "guard `type(G['m'].w) is int` failed: G['m'], now the class object, has no attribute 'w' "
                              "that can be read without running code"),
        ([1.0, {"k": [1]}, 0], {"m": m},
         "guard `len(L['y']['k']) == 2` failed: L['y']['k'] had 2 items and now has 1"),
        ([1.0, [], 0], {"m": m},
         "guard `len(L['y']['k']) == 2` failed: L['y'], now an object of type list, has no "
                                 "item 'k'"),
        ([1.0, good[1], UNBOUND], {"m": m}, "L['z'] is unbound"),
    ]
    for values, names, sentence in cases:
        assert program.check(values, names, {}) is None
        assert program.explain_failure(values, names, {}) == sentence
        assert program.check_python(values, names, {}) is None
    assert program.check_python(good, {"m": m}, {}) == [0]
    assert program.misses == len(cases)


def test_sentences_call_no_user_code():
    class Hostile:
        def run(self, *args):
            raise RuntimeError("user code ran")

        __repr__ = __str__ = __eq__ = __bool__ = __len__ = __getattribute__ = run
        __hash__ = None

    program = GuardProgram([Equals(X, 3)])
    assert program.explain_failure([Hostile()], {}, {}) == (
        "guard `L['x'] == 3` failed: L['x'] was 3 and is now an object of type Hostile")
    assert str(IsIdentical(X, Hostile())) == "L['x'] is an object of type Hostile"


@pytest.mark.disagrees
def test_the_mirror_reports_a_disagreement(monkeypatch):
    monkeypatch.setattr(IsType, "why_not", lambda self, value: "because")
    before = mirror_disagreements()
    program = GuardProgram([IsType(X, int)], [X])
    with pytest.raises(AssertionError,
                       match="all guards held in C; Python: guard `type\\(L\\['x'\\]\\) is int` failed"):
        program.check([1], {}, {})
    cache = _evaluate.EntryCache(1)
    cache.add(program, None)
    with pytest.raises(AssertionError, match="all guards held in C"):
        cache.lookup([1], {}, {})
    assert mirror_disagreements() == before + 2
    monkeypatch.setattr(IsType, "why_not", lambda self, value: None)
    with pytest.raises(AssertionError, match="guard 0 failed in C; Python: all guards held"):
        program.check(["x"], {}, {})
    monkeypatch.undo()
    monkeypatch.setattr(Local, "fetch", lambda *args: 1.5)
    with pytest.raises(AssertionError):
        GuardProgram([], [X]).check([2], {}, {})
    set_mirror(False)
    assert GuardProgram([], [X]).check([2], {}, {}) == [2]
    monkeypatch.undo()
    assert set_mirror(True) is False
    assert set_mirror(True) is True


MALFORMED = [
    ((99, -1, 0, 0, 0, 0, None, 0, 0), 1, 1),
    (("FETCH_LOCAL", -1, 0, 0, 0, -1, None, 0, 0), 1, 1),
    (("FETCH_LOCAL", -1, 1, 0, 0, 0, None, 0, 0), 1, 1),
    (("FETCH_LOCAL", 1, 0, 0, 0, 0, None, 0, 0), 1, 1),
    (("FETCH_GLOBAL", -1, 0, 0, 0, 0, 3, 0, 0), 0, 1),
    (("FETCH_TYPE", -1, 0, 0, 0, 0, None, 0, 0), 0, 1),
    (("CHECK_TYPE", 0, 0, 0, 0, 0, int, 0, 0), 0, 0),
    (("CHECK_TYPE", 0, 0, -1, 0, 0, int, 0, 0), 0, 0),
]


@pytest.mark.parametrize("row, borrowed, registers", MALFORMED)
def test_malformed_steps_are_refused(row, borrowed, registers):
    number = _evaluate.OPERATIONS.get(row[0], row[0])
    with pytest.raises(ValueError, match="step 0 of the guard program is malformed"):
        _evaluate.Program((), (), ((number,) + row[1:],), (), borrowed, registers)


def test_malformed_operands_and_results_are_refused():
    fetch = (_evaluate.OPERATIONS["FETCH_LOCAL"], -1, 0, 0, 0, 0, None, 0, 0)
    for name, operand in [("CHECK_TYPE", 3), ("CHECK_ARRAY", float), ("CHECK_INT64", 3)]:
        check = (_evaluate.OPERATIONS[name], 0, 0, 0, 0, 0, operand, 0, 0)
        with pytest.raises(ValueError, match="step 1 of the guard program is malformed"):
            _evaluate.Program((None,), (), (fetch, check), (), 1, 1)
    with pytest.raises(ValueError, match="fetch source 0 names register 1"):
        _evaluate.Program((), (None,), (fetch,), (1,), 1, 1)
    with pytest.raises(ValueError, match="leave registers unfilled"):
        _evaluate.Program((), (), (fetch,), (), 2, 2)
    with pytest.raises(ValueError, match="differ in length"):
        _evaluate.Program((), (None,), (), (), 0, 0)
    with pytest.raises(TypeError):
        _evaluate.Program((), (), (3,), (), 0, 0)


def test_check_refuses_bad_arguments():
    program = GuardProgram([])
    with pytest.raises(TypeError):
        program.check([], {})
    with pytest.raises(TypeError):
        program.check(3, {}, {})


def test_cycles_through_a_program_are_collected():
    class Node:
        pass

    node = Node()
    node.program = GuardProgram([IsIdentical(X, node)], [Constant(node)])
    gone = weakref.ref(node)
    del node
    gc.collect()
    assert gone() is None
