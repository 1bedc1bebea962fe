"""The frame hook: marks, shadow frames, when they apply and when not, and what they must not change."""

import gc
import subprocess
import sys
import threading
import traceback
import weakref

import pytest

from pijit.core import _hook
from pijit.core.bytecode.encode import replace_code


def with_const(code, old, new):
    """The code object with one constant replaced."""
    return replace_code(code, co_consts=tuple(new if const == old else const for const in code.co_consts))


def with_local(code, *names):
    """The code object with locals appended."""
    varnames = code.co_varnames + names
    return replace_code(code, co_varnames=varnames, co_nlocals=len(varnames))


class Mark:
    """Marks a function for a `with` block, holds the hook, and keeps what on_miss got and the errors reported."""

    def __init__(self, function, payload):
        self.code = function.__code__
        self.payload = payload
        self.seen = []
        self.errors = []

    def on_miss(self, code, localsplus, globals, builtins):
        self.seen.append((code, localsplus, globals, builtins))
        return self.payload

    def __enter__(self):
        _hook.mark(self.code, None, self.on_miss)
        _hook.set_error_handler(lambda code, error: self.errors.append((code, type(error), str(error))))
        _hook.hold()
        return self

    def __exit__(self, *exc_info):
        _hook.release()
        _hook.set_error_handler(None)
        _hook.unmark(self.code)


@pytest.fixture(autouse=True)
def hook_left_clean():
    assert not _hook.installed()
    yield
    assert not _hook.installed()


# ---- Marks -----------------------------------------------------------------------------------------------------------


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
        cells = [None if value is _hook.UNBOUND else cell_value(value) for value in localsplus[code.co_nlocals:]]
        seen.append((code, localsplus, cells, globals is f.__globals__, builtins is vars(__import__("builtins"))))

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


