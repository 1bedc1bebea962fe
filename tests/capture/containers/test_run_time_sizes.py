"""Parts of tuples, indices, widths and sections whose sizes are arguments, not constants."""

import numpy as np
import pytest

import pijit
from tests.capture.scalars.test_scalars import define
from tests.harness import check, fail_unless_captured

X = np.arange(60.0).reshape(3, 4, 5)


def blocks(x, begin, end):
    key = tuple(slice(i, j) for i, j in zip(begin, end))
    whole = tuple([slice(i, n if j == -1 else i + j) for i, j, n in zip(begin, end, x.shape)])
    return x[key] * 2.0, x[whole] + 1.0


def widths(x, p):
    pairs = [(0, 0)] * (x.ndim - len(p) // 2) + [tuple(p[k:k + 2]) for k in range(len(p) - 2, -1, -2)]
    return np.pad(x, pairs) * 2.0


def sections(x, n, m):
    a, b, c = np.split(x, [n, m])
    d = np.array_split(x, n, axis=1)
    return a.sum() + b.sum() * c.sum(), d[0] * 2.0, len(d)


def halves(x, n):
    one, other = tuple(part * 2.0 for part in np.split(x, n, axis=1))
    return one - other


def chosen(x, n):
    parts = tuple([row * 2.0 for row in x])
    return parts[n] + parts[-1], len(parts)


class Rows:
    def __init__(self, x):
        self.x = x

    def __iter__(self):
        return iter([self.x[k] * 2.0 for k in range(len(self.x))])


def taken_apart(x):
    a, b, c = Rows(x)
    d, e, f = iter([row + 1.0 for row in x])
    return a * b - c, d + e * f


CASES = [
    (blocks, (X, (0, 1, 2), (2, 3, 4)), [(X, (1, 1, 0), (2, -1, 9)), (X, (-1, 0, 0), (3, 2, 2)), (X, (0, 0), (2, 2)), (X, (5, 0, 0), (1, -1, 1))]),
    (widths, (X, (1, 2)), [(X, (2, 1)), (X, (0, 0, 1, 3)), (X, (-1, 2)), (X, (1, 2, 3)), (X, ()), (X, (1.5, 2)), (X.T, (1, 2))]),
    (sections, (X, 1, 2), [(X, 2, 2), (X, 2, 1), (X, -1, 2), (X, 0, 9), (X[:0], 1, 2), (X.T, 3, 4)]),
    (halves, (X, 2), [(X * 3.0, 2), (X, 1), (X, 3), (X, 4), (X, 0), (X[:, :2], 2), (X.astype("f"), 2)]),
    (chosen, (X, 1), [(X, 0), (X, -3), (X, 3), (X, -4), (X[:0], 0), (X[:2], 1), (X.astype(int), 1)]),
    (taken_apart, (X,), [(X * 2.0,), (X[:2],), (X.reshape(4, 3, 5),), (X[:, 0],), (X.astype("f"),)]),
]


@pytest.mark.parametrize("f, args, others", CASES, ids=[case[0].__name__ for case in CASES])
def test_same_answers(f, args, others):
    with fail_unless_captured():
        j = check(f, *args, others=others, config={"force_breaks": None})
    assert not pijit.explain(j, *args).breaks, str(pijit.explain(j, *args))


SIZES = ("np.roll(x, n)", "np.roll(x, (n, m), axis=(0, 1))", "np.repeat(x, n)", "x.repeat(n, axis=1)", "np.tile(x, n)", "np.tile(x, (n, m))",
         "np.pad(x, n)", "np.pad(x, ((n, m), (m, n), (0, n)))", "np.pad(x, n, mode='edge')", "np.pad(x, (n, m), 'reflect')",
         "np.pad(x, n, 'wrap')", "np.pad(x, m, 'symmetric')", "np.pad(x, n, constant_values=m)", "np.broadcast_to(x, (n, 3, 4, 5))",
         "x[n:m, ::n]", "np.reshape(x, (n, m, -1))", "np.zeros((n, m, 1)) + x.sum()", "np.eye(n, m) * x.sum()", "np.arange(n, m) * x[0, 0, 1]")


@pytest.mark.parametrize("call", SIZES)
def test_sizes_that_are_arguments(call):
    """They are symbols: another number gives no new entry. Numbers that NumPy refuses raise as before."""
    f = define("def f(x, n, m):\n    y = x * 2.0\n    return %s, y" % call)
    numbers = [(2, 3), (1, 2), (3, 1), (0, 1), (-1, 2), (2, -3), (1, 100), (5, 12)]
    with fail_unless_captured():
        j = check(f, X, 1, 3, others=[(X, n, m) for n, m in numbers], config={"force_breaks": None})
    assert not pijit.explain(j, X, 1, 3).breaks, str(pijit.explain(j, X, 1, 3))
    assert len(j.state.entries) == 1


def beyond(x, n):
    return shaped(x, n) * 2.0


def shaped(x, n):
    return x * (x.shape[-4] if n == -1 else n)


def caught(x, n):
    try:
        return x * (x.shape[-4] if n == -1 else n)
    except IndexError:
        return x - 1.0


def catching(x, n):
    return caught(x, n) * 2.0


@pytest.mark.parametrize("f", [beyond, catching, shaped, caught])
def test_paths_that_raise(f):
    """An index that is certainly out of range ends its path; the others of the callee are captured."""
    with fail_unless_captured():
        j = check(f, X, 2, others=[(X, 3), (X, -1), (X, 0)], config={"force_breaks": None})
    if f is beyond:
        assert not pijit.explain(j, X, 2).breaks


def known_dtypes(x, name):
    kind = np.dtype(np.float32)
    return x.astype(kind) * 2, np.zeros(3, np.dtype("i4")) + 1, np.dtype(x.dtype) == np.dtype(float), np.dtype(name)


def test_dtypes():
    check(known_dtypes, X, "f8", others=[(X, "i2"), (X.astype("f"), "f8"), (X, "nonsense"), (X, None), (X, int)])
