"""What stops kernels: requests to the interpreter, tracing and monitoring, on the versions where linked code is not needed
to see them."""

import ctypes
import gc
import signal
import sys
import threading
import time

import pytest

from pijit.core import _launcher
from tests.native.launcher.native_kernels import call_address, launcher, native_kernel, runtime, word_at

INT = (("int",),)
OUT = ((("int", 40),),)
SET_INTERRUPT = ctypes.cast(ctypes.pythonapi.PyErr_SetInterrupt, ctypes.c_void_p).value
PER_THREAD = _launcher.THREAD_POLLS is not None

call_asked = runtime("asked")


@native_kernel
def interrupt(frame):
    """Calls the C function whose address is the first input, which makes SIGINT pending; then asks for requests."""
    call_address(frame[2], (0,))
    frame[40] = call_asked(frame, (0,)) * 2 + call_asked(frame, (1,))
    return 0


@native_kernel
def ask(frame):
    frame[40] = call_asked(frame, (0,)) * 2 + call_asked(frame, (1,))
    return 0


@native_kernel
def make_objects(frame):
    """Calls the C function whose address is the first input, many times; what it makes is never given up."""
    for _ in range(300):
        call_address(frame[2], ())
    frame[40] = call_asked(frame, (0,))
    return 0


def poller(place):
    """A kernel that says what the word of its thread is, found as compiled kernels find it."""

    @native_kernel
    def poll(frame):
        frame[40] = word_at(word_at(frame[1] + place)) & 255
        return 0

    return poll


@pytest.fixture
def interrupts():
    seen = []
    previous = signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    yield seen
    signal.signal(signal.SIGINT, previous)


def test_a_kernel_is_asked(interrupts):
    call = launcher(interrupt, INT, OUT, width=1, polls=(0,)).callable
    answer = call(SET_INTERRUPT)
    assert answer == (0, 3) and interrupts == []
    _launcher.resume()
    assert interrupts == [signal.SIGINT]


def test_what_is_held_back_is_shown_once(interrupts):
    """Two exits that hold requests back, one behind the other: none is forgotten."""
    call = launcher(interrupt, INT, OUT, width=1, polls=(0,)).callable
    call(SET_INTERRUPT), call(SET_INTERRUPT)
    assert interrupts == []
    _launcher.resume()
    assert interrupts == [signal.SIGINT]
    _launcher.resume()
    assert interrupts == [signal.SIGINT] and launcher(ask, INT, OUT, width=1).callable(0)[1] & 1 == 0


@pytest.mark.skipif(sys.version_info < (3, 12), reason="collections run where objects are made")
def test_collections_that_are_held_back_come_later():
    """From CPython 3.12 on they are requests. The kernel makes a list that is long enough to be a new object."""
    ran, threshold = [], gc.get_threshold()
    address = ctypes.cast(ctypes.pythonapi.PyDict_New, ctypes.c_void_p).value
    call = launcher(make_objects, INT, ((("int", 40),),), width=1, polls=(0,)).callable
    gc.callbacks.append(lambda phase, info: ran.append(phase))
    try:
        gc.enable()
        gc.set_threshold(100)
        asked = call(address)[1]
        held = list(ran)
        _launcher.resume()
        shown = list(ran)
    finally:
        gc.set_threshold(*threshold)
        gc.callbacks.pop()
    assert held == [] and shown == ["start", "stop"] and asked == (0 if PER_THREAD else 1)


@pytest.mark.skipif(not PER_THREAD, reason="all threads share a word")
def test_a_kernel_finds_the_word_of_its_thread(interrupts):
    place, bits, signals = _launcher.THREAD_POLLS
    call = launcher(poller(place), INT, OUT, width=1).callable
    both = launcher(interrupt, INT, OUT, width=1, polls=(0,)).callable
    found = []

    def other():
        found.append(call(0)[1] & signals)

    assert call(0)[1] & signals == 0 and bits & 16 == 0
    both(SET_INTERRUPT)  # is held back
    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    _launcher.resume()
    assert found == [0] and interrupts == [signal.SIGINT]


