"""The frame hook with entry caches: hits are answered in C, misses ask on_miss."""

import pytest

from pijit.core import _hook
from pijit.core._hook import JitFunction
from pijit.core.bytecode.codec.encode import replace_code
from pijit.guards._evaluate import EntryCache
from pijit.guards.guard import Equals, IsType, IsUnbound
from pijit.guards.program import GuardProgram
from pijit.guards.source import ClosureCell, Global, Local


def with_const(code, old, new):
    """The code object with one constant replaced."""
    return replace_code(code, co_consts=tuple(new if const == old else const for const in code.co_consts))


def counted(call):
    """What a call returns, and by how much it raised (hits, misses, shadow frames)."""
    before = _hook.stats()
    result = call()
    after = _hook.stats()
    return result, tuple(after[key] - before[key] for key in ("hits", "misses", "shadow_frames"))


def never_asked(*args):
    raise AssertionError("on_miss was called")


def jit_with(function, *entries, on_miss=never_asked):
    """A JitFunction with entries of (guards, payload)."""
    cache = EntryCache(8)
    for guards, payload in entries:
        assert cache.add(GuardProgram(guards), payload)
    _hook.mark(function.__code__, cache, on_miss)
    return JitFunction(function)


def test_hit_runs_the_payload_of_the_entry_whose_guards_hold():
    def f(x):
        return x, 1000

    x = Local(0, "x")
    f = jit_with(f, ([IsType(x, int)], with_const(f.__code__, 1000, 5000)),
                 ([IsType(x, str)], with_const(f.__code__, 1000, 6000)))
    assert counted(lambda: f(1)) == ((1, 5000), (1, 0, 1))
    assert counted(lambda: f("a")) == (("a", 6000), (1, 0, 1))
    with pytest.raises(AssertionError, match="on_miss was called"):
        f(1.5)


def test_payload_none_runs_the_original():
    def f(x):
        return x, 1000

    f = jit_with(f, ([], None))
    assert counted(lambda: f(1)) == ((1, 1000), (1, 0, 0))


def test_miss_adds_an_entry_that_the_next_call_hits():
    def f(x):
        return x + 1000

    asked = []

    def on_miss(code, localsplus, globals, builtins):
        asked.append(localsplus)
        payload = with_const(code, 1000, 5000)
        cache.add(GuardProgram([IsType(Local(0, "x"), type(localsplus[0]))]), payload)
        return payload

    cache = EntryCache(8)
    _hook.mark(f.__code__, cache, on_miss)
    f = JitFunction(f)
    assert [counted(lambda: f(1)), counted(lambda: f(2)), counted(lambda: f(2.5))] == [
        (5001, (0, 1, 1)), (5002, (1, 0, 1)), (5002.5, (0, 1, 1))]
    assert asked == [[1], [2.5]]


def test_guards_see_cells_unbound_locals_and_globals():
    free = 7

    def f(x):
        later = free
        return later, x, 1000, (lambda: x)()

    code = f.__code__
    own, outer = code.co_nlocals, code.co_nlocals + 1
    guards = [
        IsUnbound(Local(0, "x")),  # an argument that is a cell lives there alone
        IsUnbound(Local(1, "later")),
        Equals(ClosureCell(own, "x"), 3),
        Equals(ClosureCell(outer, "free"), 7),
        Equals(Global("__name__"), __name__),
    ]
    f = jit_with(f, (guards, with_const(code, 1000, 5000)))
    assert counted(lambda: f(3)) == ((7, 3, 5000, 3), (1, 0, 1))
    with pytest.raises(AssertionError):
        f(4)


def test_payload_in_a_cache_that_does_not_fit_runs_the_original():
    def f(x):
        return x, 1000

    errors = []
    _hook.set_error_handler(lambda code, error: errors.append(str(error)))
    try:
        f = jit_with(f, ([], (lambda: 0).__code__))
        assert counted(lambda: f(1)) == ((1, 1000), (1, 0, 0))
        assert counted(lambda: f(1)) == ((1, 1000), (1, 0, 0))
    finally:
        _hook.set_error_handler(None)
    assert errors == ["the code object to run in place of f was refused: its argument counts differ"]


def test_entries_of_one_code_object_serve_its_closures():
    def make(k):
        @JitFunction
        def f(x):
            return x * k, 1000
        return f

    first, second = make(2), make(3)
    assert first.__code__ is second.__code__
    code = first.__code__
    k = ClosureCell(code.co_nlocals, "k")
    jit_with(first.py_func, ([Equals(k, 2)], with_const(code, 1000, 2000)),
             ([Equals(k, 3)], with_const(code, 1000, 3000)))
    assert (first(1), second(1)) == ((2, 2000), (3, 3000))
