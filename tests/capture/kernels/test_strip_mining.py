"""Loops that count are cut into strips, which are polled once each."""

import sys

import numpy as np
import pytest

import pijit
from pijit.core.graph.passes import recorded
from tests.harness import check, fail_unless_captured

X = np.linspace(-2.0, 3.0, 5000)


def first_apart(x):
    """The first rounds have a version of their own, as ``s`` becomes a float64."""
    s = t = 0.0
    for i in range(len(x)):
        s = 0.5 * s + x[i]
        if s > 0.0:
            t += s
    return t


def over_items(x):
    best = x[0]
    for value in x[1:]:
        best = max(best, value)
    return best


def over_pairs(x):
    s = 0.0
    for i, value in enumerate(x):
        s += value * i
    return s


def counted_by_hand(x):
    s, i = 0.0, 0
    while i < len(x):
        s += x[i]
        i += 1
    return s


def nested(x):
    s = 0.0
    for i in range(4):
        for value in x:
            s += value * i
    return s


JUMPS_BACK = sys.version_info >= (3, 12)
"""Conditional jumps lead forwards only, so that a while loop ends in a jump to its header, as a for loop does."""
CASES = [(first_apart, True), (over_items, True), (over_pairs, True), (counted_by_hand, JUMPS_BACK),
         (nested, True)]
NAMES = [case[0].__name__ for case in CASES]


@pytest.mark.parametrize("f, cut", CASES, ids=NAMES)
def test_which_are_cut(f, cut):
    with recorded() as stages:
        pijit.jit(f, jit_config={"backend": "python"})(X[:50])
    found = [stage.name for stage in next(iter(stages.values()))]
    assert ("after strip_mining" in found) is cut


@pytest.mark.parametrize("backend", ["python", "numba"])
@pytest.mark.parametrize("f", [case[0] for case in CASES], ids=NAMES)
@fail_unless_captured()
def test_same_answers(f, backend):
    check(f, X, others=[(X[:1],), (X[:1024],), (X[:1026],), (X[::2],)], config={"backend": backend})


def test_loop_behind_a_loop_that_was_cut():
    """The end of one loop leads to the header of another, which has versions: it is the strips' there too."""
    def f(x, s, more):
        for i in range(3):
            if more:
                for s, s in np.stack((x, x), 1):
                    x = x
                for i in range(len(x)):
                    pass
        return x, s, i

    with fail_unless_captured():
        check(f, np.arange(7.0), 0.5, True, others=[(np.arange(7.0), 0.5, False)], calls=4)
