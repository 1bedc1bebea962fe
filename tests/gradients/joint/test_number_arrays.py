"""Joint functions of arrays of shape () that are made from numbers: the tape's bits."""

import numpy as np
import pytest

import pijit
from pijit.core.pythons import why_not_python
from tests.gradients.joint.joint_gradient import bits

pytestmark = pytest.mark.skipif(why_not_python() is not None, reason="nothing is compiled here")


def scaled(x, s):
    return np.asarray(np.asarray((x * x).sum()) * s) * 2.0


def several_times(x, s):
    a = np.asarray((x * x).sum())
    return a * s + np.sqrt(a) + a[()]


def in_a_loop(x, s):
    total = 0.0
    for i in range(4):
        a = np.asarray((x * x).sum() * i)
        total = total + a * s + a * a
    return total


def in_a_branch(x, s):
    a = np.asarray(x.sum())
    if a > 0:
        b = a * s
    else:
        b = -a * a
    return b * 1.5


def with_views(x, s):
    a = np.asarray(x.sum())
    return (a[None] * s).sum() + a * s + (a[None, None] * a).sum()


def negative_zeros(x, s):
    return np.asarray((x * 0.0).sum()) * (-0.0 * s)


@pytest.mark.parametrize("dtype", "df")
@pytest.mark.parametrize("f", (scaled, several_times, in_a_loop, in_a_branch, with_views, negative_zeros))
def test_bits_are_the_tapes(f, dtype):
    gradient = pijit.value_and_grad(f)
    for x in np.array([[1.5, -2.0, 3.0], [-1.5, -2.0, -3.0]], dtype):
        for s in (3.0, np.dtype(dtype).type(-0.5)):
            wanted = bits(pijit.value_and_grad(f)(x.copy(), s))
            assert [bits(gradient(x.copy(), s)) for _ in range(4)] == [wanted] * 4
    assert gradient._kernels.why == ""
