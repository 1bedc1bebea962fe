"""Profiling in C: what is counted for launchers and functions, in which period, and who owns what."""

import gc
import sys
import time
import weakref

import numpy as np
import pytest

from pijit.core import _hook, _launcher
from pijit.core._hook import JitFunction
from pijit.core._launcher import MISS, Launcher

INT = ((("int",),), (("int", 6),))
ARRAY = ((("array", 1),), (("object", 6),))


@pytest.fixture(autouse=True)
def off_afterwards():
    yield
    _launcher.set_profiling(False)
    _hook.set_profiling(False)


def launcher(kernel, codes=INT):
    inputs, exit = codes
    return Launcher(None, {}, {}, inputs, 7, 6, kernel, (exit,), 1, "test")


def times():
    return {one: tuple(rest) for one, *rest in _launcher.kernel_times()}


def test_runs_are_counted_and_misses_are_not():
    one = launcher(lambda n: None if n == 3 else (0, n + 1))
    assert one.callable(1) == (0, 2)
    _launcher.set_profiling(True)
    assert times() == {}
    assert one.callable(1) == (0, 2) and one.callable(3)[0] == MISS and one.callable("no int")[0] == MISS
    runs, timed, ns, bytes_in, bytes_out = times()[one]
    assert (runs, timed, bytes_in, bytes_out) == (1, 2, 0, 0) and ns > 0
    _launcher.set_profiling(False)
    one.callable(1)
    assert times() == {}


def test_a_new_period_begins_at_zero():
    one = launcher(lambda n: (0, n))
    for period in range(3):
        _launcher.set_profiling(True)
        _launcher.set_profiling(True)
        for _ in range(4):
            one.callable(1)
        assert times()[one][0] == 4
        _launcher.set_profiling(False)


def test_bytes_of_arrays():
    one = launcher(lambda x: (0, x[:2].copy()), ARRAY)
    _launcher.set_profiling(True)
    for _ in range(3):
        one.callable(np.ones(5))
    assert times()[one][3:] == (3 * 40, 3 * 16)


def test_exceptions_of_kernels_pass():
    def fails(n):
        raise KeyError(n)
    one = launcher(fails)
    _launcher.set_profiling(True)
    with pytest.raises(KeyError, match="7"):
        one.callable(7)
    assert times()[one][0] == 1


def test_time_of_nested_kernels_counts_once():
    inner = launcher(lambda n: (0, sum(range(200000))))
    outer = launcher(lambda n: (0, inner.callable(n)[1]))
    _launcher.set_profiling(True)
    start = time.perf_counter()
    for _ in range(5):
        outer.callable(1)
    whole = (time.perf_counter() - start) * 1e9
    found = times()
    assert found[inner][0] == found[outer][0] == 5
    assert 0 < found[outer][2] + found[inner][2] <= whole


def test_launchers_live_until_the_period_ends():
    alive = []

    def kernel(n):
        return 0, n
    alive.append(weakref.ref(kernel))
    _launcher.set_profiling(True)
    launcher(kernel).callable(1)
    del kernel
    gc.collect()
    assert alive[0]() is not None and len(times()) == 1
    _launcher.set_profiling(False)
    gc.collect()
    assert alive[0]() is None


def test_calls_are_counted():
    def plain(x, *, fail=False):
        if fail:
            raise KeyError(x)
        return x
    f = JitFunction(plain)
    _hook.set_profiling(True)
    g = JitFunction(plain)
    assert (f(1), g(2)) == (1, 2)
    with pytest.raises(KeyError):
        f(3, fail=True)
    with pytest.raises(TypeError):
        f()
    counts = {id(one): calls for one, calls, ns in _hook.call_times()}
    assert counts == {id(f): 3, id(g): 1} and all(ns > 0 for _, _, ns in _hook.call_times())
    _hook.set_profiling(False)
    f(1)
    assert _hook.call_times() == []


def test_subclasses_with_a_call_method_count_once():
    class Own(JitFunction):
        def __call__(self, *args):
            return super().__call__(*args)
    f = Own(lambda x: x)
    for _ in range(2):
        _hook.set_profiling(True)
        assert [f(1), f(2)] == [1, 2]
        assert [calls for _, calls, _ in _hook.call_times()] == [2]
        _hook.set_profiling(False)
        assert f(3) == 3


def test_functions_may_die_in_any_order():
    functions = [JitFunction(lambda x: x) for _ in range(5)]
    for index in (2, 0, -1):
        del functions[index]
        _hook.set_profiling(True)
        assert [f(1) for f in functions] == [1] * len(functions)
        assert len(_hook.call_times()) == len(functions)
        _hook.set_profiling(False)
    del functions[:]
    _hook.set_profiling(True)


def test_nothing_is_leaked():
    one, f, x = launcher(lambda x: (0, x + 1.0), ARRAY), JitFunction(lambda x: x), np.ones(3)

    def period():
        _launcher.set_profiling(True)
        _hook.set_profiling(True)
        for _ in range(20):
            one.callable(x), f(x)
        times(), _hook.call_times()
        _hook.set_profiling(False)
        _launcher.set_profiling(False)
    period()
    before = [sys.getrefcount(each) for each in (one, f, x)], len(gc.get_objects())
    for _ in range(50):
        period()
    gc.collect()
    assert [sys.getrefcount(each) for each in (one, f, x)] == before[0]
    assert abs(len(gc.get_objects()) - before[1]) < 50


@pytest.mark.parametrize("module", [_launcher, _hook])
def test_errors_of_the_argument_pass(module):
    class Odd:
        def __bool__(self):
            raise KeyError("odd")
    with pytest.raises(KeyError):
        module.set_profiling(Odd())
