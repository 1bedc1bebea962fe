"""Timings: payloads that are measured against the function as it is."""

import gc
import sys
import types

import pytest

from pijit.core import _hook
from pijit.core._hook import EntryTiming, JitFunction
from pijit.guards._evaluate import EntryCache
from pijit.guards.guard import IsType
from pijit.guards.program import GuardProgram
from pijit.guards.source import Local
from tests.native.hook.hook_marks import needs_hook, with_const

WARM, SAMPLES = 16, 15
ENOUGH = WARM + 3 * SAMPLES


INTERRUPTS = []
"""What the next calls that spin so many rounds do besides."""


def spin(rounds):
    total = 0
    extra = INTERRUPTS.pop()[1] if INTERRUPTS and INTERRUPTS[-1][0] == rounds else 0
    for i in range(rounds + extra):
        total += i
    return rounds


def spinning(rounds):
    """A function that takes some time; its only constant says how long."""
    def f(factor=1):
        return spin(1000 * factor)

    f.__code__ = with_const(f.__code__, 1000, rounds)
    return f


class Tried:
    """A function with an EntryTiming for its only entry."""

    def __init__(self, function, payload, limit=0):
        self.verdicts = []
        self.cache = EntryCache(2)
        self.timing = EntryTiming(payload, self.on_result, limit)
        self.program = GuardProgram([])
        assert self.cache.add(self.program, self.timing)
        _hook.mark(function.__code__, self.cache, lambda *args: None)
        self.call = JitFunction(function)

    def on_result(self, lost, compiled, plain):
        self.verdicts.append((lost, compiled, plain))


def against(plain, compiled, limit=0):
    """A function that spins so many rounds, with compiled code that spins as many as the second number says."""
    f = spinning(plain)
    return Tried(f, with_const(f.__code__, plain, compiled), limit)


def test_the_function_is_run_as_it_is_once_its_compiled_code_has_lost():
    tried = against(50, 2000)
    results = [tried.call() for _ in range(ENOUGH)]
    assert results[:WARM] == [2000] * WARM and set(results[WARM:]) == {50, 2000}
    assert [lost for lost, _, _ in tried.verdicts] == [True] and tried.timing.state == "lost"
    _, compiled, plain = tried.verdicts[0]
    assert compiled > plain > 0
    assert [tried.call() for _ in range(300)] == [50] * 300


def test_compiled_code_that_wins_is_kept_after_few_runs_of_the_function():
    tried = against(2000, 50)
    results = [tried.call() for _ in range(ENOUGH)]
    assert results.count(2000) <= 3 and results[-SAMPLES:] == [50] * SAMPLES
    assert [lost for lost, _, _ in tried.verdicts] == [False] and tried.timing.state == "kept"


ATTEMPTS = 5
"""Interrupts that the machine adds may decide a measurement; it is repeated, because they do not come each time."""


def test_an_interrupt_decides_nothing():
    verdicts = []
    while [True] not in verdicts and len(verdicts) < ATTEMPTS:
        tried = against(500, 2000)
        INTERRUPTS[:] = [(500, 100000)]
        try:
            for _ in range(ENOUGH):
                tried.call()
        finally:
            left, INTERRUPTS[:] = list(INTERRUPTS), []
        assert not left
        verdicts.append([lost for lost, _, _ in tried.verdicts])
    assert verdicts[-1] == [True]


def test_interrupts_of_compiled_code_do_not_make_it_take_long():
    verdicts = []
    while [True] not in verdicts and len(verdicts) < ATTEMPTS:
        tried = against(500, 2000, limit=3000000)
        for number in range(ENOUGH):
            INTERRUPTS[:] = [(2000, 400000)] if WARM < number < WARM + 3 else []
            tried.call()
        verdicts.append([lost for lost, _, _ in tried.verdicts])
    assert verdicts[-1] == [True]


def test_equals_are_measured_in_full_and_not_in_turn():
    for _ in range(20):  # an interrupt at the wrong time looks like a clear win
        tried = against(300, 301)
        results = [tried.call() for _ in range(ENOUGH)]
        assert len(tried.verdicts) == 1
        if results[:WARM + 2 * SAMPLES].count(300) == SAMPLES:
            break
    part = results[WARM + 4:WARM + 2 * SAMPLES]
    assert any(a == b for a, b in zip(part, part[1:])) and any(a != b for a, b in zip(part, part[1:]))


def test_what_takes_long_is_measured_if_that_is_not_for_its_kernels():
    tried = against(50, 2000, limit=1)
    results = [tried.call() for _ in range(ENOUGH)]
    assert results[:WARM + 4] == [2000] * (WARM + 4) and 50 in results
    assert [lost for lost, _, _ in tried.verdicts] == [True]


