"""Floating-point flags of statements that are checked together: warnings and errors stay where bytecode has them."""

import numpy as np
import pytest

from tests.harness import check, fail_unless_captured

HUGE, TINY = 1.5e308, 3e-200
SPECIAL = [0.0, -0.0, 1.0, -2.5, HUGE, -HUGE, TINY, 5e-324, np.inf, -np.inf, np.nan]


def chain(x, y, out):
    for i in range(len(x)):
        out[i] = x[i] * y[i] + x[i] * 2.0 - y[i] * 0.5


def quotients(x, y, out):
    for i in range(len(x)):
        out[i] = x[i] / (y[i] * 2.0) + y[i] / 3.0


def unused(x, y, out):
    """Results that no later operation shows."""
    for i in range(len(x)):
        big = x[i] + y[i]
        small = x[i] * y[i]
        if big > 1.0:
            out[i] = x[i] - y[i]
        del small


def of_statements(x, y, out):
    for i in range(len(x)):
        a = x[i] * y[i]
        b = a + 1.0
        out[i] = b
        out[i] = a * a + b


def maxima(x, y, out):
    for i in range(len(x)):
        out[i] = max(x[i] + y[i], x[i] * y[i]) - abs(x[i])


def divided(x, y, out):
    """Quotients that say nothing of how large their divisors have become."""
    for i in range(len(x)):
        out[i] = y[i] / (x[i] * x[i] + 1.0)


def products(x, y, out):
    for i in range(len(x)):
        out[i] = x[i] * y[i] - y[i] * x[i] * 0.5 + 1.0


def ratios(x, y, out):
    for i in range(len(x)):
        turned = x[i] / (y[i] + 1.0)
        out[i] = turned - y[i]
        out[i] = 1.0 / (x[i] * x[i] + 1.0) + turned.real * turned.imag


def found(x, y, out, where):
    """Indices out of range behind what may have raised flags, in statements without an effect between."""
    for i in range(len(x)):
        a = x[i] * y[i]
        b = y[where[i]] + a
        c = int(b.real) if where[i] == 3 else 0
        out[i] = b - c


def pairs(dtype, special=SPECIAL):
    with np.errstate(all="ignore"):
        x, y = np.meshgrid(np.array(special, dtype), np.array(special, dtype))
    return x.ravel().copy(), y.ravel().copy(), np.zeros(x.size, dtype)


def zeros_and(tail, dtype=float):
    """Enough zeros for the kernel to ask NumPy, and then something else."""
    x = np.concatenate([np.zeros(200), np.array(tail)]).astype(dtype)
    return x, np.full(x.size, TINY, dtype), np.zeros(x.size, dtype)


FUNCTIONS = [chain, quotients, unused, of_statements, maxima, divided]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
@fail_unless_captured()
def test_special_values(f):
    check(f, *pairs(float), others=[pairs(float, SPECIAL[:4]), zeros_and([TINY, 1.0, HUGE])])


@pytest.mark.parametrize("under", ["warn", "raise", "ignore"])
@pytest.mark.parametrize("f", [chain, quotients], ids=lambda f: f.__name__)
@fail_unless_captured()
def test_underflows_are_told_if_wanted(f, under):
    with np.errstate(under=under, over="raise"):
        check(f, *zeros_and([TINY, 1.0, TINY]), others=[zeros_and([1.0, HUGE, TINY])])


@fail_unless_captured()
def test_single_precision():
    special = [0.0, 1.0, 3e38, -3e38, 1e-30, np.inf, np.nan]
    with np.errstate(under="warn"):
        check(chain, *pairs(np.float32, special), others=[zeros_and([1e-30, 1.0], np.float32)])


PARTS = [0.0, -0.0, 1.0, -2.5, HUGE, TINY, 5e-324, np.inf, np.nan]


def complex_pairs(dtype, parts):
    """All pairs of complex numbers with these parts, and zeros before them, for the kernel to ask NumPy."""
    with np.errstate(all="ignore"):
        numbers = np.array([complex(re, im) for re in parts for im in parts], dtype)
        x, y = np.meshgrid(numbers, numbers[::3])
    x, y = (np.concatenate([np.zeros(200, dtype), z.ravel()]) for z in (x, y))
    return x, y, np.zeros(x.size, dtype)


@pytest.mark.parametrize("f", [products, ratios], ids=lambda f: f.__name__)
@fail_unless_captured()
def test_complex_numbers(f):
    single = complex_pairs("F", [0.0, 1.0, 3e38, 1e-30, np.nan])
    calls = [complex_pairs("D", [1.0, -2.5, 0.0]), complex_pairs("D", PARTS)] + [single] * (f is products)
    check(f, *calls[0], others=calls[1:], calls=1)
    with np.errstate(under="warn", over="raise"):
        check(f, *complex_pairs("D", [1.0, TINY, 0.0]), others=[complex_pairs("D", [0.0, 1.0, HUGE])], calls=1)


@pytest.mark.parametrize("dtype", ["d", "D"])
@fail_unless_captured()
def test_what_raises_behind_what_warns(dtype):
    x, y, where = np.arange(1.0, 41.0).astype(dtype), np.full(40, 2.0, dtype), np.arange(40) % 7
    huge, infinite, outside = x.copy(), x.copy(), where.copy()
    huge[20], infinite[9:11], outside[20] = HUGE, np.inf, 1000
    out = np.zeros(40, dtype)
    calls = [(huge, y, out, where), (huge, y * 2.0, out, outside), (x, y, out, outside), (infinite, -y, out, where)]
    check(found, x, y, out, where, others=calls, calls=1)


def chosen(x, y, low):
    x += np.where(y < low, x, y)


def signed(x, y, low):
    x -= np.sign(y) * low


@pytest.mark.parametrize("f", [chosen, signed], ids=lambda f: f.__name__)
@fail_unless_captured()
def test_operators_in_place_do_not_tell_what_comparisons_met(f):
    x, odd = np.arange(40.0), np.array([np.nan, 1.0, -0.0, -np.inf] * 10)
    both = odd.copy()
    infinite = np.where(np.arange(40) % 2, np.inf, -np.inf)
    calls = [(odd.copy(), odd, 0.0), (both, both, 0.5), (x.copy(), odd, np.nan), (infinite, -infinite, -np.inf)]
    check(f, x, x + 1.0, 3.0, others=calls)
