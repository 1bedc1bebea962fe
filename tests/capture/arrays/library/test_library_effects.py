"""Library functions with ``out=``, and those that write an array: errors, warnings and overlaps are NumPy's."""

import numpy as np
import pytest

from tests.capture.scalars.test_scalars import define
from tests.harness import assert_nothing_breaks, check, fail_unless_captured, kernel_count

ALONE = {"backend": "python", "force_breaks": None, "cache_limit": 64}
NUMBA = {"backend": "numba", "force_breaks": None, "perf_statistics": False, "cache_limit": 64}
NAMES = "x, y, o, v, q, m, i"


def around(statement):
    """A statement between operations that see what it has written."""
    head = "def f(%s):\n    w = x + y\n    r = 0\n    " % NAMES
    return define(head + statement + "\n    return r, x, w, o - x, v, q, o")


def operands(code="d", order="C"):
    """(two matrices, an output like them, one for rows, one for products, a mask, indices)"""
    x = np.array([[1.5, -2.0, 0.0, 4.0], [3.0, 0.25, -1.0, 2.0], [0.5, 7.0, 2.0, -3.0]])
    x = x.astype(code, order=order)
    square = np.zeros((3, 3), code, order)
    return x, x[::-1].copy(order), np.zeros_like(x) + x.dtype.type(9), x[0] * 2, square, x > 0.5, np.array([2, 0, -1])


def others():
    """Other dtypes, layouts, shapes that do not fit, zeros to divide by, and numbers that are too large."""
    x, y, o, v, q, m, i = operands()
    wide = np.zeros((6, 8))
    readonly = o.copy()
    readonly.flags.writeable = False
    return [operands("f"), operands("l"), operands("D"), operands(order="F"), (x, y * 0, o, v, q, m, i),
            (x * 1e308, y * 1e308, o, v, q, m, i), (x, y, o[:2], v[:3], q[:2], m, i),
            (x, y, wide[::2, ::2], v, q, m, i + 1),
            (x, y, o[::-1], v[::-1], q.T, m[0], i[:2]), (x, y, o.astype("f"), v.astype("f"), q, m, i * 9),
            (x, y, readonly, v, q, ~m, i[:0]), (x[:0], y[:0], o[:0], v, q, m[:0], i)]


def overlapping():
    """Outputs that are operands, or share memory with them."""
    x, y, o, v, q, m, i = operands()
    both = np.arange(20.0).reshape(5, 4)
    return [(x, y, x, x[0], q, m, i), (both[:3], y, both[2:], both[1], q, m, i),
            (x, y, y[::-1], y[-1], x[:, :3], m, i)]


OUTPUTS = (
    "np.add(x, y, out=o, where=m)", "np.divide(x, y, where=y != 0, out=o)", "np.sqrt(x, out=o, where=x >= 0)",
    "np.multiply(x, 2, o, where=m[0])", "np.add(x, y, out=o, casting='unsafe')", "np.sum(x, axis=0, out=v)",
    "x.max(axis=0, out=v)", "np.mean(x, 0, out=v)", "x.std(axis=0, out=v)", "np.sum(x, 0, None, v)",
    "np.sum(x, axis=0, out=v, initial=3)", "np.min(x, axis=0, out=v, where=m, initial=0)",
    "np.cumsum(x, axis=0, out=o)", "np.add.accumulate(x, axis=1, out=o)", "np.maximum.reduce(x, axis=0, out=v)",
    "np.clip(x, 0, 1, out=o)", "np.round(x, 1, out=o)", "np.dot(x, y.T, out=q)", "np.matmul(x, y.T, out=q)",
    "x.dot(y.T, q)", "np.matmul(x, v, out=q[0])", "np.einsum('ij,kj->ik', x, y, out=q)",
    "np.take(x, i, axis=0, out=o)", "np.take(x, i, 0, o, 'wrap')", "np.concatenate((x[1:], x[:1]), out=o)",
    "np.outer(x[0, :3], y[0, :3], out=q)", "np.all(x, axis=0, out=m[0])", "np.argmax(x, axis=1, out=i)",
    "np.compress(m[:, 0], x, axis=0, out=o[:2])", "np.add.reduceat(x, [0, 2], out=o[:2])",
)

