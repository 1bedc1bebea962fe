"""A long first call moves to newer code at a loop's header: same answers, and kernels in its first run."""

import gc
import io
import operator
import sys
import threading
import traceback
import weakref

import numpy as np
import pytest

from pijit.core import _hook
from pijit.core.capture.profile import type_feedback as feedback
from pijit.differential import plain_twin
from tests.harness import check, jitted

stay = operator.methodcaller("__abs__")
"""A call that stays bytecode, and gives back a number that is not negative."""
MOVED = "PJ304"
EXPLICIT = {"force_breaks": None}
X = np.linspace(-1.0, 2.0, 8)


@pytest.fixture(autouse=True)
def eager(monkeypatch):
    """Every call is long enough to move."""
    monkeypatch.setattr(feedback, "is_long", lambda running, spent: True)


def moves_of(j):
    return sum(why.startswith(MOVED) for why in j.state.recompiles)


def runs_of(j):
    launchers = [launcher for entry in j.state.entries for launcher in entry.launchers + list(entry.reentries)]
    return sum(launcher.calls - launcher.misses for launcher in launchers)


def over_range(n, x, out):
    s = 0.0
    for i in range(n):
        k = stay(i)
        for j in range(5):
            s += x[j & 3] * k + j
        if i % 10 == 0:
            out.append((i, s))
    return s, i


def over_list(n, x, out):
    total = x * 0.0
    for item in [stay(k) for k in range(n)]:
        y = stay(item)
        total = total + x * y + (total - y) * 0.5
        out.append(y)
    else:
        out.append("end")
    return total


def over_array(n, x, out):
    s = 0.0
    for i, (row, k) in enumerate(zip(x.repeat(n).reshape(-1, 4), range(n))):
        y = stay(k)
        s += row.sum() * y + i * (y - row[0])
        out.append(s)
    return s, row


def over_generator(n, x, out):
    s = 0.0
    for y in (stay(k) for k in range(n)):
        s = (s * 0.5 + x[y & 3] * y) * 0.25 + y
    out.append(s)
    return s


def in_while(n, x, out):
    k = 0
    s = 0.0
    while k < n:
        y = stay(k)
        if y == 3:
            k += 2
            continue
        s += x[y & 7] * y + s * 0.5 - y
        k += 1
        if s > 1e6:
            break
    out.append(k)
    return s


def in_nest(n, x, out):
    s = 0.0
    for i in range(3):
        a = stay(i)
        for j in range(n):
            b = stay(j)
            k = 0
            while k < 4:
                s += x[k] * a + b * k
                k += 1
            out.append(b)
        s = s * 0.5 + a
    return s, i, j, k


def observed_before(n, x, out):
    scale = stay(3)
    s = 0.0
    for i in range(n):
        s += x[i & 7] * scale + i * 0.5 - scale
    out.append(s)
    return s


def seen_late(n, x, out):
    s = 0.0
    for i in range(n):
        y = stay(i)
        s += x[i & 7] * y + y
        if i > n - 5:
            z = stay(2)
            s += x[0] * z + z * y - i
            out.append(z)
    return s


def of_changing_type(n, x, out):
    s = 0.0
    for i in range(n):
        y = stay(i if i < 20 else i * 0.5)
        s += x[i & 7] * y + y * 2.0 - i
    out.append(s)
    return s


def binds_arguments_anew(n, x, out):
    while n > 0:
        y = stay(n)
        x = x * 0.5 + y
        n -= 1
        out.append(n)
    return x, n


def in_cells(n, x, out):
    count, scale = 0, 2.0

    def bump(by):
        nonlocal count
        count += by
        return count * scale

    s = 0.0
    for i in range(n):
        y = stay(bump(i))
        s += x[i & 7] * y + y * scale
        count += 1
    return s, count, bump(1)


def unbound_at_first(n, x, out):
    s = 0.0
    for i in range(n):
        y = stay(i)
        if i > 5:
            s += x[i & 7] * late + late
        else:
            late = y * 0.5
        if i == n - 2:
            del late
            try:
                s += late
            except UnboundLocalError as error:
                out.append(str(error))
            late = 1.0
    return s, late


def raises_late(n, x, out):
    s = 0.0
    for i in range(n):
        y = stay(i)
        s += x[i] * y + y * 2.0 + s * 0.5
        out.append(s)
    return s


def names_of_locals(n, x, out):
    before = locals()
    s = 0.0
    for i in range(n):
        y = stay(i)
        s += x[i & 7] * y + y * 2.0 - i
    after = locals()
    return before is after, sorted(before), before["s"], s


