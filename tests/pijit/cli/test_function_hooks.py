"""From CPython 3.11 on programs keep plain functions: their calls go to a JitFunction, as long as that may pay."""

import gc
import os
import subprocess
import sys
import textwrap
import threading
import time
import types
import weakref

import pytest

from pijit.core import _hook

pytestmark = [pytest.mark.unshared,
              pytest.mark.skipif(sys.version_info < (3, 11), reason="up to CPython 3.10 the frame hook sees all calls")]


@pytest.fixture
def hook():
    """Hooks a function: what its calls go to. The JitFunction is cold and notes the times at which it asks."""
    from pijit.core.bytecode.function_twins import twin_with

    def hook(function, next_ns=None):
        target, asked = _hook.JitFunction(twin_with(function, function.__code__), None), []

        def ask(ns):
            asked.append(ns)
            return next_ns

        target.chill(ask)
        _hook.hook_function(function, target)
        return target, asked

    yield hook
    _hook.pause_sampler()


def function(source="lambda x, y=2: x + y"):
    return eval(source, {"__name__": "nowhere"})


def spin(f, seconds, *args):
    """Call a function for some seconds of processor time."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        for _ in range(100):
            f(*args)


def spin_until(holds, f, *args):
    """Call a function until a condition holds. Samples are rare and at random places: more time makes it sure."""
    end = time.thread_time() + 10
    while not holds() and time.thread_time() < end:
        spin(f, 0.02, *args)
    assert holds()


def test_calls_of_a_hooked_function_go_to_the_target(hook):
    f = function()
    target, asked = hook(f)
    assert type(f) is types.FunctionType and _hook.hooked(f) is target and _hook.hooked(target) is None
    assert f(1) == 3 and f(1, 5) == 6 and f(x=1, y=4) == 5 and f(*[1], **{"y": 7}) == 8
    assert asked == [0]


def test_all_kinds_of_call_sites_see_the_hook(hook):
    namespace = {"__name__": "nowhere"}
    exec(textwrap.dedent("""
        def f(x, y=2):
            return x + y
        class A:
            m = f
            p = property(lambda self: 5)
        def positional(): return f(1, 3)
        def default(): return f(1)
        def named(): return f(1, y=5)
        def starred(args=(1,)): return f(*args)
        def mapped(): return list(map(f, [1]))[0]
        def getter(a=A()): return a.p
    """), namespace)
    sites = [namespace[name] for name in ("positional", "default", "named", "starred", "mapped", "getter")]
    for _ in range(100):  # the interpreter specialises the calls
        expected = [site() for site in sites]
    asked = [hook(one, 0)[1] for one in (namespace["f"], namespace["A"].p.fget)]
    for site, right in zip(sites, expected):
        before = sum(map(len, asked))
        assert site() == right
        assert sum(map(len, asked)) > before, site.__name__


@pytest.mark.parametrize("change", [
    lambda f: setattr(f, "__defaults__", (10,)),
    lambda f: setattr(f, "__kwdefaults__", {}),
    lambda f: setattr(f, "__code__", (lambda x, y=2: x * y).__code__),
], ids=["defaults", "kwdefaults", "code"])
def test_a_changed_function_loses_its_hook(hook, change):
    f, plain = function(), function()
    hook(f)
    f(1)
    change(f)
    change(plain)
    assert _hook.hooked(f) is None and f(3) == plain(3)


def test_errors_name_the_function_as_it_is_called_now(hook):
    f = function()
    hook(f)
    for name in ("first", "second"):
        f.__qualname__ = name
        with pytest.raises(TypeError, match=name + r"\(\) missing 1 required positional argument: 'x'"):
            f()


def test_functions_and_targets_die(hook):
    f = function()
    target, _ = hook(f)
    dead, gone = weakref.ref(f), weakref.ref(target)
    del f, target
    gc.collect()
    assert dead() is None and gone() is None


def test_many_functions_of_one_code_object(hook):
    """Collisions in the table: a removed function does not hide others with the same place."""
    functions = [(lambda k: lambda x: (k, x))(k) for k in range(500)]
    targets = [hook(f)[0] for f in functions]
    for k in range(0, 500, 3):
        functions[k] = targets[k] = None
    for k, f in enumerate(functions):
        assert f is None or _hook.hooked(f) is targets[k] and f(1) == (k, 1)


def test_refused_arguments(hook):
    f = function()
    target, _ = hook(f)
    with pytest.raises(ValueError, match="the function is hooked"):
        _hook.hook_function(f, target)
    g = function()
    with pytest.raises(ValueError, match="would call itself"):
        _hook.hook_function(g, _hook.JitFunction(g, None))
    for arguments in ((len, target), (f, f), (f,)):
        with pytest.raises(TypeError):
            _hook.hook_function(*arguments)


def test_a_cold_function_is_sampled_until_it_is_hot(hook):
    f = function("lambda x: x + 1")
    target, asked = hook(f, 10 ** 15)
    spin(f, 0.1, 1)
    before = target.heat
    spin_until(lambda: target.heat > before + 5 * 10 ** 7, f, 1)  # samples count, although calls are plain
    assert len(asked) == 1
    target.chill(lambda ns: asked.append(ns))  # hot from now on
    spin_until(lambda: len(asked) == 2, f, 1)


@pytest.mark.parametrize("where", ["main", "worker"])
def test_functions_of_programs_with_threads_are_sampled(hook, where):
    """A thread that waits does not count: its functions get no time."""
    namespace, stop = {"__name__": "nowhere", "threading": threading}, threading.Event()
    exec("def waits(stop=None): return stop is None or stop.wait()", namespace)
    waiting = namespace["waits"]
    f = function("lambda x: x + 1")
    (target, _), (idle, _) = hook(f, 10 ** 15), hook(waiting, 10 ** 15)
    for _ in range(2000):
        waiting()
    other = threading.Thread(target=waiting, args=(stop,))
    other.start()
    try:
        spin(f, 0.1, 1)
        before, waited = target.heat, idle.heat
        arguments = lambda: target.heat > before + 10 ** 8, f, 1
        if where == "main":
            spin_until(*arguments)
        else:
            work = threading.Thread(target=spin_until, args=arguments)
            work.start()
            work.join()
        assert target.heat > before + 10 ** 8 and idle.heat < waited + 2 * 10 ** 7
    finally:
        stop.set()
        other.join()


def test_a_recursion_that_never_returns_becomes_hot(hook):
    namespace = {"__name__": "nowhere"}
    exec("def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)", namespace)
    fib = namespace["fib"]
    target, asked = hook(fib, 2 * 10 ** 7)
    for n in range(27, 34):  # on a busy machine the sampler's thread may wait for long
        assert fib(n) > 0
        if len(asked) >= 2:
            break
    assert len(asked) >= 2 and asked[1] >= 2 * 10 ** 7


RUN = """
import os, sys, threading, time, warnings
warnings.simplefilter("error")

