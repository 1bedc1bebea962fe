"""What is not inlined and why, and what bounds inlining."""

import threading
import time

import numpy as np
import pytest

import pijit
from tests.capture.inlining.test_inlining import X, both
from tests.capture.scalars.test_scalars import define
from tests.harness import check, fail_unless_captured, jitted, kernel_count

LOCK = threading.Lock()


def guarded(x):
    with LOCK:
        return x * 2.0


def printing(x):
    print("printing", end="")
    return x


@pytest.mark.parametrize("callee, words", [
    (guarded, "PJ206 entry or exit of a with block, or of an exception handler (type: lock)"),
    (printing, "PJ201 call of a function that is not captured (callee: print)"),
    (lambda x: printing(x), "PJ230")])
def test_refusals_say_what_is_in_the_way(callee, words, capsys):
    def f(x):
        y = x * 2.0 + 1.0
        callee(y)
        return y - x

    check(f, X)
    found = [one for one in pijit.explain(f, X).breaks if one.reason_id == "PJ230"]
    assert len(found) == 1 and words in found[0].message and callee.__qualname__ in found[0].message


def test_allowed_modules():
    other = define("def f(v):\n    return v * 2.0", __name__="some.where")
    f = define("def f(x):\n    return g(x) + x", g=other, __name__="here")
    for modules, breaks in ((None, 0), (["some"], 0), (["some.where"], 0), (["som"], 1), ([], 1)):
        found = jitted(f, {"allowed_inline_modules": modules}).explain(X)
        assert [one.reason_id for one in found.breaks][:1] == ["PJ230"] * breaks, found


def test_a_jitted_callee_is_inlined_as_if_undecorated():
    inner = jitted(lambda v, k=2.0: v * k + 1.0)

    def f(x):
        y = x * 2.0
        return inner(y) + inner(y, 3.0)

    j = jitted(f)
    for _ in range(3):
        np.testing.assert_array_equal(j(X), X * 2.0 * 2.0 + 1.0 + (X * 2.0 * 3.0 + 1.0))
    assert not j.explain(X).breaks and inner.cache_info().misses == 0
    inner.__defaults__ = (5.0,)
    np.testing.assert_array_equal(j(X), X * 2.0 * 5.0 + 1.0 + (X * 2.0 * 3.0 + 1.0))


def test_each_call_site_passes_its_own_values():
    def pick(a, b):
        return a

    def f(x, y, z):
        return pick(x, y) * 1.0 + pick(y, x) * 10.0 + pick(z, x) * 100.0

    with fail_unless_captured():
        check(f, X, X * 2.0, X * 3.0, aliased=[(X, X, X)])


def test_code_that_grows_without_bounds_is_not_inlined(monkeypatch):
    monkeypatch.setattr("pijit.core.capture.build.inlined_graph.MAX_INLINED", 30)

    def f(x):
        return both(x, 1.0)[0] + both(x, 2.0)[1] + both(x, 3.0)[0] + both(x, 4.0)[0] + both(x, 5.0)[0]

    check(f, X)
    assert "too much code is inlined" in str(pijit.explain(f, X))


def test_a_tree_of_calls_that_cannot_be_inlined_is_captured_fast():
    lines = ["def leaf(x):\n    print(end='')\n    return x * 2.0"]
    lines += ["def g%d(x):\n    return %s" % (k, " + ".join(["%s(x)" % ("g%d" % (k - 1) if k else "leaf")] * 4)) for k in range(7)]
    f = define("\n".join(lines + ["def f(x):\n    return g6(x)"]))
    started = time.perf_counter()
    found = pijit.explain(f, X)
    assert time.perf_counter() - started < 60.0 and "callee: print" in str(found)


def test_a_callee_that_is_not_inlined_does_not_decide_for_others():
    def f(x, g):
        y = x * 2.0 + 1.0
        return g(y) + y

    def good(v):
        return v * 3.0 - 1.0

    j = jitted(f)
    for g in (printing, printing, good, good, good):
        np.testing.assert_array_equal(j(X, g), f(X, g))
    newest = j.state.entries[-1]
    assert not newest.reports.breaks and kernel_count(j), newest.reports.breaks
