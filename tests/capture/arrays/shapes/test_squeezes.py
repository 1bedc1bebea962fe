"""Squeezing without an axis: a view whose rank depends on which axes have length 1."""

import numpy as np
import pytest

import pijit
from tests.capture.scalars.test_scalars import define
from tests.harness import HIT, MISS, assert_calls, check, fail_unless_captured, jitted

X = np.arange(24.0)
SHAPES = [(1, 4, 6), (4, 1, 6), (4, 6, 1), (1, 24, 1), (1, 1, 24), (24, 1, 1), (2, 3, 4), (1, 1, 1), (0, 1, 3), (1, 0, 1), (0, 2, 0)]


def cubes():
    """Arrays of three axes in each order, with steps, and of which some axes have length 1."""
    for shape in SHAPES:
        x = X[:int(np.prod(shape))].reshape(shape)
        wide = np.zeros([2 * length for length in shape])
        frozen = x.copy()
        frozen.flags.writeable = False
        yield from (x, x.copy("F"), x.T, wide[::2, ::-2, 1::2], x[::-1], frozen, x.astype("f"), x > 3, x + 1j)


def squeezed(x):
    y = np.squeeze(x)
    z = x.squeeze(axis=None)
    w = y * 2 + z
    return w, y, z, y is x, z.base is x or z.base is x.base, y.shape, y.strides, y.flags.writeable


@pytest.mark.parametrize("first", SHAPES)
@fail_unless_captured()
def test_strides_and_bases(first):
    """What has no axis of length 1 is the array itself."""
    x = X[:int(np.prod(first))].reshape(first)
    check(squeezed, x, others=[(one,) for one in cubes()], calls=1, config={"cache_limit": 200})


def test_lengths_are_guarded():
    """An entry serves arrays with the same axes of length 1."""
    def f(x, y):
        return np.squeeze(x) * 2.0 + y

    j = jitted(f, {"force_breaks": None})
    a, b, c = np.ones((1, 3)), np.ones((3, 1)), np.ones((4, 3))
    assert_calls(j, [MISS, HIT, HIT, MISS, HIT, MISS, HIT, HIT], [
        (a, 1.0), (a, 2.0), (np.ones((1, 7)), 1.0), (b, 1.0), (np.ones((9, 1)), 1.0), (c, 1.0), (c[:2], 1.0), (c[:0], 1.0)])
    report = pijit.explain(j, a, 1.0)
    assert report.kernels and not report.breaks and "axes of length 1 of L['x']: 0" in str(report), str(report)


def test_lengths_of_operands_are_guarded():
    """Where a computed array is squeezed, arrays from outside tell its lengths. So other lengths get another entry."""
    def f(x, y):
        return (x * y).squeeze() + 1.0

    j = jitted(f, {"force_breaks": None})
    a, b = np.ones((1, 3)), np.ones((4, 3))
    assert_calls(j, [MISS, HIT, MISS, HIT, HIT, MISS, HIT], [(a, 2.0), (a[:, :2], 3.0), (b, 2.0), (b[:2], 1.0), (a, 2.0), (b[:1, :1], 2.0), (b, 1.0)])
    assert all(not pijit.explain(j, x, 2.0).exits.exits for x in (a, b))
    check(f, a, 2.0, others=[(b, 2.0), (a, 1.0), (b[:0], 1.0), (a[:, :1], 2.0), (b[0], 2.0)])


COMPUTED = {
    "x.sum(axis=1, keepdims=True)": (3, 4), "x * y": (1, 4), "x[:, None] + y": (3,), "x[1:2] * 2.0": (3, 4), "x[-1:]": (3, 4),
    "x[:, :1]": (3, 4), "np.expand_dims(x * y, 0)": (3, 4), "x.T * 1.5": (1, 4), "x.reshape(1, -1, 1)": (3, 4), "x.mean(1, keepdims=True)": (1, 4),
    "np.where(x > 1.0, x, y)": (1, 4), "np.transpose(x * y, (1, 0))": (4, 1), "(x * y).copy()": (4, 1), "np.zeros((1, 3)) + y": (3,),
    "np.full((3, 1), 2.0) * y": (1, 1), "np.concatenate([x, x], axis=1)": (1, 4), "np.stack([x.sum(), y]) * 1.5": (2, 3), "x @ x.T": (1, 4),
    "(x > 2.0).astype(np.float64) * y": (4, 1), "np.roll(x * y, 1)": (4, 1), "x[..., 0, None] - y": (3, 4), "np.max(x, axis=(0, 1), keepdims=True)": (3, 4),
    "np.zeros_like(x * y)": (1, 4), "np.array(x * y)": (1, 4), "x[:, ::2]": (3, 1),
}


