"""``x[m] = 2.0 - x[m]``: what is computed under a mask, where it is."""

import warnings

import numpy as np
import pytest

import pijit
from tests.harness import check, fail_unless_captured

BACKENDS = pytest.mark.parametrize("backend", ["python", "numba"])


def mirrored(x, y, m):
    x[m] = 2.0 - x[m]
    return x


def turned(x, y, m):
    y[m] *= -1.0
    x[x < 0] = -x[x < 0]
    return x, y


def joined(x, y, m):
    y[~m] = np.sqrt(x[~m] - 1.0) / (y[~m] + 0.5)
    return y


def inverted(x, y, m):
    x[m] = 1.0 / x[m]
    x[x > 1] = np.abs(x[x > 1]) * y[x > 1]
    return x


def of_another(x, y, m):
    y[m] = x[m] * 0.5
    return y


def of_either(x, y, m):
    y[m] = (x if x[0] > 2.0 else x + x)[m] * 0.5
    return y


FUNCTIONS = [mirrored, turned, joined, inverted, of_another, of_either]


def numbers(size, dtype="d"):
    x = np.linspace(1.0, 9.0, size).astype(dtype)
    return x, x[::-1].copy(), np.arange(size) % 3 == 0


@pytest.mark.parametrize("f", FUNCTIONS)
def test_they_are_nests(f, groups):
    pijit.jit(f, jit_config={"backend": "numba", "cache": False})(*numbers(12))
    nests = [group for group in groups if group[-1].name == "put_mask"]
    assert nests and all(group[0].name == "pick" and len(group) > 2 for group in nests)


def cases():
    """Many and few are picked, flags in and beside them, shapes that do not fit, overlaps, what is read-only."""
    x, y, m = numbers(1200)
    odd = x.copy()
    odd[:7] = 0.0, -0.0, np.inf, -np.inf, np.nan, 1e308, -1.7e308
    few, none = np.arange(1200) == 700, np.zeros(1200, bool)
    odd_ones = np.arange(1200) < 7
    fixed = x.copy()
    fixed.setflags(write=False)
    calls = [(odd, y, ~odd_ones), (odd, y, odd_ones), (y, odd, m), (odd, odd.copy(), m), (x, y, few), (odd, y, few),
             (x, y, none), (x, y, ~none), (x, y[:1].copy(), m), (x[:1].copy(), y, m), (x, y, m[:5]), (x, y, m[:1]),
             (fixed, y, m), (y, fixed, m), (x[:0].copy(), y[:0].copy(), m[:0]), (x[::2], y[::2], m[::2]),
             (x * 1e305, y * 1e305, m)]
    return calls, [(x[1:], x[:-1], m[1:]), (x[:-1], x[1:], m[1:]), (x, x, m)]


@BACKENDS
@pytest.mark.parametrize("f", FUNCTIONS)
def test_same_answers(f, backend):
    calls, shared = cases()
    with fail_unless_captured(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(f, *numbers(1200), others=calls, aliased=shared, config={"backend": backend}, calls=1)


@pytest.mark.parametrize("action", ["error", "always"])
@fail_unless_captured()
def test_warnings_are_of_what_is_picked(action):
    x, y, m = numbers(600)
    x[:4] = 0.0, 1e308, -1.0, np.inf
    with warnings.catch_warnings():
        warnings.simplefilter(action)
        for f in (inverted, joined):
            others = [(x, y, m), (x, y, ~m), (y, x, m)]
            check(f, np.abs(y) + 1.0, y, m, others=others, config={"backend": "numba"}, calls=2)


@pytest.mark.parametrize("code", "Blf")
@fail_unless_captured()
def test_other_types_and_axes(code):
    def moved(x, y, m):
        x[m] = x[m] * x[m] - y[m]
        y[y == x] -= y[y == x]
        return x, y

    x, y, m = numbers(1200, code)
    calls = [tuple(a.reshape(30, 40) for a in (x, y, m)), (x.reshape(30, 40), y.reshape(30, 40), m[:30]),
             (x.reshape(30, 40), y.reshape(40, 30), m.reshape(30, 40)), (x, y[:3].copy(), m)]
    bits = m.astype(code)
    own = [(bits, y, bits.view(bool))] if code == "B" else []
    check(moved, x, y, m, others=calls, aliased=own, config={"backend": "numba"}, calls=1)


@BACKENDS
@fail_unless_captured()
def test_masks_that_change(backend):
    """A mask that is no longer what it was, one that has another name, and results that have one."""
    def changed(x, y, m):
        low, also = x < 4.0, x < 4.0
        kept = x[low]
        x[also] = -kept
        x[x < 4.0] = -x[x < 0.0]
        low[0] = m[0]
        x[low] = x[also] + 1.0
        return x, low, also, kept

    x, y, m = numbers(90)
    with np.errstate(all="ignore"):
        check(changed, x, y, m, others=[(y, x, m), (x - 9.0, y, m)], config={"backend": backend}, calls=2)


def grown(x, m, rounds):
    for _ in range(rounds):
        x[m] = -x[m]
        x[m] = x[m] * 1e40
    return x


@pytest.mark.parametrize("action", ["error", "always"])
@fail_unless_captured()
def test_bounds_outlast_what_changes_signs_alone(action):
    x, _, m = numbers(300)
    with warnings.catch_warnings():
        warnings.simplefilter(action)
        check(grown, x, m, 5, others=[(x, m, 9), (x, ~m, 3), (-x, m, 8)], config={"backend": "numba"}, calls=2)


def rescaled(x, m, rounds):
    for k in range(rounds):
        x *= 1e200
        x *= 1e-250
        x[m] = x[m] - x[m]
    return x


@pytest.mark.parametrize("action", ["error", "always"])
@fail_unless_captured()
def test_no_bound_is_known_behind_what_overflowed(action):
    x, _, m = numbers(300)
    with np.errstate(over="ignore"), warnings.catch_warnings():
        warnings.simplefilter(action)
        check(rescaled, x, m, 2, others=[(x * 1e150, m, 1), (x * 1e150, ~m, 2)], config={"backend": "numba"}, calls=2)


@pytest.mark.parametrize("size", [63, 64, 65, 127, 192, 1000])
@fail_unless_captured()
def test_blocks_without_any(size):
    """Masks that skip whole blocks, ends behind the last one, and bytes that are neither 0 nor 1."""
    def signs(x, m):
        x[m] = -np.abs(x[m])
        x[m] = x[m] * 0.5 - 1.0
        return x

    x, places = np.linspace(1.0, 9.0, size), np.arange(size)
    masks = [places == k for k in (0, 31, 62, 63, 64, size - 1)] + [places > 63, places < 64, places % 65 == 64]
    masks += [np.where(places % 97 == 5, 7, 0).astype(np.uint8).view(bool)]
    calls = [(values, mask) for values in (x, np.where(places == 7, np.inf, x)) for mask in masks]
    check(signs, x, places % 2 == 0, others=calls, config={"backend": "numba"}, calls=1)
