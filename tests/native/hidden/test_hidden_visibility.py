"""What programs and tools see of hidden functions, which run linked code from CPython 3.11 on."""

import sys
import threading
import traceback

import pytest

from pijit.core import _hook
from pijit.core._hook import JitFunction
from tests.native.hidden.hidden_code import jit
from tests.native.hook.hook_marks import HOOKED

pytestmark = pytest.mark.skipif(HOOKED, reason="up to CPython 3.10 linked code runs in shadow frames")

MONITORING = getattr(sys, "monitoring", None)  # from CPython 3.12 on
needs_monitoring = pytest.mark.skipif(MONITORING is None, reason="sys.monitoring came with Python 3.12")


def test_frames_show_the_linked_code_and_no_other():
    def where():
        frame = sys._getframe()
        return (frame.f_code.co_name, frame.f_code.co_qualname, frame.f_lineno, frame.f_back.f_code.co_name,
                frame.f_locals is not None, 1000)

    jitted, _ = jit(where)
    expected = jitted.py_func()
    assert jitted() == expected[:-1] + (5000,) and expected[3] == sys._getframe().f_code.co_name


def test_tracebacks_have_one_entry_with_the_functions_line():
    def f(x):
        raise ValueError(x, 1000)

    jitted, _ = jit(f)
    entries = []
    for function in (jitted.py_func, jitted):
        with pytest.raises(ValueError) as caught:
            function(1)
        entries.append([(entry.filename, entry.name, entry.lineno) for entry in traceback.extract_tb(caught.tb)][1:])
    assert caught.value.args == (1, 5000) and entries[0] == entries[1] and len(entries[1]) == 1


def test_an_exception_of_on_miss_goes_to_the_caller():
    def f():
        return 1000

    def on_miss(*args):
        raise KeyError("planted")

    _hook.mark(f.__code__, None, on_miss)
    with pytest.raises(KeyError, match="planted"):
        JitFunction(f)()


def test_generators_and_coroutines_are_the_functions_own():
    def numbers():
        yield 1000

    async def wait():
        return 1000

    jitted, seen = jit(numbers)
    waiting, _ = jit(wait)
    made, coroutine = jitted(), waiting()
    assert made.gi_code is numbers.__code__ and list(made) == [1000] and seen == []
    with pytest.raises(StopIteration) as caught:
        coroutine.send(None)
    assert caught.value.value == 1000 and coroutine.cr_code is wait.__code__


@pytest.mark.parametrize("switch", [sys.settrace, sys.setprofile])
def test_traced_threads_run_the_function_itself(switch):
    def f():
        return 1000

    f, seen = jit(f)
    codes = []

    def note(frame, event, arg):
        codes.append(frame.f_code)
        return note

    old = sys.gettrace() if switch is sys.settrace else sys.getprofile()
    switch(note)
    try:
        traced = f()
    finally:
        switch(old)
    assert traced == 1000 and f.__code__ in codes and f() == 5000 and len(seen) == 1


def test_what_a_trace_function_calls_is_not_traced():
    def f():
        return 1000

    f, _ = jit(f)
    results = []

    def note(frame, event, arg):
        results.append(f())

    old = sys.getprofile()
    sys.setprofile(note)
    try:
        len(())
    finally:
        sys.setprofile(old)
    assert results and set(results) == {5000}


@pytest.fixture
def tool():
    number = 3
    MONITORING.use_tool_id(number, "test")
    yield number
    MONITORING.set_events(number, 0)
    MONITORING.free_tool_id(number)


@needs_monitoring
@pytest.mark.parametrize("event", ["PY_START", "PY_RETURN", "LINE", "CALL", "BRANCH", "RAISE", "INSTRUCTION"])
def test_events_of_all_code_have_the_function_itself_run(tool, event):
    def f(x):
        return 1000 if x else len("")

    f, seen = jit(f)
    assert f(1) == 5000
    MONITORING.set_events(tool, getattr(MONITORING.events, event))
    assert f(1) == 1000
    MONITORING.set_events(tool, 0)
    assert f(1) == 5000 and len(seen) == 2


@needs_monitoring
def test_events_of_one_code_object_concern_that_one(tool):
    def f():
        return 1000

    def g():
        return 1000

    (f, _), (g, _) = jit(f), jit(g)
    started = []
    MONITORING.register_callback(tool, MONITORING.events.PY_START, lambda code, offset: started.append(code))
    assert (f(), g()) == (5000, 5000)
    MONITORING.set_local_events(tool, f.__code__, MONITORING.events.PY_START)
    assert (f(), g()) == (1000, 5000) and started == [f.__code__]
    MONITORING.set_local_events(tool, f.__code__, 0)
    assert (f(), g()) == (5000, 5000)
    MONITORING.register_callback(tool, MONITORING.events.PY_START, None)


@needs_monitoring
def test_events_are_seen_by_other_threads(tool):
    def f():
        return 1000

    f, _ = jit(f)
    results, steps = [], [threading.Event() for _ in range(4)]

    def work():
        results.append(f())
        steps[0].set()
        steps[1].wait(10)
        results.append(f())
        steps[2].set()
        steps[3].wait(10)
        results.append(f())

    thread = threading.Thread(target=work)
    thread.start()
    steps[0].wait(10)
    MONITORING.set_events(tool, MONITORING.events.LINE)
    steps[1].set()
    steps[2].wait(10)
    MONITORING.set_events(tool, 0)
    steps[3].set()
    thread.join()
    assert results == [5000, 1000, 5000]


def test_plain_while_disabled_or_set_plain():
    def f():
        return 1000

    f, _ = jit(f)
    with _hook.disabled():
        assert f() == 1000
    assert _hook.set_plain(True) is False
    try:
        assert f() == 1000
    finally:
        assert _hook.set_plain(False) is True
    f.enabled = False
    assert f() == 1000
    f.enabled = True
    assert f() == 5000


def test_on_miss_runs_everything_as_it_is():
    def g():
        return 1000

    g, _ = jit(g)

    def f():
        return 1000

    results = []
    _hook.mark(f.__code__, None, lambda *args: results.append(g()))
    assert JitFunction(f)() == 1000 and results == [1000] and g() == 5000


@pytest.mark.skipif(sys.version_info < (3, 12), reason="type parameters came with Python 3.12")
def test_type_parameters_are_the_functions():
    scope = {}
    exec("def f[T](x: T) -> T:\n    return x", scope)
    f = JitFunction(scope["f"])
    assert f.__type_params__ is f.py_func.__type_params__ and f.__type_params__[0].__name__ == "T"