def returns_inside(n, x, out):
    s = 0.0
    for i in range(n):
        y = stay(i)
        s += x[i & 7] * y + y * 2.0
        for j in range(4):
            s += j * y
            if i == n - 3 and j == 2:
                return s, i, j


class Model:
    """A method with attributes and a cell."""

    def __init__(self):
        self.weights = X * 0.5
        self.steps = 0

    def fit(self, n, x, out):
        rate = 0.5
        report = lambda text: out.append((text, rate))
        for step in range(n):
            y = stay(step)
            self.weights = self.weights + (x - self.weights) * rate * y
            self.steps += 1
            if step % 8 == 0:
                print("step", step, file=STREAM)
                report(self.weights.sum())
        return self.weights, self.steps


STREAM = io.StringIO()


def method(n, x, out):
    return Model.fit(Model(), n, x, out)


FUNCTIONS = [over_range, over_list, over_array, over_generator, in_while, in_nest, observed_before, seen_late,
             of_changing_type, binds_arguments_anew, in_cells, names_of_locals, returns_inside]


@pytest.mark.parametrize("f", FUNCTIONS + [raises_late, unbound_at_first, method])
def test_answers_are_the_same(f):
    check(f, 40, X, [], config={})
    check(f, 2, X, [], config={})


@pytest.mark.usefixtures("little_work")
@pytest.mark.parametrize("f", FUNCTIONS)
def test_first_call_gets_kernels(f):
    if f is names_of_locals and sys.version_info >= (3, 11):
        pytest.skip("a call that reads its locals does not move, and from 3.13 on they are a dict of that moment")
    j = jitted(plain_twin(f), EXPLICIT)
    notes, expected = [], []
    got, wanted = j(200, X, notes), f(200, X, expected)
    assert 1 <= moves_of(j) <= feedback.MAX_OBSERVATIONS
    assert runs_of(j) >= 1
    assert repr(got) == repr(wanted) and repr(notes) == repr(expected)


def test_first_call_on_machine_code():
    j = jitted(plain_twin(in_nest), {"backend": "numba", "force_breaks": None})
    notes, expected = [], []
    assert repr(j(200, X, notes)) == repr(in_nest(200, X, expected)) and notes == expected
    assert moves_of(j) >= 1 and runs_of(j) > 300
    before = runs_of(j)
    assert repr(j(200, X, [])) == repr(in_nest(200, X, [])) and runs_of(j) > before


def test_next_calls_hit_what_the_first_moved_to():
    j = jitted(plain_twin(over_range), EXPLICIT)
    j(50, X, [])
    assert moves_of(j) == 1 and not j.state.pending
    j(50, X, [])
    assert j.cache_info().hits == 1 and len(j.state.entries) == 1


def test_method_with_attributes_and_a_cell():
    j = jitted(plain_twin(Model.fit), EXPLICIT)
    models, notes = (Model(), Model()), ([], [])
    got, wanted = j(models[0], 50, X, notes[0]), Model.fit(models[1], 50, X, notes[1])
    assert repr(got) == repr(wanted) and repr(notes[0]) == repr(notes[1])
    assert models[0].steps == models[1].steps and models[0].weights is got[0]
    assert moves_of(j) >= 1 and runs_of(j) >= 1


def test_traceback_has_the_frame_once_and_its_line():
    j = jitted(plain_twin(raises_late), EXPLICIT)
    found = []
    for f in (j, raises_late):
        with pytest.raises(IndexError) as raised:
            f(40, np.arange(20.0), [])
        frames = [frame for frame in traceback.extract_tb(raised.value.__traceback__) if frame.name == "raises_late"]
        found.append([frame.lineno for frame in frames])
        last = raised.value.__traceback__
        while last.tb_next is not None:
            last = last.tb_next
        names = {name: repr(value) for name, value in last.tb_frame.f_locals.items() if "$" not in name}
        found.append(names)
    assert found[:2] == found[2:] and len(found[0]) == 1
    assert moves_of(j) >= 1


def keeps_its_frame(n, x, out):
    out.append(sys._getframe())
    s = 0.0
    for i in range(n):
        s += x[i & 7] * stay(i)
        assert out[0] is sys._getframe() and out[0].f_locals["i"] == i
    return s


def test_frame_that_somebody_holds_stays():
    j = jitted(keeps_its_frame, EXPLICIT)
    assert j(50, X, []) == keeps_its_frame(50, X, [])
    assert moves_of(j) == 0


