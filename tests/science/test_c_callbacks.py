"""Callbacks of C libraries, called through ctypes: answers of kernels, calls that are made again, errors, threads."""

import ctypes
import gc
import math
import sys
import threading

import numpy as np
import pytest

import pijit
from pijit.science.c_callbacks import c_callback, form_of
from tests.harness import mode_config

DOUBLE, INTP = ctypes.c_double, ctypes.c_ssize_t
DOUBLES, INTPS = ctypes.POINTER(DOUBLE), ctypes.POINTER(INTP)
NUMBER, NUMBERS = "double (double)", "double (int, double *)"
WINDOW, LINE = "int (double *, intptr_t, double *)", "int (double *, intptr_t, double *, intptr_t)"
MAP = "int (intptr_t *, double *, int, int)"
TYPES = {NUMBER: (DOUBLE, DOUBLE), NUMBERS: (DOUBLE, ctypes.c_int, DOUBLES), WINDOW: (ctypes.c_int, DOUBLES, INTP, DOUBLES),
         LINE: (ctypes.c_int, DOUBLES, INTP, DOUBLES, INTP),
         MAP: (ctypes.c_int, INTPS, DOUBLES, ctypes.c_int, ctypes.c_int)}

_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
_name = ctypes.pythonapi.PyCapsule_GetName
_name.restype, _name.argtypes = ctypes.c_char_p, [ctypes.py_object]


class Called:
    """A callback as C code calls it. ``made`` is the CCallback; ``holds_gil`` is whether the caller does."""

    def __init__(self, f, signature, holds_gil=True, **config):
        self.made = c_callback(self._callback(f, config), form_of(signature))
        self.function, self.data = self.made.capsules()
        kind = ctypes.PYFUNCTYPE if holds_gil else ctypes.CFUNCTYPE
        self._call = kind(*(TYPES[signature] + (ctypes.c_void_p,)))(_pointer(self.function, _name(self.function)))

    def _callback(self, f, config):
        return pijit.jit(f, jit_config=mode_config(config))

    def __call__(self, *args):
        return self._call(*(args + (_pointer(self.data, _name(self.data)),)))

    def numbers(self, *args):
        return self(len(args), (DOUBLE * len(args))(*args))

    def window(self, *values):
        found = DOUBLE()
        assert self((DOUBLE * len(values))(*values), len(values), found) == 1
        return found.value

    def counts(self):
        """(calls, calls that the kernel computed)."""
        return self.made.calls, self.made.kernel_calls


class CalledPlain(Called):
    """The same for a function that is not jitted."""

    def _callback(self, f, config):
        return f


def bits(number):
    return np.float64(number).tobytes()


def gauss(x):
    return math.exp(-x * x) / (1.0 + abs(x))


def cases(x):
    if x > 2.0:
        return x
    if x > 1.0:
        return 0
    if x > 0.0:
        return int(x * 10.0)
    return x > -1.0


def scalar(x):
    return np.sin(np.float64(x)) + np.float32(0.5)


def looped(x):
    total = 0.0
    for i in range(20):
        total = total * 0.5 + x / (i + 1)
    return total


def whole(x):
    return 1.0 if x.is_integer() else x  # by a method of the float


@pytest.mark.parametrize("f", [gauss, cases, scalar, looped, whole], ids=lambda f: f.__name__)
def test_numbers(f):
    called = Called(f, NUMBER)
    for x in (0.3, -0.7, 1.5, 2.5, -3.0, 0.0, -0.0):
        assert bits(called(x)) == bits(f(x))
    assert called.counts() == (7, 7)


def test_several_numbers_and_other_counts():
    def f(x, y, z=2.0):
        return x * y - z

    called = Called(f, NUMBERS)
    assert called.numbers(2.0, 3.0, 4.0) == 2.0 and called.counts() == (1, 1)
    assert called.numbers(2.0, 3.0) == 4.0 and called.counts() == (2, 1)  # the default, by the function itself


