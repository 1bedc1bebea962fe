"""Rows divided by a number that is the same for all of them: NumPy's bits, without a division each."""

import warnings
from collections import OrderedDict
from unittest import mock

import numpy as np
import pytest

from pijit.core.kernel import compile
from pijit.core.kernel.llvm.nest import reciprocal_division
from tests.harness import check, fail_unless_captured, jitted

NUMBA = {"backend": "numba", "force_breaks": None}
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 5e-324, -5e-324, 1e-300, 2.0 ** -501, 2.0 ** -500, 1e300, -1.7e308]
DIVISORS = [3.0, 1.0, 0.1, 2.0 ** -0.5, 1 - 2.0 ** -53, 2 - 2.0 ** -52, 1 + 2.0 ** -52, 49.0, 1e-120, 1e120, 2.0 ** 400, 2.0 ** -400]
ODD_DIVISORS = [-3.0, 0.0, -0.0, np.inf, np.nan, 1e-308, 5e-324, 2.0 ** 401, 2.0 ** -401, 1.7e308]


def quotient(x, d):
    return x / d - 0.0


def centred(x, d, m):
    return (x - m) / d


def into(x, d):
    x /= d
    return x.sum()


def into_part(x, d, out):
    out[::2] = x / d
    return out[0]


def in_rows(x, d):
    return (x * 2.0) / d


def compared(x, d):
    return np.where(x / d > 0.3, x / d, 1.0)


def twice(x, d, m):
    return (x / d + m) / (d * m)


def noise(n=1500, seed=0):
    source = np.random.RandomState(seed)
    return source.standard_normal(n) * 2.0 ** source.randint(-40, 40, n)


def near_halves(d, n=1000):
    """Dividends whose quotients lie as near to the middle of two floats as products of theirs come."""
    middles = np.random.RandomState(1).randint(2 ** 52, 2 ** 53, n).astype(np.longdouble) + np.longdouble(0.5)
    found = (middles * np.longdouble(d)).astype(np.float64)
    return np.concatenate([found, np.nextafter(found, 0.0), np.nextafter(found, np.inf)])


@pytest.mark.parametrize("d", DIVISORS)
def test_all_quotients_are_rounded_as_divisions_are(d):
    f = jitted(centred, NUMBA)
    for x in (noise(), near_halves(d), noise(40000, 1), np.arange(1500.0) - 700, -np.zeros(100)):
        for count in (1, 63, 64, 511, 512, 513, 1030, len(x)):
            for m in (0.0, 1e-3):
                with np.errstate(all="ignore"):
                    assert f(x[:count], d, m).tobytes() == centred(x[:count], d, m).tobytes(), (d, count)


def hardest(d):
    """Whole dividends x below d, of 53 bits each, for which x / d is hardly off the middle of two floats: by r / d / 2 ** 54 for
    small r."""
    inverse = pow((d + 1) // 2, 54, d)
    found = [r * inverse % d for r in range(-15, 16, 2)]
    return np.array([x for x in found if 2 * x >= d and x * 2 ** 54 // d % 2], np.float64)


def test_quotients_that_are_hard_to_round():
    f = jitted(quotient, NUMBA)
    cases = 0
    for d in np.random.RandomState(4).randint(2 ** 52, 2 ** 53, 400).tolist():
        x = hardest(d | 1)
        cases += len(x)
        x = np.concatenate([x, np.ones(64)])
        assert f(x, float(d | 1)).tobytes() == quotient(x, float(d | 1)).tobytes(), d | 1
    assert cases > 1000


@mock.patch.object(compile, "_compiled", OrderedDict())
def test_rows_are_written_so():
    with mock.patch.object(reciprocal_division, "write_row", wraps=reciprocal_division.write_row) as wrapped, \
            mock.patch.object(reciprocal_division, "fuses_products", lambda: True), fail_unless_captured():
        f = jitted(lambda x, d: x / d * 0.5, NUMBA)
        assert f(noise(), 3.0).tobytes() == (noise() / 3.0 * 0.5).tobytes()
    assert wrapped.called


@pytest.mark.parametrize("d", DIVISORS[:4] + ODD_DIVISORS)
@fail_unless_captured()
def test_special_dividends_and_divisors(d):
    """At the beginning, in the middle, at the end; and again with ordinary numbers."""
    for at in (0, 700, 1487):
        x = noise()
        x[at:at + len(SPECIAL)] = SPECIAL
        check(centred, x, d, 0.0, others=[(noise(), d, 0.5), (x, 3.0, 0.0)])
        check(into, x, d, others=[(noise(), d)])
        check(compared, x, d, others=[(noise(), d)])


@pytest.mark.parametrize("special", SPECIAL)
@fail_unless_captured()
def test_one_special_number(special):
    x = noise()
    x[1100] = special
    check(quotient, x, 1.7, others=[(noise(), 1.7)])
    check(into_part, x, 1.7, np.zeros(3000), others=[(noise(), 1.7, np.zeros(3000))])


@pytest.mark.parametrize("x", [noise(1500).reshape(15, 100), noise(1500).reshape(15, 100).T, noise(3000)[::2],
                               noise(1500)[::-1], noise(3000).reshape(15, 200)[:, 50:150], noise().astype(np.float32),
                               np.arange(1500), noise() > 0], ids=lambda x: "%s%s%s" % (x.dtype.char, x.shape, x.strides))
@fail_unless_captured()
def test_layouts_and_dtypes(x):
    d = np.abs(noise(x.shape[0], 3)).reshape((-1,) + (1,) * (x.ndim - 1)) + 0.1
    check(in_rows, x, d)
    check(in_rows, x, 3.0)
    check(twice, x, x.dtype.type(3.0), x.dtype.type(1))
    check(quotient, x, np.float32(3.0))


@fail_unless_captured()
def test_rows_that_divide_their_own_memory():
    x = noise(2000)
    check(into, x, 7.0, others=[(x[::-1], 7.0), (np.full(2000, np.inf), 7.0)])

    def shifted(x, d):
        x[1:] = x[:-1] / d
        return x

    check(shifted, noise(2000), 3.0)
    check(shifted, np.append(noise(1000), [np.inf, 0.0, -0.0, 1e-310]), 3.0)


@pytest.mark.parametrize("state", ["warn", "raise"])
@fail_unless_captured()
def test_what_is_told_of_flags(state):
    """Overflows and divisions by zero are reported, what was tried before is not."""
    x = noise()
    odd = x.copy()
    odd[900] = 1e308
    infinite = x.copy()
    infinite[900] = np.inf
    with np.errstate(all=state):
        check(quotient, x, 1e-5, others=[(odd, 1e-5), (infinite, 1e-5), (x, 0.0)])
        check(quotient, infinite, 3.0, others=[(x, 3.0)])


def test_no_warning_of_what_was_tried():
    x = noise()
    x[[3, 800]] = np.inf, 1e-310
    f = jitted(quotient, NUMBA)
    with warnings.catch_warnings(), np.errstate(all="warn", under="ignore"):
        warnings.simplefilter("error")
        for _ in range(5):
            assert f(x, 3.0).tobytes() == (x / 3.0).tobytes()
