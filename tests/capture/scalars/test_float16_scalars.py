"""Scalars of float16: operators, conversions, comparisons and loops over elements, as NumPy and Python do them."""

import numpy as np
import pytest

from tests.capture.arrays.test_float16_arrays import SPECIAL
from tests.capture.scalars.test_scalars import BINARY, EVERY, agree, define
from tests.harness import fail_unless_captured, jitted

NUMBERS = list(SPECIAL[::3]) + [np.float16(x) for x in (2.5, -3.0, 0.1, 255.0, 2048.0)]
NUMBERS = [x for x in NUMBERS if not np.isnan(x)] + [np.float16("nan")]
OTHERS = [NUMBERS[::3], [2.5, 0.1, -1e5, 1e-8, 70000.0, 1e300, float("inf"), 0.0], [0, 3, -2049, 2049, 65519, 10 ** 6],
          [True, False], [np.float32(0.1), np.float32(1e6)], [np.float64(0.1), np.float64(1e-9)],
          [np.int8(3), np.int8(-100)], [np.int16(3000)], [np.uint8(200)], [np.int64(70000), np.int64(5)]]
NATIVE = {"backend": "numba", "force_breaks": None, "cache_limit": 64}


@pytest.mark.parametrize("config", (EVERY, NATIVE), ids=("python", "numba"))
@pytest.mark.parametrize("symbol", BINARY + ("<", "<=", "==", "!=", ">", ">="))
def test_operators(symbol, config):
    if symbol in ("&", "|", "^", "<<", ">>", "@"):
        pytest.skip("not an operator of floats")
    if symbol == "//" and np.lib.NumpyVersion(np.__version__) < "1.23.0":
        pytest.skip("the process dies of np.float16(1) // np.float16(0)")
    f = define("def f(a, b):\n    return a %s b" % symbol)
    for state in ({}, {"all": "raise"}, {"all": "ignore"}):
        with np.errstate(**state):
            for others in OTHERS:
                j = jitted(f, config)
                agree(f, j, [(a, b) for a in NUMBERS for b in others])
                agree(f, jitted(f, config), [(b, a) for a in NUMBERS[::2] for b in others])


UNARY = ("-a", "abs(a)", "+a", "float(a)", "bool(a)", "not a", "a.item()", "np.float32(a), np.float64(a)", "np.float16(a)",
         "np.sqrt(a)", "np.exp(a)", "a + 1, a * 2.5", "a if a else -a", "np.isnan(a)", "complex(a)", "str(a)", "a ** 2",
         "max(a, np.float16(1)), min(a, np.float16(0.3))", "np.maximum(a, np.float16(2))", "[a, a], (a,)", "a // 2", "a % 3")


@pytest.mark.parametrize("config", (EVERY, NATIVE), ids=("python", "numba"))
@pytest.mark.parametrize("text", UNARY)
def test_functions(text, config):
    f = define("def f(a):\n    return " + text, np=np)
    for state in ({}, {"all": "raise"}, {"all": "ignore"}):
        with np.errstate(**state):
            agree(f, jitted(f, config), [(a,) for a in NUMBERS])


@pytest.mark.parametrize("text", ("np.float16(a)", "np.float16(a) + np.float16(1.5)", "np.array([a, a], np.float16)",
                                  "np.full(3, a, 'e')"))
def test_numbers_become_float16(text):
    f = define("def f(a):\n    return " + text, np=np)
    for numbers in ([0.1, -0.0, 65519.0, 65520.0, 1e-8, 6e-5, 1e300, float("nan"), float("inf"), 1 + 2 ** -11 + 2 ** -40],
                    [5, -2049, 70000], [np.float32(0.1), np.float32(65520)], [np.int16(5), np.int16(-3001)]):
        with np.errstate(all="ignore"):
            agree(f, jitted(f, NATIVE), [(number,) for number in numbers])
        agree(f, jitted(f, NATIVE), [(number,) for number in numbers])


def test_loops():
    def f(values, scale):
        total = np.float16(0)
        largest = values[0]
        for i in range(len(values)):
            total += values[i] * scale
            if values[i] > largest:
                largest = values[i]
            values[i] = total / np.float16(3) - scale
        return total, largest, values

    for scale in (np.float16(0.5), np.float16(2.0 ** -14), np.float16(300)):
        values = np.linspace(-4, 5, 300).astype("e")
        with fail_unless_captured(1), np.errstate(all="ignore"):
            j = jitted(f, NATIVE)
            for _ in range(3):
                wanted, got = f(values.copy(), scale), j(values.copy(), scale)
                assert [x.tobytes() for x in wanted] == [x.tobytes() for x in got]
                assert [type(x) for x in wanted] == [type(x) for x in got]
