"""Types of adjoints: numbers, as the adjoints of sums, give the bits and dtypes of arrays; complex intermediates."""

import numpy as np
import pytest

from pijit.core.pythons import why_not_python
from tests.gradients.joint.joint_gradient import Gradient

pytestmark = pytest.mark.skipif(why_not_python() is not None, reason="nothing is compiled here")

R = np.random.RandomState(3)
X, Y = R.uniform(0.1, 1.0, 9), R.uniform(0.1, 1.0, 9)


def product(x, y):
    return (x * y * 0.1).sum()


def quotient(x, y):
    return ((x / y) / 3.3).sum()


def in_place(x, y):
    u = y * 1.0
    u *= x.astype(np.float16)
    return (u * 0.3).sum()


def of_matrix(x, y):
    return (y[:, None] * x * 0.3).sum()


def constants(x, y):
    return ((x / 3.3) * 0.7).sum() / 1.7 + (x * 0.3).sum() * 0.7 + y.sum()


@pytest.mark.parametrize("f, codes", [
    (product, "fd"), (product, "df"), (product, "ed"), (product, "ef"), (quotient, "fd"), (in_place, "dd"),
    (of_matrix, "ed"), (constants, "ff"), (constants, "ee")])
def test_bits_and_dtypes_are_the_tapes(f, codes):
    x, y = X.astype(codes[0]), Y.astype(codes[1])
    gradient = Gradient(f, (0, 1)).warm(x, y)
    for _ in range(2):
        assert gradient.compare(x, y), gradient.why


def moduli(x, y):
    return (x * y).sum() + np.abs(x * 1j + y).sum()


def angles(x, y):
    return (x * y).sum() + np.angle(x + y * 1j).sum()


def modulus_of_stored(x, y):
    z = np.zeros(9, np.complex128)
    z[:] = x
    return (x * y).sum() + np.abs(z * 2j + y).sum()


@pytest.mark.parametrize("f", [moduli, angles, modulus_of_stored])
def test_derivatives_through_complex_numbers_use_the_tape(f):
    gradient = Gradient(f, (0, 1)).warm(X, Y)
    assert not gradient.compare(X, Y) and "complex" in gradient.why
    step = 1e-6
    part = (f(X + step, Y) - f(X - step, Y)) / (2.0 * step)
    assert np.isclose(gradient.f(X, Y)[1][0].sum(), part)


def test_complex_numbers_that_depend_on_no_differentiated_argument():
    def f(x, y):
        return (x * np.abs(y * 1j + 1.0)).sum()

    gradient = Gradient(f, 0).warm(X, Y)
    assert gradient.compare(X, Y), gradient.why
