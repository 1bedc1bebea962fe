"""Kernels of functions that return (value, aux): the bits, types and identities of the tape's results."""

import numpy as np
import pytest

import pijit
from pijit.core.pythons import why_not_python
from pijit.gradient_kernels import WARM
from tests.gradients.joint.joint_gradient import bits

pytestmark = pytest.mark.skipif(why_not_python() is not None, reason="nothing is compiled here")

X, Y = np.linspace(0.2, 1.7, 9), np.linspace(-1.0, 1.0, 9)


def residuals(x, y):
    r = x * x - y
    return (r * r).sum(), r


def several(x, y):
    r = x * y
    return r.sum(), (r[1:], r, (3, "text", None), x, r.mean(), float(r[0]), len(r))


def steps(x, y):
    u = x.copy()
    total, k = 0.0, 0
    for k in range(4):
        u[1:] = u[1:] + 0.1 * y[1:] * u[:-1]
        total = total + u[0]
    return (u * u).sum(), (u, total, k)


def renewed(x, y):
    u = x.copy()
    kept = u[2:]
    for _ in range(3):
        u *= y
    pair = (kept, u)
    u[0] = 0.5
    return (u * u).sum(), pair


def number(x, y):
    return (x * y).sum(), 3


def same(x, y):
    s = (x * y).sum()
    return s, s


def of(found):
    (value, aux), gradients = found
    return value, aux, gradients


def items(aux):
    if isinstance(aux, tuple):
        return tuple(map(items, aux))
    return bits(aux) if isinstance(aux, (np.ndarray, np.generic, float)) else (type(aux), aux)


@pytest.mark.parametrize("function", [residuals, several, steps, renewed, number, same])
def test_results_are_the_tapes(function):
    gradient, tape = (pijit.value_and_grad(function, (0, 1), has_aux=True) for _ in range(2))
    for call in range(WARM + 4):
        x, y = X + call, Y * (call + 1.0)
        value, aux, gradients = of(gradient(x, y))
        taped = tape._run((x, y), {})
        assert (bits(value), items(aux), bits(gradients)) == (
            bits(taped.value), items(taped.aux), bits(tuple(taped.gradients)))
        plain = function(x, y)
        assert items(aux) == items(plain[1]) and bits(value) == bits(plain[0])
    assert gradient._kernels.why == ""


def test_arrays_share_the_memory_that_the_programs_do():
    gradient = pijit.value_and_grad(several, 0, has_aux=True)
    for _ in range(WARM + 3):
        (_, aux), g = gradient(X, Y)
        part, whole, _, argument = aux[:4]
        assert argument is X and np.shares_memory(part, whole) and not np.shares_memory(g, whole)
        whole[1] = 77.0
        assert part[0] == 77.0
    assert gradient._kernels.why == ""


def new_and_view(x, y, steps):
    u, part = x, x[1:]
    for _ in range(steps):
        u = u * y
        part = u[1:]
    return (u * u).sum(), (u, part)


def old_and_view(x, y, steps):
    u, part = x, x[1:]
    for _ in range(steps):
        part = u[1:]
        u = u * y
    return (u * u).sum(), (x, part)


def without_loop(x, y, steps):
    u = x * y + steps
    return (u * u).sum(), (u, u[1:])


@pytest.mark.parametrize("function", [new_and_view, old_and_view, without_loop])
def test_views_of_arrays_that_are_computed_again_or_saved(function):
    gradient = pijit.value_and_grad(function, (0, 1), has_aux=True)
    for steps in [2] * (WARM + 2) + [3, 2]:
        (_, found), _ = gradient(X, Y, steps)
        _, wanted = function(X, Y, steps)
        assert items(found) == items(wanted) and np.shares_memory(*found) == np.shares_memory(*wanted)
        assert found[1].base.shape == wanted[1].base.shape
    assert gradient._kernels.why == ""


def test_a_view_of_the_argument_that_the_first_iteration_reads():
    gradient = pijit.value_and_grad(old_and_view, (0, 1), has_aux=True)
    for steps in [2] * (WARM + 2) + [1]:
        (_, (_, part)), _ = gradient(X, Y, steps)
        assert np.shares_memory(part, X) == (steps == 1)


def test_the_gradient_alone():
    gradient = pijit.grad(residuals, has_aux=True)
    for _ in range(WARM + 3):
        g, aux = gradient(X, Y)
        assert np.array_equal(aux, X * X - Y) and np.allclose(g, 4.0 * X * aux)
    assert gradient._kernels.why == ""


def dictionary(x):
    return (x * x).sum(), {"norm": x.max()}


def not_a_pair(x):
    return (x * x).sum()


def test_other_results_use_the_tape():
    gradient = pijit.value_and_grad(dictionary, has_aux=True)
    for _ in range(WARM + 3):
        (value, aux), g = gradient(X)
        assert aux == {"norm": 1.7} and np.array_equal(g, 2.0 * X)
    assert "PJ510" in gradient._kernels.why
    gradient = pijit.value_and_grad(not_a_pair, has_aux=True)
    for _ in range(WARM + 3):
        with pytest.raises(TypeError, match=r"must return \(value, aux\)"):
            gradient(X)
