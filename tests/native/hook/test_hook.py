"""The frame hook: marks, payloads and their contract, and when the original code runs instead."""

import gc
import subprocess
import sys
import threading

import pytest

from pijit.core import _hook
from pijit.core.bytecode.codec.encode import replace_code
from tests.native.hook.hook_marks import Mark, with_const


@pytest.fixture(autouse=True)
def hook_left_clean():
    assert not _hook.installed()
    yield
    assert not _hook.installed()


# ---- Marks -------------------------------------------------------------------------------------------------


def test_payload_runs_in_place_of_the_original():
    def f(x):
        return x + 1000

    with Mark(f, with_const(f.__code__, 1000, 5000)):
        assert f(1) == 5001
        assert f(2) == 5002
    assert f(1) == 1001


def test_on_miss_gets_locals_cells_and_free_variables_at_entry():
    free = "free"

    def f(a, b=2, *args, c, d=4, **kwargs):
        own = a
        plain = own
        return lambda: (b, own, free), plain

    seen = []

    def on_miss(code, localsplus, globals, builtins):
        cells = [cell_value(value) for value in localsplus[code.co_nlocals:]]
        same_builtins = builtins is vars(__import__("builtins"))
        seen.append((code, localsplus, cells, globals is f.__globals__, same_builtins))

    _hook.mark(f.__code__, None, on_miss)
    _hook.hold()
    try:
        f(1, 20, 30, c=3, e=5)
    finally:
        _hook.release()
        _hook.unmark(f.__code__)
    [(code, localsplus, cells, same_globals, same_builtins)] = seen
    assert code is f.__code__ and same_globals and same_builtins
    # An argument that is a cell lives there alone, so its local has no value.
    assert dict(zip(code.co_varnames, localsplus)) == {
        "a": 1, "b": _hook.UNBOUND, "c": 3, "d": 4, "args": (30,), "kwargs": {"e": 5}, "plain": _hook.UNBOUND}
    assert dict(zip(code.co_cellvars + code.co_freevars, cells)) == {"b": 20, "own": "empty", "free": "free"}
    assert localsplus[-1] is f.__closure__[0]
    assert len(localsplus) == code.co_nlocals + 3


def cell_value(cell):
    """What is in a cell object, or "empty"."""
    try:
        return cell.cell_contents
    except ValueError:
        return "empty"


def test_unmark_and_marked():
    def f():
        return 1000

    assert _hook.marked(f.__code__) is False
    with Mark(f, with_const(f.__code__, 1000, 5000)):
        assert _hook.marked(f.__code__) is True
        _hook.unmark(f.__code__)
        assert _hook.marked(f.__code__) is False
        assert f() == 1000
    _hook.unmark(f.__code__)


def test_mark_again_replaces():
    def f():
        return 1000

    with Mark(f, with_const(f.__code__, 1000, 5000)):
        _hook.mark(f.__code__, None, lambda *args: with_const(f.__code__, 1000, 6000))
        assert f() == 6000


def test_unmark_from_within_on_miss():
    def f():
        return 1000

    def on_miss(code, localsplus, globals, builtins):
        _hook.unmark(code)
        gc.collect()
        return with_const(code, 1000, 5000)

    _hook.mark(f.__code__, None, on_miss)
    del on_miss
    _hook.hold()
    try:
        assert (f(), f()) == (5000, 1000)
    finally:
        _hook.release()


@pytest.mark.parametrize("args", [
    (1, None, print),
    ((lambda: 0).__code__, None, 5),
    ((lambda: 0).__code__, None),
])
def test_mark_refuses_wrong_arguments(args):
    with pytest.raises(TypeError):
        _hook.mark(*args)


def test_mark_refuses_a_cache_of_another_type():
    pytest.importorskip("pijit.guards._evaluate")
    with pytest.raises(TypeError, match="EntryCache"):
        _hook.mark((lambda: 0).__code__, object(), print)


def test_unmark_and_marked_refuse_what_is_no_code():
    with pytest.raises(TypeError):
        _hook.unmark(1)
    with pytest.raises(TypeError):
        _hook.marked(test_unmark_and_marked)


def test_exception_from_on_miss_reaches_the_caller():
    def f():
        return 1000

    def on_miss(*args):
        raise KeyError("fullgraph")

    _hook.mark(f.__code__, None, on_miss)
    _hook.hold()
    try:
        with pytest.raises(KeyError, match="fullgraph"):
            f()
    finally:
        _hook.release()
        _hook.unmark(f.__code__)


def test_recursion_error_in_on_miss_runs_the_original():
    def f():
        return 1000

    def on_miss(*args):
        return on_miss()

    _hook.mark(f.__code__, None, on_miss)
    _hook.hold()
    try:
        assert f() == 1000
    finally:
        _hook.release()
        _hook.unmark(f.__code__)


# ---- What a payload must be --------------------------------------------------------------------------------


