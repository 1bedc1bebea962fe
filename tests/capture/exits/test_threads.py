"""Threads: the first calls come at once, and later calls differ in types; each gets the right answer."""

import builtins
import gc
import operator
import os
import sys
import threading
import types
import warnings

import numpy as np
import pytest

from pijit.core import function_state
from pijit.core._hook import UNBOUND
from pijit.differential import plain_twin
from tests.harness import jitted, kernel_count, same

stay = operator.methodcaller("__abs__")
"""A call that stays bytecode, and gives back a number that is not negative."""
DTYPES = [np.float64, np.float32, np.int64, np.int32, np.uint8, np.bool_, np.complex128, np.float16]
CALLS = 1250  # by each of 8 threads
ON_PYTHON = os.environ.get("PIJIT_TEST_BACKEND") == "python"
MANY_CALLS = 2000 if ON_PYTHON else 100000


def affine(x, k):
    y = x * 2 + k
    seen = stay(k)
    return y * y - seen


def run_threads(work, count=8):
    errors = []
    barrier = threading.Barrier(count)

    def body(number):
        barrier.wait()
        try:
            work(number)
        except BaseException as error:
            errors.append(error)
    threads = [threading.Thread(target=body, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


@pytest.fixture
def fast_switching():
    previous = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(previous)


def check_call(f, plain, x, k):
    got, wanted = f(x, k), plain(x, k)
    assert got.dtype == wanted.dtype and got.tobytes() == wanted.tobytes()


def test_first_calls_at_once(fast_switching):
    f = jitted(plain_twin(affine))
    x = np.linspace(0.0, 3.0, 5)
    run_threads(lambda number: [check_call(f, affine, x, number + 0.5) for _ in range(20)])
    check_call(f, affine, x, 1.5)
    check_call(f, affine, x, 1.5)
    assert kernel_count(f) >= 1 and f.cache_info().currsize == 1


def hot(x, k):
    y = x * 2 + k
    return y * y


def test_different_dtypes_in_each_thread():
    f = jitted(plain_twin(hot), {"cache_limit": 16})
    arrays = [np.arange(5).astype(dtype) for dtype in DTYPES]
    run_threads(lambda number: [check_call(f, hot, arrays[number], 3) for _ in range(20)])
    for x in arrays * 2:
        check_call(f, hot, x, 3)
    before = f.cache_info()

    def work(number):
        x, wanted = arrays[number], hot(arrays[number], 3)
        dtype, bits = wanted.dtype, wanted.tobytes()
        for _ in range(MANY_CALLS):
            got = f(x, 3)
            if got.dtype != dtype or got.tobytes() != bits:
                raise AssertionError((got, wanted))
    run_threads(work)
    info = f.cache_info()
    assert info.hits == before.hits + 8 * MANY_CALLS and info.misses == before.misses
    assert info.currsize == len(f.state.entries) == len(DTYPES)


def test_changing_dtypes_in_all_threads(fast_switching):
    f = jitted(plain_twin(affine), {"cache_limit": 16})
    arrays = [np.arange(5).astype(dtype) for dtype in DTYPES]
    run_threads(lambda number: [check_call(f, affine, arrays[(number + call) % 8], 3) for call in range(CALLS)])


def test_other_threads_run_the_original_while_one_captures(monkeypatch):
    capturing, served = threading.Event(), threading.Event()
    make_entry = function_state.make_entry

    def slow(*args):
        capturing.set()
        assert served.wait(10)
        return make_entry(*args)
    monkeypatch.setattr(function_state, "make_entry", slow)
    f = jitted(plain_twin(affine))
    x = np.linspace(0.0, 3.0, 5)
    first = threading.Thread(target=f, args=(x, 1.0))
    first.start()
    assert capturing.wait(10)
    check_call(f, affine, x, 2.0)
    assert f.state.entries == []
    served.set()
    first.join()
    assert len(f.state.entries) == 1


def test_cache_clear_while_others_call(fast_switching):
    f = jitted(plain_twin(affine))
    x = np.linspace(0.0, 3.0, 5)

    def work(number):
        for call in range(60):
            check_call(f, affine, x, number + 0.5)
            if number == 0 and call % 10 == 0:
                f.cache_clear()
    run_threads(work)
    assert f.state.failures == []


def test_a_call_that_missed_before_another_thread_captured_shares_its_entry():
    f = jitted(plain_twin(hot))
    x = np.linspace(0.0, 3.0, 5)
    f(x, 3)
    roots = [x, 3] + [UNBOUND] * (len(hot.__code__.co_varnames) - 2)
    code = f.state.function.__code__
    served = f.state.on_miss(code, roots, hot.__globals__, vars(builtins))
    assert served is f.state.entries[0].code.linked and len(f.state.entries) == 1


def test_cache_clear_by_all_threads_and_captures_at_once(fast_switching):
    f = jitted(plain_twin(hot), {"cache_limit": 16})
    arrays = [np.arange(5).astype(dtype) for dtype in DTYPES]

    def work(number):
        for call in range(40):
            check_call(f, hot, arrays[(number * 3 + call) % 8], number)
            if call % 8 == number:
                f.cache_clear()
    run_threads(work)
    f.cache_clear()
    run_threads(lambda number: [check_call(f, hot, arrays[number], number) for _ in range(10)])
    assert f.state.failures == [] and f.cache_info().currsize == len(f.state.entries) <= 8


SOURCE = """
def f{n}(x, k):
    y = x * {n} + k
    for i in range(3):
        y = y + SCALE
    return y * y - {n}
"""


def test_many_functions_at_once(fast_switching):
    namespace = {"SCALE": 2.0}
    count = 12 if ON_PYTHON else 4
    for number in range(count):
        exec(SOURCE.format(n=number), namespace)
    plain = [namespace["f%d" % number] for number in range(count)]
    functions = [jitted(types.FunctionType(f.__code__, namespace)) for f in plain]
    x = np.linspace(0.0, 3.0, 5)

    def work(number):
        for call in range(3 * count):
            place = (call * (2 * number + 1) + number) % count
            check_call(functions[place], plain[place], x, 1.5)
    run_threads(work)
    for f, original in zip(functions, plain):
        for _ in range(2):
            check_call(f, original, x, 1.5)
        assert len(f.state.entries) == f.cache_info().currsize == 1 and kernel_count(f) >= 1


class Model:
    weight = 2.0


def reads(x, model):
    return x * SCALE + x * model.weight * x  # noqa: F821


REBOUND = [2.0, np.arange(5.0), 3, np.float32(1.5), np.arange(5), np.arange(5, dtype=np.float32), True][:7 if ON_PYTHON else 2]


def test_globals_and_attributes_rebound_meanwhile(fast_switching):
    """Each answer is one that some pair of values gives; both are read once."""
    namespace, model, stop = {"SCALE": 2.0}, Model(), threading.Event()
    f = jitted(types.FunctionType(reads.__code__, namespace), {"cache_limit": 64})
    x = np.linspace(0.0, 3.0, 5)
    answers = set()
    for scale in REBOUND:
        for weight in REBOUND:
            answer = x * scale + x * weight * x
            answers.add((answer.dtype, answer.tobytes()))

    def rebind():
        call = 0
        while not stop.is_set():
            namespace["SCALE"] = REBOUND[call % len(REBOUND)]
            model.weight = REBOUND[call // 3 % len(REBOUND)]
            call += 1
            if call % 50 == 0:
                del model.weight  # the class has one
    thread = threading.Thread(target=rebind)
    thread.start()

    def work(number):
        for _ in range(150):
            answer = f(x, model)
            assert (answer.dtype, answer.tobytes()) in answers
    try:
        run_threads(work, 4)
    finally:
        stop.set()
        thread.join()
    assert f.state.failures == []


def test_types_that_die_meanwhile(fast_switching):
    f = jitted(plain_twin(forward), {"cache_limit": 4})
    x = np.linspace(0.0, 3.0, 5)

    def work(number):
        model = Model()
        model.weight = float(number)
        for call in range(12):
            if number % 2:
                model = type("Fresh", (), {})()
                model.weight = float(number)
                if call % 10 == 0:
                    gc.collect()
            np.testing.assert_array_equal(f(model, x), forward(model, x))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run_threads(work)
    gc.collect()
    f(Model(), x)
    assert f.state.failures == [] and f.cache_info().currsize <= 4


def forward(model, x):
    y = x * model.weight + 1.0
    return y * y


go = operator.methodcaller("go")
"""A call that stays bytecode, of Python code."""


def behind_a_call(x, what):
    y = x * 2.0 + 1.0
    found = go(what)
    z = y * found - 0.5
    return z * y + found


class Meeting:
    """Returns a number when as many threads are inside as there have to be."""

    def __init__(self, count, number):
        self.barrier, self.number = threading.Barrier(count), number

    def go(self):
        self.barrier.wait(30)
        return self.number


@pytest.mark.parametrize("before", [None, 2], ids=["first", "again"])
def test_runs_of_many_threads_observe_together(before):
    """None of them is over when the others begin, so that the first has not observed anything by then."""
    plain = plain_twin(behind_a_call)
    f, x, meeting = jitted(plain, {"force_breaks": None}), np.arange(4.0), Meeting(6, 1.5)
    for _ in range(5 if before is not None else 0):
        f(x, Meeting(1, before))
    run_threads(lambda number: [f(x + number, meeting) for _ in range(20)], 6)
    observed = [why for why in f.state.recompiles if why.startswith("PJ302")]
    assert not f.state.pending and len(observed) == (1 if before is None else 2), f.state.recompiles
    ran = [(launcher.calls - launcher.misses) for launcher in f.state.entries[-1].launchers]
    same(plain(x, Meeting(1, 1.5)), f(x, Meeting(1, 1.5)))
    now = [(launcher.calls - launcher.misses) for launcher in f.state.entries[-1].launchers]
    assert sum(now) - sum(ran) == 2 and kernel_count(f) >= 2
