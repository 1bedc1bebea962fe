"""Products of short slices and of what vectors of integers find: bits, warnings and errors are NumPy's."""

import numpy as np
import pytest

from tests.capture.scalars.test_scalars import define
from tests.harness import check, fail_unless_captured

CONFIG = {"backend": "numba", "force_breaks": None, "perf_statistics": False}
CALLS = ("np.dot(data[a:b], x[columns[a:b]])", "data[a:b] @ x[columns[a:b]]", "x[columns[a:b]].dot(data[a:b])")


def rows_of(call):
    return define("""def f(data, columns, starts, x):
    y = np.empty(len(starts) - 1, data.dtype)
    for i in range(len(y)):
        a, b = starts[i], starts[i + 1]
        y[i] = %s
    return y""" % call)


def matrix(code, special, rounds=6):
    """Rows of all lengths up to 40, several of each: (data, columns, starts, x)."""
    source = np.random.RandomState(len(code) + 3 * special)
    lengths = source.permutation(np.tile(np.arange(41), rounds))
    starts = np.concatenate([[0], np.cumsum(lengths)])
    x = (source.standard_normal(50) * 10.0 ** source.randint(-3, 3, 50)).astype(code)
    data = (source.standard_normal(starts[-1]) * 10.0 ** source.randint(-3, 3, starts[-1])).astype(code)
    if special:
        odd = np.array([0.0, -0.0, 1e-30, -1e30, np.inf, -np.inf, np.nan, -np.nan]).astype(code)
        for each in (data, x):
            chosen = source.random_sample(each.shape) < 0.06
            each[chosen] = source.choice(odd, chosen.sum())
    return data, source.randint(-50, 50, starts[-1]), starts, x


def variants(data, columns, starts, x):
    """The same with narrow integers, no stores allowed, steps, zeros of one sign, and what is too large or small."""
    fixed = data.copy(), columns.copy(), starts.copy(), x.copy()
    for each in fixed:
        each.flags.writeable = False
    yield (data, columns, starts, x)
    yield (data, columns.astype(np.int32), starts.astype(np.int32), x)
    yield fixed
    yield (np.repeat(data, 2)[::2], columns[::-1], starts, np.ascontiguousarray(x[::-1])[::-1])
    yield (data * 0.0, columns, starts, x)
    yield (-np.abs(data), columns, starts, np.zeros_like(x))
    yield (data * data.dtype.type(np.sqrt(np.finfo(data.dtype).tiny)), columns, starts, x * np.finfo(data.dtype).eps)
    yield (data / data.dtype.type(np.finfo(data.dtype).tiny), columns, starts, x * 1000)


@pytest.mark.parametrize("special", (False, True))
@pytest.mark.parametrize("code", "df")
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_rows(call, code, special):
    with fail_unless_captured(), np.errstate(all="ignore"):
        groups = list(variants(*matrix(code, special)))
        check(rows_of(call), *groups[0], others=groups, config=dict(CONFIG, cache_limit=32))


@pytest.mark.parametrize("call", CALLS)
def test_errors(call):
    """Lengths that do not fit, indices out of range, and a table without elements."""
    data, columns, starts, x = matrix("d", False, 1)
    wrong = columns.copy()
    wrong[len(wrong) // 2] = 50
    low = columns.copy()
    low[-1] = -51
    groups = [(data, wrong, starts, x), (data, low, starts, x), (data[:-1], columns, starts, x),
              (data, columns, starts, x[:0]), (data, columns[:-2], starts, x), (data[:0], columns[:0], starts * 0, x)]
    with fail_unless_captured():
        check(rows_of(call), data, columns, starts, x, others=groups, config=CONFIG)


@pytest.mark.parametrize("call", CALLS)
def test_warnings(call):
    """The product reports what NumPy's does, if that does."""
    data, columns, starts, x = matrix("d", False, 1)
    groups = [(data * 1e300, columns, starts, x * 1e10), (data * 1e-300, columns, starts, x * 1e-10)]
    with fail_unless_captured(), np.errstate(under="warn"):
        check(rows_of(call), data, columns, starts, x, others=groups, config=CONFIG)
