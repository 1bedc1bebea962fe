"""Launchers that hold back the interpreter's requests at poll exits, and launchers that make their kernel when first called."""

import ctypes
import gc
import signal
import tracemalloc
from types import FunctionType

import pytest

from pijit.core import _launcher
from pijit.core.bytecode.analysis.blocks import build_cfg
from pijit.core.bytecode.assembler.emit import USUAL_EXIT
from pijit.core.bytecode.linker.link import Call, ExitPlan, Site, held_back, link
from pijit.core.bytecode.normal_form.normalise import normal_function, plain_function
from tests.native.launcher.native_kernels import call_address, launcher, native_kernel

INT = (("int",),)


def count_up(value):
    return 0, value + 1


@native_kernel
def increment(frame):
    frame[40] = frame[2] + 1
    return 0


@native_kernel
def interrupt(frame):
    """Calls the C function whose address is the first input, which makes SIGINT pending."""
    call_address(frame[2], (0,))
    frame[40] = 7
    return 0


@pytest.mark.parametrize("polls", [(0,), None])
def test_requests_wait_for_resume_after_a_poll_exit(polls):
    address = ctypes.cast(ctypes.pythonapi.PyErr_SetInterrupt, ctypes.c_void_p).value
    call = launcher(interrupt, INT, ((("int", 40),),), width=1, polls=polls).callable
    seen = []
    previous = signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    try:
        answer = call(address)
        assert seen == ([] if polls else [signal.SIGINT])
        _launcher.resume()
        assert seen == [signal.SIGINT] and answer == (0, 7)
    finally:
        signal.signal(signal.SIGINT, previous)


def settle(x, address):
    y = x
    z = y + 1
    return y, z


@pytest.mark.parametrize("held", [False, True])
def test_requests_at_a_normal_exit_wait_for_the_locals(held):
    """A handler sees the locals that the kernel has computed, on the line where bytecode goes on."""
    cfg = build_cfg(normal_function(plain_function(settle.__code__, False)))
    plans = [ExitPlan(next(i.index for i in cfg.function.instructions if i.lineno == cfg.function.code.co_firstlineno + 3),
                      ("y", "z"), 0, False)]
    numbers = tuple(map(held_back(plans).get, (0,))) if held else None
    one = launcher(interrupt, INT, ((("int", 40), ("int", 40)),), width=2, numbers=(USUAL_EXIT,), held=numbers)
    code = link(cfg, [Site(0, 0, 0, (Call(one.callable, (("local", "address"),), 2, tuple(plans)),))], [])
    run, seen = FunctionType(code, globals()), []
    address = ctypes.cast(ctypes.pythonapi.PyErr_SetInterrupt, ctypes.c_void_p).value

    def handler(number, frame):
        seen.append((frame.f_lineno - settle.__code__.co_firstlineno, frame.f_locals.get("y"), frame.f_locals.get("z")))
    previous = signal.signal(signal.SIGINT, handler)
    try:
        assert run(1, address) == (7, 7)
    finally:
        signal.signal(signal.SIGINT, previous)
    assert len(seen) == 1 and (seen == [(3, 7, 7)]) == held


@pytest.mark.parametrize("held", [(), (1, 2), [1], (-1,), ("0",)])
def test_held_numbers_that_are_wrong(held):
    with pytest.raises(ValueError):
        launcher(count_up, INT, ((("int", 40),),), held=held)


@pytest.mark.parametrize("polls, error", [((1,), ValueError), ((-1,), ValueError), (("0",), TypeError), ([0], TypeError)])
def test_polls_that_are_wrong(polls, error):
    with pytest.raises(error):
        launcher(count_up, INT, ((("int", 40),),), polls=polls)


def lazy(prepare):
    return launcher(None, INT, ((("int", 40),),), width=1, prepare=prepare)


@pytest.mark.parametrize("kernel", [count_up, increment], ids=["python", "native"])
def test_kernel_is_made_by_the_first_call(kernel):
    calls = []

    def prepare():
        calls.append(1)
        return getattr(kernel, "address", kernel), kernel, 9
    one = lazy(prepare)
    assert not one.enabled and calls == []
    assert [one.callable(4), one.callable(5)] == [(0, 5), (0, 6)]
    assert one.enabled and calls == [1] and one.owner is kernel and one.misses == 0


def test_no_kernel_to_be_had():
    calls = []
    one = lazy(lambda: calls.append(1))
    assert [one.callable(4), one.callable(5)] == [(_launcher.MISS, None)] * 2
    assert calls == [1] and one.misses == 2
    one.enabled = True
    assert not one.enabled and one.callable(4) == (_launcher.MISS, None)


def test_exception_while_the_kernel_is_made():
    answers = [KeyboardInterrupt("now"), (count_up, None, 0)]

    def prepare():
        answer = answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return answer
    one = lazy(prepare)
    with pytest.raises(KeyboardInterrupt, match="now"):
        one.callable(4)
    assert one.callable(4) == (0, 5)


@pytest.mark.parametrize("made", [3, (), (0, None, 9), ("kernel", None, 9), (count_up, None), (count_up, None, "9")])
def test_what_is_no_kernel(made):
    with pytest.raises((TypeError, ValueError)):
        lazy(lambda: made).callable(4)


def test_call_while_the_kernel_is_made():
    answers = []

    def prepare():
        if not answers:
            answers.append(None)
            answers.append(one.callable(10))
        return count_up, None, 0
    one = lazy(prepare)
    assert one.callable(4) == (0, 5) and answers == [None, (0, 11)]


def test_nothing_leaks():
    def cycle():
        one = lazy(lambda: (count_up, one, 0))
        one.callable(4)
        two = lazy(lambda: two)
        three = launcher(count_up, INT, ((("int", 40),),), polls=(0,), held=(1000,))
        three.callable(1)
        with pytest.raises(TypeError):
            two.callable(1)
        with pytest.raises(ValueError):
            launcher(count_up, INT, ((("int", 40),),), polls=(4,))
    for _ in range(20):
        cycle()
    gc.collect()
    tracemalloc.start()
    cycle()
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(200):
        cycle()
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < 20000
