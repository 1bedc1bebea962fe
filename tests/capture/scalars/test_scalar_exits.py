"""Operations on numbers stay in the kernel for common values for which plain code neither raises nor warns."""

import math
import os
import struct
import warnings

import numpy as np
import pytest

import pijit
from tests.harness import jitted

VALUES = (0.0, -0.0, 1.0, 2.5, -2.0, 1e-200, 5e-324, math.inf, -math.inf, math.nan)

PYTHON = ("x ** 2", "x ** 3", "x ** 2.0", "x ** 0.5", "x ** -1", "x ** 0", "x ** y", "2.0 ** x", "pow(x, 4)", "x * x",
          "x / y", "x // y", "x % y", "abs(x)", "min(x, y)", "math.sqrt(x)", "math.exp(x)", "math.log(x)", "math.tanh(x)",
          "math.atan(x)", "math.log1p(x)", "abs(complex(x, y))", "abs(complex(y, x))")
NUMPY = ("x ** 2", "x ** 3", "x ** 2.0", "x ** 0.5", "x ** -1", "x ** y", "2.0 ** x", "x * y", "x / y", "abs(x)",
         "np.sqrt(x)", "np.exp(x)", "np.float32(y) * np.float32(2.0)")

TEXT = """
def f(x, y):
    for i in range(8):
        a = {0}
        b = {0}
        c = x == y
    return a, b, c
"""


def function_of(expression):
    names = {"np": np, "math": math}
    exec(TEXT.format(expression), names)
    return names["f"]


def outcome(f, *args):
    """What a call gives, with its bits, or None where it raises or warns, or gives another type than a float."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            result = f(*args)
        except (ArithmeticError, ValueError, RuntimeWarning):
            return None
    return None if isinstance(result[0], complex) else [(type(one), struct.pack("d", one)) for one in result[:2]]


def exits_of(f, kind, values=VALUES):
    """The values for which plain code is silent, and a kernel of the function leaves all the same."""
    j = jitted(f, {"perf_statistics": False, "force_breaks": None})
    for _ in range(4):
        with np.errstate(all="ignore"):
            j(kind(2.5), kind(2.0))
    left = []
    for value in values:
        before = sum(one.count for one in pijit.info(j).exits.exits)
        wanted = outcome(f, kind(value), kind(2.0))
        assert outcome(j, kind(value), kind(2.0)) == wanted, value
        if wanted is not None and sum(one.count for one in pijit.info(j).exits.exits) > before:
            left.append(value)
    assert any(launcher.calls for entry in j.state.entries for launcher in entry.launchers)
    return left


OLD_NUMPY = np.lib.NumpyVersion(np.__version__) < "1.22.0"


def is_rare(expression, kind, value):
    """What comes with subnormal results, and CPython's own NaN of complex numbers.

    Kernels in Python look at all underflows. NumPy 1.21 raises that flag for exp(-inf), too.
    """
    in_python = os.environ.get("PIJIT_TEST_BACKEND") == "python"
    if in_python and OLD_NUMPY and "exp" in expression and value == -math.inf:
        return True
    least = 1e-100 if in_python else 1e-300
    return abs(value) < least and value != 0.0 or "complex" in expression and math.isnan(value)


@pytest.mark.parametrize("expression", PYTHON)
def test_python_floats(expression):
    left = exits_of(function_of(expression), float)
    assert [value for value in left if not is_rare(expression, float, value)] == []


@pytest.mark.parametrize("expression", NUMPY)
def test_numpy_doubles(expression):
    left = exits_of(function_of(expression), np.float64)
    assert [value for value in left if not is_rare(expression, np.float64, value)] == []


def power(x, y):
    for i in range(8):
        a = x ** y
        b = x ** y
    return a, b, x


def test_powers_have_the_bits_of_plain_code():
    rng = np.random.default_rng(3)
    bases = [*VALUES, *(rng.standard_normal(300) * np.exp(20 * rng.standard_normal(300))).tolist()]
    exponents = [2.0, 3.0, -1.0, 0.5, 0.0, -2.5, math.inf, math.nan, 4.0, 1e300]
    for kind in (float, np.float64):
        j = jitted(power)
        for exponent in exponents:
            for base in bases if exponent == 2.0 else bases[:40]:
                args = kind(base), kind(exponent)
                assert outcome(j, *args) == outcome(power, *args), args


@pytest.mark.parametrize("kind", (float, np.float64))
@pytest.mark.parametrize("base, exponent", ((0.0, -1.0), (1e200, 2.0), (-2.0, 0.5), (-0.0, -3.0)))
def test_powers_that_raise_or_warn_leave(kind, base, exponent):
    j = jitted(power, {"perf_statistics": False, "force_breaks": None})
    for _ in range(4):
        j(kind(2.5), kind(2.0))

    def told(f):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                result = repr(f(kind(base), kind(exponent)))
            except ArithmeticError as error:
                result = repr(error)
        return result, [str(one.message) for one in caught]

    for _ in range(3):
        assert told(j) == told(power)
    (left,) = pijit.info(j).exits.exits
    assert (left.operation, left.count) == ("**", 3)


def lengths(points):
    n = points.shape[0]
    out = np.zeros(n)
    for i in range(1, n):
        dx, dy = points[i] - points[i - 1]
        out[i] = np.sqrt(dx ** 2 + dy ** 2)
    return out


def test_a_loop_over_powers_of_zero_is_not_left():
    points = np.stack([np.arange(50) * 0.3, np.full(50, 200.0)], axis=1)
    j = jitted(lengths, {"perf_statistics": False, "force_breaks": None})
    for _ in range(4):
        assert j(points).tobytes() == lengths(points).tobytes()
    assert pijit.info(j).exits.exits == ()
