"""Groups with several results: bits, shapes, strides, warnings and errors of the single operations."""

import warnings

import numpy as np
import pytest

import pijit
from tests.capture.scalars.test_scalars import define
from tests.harness import check, kernel_count

X, Y = np.linspace(0.1, 1.0, 37), np.linspace(2.0, 0.5, 37)
BODIES = (
    "a = x * y\nb = np.sqrt(a * a + 1.0)\nreturn a - b, b * x, b",
    "a = x + y\nb = x - y\nreturn a, b, a",
    "a = (x - y) * x\nb = np.where(a > 0.0, a, a * 0.5)\nc = a * b + x\nreturn c, b * y",
    "a = x / y\nb = a * -2.0 + x\nc = a.sum()\nreturn a * c, b, b * c + a",
    "a = x * y\na[0:1] = 5.0\nb = a + x\nc = b * a\nreturn a, b, c",
)
SHAPED = [(X[:1], Y), (X, Y[:1]), (X[:0], Y[:0]), (X[::2], Y[::2]), (X.astype("f"), Y.astype("f")), (X, X),
          (X[:, None] * np.ones(3), Y[:, None] * np.ones(3)), (X[:, None] * np.ones(3), np.arange(3.0)),
          (X[:, None], Y[None, :5]), (np.asfortranarray(np.outer(X, Y)), np.outer(Y, X)), (X[:3], Y[:4]),
          (X * 1e200, Y * 1e200), (X, Y * 0.0), (X * np.nan, Y)]


def printed_plan(function, tmp_path, *args):
    pijit.dump(function, str(tmp_path), *args)
    return next(tmp_path.glob("*/entry_0/plan.txt")).read_text(encoding="utf-8")


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("warn", (True, False))
def test_several_results(body, warn, tmp_path):
    lines = body.split("\n")
    lines = lines if warn else ["with np.errstate(all='ignore'):", *["    " + line for line in lines]]
    f = define("def f(x, y):\n    " + "\n    ".join(lines))
    j = check(f, X, Y, others=SHAPED)
    assert kernel_count(j)
    if kernel_count(j) == 1:
        assert "; results: " in printed_plan(f, tmp_path, X, Y)


def test_a_warning_shows_no_result():
    """A flag of one result leaves before the other one can be seen."""
    f = define("def f(x, y, kept):\n    a = x * y\n    b = a + x\n    c = a * b\n    kept.append(b)\n    return b, c")
    j = pijit.jit(f)
    for x in (X, X, X * 1e200, X):
        for function in (f, j):
            kept = []
            with warnings.catch_warnings(record=True) as found:
                warnings.simplefilter("always")
                b, c = function(x, Y, kept)
            assert kept[0] is b and [str(one.message) for one in found] == (
                ["overflow encountered in multiply"] if x[0] > 1.0 else [])
        expected = f(x, Y, []) if x[0] < 1.0 else None
        assert expected is None or all((p == q).all() for p, q in zip((b, c), expected))


def test_flags_of_results_that_nobody_needs():
    """An operation whose result is lost warns all the same."""
    f = define("def f(x, y):\n    a = x + y\n    a * 1e300\n    b = a - y\n    b / (x - x)\n    return a, b * 2.0 + a")
    for x in (X, X * 1e10, X):
        seen = []
        for function in (f, pijit.jit(f)):
            for _ in range(3):
                with warnings.catch_warnings(record=True) as found:
                    warnings.simplefilter("always")
                    function(x, Y)
            seen.append([str(one.message) for one in found])
        assert seen[0] == seen[1] and seen[0]


def test_results_are_apart():
    """Each result owns its memory, and large ones are those of one thread."""
    f = define("def f(x, y):\n    a = x * y + x\n    b = a - y\n    c = b * a\n    return a, b, c")
    j = pijit.jit(f, jit_config={"parallel": True})
    x, y = np.linspace(0.0, 1.0, 3000001), np.linspace(1.0, 3.0, 3000001)
    for _ in range(3):
        made = j(x, y)
        for one, other in zip(made, f(x, y)):
            assert one.tobytes() == other.tobytes() and one.flags.owndata
        made[0][:] = 7.0
        assert not np.shares_memory(made[0], made[1]) and made[1][0] != 7.0


def test_equal_sizes_are_proven_by_tests(tmp_path):
    """A test of the program lets arrays of two arguments share a nest."""
    f = define("def f(x, y):\n    if x.shape[0] != y.shape[0]:\n        raise ValueError(x)\n"
               "    a = x * x\n    b = y * y + a\n    return a, b, b - x")
    check(f, X, Y, others=[(X[:1], Y), (X[:2], Y[:2])])
    assert "; results: " in printed_plan(f, tmp_path, X, Y)
    unknown = define("def f(x, y):\n    a = x * x\n    b = y * y + a\n    return a, b")
    check(unknown, X, Y, others=[(X[:1], Y), (X, Y[:1])])
    assert "; results: " not in printed_plan(unknown, tmp_path / "unknown", X, Y)


def test_loops_make_several_results():
    f = define("def f(x, y, n):\n    for k in range(n):\n        a = x * y + x\n        b = a - y * 0.5\n"
               "        x, y = a * 0.5, b * a\n    return x, y, a, b")
    j = check(f, X, Y, 5, others=[(X, Y, 0), (X[:1], Y, 3), (X[:0], Y[:0], 2)])
    assert kernel_count(j)


def test_long_code(tmp_path):
    """Classes of shapes are found without recursion through the code."""
    f = define("def f(x, y):\n    a = x\n" + "    a = a * y + x\n" * 150 + "    return a, a - y, a * x")
    check(f, X * 0.5, Y * 0.1, others=[(X[:1], Y)], calls=2)
    assert "; results: " in printed_plan(f, tmp_path, X * 0.5, Y * 0.1)
