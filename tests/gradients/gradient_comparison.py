"""Comparisons of gradients with differences."""

import numpy as np

from pijit import value_and_grad


def differences(f, x, step=1e-6):
    """The gradient of a real function by central differences, a + ib for complex arrays."""
    gradient = np.zeros(x.shape, dtype=x.dtype)
    units = (1.0, 1j) if x.dtype.kind == "c" else (1.0,)
    for place in np.ndindex(*x.shape):
        for unit in units:
            above, below = x.copy(), x.copy()
            above[place] += step * unit
            below[place] -= step * unit
            gradient[place] += (f(above) - f(below)) / (2.0 * step) * unit
    return gradient


def weighted(r, seed=7):
    """One real number of any result, in which each element has a weight of its own."""
    if isinstance(r, (tuple, list)):
        return sum((weighted(one, seed + 10 * k) for k, one in enumerate(r)), 0.0)
    weights = np.random.RandomState(seed).standard_normal(np.shape(r))
    if np.iscomplexobj(r):
        return (np.real(r) * weights).sum() + (np.imag(r) * np.random.RandomState(seed + 1).standard_normal(np.shape(r))).sum()
    return (r * weights).sum()


def compare(f, x, tolerance=1e-6):
    """The gradient of f at x agrees with differences; value, type and the argument's end state are those without it."""
    given, plain = x.copy(), x.copy()
    value, gradient = value_and_grad(f)(given)
    expected = f(plain)
    assert type(value) is type(expected) and np.array_equal(value, expected)
    assert given.tobytes() == plain.tobytes()
    wanted = differences(f, x)
    assert (gradient.shape, gradient.dtype) == (x.shape, x.dtype)
    error = np.abs(gradient - wanted).max() / max(1.0, np.abs(wanted).max())
    assert error < tolerance, (gradient, wanted)