WRITES = (
    "np.put(x, i, y)", "np.put(v, i, 1, mode='clip')", "x.put(i, v)", "np.put(v, i + 9, 2, 'wrap')",
    "np.putmask(x, m, y)", "np.putmask(x, m, v)", "np.copyto(x, y, where=m)", "np.copyto(x, v, where=m)",
    "np.copyto(x, 1, where=m)", "np.fill_diagonal(x, v[0])", "np.fill_diagonal(x, v, wrap=True)", "x.partition(1)",
    "x.sort(axis=0)", "np.put_along_axis(x, np.argmax(x, axis=1)[:, None], 0, axis=1)", "np.add.at(x, i, 1)",
    "np.add.at(x, (i, i), v[:3])", "np.subtract.at(v, i, 1)", "np.multiply.at(v, i, y[0, :3])",
    "np.maximum.at(x, (slice(None), i), 2)", "np.divide.at(v, i, y[0, :3])", "np.negative.at(v, i)",
    "np.logical_or.at(m, i, True)", "np.minimum.at(v, i, v[:3])", "np.add.at(v, np.array([[0, 1], [1, 2]]), 1.5)",
    "x[:, i] += 1", "x[:, i] *= y[:, i]", "x[1:, i] -= v[:3]", "x[::2, [0, 1]] += 0.5", "v[i] = m[0, :3]",
    "m[i] = 1; m[:, 0] = 0.5; r = m", "x[...] = r; v.fill(3); r = np.full(2, 1, 'f')",
)


@pytest.mark.parametrize("statement", OUTPUTS + WRITES)
@pytest.mark.filterwarnings("ignore")
def test_statements(statement):
    j = check(around(statement), *operands(), others=others(), aliased=overlapping(), config=ALONE, calls=2)
    assert_nothing_breaks(around(statement), *operands())
    assert kernel_count(j)


@pytest.mark.parametrize("statements", (OUTPUTS[:16], OUTPUTS[16:], WRITES[:14], WRITES[14:]))
@pytest.mark.filterwarnings("ignore")
def test_in_machine_code(statements):
    """Many in one kernel: what does not fit leaves in the middle, behind what was written before."""
    f = around("\n    ".join("%s\n    w = w + o" % statement for statement in statements))
    with fail_unless_captured():
        check(f, *operands(), others=others(), aliased=overlapping(), config=NUMBA, calls=2)


def overflowing(x, i, v, o, m):
    np.multiply.at(x, i, v)
    np.sum(o, axis=0, out=x)
    np.divide(x, v, out=x, where=m)
    return x


@pytest.mark.parametrize("how", ("warn", "raise", "ignore"))
@pytest.mark.filterwarnings("always::RuntimeWarning")
def test_floating_point_errors(how):
    """NumPy writes, and then reports; elements that are left out are not computed."""
    x, v, i, m = np.array([1.0, 2.0, 3.0]), np.array([2.0, 0.0, 0.5]), np.array([0, 0, 1]), np.arange(3) != 1
    o = np.ones((2, 3))
    others = [(x * 5e307, i, v, o, m), (x, i, v, o * 1e308, m), (x, i, v, o, ~m), (x, i + 1, v, o, m)]
    with np.errstate(all=how), fail_unless_captured():
        check(overflowing, x, i, v, o, m, others=others, config=dict(NUMBA, backend="python"), calls=2)


def test_what_was_read_before_stays():
    """An output is written when the rest of its statement was computed from what was there before."""
    f = define("def f(x, o):\n    y = x * 2\n    r = o[0] + np.cumsum(x, out=o)[1] + o[2] + x[int(o[1])]\n"
               "    return r, o, y")
    x, o = np.arange(4.0), np.full(4, 7.0)
    with fail_unless_captured():
        check(f, x, o, others=[(x + 5, o), (x[:3], o), (x, o[::-1])], aliased=[(x, x)], config=ALONE)


def scaled_into(x, o):
    y = x * 2
    r = x.dot(x[1], o)
    np.dot(3, y, out=o)
    return r, r is o, o + 1, y


def test_products_with_numbers():
    """NumPy 1.21 leaves the output of such a product as it is, for integers."""
    x, o = np.arange(1.0, 4.0), np.zeros(3)
    whole = np.zeros(3, int)
    others = [(x.astype(int), whole), (x.astype(int), o), (x, whole), (x.astype("u1"), np.zeros((0, 3))), (x, o[:2])]
    with fail_unless_captured():
        check(scaled_into, x, o, others=others, aliased=[(x, x)], config=ALONE)
