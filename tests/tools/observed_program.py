"""Functions that debuggers, profilers and coverage look at: each has kernels, a break or an inlined callee, and a way to fail.

Tests compare what a tool sees of a function with what it sees of the same one jitted.
"""

import operator

import numpy as np

from pijit.differential import plain_twin
from tests.harness import jitted

stay = operator.methodcaller("__abs__")
"""A call that stays bytecode."""
X = np.linspace(-1.0, 2.0, 7)


def scaled(y, k):
    z = y * 2.0
    if k > 100:
        z = z - 1.0
    return z + k


def kernel(x, n):
    total = 0.0
    for i in range(n):
        if x[i] > 0.0:
            total += x[i] * 2.0
        else:
            total -= x[i]
    return total


def broken(x, n):
    total = x * 0.0
    for i in range(n):
        total = total + x * 2.0
    seen = abs(stay(n))
    if seen > 100:
        total = total * 0.0
    return total * seen


def inlining(x, n):
    total = 0.0
    for i in range(n):
        y = scaled(x[i], i)
        stay(i)
        total += y
    return scaled(total, n)


def comprehending(x, n):
    ys = [x[i] * 2.0 for i in range(n)]
    return sum(y for y in ys) + len(ys)


def handling(x, n):
    total = 0.0
    for i in range(n):
        try:
            total += 10 // i
            total += x[
                2 * i]
        except (IndexError, ZeroDivisionError):
            total -= 1.0
        finally:
            stay(i)
    return total


def failing(x, n):
    total = 0.0
    for i in range(n):
        total += (x[i]
                  + x[i + 3] * x[2 * i])
    return total


def failing_behind_break(x, n):
    total = stay(n)
    y = x * 2.0 + total
    return y[0] + y[n] + y[1]


def failing_inside(x, n):
    return scaled(x, 1)[0] + fails(x * 2.0, n) + 1.0


def fails(y, n):
    z = y + 1.0
    return z[0] + z[n + 1] * 2.0


def failing_operator(x, n):
    y = x * 2.0
    return y + x[:n] * (y - 1.0)


def failing_call(x, n):
    y = x * 2.0
    return float(str(n) + "a") + y[0]


GOOD = [(kernel, (X, 7)), (broken, (X, 3)), (inlining, (X, 5)), (comprehending, (X, 5)), (handling, (X, 6))]
"""(function, arguments) of calls that return."""
BAD = [(failing, (X, 7)), (failing_behind_break, (X, 50)), (failing_inside, (X, 50)), (failing_operator, (X, 3)),
       (failing_call, (X, 3))]
"""(function, arguments) of calls that raise."""
ALL = GOOD + BAD


def ids(cases):
    return [case[0].__name__ for case in cases]


def outcome(f, args):
    """What a call returns, as text, or the exception."""
    try:
        return repr(f(*args))
    except Exception as error:
        return error


def twins(function, args, warm=3):
    """A copy of a function, and one that is jitted and has been called ``warm`` times."""
    plain, other = plain_twin(function), plain_twin(function)
    compiled = jitted(other)
    for _ in range(warm):
        assert str(outcome(compiled, args)) == str(outcome(plain, args))
    return plain, compiled


def runs_of(compiled):
    """How often kernels of a jitted function have run."""
    return sum(launcher.calls - launcher.misses for entry in compiled.state.entries for launcher in entry.launchers)
