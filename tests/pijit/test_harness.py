"""The harness: what it passes on, and that its assertions can fail."""

import collections
import pathlib
import types

import numpy as np
import pytest

import pijit
from tests import harness
from tests.harness import HIT, MISS, assert_calls, calls_of, check, fail_unless_captured, jitted, kernel_count


class Fake:
    """Looks like a jitted function with these kernels per entry, whose calls hit or miss as told."""

    def __init__(self, kernels=(), outcomes=()):
        kernel = types.SimpleNamespace(kind="kernel")
        bytecode = types.SimpleNamespace(kind="bytecode")
        reports = [types.SimpleNamespace(segments=[bytecode] + [kernel] * count) for count in kernels]
        entries = [types.SimpleNamespace(reports=one) for one in reports]
        self.state = types.SimpleNamespace(entries=entries)
        self._outcomes, self._hits, self._misses = list(outcomes), 0, 0

    def __call__(self, *args):
        outcome = self._outcomes.pop(0)
        self._hits += outcome == HIT
        self._misses += outcome == MISS

    def cache_info(self):
        return types.SimpleNamespace(hits=self._hits, misses=self._misses)


def test_no_two_test_files_share_a_name():
    """Folders of tests are no packages, so pytest could not import both in one run."""
    names = collections.Counter(path.name for path in pathlib.Path(harness.__file__).parent.rglob("test_*.py"))
    assert [name for name, count in names.items() if count > 1] == []


def test_kernel_count():
    assert kernel_count(Fake()) == 0 and kernel_count(Fake([1, 3, 2])) == 3


def test_calls_of():
    assert calls_of(Fake(outcomes=[MISS, HIT, MISS]), [(), (), ()]) == [MISS, HIT, MISS]
    assert_calls(Fake(outcomes=[MISS, HIT]), [MISS, HIT], [(), ()])
    with pytest.raises(AssertionError):
        assert_calls(Fake(outcomes=[MISS, MISS]), [MISS, HIT], [(), ()])
    with pytest.raises(AssertionError, match="did not reach the entry cache"):
        calls_of(Fake(outcomes=["nothing"]), [()])


def test_fail_unless_captured(monkeypatch):
    monkeypatch.setattr(pijit, "explain", lambda f: "the report")
    with pytest.raises(AssertionError, match="nothing was jitted"):
        with fail_unless_captured():
            pass
    with fail_unless_captured(min_kernels=2):
        harness._watched(Fake([2]))
    with pytest.raises(AssertionError, match="2 kernels wanted\nthe report"):
        with fail_unless_captured(min_kernels=2):
            harness._watched(Fake([2]))
            harness._watched(Fake([1]))

    @fail_unless_captured()
    def nothing_captured():
        harness._watched(Fake([]))

    with pytest.raises(AssertionError):
        nothing_captured()
    assert harness._watchers == []


def test_fail_unless_captured_lets_errors_through():
    with pytest.raises(KeyError):
        with fail_unless_captured():
            raise KeyError


def test_modes(monkeypatch):
    monkeypatch.delenv("PIJIT_TEST_BACKEND", raising=False)
    monkeypatch.delenv("PIJIT_TEST_FORCE_BREAKS", raising=False)
    assert harness.mode_config() == {}
    monkeypatch.setenv("PIJIT_TEST_BACKEND", "python")
    monkeypatch.setenv("PIJIT_TEST_FORCE_BREAKS", "every")
    assert harness.mode_config({"cache_limit": 2, "backend": "numba"}) == {
        "backend": "numba", "force_breaks": "every", "cache_limit": 2}


def step(x, y):
    y[:] = x * 2.0 + 1.0
    return y


def test_check_on_a_captured_function():
    x = np.ones(1000)
    with fail_unless_captured():
        f = check(step, x, np.zeros(1000),
                  others=[(x.astype(np.float32), np.zeros(1000)), (x, np.zeros(1000, np.float32))],
                  aliased=[(x, x), (x[1:], x[:-1])])
    assert f.py_func is not step and not isinstance(step, type(f))
    assert (x == 1.0).all()


def test_check_accepts_methods_and_jitted_functions():
    class Model:
        def __init__(self):
            self.w = np.ones(10)

        def scaled(self, x):
            self.w *= 2.0
            return self.w * x

    model = Model()
    check(model.scaled, np.ones(10))
    assert (model.w == 1.0).all()
    check(jitted(step), np.ones(10), np.zeros(10))
    with pytest.raises(TypeError, match="check: f must be"):
        check(len, [])


def test_first_call_misses_and_the_next_hits():
    f = jitted(step)
    x, single = np.ones(1000), np.ones(1000, np.float32)
    assert_calls(f, [MISS, HIT, MISS, HIT, HIT], [(x, x), (x, x), (single, single), (single, single), (x, x)])
