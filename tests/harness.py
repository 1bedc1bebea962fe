"""What every test of captured code uses: `check`, `same`, `fail_unless_captured`, `assert_calls`, and run modes.

A run of the suite has a mode, set by the environment: PIJIT_TEST_BACKEND (numba or python) and
    PIJIT_TEST_FORCE_BREAKS (every). They become options of each function that a test jits through this file,
    unless the test sets the option itself.
"""

import contextlib
import os

import numpy as np
import pytest

import pijit

MISS, HIT = "miss", "hit"

MODES = {"backend": "PIJIT_TEST_BACKEND", "force_breaks": "PIJIT_TEST_FORCE_BREAKS"}

_watchers = []


def mode_config(config=None):
    """A jit_config with the options of this run's mode and, above them, those of the test."""
    modes = {key: os.environ[variable] for key, variable in MODES.items() if os.environ.get(variable)}
    return dict(modes, **(config or {}))


def jitted(f, config=None):
    """`pijit.jit` under this run's mode; watched by `fail_unless_captured`."""
    return _watched(pijit.jit(f, jit_config=mode_config(config)))


def check(f, *args, calls=3, config=None, others=(), aliased=(), **kwargs):
    """`pijit.check` under this run's mode, and once more for each of `aliased`.

    Args:
        f: the function.
        *args, **kwargs: its arguments.
        calls, config, others: see `pijit.check`.
        aliased: tuples of positional arguments that share memory or objects with each other. Each also gets a
            jitted function of its own, because code that was captured for aliased arguments is not the code
            that was captured for others.

    Returns:
        The jitted function of the first check.
    """
    config = mode_config(config)
    others = tuple(others) + tuple(aliased)
    first = _watched(pijit.check(f, *args, calls=calls, config=config, others=others, **kwargs))
    for one in aliased:
        _watched(pijit.check(f, *one, calls=calls, config=config, others=[args], **kwargs))
    return first


def _watched(f):
    for watcher in _watchers:
        watcher.append(f)
    return f


def same(wanted, got):
    """Fail if two results differ in type, dtype or bits."""
    assert type(got) is type(wanted)
    if isinstance(wanted, (list, tuple)):
        assert len(got) == len(wanted)
        for one, other in zip(wanted, got):
            same(one, other)
    elif isinstance(wanted, (np.ndarray, np.generic, float)) and np.asarray(wanted).dtype.kind != "O":
        one, other = np.asarray(wanted), np.asarray(got)
        assert (one.dtype, one.shape, one.tobytes()) == (other.dtype, other.shape, other.tobytes()), (one, other)
    else:
        assert np.all(got == wanted)


def assert_nothing_breaks(f, *args, one_segment=True):
    """Fail unless the whole function is one segment; or, if more are allowed, there is a kernel and no break."""
    report = pijit.explain(pijit.jit(f, jit_config={"backend": "python"}), *args)
    assert report.kernels and not report.breaks and (not one_segment or len(report.segments) == 1), str(report)


def same_answers(cases, config=None):
    """A test of (function, arguments, other argument lists): each behaves the same with pijit."""
    @pytest.mark.parametrize("f, args, others", cases, ids=[case[0].__name__ for case in cases])
    def test(f, args, others):
        check(f, *args, others=others, config=config)
    return test


def nothing_breaks(cases):
    """A test of such cases: with their arguments, nothing of the functions stays bytecode."""
    @pytest.mark.parametrize("f, args", [case[:2] for case in cases], ids=[case[0].__name__ for case in cases])
    def test(f, args):
        assert_nothing_breaks(f, *args, one_segment=False)
    return test


def kernel_count(f):
    """The number of kernels in the entry of `f` that has most."""
    counts = [sum(segment.kind == "kernel" for segment in entry.reports.segments) for entry in f.state.entries]
    return max(counts + [0])


@contextlib.contextmanager
def fail_unless_captured(min_kernels=1):
    """Fails if a function that is jitted or checked inside has fewer kernels; also a decorator of tests.

    A test in which nothing is jitted fails too.
    """
    watcher = []
    _watchers.append(watcher)
    try:
        yield watcher
    finally:
        _watchers[:] = [other for other in _watchers if other is not watcher]
    assert watcher, "nothing was jitted through tests/harness.py"
    for f in watcher:
        assert kernel_count(f) >= min_kernels, "{} kernels wanted\n{}".format(min_kernels, pijit.explain(f))


def calls_of(f, args_list):
    """MISS or HIT for each call of `f` with each tuple of arguments in turn."""
    seen = []
    for args in args_list:
        before = f.cache_info()
        f(*args)
        after = f.cache_info()
        asked = after.hits + after.misses - before.hits - before.misses
        assert asked == 1, "the call did not reach the entry cache once"
        seen.append(HIT if after.hits > before.hits else MISS)
    return seen


def assert_calls(f, expected, args_list):
    """Call a jitted function with each tuple of arguments; `expected` says for each: MISS or HIT."""
    assert calls_of(f, args_list) == list(expected)
