"""Nests of much arithmetic by vectors as wide as registers, on processors of which that is known to be faster."""

from unittest import mock

import numpy as np
import pytest

from pijit.core.kernel.llvm import threads
from pijit.core.kernel.llvm.threads import gains_by_width
from tests.capture.arrays.indexing.test_gathers import NUMBA
from tests.harness import check, fail_unless_captured


def limiter(x, y):
    z = np.clip(x * 2.125, -0.75, 0.75)
    z += 0.1875 * np.abs(z) * y
    return z * 0.9375


def chosen(x, y):
    return np.where(x < -1.5, -x - 0.5625, np.where(y > 1.5, y - 0.5625, 0.5625 * x * y))


def stored(x, y):
    y[1:-1] = 2.0625 * x[1:-1] - y[1:-1] + 0.25 * (x[2:] + x[:-2] - 2.0 * x[1:-1])
    x += y * 0.0625 * y
    return x, y


@pytest.mark.parametrize("code", "df")
@pytest.mark.parametrize("f", [limiter, chosen, stored])
@pytest.mark.parametrize("wide", [True, False])
@pytest.mark.filterwarnings("always::RuntimeWarning")
def test_vectors(f, code, wide):
    """Of all sizes around whole vectors, and with numbers that warn."""
    x, y = (make(np.arange(3000.0)).astype(code) * 2 for make in (np.sin, np.cos))
    calls = [(x[:size], y[:size]) for size in [*range(3, 40), 63, 64, 65, 129, 1000]] + [(x[1::2], y[::2])]
    for number in (np.nan, np.inf, 3e38, -0.0):
        strange = x.copy()
        strange[::77] = number
        calls += [(strange, y), (y, strange)]
    with fail_unless_captured(), mock.patch.object(threads, "has_feature", lambda name: wide):
        check(f, x, y, others=calls, config=dict(NUMBA, parallel="auto"), calls=1)


def test_what_gains(monkeypatch):
    monkeypatch.setattr(threads, "has_feature", lambda name: name == "avx512fp16")
    assert gains_by_width(["mul", "add", "clip"]) and not gains_by_width(["mul", "add"])
    assert not gains_by_width(["mul", "add", "gather"]) and not gains_by_width(["mul", "add", "truediv", "sqrt"])
    monkeypatch.setattr(threads, "has_feature", lambda name: False)
    assert not gains_by_width(["mul", "add", "clip"])
