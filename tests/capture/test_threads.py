"""Threads: the first calls come at once, and later calls differ in types; each gets the right answer."""

import operator
import sys
import threading

import numpy as np
import pytest

from pijit.core import pipeline
from pijit.differential import plain_twin
from tests.harness import jitted, kernel_count

stay = operator.methodcaller("__abs__")
"""A call that stays bytecode, and gives back a number that is not negative."""
DTYPES = [np.float64, np.float32, np.int64, np.int32, np.uint8, np.bool_, np.complex128, np.float16]
CALLS = 1250  # by each of 8 threads


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


def test_different_dtypes_in_each_thread(fast_switching):
    f = jitted(plain_twin(affine), {"cache_limit": 16})
    arrays = [np.arange(5).astype(dtype) for dtype in DTYPES]
    run_threads(lambda number: [check_call(f, affine, arrays[number], 3) for _ in range(CALLS)])
    assert f.cache_info().hits > 0


def test_changing_dtypes_in_all_threads(fast_switching):
    f = jitted(plain_twin(affine), {"cache_limit": 16})
    arrays = [np.arange(5).astype(dtype) for dtype in DTYPES]
    run_threads(lambda number: [check_call(f, affine, arrays[(number + call) % 8], 3) for call in range(CALLS)])


def test_other_threads_run_the_original_while_one_captures(monkeypatch):
    capturing, served = threading.Event(), threading.Event()
    make_entry = pipeline.make_entry

    def slow(*args):
        capturing.set()
        assert served.wait(10)
        return make_entry(*args)
    monkeypatch.setattr(pipeline, "make_entry", slow)
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
