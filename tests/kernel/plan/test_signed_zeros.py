"""Steps that nests leave out: bits of the results, signs of zeros and NaNs included."""

import itertools
import random

import numpy as np
import pytest

from tests.capture.scalars.test_scalars import define
from tests.harness import check
from tests.kernel.plan.test_multi_output_fusion import printed_plan

NAN = np.copysign(np.nan, -1.0)
"""The NaN that x86 makes: of two other ones, either may be the result (docs/limits.md)."""
NUMBERS = (0.0, -0.0, 1.5, -2.0, 5e-324, -5e-324, 1e308, np.inf, -np.inf, NAN)
X, Y = (np.array(part) for part in zip(*itertools.product(NUMBERS, NUMBERS)))
OTHERS = [(X, Y, h) for h in (0.0, -0.0, -1.0, np.inf, NAN)] + [(X[:8], Y[:8], 2.0), (X[:0], Y[:0], 1.0)]
LEFT_OUT = "left out of nests, because they change no bit: "


def ignoring(*lines):
    """A function of these lines that ignores all flags, as backward parts of joint functions do."""
    return define("def f(x, y, h):\n    with np.errstate(all='ignore'):\n        " + "\n        ".join(lines))


def count_left_out(f, tmp_path):
    plan = printed_plan(f, tmp_path, X, Y, 2.0)
    line = next((one for one in plan.split("\n") if one.startswith(LEFT_OUT)), "")
    return line.count("%")


CASES = {
    "a product passes the sign on": (("return h * (0.0 + x * h)",), 0),
    "a sum with a number that is never -0.0 demands no sign": (("a = 0.0 + x", "return a + (0.0 + y * h)"), 1),
    "either operand may be the one that is never -0.0": (("a = 0.0 + x", "return (0.0 + y * h) + a"), 1),
    "one of two such numbers is computed as it is": (("return (0.0 + x) + (0.0 + y)",), 1),
    "the sign of a divisor's zero is demanded": (("a = 0.0 + x", "return a + y / (0.0 + x * h)"), 0),
    "that of a dividend's zero is not": (("a = 0.0 + x", "return a + (0.0 + x * h) / y"), 1),
    "a square has no negative zero": (("return 0.0 + (x * x + y) * (x * x + y)",), 0),
    "an addition to a square": (("a = 0.0 + x * x", "return a * y"), 1),
    "an addition to an addition": (("a = 0.0 + (0.0 + (0.0 + x))", "return a * y"), 2),
    "a difference": (("a = 0.0 + x", "return a - (0.0 + y * h)"), 1),
    "the first operand of a difference": (("return (0.0 + y * h) - x",), 0),
    "signs do not matter to comparisons": (("return np.where((0.0 + x * h) < y, x, y)",), 1),
    "nor to tests": (("return np.where(np.isfinite(0.0 + x * h), x, y)",), 1),
    "a choice passes the sign on": (("return np.where(x > y, 0.0 + x * h, y)",), 0),
    "a choice that is added": (("a = 0.0 + x", "return a + np.where(x > y, 0.0 + x * h, y)"), 1),
    "-0.0 is another number": (("return (-0.0 + x) * y",), 0),
    "a square root of a zero has its sign": (("return np.sqrt(0.0 + x * h) + y",), 0),
    "two results": (("a = 0.0 + x * h", "b = (0.0 + x) + a * y", "return b, b * x"), 1),
    "a result is computed as it is": (("a = 0.0 + x * h", "c = 0.0 + x", "return c + a, a"), 0),
    "sums demand the sign": (("return ((0.0 + x * h) * y).sum()",), 0),
    "but not if they are added to 0.0": (("return 0.0 + ((0.0 + x * h) * y).sum()",), 1),
    "nor if one of two numbers is never -0.0": (("s = 0.0 + x.sum()", "return s + ((0.0 + x * h) * y).sum()"), 1),
    "a sum that leaves, too": (("s = ((0.0 + x * h) * y).sum()", "return 0.0 + s, s"), 0),
    "values of a loop": (("a = 0.0 + x", "for i in range(3):", "    a = (0.0 + a) + (0.0 + a * h)", "return a"), 4),
    "a strong zero": (("q = x / y", "return 0.0 + np.where((x == 0) & ~np.isfinite(q), 0.0, q)"), 1),
    "its tests in the other order": (("q = x / y", "return 0.0 + np.where(~np.isfinite(q) & (0.0 == x), 0.0, q)"), 1),
    "a product of a quotient": (("q = h * (x / y)", "return 0.0 + np.where((x == 0) & ~np.isfinite(q), 0.0, q)"), 1),
    "a negated quotient": (("q = -(x / y)", "return 0.0 + np.where((x == 0) & ~np.isfinite(q), 0.0, q)"), 1),
    "a power of a quotient by many products": (
        ("q = x / y", *["q = q * q"] * 24, "return 0.0 + np.where((x == 0) & ~np.isfinite(q), 0.0, q)"), 1),
    "a strong zero whose sign is demanded": (("q = x / y", "return np.where((x == 0) & ~np.isfinite(q), 0.0, q) * h"), 0),
    "a quotient of another number": (("q = y / x", "return 0.0 + np.where((x == 0) & ~np.isfinite(q), 0.0, q)"), 0),
    "a sum is no quotient": (("q = x + y", "return 0.0 + np.where((x == 0) & ~np.isfinite(q), 0.0, q)"), 0),
    "a test of another quotient": (("q = x / y", "return 0.0 + np.where((x == 0) & ~np.isfinite(y), 0.0, q)"), 0),
    "another number than 0.0": (("q = x / y", "return 0.0 + np.where((x == 0) & ~np.isfinite(q), 1.0, q)"), 0),
    "a comparison with another number": (("q = x / y", "return 0.0 + np.where((x == h) & ~np.isfinite(q), 0.0, q)"), 0),
    "one of both tests": (("q = x / y", "return 0.0 + np.where((x == 0) | ~np.isfinite(q), 0.0, q)"), 0),
    "a finite quotient": (("q = x / y", "return 0.0 + np.where((x == 0) & np.isfinite(q), 0.0, q)"), 0),
    "a condition of two choices": (("q = x / y", "m = (x == 0) & ~np.isfinite(q)",
                                    "return (0.0 + np.where(m, 0.0, q)) + (0.0 + np.where(m, 3.0, y)) * h"), 1),
    "an array that is changed": (("a = 0.0 + x", "a[1:] *= -1.0", "return (0.0 + a) * y"), 0),
    "an array that gets sums": (("a = 0.0 + x", "a[1:] = 0.0 + y[1:]", "return (0.0 + a) * y"), 1),
    "and other numbers": (("a = 0.0 + x", "a[1:] = 0.0 + y[1:]", "a[:1] = y[:1]", "return (0.0 + a) * y"), 0),
    "and rounded numbers": (("a = (0.0 + x).astype('f')", "a[1:] = 0.0 + y[1:]", "return (np.float32(0.0) + a) * a"), 0),
    "an array to which something is added": (("a = 0.0 + x", "a += y", "a[1:] += y[1:]", "return (0.0 + a) * y"), 1),
    "an array that is changed in a loop": (("a = 0.0 + x", "for i in range(3):",
                                            "    a[1:] = (0.0 + a[1:]) + y[1:]", "return (0.0 + a) * y"), 4),
    "an array of two names": (("a = 0.0 + x", "p = 0.0 + y", "if h > 0.0:", "    p = a", "p[:] = x",
                               "return (0.0 + a) * y"), 0),
    "names that change places": (("a = 0.0 + x", "b = 0.0 + y", "p = a", "for i in range(3):", "    p[:] = x",
                                  "    p, b = b, p", "return (0.0 + a) * y"), 0),
}


