"""Segments behind calls whose results change their kind: captured again, bounded, and old and new variants serve."""

import operator

import numpy as np
import pytest

from tests.harness import jitted, kernel_count

RESULT = []


FIRST = operator.methodcaller("__getitem__", 0)


def behind(x):
    factor = FIRST(RESULT)
    y = x * factor + 1.0
    return y - factor


X = np.arange(5.0)
INT, ARRAY, FLOAT, ROW, WORD = 3, np.arange(5.0) + 1.0, 2.5, np.float32(1.5), "no number"


def run(f, value, times=1):
    """What the function gives where the call in it gives ``value``, and how many of its kernels served."""
    RESULT[:] = [value]
    for _ in range(times):
        before = served(f)
        try:
            answer = f(X).tolist()
        except Exception as error:
            answer = type(error), str(error)
    return answer, served(f) - before


def served(f):
    launchers = [launcher for entry in f.state.entries for launcher in entry.launchers]
    return sum(launcher.calls - launcher.misses for launcher in launchers)


def plain(value):
    RESULT[:] = [value]
    return behind(X).tolist()


def agrees(f, value, times, kernels=None):
    found, count = run(f, value, times)
    assert found == plain(value)
    assert kernels is None or count >= kernels


def test_another_kind_is_captured_as_well():
    f = jitted(behind)
    agrees(f, INT, 4, 1)
    agrees(f, ARRAY, 6, 1)
    agrees(f, INT, 1, 1)
    agrees(f, ARRAY, 1, 1)
    before = f.cache_info()
    for value in (INT, ARRAY) * 4:
        agrees(f, value, 1, 1)
    assert f.cache_info().misses == before.misses
    assert any("PJ305" in why for why in f.state.recompiles)


def test_kinds_of_one_run_are_all_captured():
    def f(x, values):
        total = 0.0
        for value in values:
            part = FIRST((value,))
            total = total + (x * part).sum() + 1.0
        return total

    def agree(values):
        assert g(X, values) == f(X, values)

    g = jitted(f)
    mixed = [INT, ARRAY] * 3
    for _ in range(4):
        agree(mixed)
    before = served(g)
    agree([INT])
    agree([ARRAY])
    assert served(g) > before


def test_it_is_bounded():
    f = jitted(behind)
    agrees(f, INT, 4)
    kinds = [np.ones(5, code) for code in "fdhilq"] + [np.ones((5, 1, 1)), FLOAT, ROW, np.ones(1), 2 ** 70]
    for value in kinds:
        agrees(f, value, 8)
    misses = f.cache_info().misses
    assert misses < 24 and len(f.state.entries) == 1
    for value in kinds:
        agrees(f, value, 4)
    assert f.cache_info().misses == misses
    assert kernel_count(f) < 32


def test_errors_between():
    f = jitted(behind)
    agrees(f, INT, 3)
    for _ in range(4):
        with pytest.raises(Exception) as plainly:
            plain(WORD)
        assert run(f, WORD)[0] == (plainly.type, str(plainly.value))
    agrees(f, ARRAY, 6, 1)
    agrees(f, INT, 2, 1)


class Box:
    def __init__(self):
        self.scale = 2.0


BOX = Box()
NEXT = []


class Swapped:
    """Has a method of Python's that C code calls."""

    def __repr__(self):
        if NEXT:
            BOX.scale = NEXT[0]
        return ""


SWAP, SWAPPED = operator.methodcaller("__repr__"), Swapped()


def changed_between(x):
    y = x * BOX.scale
    SWAP(SWAPPED)
    return y * 2.0 + BOX.scale


def test_what_a_call_replaces():
    f = jitted(changed_between)
    for value in (2.0, 3, X, 2.0, np.float32(1.0)):
        for _ in range(5):
            BOX.scale, NEXT[:] = 2.0, [value]
            found = f(X).tolist()
            BOX.scale = 2.0
            assert found == changed_between(X).tolist()
    NEXT[:] = []
