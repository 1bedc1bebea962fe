"""Profiles and perf maps with several threads: those that begin, read and end at once, and children that are forked."""

import os
import sys
import threading

import numpy as np
import pytest

import pijit
from pijit.core import _hook, _launcher
from pijit.core.kernel import fork_safety, perf_map
from pijit.core.kernel.object_symbols import Symbol
from pijit.core.profiling import collection

FIXED = {"perf_statistics": False}
THREADS = 6


@pytest.fixture
def often():
    """Threads take turns after each microsecond."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def run_at_once(*works):
    """Run functions in threads that begin together; an exception of one is raised here."""
    barrier, errors = threading.Barrier(len(works)), []

    def run(work):
        try:
            barrier.wait()
            work()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=[work]) for work in works]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    if errors:
        raise errors[0]


def make_counted(number):
    @pijit.jit(jit_config=FIXED)
    def counted(x):
        return x * number + 1.0
    x = np.ones(5)
    for _ in range(3):
        counted(x)
    return counted, x


def is_off():
    return not _launcher.kernel_times() and not _hook.call_times() and not collection._Profiling.count


def profile_often(number):
    """Profiles of one thread, of a function whose definition no other thread has."""
    names = {"pijit": pijit, "FIXED": FIXED}
    exec("@pijit.jit(jit_config=FIXED)\ndef f{0}(x):\n    return x * {0}.0 + 1.0".format(number), names)
    function, x = names["f%d" % number], np.ones(5)
    for _ in range(3):
        function(x)
    place = collection.place_of(function.py_func)
    for calls in range(1, 60):
        with pijit.profile(function) as profile:
            for _ in range(calls):
                function(x)
            running = profile.of(*place)
        assert running.calls == profile.of(*place).calls == calls == running.kernels[0].runs


def test_profiles_that_begin_and_end_at_once(often):
    run_at_once(*[lambda number=number: profile_often(number) for number in range(THREADS)])
    assert is_off()


def test_a_profile_is_on_when_start_returns(monkeypatch):
    counted, x = make_counted(3.0)
    place, slow = collection.place_of(counted.py_func), threading.Event()

    class Slow:
        def __getattr__(self, name):
            return getattr(_launcher, name)

        def set_profiling(self, on):
            slow.set()
            threading.Event().wait(0.05)
            _launcher.set_profiling(on)

    monkeypatch.setattr(collection, "_launcher", Slow())
    first, second = pijit.profile(), pijit.profile()

    def late():
        slow.wait()
        second.start()
        counted(x)

    run_at_once(first.start, late)
    assert second.of(*place).calls == 1
    run_at_once(first.stop, second.stop)
    assert is_off()


def test_one_profile_is_ended_once(often):
    for _ in range(100):
        outer, profile = pijit.profile(), pijit.profile()
        outer.start()
        profile.start()
        run_at_once(*[profile.stop] * THREADS, lambda: (profile.functions, str(profile)))
        assert collection._Profiling.count == 1 and outer.is_on and not profile.is_on
        outer.stop()
    assert is_off()


def test_one_profile_begins_once(often):
    for _ in range(50):
        profile, refused = pijit.profile(), []

        def start():
            try:
                profile.start()
            except RuntimeError as error:
                refused.append(error)

        run_at_once(*[start] * THREADS)
        assert len(refused) == THREADS - 1 and collection._Profiling.count == 1
        profile.stop()
    assert is_off()


def test_compile_times_of_threads_add_up(often):
    place = collection.FunctionPlace("f", "file.py", 1)

    def work():
        for _ in range(200):
            with collection._Compiling(place):
                pass

    with pijit.profile() as profile:
        run_at_once(*[work] * THREADS)
        assert profile.of(*place).compiling > 0
    with collection._Compiling(place):
        pass
    with pijit.profile() as profile:
        assert profile.functions == ()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a fork")
def test_a_child_does_not_wait_for_threads_that_it_lacks(monkeypatch):
    monkeypatch.setattr(fork_safety, "WAIT", 0.05)
    held, done = threading.Event(), threading.Event()

    def hold():
        with fork_safety.counting, fork_safety.naming:
            held.set()
            done.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    child = os.fork()
    if not child:
        with pijit.profile():
            os._exit(7)
    done.set()
    thread.join()
    assert os.waitpid(child, 0)[1] >> 8 == 7


def test_names_of_threads_are_all_in_the_map(often, monkeypatch, tmp_path):
    path = str(tmp_path / "perf.map")
    monkeypatch.setattr(perf_map, "path_of_process", lambda: path)
    monkeypatch.setattr(perf_map, "functions_beside", lambda code, symbol: [Symbol("kernel", 0, 0, 16)])
    monkeypatch.setenv(perf_map.VARIABLE, "1")
    monkeypatch.setattr(perf_map.sys, "platform", "linux")
    monkeypatch.setattr(perf_map._ProcessMap, "is_known", False)
    monkeypatch.setattr(perf_map._ProcessMap, "map", None)

    def work(first):
        for address in range(first, first + 50):
            perf_map.add(address, b"", "f", "kernel")

    run_at_once(*[lambda first=1000 * number: work(first) for number in range(1, THREADS + 1)])
    with open(path) as file:
        found = sorted(int(line.split()[0], 16) for line in file)
    assert found == [1000 * number + k for number in range(1, THREADS + 1) for k in range(50)]
