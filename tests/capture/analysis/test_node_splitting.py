"""Loops whose first iteration has other types and goes on in the middle of the next one: node splitting."""

import numpy as np
import pytest

from pijit.core.capture.analysis import regions
from pijit.differential import plain_twin
from tests.harness import jitted

X = np.linspace(-1.0, 2.0, 7)


def tail_after_branch(x, n):
    s = 0.0
    t = 1
    for i in range(n):
        s = s * 0.9 + x[i % 7]
        if i % 2 == 0:
            s = s * 1.1
        t = t + i
    return s, t


def taken_late(x, n):
    s = 0.0
    t = 0
    for i in range(n):
        if x[i % 7] > 0.4:
            s = s + x[i % 7]
        t = t + 2 * i
    return s, t


def several_branches(x, n):
    s = 1.0
    for i in range(n):
        s = s * x[i % 7]
        if i % 3 == 0:
            s = s + 1.0
        elif s > 4.0:
            s = s - 4.0
        if s < -2.0:
            s = -s
        s = s * 0.5
    return s


def by_while(x, n):
    s, i = 0.0, 0
    while i < n:
        s = s + x[i % 7]
        if s > 1.0:
            s = s - 1.0
        i = i + 1
    return s, i


def with_break(x, n):
    s = 0.0
    for i in range(n):
        s = s + x[i % 7]
        if i % 2 == 1:
            if s > 3.0:
                break
            s = s * 1.01
        s = s + 0.5
    return s, i


def nested(x, n):
    s = 0.0
    for i in range(n):
        t = 0.0
        for k in range(3):
            t = t + x[(i + k) % 7]
            if t > 1.0:
                t = t * 0.5
            t = t - 0.1
        if i % 2 == 0:
            s = s + t
        s = s * 0.9
    return s


CASES = [tail_after_branch, taken_late, several_branches, by_while, with_break, nested]


def bits(found):
    return [(type(one), np.float64(one).tobytes()) for one in (found if isinstance(found, tuple) else (found,))]


def compare(f, plain):
    for n in (1, 2, 3, 7, 40, 5):
        assert bits(f(X, n)) == bits(plain(X, n)), n


@pytest.mark.parametrize("plain", CASES, ids=lambda one: one.__name__)
def test_results_are_pythons(plain):
    compare(jitted(plain_twin(plain)), plain)


@pytest.mark.parametrize("plain", CASES, ids=lambda one: one.__name__)
def test_the_function_is_one_kernel(plain):
    f = jitted(plain_twin(plain), {"force_breaks": None})
    for _ in range(4):
        f(X, 40)
    assert len(f.state.entries[-1].launchers) == 1


@pytest.mark.parametrize("plain", CASES, ids=lambda one: one.__name__)
def test_loops_with_much_code_stay_as_they_are(plain, monkeypatch):
    monkeypatch.setattr(regions, "MOST_COPIED", 0)
    compare(jitted(plain_twin(plain)), plain)