def small(x):
    return x + 1

def spin(seconds):
    end, y = time.process_time() + seconds, 0
    while time.process_time() < end:
        for _ in range(1000):
            y = small(y)
    return y

def threads():
    return len(os.listdir("/proc/self/task"))

def main():
    before = threads()
    spin(0.1)
    assert threads() == before + 1, (before, threads())
    {}

main()
print("right")
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/task"), reason="counts the threads of the process by /proc")
@pytest.mark.parametrize("body", [
    """
    child = os.fork()
    if child == 0:
        spin(0.1)
        os._exit(threads() - 2)
    assert os.waitpid(child, 0)[1] == 0
    spin(0.1)
    assert threads() == before + 1
    """,
    """
    work = threading.Thread(target=spin, args=(0.2,))
    work.start()
    work.join()
    """,
    """
    import signal
    signal.signal(signal.SIGALRM, lambda *_: 1 / 0)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        time.sleep(60)
    except ZeroDivisionError:
        pass
    else:
        raise AssertionError("the sampler's thread took the signal")
    """,
    """
    import ctypes
    set_exception = ctypes.pythonapi.PyThreadState_SetAsyncExc
    try:
        set_exception(ctypes.c_ulong(threading.get_ident()), ctypes.py_object(KeyError))
        spin(1.0)
    except KeyError:
        pass
    else:
        raise AssertionError("the sampler's thread took the exception")
    """,
    """
    class Late:
        __del__ = lambda self: spin(0.05)
    sys.late = Late()
    """,
], ids=["fork", "threads", "signal", "exception", "end"])
def test_the_thread_of_the_sampler_is_not_seen(tmp_path, body):
    """No DeprecationWarning of a fork with threads, no signal that is delivered to it, no crash at the end."""
    script = tmp_path / "program.py"
    script.write_text(RUN.format(textwrap.dedent(body).strip().replace("\n", "\n    ")))
    result = subprocess.run([sys.executable, "-m", "pijit", str(script)], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, universal_newlines=True, timeout=100)
    assert (result.stdout, result.returncode) == ("right\n", 0), result.stderr
