"""Hidden functions, which run linked code from CPython 3.11 on: recursion, leaks and threads."""

import gc
import sys
import threading
import types
import weakref

import pytest

from pijit.core import _hook
from pijit.core._hook import JitFunction
from tests.native.hidden.hidden_code import jit
from tests.native.hook.hook_marks import HOOKED, in_eight_threads, with_const

pytestmark = pytest.mark.skipif(HOOKED, reason="up to CPython 3.10 linked code runs in shadow frames")


# ---- Recursion -----------------------------------------------------------------------------------------------


def deepest(function):
    levels = []
    with pytest.raises(RecursionError, match="maximum recursion depth exceeded"):
        function(levels)
    return len(levels)


@pytest.mark.parametrize("limit", [1000, 10000])
def test_recursion_goes_as_deep_as_that_of_the_function(limit, recursion_limit, no_collections, entrance):
    def plain(levels):
        levels.append(None)
        return plain(levels) + 1000

    def f(levels):
        levels.append(None)
        return f(levels) + 1000

    code = f.__code__
    f, seen = jit(f, entrance=entrance)
    recursion_limit(limit)
    assert deepest(f) - deepest(plain) in (0, -1) and len(seen) > limit / 2
    _hook.unmark(code)
    assert deepest(f) - deepest(plain) in (0, -1)


def test_methods_recurse_as_deep():
    class Plain:
        def f(self, levels):
            levels.append(None)
            return self.f(levels) + 1000

    class Jitted:
        def f(self, levels):
            levels.append(None)
            return self.f(levels) + 1000

        f, _ = jit(f)

    assert deepest(Jitted().f) - deepest(Plain().f) in (0, -1)


@pytest.mark.parametrize("marked", [True, False])
def test_the_end_of_the_stack_is_an_exception(recursion_limit, no_collections, marked):
    def f(n):
        return 0 if n == 0 else f(n - 1) + 1

    code = f.__code__
    f, _ = jit(f)
    if not marked:
        _hook.unmark(code)
    recursion_limit(10 ** 6)
    for _ in range(2):
        with pytest.raises(RecursionError):
            f(10 ** 5)
        assert f(1000) == 1000


def test_close_to_the_end_of_the_stack_nothing_is_asked(recursion_limit, no_collections):
    def f(levels):
        levels.append(None)
        return f(levels) + 1000

    f, seen = jit(f)
    recursion_limit(10 ** 6)
    depth = deepest(f)
    assert depth > 2000 and 0.5 * depth < len(seen) < 0.9 * depth


def test_the_end_of_a_small_stack_is_an_exception(recursion_limit, no_collections):
    def f(n):
        return 0 if n == 0 else f(n - 1) + 1

    f, _ = jit(f)
    results = []

    def work():
        try:
            f(10 ** 5)
        except RecursionError:
            results.append(f(100))

    recursion_limit(10 ** 6)
    before = threading.stack_size(1 << 20)
    try:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert results == [100]


def test_threads_with_the_smallest_stacks_call_functions():
    def f(n):
        return 1000 if n == 0 else f(n - 1)

    f, _ = jit(f)
    results = []
    before = threading.stack_size(1 << 16)
    try:
        thread = threading.Thread(target=lambda: results.append(f(3)))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert results == [5000]


# ---- Leaks and threads -----------------------------------------------------------------------------------------


def growth(run):
    """By how many memory blocks 10000 calls grow."""
    run()
    gc.collect()
    before = sys.getallocatedblocks()
    run()
    gc.collect()
    return sys.getallocatedblocks() - before


def raising(f):
    try:
        f("a")
    except TypeError:
        pass


@pytest.mark.parametrize("call", [lambda f: f(1), lambda f: f(1, 2, k=3), raising],
                         ids=["plain", "stars", "raising"])
def test_calls_leave_nothing_behind(call, entrance):
    def f(x, *args, **kwargs):
        return x + 1000, args, kwargs, lambda: x

    f, seen = jit(f, entrance=entrance)

    def run():
        for _ in range(10000):
            call(f)
            del seen[:]

    assert growth(run) < 50


def test_functions_go_with_their_linked_code_and_closure():
    def make(n):
        box = []

        def f(x):
            return x, box, 1000

        code = f.__code__.replace(co_name="f")  # of its own
        f = types.FunctionType(code, dict(globals()), "f", None, f.__closure__)
        linked = with_const(code, 1000, n)
        _hook.mark(code, None, lambda *args, linked=weakref.ref(linked): linked())
        jitted = JitFunction(f)
        box.append(jitted)  # a cycle through the closure
        f.__globals__["f"] = jitted  # and one through the globals
        assert jitted(1)[2] == n
        return weakref.ref(jitted), weakref.ref(linked), weakref.ref(code)

    dead = [one for n in range(100) for one in make(n)]
    gc.collect()
    assert [one() for one in dead] == [None] * 300


def test_another_function_gets_hidden_functions_of_its_own():
    def make(n):
        def f():
            return n, 1000
        return f

    one, two = make(1), make(2)
    payload = with_const(one.__code__, 1000, 5000)
    _hook.mark(one.__code__, None, lambda *args: payload)
    f = JitFunction(one)
    assert f() == (1, 5000)
    f.__init__(two)
    assert f() == (2, 5000)


def test_only_a_few_hidden_functions_are_kept():
    def f(x):
        return 1000

    linked, dead = [], []
    _hook.mark(f.__code__, None, lambda code, slots, globals, builtins: linked[-1])
    call = JitFunction(f)
    for n in range(20):
        linked.append(with_const(f.__code__, 1000, n))
        dead.append(weakref.ref(linked[-1]))
        assert call(0) == n
    del linked[:]
    gc.collect()
    assert 0 < sum(one() is not None for one in dead) <= 4


def test_a_function_may_go_while_its_linked_code_runs():
    box = []

    def f(*more):
        box.clear()
        gc.collect()
        return more, 1000

    box.append(jit(f)[0])
    assert box[0](1, 2) == ((1, 2), 5000) and not box


def test_a_function_that_is_unmarked_or_changed_while_it_runs():
    def f(x):
        if x:
            _hook.unmark(f.py_func.__code__)
            f.__code__ = (lambda x: "other").__code__
            return f(0), 1000
        return 1000

    f, _ = jit(f)
    with pytest.raises(ValueError):  # the other code has no free variable
        f(1)


def test_eight_threads():
    def f(x):
        return (lambda: x)() + 1000

    f, _ = jit(f)
    wrong = []

    def work(base):
        for i in range(2000):
            if f(base + i) != base + i + 5000 or f.py_func(i) != i + 1000:
                wrong.append((base, i))

    in_eight_threads(work)
    assert wrong == []
