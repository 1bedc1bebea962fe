"""Exceptions of signal handlers and of other threads that arrive while a function is captured reach the program."""

import ctypes
import functools
import importlib
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import pijit
from pijit.core import _signals, asynchronous_exceptions
from tests.harness import kernel_count

needs_timer = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no interval timers")
BACKENDS = pytest.mark.parametrize("backend", ["python", "numba"])
PATIENCE = 60.0
"""Seconds after which an exception counts as lost."""

AGAIN = 0.5
"""Seconds between alarms. CPython prints an exception that arrives in a finalizer, and the program goes on.

A signal that the system gives to another thread waits in CPython until the main thread has lost the interpreter's lock.
"""

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


class Stop(Exception):
    pass


class Late(TimeoutError):
    """An OSError, which code that reads and writes files catches."""


KINDS = [Stop, Late, TimeoutError, ValueError]


def fresh(number, backend):
    """A jitted function that nothing was compiled for."""
    names = {}
    exec("def f(x):\n  s = 0.0\n  for i in range(len(x)):\n    s += x[i] * %r\n  return s" % (number + 0.5), names)
    return pijit.jit(names["f"], jit_config={"backend": backend, "cache": False})


def stop(number, frame):
    raise Stop


class Methods:
    def method(self, number, frame):
        raise Stop("with an argument")

    def __call__(self, number, frame):
        raise Late("too late")


@pytest.fixture
def alarm():
    """Sets a handler of SIGALRM for the test."""
    before = signal.getsignal(signal.SIGALRM)
    yield functools.partial(signal.signal, signal.SIGALRM)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@needs_timer
@BACKENDS
@pytest.mark.parametrize("handler", [stop, Methods().method, Methods(), functools.partial(stop)],
                         ids=["function", "method", "object", "partial"])
def test_exceptions_of_handlers_are_raised_by_the_call(alarm, handler, backend):
    alarm(handler)
    x, received = np.arange(5.0), 0
    for step in range(12):
        f = fresh(step, backend)
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.0005 + 0.003 * step, AGAIN)
            f(x)
            f(x)
            time.sleep(PATIENCE)  # not a loop: on CPython 3.13 no `except` covers the jump back
        except (Stop, Late):
            signal.setitimer(signal.ITIMER_REAL, 0)
            received += 1
        assert [f(x) for _ in range(3)] == [f.py_func(x)] * 3
        assert kernel_count(f) == 1
    assert received == 12


@needs_timer
@BACKENDS
def test_handlers_run_once_and_after_the_capture(alarm, backend):
    during, calls = [], []
    alarm(lambda number, frame: calls.append(during[-1:] == [True]))
    make = pijit.core.function_state.make_entry

    def slow(*args):
        with asynchronous_exceptions.signals_deferred():
            during.append(True)
            signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
            time.sleep(0.1)
            signal.setitimer(signal.ITIMER_REAL, 0)
            try:
                return make(*args)
            finally:
                during.append(False)
    f, x = fresh(100, backend), np.arange(4.0)
    pijit.core.function_state.make_entry = slow
    try:
        assert f(x) == f.py_func(x)
    finally:
        pijit.core.function_state.make_entry = make
    assert calls == [False]


@needs_timer
@BACKENDS
def test_exceptions_that_the_program_handles_are_not_raised_again(alarm, backend):
    """The compiler may meet errors of its own meanwhile, which have the handled exception as their context."""
    make = pijit.core.function_state.make_entry

    def fails(*args):
        try:
            [][1]
        except IndexError as error:
            asynchronous_exceptions.raise_asynchronous(error)
        return make(*args)
    alarm(stop)
    f, x = fresh(200, backend), np.arange(4.0)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.001, AGAIN)
        time.sleep(PATIENCE)  # not a loop: on CPython 3.13 no `except` covers the jump back
    except Stop:
        signal.setitimer(signal.ITIMER_REAL, 0)
        pijit.core.function_state.make_entry = fails
        try:
            assert [f(x) for _ in range(3)] == [f.py_func(x)] * 3
        finally:
            pijit.core.function_state.make_entry = make
    assert kernel_count(f) == 1


