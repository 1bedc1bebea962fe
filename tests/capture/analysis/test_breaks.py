"""Breaks in every construct: the code around them still runs as kernels, with Python's answers and order of effects."""

import numpy as np
import pytest

from tests.harness import check, fail_unless_captured

X = np.linspace(-1.0, 2.0, 23)


def in_for(x, n):
    total = x * 0.0
    for i in range(n):
        total = total + x * 2.0
        print("iteration", i, total[0])
        total = total * 0.5 + x
    return total


def in_while(x, n):
    i = 0
    while i < n:
        y = x * 2.0 + i
        print("i", i)
        x = y - x
        i += 1
    return x


def in_with(x):
    from contextlib import suppress
    with suppress(ValueError):
        y = x * 2.0 + 1.0
        print("inside", y[0])
        z = y * y - x
    return y + z


def in_try_finally(x):
    try:
        y = x * 2.0 + 1.0
        print("body", y[1])
        y = y * x
    finally:
        print("finally")
        x = x + 1.0
    return x * y


def in_try_except(x, k):
    try:
        y = x * 2.0 + 1.0
        y[k] = 5.0
        y = y + x
    except IndexError as error:
        print("caught", error)
        y = x - 1.0
    else:
        print("else")
    return y * 3.0


def with_operands(x):
    return (x * 2.0 + 1.0) - helper(x) * (x + 3.0)


def helper(x):
    return x - 0.5


def rare(x, n):
    s = 0.0
    for i in range(n):
        s += x[i % 23] * 0.5
        if i % 7 == 3:
            print("at", i, s)
    return s


def rare_in_stencil(u, n):
    for k in range(n):
        u[1:-1] = 0.5 * (u[:-2] + u[2:])
        if k % 4 == 0:
            print("step", k, u[1])
    return u


def append_in_loop(x, n):
    seen = []
    for i in range(n):
        x = x * 0.5 + 1.0
        seen.append(x[0])
    return x, seen


def in_nested_loops(x, n):
    total = 0.0
    for i in range(n):
        for j in range(i):
            total += x[i] * x[j]
        print(i, total)
    return total


def after_if(x, flag):
    if flag:
        y = x * 2.0 + x
    else:
        print("else")
        y = x + 1.0
    return y * y


def raises_in_the_middle(x, n):
    for i in range(n):
        x[0] = x[0] + 1.0
        print("before", i)
        x[i] = x[i] * 2.0
    return x


def returns_from_loop(x, n):
    for i in range(n):
        y = x * 2.0 + i
        if y[0] > 3.0:
            return y
        print(i)
    return x


def breaks_out(x, n):
    for i in range(n):
        if x[i] > 1.0:
            break
        print(x[i] * 2.0)
    else:
        return x * 2.0
    return x + i


def swaps(a, b, n):
    for i in range(n):
        a, b = b, a + b * 0.5
        print(i)
    return a, b


CASES = [
    (in_for, (X, 4)), (in_while, (X, 4)), (in_with, (X,)), (in_try_finally, (X,)), (in_try_except, (X, 3)),
    (in_try_except, (X, 99)), (with_operands, (X,)), (rare, (X, 40)), (rare, (X, 0)), (rare_in_stencil, (X, 9)),
    (append_in_loop, (X, 5)), (in_nested_loops, (X, 6)), (after_if, (X, True)), (after_if, (X, False)),
    (raises_in_the_middle, (X, 40)), (raises_in_the_middle, (X, 4)), (returns_from_loop, (X + 5.0, 4)),
    (returns_from_loop, (X, 4)), (breaks_out, (X, 23)), (breaks_out, (X, 3)), (swaps, (X, X + 1.0, 4)),
]


@pytest.mark.usefixtures("little_work")
@pytest.mark.parametrize("function, args", CASES, ids=["%s-%d" % (c[0].__name__, k) for k, c in enumerate(CASES)])
def test_kernel_runs_with_pythons_answers(function, args):
    with fail_unless_captured():
        check(function, *args)


@pytest.mark.parametrize("function, args", CASES, ids=["%s-%d" % (c[0].__name__, k) for k, c in enumerate(CASES)])
def test_after_a_guard_miss(function, args):
    others = [tuple(a.astype(np.float32) if isinstance(a, np.ndarray) else a for a in args),
              tuple(np.arange(23) if isinstance(a, np.ndarray) else a for a in args)]
    check(function, *args, others=others)


def breaks_out_of_finally(x, n):
    count = 0
    while count < n:
        count += 1
        y = x * 2.0 + count
        try:
            y = y + 1.0
        finally:
            break
    for i in range(n):
        try:
            y = y * 2.0
        finally:
            if i > 1:
                break
    return y, count


def ends_in_finally(x, s):
    try:
        s = 2
    except Exception:
        x = x
    finally:
        x = (x + x)
    return x, s


def test_kernels_around_the_start_of_a_finally_body():
    check(ends_in_finally, X, 0.5, others=[(X.astype(int), 1)])


def enters_a_loop_from_behind_it(x, s, t, n):
    k = 0
    while k < n:
        k += 1
        for i in range(n):
            for j in range(2):
                x = x + 1.0
                if x[0] > 100:
                    break
            if x[0] > 20:
                break
        try:
            x = x * t
        finally:
            t = s
    return x, k, t


def test_a_segment_may_begin_behind_the_loop_that_it_enters():
    """On Python 3.7 linked code sets up the loop's block, whose end lies before the segment."""
    check(enters_a_loop_from_behind_it, np.ones(5), -3, np.float64(0.25), 3, others=[(np.ones(5), 2, 0.5, 4)])


def test_break_in_finally():
    check(breaks_out_of_finally, X, 5)
    check(breaks_out_of_finally, X, 5, config={"backend": "python", "force_breaks": "every"})


def forgets_a_type(x, s, m, flag):
    if flag:
        s = [1]
    for i in range(3):
        for j in range(m):
            s = i
            if x[j] > 0.5 and x[i] > 0.5:
                break
        x = x * 2.0
    return x, s


def test_store_under_an_unknown_type():
    check(forgets_a_type, X, 0.5, 3, False, others=[(X, 0.5, 3, True), (X, 0.5, 0, True), (X, 2, 3, False)])