def test_another_thread_that_waits_for_the_gil_is_seen():
    call, seen, over = launcher(ask, INT, OUT, width=1, polls=(0,)).callable, [], threading.Event()

    def spin():
        while not over.is_set():
            pass

    thread = threading.Thread(target=spin)
    thread.start()
    end = time.monotonic() + 20
    while not seen and time.monotonic() < end:
        if call(0)[1] & 2:
            seen.append(1)
        _launcher.resume()
    over.set()
    thread.join()
    assert seen


def traced(switch_on, switch_off):
    """(answer before, answer while something looks, answer behind)"""
    call = launcher(lambda n: (0, n), INT, OUT, width=1).callable
    before = call(7)
    switch_on()
    while_on = call(7)
    switch_off()
    return before, while_on, call(7)


RUN, MISSED = (0, 7), (_launcher.MISS, None)


@pytest.mark.parametrize("switch", [sys.settrace, sys.setprofile], ids=["settrace", "setprofile"])
def test_trace_functions_make_launchers_miss(switch):
    previous = sys.gettrace() if switch is sys.settrace else sys.getprofile()
    if previous is not None:
        pytest.skip("somebody traces the tests")
    assert traced(lambda: switch(lambda *event: None), lambda: switch(None)) == (RUN, MISSED, RUN)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="no sys.monitoring")
def test_monitoring_of_all_code_makes_launchers_miss():
    monitoring, tool = sys.monitoring, 4
    monitoring.use_tool_id(tool, "pijit's tests")
    try:
        for event in (monitoring.events.PY_START, monitoring.events.LINE, monitoring.events.CALL):
            assert traced(lambda: monitoring.set_events(tool, event),
                          lambda: monitoring.set_events(tool, 0)) == (RUN, MISSED, RUN)
    finally:
        monitoring.set_events(tool, 0)
        monitoring.free_tool_id(tool)


def test_kernels_in_python_are_not_seen():
    """What is switched on does not see the Python code of a kernel that already runs."""
    events = []

    def inner(n):
        return n + 1

    def kernel(n):
        sys.setprofile(lambda frame, event, arg: events.append((event, frame.f_code.co_name)))
        inner(n)
        sys.setprofile(None)
        return 0, n

    assert launcher(kernel, INT, OUT, width=1).callable(7) == RUN
    assert [name for event, name in events if event == "call" and name == "inner"] == []


def deep(levels, call):
    return call(7) if levels == 0 else deep(levels - 1, call)


def test_python_kernels_keep_levels_of_recursion():
    call, answers, levels = launcher(lambda n: (0, n), INT, OUT, width=1).callable, [], 0
    try:
        while levels < sys.getrecursionlimit():
            answers.append(deep(levels, call))
            levels += 10
    except RecursionError:
        pass
    assert answers[0] == RUN and answers[-1] == MISSED


def test_locals_of_the_caller_come_behind_the_arguments():
    def caller(bound):
        first, second = 1, 2
        if bound:
            third = 3
        return call(40), first, second, bound and third

    slots = tuple(map(caller.__code__.co_varnames.index, ("third", "second")))
    call = launcher(lambda *given: (0, sum(given)), INT * 3, OUT, width=1, slots=slots).callable
    assert caller(True) == ((0, 45), 1, 2, 3)
    assert caller(False)[0] == MISSED
    values = [object(), object()]
    counts = [sys.getrefcount(value) for value in values]
    objects = launcher(lambda *given: (0, 1), INT + (("object",),) * 2, OUT, width=1, slots=(0, 1)).callable

    def holder(one, two):
        return objects(1)

    for _ in range(50):
        assert holder(*values) == (0, 1)
    assert [sys.getrefcount(value) for value in values] == counts