ARRIVES = """
def arriving(function, kind, set_exception, identifier):
    def called(*args, **kwargs):
        if kind:
            set_exception(identifier(), kind.pop())
            for _ in range(1000):
                pass  # it is raised here
        return function(*args, **kwargs)
    return called
"""
PLACES = ["core.function_state.make_entry", "core.pipeline.capture", "core.entries.kernels.compile_graph",
          "core.entries.linked_code.link", "core.capture.driver.form_regions", "core.kernel.llvm.codegen.object_code"]


set_exception = ctypes.pythonapi.PyThreadState_SetAsyncExc
set_exception.argtypes = ctypes.c_ulong, ctypes.py_object


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("in_thread", [False, True], ids=["main", "thread"])
def test_exceptions_of_other_threads_are_raised_by_the_call(monkeypatch, in_thread, kind, place):
    """They arrive in the middle of the compiler, whose code this function imitates."""
    x, received = np.arange(5.0), []
    names = {"__name__": "pijit.core.made_up"}
    exec(ARRIVES, names)
    module, _, name = ("pijit." + place).rpartition(".")
    module, kinds = importlib.import_module(module), [kind]
    monkeypatch.setattr(module, name, names["arriving"](getattr(module, name), kinds, set_exception, threading.get_ident))
    f = fresh(1000 + 100 * in_thread + 10 * PLACES.index(place) + KINDS.index(kind), "numba")

    def run():
        try:
            f(x)
            f(x)
        except Exception as error:
            received.append(type(error))
    if in_thread:
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    else:
        run()
    assert received == [kind] and not kinds
    assert [f(x) for _ in range(3)] == [f.py_func(x)] * 3
    assert kernel_count(f) == 1


IN_COMPILER = """
from pijit.core.asynchronous_exceptions import raise_asynchronous

def answer(function, *args):
    try:
        function(*args)
    except Exception as error:
        try:
            raise_asynchronous(error)
        except Exception as found:
            return type(found)

def bare(kind):
    raise kind

def with_message(kind):
    raise kind("message")

def cleans_up(kind):
    try:
        raise kind
    except kind:
        del {}[0]

def calls(function):
    function(0, None)
"""


def test_errors_of_the_compiler_are_its_own():
    names = {"__name__": "pijit.core.made_up"}
    exec(IN_COMPILER, names)
    answer, bare, with_message, calls, cleans_up = (names[name] for name in "answer bare with_message calls cleans_up".split())
    of_numba = type("CompilerError", (Exception,), {"__module__": "numba.core.errors"})
    assert [answer(bare, kind) for kind in KINDS] == KINDS
    assert [answer(bare, kind) for kind in (AssertionError, StopIteration, of_numba)] == [None] * 3
    assert [answer(with_message, kind) for kind in (Stop, TypeError, KeyError)] == [None] * 3
    assert answer(calls, stop) is None
    assert answer(cleans_up, Late) is Late


@pytest.mark.parametrize("numbers, error", [([2], TypeError), ((0,), ValueError), ((10**6,), ValueError),
                                            (("2",), TypeError)])
def test_numbers_of_signals_are_checked(numbers, error):
    with pytest.raises(error):
        _signals.Deferral(numbers)


@needs_timer
def test_deferrals_nest(alarm):
    calls = []
    alarm(lambda number, frame: calls.append(number))
    with asynchronous_exceptions.signals_deferred():
        with asynchronous_exceptions.signals_deferred():
            signal.raise_signal(signal.SIGALRM) if sys.version_info >= (3, 8) else signal.alarm(0)
        assert calls == []
    assert calls == [signal.SIGALRM] * (sys.version_info >= (3, 8))