# ---- What a payload must be ------------------------------------------------------------------------------------------


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
    done = subprocess.run([sys.executable, "-c", FAULTS % handler], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode == 0
    assert text in done.stderr


# ---- Shadow frames ---------------------------------------------------------------------------------------------------


def test_appended_locals_leave_cells_and_free_variables_in_place():
    free = ["free"]

    def f(a, b, *args, **kwargs):
        own = a

        def inner():
            nonlocal own, b
            own, b = own + 1, b + 1
            return own, b, free
        return inner(), inner(), args, kwargs, own, b

    plain = f(1, 2, 3, k=4)
    with Mark(f, with_local(f.__code__, "$s1", "$s2")) as mark:
        assert f(1, 2, 3, k=4) == plain
        assert len(mark.seen) == 1 and mark.errors == []


def test_super_and_class_cell():
    class A:
        def f(self):
            return "A"

    class B(A):
        def f(self):
            return super().f() + __class__.__name__

        def g(self):
            return (lambda: super(B, self).f() + type(self).__name__)()

    with Mark(B.f, with_local(B.f.__code__, "$s1")), Mark(B.g, with_local(B.g.__code__, "$s1")):
        assert B().f() == "AB"
        assert B().g() == "AB"


def test_frame_attributes():
    def f(x):
        frame = sys._getframe()
        return frame, frame.f_back, frame.f_code, frame.f_globals, frame.f_builtins, dict(frame.f_locals)

    payload = with_local(f.__code__, "$s1")
    with Mark(f, payload):
        frame, back, code, globals, builtins, locals = f(7)
    assert code is payload
    assert back is sys._getframe()
    assert globals is f.__globals__ and builtins is sys._getframe().f_builtins
    assert locals["x"] == 7 and "$s1" not in locals
    assert frame.f_locals["x"] == 7  # still whole after its run
    assert gc.is_tracked(frame)


def test_own_builtins_are_kept():
    namespace = {"__builtins__": {"len": lambda x: "mine"}}
    exec(compile("def f(x):\n return len(x)", "own", "exec"), namespace)
    f = namespace["f"]
    with Mark(f, with_local(f.__code__, "$s1")) as mark:
        assert f([]) == "mine"
    assert mark.seen[0][3] is namespace["__builtins__"]


def test_builtins_replaced_after_the_function_was_made():
    namespace = {"__builtins__": {"len": lambda x: "first"}}
    exec(compile("def f(x):\n return len(x)", "own", "exec"), namespace)
    f = namespace["f"]
    namespace["__builtins__"] = {"len": lambda x: "second"}
    plain = f([])
    assert plain == ("first" if sys.version_info >= (3, 10) else "second")
    with Mark(f, with_local(f.__code__, "$s1")) as mark:
        assert f([]) == plain
    assert len(mark.seen) == 1


def test_reference_counts_are_those_of_a_plain_call():
    def f(thing, *args, **kwargs):
        cell = object()
        counts = [sys.getrefcount(value) for value in (thing, args, kwargs, cell)]
        return counts, lambda: cell

    plain, _ = f(object(), 1, k=2)
    payload = with_local(f.__code__, "$s1")
    with Mark(f, None):
        _hook.mark(f.__code__, None, lambda *args: payload)
        before = _hook.stats()["shadow_frames"]
        shadowed, _ = f(object(), 1, k=2)
        assert _hook.stats()["shadow_frames"] == before + 1
    assert shadowed == plain


def test_traceback_shows_one_frame():
    def f(x):
        y = x
        raise ValueError(y)

    with Mark(f, with_local(f.__code__, "$s1")):
        with pytest.raises(ValueError) as caught:
            f(1)
    entries = traceback.extract_tb(caught.tb)
    assert [entry.name for entry in entries] == ["test_traceback_shows_one_frame", "f"]
    assert entries[1].lineno == f.__code__.co_firstlineno + 2
    assert entries[1].filename == __file__


def test_exception_being_handled_is_seen():
    def f():
        return sys.exc_info()[1]

    with Mark(f, with_local(f.__code__, "$s1")):
        try:
            raise KeyError(1)
        except KeyError as error:
            assert f() is error


def recursion_depth(function):
    """How many levels a function that calls itself reaches before RecursionError."""
    levels = []
    with pytest.raises(RecursionError):
        function(levels)
    return len(levels)


def test_recursion_limit_is_that_of_plain_calls():
    def f(levels):
        levels.append(None)
        f(levels)

    plain = recursion_depth(f)
    with Mark(f, with_local(f.__code__, "$s1")) as mark:
        _hook.mark(f.__code__, None, lambda *args: mark.payload)
        # on_miss needs a level of its own, so the last one runs without it.
        assert recursion_depth(f) == plain


# ---- When the original runs ------------------------------------------------------------------------------------------


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


# ---- The code filter -------------------------------------------------------------------------------------------------


@pytest.fixture
def code_filter():
    """Sets code filters and takes the last one away."""
    yield _hook.set_code_filter
    _hook.set_code_filter(None)
    _hook.set_error_handler(None)


def test_filter_is_asked_once_per_code_object(code_filter):
    def f(x):
        return x + 1000

    asked = []

    def choose(code):
        asked.append(code)
        return with_const(code, 1000, 5000) if code is f.__code__ else None

    code_filter(choose)
    assert _hook.installed()
    assert [f(1), f(2)] == [5001, 5002]
    assert asked.count(f.__code__) == 1
    code_filter(lambda code: None)
    assert f(1) == 1001
    code_filter(None)
    assert not _hook.installed()


def test_filter_sees_modules_and_class_bodies(code_filter):
    asked = []

    def choose(code):
        asked.append(code.co_name)
        return with_const(code, 1000, 5000)

    code_filter(choose)
    namespace = {}
    exec(compile("class A:\n x = 1000\n def f(self): return self.x, 1000\ny = 1000", "m", "exec"), namespace)
    result = namespace["A"]().f(), namespace["A"].x, namespace["y"]
    code_filter(None)
    assert result == ((5000, 5000), 5000, 5000)
    assert {"<module>", "A", "f"} <= set(asked)


def test_filter_that_raises_is_reported_once(code_filter):
    def f():
        return 1000

    def choose(code):
        if code is f.__code__:
            raise KeyError("filter")

    errors = []
    _hook.set_error_handler(lambda code, error: errors.append((code, error.args)))
    code_filter(choose)
    assert (f(), f()) == (1000, 1000)
    code_filter(None)
    assert errors == [(f.__code__, ("filter",))]


def test_setters_refuse_what_cannot_be_called():
    for setter in (_hook.set_code_filter, _hook.set_error_handler, _hook.set_rebuild):
        with pytest.raises(TypeError):
            setter(5)


# ---- Threads, shutdown -----------------------------------------------------------------------------------------------


def test_eight_threads():
    def f(x):
        y = x
        return (lambda: y)() + 1000

    payload = with_local(with_const(f.__code__, 1000, 5000), "$s1")
    wrong = []

    def work(base):
        for i in range(2000):
            if f(base + i) != base + i + 5000:
                wrong.append((base, i))

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with Mark(f, payload):
            _hook.mark(f.__code__, None, lambda *args: payload)
            threads = [threading.Thread(target=work, args=(n * 10000,)) for n in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert wrong == []


SHUTDOWN = """
import sys
from pijit.core import _hook
class Noisy:
    def __call__(self, *args): return None
    def __del__(self): print("gone", file=sys.stderr)
def f(): return 1
_hook.mark(f.__code__, None, Noisy())
j = _hook.JitFunction(f)
sys.keep = f, j
class Late:
    def __del__(self): assert j() == 1
sys.late = Late()
%s
j()
"""


@pytest.mark.parametrize("more", ["", "_hook.hold()", "_hook.set_code_filter(lambda code: None)"])
def test_interpreter_shutdown_with_marks_alive(more):
    done = subprocess.run([sys.executable, "-c", SHUTDOWN % more], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr.replace(b"gone\n", b"")) == (0, b"")


def test_mark_is_freed_with_its_code_object():
    class OnMiss:
        def __call__(self, *args):
            return None

    on_miss = OnMiss()
    gone = weakref.ref(on_miss)
    namespace = {}
    exec("def f(): return 1", namespace)
    _hook.mark(namespace["f"].__code__, None, on_miss)
    del on_miss
    assert gone() is not None
    namespace.clear()
    assert gone() is None


def test_unbound():
    assert repr(_hook.UNBOUND) == "UNBOUND"
    with pytest.raises(TypeError):
        type(_hook.UNBOUND)()