def contract_breakers():
    def f(a, *, b):
        c = a
        return lambda: (c, b, free)

    free = 1
    code = f.__code__
    yield f, replace_code(code, co_argcount=0), "argument counts"
    yield f, replace_code(code, co_kwonlyargcount=0), "argument counts"
    yield f, replace_code(code, co_flags=code.co_flags | 0x20), "flags"
    yield f, replace_code(code, co_varnames=("other",) + code.co_varnames[1:]), "locals"
    yield f, replace_code(code, co_cellvars=code.co_cellvars[::-1]), "cell variables"
    yield f, replace_code(code, co_cellvars=code.co_cellvars + ("more",)), "cell variables"
    yield f, replace_code(code, co_freevars=("other",)), "free variables"


@pytest.mark.parametrize("function, payload, what", list(contract_breakers()))
def test_payload_that_does_not_fit_is_refused_and_reported_once(function, payload, what):
    with Mark(function, payload) as mark:
        before = _hook.stats()["shadow_frames"]
        for _ in range(3):
            assert function(5, b=6)() == (5, 6, 1)
        assert _hook.stats()["shadow_frames"] == before
    [(code, kind, text)] = mark.errors
    assert code is function.__code__ and kind is ValueError
    assert text.startswith("the code object to run in place of f was refused: its " + what)


def test_payload_of_another_type_is_reported():
    def f():
        return 1000

    with Mark(f, 5) as mark:
        assert f() == 1000
    assert mark.errors == [(f.__code__, TypeError, "a code object or None is to run in place of f, not int")]


def test_payload_shared_by_two_functions_is_checked_for_each():
    def f(a):
        return a + 1000

    def g(b):
        return b + 2000

    with Mark(f, with_const(f.__code__, 1000, 5000)) as marked_f:
        assert f(1) == 5001
        with Mark(g, marked_f.payload) as marked_g:
            assert g(1) == 2001
            assert f(1) == 5001
            assert len(marked_g.errors) == 1


FAULTS = """
from pijit.core import _hook
def f(): return 1000
%s
_hook.mark(f.__code__, None, lambda *args: 5)
assert _hook.JitFunction(f)() == 1000
"""


@pytest.mark.parametrize("handler, text", [
    ("", b"TypeError: a code object or None is to run in place of f, not int"),
    ("_hook.set_error_handler(lambda code, error: 1 / 0)", b"ZeroDivisionError"),
])
def test_faults_without_a_working_handler_are_written_to_stderr(handler, text):
    done = subprocess.run([sys.executable, "-c", FAULTS % handler], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
    assert done.returncode == 0
    assert text in done.stderr


# ---- When the original runs --------------------------------------------------------------------------------


@pytest.mark.parametrize("switch", [sys.settrace, sys.setprofile])
def test_traced_frames_run_the_original(switch):
    def f():
        return 1000

    with Mark(f, with_const(f.__code__, 1000, 5000)) as mark:
        old = sys.gettrace() if switch is sys.settrace else sys.getprofile()
        codes = []
        switch(lambda frame, event, arg: codes.append(frame.f_code))
        try:
            traced = f()
        finally:
            switch(old)
        assert traced == 1000 and mark.seen == []
        assert f.__code__ in codes
        assert f() == 5000


def test_generators_and_coroutines_run_the_original():
    def generator():
        got = yield 1000
        yield got

    async def coroutine():
        return 1000

    with Mark(generator, generator.__code__) as first, Mark(coroutine, coroutine.__code__) as second:
        running = generator()
        assert (next(running), running.send(5)) == (1000, 5)
        with pytest.raises(KeyError):
            running.throw(KeyError)
        with pytest.raises(StopIteration) as stopped:
            coroutine().send(None)
        assert stopped.value.value == 1000
        assert first.seen == second.seen == []


def test_disable_nests_and_belongs_to_the_thread():
    def f():
        return 1000

    results = []
    with Mark(f, with_const(f.__code__, 1000, 5000)):
        _hook.disable()
        with _hook.disabled():
            assert f() == 1000
            thread = threading.Thread(target=lambda: results.append(f()))
            thread.start()
            thread.join()
        assert f() == 1000
        _hook.enable()
        assert f() == 5000
    assert results == [5000]


def test_on_miss_runs_disabled():
    def f(x):
        return x + 1000

    depths = []

    def on_miss(code, localsplus, globals, builtins):
        depths.append(f(1))
        return with_const(code, 1000, 5000)

    _hook.mark(f.__code__, None, on_miss)
    _hook.hold()
    try:
        assert f(1) == 5001
        assert depths == [1001]
    finally:
        _hook.release()
        _hook.unmark(f.__code__)


@pytest.mark.parametrize("function, what", [(_hook.enable, "disable"), (_hook.release, "hold")])
def test_undoing_too_often_is_an_error(function, what):
    with pytest.raises(RuntimeError, match=what):
        function()


def test_hold_nests():
    _hook.hold()
    _hook.hold()
    _hook.release()
    assert _hook.installed()
    _hook.release()
    assert not _hook.installed()
