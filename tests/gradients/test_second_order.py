"""Gradients of gradients, where the first adjoint is zero."""

import numpy as np
import pytest

import pijit

ZERO = np.array([0.0, 3.0])
X = np.array([1.5, 2.0])

FUNCTIONS = {
    "power": (lambda x, y: (x ** 3 * y).sum(), 3 * X ** 2),
    "square root": (lambda x, y: (np.sqrt(x) * y).sum(), 0.5 / np.sqrt(X)),
    "logarithm": (lambda x, y: (np.log(x) * y).sum(), 1 / X),
    "quotient": (lambda x, y: (y / x).sum(), -1 / X ** 2),
    "inverse sine": (lambda x, y: (np.arcsin(x / 4.0) * y).sum(), 1 / np.sqrt(16.0 - X ** 2)),
}


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_mixed_derivatives_at_a_zero_factor(name):
    f, expected = FUNCTIONS[name]
    mixed = pijit.grad(lambda x, y: pijit.grad(f)(x, y).sum(), 1)(X, ZERO)
    assert np.allclose(mixed, expected, rtol=1e-12)


def test_an_infinite_partial_counts_for_nothing_where_the_adjoint_is_zero():
    found = pijit.grad(lambda x: (np.sqrt(x) * np.array([0.0, 1.0])).sum())(np.array([0.0, 4.0]))
    assert found.tolist() == [0.0, 0.25]
