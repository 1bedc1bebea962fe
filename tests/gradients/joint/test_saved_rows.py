"""Which arrays a loop saves for its backward part, with the tape's bits: first versions, last versions, or both."""

import re

import numpy as np
import pytest

from pijit.core.graph.reverse import checkpoints
from pijit.core.pythons import why_not_python
from tests.gradients.joint.joint_gradient import Gradient

pytestmark = pytest.mark.skipif(why_not_python() is not None, reason="nothing is compiled here")

R = np.random.RandomState(5)
X, Y = R.uniform(0.2, 1.1, 23), R.uniform(-1.0, 1.0, 23)


def cubic_leapfrog(x, y, steps):
    u, v = x.copy(), y.copy()
    for _ in range(steps):
        u += 0.01 * v
        v -= 0.01 * u * u * u
    return (u * v).sum()


def last_of_several(x, y, steps):
    u, v = x.copy(), y.copy()
    for _ in range(steps):
        u += 0.01 * v
        u[1:] -= 0.02 * v[:-1]
        v -= 0.01 * u * u
    return (u * v).sum()


def first_and_last(x, y, steps):
    u, v = x.copy(), y.copy()
    for _ in range(steps):
        v += u * u
        u *= 0.5
        v -= 0.01 * u * u * u
    return (u * v).sum()


def overwritten(x, y, steps):
    u, v = x.copy(), y.copy()
    for _ in range(steps):
        u[:] = np.sin(v)
        v *= 0.9 + 0.1 * u
    return (u * v).sum()


def in_a_branch(x, y, steps):
    u, v = x.copy(), y.copy()
    for k in range(steps):
        if k % 2 == 0:
            u += 0.01 * v
        v -= 0.01 * u * u * u
    return (u * v).sum()


def in_an_inner_loop(x, y, steps):
    u, v = x.copy(), y.copy()
    for _ in range(steps):
        for _ in range(2):
            u += 0.1 * np.sin(v)
            v *= 0.95
        v -= 0.01 * u * u * u
    return (u * v).sum()


def in_parts(x, y, steps):
    u, v = x.copy(), y.copy()
    for _ in range(steps):
        u[1:-1] += 0.1 * (v[2:] - v[:-2])
        v[1:-1] -= 0.1 * u[1:-1] * (u[2:] - u[:-2])
    return (u * v).sum()


def until_small(x, y, steps):
    u, v, k = x.copy(), y.copy(), 0
    while True:
        u += 0.01 * v
        v -= 0.01 * u * u * u
        k += 1
        if k >= steps:
            break
    return (u * v).sum()


PROGRAMS = [(cubic_leapfrog, "u"), (last_of_several, "u"), (first_and_last, "u"), (overwritten, None), (in_a_branch, "u"),
            (in_an_inner_loop, None), (in_parts, "u"), (until_small, "u")]


def saved(source):
    """The arrays of rows that a joint function allocates."""
    return set(re.findall(r"^ *(s\d+_\d+) = empty", source, re.MULTILINE))


@pytest.mark.parametrize("f, array", PROGRAMS)
def test_bits_are_the_tapes_and_few_rows_are_saved(f, array):
    gradient = Gradient(f, (0, 1)).warm(X, Y, 4)
    for steps in (4, 1, 2, 7):
        assert gradient.compare(X, Y, steps), gradient.why
    assert gradient.compare(X[:5].copy(), Y[:5].copy(), 3), gradient.why
    if array is not None:
        assert len(saved(gradient.f._kernels.entries[0].source)) == 1


def test_checkpoints_save_the_same_rows(monkeypatch):
    monkeypatch.setattr(checkpoints, "KEPT", 1)
    monkeypatch.setattr(checkpoints, "KEPT_OF_CHEAP", 1)
    gradient = Gradient(last_of_several, (0, 1)).warm(X, Y, 10)
    for steps in (10, 3, 17):
        assert gradient.compare(X, Y, steps), gradient.why
    assert gradient.f._kernels.entries[0].larger
