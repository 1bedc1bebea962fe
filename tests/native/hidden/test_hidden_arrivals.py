"""Linked code that begins elsewhere than at its first argument, from CPython 3.11 on."""

import gc
import sys
import traceback
import types
import weakref

import pytest

from pijit.core import _hook
from pijit.core._hook import UNBOUND, JitFunction
from tests.native.hidden.hidden_code import (
    JUMP_IF,
    LOAD_CELL,
    SKIPPED,
    call_of,
    callable_of,
    calling,
    entered,
    finished,
    index_of,
    insert,
    stores,
)
from tests.native.hook.hook_marks import HOOKED, with_const

pytestmark = pytest.mark.skipif(HOOKED, reason="up to CPython 3.10 the hook makes and moves frames")

if not HOOKED:
    from bytecode import Bytecode, CellVar, Instr, Label


# ---- Rests -------------------------------------------------------------------------------------------------


def make(scale):
    def f(a, b=1, *args, k=2, **kwargs):
        c = a + b
        return c * scale, args, kwargs
    return f


def rest_of(function, name, stored=()):
    return _hook.Continuation(entered(function.__code__, name, stored), tuple(range(len(stored) + 1))).callable


def frame_of(a):
    b = a + 1
    return sys._getframe(), b


def test_the_rest_runs_with_its_operands_and_the_functions_closure():
    rest = rest_of(make(10), "STORE_FAST")
    assert rest((make(10), 4)) == (40, (), {}) and rest((make(3), 4)) == (12, (), {})


def test_the_frame_is_that_of_the_function():
    rest = rest_of(frame_of, "STORE_FAST", stores("a"))
    frame, b = rest((frame_of, 1, 7))
    assert b == 7 and frame.f_code.co_name == "frame_of" and frame.f_globals is globals()
    assert frame.f_back is sys._getframe() or frame.f_back is None
    assert dict(frame.f_locals) == {"a": 1, "b": 7}


def test_values_live_as_long_as_the_frame_needs_them():
    class Held:
        pass

    def f(x, y):
        y = len(y)
        dead = weakref.ref(x)
        del x
        return dead()

    rest = rest_of(f, "STORE_FAST", stores("x"))
    held = Held()
    before = sys.getrefcount(held)
    state = (f, held, 1)
    assert rest(state) is held and state == (f, held, 1)  # somebody else has the state
    del state
    assert sys.getrefcount(held) == before
    alive = rest((f, Held(), 1))
    assert alive is None


def test_variables_in_cells():
    def f(x, y):
        later = x + y
        return (lambda: (x, later))()

    rest = rest_of(f, "STORE_DEREF", [Instr("STORE_DEREF", CellVar("x"))])
    assert rest((f, "value", "later")) == ("value", "later")


@pytest.mark.parametrize("state, text", [
    ((), "right size"), ((1, 2, 3), "begin with a function"), ((make(1), 1), "right size"),
    ([make(1), 1, 2], "right size"), ((make(1), 1, 2), "another closure")])
def test_states_that_do_not_fit(state, text):
    with pytest.raises(SystemError, match=text):
        rest_of(frame_of, "STORE_FAST", stores("a"))(state)


def test_the_rest_raises_with_the_functions_line():
    def f(x):
        y = x
        raise ValueError(y)

    rest = rest_of(f, "STORE_FAST")
    with pytest.raises(ValueError, match="7") as caught:
        rest((f, 7))
    entry = traceback.extract_tb(caught.tb)[-1]
    assert (entry.name, entry.lineno) == ("f", f.__code__.co_firstlineno + 2) and len(traceback.extract_tb(caught.tb)) == 2


def test_rests_recurse_as_deep_as_calls():
    def f(levels):
        empty = None
        levels.append(empty)
        return again(levels), None

    rest = rest_of(f, "STORE_FAST", stores("levels"))

    def again(levels):
        return rest((f, levels, None))

    def twice(levels):
        levels.append(None)
        return through(levels), None

    def through(levels):
        return twice(levels)

    depths = []
    for function in (again, through):
        levels = []
        with pytest.raises(RecursionError):
            function(levels)
        depths.append(len(levels))
    assert abs(depths[0] - depths[1]) <= 1