def in_blocks(n, x, out):
    s = 0.0
    with np.errstate(all="ignore"):
        try:
            for i in range(n):
                s += x[i & 7] * stay(i)
        finally:
            out.append(s)
    try:
        raise KeyError
    except KeyError:
        for i in range(n):
            s += x[i & 7] * stay(i)
            out.append(sys.exc_info()[0])
    return s


def test_loops_in_try_and_with_are_no_move_points():
    check(in_blocks, 50, X, [])
    j = jitted(plain_twin(in_blocks), EXPLICIT)
    assert j(50, X, []) == in_blocks(50, X, [])
    assert moves_of(j) == 0 and j.state.pending
    assert [report.reason_id for report in j.state.entries[0].reports.stays] == ["PJ403"] * 2


def traces(n, x, out):
    s = 0.0
    for i in range(n):
        if i == 0:
            sys.settrace(out[0])
        s += x[i & 7] * stay(i)
    sys.settrace(None)
    return s


def test_no_move_while_traced():
    events = []
    j = jitted(plain_twin(traces), EXPLICIT)
    assert j(50, X, [lambda *event: events.append(event[1])]) == traces(50, X, [lambda *event: None])
    assert moves_of(j) == 0 and events == []


class Thing:
    """Something with an end that can be noticed."""


def lets_go(n, x, out):
    thing = Thing()
    out.append(weakref.ref(thing))
    s = 0.0
    for i in range(n):
        s += x[i & 7] * stay(i) + s * 0.5 + i
        if i == n // 2:
            del thing
            out.append(out[0]() is None)
        out.append(sys.getrefcount(x))
    return s


def test_objects_end_when_the_program_lets_go():
    j = jitted(plain_twin(lets_go), EXPLICIT)
    x = X.copy()
    notes, expected = [], []
    assert j(40, x, notes) == lets_go(40, x, expected)
    assert [note for note in notes if type(note) is bool] == [True]
    assert len(set(notes[1:]) - {True}) == 1
    assert moves_of(j) >= 1


def test_argument_that_only_an_object_could_tell_of():
    """The list would have to be kept, so the call stays where it is."""
    def f(n, x, items):
        s = 0.0
        for i in range(n):
            s += x[i & 7] * stay(items[0])
            items = [i + 1]
        return s
    j = jitted(f, EXPLICIT)
    assert j(40, X, [2]) == f(40, X, [2])
    assert moves_of(j) == 0


def recursive(n, x, call):
    s = 0.0
    for i in range(20):
        y = stay(i)
        s += x[i & 7] * y + y
        if i == 9 and n:
            s += call(n - 1, x, call)
    return s


def test_recursion_in_the_middle_of_the_loop():
    j = jitted(plain_twin(recursive), EXPLICIT)
    for n in (3, 0, 5):
        assert j(n, X, j) == recursive(n, X, recursive)
    assert len(j.state.entries) <= 4


def test_first_calls_of_many_threads():
    j, results = jitted(plain_twin(over_range), EXPLICIT), []
    threads = [threading.Thread(target=lambda: results.append(j(300, X, []))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [over_range(300, X, [])] * 6


def test_failing_capture_leaves_the_call_where_it_is(monkeypatch):
    from pijit.core import function_state
    make_entry = function_state.make_entry

    def failing(state, code, roots, feedback, pending, why, *start):
        if start and start[0] is not None:
            raise RecursionError("no room")
        return make_entry(state, code, roots, feedback, pending, why, *start)
    monkeypatch.setattr(function_state, "make_entry", failing)
    j = jitted(plain_twin(over_range), EXPLICIT)
    for _ in range(4):
        assert j(40, X, []) == over_range(40, X, [])
    assert moves_of(j) == 0


def test_moves_leak_nothing():
    def once():
        j = jitted(plain_twin(in_nest), EXPLICIT)
        x = X.copy()
        j(20, x, [])
        assert moves_of(j) >= 1
        return weakref.ref(j.state), weakref.ref(x)
    for _ in range(3):
        kept = once()
        gc.collect()
        gc.collect()
        assert [ref() for ref in kept] == [None, None]


def test_osr_checks_by_themselves_leak_nothing():
    slot = (3,) if sys.version_info < (3, 11) else ()
    osr_check = _hook.osr_check(lambda *args: None, *slot)
    before = sys.getallocatedblocks()
    for _ in range(20000):
        assert osr_check() is None
        next(osr_check, 0)
        _hook.osr_check(osr_check, *slot)
    assert sys.getallocatedblocks() - before < 1000
    with pytest.raises(TypeError):
        _hook.osr_check(3, *slot)