def test_globals_and_free_variables_are_read_in_each_call():
    scale = 2.0

    def f(x):
        return x * scale + offset

    def change(value):
        nonlocal scale
        scale = value

    offset = 1.0
    called = Called(f, NUMBER)
    assert called(3.0) == 7.0
    change(10.0)
    assert called(3.0) == 31.0 and called.counts() == (2, 2)
    change(np.float32(0.5))
    assert called(3.0) == f(3.0) and called.counts() == (3, 2)  # another type: the function itself
    change(-1.0)
    assert called(3.0) == -2.0 and called.counts() == (4, 3)


def test_code_is_replaced():
    def f(x):
        return x + 1.0

    called = Called(f, NUMBER)
    jitted, code = called.made.function, called.made.function.__code__
    assert called(2.0) == 3.0
    jitted.__code__ = gauss.__code__
    assert called(2.0) == gauss(2.0) and called.counts() == (2, 1)
    jitted.__code__ = code
    assert called(2.0) == 3.0 and called.counts() == (3, 2)


def adding(number):
    def f(x):
        return x + number
    return f


def test_code_of_functions_that_share_it_is_replaced():
    """Closures of one factory have one code object, which belongs to the first that is jitted."""
    first, second, other = adding(1.0), adding(2.0), adding(0.5)
    kept = pijit.jit(first, jit_config=mode_config())
    called = CalledPlain(second, NUMBER)
    assert called(2.0) == 4.0 and called.counts() == (1, 1) and kept(2.0) == 3.0

    def f(x):
        return x * number

    number = 3.0
    code, second.__code__ = second.__code__, f.__code__
    assert called(2.0) == second(2.0) == 4.0 and kept(2.0) == 3.0  # twice the number in its own cell
    assert called(3.0) == 6.0 and called.counts() == (3, 1)
    second.__code__ = code
    assert called(3.0) == 5.0 and called.counts() == (4, 2)

    twin = pijit.jit(other, jit_config=mode_config())
    twin.__code__ = f.__code__
    called = Called(twin, NUMBER)
    assert called(3.0) == twin(3.0) == 1.5


def test_builtins_of_the_module():
    names = {"__builtins__": {"abs": math.sqrt}}
    exec("def f(x):\n    return abs(x) + 1.0", names)
    called = Called(names["f"], NUMBER)
    assert called(9.0) == names["f"](9.0) == 4.0
    assert called.counts() == (1, 1)
    names["__builtins__"]["abs"] = math.floor
    assert called(-2.5) == names["f"](-2.5) == -2.0


def test_methods():
    class Model:
        def __init__(self, weight):
            self.weight = weight

        def value(self, x):
            return x * self.weight

    model = Model(2.0)
    called = Called(model.value, NUMBER)
    assert called(3.0) == 6.0
    model.weight = 5.0
    assert called(3.0) == 15.0 and called.counts() == (2, 2)


def mean_of_ends(window):
    return (window[0] + window[-1]) * 0.5 + window.sum()


def test_windows():
    called = Called(mean_of_ends, WINDOW)
    for values in ((1.0, 2.0, 4.0), (1.5, -2.0, 4.0), (1.0, 2.0, 3.0, 4.0)):
        assert bits(called.window(*values)) == bits(mean_of_ends(np.array(values)))
    assert called.counts() == (3, 3)
    assert called.window(7.0) == 14.0  # an axis of length 1


def ends_apart(window):
    return np.hypot(*window[:2]) + np.subtract(*window[-2:])


def test_kernels_are_for_windows_of_all_lengths():
    called = Called(ends_apart, WINDOW)
    for length in (5, 2, 3, 9, 40):
        values = np.arange(1.0, length + 1.0) ** 2
        assert bits(called.window(*values)) == bits(ends_apart(values))
    assert called.counts() == (5, 5)


def first_of(*values):
    return values[0] * 2.0


def spreads(window):
    return first_of(*window)


def test_functions_that_need_the_length_of_a_window_are_refused():
    with pytest.raises(pijit.FullGraphError, match="PJ211"):
        Called(spreads, WINDOW)


def test_a_window_may_be_written_and_is_a_copy():
    def f(window):
        window *= 2.0
        return window[0]

    called, memory, found = Called(f, WINDOW), (DOUBLE * 3)(1.0, 2.0, 3.0), DOUBLE()
    assert called(memory, 3, found) == 1 and found.value == 2.0 and list(memory) == [1.0, 2.0, 3.0]
    assert called.counts() == (1, 1)


