"""Checkpoints: gradients of loops with checkpoints have the tape's bits, and stay within their limits of memory."""

import numpy as np
import pytest

import pijit
from pijit import gradient_kernels
from pijit.core.graph.reverse.rows import limits
from pijit.core.pythons import why_not_python
from tests.gradients.joint import test_joint_loops as loops
from tests.gradients.joint.joint_gradient import Gradient, is_kernel

pytestmark = pytest.mark.skipif(why_not_python() is not None, reason="nothing is compiled here")
SAVES_NOTHING = {"heat", "wave", "squares", "last_only", "rows", "elements", "rewritten"}
"""Functions whose gradient needs no saved rows, so that the limit does not matter."""

VARIED = {"burgers", "leapfrog", "runge_kutta", "network", "nested", "swapped", "two_loops", "horner"}
"""Functions with all kinds of state: arrays and numbers, stored into and carried, one and several."""


@pytest.fixture(autouse=True)
def nothing_is_kept(monkeypatch):
    """All loops that would save rows have checkpoints."""
    monkeypatch.setattr(limits, "KEPT", 1)
    monkeypatch.setattr(limits, "KEPT_OF_CHEAP", 1)


def entry_of(gradient):
    return gradient.f._kernels.entries[0]


@pytest.mark.parametrize("f, argnums, args", loops.CASES, ids=lambda one: getattr(one, "__name__", ""))
def test_bits_are_the_tapes(f, argnums, args):
    gradient = Gradient(f, argnums).warm(*args)
    for steps in (5, 1, 2, 3, 9, 10, 17):
        changed = args[:-1] + (steps,) if type(args[-1]) is int else args
        assert gradient.compare(*changed) or steps < 5, gradient.why
    larger = entry_of(gradient).larger
    assert (not larger) == (f.__name__ in SAVES_NOTHING)
    for function in (larger[0].function, larger[0].backward) if larger else ():
        assert is_kernel(function)


def spring(x0, v0, steps):
    x, v, t = x0.copy(), v0, 0.0
    for _ in range(steps):
        v = v - 0.01 * x * x * (1.0 + t)
        x[1:] += 0.01 * v[:-1] * x[:-1]
        t += 0.25
    return (x * v).sum() * t


def matrix_steps(x, w, steps):
    for _ in range(steps):
        for k in range(2):
            x = np.tanh(w @ x) + x * k
    return x.sum()


@pytest.mark.parametrize("f, args", [(spring, (loops.X, loops.Y)), (matrix_steps, (loops.X[:5].copy(), loops.W))])
@pytest.mark.parametrize("steps", [1, 2, 30])
def test_arrays_and_numbers_are_state(f, args, steps):
    gradient = Gradient(f, (0, 1)).warm(*args, steps)
    for _ in range(2):
        assert gradient.compare(*args, steps), gradient.why
    assert len(entry_of(gradient).larger) == 1 and entry_of(gradient).larger[0].function is not None


def elsewhere(x, steps):
    w, u = x * 2.0, x * x
    for _ in range(steps):
        u = u * w + u * u
    w[1:] = 0.0
    return u.sum() + w.sum()


def test_loops_that_read_arrays_which_are_stored_into_afterwards_use_the_tape():
    gradient = Gradient(elsewhere, 0).warm(loops.X, 4)
    assert not gradient.compare(loops.X, 4)
    assert entry_of(gradient).larger[0].function is None and "stores write to afterwards" in gradient.why


def test_small_calls_still_save_all_iterations(monkeypatch):
    monkeypatch.setattr(limits, "KEPT_OF_CHEAP", 8 * 23 * 10)
    gradient = Gradient(loops.burgers, 0).warm(loops.X, 5)
    assert gradient.compare(loops.X, 5) and not entry_of(gradient).larger
    assert gradient.compare(loops.X, 50) and len(entry_of(gradient).larger) == 1
    assert gradient.compare(loops.X, 5), gradient.why


@pytest.mark.parametrize("rows, levels", [(60, 2), (30, 3)])
def test_a_limit_below_the_rows_of_all_iterations_is_kept(rows, levels):
    n, steps = 500, 400
    x = np.linspace(0.1, 1.0, n)
    gradient = pijit.value_and_grad(loops.burgers, tape_limit=8 * n * rows)
    whole = pijit.value_and_grad(loops.burgers)
    for _ in range(4):
        gradient(x, 3), whole(x, 3)
    value, g = gradient(x, steps)
    assert gradient._kernels.why == "" and len(gradient._kernels.entries[0].larger) == levels - 1
    assert value == whole(x, steps)[0] and g.tobytes() == whole._run((x, steps), {}).gradients[0].tobytes()


def test_a_limit_below_the_tape_of_a_first_call_is_kept():
    """The tape keeps each intermediate array, and a kernel only rows; so a kernel runs the first call, too."""
    x = np.linspace(0.1, 1.0, 500)
    gradient = pijit.value_and_grad(loops.burgers, tape_limit=8 * 500 * 60)
    value, g = gradient(x, 400)
    whole = pijit.value_and_grad(loops.burgers)(x, 400)
    assert value == whole[0] and g.tobytes() == whole[1].tobytes()


@pytest.mark.parametrize("f, argnums, args", [case for case in loops.CASES if case[0].__name__ in VARIED],
                         ids=lambda one: getattr(one, "__name__", ""))
def test_three_levels_have_the_bits_of_the_tape(f, argnums, args, monkeypatch):
    monkeypatch.setattr(gradient_kernels, "LEVELS", (3,))
    gradient = Gradient(f, argnums).warm(*args)
    for steps in (5, 8, 9, 17):
        changed = args[:-1] + (steps,) if type(args[-1]) is int else args
        assert gradient.compare(*changed), gradient.why
    assert (not entry_of(gradient).larger) == (f.__name__ in SAVES_NOTHING)


@pytest.mark.parametrize("f", [loops.burgers, spring, loops.runge_kutta, matrix_steps], ids=lambda f: f.__name__)
def test_intervals_whose_rows_fit_into_the_second_cache(f, monkeypatch):
    """Three rows of 23 numbers fit, so every third state is saved, as long as all checkpoints fit into the last one."""
    monkeypatch.setattr(limits, "KEPT_OF_CHEAP", 8 * 23 * 40)
    monkeypatch.setattr("pijit.core.graph.reverse.rows.checkpoints.kept_in_second_cache", lambda: 8 * 23 * 3 + 8)
    args = {"burgers": (loops.X,), "runge_kutta": (loops.X, 0.01)}.get(f.__name__, (loops.X, loops.Y))
    args = (loops.X[:5].copy(), loops.W) if f is matrix_steps else args
    gradient = Gradient(f, (0, 1)[:len(args)]).warm(*args, 50)
    for steps in (50, 49, 48, 51, 400, 2, 1, 3, 50):
        assert gradient.compare(*args, steps), gradient.why
    assert entry_of(gradient).larger and is_kernel(entry_of(gradient).larger[0].backward)
