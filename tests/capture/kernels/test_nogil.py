"""`nogil`: kernels that touch no Python objects let other threads run Python, and are interrupted all the same."""

import _thread
import ctypes
import threading
import time

import numpy as np
import pytest

from pijit.differential import plain_twin
from tests.capture.exits.test_polls import PATIENCE, Box, alarm, wait_for
from tests.capture.exits.test_threads import run_threads
from tests.harness import check, jitted, same

NOGIL = {"backend": "numba", "force_breaks": None, "nogil": True}
LONG = 10 ** 12


def counted(n, x):
    s = 0.0
    for i in range(n):
        s = s * 0.5 + x[i & 3]
    return s


def by_hand(n, x):
    k = 0
    while k < n:
        x[k & 3] = k
        k += 1
    return k


def arrays(x, k):
    y = x * 2.0
    for _ in range(k):
        y = y * 0.5 + np.exp(-x) + x.sum()
    return y, y[::2], y.max()


def flags(f):
    return {launcher.nogil for entry in f.state.entries for launcher in entry.launchers}


def ready(function, *args):
    f = jitted(plain_twin(function), NOGIL)
    for _ in range(3):
        f(*args)
    return f


class Stop(Exception):
    """Raised in another thread."""


def raise_in(thread, error):
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(error))


@pytest.mark.parametrize("function", [counted, by_hand])
def test_python_runs_beside_a_kernel_until_an_exception_is_raised_in_its_thread(function, slow_switching):
    f, raised = ready(function, 10, np.arange(4.0)), []
    assert flags(f) == {1}

    def work():
        try:
            f(LONG, np.arange(4.0))
        except Stop:
            raised.append(1)
    thread = threading.Thread(target=work)
    thread.start()
    time.sleep(0.05)  # a kernel with the GIL would not let this end
    raise_in(thread, Stop)
    thread.join(PATIENCE)
    assert raised == [1] and not thread.is_alive()


def test_interrupt_arrives_while_other_threads_run_python():
    f, done = ready(counted, 10, np.arange(4.0)), threading.Event()

    def work():
        while not done.is_set():
            pass
    thread = threading.Thread(target=work)
    thread.start()
    try:
        with alarm(0.1, _thread.interrupt_main):
            with pytest.raises(KeyboardInterrupt):
                f(LONG, np.arange(4.0))
    finally:
        done.set()
        thread.join()


@pytest.mark.parametrize("function, args", [
    (counted, (1000, np.arange(4.0))), (arrays, (np.linspace(-2.0, 3.0, 700), 3)),
    (arrays, (np.linspace(-2.0, 3.0, 700)[::3], 3)), (arrays, (np.zeros(0), 3)),
    (arrays, (np.full(3, 1e308), 2)),
])
def test_what_it_computes(function, args):
    with np.errstate(all="warn"):
        assert flags(check(function, *args, config=NOGIL)) <= {1}


def test_threads_at_once():
    x = [np.random.RandomState(number).rand(3000) for number in range(4)]
    wanted = [arrays(one, 5) for one in x]
    f = ready(arrays, x[0], 5)
    assert flags(f) == {1}

    def work(number):
        for _ in range(40):
            same(wanted[number], f(x[number], 5))
    run_threads(work, 4)


def test_a_loop_that_may_wait_for_another_thread_keeps_the_gil():
    box, x = Box(), np.zeros(4)
    box.stop = True
    f = ready(wait_for, box, x)
    box.stop = False
    timer = threading.Timer(0.1, setattr, (box, "stop", True))
    timer.start()
    assert f(box, x) > 0 and flags(f) == {0}
    timer.join()


def collects(n, items):
    for i in range(n):
        items.append(i * 2)
    return items


def test_kernels_that_change_objects_keep_the_gil():
    f = ready(collects, 100, [])
    assert f(3, []) == [0, 2, 4] and flags(f) <= {0}
