"""Shadow frames are like the frames they stand for; the code filter, threads, and interpreter shutdown."""

import gc
import subprocess
import sys
import traceback
import weakref

import pytest

from pijit.core import _hook
from tests.native.hook.hook_marks import Mark, in_eight_threads, with_const, with_local


@pytest.fixture(autouse=True)
def hook_left_clean():
    assert not _hook.installed()
    yield
    assert not _hook.installed()


# ---- Shadow frames -----------------------------------------------------------------------------------------


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


def test_recursion_limit_is_that_of_plain_calls(no_collections):
    def f(levels):
        levels.append(None)
        f(levels)

    plain = recursion_depth(f)
    with Mark(f, with_local(f.__code__, "$s1")) as mark:
        _hook.mark(f.__code__, None, lambda *args: mark.payload)
        # on_miss needs a level of its own, so the last one runs without it.
        assert recursion_depth(f) == plain


# ---- The code filter ---------------------------------------------------------------------------------------


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


# ---- Threads, shutdown -------------------------------------------------------------------------------------


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

    with Mark(f, payload):
        _hook.mark(f.__code__, None, lambda *args: payload)
        in_eight_threads(work)
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
    done = subprocess.run([sys.executable, "-c", SHUTDOWN % more], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
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
