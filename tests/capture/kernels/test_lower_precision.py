"""The option `auto_mixed_precision`: kernels compute in float32, within float32's errors, and leave where it cannot."""

import numpy as np
import pytest

import pijit
from pijit.differential import DifferenceError
from tests.harness import fail_unless_captured, jitted

LOWER = {"auto_mixed_precision": "float32", "perf_statistics": False}
X = np.linspace(-2.0, 2.0, 60)
M = X.reshape(6, 10)


def bell(x, a):
    return np.exp(-x * x) * a + np.sin(x)


def repeated(x, a):
    for _ in range(4):
        y = np.tanh(x) * a
        x = x + 0.1 * y
    return x, y


def softmax(x, a):
    e = np.exp(x - x.max())
    return e / e.sum() * a


def logistic(x, a):
    p = 1.0 / (1.0 + np.exp(-x * a))
    return -np.mean(np.log(p)), p


def stores(x, a):
    y = np.exp(x)
    y[0] = a
    x[1:] = np.sin(y[1:]) * np.cos(x[1:])
    x[0] = 2.0
    return np.exp(x) * y


def products(x, a):
    y = x @ x.T.copy()
    return np.exp(y / 10.0) * a, y


def with_whole_numbers(x, a):
    return np.exp(x) * 2 + np.sqrt(np.abs(x) * 3)


def steered(x, a):
    y = np.exp(x)
    return y if y.sum() > a else -y


VECTORS = [bell, repeated, softmax, logistic, stores, with_whole_numbers, steered]
MATRICES = [bell, repeated, softmax, products, steered]
CASES = [(f, X) for f in VECTORS] + [(f, M) for f in MATRICES]


def arrays_of(found):
    return found if isinstance(found, tuple) else (found,)


def assert_close(got, wanted):
    """Equal types, infinities and NaNs, and numbers to six digits of the largest one."""
    for one, other in zip(arrays_of(got), arrays_of(wanted)):
        assert type(one) is type(other) and np.asarray(one).dtype == np.asarray(other).dtype
        finite = np.isfinite(other)
        np.testing.assert_array_equal(np.asarray(one)[~finite], np.asarray(other)[~finite])
        if finite.any():
            scale = np.abs(np.asarray(other)[finite]).max()
            np.testing.assert_allclose(np.asarray(one)[finite], np.asarray(other)[finite], rtol=0, atol=2e-6 * scale)


@pytest.mark.parametrize("f, x", CASES)
def test_results_have_errors_of_float32(f, x):
    with fail_unless_captured():
        j = jitted(f, LOWER)
        for _ in range(4):
            given, plain = x.copy(), x.copy()
            got, wanted = j(given, 1.5), f(plain, 1.5)
            assert_close(got, wanted)
            assert_close(given, plain)
    differs = [one.tobytes() != other.tobytes() for one, other in zip(arrays_of(got), map(np.asarray, arrays_of(wanted)))]
    assert any(differs), "nothing was computed in float32"


@pytest.mark.parametrize("f, x", CASES)
@pytest.mark.parametrize("a", [1e300, -1e300, 1e-300, np.inf, np.nan, np.float64(3.0), 7])
def test_numbers_that_float32_cannot_hold(f, x, a):
    j = jitted(f, LOWER)
    with np.errstate(all="ignore"):
        for number in (1.5, 1.5, a, 1.5):
            got, wanted = j(x.copy(), number), f(x.copy(), number)
            if number != 1e-300:  # float32 rounds it to 0
                assert_close(got, wanted)


@pytest.mark.parametrize("f, x", CASES)
@pytest.mark.parametrize("scale", [1e200, 1e30, np.inf, np.nan])
def test_elements_that_float32_cannot_hold(f, x, scale):
    if f is bell and scale == 1e30:
        pytest.skip("the sine of a large number needs all its digits")
    j = jitted(f, LOWER)
    with np.errstate(all="ignore"):
        for factor in (1.0, 1.0, scale, 1.0):
            assert_close(j(x * factor, 1.5), f(x * factor, 1.5))


def test_warnings_are_those_of_float64():
    def inverse(x):
        return 1.0 / np.log(x)

    j = jitted(inverse, LOWER)
    x = np.linspace(2.0, 3.0, 20)
    j(x), j(x)
    x[3] = 1.0
    with pytest.warns(RuntimeWarning, match="divide by zero encountered in divide|divide by zero encountered in true_divide"):
        found = j(x)
    assert found[3] == np.inf and j(np.exp(x) * 1e100).dtype == np.float64


def test_arrays_in_other_orders_and_dtypes_stay():
    for x in (np.asfortranarray(M), M[:, ::2], M.astype("f"), np.arange(60), M.astype(complex)):
        j = jitted(bell, LOWER)
        for _ in range(3):
            got, wanted = j(x, 1.5), bell(x, 1.5)
        assert got.tobytes() == wanted.tobytes() and got.strides == wanted.strides


def test_check_compares_with_a_tolerance():
    pijit.check(bell, X, 1.5, config=dict(LOWER))
    pijit.check(repeated, M, 1.5, config=dict(LOWER))
    checked = jitted(bell, dict(LOWER, check=True))
    for _ in range(3):
        assert_close(checked(X, 1.5), bell(X, 1.5))

    def cancels(x):
        return np.sin(x + 1e6) - np.sin(x + 1e6 + 1e-5)

    with pytest.raises(DifferenceError, match="bits of result"):
        pijit.check(cancels, X, config=dict(LOWER))


def test_the_option_is_checked():
    with pytest.raises(ValueError, match="auto_mixed_precision"):
        pijit.jit(bell, jit_config={"auto_mixed_precision": "float16"})


def test_explain_counts_the_exits():
    """Machine code: before NumPy 1.24 its conversions, which kernels in Python call, raise no flags."""
    def f(x):
        return np.tanh(x)

    j = jitted(f, dict(LOWER, backend="numba"))
    for _ in range(5):
        j(X * 1e200)
    text = str(pijit.explain(j))
    assert "PJ310" in text and "a floating-point flag is raised, exits: 5" in text