def test_nothing_arrives_twice_or_where_nothing_was_sent():
    def f(x):
        y = x
        return y, _hook.arrive()

    with pytest.raises(SystemError, match="nothing was handed over"):
        _hook.arrive()
    with pytest.raises(SystemError, match="nothing was handed over"):
        rest_of(f, "STORE_FAST")((f, 7))
    jitted = JitFunction(f)
    _hook.mark(f.__code__, None, lambda code, *args: code.replace(co_name="f2"))
    with pytest.raises(SystemError, match="nothing was handed over"):
        jitted(1)


def test_finalizers_and_signals_in_front_of_arrive_do_not_take_the_payload():
    inner = rest_of(frame_of, "STORE_FAST", stores("a"))
    seen = []

    def f(x):
        y = x
        return y

    def tracer():  # what runs between the call and `arrive`
        seen.append(inner((frame_of, 1, 2))[1])

    listing = Bytecode.from_code(entered(f.__code__, "STORE_FAST"))
    insert(listing, index_of(listing, "RESUME") + 1, call_of(tracer) + [Instr("POP_TOP")])
    assert _hook.Continuation(listing.to_code(), (0,)).callable((f, 7)) == 7 and seen == [2]


# ---- Moves -------------------------------------------------------------------------------------------------


def counting(n):
    total = 0
    for i in range(n):
        total += i
    return total, 1000


def observed(code, osr_check, cells=()):
    """Code that asks an OSR check at its loop's header."""
    listing = Bytecode.from_code(code)
    on, skip = Label(), Label()
    loop = index_of(listing, "FOR_ITER")
    items = [Instr("LOAD_CONST", osr_check), Instr("FOR_ITER", skip), Instr("POP_TOP"), Instr("POP_TOP")]
    items += callable_of(Instr("LOAD_CONST", osr_check)) + [Instr(LOAD_CELL, CellVar(name)) for name in cells]
    items += calling(len(cells)) + [Instr("STORE_FAST", "$move"), Instr("LOAD_FAST", "$move"),
                                    Instr(JUMP_IF + "NONE", on), Instr("BUILD_TUPLE", 1), Instr("STORE_FAST", "$stack")]
    items += callable_of(Instr("LOAD_FAST", "$move")) + [Instr("LOAD_FAST", "$stack")] + calling(1)
    items += [Instr("RETURN_VALUE"), skip, *[Instr(name) for name in SKIPPED], on]
    insert(listing, loop, items)
    return finished(listing, code)


def moved(code, new, take=_hook.__dict__.get("arrive")):
    """Code that goes on at its loop's header; another constant tells it apart."""
    listing = Bytecode.from_code(with_const(code, 1000, new))
    names = [name for name in code.co_varnames if name[0] != "$"]
    target = Label()
    listing.insert(index_of(listing, "GET_ITER") + 1, target)
    items = call_of(take) + [Instr("UNPACK_SEQUENCE", len(names) + len(code.co_cellvars) + 1)]
    for name in names:
        unbound, done = Label(), Label()
        store = Instr("POP_TOP") if name in code.co_cellvars else Instr("STORE_FAST", name)
        items += [Instr("COPY", 1), Instr("LOAD_CONST", UNBOUND), Instr("IS_OP", 0), Instr(JUMP_IF + "TRUE", unbound),
                  store, Instr("JUMP_FORWARD", done), unbound, Instr("POP_TOP"), done]
    items += [Instr("STORE_DEREF", CellVar(name)) for name in code.co_cellvars]
    items += [Instr("UNPACK_SEQUENCE", 1), Instr("JUMP_FORWARD", target)]
    insert(listing, index_of(listing, "RESUME") + 1, items)
    return finished(listing, code)


def osr_check_for(function, target, at=2):
    """An OSR check that answers code from a visit on, what it was asked, and a JitFunction that meets it."""
    asked = []

    def ask(code, slots, globals, builtins, visits):
        asked.append((slots, visits))
        assert code is function.__code__ and globals is function.__globals__ and builtins["len"] is len
        return target if visits >= at else None

    linked = observed(function.__code__, _hook.osr_check(ask))
    _hook.mark(function.__code__, None, lambda *args: linked)
    return JitFunction(function), asked


