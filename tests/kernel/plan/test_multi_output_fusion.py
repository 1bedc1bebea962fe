"""Groups with several results: bits, shapes, strides, warnings and errors of the single operations."""

import warnings

import numpy as np
import pytest

import pijit
from pijit.core.kernel import options
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


SUMS = (
    "s = (x * y + x).sum()\nt = (x * y - x).sum()\nu = np.sum(x - y)\nreturn s, t, u",
    "a = x * y\ns = a.sum()\nt = s + (a * x).sum()\nu = t * 2.0 + (a - y).sum()\nreturn s, t, u",
    "a = x * y\nb = a + x\ns = (a - b).sum()\nreturn (b * s).sum(), s, (a * y).sum()",
    "a = x * y - x\nb = a / y\nreturn a, a.sum(), b, (b * x).sum()",
    "a = x * y\ns = (x - y).sum()\nt = s * 2.0 + (a * x).sum()\nreturn t, a, s, (a - x).sum()",
)
SIZES = (0, 1, 7, 8, 9, 64, 127, 128, 129, 300, 1000, 8191, 8192, 8193, 20000)


@pytest.mark.parametrize("parallel", (True, False))
@pytest.mark.parametrize("body", SUMS)
def test_several_sums(body, parallel, tmp_path):
    """Sums with ignored flags have NumPy's bits, also where some of them are NaN."""
    body = "\n    ".join(["with np.errstate(all='ignore'):", *["    " + line for line in body.split("\n")]])
    f = define("def f(x, y):\n    " + body)
    generator = np.random.RandomState(3)
    others = []
    for size in SIZES:
        x, y = generator.standard_normal((2, size))
        others += [(x, y), (x.astype("f"), y.astype("f"))]
        if size > 2:
            odd = x.copy()
            odd[size // 2], odd[1] = np.nan, np.inf
            others += [(odd, y), (np.where(x > 0.0, 0.0, -0.0), np.abs(y))]
    j = check(f, X, Y, others=others + SHAPED[:4], config={"parallel": parallel})
    assert kernel_count(j)
    if kernel_count(j) == 1:  # more, or other plans, if breaks are forced
        assert "; results: " in printed_plan(f, tmp_path, X, Y)


@pytest.mark.parametrize("threads, sums, together", (
    (8, "(a * y).sum(), (a - x).sum()", True), (8, "(x - y).sum(), (x * y).sum()", False),
    (1, "(x - y).sum(), (x * y).sum()", True)))
def test_sums_and_arrays_that_threads_could_share(threads, sums, together, tmp_path, monkeypatch):
    """Where threads could share the nest of the array, the sums must compute half of it anyway."""
    monkeypatch.setattr(options._launcher, "threads", lambda: (threads, threads, 0))
    f = define("def f(x, y):\n    with np.errstate(all='ignore'):\n        a = (x * x - y) * (y * y + x)\n"
               "        return a, %s" % sums)
    check(f, X, Y, others=SHAPED[:4])
    results = printed_plan(f, tmp_path, X, Y).partition("results: ")[2].partition("\n")[0]
    assert results.count("%") == (3 if together else 2)


def test_sums_that_report_flags(tmp_path):
    """Sums in one nest warn like the single ones, and a sum without warnings between them does not hide it."""
    f = define("def f(x, y, a):\n    s = (x * y).sum()\n    t = (x * x).sum()\n"
               "    with np.errstate(all='ignore'):\n        u = (y * y).sum()\n"
               "    a = np.float64(a) * 1e200\n"
               "    with np.errstate(all='ignore'):\n        v = (y * y * y).sum()\n    return s, t, u, v, a")
    big = X * 1e200
    check(f, X, Y, 2.0, others=[(big, Y, 2.0), (X, big, 2.0), (X, Y, 1e200), (big, big, 1e200)])
    assert "; results: " in printed_plan(f, tmp_path, X, Y, 2.0)


LOSSES = (
    "    s = (x * x + y).sum()\n    with np.errstate(all='ignore'):\n        a = x * x * y\n        b = a / y - x\n",
    "    s = x * x + y\n    with np.errstate(all='ignore'):\n        a = s * y\n        b = np.where(a > 0.0, a / y, x)\n",
    "    s = (x + y).sum()\n    with np.errstate(all='ignore'):\n        a = x * y\n        b = (a * a).sum()\n",
)


@pytest.mark.parametrize("body", LOSSES)
def test_groups_that_ignore_flags_follow_those_that_report_them(body, tmp_path, monkeypatch):
    """One nest computes both; a flag of an operation that ignores it is no warning and stays in the kernel."""
    monkeypatch.setattr(options._launcher, "threads", lambda: (1, 1, 0))
    f = define("def f(x, y):\n" + body + "    return s, a, b")
    quiet = [(X * 1e80, Y * 1e150), (X * 1e-200, Y), (X[:0], Y[:0]), (X, Y * 0.0)]
    j = check(f, X, Y, others=[(X * 1e160, Y), (X * np.nan, Y), (X * np.inf, Y * -np.inf), *quiet])
    assert kernel_count(j)
    if kernel_count(j) > 1:
        return  # breaks are forced
    assert printed_plan(f, tmp_path, X, Y).count("one nest") == 1
    stays = pijit.jit(f)
    for x, y in [(X, Y), *quiet, *quiet]:
        stays(x, y)
    assert not pijit.explain(stays).exits.exits


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
