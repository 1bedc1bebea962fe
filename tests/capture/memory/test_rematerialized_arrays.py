"""Arrays that a loop makes and gives up in each round are used again: nothing that the program still has changes."""

import warnings

import numpy as np
import pytest

from tests.harness import check, fail_unless_captured, jitted

CONFIG = {"perf_statistics": False}


def kept_in_a_list(a, x, n):
    found = []
    for i in range(n):
        x = a @ x + i
        y = x * 0.5
        if i % 3 == 1:
            found.append(y)
        if i % 4 == 2:
            found.append(x[1:])
        z = y - x
        if len(found) > 3:
            del found[0]
    return found, x, z


def carried(f, p, x, n):
    old = x
    for i in range(n):
        old, x = x, f @ x
        p = f @ p @ f.T
        q = p.T
        if i % 2:
            x = x + old
    return x, old, p, q


def shrinking(a):
    total = 0.0
    for i in range(len(a) - 1):
        part = a[i + 1:] - a[i]
        squares = (part ** 2).sum(axis=1)
        total += (1.0 / (squares + 1.0)).sum()
    return total, part


def leaving(a, x, n):
    """A division in the middle of a round may warn: the round goes on in bytecode, with arrays of earlier ones."""
    sums = []
    for i in range(n):
        y = a @ x
        z = y / (x - 3.0)
        x = x + 1.0
        sums.append((y - z).sum())
    return x, y, z, sums


def into_rows(f, x, n):
    out = np.empty((n, len(x)))
    last = np.zeros((len(x), n))
    for k in range(n):
        x = f @ x
        out[k] = x
        last[:, k] = out[k] * 2.0
        if k:
            out[k][1:] = out[k][:-1]
            out[k, ::-1] = out[k - 1]
    return out, last, x


def swapped(x, y, n):
    for _ in range(n):
        x, y = y, x
        x = x * 0.5
        y[...] = x
    return x, y


MATRIX = np.array([[1.0, 0.5, 0.25], [0.0, 1.0, -0.5], [0.25, 0.125, 1.0]])
VECTOR = np.array([1.0, -2.0, 3.0])
CALLS = [
    (kept_in_a_list, (MATRIX, VECTOR, 9), [(MATRIX.T, VECTOR, 12), (MATRIX, VECTOR, 1)]),
    (carried, (MATRIX, MATRIX + 1.0, VECTOR, 7), [(MATRIX.T, MATRIX, VECTOR, 1), (MATRIX, MATRIX, VECTOR, 4)]),
    (shrinking, (np.arange(36.0).reshape(12, 3),), [(np.arange(8.0).reshape(4, 2),), (np.ones((40, 3)),)]),
    (leaving, (MATRIX, VECTOR - 4.0, 9), [(MATRIX, VECTOR, 3), (MATRIX, VECTOR + 0.5, 6)]),
    (into_rows, (MATRIX, VECTOR, 6), [(MATRIX[::-1], VECTOR[::-1], 5)]),
    (swapped, (VECTOR.copy(), VECTOR + 1, 5), [(VECTOR.copy(), VECTOR + 1, 4)]),
]


@pytest.mark.parametrize("f, args, others", CALLS, ids=[f.__name__ for f, _, _ in CALLS])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_results(f, args, others):
    with fail_unless_captured():
        check(f, *args, others=others, config=CONFIG)


def test_warnings_in_the_middle_of_a_loop():
    f = jitted(leaving, CONFIG)
    for x in (VECTOR + 0.5, VECTOR - 4.0, VECTOR):
        told = []
        for call in (leaving, f, f):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                told.append((repr(call(MATRIX, x, 8)), [(str(one.message), one.lineno) for one in caught]))
        assert told[0] == told[1] == told[2]


def test_arguments_that_a_loop_gives_up_stay():
    """What comes in is the caller's, also where the loop's first round gives it up."""
    f = jitted(carried, CONFIG)
    for _ in range(3):
        x, p = VECTOR.copy(), MATRIX.copy()
        results = f(MATRIX, p, x, 6) + f(MATRIX, p, x, 5)
        assert x.tobytes() == VECTOR.tobytes() and p.tobytes() == MATRIX.tobytes()
        owners = [result for result in results if result.base is None]
        assert not any(np.shares_memory(a, b) for a in owners for b in owners if a is not b)
        assert all(result.flags.owndata for result in owners)


def times_found(values, index):
    return values[index] * values


def taken_over(x, y, n):
    """Results that may go where an operand was, and those that may not: it is named, broadcast, seen by a view, or
    found at other places."""
    for i in range(n):
        sums = (x * x).sum(axis=1)
        scaled = sums / (i + 1.0)
        named = scaled - 1.0
        wide = named * x.T
        part = scaled[::-1]
        turned = scaled + part
        index = (turned < turned[0]) * (len(y) - 1)
        found = times_found(np.abs(turned), index)
        both = found + y
        x = x + both.sum() * 1e-3
        y = both * 0.5 - named
    return x, y, named, wide, part, turned


def halves(x, n):
    """Where a flag is raised the operand is still what it was."""
    seen = []
    for i in range(n):
        y = x * 2.0
        z = np.sqrt(y)
        w = z / (y - 4.0)
        x = x - 1.0
        seen.append(w.sum())
    return x, seen, w


def products(x, n):
    """Products of NaNs of several payloads, of vectors that are given up."""
    for _ in range(n):
        y = x * 0.5
        z = y * x
        x = z + y
    return x


ODD = np.array([0x7ff8000000000001, 0xfff8000000000002, 0x7ff0000000000000, 0x3ff0000000000000], np.uint64).view("f8")
TAKEN = [
    (taken_over, (np.arange(12.0).reshape(3, 4), np.array([0.5, -1.0, 2.0]), 4),
     [(np.ones((1, 4)), np.ones(1), 3), (np.arange(6.0).reshape(2, 3).T, np.array([3.0, 1.0, 2.0]), 3),
      (np.ones((300, 200)), np.arange(300.0), 2)]),
    (halves, (np.array([9.0, 7.5]), 5), [(np.array([4.0, 3.0, 2.0]), 6), (np.zeros(0), 2)]),
    (products, (np.linspace(0, 1, 5), 3), [(ODD, 4), (ODD[::-1], 4), (np.linspace(0, 1, 70000), 3)]),
]


@pytest.mark.parametrize("f, args, others", TAKEN, ids=[f.__name__ for f, _, _ in TAKEN])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_results_in_memory_of_operands(f, args, others):
    with fail_unless_captured():
        check(f, *args, others=others, config=CONFIG)
