"""How many elements of what is compared are true, and whether any or all are, without the array of bools."""

import numpy as np
import pytest

from tests.harness import check, fail_unless_captured


def counts(x, y):
    return (np.sum(x > y), (x < y).sum(), np.count_nonzero((x == y) | (x > 1.0)), np.any(x * y > 4.0), (x - y < 9.0).any(),
            np.all(np.abs(x) < y + 2), (x != 0).all(), np.isnan(x * 2.0).sum(), np.isfinite(x).all(), np.isinf(y).any(),
            ~np.isfinite(x) & (y == y))


def noise(code, *shape):
    return np.random.RandomState(8).standard_normal(shape).astype(code)


def spoilt(x, *values):
    x = x.copy()
    x.flat[:len(values)] = values
    return x


SPECIALS = [(np.nan, -np.nan), (np.inf, -np.inf, np.inf), (0.0, -0.0), (3e38, -3e38, 1e-38)]


@pytest.mark.parametrize("backend, code", [("numba", "d"), ("numba", "f"), ("python", "d")])
@pytest.mark.filterwarnings("always::RuntimeWarning")
def test_of_vectors(backend, code):
    x, y = noise(code, 70), noise(code, 71)[1:]
    calls = [(x[:n], y[:n]) for n in (0, 1, 7, 64)] + [(x[::2], y[::-2]), (x[:1], y), (x, y[:1]), (x[:0], y[:1]), (x, x)]
    calls += [(spoilt(x, *some), y) for some in SPECIALS] + [(x, spoilt(y, *some)) for some in SPECIALS]
    calls += [(spoilt(x, *some), spoilt(y, *some[::-1])) for some in SPECIALS]
    with fail_unless_captured():
        check(counts, x, y, others=calls, config={"backend": backend}, calls=1)
        with np.errstate(all="raise"):
            check(counts, x, y, others=calls, config={"backend": backend}, calls=1)


def test_of_more_axes():
    """Along all axes, whatever the layout and which operands are broadcast; a shape that does not fit raises."""
    x, y = noise("d", 4, 5, 6), noise("d", 4, 5, 6) + 1
    calls = [(x.T, y.T), (x[:, ::2], y[:, ::-2]), (x, y[:1]), (x, y[:, :1]), (x[:, :, :1], y), (x[:0], y[:0]),
             (x[:, :0], y[:, :0]), (x[:, :, :0], y[:, :, :0]), (x, y[:2]), (np.asfortranarray(x), y)]
    with fail_unless_captured():
        check(counts, x, y, others=calls, config={"backend": "numba"}, calls=1)


def of_integers(n, k):
    return (n % k == 0).sum(), np.count_nonzero(n > k), np.any((n < 0) ^ (n > 5)), np.all(n * n >= 0), np.sum(n.astype(bool))


def test_of_integers():
    n = np.arange(-7, 30)
    with fail_unless_captured():
        check(of_integers, n, 3, others=[(n.astype("i"), 4), (n[:0], 2), (n.reshape(1, -1), 5), (n[::3], 3)],
              config={"backend": "numba"}, calls=1)


def signs(x):
    s = np.sign(x)
    return s, np.sign(x * 3.0) * 0.5, np.sum(np.diff(np.sign(x)) != 0), np.diff(x), np.diff(x * 2), np.diff(x > 0)


@pytest.mark.parametrize("backend, code", [("numba", "d"), ("numba", "f"), ("python", "f")])
@pytest.mark.filterwarnings("always::RuntimeWarning")
def test_signs_and_differences(backend, code):
    """NaN keeps its bits, both zeros give 0.0; differences warn where NumPy's function does."""
    x = noise(code, 50)
    calls = [(spoilt(x, *some),) for some in SPECIALS] + [(x[:0],), (x[:1],), (x[::-3],), (noise(code, 5, 6),)]
    calls += [(noise(code, 6, 5).T,), (noise(code, 2, 3, 4)[:, ::2],), (noise(code, 3, 1),), (-np.abs(x),)]
    with fail_unless_captured():
        check(signs, x, others=calls, config={"backend": backend}, calls=1)


def test_differences_of_other_elements():
    n = np.arange(12)[::-1] ** 2
    calls = [(n.astype(code),) for code in ("u1", "i2", "?", "F", "D")] + [(n.reshape(3, 4),)]
    with fail_unless_captured():
        check(lambda n: (np.diff(n), np.diff(n, axis=0), np.diff(n, 2)), n, others=calls, config={"backend": "numba"}, calls=1)
