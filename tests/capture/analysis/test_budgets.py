"""What bounds the work of a capture: programs whose capture or kernels would take minutes."""

import linecache
import time

import numpy as np
import pytest

import pijit
from pijit.core.capture.values import budgets
from tests.harness import jitted, kernel_count

ONCE = {"force_breaks": None}
SECONDS = 60
"""More than any of these may take; without bounds they take minutes."""


def made(lines, name="f"):
    text = "\n".join(lines) + "\n"
    filename = "<work %d>" % len(text)
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    namespace = {"np": np}
    exec(compile(text, filename, "exec"), namespace)
    return namespace[name]


def unrolled(depth, ifs, rounds):
    """Nested ifs in unrolled loops, in functions that are inlined so deep."""
    lines = []
    for level in range(depth):
        lines += ["def g%d(x, v):" % level, "    s = 0.0",
                  "    for q in (%s):" % ", ".join("%d.0" % k for k in range(rounds))]
        for k in range(ifs):
            lines += ["    " * (k + 2) + "if v > %d.5 * q:" % k, "    " * (k + 3) + "v = v - %d.25" % k]
        lines.append("    " * (ifs + 2) + "s += %s" % ("g%d(x, v)" % (level + 1) if level < depth - 1 else "v * 2.0"))
        lines.append("    return s")
    return made(lines + ["def f(x):", "    s = 0.0", "    for i in range(len(x)):", "        s += g0(x, x[i])",
                         "    return s"])


def branching(depth, calls):
    """Functions with so many calls each, on both sides of which types differ."""
    lines = []
    for level in range(depth):
        called = "g%d(x, v)" % (level + 1) if level < depth - 1 else "v * 2.0"
        lines += ["def g%d(x, v):" % level, "    s = 0.0"]
        for k in range(calls):
            lines += ["    if v > %d.5:" % k, "        s += " + called, "        v = v - 1.0", "    else:",
                      "        v = v + 0.5"]
        lines.append("    return s")
    return made(lines + ["def f(x):", "    s = 0.0", "    for i in range(len(x)):", "        s += g0(x, x[i])",
                         "    return s"])


def straight(statements, form):
    return made(["def f(x):", "    a0 = a1 = a2 = x"]
                + ["    a%d = %s" % (k % 3, form % ((k + 1) % 3, (k + 2) % 3)) for k in range(statements)]
                + ["    return a0 + a1"])


def same(f, *args, config=None):
    j = jitted(f, dict(ONCE, **config or {}))
    begun = time.process_time()
    for _ in range(3):
        np.testing.assert_array_equal(j(*args), f(*args))
    assert time.process_time() - begun < SECONDS
    assert not j.state.failures
    return j


@pytest.mark.parametrize("f", [unrolled(4, 3, 6), branching(4, 8), branching(8, 3)])
def test_less_is_inlined_where_capture_takes_long(f, monkeypatch):
    monkeypatch.setattr(budgets, "MAX_STEPS", 4000)
    monkeypatch.setattr(budgets, "MAX_KERNEL", 400)
    j = same(f, np.arange(10.0) / 3)
    breaks = [one for one in pijit.explain(j).breaks if one.reason_id == "PJ230"]
    assert any("takes too long" in one.message for one in breaks)


def test_limits_as_they_are():
    same(unrolled(4, 3, 4), np.arange(10.0) / 3, config={"backend": "python"})


def test_what_fits_is_inlined():
    assert kernel_count(same(unrolled(2, 2, 3), np.arange(10.0) / 3)) == 1


def test_a_function_that_takes_too_long_stays_bytecode(monkeypatch):
    monkeypatch.setattr(budgets, "MAX_STEPS", 20)

    def f(x):
        s = 0.0
        for i in range(len(x)):
            if x[i] > 1.0:
                s += x[i] * 2.0
            else:
                s -= x[i] - 3.0
        return s

    j = same(f, np.arange(5.0))
    assert [one.reason_id for one in pijit.explain(j).breaks] == ["PJ405"] and not kernel_count(j)
    assert j(np.arange(3)) == f(np.arange(3)) and j.cache_info().misses == 1  # nothing is tried with other types
    with pytest.raises(IndexError):
        same(made(["def f(x, i):"] + ["    x = x + 1.0"] * 30 + ["    return x[i]"]), np.arange(3.0), 7)


def test_kernels_end_where_they_are_too_large(monkeypatch):
    monkeypatch.setattr(budgets, "MAX_KERNEL", 200)
    j = same(straight(150, "a%d * 1.5 + a%d"), 1e-300, config={"backend": "python"})
    assert "PJ405" in {one.reason_id for one in pijit.explain(j).breaks} and kernel_count(j) >= 1


def test_too_many_kernels(monkeypatch):
    monkeypatch.setattr(budgets, "MAX_KERNELS", 120)
    f = made(["def f(x, log):", "    y = x * 2.0"] + ["    y = y * 0.5 + x", "    log.append(str(y))"] * 3
             + ["    s = 0.0", "    for i in range(len(x)):", "        s += x[i]", "    return y, s"])
    j, got, want = jitted(f, ONCE), [], []
    for _ in range(3):
        for (one, log) in ((j, got), (f, want)):
            y, s = one(np.arange(4.0), log)
            log.append((y.tolist(), s))
    assert got == want
    assert "PJ405" in str(pijit.explain(j)) and 1 <= kernel_count(j) < 4


@pytest.mark.parametrize("form, x", [("a%d * 1.5 + a%d", 1e-300), ("a%d + a%d", 0)])
def test_straight_code(form, x):
    f = straight(400, form)
    assert kernel_count(same(f, x)) >= 1


def test_three_thousand_statements():
    f = straight(3000, "a%d * 1.5 + a%d")
    j = jitted(f, ONCE)
    assert j(1e-300) == f(1e-300) and j.state.skip.id == "PJ106"


def test_many_statements_on_arrays():
    f = straight(420, "a%d * 0.5 + a%d * 0.25")
    same(f, np.ones(3), config={"backend": "python"})


@pytest.mark.parametrize("arms", [30, 120])
def test_many_arms(arms):
    lines = ["def f(ks, x):", "    s = 0.0", "    for i in range(len(ks)):", "        k = ks[i]"]
    for arm in range(arms):
        lines += ["        %s k == %d:" % ("elif" if arm else "if", arm), "            s += x[i] * %d.5" % arm]
    f = made(lines + ["        else:", "            s -= 1.0", "    return s"])
    j = same(f, np.arange(300) % (arms + 5), np.arange(300.0))
    assert kernel_count(j) == 1 or "PJ405 too much code" in str(pijit.explain(j))
