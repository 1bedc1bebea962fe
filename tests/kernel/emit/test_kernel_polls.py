"""Polls of compiled kernels, wherever the interpreter of this version has the word that they look at."""

import threading
import time

import pytest
from kernel_graphs import Builder

from pijit.core import _launcher


def polling(**attrs):
    """A function that leaves by its poll's exit (1) or at its end (2)."""
    build = Builder("polling")
    build.op("poll", None, exit=build.exit(1), **attrs)
    build.leave(2)
    return build.run("numba")


def left_by(run, target, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        left = run()
        _launcher.resume()
        if left[0] == target:
            return True
    return False


def test_nothing_to_do():
    assert left_by(polling(), 2, 5)


@pytest.mark.parametrize("attrs, leaves", [({}, True), ({"signals": True}, False)], ids=["requests", "signals"])
def test_another_thread_waits_for_the_gil(attrs, leaves):
    run, over = polling(**attrs), threading.Event()

    def spin():
        while not over.is_set():
            pass

    thread = threading.Thread(target=spin)
    thread.start()
    try:
        assert left_by(run, 1, 20 if leaves else 0.5) == leaves
    finally:
        over.set()
        thread.join()
