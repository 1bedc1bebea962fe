"""Lambdas and local functions that are made in a function, have a name there, and are called."""

import numpy as np
import pytest

import pijit
from tests.capture.containers.effects_common import CUT, launches
from tests.harness import check, fail_unless_captured, nothing_breaks, same_answers

X = np.array([2.5, -1.0, 7.0, 0.5, 3.0, -0.0])
PYTHON = {"backend": "python"}


def in_a_loop(x, n):
    total = 0.0
    for i in range(n):
        scale = i * 0.5
        f = lambda t: t * scale + 1.0  # noqa: E731
        total += f(x[i]) + f(2.0)
    return total


def with_def(x, n):
    total = 0.0
    for i in range(n):
        def square(t, k):
            """Squared."""
            y = t * t
            return y + k
        total += square(x[i], k=i)
    return total


def before_a_loop(x, n):
    f = lambda t: t * n + 1.0  # noqa: E731
    total = 0.0
    for value in x:
        total += f(value)
    return total


def in_branches(x, n):
    total = 0.0
    for i in range(n):
        k = i + 1
        f = lambda t: t / k  # noqa: E731
        if x[i] > 1.0:
            total += f(x[i])
        else:
            total -= f(2.0)
    return total


def bound_late(x, n):
    total = 0.0
    for i in range(n):
        k = i
        f = lambda t: t * k  # noqa: E731
        k = k + 1
        total += f(x[i])
    return total


def raises(x, n):
    total = 0
    for i in range(n):
        k = 3 - i
        f = lambda t: t // k  # noqa: E731
        total += f(7)
    return total


def two_names(x, n):
    total = 0.0
    for i in range(n):
        f = lambda t: t + i  # noqa: E731
        g = f
        total += g(x[i]) * f(1.0) * (f is g)
    return total


def escapes(x, n):
    kept, out = [], []
    for i in range(n):
        f = lambda t: t * 2.0 + n  # noqa: E731
        out.append(f(x[i]))
        if x[i] > 5.0:
            kept.append(f)
            print(f.__name__, f.__qualname__, f.__code__.co_name, f(1.0))
    return out, [g(3.0) for g in kept], f.__qualname__


def with_a_break(x, n):
    total = 0.0
    for i in range(n):
        f = lambda t: t * 2.0 + n  # noqa: E731
        total += f(x[i])
        if x[i] > 5.0:
            print(i)
        total -= f(total)
        g = f
    return total, g is f, g(1.0)


def printing(x, n):
    total = 0.0
    for i in range(n):
        k = i * 2
        f = lambda t: t * 2.0 + k  # noqa: E731
        total += f(x[i])
        if x[i] > 5.0:
            print(i)
        total -= f(total)
    return total


def from_another_call(x, n, depth=0):
    k = n + depth
    f = lambda t: t * k  # noqa: E731
    total = 0.0
    for i in range(n):
        total += f(x[i])
        if depth == 0 and i == 1:
            f = from_another_call(x, 2, 1)
    return total if depth == 0 else f


def returned(x, n):
    k = n * 2.0
    f = lambda t: t * k  # noqa: E731
    y = f(x) + f(1.0)
    return y, f.__closure__[0].cell_contents, f(2.0)


def with_defaults(x, n):
    total = 0.0
    for i in range(n):
        f = lambda t, k=i: t * k  # noqa: E731
        total += f(x[i]) + f(x[i], 2)
    return total


def after_an_effect(x, n):
    seen = []

    def note(value):
        seen.append(value)
        return 1 // value
    total = 0
    for i in range(n):
        f = lambda t: t * 2 + n  # noqa: E731
        total += note(f(i - 3)) + f(1)
    return total, seen


def rebound(x, n):
    total = 0.0
    f = lambda t: t + 1.0  # noqa: E731
    for i in range(n):
        total += f(x[i])
        f = lambda t: t * 2.0  # noqa: E731
    return total


def deleted(x, n):
    total = 0.0
    for i in range(n):
        f = lambda t: t + 1.0  # noqa: E731
        total += f(x[i])
        if i == 4:
            del f
    return f(total)


def with_a_constant(x, n):
    k = 3.0
    f = lambda t: t * k  # noqa: E731
    first = [f(v) for v in x[:n]]
    k = 0.5
    return first, sum(f(v) for v in x[:n]), any(f(v) > n for v in x)


def with_a_loop_that_reads_a_constant(x, n):
    power, shift = 2, 1e-3

    def distance(a, b):
        total = 0.0
        for one, other in zip(a, b):
            total += abs(one - other) ** power
        return total + shift
    table = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            table[i, j] = distance(x[i:], x[j:])
    return table


OTHERS = [(X, 0), (X * 3, 4), (X.astype(int), 5), (X, 7), (list(X), 3)]
CASES = [(f, (X, 5), OTHERS) for f in (
    in_a_loop, with_def, before_a_loop, in_branches, bound_late, raises, two_names, escapes, returned, with_defaults,
    after_an_effect, rebound, deleted, with_a_break, printing,
    from_another_call, with_a_constant, with_a_loop_that_reads_a_constant)]
IDS = [case[0].__name__ for case in CASES]
WHOLE = ("in_a_loop", "with_def", "before_a_loop", "in_branches", "bound_late", "raises",
         "with_a_constant", "with_a_loop_that_reads_a_constant")

test_same_answers = same_answers(CASES, PYTHON)
test_nothing_breaks = nothing_breaks([case for case in CASES if case[0].__name__ in WHOLE])


@pytest.mark.parametrize("f, args, others", [CASES[IDS.index(name)] for name in ("in_a_loop", "with_def", "raises")],
                         ids=["in_a_loop", "with_def", "raises"])
def test_in_machine_code(f, args, others):
    with fail_unless_captured():
        j = check(f, *args, others=others)
    assert CUT or launches(j, X, 3) == 1, str(pijit.explain(j, X, 3))


@pytest.mark.skipif(CUT, reason="every instruction is a segment")
def test_segments_begin_with_a_function_in_a_variable():
    with fail_unless_captured():
        j = check(printing, X, 5, config=PYTHON, others=[(X * 3, 4), (X, 0)])
    report = pijit.explain(j, X, 5)
    assert [one.reason_id for one in report.breaks] == ["PJ201"], str(report)
    assert 2 <= launches(j, X, 5) <= 3, str(report)


def test_functions_are_made_where_kernels_leave(leaves_often):
    for f in (in_a_loop, with_def, in_branches, two_names, before_a_loop, escapes, printing, rebound):
        check(f, X, 5, config=PYTHON)
    assert leaves_often