@pytest.mark.parametrize("name", CASES)
def test_additions_that_are_left_out(name, tmp_path):
    lines, count = CASES[name]
    f = ignoring(*lines)
    check(f, X, Y, 2.0, others=OTHERS)
    assert count_left_out(f, tmp_path) == count


@pytest.mark.parametrize("name", ("two results", "values of a loop"))
def test_single_precision(name):
    x, y = X[np.abs(X) != 1e308].astype("f"), Y[np.abs(X) != 1e308].astype("f").clip(-1e30, 1e30)
    check(ignoring(*CASES[name][0]), x, y, np.float32(2.0), others=[(x, y, np.float32(-0.0))])


@pytest.mark.parametrize("seed", range(12))
def test_random_programs(seed):
    """Twelve lines of arithmetic with additions of 0.0."""
    draw = random.Random(seed)
    lines, names = [], ["x", "y"]
    for number in range(12):
        one, other = draw.choice(names), draw.choice(names + ["h"])
        text = draw.choice(("{} * {}", "{} + {}", "{} - {}", "{} / {}", "np.where({0} > 1.0, {0}, {1})", "{0}",
                            "np.where(({0} == 0) & ~np.isfinite({0} / {1}), 0.0, {0} / {1})",
                            "{0} * -1.0", "{} * {}")).format(one, other)
        lines.append("v%d = %s" % (number, draw.choice(("0.0 + (%s)", "(%s) + 0.0", "%s")) % text))
        names = (names + ["v%d" % number])[-4:]
    lines.append("return " + draw.choice(("v11, v10", "v11", "v11, 0.0 + (v10 * v9).sum()")))
    check(ignoring(*lines), X, Y, 2.0, others=OTHERS)
