"""What a traceback shows of the variables of a function that has raised, and what callees that were inlined show to
code which they call."""

import os
import sys

import numpy as np
import pytest

from tests.harness import fail_unless_captured, jitted

X = np.arange(1.0, 9.0)
CONFIG = {"perf_statistics": False}
seen = []


def outcome(f, *args):
    """What a call gives, what it notes, and the variables of all frames of this file that an exception leaves."""
    del seen[:]
    try:
        answer = f(*args)
    except Exception as error:
        frames, step = [], error.__traceback__.tb_next
        while step is not None:
            frame = step.tb_frame
            if frame.f_code.co_filename == __file__:
                frames.append((frame.f_code.co_name, step.tb_lineno, shown(frame)))
            step = step.tb_next
        answer = repr(error), frames
    return answer, list(seen)


def shown(frame):
    return sorted((name, str(value)) for name, value in frame.f_locals.items())


def numbers(x, n):
    p = n * 2
    q = p + 1
    r = q * 3
    return x[r]


def raised_by_name(x, n):
    p = x[0] * n
    q = p + 1.0
    d = x * q
    if n > 5:
        raise ValueError(str(q))
    return d.sum()


def deleted(x, n):
    p = x[0] * n
    q = p + 1.0
    del p
    return x[n]


def inner(v, x):
    w = v * 2
    z = w + 1
    return x[z]


def of_a_callee(x, n):
    p = n * 2
    q = p + 1
    return inner(q, x)


def caught(x, n):
    p = n * 2
    q = p + 1
    try:
        return x[q]
    except IndexError:
        return sorted(sys.exc_info()[2].tb_frame.f_locals)


@pytest.mark.parametrize("f", [numbers, raised_by_name, deleted, of_a_callee, caught],
                         ids=lambda f: f.__name__)
def test_tracebacks_show_numbers_that_nothing_reads(f):
    if f is deleted and os.environ.get("PIJIT_TEST_FORCE_BREAKS"):
        pytest.skip("what nothing reads is not kept at breaks: see docs/limits.md")
    compiled = jitted(f, CONFIG)
    for n in (1, 1, 9, 1, 9):
        assert outcome(compiled, X, n) == outcome(f, X, n)


def replaced(x, n):
    d = x[:2]
    d = x * 2.0
    e = d + 1.0
    t = e.sum() + n
    return x[n]


def test_what_a_traceback_shows_is_never_an_older_value():
    compiled = jitted(replaced, CONFIG)
    for n in (1, 1, 9):
        (got, _), (wanted, _) = outcome(compiled, X, n), outcome(replaced, X, n)
    (_, line, some), (_, same_line, everything) = got[1][-1], wanted[1][-1]
    assert line == same_line and set(some) <= set(everything)


def note(depth):
    seen.append([shown(sys._getframe(k)) for k in range(1, depth + 1)])


def now_and_then(v, limit):
    part = v * 2.0
    twice = part + 1.0
    if twice > limit:
        note(2)
    return part - 1.0


def further_in(v, limit):
    m = v + 0.5
    w = m * 2.0
    if m > limit:
        note(2)
    r = now_and_then(m, limit)
    return r + 1.0


def loop_around(x, n):
    total = 0.0
    for k in range(n):
        t = x[k] * 3.0
        u = t - 1.0
        total = total + now_and_then(t, 10.0)
    return total


def loop_around_two(x, n):
    total = 0.0
    for k in range(n):
        t = x[k] * 3.0
        u = t - 1.0
        total = total + further_in(t, 10.0)
    return total


def straight(x, n):
    a = x * 2.0
    b = a.sum()
    return now_and_then(x[0] * n, 1e6 if n < 5 else 1.0)


@pytest.mark.parametrize("f", [loop_around, loop_around_two, straight], ids=lambda f: f.__name__)
@fail_unless_captured()
def test_code_called_by_inlined_callees_finds_all_variables(f):
    compiled = jitted(f, CONFIG)
    for n in (4, 4, 6, 6):
        assert outcome(compiled, X, n) == outcome(f, X, n)
