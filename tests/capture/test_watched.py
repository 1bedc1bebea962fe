"""Choices, comparisons and extremes in one nest with arithmetic, which watches results where flags tell nothing."""

import numpy as np
import pytest

from tests.harness import check, fail_unless_captured


def huber(x, k):
    return np.where(x < -k, -x - 0.5, np.where(x > k, x - 0.5, 0.5 * x * x))


def quotients(x, y):
    return np.where(y > 0.0, x / y, x), np.sqrt(x) * y > x - y


def eroded(x):
    rows = np.minimum(np.minimum(x[:-2], x[1:-1]), x[2:])
    return np.maximum(np.maximum(rows[:, :-2], rows[:, 1:-1]), rows[:, 2:]) * 2.0


def shortest(d):
    for k in range(d.shape[0]):
        d = np.minimum(d, d[:, k:k + 1] + d[k])
    return d


def noise(code, *shape):
    return np.random.RandomState(3).standard_normal(shape).astype(code)


def spoilt(x, *values):
    """A copy with other values here and there."""
    x = x.copy()
    for number, value in enumerate(values):
        x.flat[number * 7 % x.size] = value
    return x


def specials(code):
    info = np.finfo(code)
    return [(np.nan,), (np.inf, -np.inf), (info.max, -info.max), (info.tiny, -info.tiny), (0.0, -0.0, 0.0, -0.0)]


@pytest.mark.parametrize("code", "df")
@pytest.mark.filterwarnings("always::RuntimeWarning")
def test_choices(code):
    """Overflows, divisions by zero and NaN warn as NumPy does, whether the element is chosen or not."""
    x, y = noise(code, 40), np.abs(noise(code, 40)) + 1
    calls = [(spoilt(x, *values), 1.5) for values in specials(code)] + [(x[:0], 1.0), (noise(code, 5, 9)[:, ::2], 0.5)]
    with fail_unless_captured():
        check(huber, x, 1.0, others=calls, config={"backend": "numba"}, calls=1)
    x = np.abs(x)
    calls = [(spoilt(x, *values), y) for values in specials(code)]
    calls += [(x, spoilt(y, *values)) for values in specials(code)]
    with fail_unless_captured():
        check(quotients, x, y, others=calls + [(-x, y)], config={"backend": "numba"}, calls=1)


@pytest.mark.parametrize("code", "df")
@pytest.mark.filterwarnings("always::RuntimeWarning")
def test_extremes(code):
    """Zeros of two signs, NaNs of two kinds, at all positions of a vector."""
    x = noise(code, 9, 21)
    other_nan = np.array([0x7ff8000000000123], np.int64).view("d").astype(code)[0]
    calls = [(spoilt(x, *values),) for values in specials(code) + [(np.nan, other_nan, -np.nan)]]
    calls += [(x * 0.0,), (np.where(x > 0, 0.0, -0.0).astype(code),), (x.T,), (x[::-1, ::-1],), (x[:2],), (x[:, :2],)]
    with fail_unless_captured():
        check(eroded, x, others=calls, config={"backend": "numba"}, calls=1)
    square = np.abs(noise(code, 8, 8))
    with fail_unless_captured():
        check(shortest, square, config={"backend": "numba"}, calls=1, others=[
            (spoilt(square, np.inf, np.inf),), (spoilt(square, np.nan),), (spoilt(square, np.inf, -np.inf),)])


def scaled(x, y):
    with np.errstate(under="raise"):
        return np.where(x > 0.0, x * y, y)


def test_underflows_are_reported_to_who_listens():
    x, tiny = np.abs(noise("d", 20)), np.full(20, 1e-200)
    with fail_unless_captured():
        check(scaled, x, x, others=[(tiny, tiny), (x, tiny), (-tiny, tiny)], config={"backend": "numba"}, calls=1)