def test_far_longer_calls_start_a_lost_timing_anew():
    tried = against(20, 200)
    while not tried.verdicts:
        tried.call()
    assert tried.timing.state == "lost"
    for _ in range(600):  # while nothing is gained only some calls ask
        tried.call(50)
    assert 2 <= len(tried.verdicts) <= 4


def test_calls_that_raise_are_not_measured():
    tried = against(50, 2000)
    for _ in range(3 * ENOUGH):
        with pytest.raises(TypeError):
            tried.call("a")
    assert tried.verdicts == [] and tried.timing.state == "measuring"


def test_calls_within_a_measured_call_run_as_it_does_and_are_not_measured():
    def f(depth):
        return [1000] + (call(depth - 1) if depth else [])

    tried = Tried(f, with_const(f.__code__, 1000, 2000))
    call = tried.call
    results = [call(5) for _ in range(ENOUGH)]
    assert all(len(result) == 6 and len(set(result)) == 1 for result in results)
    assert results[:WARM] == [[2000] * 6] * WARM and [1000] * 6 in results and len(tried.verdicts) == 1


@needs_hook
def test_frames_that_the_hook_takes_are_measured_too():
    f = spinning(50)
    cache = EntryCache(1)
    verdicts = []
    cache.add(GuardProgram([]), EntryTiming(with_const(f.__code__, 50, 2000), lambda *verdict: verdicts.append(verdict), 0))
    _hook.mark(f.__code__, cache, lambda *args: None)
    _hook.hold()
    try:
        results = [f() for _ in range(ENOUGH)]
    finally:
        _hook.release()
        _hook.unmark(f.__code__)
    assert results[:WARM] == [2000] * WARM and results[-1] == 50 and verdicts[0][0] is True


def test_an_error_of_on_verdict_is_reported_and_the_call_returns():
    seen = []
    f = spinning(50)

    def fails(*verdict):
        raise ValueError("planted")

    cache = EntryCache(1)
    cache.add(GuardProgram([]), EntryTiming(with_const(f.__code__, 50, 2000), fails, 0))
    _hook.mark(f.__code__, cache, lambda *args: None)
    call = JitFunction(f)
    _hook.set_error_handler(lambda code, error: seen.append(str(error)))
    try:
        results = [call() for _ in range(ENOUGH)]
    finally:
        _hook.set_error_handler(None)
    assert seen == ["planted"] and results[-1] == 50


@pytest.mark.parametrize("arguments, message", [
    ((None, print, 0), "payload must be a code object or an Entrance, not NoneType"),
    ((spin.__code__, 3, 0), "on_result must be callable, not int")])
def test_arguments_are_checked(arguments, message):
    with pytest.raises(TypeError, match=message):
        EntryTiming(*arguments)


def test_nothing_is_kept_alive():
    def run():
        for plain, compiled in ((50, 500), (500, 50)):
            tried = against(plain, compiled)
            for _ in range(ENOUGH):
                tried.call()
            _hook.unmark(tried.call.__code__)

    run()
    gc.collect()
    before = sys.getallocatedblocks()
    for _ in range(20):
        run()
    gc.collect()
    assert sys.getallocatedblocks() - before < 100


def plain(x):
    return x


def with_cells(x):
    y = x
    return [y for _ in (0,)][0]


def starred(x, *more):
    return x


@pytest.mark.parametrize("f", [plain, with_cells, starred])
def test_a_cache_in_which_all_entries_have_lost_is_seldom_asked(f):
    """In dispatch.c, and where the hook serves the frames; from CPython 3.11 on in dispatch.c alone."""
    cache, asked = EntryCache(3), []
    f = types.FunctionType(with_const(f.__code__, None, None), globals())
    cache.add(GuardProgram([IsType(Local(0, "x"), float)]), None)
    _hook.mark(f.__code__, cache, lambda *args: asked.append(args))
    call = JitFunction(f)
    for _ in range(100):
        assert call(2.0) == 2.0
    before = _hook.stats()["hits"]
    for _ in range(640):
        assert call(2.0) == 2.0
    assert _hook.stats()["hits"] - before == 10 and not asked
    for _ in range(64):
        assert call(3) == 3
    assert asked  # about other types it asks before long
    cache.add(GuardProgram([IsType(Local(0, "x"), int)]), f.__code__)
    for _ in range(200):
        call(2.0)
    before = _hook.stats()["hits"]
    for _ in range(64):
        call(2.0)
    assert _hook.stats()["hits"] - before == 64  # an entry is worth it
    _hook.unmark(f.__code__)


def test_a_function_may_go_while_the_hook_serves_its_call():
    box = []

    def f(*more):
        box.clear()
        return more

    box.append(JitFunction(f))
    _hook.mark(f.__code__, EntryCache(2), lambda *args: None)
    assert box[0](1, 2) == (1, 2) and not box
