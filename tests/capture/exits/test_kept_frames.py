"""Frames of linked code that are kept for the next call: nobody else ever sees one again."""

import gc
import operator
import sys
import threading
import weakref

import numpy as np
import pytest

from pijit.differential import plain_twin
from tests.harness import jitted, kernel_count, same

X = np.arange(4.0)
go = operator.methodcaller("go")
"""A call that stays bytecode, of Python code."""


def begins_with_a_kernel(x, what):
    y = x * 2.0 + 1.0
    found = go(what)
    z = y * x - 0.5
    return found, z * y


def begins_in_a_frame(x, what):
    found = go(what)
    y = x * 2.0 + 1.0
    z = y * x - 0.5
    return found, z * y


BEGINNINGS = [begins_with_a_kernel, begins_in_a_frame]


class What:
    """What a call goes through in the middle."""

    def __init__(self, work=lambda: None):
        self.go = work


@pytest.fixture(params=BEGINNINGS, ids=[f.__name__ for f in BEGINNINGS])
def both(request):
    """The function, jitted and warm, and as it is."""
    plain = plain_twin(request.param)
    f = jitted(plain, {"force_breaks": None})
    for _ in range(5):
        f(X, What())
    assert kernel_count(f) >= 1
    return f, plain


def each(both, scenario):
    """The scenario gives the same with both."""
    jitted_gives, plain_gives = scenario(both[0]), scenario(both[1])
    same(jitted_gives, plain_gives)


def caller():
    return sys._getframe(2)


def place(frame):
    """Whose frame it is, and where it is; what is not needed any more a kernel does not store."""
    return frame.f_locals["x"], frame.f_code.co_name, frame.f_lineno - frame.f_code.co_firstlineno


def test_a_frame_that_somebody_holds_is_that_of_its_call(both):
    def scenario(f):
        frames = []
        for number in range(4):
            f(X + number, What(lambda: frames.append(caller())))
        return [place(frame) for frame in frames]

    each(both, scenario)


def test_tracebacks_keep_the_frames_of_their_calls(both):
    def scenario(f):
        errors = []
        for number in range(4):
            try:
                f(X + number, What(lambda: {}[number]))
            except KeyError as error:
                errors.append(error)
            f(X - number, What())
        tracebacks = [error.__traceback__.tb_next for error in errors]
        return [place(one.tb_frame) + (one.tb_lineno - one.tb_frame.f_code.co_firstlineno,) for one in tracebacks]

    each(both, scenario)


def test_calls_inside_calls_have_frames_of_their_own(both):
    def scenario(f):
        seen = []

        def deeper(depth):
            seen.append(id(caller()))
            return f(X * depth, What(lambda: deeper(depth - 1))) if depth else None

        result = f(X, What(lambda: deeper(5)))
        assert len(set(seen)) == len(seen)
        return result

    each(both, scenario)


def test_threads_have_frames_of_their_own(both):
    def scenario(f):
        results, meet = {}, threading.Barrier(4)

        def work(number):
            for _ in range(20):
                results[number] = f(X + number, What(lambda: [meet.wait(30)][:0]))

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return [results[number] for number in range(4)]

    each(both, scenario)


def test_a_kept_frame_holds_nothing(both):
    class Marked:
        pass

    for f in both:
        marked = Marked()
        gone, x = weakref.ref(marked), X + 0.0
        for _ in range(5):
            f(x, What(lambda: x))  # code linked for this is kept, with a function of its own from 3.11 on
        counts = [sys.getrefcount(one) for one in (x, f.__globals__, None)]
        for _ in range(300):
            f(x, What(lambda marked=marked: marked))
        del marked
        assert gone() is None
        after = [sys.getrefcount(one) for one in (x, f.__globals__, None)]
        assert after[:2] == counts[:2] and abs(after[2] - counts[2]) < 100


def test_calls_and_errors_leave_nothing_behind(both):
    f = both[0]

    def run():
        for number in range(200):
            f(X, What())
            with pytest.raises(ZeroDivisionError):
                f(X, What(lambda: 1 // 0))

    run()
    gc.collect()
    before = len(gc.get_objects()), sys.getrefcount(f.state.entries[-1].code.linked)
    run()
    gc.collect()
    after = len(gc.get_objects()), sys.getrefcount(f.state.entries[-1].code.linked)
    assert after[0] - before[0] < 50 and after[1] - before[1] <= 1


def test_what_a_call_has_set_on_its_frame_is_its_own(both):
    def scenario(f):
        events = []

        def trace(frame, event, arg):
            events.append((event, frame.f_lineno - frame.f_code.co_firstlineno))
            return trace

        def switch_on():
            frame = caller()
            frame.f_trace = trace
            frame.f_trace_lines = False
            sys.settrace(lambda *args: None)

        results = []
        try:
            results.append(f(X, What(switch_on)))
        finally:
            sys.settrace(None)
        del events[:]
        results += [f(X + 1.0, What()), f(X + 2.0, What(lambda: (caller().f_trace, caller().f_trace_lines)))]
        return results, events

    each(both, scenario)


def test_the_cache_may_be_cleared_in_the_middle(both):
    f, plain = both
    for number in range(3):
        same(f(X + number, What(f.cache_clear)), plain(X + number, What()))
        same(f(X, What()), plain(X, What()))
    frames = []
    f(X, What(lambda: (f.cache_clear(), frames.append(caller()))))
    frames[0].clear()
    same(f(X, What()), plain(X, What()))


def test_a_frame_that_is_let_go_in_the_middle_may_be_kept(both):
    def scenario(f):
        kept = []
        results = []
        for number in range(4):
            results.append(f(X + number, What(lambda: kept.append(caller()))))
            results.append(f(X - number, What(kept.clear)))
        return results

    each(both, scenario)
