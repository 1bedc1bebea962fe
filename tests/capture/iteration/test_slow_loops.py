"""Loops of linked code that are measured against bytecode while they run, and retired where they lose."""

import gc
import sys

import numpy as np
import pytest

import pijit
from pijit import jit
from pijit.core import loop_timing
from tests.harness import kernel_count

stay = gc.is_tracked
"""A call that stays bytecode."""
X = np.linspace(0.5, 1.5, 8)


def mixed(n, x):
    total = 0.0
    for i in range(n):
        total = total * 0.5 + x[i & 7] - x[(i + 3) & 7] / (x[i & 3] + 3.0) + x[i & 1] * x[(i + 2) & 7]
        stay(0)
    return total


def after_a_loop_that_loses(n, x):
    total = mixed_inline = 0.0
    for i in range(n):
        mixed_inline = mixed_inline * 0.5 + x[i & 7] * 2.0 - x[(i + 1) & 7]
        stay(0)
    for i in range(n):
        total += x[i & 7] * x[(i + 1) & 7]
    return mixed_inline, total


@pytest.fixture
def slow_kernels(monkeypatch):
    """Makes verdicts that of kernels that lost."""
    real = loop_timing._report_result

    def losing(state, kernels):
        tell = real(state, kernels)
        return lambda lost, compiled, plain: tell(True, 2000, 1000)
    monkeypatch.setattr(loop_timing, "_report_result", losing)


def timings(f):
    return [launcher.timing for entry in f.state.entries for launcher in entry.launchers if launcher.timing is not None]


def test_a_loop_that_wins_keeps_its_kernels(measured):
    f = jit(mixed)
    for _ in range(3):
        assert f(20000, X) == mixed(20000, X)
    assert kernel_count(f) >= 1 and not timings(f) and not f.state.slow
    launcher = f.state.entries[-1].launchers[-1]
    assert launcher.calls > launcher.misses > 0


def test_a_loop_that_lost_is_linked_without_its_kernels(measured, slow_kernels):
    f = jit(mixed)
    for n in (20000, 10, 20000):
        assert f(n, X) == mixed(n, X)
    assert kernel_count(f) == 0
    report = pijit.explain(f)
    assert "PJ402 measured slower than bytecode (compiled: 2.00 us, bytecode: 1.00 us)" in str(report)


def test_other_loops_keep_their_kernels(measured, slow_kernels):
    f = jit(after_a_loop_that_loses)
    for n in (20000, 10, 20000):
        assert f(n, X) == after_a_loop_that_loses(n, X)
    assert kernel_count(f) >= 1
    assert any(launcher.calls > launcher.misses for launcher in f.state.entries[-1].launchers)


def bits(numbers):
    s = 0
    for i in range(len(numbers)):
        s += numbers[i] & 7
    return s


def is_tried(numbers):
    """Whether bytecode has its turn."""
    f, expected = jit(pijit.differential.plain_twin(bits)), bits(numbers)
    assert [f(numbers) for _ in range(60)] == [expected] * 60
    return f.state.entries[-1].launchers[0].calls < 59


def test_long_calls_are_measured_where_kernels_are_left_all_the_time(measured):
    numbers = [i | i % 2 << 64 for i in range(30000)]
    # One call tells what part of it kernels are; where another process had the core just then, that is wrong.
    assert any(is_tried(numbers) for _ in range(5))


def test_long_calls_are_not_measured_where_kernels_are_most_of_them(measured):
    assert not all(is_tried(list(range(1000000))) for _ in range(5))


@pytest.mark.parametrize("config", [{"perf_statistics": False}, {"backend": "python"}])
def test_nothing_is_measured_unless_asked(measured, config):
    f = jit(mixed, jit_config=config)
    for n in (10, 10):
        assert f(n, X) == mixed(n, X) and kernel_count(f) >= 1 and not timings(f)
    default = jit(mixed)
    for n in (10, 10):
        default(n, X)
    assert {timing.state for timing in timings(default)} == {"waiting"}


def test_clearing_forgets_verdicts(measured, slow_kernels):
    f = jit(mixed)
    f(20000, X)
    assert f.state.slow
    f.cache_clear()
    assert not f.state.slow


def test_nothing_is_kept_by_timings(measured):
    def round_trip():
        f = jit(pijit.differential.plain_twin(mixed))
        f(3000, X)

    for _ in range(3):
        round_trip()
    gc.collect()
    before, kernels = len(gc.get_objects()), sys.getrefcount(loop_timing.LoopTiming)
    for _ in range(5):
        round_trip()
    gc.collect()
    assert len(gc.get_objects()) - before < 50 and sys.getrefcount(loop_timing.LoopTiming) <= kernels + 1