@pytest.mark.parametrize("made", sorted(COMPUTED))
def test_computed_arrays(made):
    """Where the operands tell the lengths, no call breaks the graph. Other lengths leave the kernel."""
    f = define("def f(x, y):\n    z = %s\n    return np.squeeze(z) * 3.0 + y, z.squeeze().shape" % made)
    shape = COMPUTED[made]
    x, y = X[:int(np.prod(shape))].reshape(shape) + 1.0, np.float64(1.5)
    others = [(np.ones(other), y) for other in [(1,) * len(shape), (2,) * len(shape), (5,) + (1,) * (len(shape) - 1), (0,) * len(shape)]]
    with fail_unless_captured():
        j = check(f, x, y, others=others, config={"force_breaks": None})
    assert not pijit.explain(j, x, y).breaks, str(pijit.explain(j, x, y))


def looped(x, steps):
    total = 0.0
    for k in range(steps):
        row = (x[k:k + 1] * 2.0).squeeze()
        total += row.sum()
        if row.ndim == 1:
            x = x + row
    return total, x


class Holder:
    def __init__(self, value):
        self.value = value

    def flat(self):
        return self.value.squeeze() + 1.0


def held(holder, many):
    return holder.flat() * 2.0, [np.squeeze(one).sum() for one in many], Holder(many[0] * 2.0).flat()


def test_in_loops_and_objects():
    check(looped, X.reshape(4, 6), 3, others=[(X.reshape(24, 1), 3), (X.reshape(1, 24), 1), (X.reshape(4, 6), 9)])
    a, b = X.reshape(1, 24), X.reshape(4, 6)
    with fail_unless_captured():
        check(held, Holder(a), (a, b), others=[(Holder(b), (a, b)), (Holder(a), (b, a)), (Holder(X[:1]), (a, a))])


def test_writes_reach_the_array():
    def f(x, y):
        z = x.squeeze()
        z[...] = z * 2.0 + y
        return z, x

    with fail_unless_captured():
        check(f, X.reshape(1, 24).copy(), X, others=[(X.reshape(4, 1, 6).copy(), np.ones(6)), (np.ones((1, 1)), np.ones(1))])


def test_axes_that_are_given_are_numpys():
    def f(x, axis):
        return np.squeeze(x, axis) * 2.0, x.squeeze(axis=axis).shape

    check(f, X.reshape(1, 24), 0, others=[(X.reshape(24, 1), 1), (X.reshape(24, 1), 0), (X.reshape(1, 24, 1), (0, 2)),
                                          (X, None), (X.reshape(1, 24), None), (X.reshape(24, 1), (0, 5))])


def test_no_arrays():
    def f(x):
        return np.squeeze(x), np.squeeze([[1.0], [2.0]]) * 2.0

    check(f, 2.5, others=[(np.float64(1.0),), ([[1, 2]],), (np.array(1.0),), (np.ones((2, 1)),), ("a",)])


def test_guards_of_a_computed_array_are_on_the_arrays_that_decide():
    def f(x, y, others):
        a, b, c = others
        return np.squeeze((x + y[::-1]).T) * 2.0, a * 2.0, b.sum() + c.sum()

    shapes = [(1, 1), (1, 3), (3, 1), (3, 3)]
    calls = [(np.ones((3, 1)), np.ones((1, 3)), tuple(np.ones(shapes[(k * m) % 4]) for m in (1, 2, 3))) for k in range(4)]
    j = jitted(f, {"force_breaks": None})
    for _ in range(2):
        for call in calls:
            j(*call)
    assert j.cache_info().misses == 1 and not pijit.explain(j, *calls[0]).breaks
    check(f, *calls[1], others=calls + [(np.ones((1, 1)), y, others) for _, y, others in calls], config={"force_breaks": None})
