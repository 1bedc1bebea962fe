"""Exceptions of signal handlers that CPython runs inside of a library function which a kernel calls: none is lost."""

import functools
import signal
import time

import pytest

from pijit.guards._evaluate import set_mirror
from tests.capture.exits.test_polls import NATIVE, PATIENCE
from tests.harness import fail_unless_captured, jitted


class Late(Exception):
    pass


def by_function(number, frame):
    raise Late("function", number)


class Handler:
    def method(self, number, frame):
        raise Late("method", number)

    def __call__(self, number, frame):
        raise Late("object", number)


def by_partial(kind, number, frame):
    raise Late(kind, number)


@jitted
def by_jitted(number, frame):
    raise Late("jitted", number)


HANDLERS = {"function": by_function, "method": Handler().method, "object": Handler(), "jitted": by_jitted,
            "partial": functools.partial(by_partial, "partial")}


def shown(numbers, n):
    """Most of the time is spent in ``str``, which runs the handlers of signals that wait."""
    for i in range(n):
        numbers.append(i)
        str(i)
    return len(numbers)


@pytest.fixture
def alarm_in():
    """Sets the alarm; in mirror mode the handler would run in the guards' twin in Python."""
    mirrored, before = set_mirror(False), signal.getsignal(signal.SIGALRM)

    def begin(handler, after):
        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, after, 1.0)  # again: another thread may receive the first one
    yield begin
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)
    set_mirror(mirrored)


@pytest.mark.parametrize("kind", HANDLERS)
def test_what_a_handler_raises_arrives(kind, alarm_in):
    f = jitted(shown, NATIVE)
    for _ in range(4):
        assert f([], 300) == 300
    fail_unless_captured(f)
    for number in range(10):
        numbers, patience = [], time.monotonic() + PATIENCE
        with pytest.raises(Late) as caught:
            alarm_in(HANDLERS[kind], 0.002 + number * 1e-4)
            while time.monotonic() < patience:
                del numbers[:]
                f(numbers, 3000)
        assert caught.value.args == (kind, signal.SIGALRM)
        assert caught.traceback[-1].frame.code.raw.co_name in ("by_" + kind, "method", "__call__")
        assert numbers == list(range(len(numbers)))


class Shy:
    def __str__(self):
        raise Late("of its own")


def test_what_the_call_raises_is_raised_at_its_line(alarm_in):
    def f(x, k):
        try:
            return [str(x), str(k)]
        except Late as late:
            return late.args

    g = jitted(f, NATIVE)
    alarm_in(by_function, 100.0)
    for argument in (1, 2.5, Shy(), Shy(), "text"):
        assert g(argument, 3) == f(argument, 3)