def test_lines():
    def f(line, written):
        written[:] = line[1:-1] * 2.0 - line[2:]

    called, line, written = Called(f, LINE), (DOUBLE * 6)(1, 2, 4, 8, 16, 32), (DOUBLE * 4)(9, 9, 9, 9)
    assert called(line, 6, written, 4) == 1
    wanted = np.zeros(4)
    f(np.array(line), wanted)
    assert list(written) == list(wanted) and called.counts() == (1, 1)


def test_lines_that_are_left_in_the_middle_begin_again():
    def f(line, written):
        written += line
        written += 1.0
        written[0] = 1.0 / line[0]

    called, written = Called(f, LINE), (DOUBLE * 2)()
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        called((DOUBLE * 2)(0.0, 1.0), 2, written, 2)
    with np.errstate(divide="ignore"):
        assert called((DOUBLE * 2)(0.0, 1.0), 2, written, 2) == 1
    assert list(written) == [math.inf, 2.0]


def test_coordinates():
    def f(at):
        return at[0] * 2.0, at[1] - 0.5

    called, found = Called(f, MAP), (DOUBLE * 2)()
    assert called((INTP * 2)(3, 4), found, 2, 2) == 1 and list(found) == [6.0, 3.5]
    assert called.counts() == (1, 1)


def test_another_number_of_coordinates():
    def f(at):
        return tuple([one * 2.0 for one in at])

    called, found = Called(f, MAP), (DOUBLE * 3)()
    assert called((INTP * 3)(3, 4, 5), found, 3, 3) == 1 and list(found) == [6.0, 8.0, 10.0]


def test_an_exception_of_a_status_is_set():
    def f(window):
        return window[3]

    called = Called(f, WINDOW)
    assert called.window(1.0, 2.0, 3.0, 4.0) == 4.0
    with pytest.raises(IndexError, match="index 3 is out of bounds"):
        called.window(1.0, 2.0, 3.0)
    assert called.window(1.0, 2.0, 3.0, 4.0) == 4.0 and called.counts() == (3, 2)


def test_warnings_are_those_of_the_function():
    def f(x):
        return np.log(np.float64(x))

    called = Called(f, NUMBER)
    assert called(2.0) == f(2.0)
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        assert called(0.0) == -math.inf
    with np.errstate(all="ignore"):
        assert math.isnan(called(-1.0))


def reciprocal(x):
    return 1.0 / x


def test_an_exception_of_a_number_is_raised_by_the_main_thread():
    called = Called(reciprocal, NUMBER)
    assert called(2.0) == 0.5
    with pytest.raises(ZeroDivisionError, match="division by zero"):
        assert math.isnan(called(0.0))
        for _ in range(10):
            pass
    assert called(4.0) == 0.25


class Refused(Exception):
    def __init__(self, x, limit):
        super().__init__(x, limit)


class Refusing:
    def __rmul__(self, x):
        raise Refused(x, 1.0)


FACTOR = 2.0


def multiplied(x):
    return x * FACTOR


def in_a_thread(run):
    """What a function returns on another thread, or the exception that it raises there."""
    found = []

    def run_and_keep():
        try:
            found.append(run())
        except Exception as error:
            found.append(error)

    thread = threading.Thread(target=run_and_keep)
    thread.start()
    thread.join()
    return found[0]


def with_two_calls(called, x):
    """For `in_a_thread`: two calls, as a function of C makes them, and then some bytecode."""
    def run():
        list(map(called, (x, 0.25)))
        for _ in range(10):
            pass
        return "no exception"
    return run


@pytest.mark.parametrize("holds_gil", [True, False])
def test_an_exception_of_a_number_is_raised_by_its_thread(holds_gil):
    called = Called(reciprocal, NUMBER, holds_gil)
    for _ in range(2):
        assert in_a_thread(lambda: called(2.0)) == 0.5
        raised = in_a_thread(with_two_calls(called, 0.0))
        assert type(raised) is ZeroDivisionError and "division by zero" in str(raised)


def test_the_exception_is_the_one_that_was_raised(monkeypatch):
    called = Called(multiplied, NUMBER)
    assert called(1.0) == 2.0
    monkeypatch.setitem(globals(), "FACTOR", Refusing())
    raised = in_a_thread(with_two_calls(called, 1.0))
    assert type(raised) is Refused and raised.args == (1.0, 1.0)


