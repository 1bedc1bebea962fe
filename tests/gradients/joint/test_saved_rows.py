"""Which arrays a loop saves for its backward part, with the tape's bits: first versions, last versions, or both."""

import re

import numpy as np
import pytest

import pijit
from pijit.core.graph.reverse.rows import limits
from pijit.core.pythons import why_not_python
from tests.capture.scalars.test_scalars import define
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


def midpoint(x, y, steps):
    u, t = x, 0.0
    for _ in range(steps):
        half = u + 0.05 * (t - u * y)
        u = u + 0.1 * (t * t - half * half * y)
        t = t + 0.1
    return (u * u).sum()


def two_arrays(x, y, steps):
    u, v = x * 1.5, y
    for _ in range(steps):
        u, v = u + 0.1 * v * u, v - 0.1 * u * v
    return (u * v).sum()


def kept_before(x, y, steps):
    u, before = x, y
    for _ in range(steps):
        u, before = u * 0.9 + before * before * 0.1, u
    return (u * before).sum()


def parts_of_rows(x, y, steps):
    u = x
    for _ in range(steps):
        v = u * y
        u = v + 0.1 * u * u
        v[1:] += u[:-1] * u[1:]
        u = u - v * u
    return u.sum()


ROWS = [(midpoint, 1), (two_arrays, 2), (kept_before, 0), (parts_of_rows, 1)]
"""Programs, and the number of arrays that an iteration computes into the next row."""

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


@pytest.mark.parametrize("f, count, dtype", [(*row, np.float64) for row in ROWS] + [
    (*row, np.float32) for row in ROWS if row[0] is not midpoint])  # NumPy 1 looks at the value of its number t
def test_iterations_compute_into_the_next_row(f, count, dtype):
    x, y = X.astype(dtype), Y.astype(dtype)
    gradient = Gradient(f, (0, 1)).warm(x, y, 4)
    for steps in (4, 1, 2, 7):
        assert gradient.compare(x, y, steps), gradient.why
    assert gradient.compare(x[:5].copy(), y[:5].copy(), 3), gradient.why
    source = gradient.f._kernels.entries[0].source
    assert len(re.findall(r"^ *s\d+_\d+\[v\d+ \+ 1\] = ", source, re.MULTILINE)) == count


def test_rows_of_matrices_and_results():
    def f(u, w, steps):
        for _ in range(steps):
            u = u + 0.1 * w * u
        return (u * u).sum(), u

    x, w = X[:20].reshape(4, 5), Y[:5].copy()
    gradient = pijit.value_and_grad(f, (0, 1), has_aux=True)
    for steps in (3, 3, 3, 3, 1, 2):
        (value, u), gradients = gradient(x, w, steps)
        tape = pijit.value_and_grad(f, (0, 1), has_aux=True)
        (wanted, other), others = tape(x, w, steps)
        assert value == wanted and u.base is None and np.array_equal(u, other)
        assert all(map(np.array_equal, gradients, others))


def test_flags_in_rows_are_reported():
    def f(u, y, steps):
        for _ in range(steps):
            u = u * u + y
        return u.sum()

    gradient = Gradient(f, (0, 1)).warm(X, Y, 4)
    large = X.copy()
    large[3] = 1e100
    with pytest.warns(RuntimeWarning, match="overflow"):
        gradient.f(large, Y, 4)


def test_flags_that_an_update_in_place_ignores():
    def f(u, y, steps):
        u = u.copy()
        for _ in range(steps):
            with np.errstate(over="ignore"):
                u *= u
        return (u * y).sum()

    gradient = Gradient(f, (0, 1)).warm(X, Y, 4)
    large = X.copy()
    large[3] = 1e100
    with np.errstate(all="raise", under="ignore"):
        assert gradient.f(large, Y, 4)[0] == f(large, Y, 4) and gradient.why == ""


def test_checkpoints_save_the_same_rows(monkeypatch):
    monkeypatch.setattr(limits, "KEPT", 1)
    monkeypatch.setattr(limits, "KEPT_OF_CHEAP", 1)
    gradient = Gradient(last_of_several, (0, 1)).warm(X, Y, 10)
    for steps in (10, 3, 17):
        assert gradient.compare(X, Y, steps), gradient.why
    assert gradient.f._kernels.entries[0].larger


STENCILS = {
    "one end": "u[1:] = u[1:] - 0.1 * u[1:] * (u[1:] - u[:-1])",
    "the other end": "u[:-1] += 0.1 * u[1:] * u[:-1]",
    "both ends": "u[1:-1] *= 1.0 + 0.1 * (u[2:] - u[:-2])",
    "several elements": "u[3:-2] = u[3:-2] * u[:-5] + 0.1 * u[5:]",
    "a full slice": "u[:] = u * u * 0.5",
    "two parts": "u[1:] = u[1:] * u[:-1]; u[:-1] += u[1:] * u[1:]",
    "a number": "u[1:-1] = 0.5; u[1:] *= u[:-1]",
    "every other one": "u[1::2] *= u[::2][:len(u) // 2]",
    "an end that is computed": "u[len(u) // 2:] *= 1.1 * u[:len(u) - len(u) // 2]",
    "a broadcast row": "u[1:] *= u[:1]",
}


@pytest.mark.parametrize("name", STENCILS)
def test_stores_that_leave_out_ends(name):
    f = define("def f(u, y, steps):\n    u = u.copy()\n    for _ in range(steps):\n        %s\n    return (u * y).sum()" % (
        STENCILS[name]))
    gradient = Gradient(f, (0, 1)).warm(X, Y, 10)
    for steps in (10, 1, 17):
        assert gradient.compare(X, Y, steps), gradient.why
    for size in (12, 7, 6, 5, 4, 3, 2, 1):
        gradient.compare(X[:size], Y[:size], 6)


@pytest.mark.parametrize("store", ["a[1:-1, 1:] = a[1:-1, 1:] * a[:-2, :-1] * 0.5", "a[:, 2:-1] *= a[:, :-3] + a[:, 3:]",
                                   "a[1:] = a[1:] * a[:-1]", "a[1:-1, 1:-1] += 0.1 * a[2:, 1:-1] * a[1:-1, 2:]"])
def test_stores_that_leave_out_ends_of_several_axes(store):
    f = define("def f(a, b, steps):\n    a = a.copy()\n    for _ in range(steps):\n        %s\n"
               "    return (a * b).sum()" % store)
    a, b = np.tile(X, 3)[:66].reshape(6, 11) * 0.9, np.tile(Y, 3)[:66].reshape(6, 11)
    gradient = Gradient(f, (0, 1)).warm(a, b, 6)
    for steps in (6, 1, 9):
        assert gradient.compare(a, b, steps), gradient.why
    gradient.compare(a[:2, :2].copy(), b[:2, :2].copy(), 6)
    gradient.compare(a[:1], b[:1], 6)