@needs_timer
@pytest.mark.skipif(sys.version_info < (3, 8), reason="signal.raise_signal is new in 3.8")
def test_a_deferral_that_is_freed_ends(alarm):
    """An exception may arrive before the call of ``__exit__``, where no block covers it."""
    calls = []
    alarm(lambda number, frame: calls.append(number))
    deferral = asynchronous_exceptions.signals_deferred()
    deferral.__enter__()
    with pytest.raises(RuntimeError, match="begun already"):
        deferral.__enter__()
    signal.raise_signal(signal.SIGALRM)
    assert calls == []
    del deferral
    time.sleep(0.0)  # handlers run here
    assert calls == [signal.SIGALRM]
    signal.raise_signal(signal.SIGALRM)
    assert calls == [signal.SIGALRM] * 2


@BACKENDS
def test_a_capture_that_was_cut_off_leaves_the_function_to_the_next_one(backend):
    """An exception may arrive after a thread has taken the turn, where no block gives it back."""
    f = fresh(0, backend)
    assert f.state._turn.take()
    x = np.arange(5.0)
    assert [f(x) for _ in range(3)] == [f.py_func(x)] * 3
    assert kernel_count(f) == 1


def test_a_call_within_its_own_capture_runs_as_bytecode(monkeypatch):
    f, x, answers = fresh(1, "python"), np.arange(5.0), []
    make = pijit.core.function_state.make_entry

    def calls_it(*args):
        if not answers:
            answers.append(f(x))
        return make(*args)

    monkeypatch.setattr(pijit.core.function_state, "make_entry", calls_it)
    assert f(x) == f.py_func(x) and answers == [f.py_func(x)]
    assert kernel_count(f) == 1


def defer_often():
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        with asynchronous_exceptions.signals_deferred():
            pass


@needs_timer
def test_exceptions_do_not_leave_signals_deferred(alarm):
    """A handler raises at many places of deferrals."""
    alarm(stop)
    received = 0
    for step in range(300):
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.00005 + 0.000001 * (step % 50), AGAIN)
            defer_often()
        except Stop:
            signal.setitimer(signal.ITIMER_REAL, 0)
            received += 1
    assert received == 300


@needs_timer
def test_a_handler_that_is_set_meanwhile_stays(alarm):
    calls = []
    alarm(stop)
    with asynchronous_exceptions.signals_deferred():
        alarm(lambda number, frame: calls.append(number))
    signal.setitimer(signal.ITIMER_REAL, 0.001, AGAIN)
    end = time.monotonic() + PATIENCE
    while not calls and time.monotonic() < end:
        pass
    assert calls[:1] == [signal.SIGALRM], (signal.getsignal(signal.SIGALRM), signal.getitimer(signal.ITIMER_REAL),
                                           signal.pthread_sigmask(signal.SIG_BLOCK, ()), signal.sigpending())


FORKS = """
    import os, signal, sys, threading, time
    from pijit.core import asynchronous_exceptions
    calls, inside, over, codes = [], threading.Event(), threading.Event(), []
    signal.signal(signal.SIGUSR1, lambda number, frame: calls.append(number))
    def forks():
        inside.wait()
        child = os.fork()
        if not child:
            os.kill(os.getpid(), signal.SIGUSR1)
            end = time.monotonic() + 30
            while not calls and time.monotonic() < end:
                pass
            os._exit(0 if calls == [signal.SIGUSR1] else 1)
        codes.append(os.waitpid(child, 0)[1])
        over.set()
    thread = threading.Thread(target=forks)
    thread.start()
    with asynchronous_exceptions.signals_deferred():
        inside.set()
        over.wait()
    thread.join()
    print(codes, calls)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="there are no forks")
def test_children_of_other_threads_have_their_handlers():
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(FORKS)], timeout=120, stdout=subprocess.PIPE,
                          universal_newlines=True)
    assert done.stdout.split() == ["[0]", "[]"]
