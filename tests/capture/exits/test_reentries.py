"""Loops whose kernels are left in the middle: bytecode makes the rest of that round, the kernel those behind it."""

import numpy as np
import pytest

from tests.harness import check, fail_unless_captured, jitted

pytestmark = pytest.mark.usefixtures("slow_switching")  # a poll that asks for the GIL is a run more
PYTHON = {"backend": "python", "force_breaks": None}
NATIVE = {"backend": "numba", "force_breaks": None}
N = 12
LEFT_AT = {"never": (), "first": (0,), "middle": (5,), "last": (N - 1,), "twice in a row": (3, 4), "every second":
           range(0, N, 2), "each": range(N)}


def divisors(positions, n=N):
    y = np.arange(1.0, n + 1.0)
    y[list(positions)] = 0.0
    return y


def counted(x, y):
    s = 0.0
    for i in range(len(x)):
        s += x[i] / y[i]
        x[i] = s
    return s, i


def until(x, y):
    s, k = 0.0, 0
    while k < len(x):
        k += 1
        if k == 2:
            continue
        s = s + x[k - 1] / y[k - 1]
        if k == len(x) - 1:
            break
    else:
        s = -s
    return s, k


def nested(x, y):
    total, i, k = 0.0, 0, None
    for i in range(4):
        for k in range(3):
            total += x[k] / y[3 * i + k]
        x[i] = total / y[i]
    return total, i, k


def zipped(x, y):
    s = 0.0
    for k, (a, b) in enumerate(zip(x, reversed(y))):
        s += a / b * k
    return s, k, a, b


def in_blocks(x, y):
    out = []
    try:
        with np.errstate(invalid="ignore"):
            for i in range(len(x)):
                x[i] = x[i] / y[i]
                for k in range(2):
                    x[k] += 1.0 / y[i]
        out.append(i)
    finally:
        out.append(x.sum())
    return out, i, k


def in_handler(x, y):
    s = 0.0
    try:
        x[len(x)]
    except IndexError as error:
        for i in range(len(x)):
            s += x[i] / y[i]
        return s, i, str(error)


def ratio(a, b):
    return a / b + 1.0


def in_callee(x, y):
    s = 0.0
    for i in range(len(x)):
        s += ratio(x[i], y[i])
    return s, i


def sum_of(x, y):
    s = 0.0
    for i in range(len(x)):
        s += x[i] / y[i]
    return s


def loop_in_callee(x, y):
    s = 0.0
    for i in range(4):
        s += sum_of(x, y) * i
    return s


def bound_late(x, y):
    for i in range(len(x)):
        q = x[i] / y[i]
        if i == 7:
            late = q
        if i > 7:
            late = late + q
    return late, q, i


def two_loops(x, y):
    start = x[0] / y[0]
    for a in x:
        start += a
    for b in y:
        start += x[1] / b
    return start


def in_closure(x, y):
    total = 0.0

    def inner():
        return total
    for i in range(len(x)):
        total += x[i] / y[i]
    return inner(), i


def with_effects(x, y):
    out, totals = [], [x[0], x[1]]
    for i in range(len(x)):
        out.append(i)
        totals[i & 1] = x[i] / y[i]
        x[i] = totals[0] - totals[1]
    return out, totals


def in_unrolled(x, y):
    s = 0.0
    for _ in [1, 2, len(x)]:
        for i in range(len(x)):
            s += x[i] / y[i]
    return s, i


def raises_later(x, y):
    s = 0.0
    for i in range(len(x)):
        s += x[i] / y[i]
        s += float(x[i]) / float(i - 9)
    return s


def changes_type(x, y):
    s = 1
    for i in range(len(x)):
        s = s * 1000003 if y[i] else s * s
        x[i] = i
    return s, i


PROGRAMS = (counted, until, nested, zipped, in_blocks, in_handler, in_callee, loop_in_callee, bound_late, two_loops,
            in_closure, with_effects, in_unrolled, raises_later, changes_type)


@pytest.mark.parametrize("f", PROGRAMS)
def test_loops_that_are_left(f, open_gates):
    given = [(np.arange(float(N)), divisors(positions)) for positions in LEFT_AT.values()]
    with fail_unless_captured():
        check(f, *given[0], others=given[1:] + given[:3], config={"backend": "python"})


@pytest.mark.parametrize("f", [nested, in_blocks, with_effects])
def test_loops_that_are_left_natively(f, open_gates):
    given = [(np.arange(float(N)), divisors(LEFT_AT[name])) for name in ("never", "middle", "each")]
    with fail_unless_captured():
        check(f, *given[0], others=given[1:], config=NATIVE)


def ways(j):
    return [launcher for entry in j.state.entries for launcher in entry.reentries]


def runs(j):
    """How often re-entries have run their kernels."""
    return sum(launcher.calls - launcher.misses for launcher in ways(j))


def gains(f, config=PYTHON):
    """A jitted function that has been called with what it computes without leaving; what asks a call for its runs."""
    j = jitted(f, config)
    for _ in range(4):
        j(np.arange(float(N)), divisors(()))

    def ask(positions, n=N):
        before = runs(j)
        with np.errstate(all="ignore"):
            j(np.arange(float(n)), divisors(positions, n))
        return runs(j) - before
    return j, ask


@pytest.mark.parametrize("f", [counted, in_handler, in_callee, bound_late, in_closure, with_effects])
def test_the_kernel_runs_again_at_the_next_round(f, open_gates):
    j, ask = gains(f)
    assert ask(()) == 0
    assert ask((0,)) == 1 and ask((5,)) == 1
    assert ask((2, 8)) == 2
    assert 1 <= ask(range(0, N, 2)) <= 6


def test_the_kernel_of_the_outer_loop_runs_again(open_gates):
    j, ask = gains(nested)
    assert ask(()) == 0
    inner, outer = ask((4,)), ask((2,))
    assert 1 <= inner <= 3 and 1 <= outer <= 3  # of 12 rounds; a timing of the loop may run it once more


def test_a_loop_behind_what_was_left_runs_in_its_kernel(open_gates):
    j, ask = gains(two_loops)
    assert ask((0,)) >= 2


def test_rounds_decide_when_it_runs_again():
    j, ask = gains(counted)
    assert ask((0,), 1000) == 0  # not worth a kernel yet
    assert not any(launcher.enabled for launcher in ways(j))
    assert ask((0,), 1000) == 1
    assert ask((500,), 1000) == 1 and [launcher.wait for launcher in ways(j)] == [0]
    assert ask((300, 600, 990), 1000) == 3
    for launcher in ways(j):
        launcher.longest_wait = 1023
    each = ask(range(5000), 5000)
    assert each <= 30
    assert ask(range(5000), 5000) <= 10
    assert ask(range(0, 5000, 10), 5000) > 100  # found to pay again


def test_natively_the_kernel_runs_again():
    j, ask = gains(counted, NATIVE)
    assert ask((0,), 3000) >= 1
    before = runs(j)
    x, y = np.arange(3000.0), divisors((1500,), 3000)
    with np.errstate(all="ignore"):
        got, wanted = j(x.copy(), y), counted(x.copy(), y)
    assert got == wanted and runs(j) > before


def test_what_is_interpreted_does_not_come_back(open_gates):
    j = jitted(counted, dict(PYTHON, interpret=["counted_1"]))
    x, y = np.arange(float(N)), divisors(())
    for _ in range(3):
        j(x, y)
    assert not ways(j) or not runs(j)