def test_an_exception_for_another_thread_is_raised_there():
    called, begun = Called(looped, NUMBER), threading.Event()

    def run():
        begun.set()
        while True:
            called(0.5)

    def stop():
        begun.wait()
        set_exception(threads[0].ident, ctypes.py_object(KeyError))

    set_exception = ctypes.pythonapi.PyThreadState_SetAsyncExc
    set_exception.argtypes = [ctypes.c_ulong, ctypes.py_object]
    threads, stopper = [], threading.Thread(target=stop)

    def keep():
        threads.append(threading.current_thread())
        stopper.start()
        run()

    assert type(in_a_thread(keep)) is KeyError
    stopper.join()


def test_threads_without_the_gil():
    called, found = Called(looped, NUMBER, holds_gil=False), []

    def run(first):
        found.extend((x, called(float(x))) for x in range(first, first + 500))

    threads = [threading.Thread(target=run, args=(500 * k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 2000 and all(bits(y) == bits(looped(float(x))) for x, y in found)


def test_switches():
    called = Called(gauss, NUMBER)
    with pijit.stance("python"):
        assert called(0.5) == gauss(0.5)
    with pijit.disable():
        assert called(0.5) == gauss(0.5)
    assert called.counts() == (2, 0)
    assert called(0.5) == gauss(0.5) and called.counts() == (3, 1)


def test_a_tracer_sees_the_function():
    called, seen = Called(gauss, NUMBER), []

    def tracer(frame, event, arg):
        seen.append(frame.f_code.co_name)

    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        called(0.5)
    finally:
        sys.settrace(before)
    assert "gauss" in seen and called.counts() == (1, 0)


def test_kernels_that_always_leave_are_not_tried_each_time():
    def f(x):
        return np.sqrt(np.float64(x))

    called = Called(f, NUMBER)
    with np.errstate(invalid="warn"), pytest.warns(RuntimeWarning):
        for _ in range(500):
            called(-1.0)
    assert called.made.launcher.calls < 100
    for _ in range(200):
        assert called(4.0) == 2.0
    assert called.made.kernel_calls > 100


def test_lifetime():
    def f(x):
        return x + 1.0

    called = Called(f, NUMBER)
    made = called.made
    before = sys.getrefcount(made)
    function, data = made.capsules()
    assert sys.getrefcount(made) == before + 1
    del function, data
    assert sys.getrefcount(made) == before
    called.made = None
    del made
    gc.collect()
    assert called(1.0) == 2.0  # the capsule owns it


KEPT = []


def keeps(x):
    KEPT.append(x)
    return x


def draws(x):
    return x + np.random.random()


def prints(x):
    print(x)
    return x


GRID = np.zeros(3)


def writes(x):
    GRID[0] = x
    return x


@pytest.mark.parametrize("f, error, message", [
    (keeps, ValueError, "list.append shows outside"), (draws, (ValueError, pijit.FullGraphError), "random"),
    (writes, ValueError, "outside of the call"), (prints, pijit.FullGraphError, "PJ201")])
def test_refusals(f, error, message):
    with pytest.raises(error, match=message):
        c_callback(pijit.jit(f, jit_config=mode_config()), form_of(NUMBER))


def test_wrong_parameters():
    with pytest.raises(TypeError, match="does not take the arguments"):
        c_callback(lambda x, y: x, form_of(NUMBER))
    with pytest.raises(TypeError, match="has defaults for parameters that the signature does not pass: y"):
        c_callback(lambda x, y=1.0: x, form_of(NUMBER))
    with pytest.raises(ValueError, match="signature must be one of"):
        pijit.low_level_callable(gauss, "double (float)")
    with pytest.raises(TypeError, match="signature must be a str"):
        pijit.low_level_callable(gauss, float)
    with pytest.raises(ValueError, match="generator"):
        def f(x):
            yield x
        c_callback(f, form_of(NUMBER))


def test_switched_off_by_the_environment(monkeypatch):
    monkeypatch.setenv("PIJIT_DISABLE", "1")
    assert pijit.low_level_callable(gauss, NUMBER) is gauss
