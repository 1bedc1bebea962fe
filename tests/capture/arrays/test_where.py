"""np.where of a mask, numbers and arrays: one loop, with comparisons before it and stores or sums behind it."""

import numpy as np
import pytest

from tests.harness import check, fail_unless_captured


def noise(code, *shape):
    return (np.random.RandomState(7).standard_normal(shape) * 10).astype(code)


def chosen(x, y, k):
    small = np.where(x > 0, x, y)
    relu = np.where(x < y, 0, x)
    leaky = np.where(x > 0, x, 0.01 * x) * 2.0
    both = np.where((x > -5.0) & (y < 5.0), 1.0, -1.0)
    holes = np.where(np.abs(y) > 8, np.nan, y)
    counts = np.where(x > k, 1, 0)
    return small, relu, leaky, both, holes, counts, counts.sum(), np.where(y > x, k, y)


SHAPES = [(40,), (5, 8), (1,), (0,), (2, 3, 4), (0, 3), (3, 1)]


@pytest.mark.parametrize("backend, code", [("numba", "d"), ("numba", "l"), ("python", "f")])
@pytest.mark.filterwarnings("ignore")
def test_choices(backend, code):
    calls = [(noise(code, *shape), noise(code, *shape), 2.0) for shape in SHAPES]
    calls += [(noise(code, *first), noise(code, *second), k) for first, second, k in [
        ((5, 8), (8,), 1.0), ((5, 1), (1, 8), 1), ((8,), (5, 8), -1.5), ((3,), (4,), 2.0)]]
    calls += [(noise(code, 8, 5).T, noise(code, 5, 8), 2.0), (noise(code, 10)[::2], noise(code, 5), 2.0)]
    with fail_unless_captured():
        check(chosen, *calls[0], others=calls[1:], config={"backend": backend}, calls=1)


def stored(x, mask, out):
    out[...] = np.where(mask, x, out)
    out[1:] = np.where(mask[1:], out[:-1], 0.0)
    x[:] = np.where(x > out, out, x)
    rows = np.where(mask, x, 1.0).sum(axis=-1)
    return out, rows, np.where(mask, mask, out > 0)


def test_stores_and_sums():
    calls = [(noise("d", *shape), noise("d", *shape) > 0, noise("d", *shape))
             for shape in [(9, 12), (9, 300), (30,), (1, 1)]]
    x, mask, out = calls[0]
    calls += [(x, mask, x), (x[:, 1:], mask[:, 1:], x[:, :-1]), (x, mask[:1], out), (x, mask.astype("i1"), out)]
    with fail_unless_captured():
        check(stored, *calls[0], others=calls[1:], config={"backend": "numba"}, calls=1)


def flagged(x, y):
    return np.where(y != 0, x / y, 0.0), np.where(x > 1e300, 1.0, x * 1e200)


@pytest.mark.filterwarnings("always::RuntimeWarning")
def test_what_is_not_chosen_warns_too():
    x, y = noise("d", 50), noise("d", 50)
    zero, huge = y.copy(), x.copy()
    zero[7], huge[9] = 0.0, 1e301
    with fail_unless_captured():
        check(flagged, x, y, others=[(x, zero), (huge, y), (x[:3], zero[5:8])], config={"backend": "numba"})


def scalars(x, flag, number, half):
    return np.where(x > 0, number, x), np.where(x > 0, flag, x > 1), np.where(x > 0, half, x), np.where(x > 0, 1, 2.5)


@pytest.mark.parametrize("code", "dfib")
def test_types_of_numbers(code):
    x = noise(code, 12)
    calls = [(x, flag, number, half) for flag, number, half in [
        (True, 3, 0.5), (np.True_, np.float64(0.1), np.float32(0.1)), (False, 300, 1e300),
        (False, np.int8(4), float("nan"))]]
    check(scalars, *calls[0], others=calls[1:], config={"backend": "numba"}, calls=1)
