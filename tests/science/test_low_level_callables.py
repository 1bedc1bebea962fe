"""Callbacks in machine code: SciPy gives the answers, warnings and exceptions that it gives with the function itself."""

import gc
import math
import signal
import threading
import warnings
import weakref

import numpy as np
import pytest

import pijit
from pijit.science.c_callbacks import c_callback, form_of
from tests.harness import mode_config

LowLevelCallable = pytest.importorskip("scipy").LowLevelCallable
integrate = pytest.importorskip("scipy.integrate")
ndimage = pytest.importorskip("scipy.ndimage")


def callback(f, signature, rank=2):
    return pijit.low_level_callable(pijit.jit(f, jit_config=mode_config()), signature, rank)


def plain_bits(value):
    return np.asarray(value).tobytes()


def image(*shape):
    return np.random.default_rng(0).normal(size=shape)


def bump(x):
    return math.exp(-x * x) * math.cos(3.0 * x)


def test_quad():
    assert integrate.quad(callback(bump, "double (double)"), 0.0, 2.0) == integrate.quad(bump, 0.0, 2.0)


def test_quad_with_arguments():
    def f(x, a, b):
        return math.exp(-a * x) * b

    fast = callback(f, "double (int, double *)")
    for args in ((1.0, 2.0), (0.5, -1.0)):
        assert integrate.quad(fast, 0.0, 2.0, args=args) == integrate.quad(f, 0.0, 2.0, args=args)


def test_nquad():
    def f(x, y, z):
        return x * y + np.sin(z)

    fast, ranges = callback(f, "double (int, double *)"), [[0.0, 1.0], [0.0, 2.0], [0.0, 0.5]]
    assert integrate.nquad(fast, ranges) == integrate.nquad(f, ranges)


def ends(window):
    return window[0] * 0.5 + window[-1]


def test_other_threads_run_during_a_filter():
    fast, values = callback(ends, "int (double *, intptr_t, double *)"), image(1500, 1500)
    count, done = [0], threading.Event()

    def work():
        while not done.wait(0.001):
            count[0] += 1

    thread = threading.Thread(target=work)
    thread.start()
    before = count[0]
    ndimage.generic_filter(values, fast, size=3)
    during = count[0] - before
    done.set()
    thread.join()
    assert during > 5


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers")
def test_signal_handlers_run_during_a_filter():
    def handler(number, frame):
        raise TimeoutError("the time is up")

    made = c_callback(pijit.jit(ends, jit_config=mode_config()), form_of("int (double *, intptr_t, double *)"))
    values, before = image(1500, 1500), signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(TimeoutError, match="the time is up"):
            ndimage.generic_filter(values, LowLevelCallable(*made.capsules()), size=3)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert made.calls < values.size


def test_calls_after_an_exception_do_nothing():
    def picked(window):
        return window[int(window[4])]

    made = c_callback(pijit.jit(picked, jit_config=mode_config()), form_of("int (double *, intptr_t, double *)"))
    values = np.zeros((20, 20))
    values[3, 3], values[8, 8] = 100.0, 200.0
    with pytest.raises(IndexError, match="index 100 is out of bounds"):
        ndimage.generic_filter(values, LowLevelCallable(*made.capsules()), size=3)
    assert made.calls < values.size


def test_cycles_are_collected():
    class Model:
        def __init__(self):
            self.callback = callback(self.value, "double (double)")

        def value(self, x):
            return x * 2.0

    model = Model()
    assert integrate.quad(model.callback, 0.0, 1.0) == integrate.quad(model.value, 0.0, 1.0)
    alive = weakref.ref(model)
    del model
    gc.collect()
    assert alive() is None


def test_quad_raises_what_the_function_raises():
    def f(x):
        return 1.0 / (x - 1.0)

    with pytest.raises(ZeroDivisionError):
        integrate.quad(callback(f, "double (double)"), 0.0, 2.0)


def test_quad_warns_as_the_function():
    def f(x):
        return np.log(np.float64(x) - 0.5)

    found = []
    for one in (f, callback(f, "double (double)")):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            integrate.quad(one, 0.0, 1.0)
        found.append([str(warning.message) for warning in seen])
    assert found[0] == found[1] and any("invalid value" in message for message in found[0])


def spread(window):
    return window.max() - window.min() + 0.25 * window[0]


def weighted(window):
    total = 0.0
    for value in window:
        total = total * 0.5 + value
    return total


@pytest.mark.parametrize("f", [spread, weighted, np.ndarray.sum], ids=["spread", "weighted", "sum"])
def test_generic_filter(f):
    def g(window):
        return f(window)

    x = image(23, 17)
    wanted = ndimage.generic_filter(x, g, size=3)
    found = ndimage.generic_filter(x, callback(g, "int (double *, intptr_t, double *)"), size=3)
    assert plain_bits(found) == plain_bits(wanted)


def test_generic_filter_raises():
    def f(window):
        return window[20]

    with pytest.raises(IndexError):
        ndimage.generic_filter(image(4, 4), callback(f, "int (double *, intptr_t, double *)"), size=3)


def test_generic_filter1d():
    def f(line, written):
        written[...] = 0.5 * (line[:-2] + line[2:]) + line[1:-1]

    x = image(9, 31)
    wanted = ndimage.generic_filter1d(x, f, 3, axis=1)
    found = ndimage.generic_filter1d(x, callback(f, "int (double *, intptr_t, double *, intptr_t, void *)"), 3, axis=1)
    assert plain_bits(found) == plain_bits(wanted)


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_geometric_transform(rank):
    def one(at):
        return (at[0] * 0.75,)

    def two(at):
        return at[0] - 0.5, at[1] + 0.25 * at[0]

    def three(at):
        return at[0] - 0.5, at[1] * 0.5, at[2] + 0.125

    f, x = (one, two, three)[rank - 1], image(*(11,) * rank)
    wanted = ndimage.geometric_transform(x, f)
    found = ndimage.geometric_transform(x, callback(f, "int (intptr_t *, double *, int, int)", rank))
    assert plain_bits(found) == plain_bits(wanted)


def test_geometric_transform_of_another_rank():
    def f(at):
        return at[0] * 0.5, at[1] * 0.5

    x = image(7, 7, 2)
    wanted = ndimage.geometric_transform(x[:, :, 0], f)
    assert plain_bits(ndimage.geometric_transform(
        x[:, :, 0], callback(f, "int (intptr_t *, double *, int, int)", 3))) == plain_bits(wanted)


def test_functions_of_the_example(capsys):
    def f(x, a):
        return math.exp(-a * x * x)

    fast = pijit.low_level_callable(f, "double (int, double *)")
    assert integrate.quad(fast, 0.0, 1.0, args=(2.0,)) == integrate.quad(f, 0.0, 1.0, args=(2.0,))