@pytest.fixture(autouse=True)
def counting_is_unmarked():
    yield
    _hook.unmark(counting.__code__)


def test_a_call_goes_on_in_newer_code():
    f, asked = osr_check_for(counting, moved(counting.__code__, 2000))
    assert f(10) == (45, 2000)
    assert asked == [([10, 0, 0], 2)]


def test_a_variable_without_a_value_stays_so():
    def f(n):
        for i in range(n):
            if i == n:
                late = 1
        try:
            return late, 1000
        except UnboundLocalError:
            return str("unbound"), 1000

    f, asked = osr_check_for(f, moved(f.__code__, 2000))
    assert f(5) == ("unbound", 2000) and f(0) == ("unbound", 1000)
    assert asked == [([5, 0, UNBOUND], 2)]


def test_cells_move():
    free = 3

    def f(n, k):
        total = free
        for i in range(n):
            add = lambda x: x + k  # noqa: E731
            total = add(total)
        return add, total, 1000

    seen = []

    def take():
        payload = _hook.arrive()
        seen.append(payload)
        return tuple(value.cell_contents if isinstance(value, types.CellType) else value for value in payload)

    asked, target = [], moved(f.__code__, 2000, take)
    osr_check = _hook.osr_check(lambda code, slots, globals, builtins, visits: asked.append(slots) or target)
    linked = observed(f.__code__, osr_check, ["k"])
    _hook.mark(f.__code__, None, lambda *args: linked)
    add, total, constant = JitFunction(f)(4, 10)
    assert (add(1), total, constant) == (11, 43, 2000)
    (payload,), names = seen, f.__code__.co_varnames
    assert [dict(zip(names, payload))[name] for name in ("n", "k", "total", "i")] == [4, UNBOUND, 13, 0]
    cell = dict(zip(names, payload))["add"].__closure__[0]
    assert payload[len(names)] is cell and len(payload[-1]) == 1
    assert asked[0][:-1] == list(payload[:-1]) and asked[0][-1] is f.__closure__[0]


def test_a_mover_is_asked_at_the_2nd_4th_8th_visit():
    f, asked = osr_check_for(counting, moved(counting.__code__, 2000), at=10 ** 9)
    assert f(100) == (4950, 1000) and [visits for _, visits in asked] == [2, 4, 8, 16, 32, 64]


def test_a_call_moves_thrice():
    asked = []

    def ask(code, slots, globals, builtins, visits):
        asked.append(visits)
        return moved(observed(counting.__code__, _hook.osr_check(ask)), 2000 + len(asked))

    first = observed(counting.__code__, _hook.osr_check(ask))
    _hook.mark(counting.__code__, None, lambda *args: first)
    assert JitFunction(counting)(100) == (4950, 2003) and len(asked) == 3


def test_a_frame_that_somebody_holds_does_not_move():
    held = []

    def f(n):
        total = 0
        for i in range(n):
            held.append(sys._getframe())
            total += i
        return total, 1000

    f, asked = osr_check_for(f, moved(f.__code__, 2000))
    assert f(10) == (45, 1000) and asked == []


def test_a_move_to_code_that_does_not_fit_is_reported():
    errors = []
    f, asked = osr_check_for(counting, frame_of.__code__)
    _hook.set_error_handler(lambda code, error: errors.append((code, str(error))))
    try:
        assert f(3) == (3, 1000)
    finally:
        _hook.set_error_handler(None)
    assert errors[-1] == (counting.__code__, "the code object to go on in does not fit")


def test_moves_leave_nothing_behind():
    f, asked = osr_check_for(counting, moved(counting.__code__, 2000))

    def run():
        for _ in range(2000):
            assert f(5)[0] == 10
            del asked[:]

    run()
    gc.collect()
    before = sys.getallocatedblocks()
    run()
    gc.collect()
    assert sys.getallocatedblocks() - before < 50
