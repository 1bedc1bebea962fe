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
    calls += [(np.full_like(x, nan),) for nan in (np.nan, other_nan, -np.nan)] + [(np.tile(spoilt(x[:1], np.nan), (9, 1)),)]
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


def limited(x, low, high):
    y = np.clip(x * 2.0, low, high)
    return y, np.clip(x, 0, 1.5) - 1.0, np.abs(np.clip(-x, -1.5, -0.0)), np.clip(x, low, None) * 0.5, low


@pytest.mark.parametrize("code", "df")
@pytest.mark.filterwarnings("always::RuntimeWarning")
def test_values_between_bounds(code):
    """NaN stays what it is, by its bits; zeros of the other sign than the bound's, bounds that are NaN or cross."""
    x, low, high = noise(code, 41), noise(code, 41) - 1, noise(code, 41) + 1
    other_nan = -np.array([0x7ff8000000000123], np.int64).view("d").astype(code)[0]
    values = specials(code) + [(np.nan, other_nan, -np.nan)]
    calls = [(spoilt(x, *some), low, high) for some in values] + [(x, spoilt(low, *some), high) for some in values]
    calls += [(x, low, spoilt(high, *some)) for some in values] + [(x, high, low), (x[:0], low[:0], high[:0])]
    calls += [(x[::2], low[::-2], high[::2]), (x * 0.0, low * 0.0, high * -0.0), (x, low[:1], high)]
    with fail_unless_captured():
        check(limited, x, low, high, others=calls, config={"backend": "numba"}, calls=1)


def between_numbers(x, k):
    return np.clip(x * k, -0.8, 0.8) * 3, np.clip(x + 1, -0.0, 0.0) + x


@pytest.mark.parametrize("backend", ["numba", "python"])
@pytest.mark.filterwarnings("always::RuntimeWarning")
def test_values_between_numbers(backend):
    x = noise("d", 5, 9)
    calls = [(spoilt(x, *some), 2) for some in specials("d")] + [(x[:, ::2], 2), (x.T, 3), (x - 1, 2), (x[:, :0], 1)]
    n = np.arange(-4, 8)
    with fail_unless_captured():
        check(between_numbers, x, 2, others=calls, config={"backend": backend}, calls=1)
        check(lambda n, a, b: (np.clip(n * 3, a, b) + 1, np.clip(n - 1, b, a) * n), n, -5, 9, others=[
            (n, 9, -5), (n[::2], 0, 0), (n[:0], 1, 2)], config={"backend": backend}, calls=1)


def as_integers(x, k):
    return (np.clip(x * k + 128.0, 0, 255).astype(np.uint8), (x * 9.0).astype(np.int16), (x - k).astype("i4"),
            (x * 3).astype(int), (x + 200.0).astype(np.uint32) + 1, (x * -k).astype("u2"), (x * k).astype("b"))


@pytest.mark.parametrize("backend, code", [("numba", "d"), ("numba", "f"), ("python", "d")])
@pytest.mark.filterwarnings("always::RuntimeWarning")
def test_floats_that_become_integers(backend, code):
    """What does not fit, and NaN, is NumPy's, with its warning."""
    x = noise(code, 7, 19)
    edges = [-128.0, -128.5, -129.0, 127.5, 128.0, -0.5, -1.0, 255.5, 256.0, 65535.5, 65536.0, 2.0 ** 31, -2.0 ** 31, 2.0 ** 63]
    calls = [(spoilt(x, *some), 2.0) for some in specials(code)] + [(np.array(edges, code), 1.0), (x[0], 900.0)]
    calls += [(x[:, ::2], 1.0), (x.T, 3.0), (x[:0], 1.0), (x[:, :1], 2.0), (np.array([[edge] for edge in edges], code), -1.0)]
    with fail_unless_captured():
        check(as_integers, x, 50.0, others=calls, config={"backend": backend}, calls=1)
