"""Gradients of sums along several axes: kernels, with the tape's bits."""

import numpy as np
import pytest

import pijit
from pijit.core.pythons import why_not_python
from pijit.gradient_kernels import WARM

pytestmark = pytest.mark.skipif(why_not_python() is not None, reason="nothing is compiled here")


def leading(a, b):
    return (np.sum(a * b, axis=(0, 1)) ** 2).sum()


def trailing(a, b):
    return (np.sum(a * b, axis=(1, 2), keepdims=True) * a).sum()


def apart(a, b):
    return np.tanh(np.sum(a * b + a, axis=(0, 2))).sum()


def of_slices(a, b):
    total = 0.0
    for k in range(2):
        r = np.sum(a[:, k:k + 2, 1:] * b[:, :2, :-1], axis=(1, 2))
        total = total + (r * r).sum()
    return total


def windows(a, w):
    total = 0.0
    for i in range(2):
        r = np.sum(a[:, i:i + 2, :2, None] * w[None, :2, :2, :3], axis=(1, 2))
        total = total + (r * r).sum()
    return total


@pytest.mark.parametrize("f", [leading, trailing, apart, of_slices, windows])
def test_bits_are_the_tapes(f):
    a = np.random.RandomState(1).standard_normal((4, 3, 5))
    b = np.random.RandomState(2).standard_normal((4, 3, 5))
    fast = pijit.value_and_grad(f, (0, 1))
    for call in range(WARM + 3):
        value, gradients = fast(a, b)
        wanted, right = pijit.value_and_grad(f, (0, 1))(a, b)
        assert value == wanted and [one.tobytes() for one in gradients] == [one.tobytes() for one in right]
        assert call < WARM or fast._kernels.why == ""
