"""Checks of indices and integers go where they are proved not to be needed, and nowhere else."""

import contextlib
import re

import numpy as np
import pytest

import pijit
from pijit.core.graph.passes import recorded
from tests.harness import check, fail_unless_captured

X = np.arange(12.0) - 5.0
SQUARE, WIDE, TALL = np.arange(36.0).reshape(6, 6), np.arange(28.0).reshape(4, 7), np.arange(28.0).reshape(7, 4)
WORDS = np.array([0, 3, -1, 5, 2, -12, 11, 7])
BIG = 2 ** 63 - 1


def checks_left(f, args):
    """How many elements of the whole function's graph are still checked, and what is to do about indices."""
    with recorded() as stages, contextlib.suppress(IndexError):
        pijit.jit(f, jit_config={"backend": "python"})(*args)
    text = next(iter(stages.values()))[-1].text
    left = re.findall(r"(?:load|store) [^\n]*?else exit\d", text)
    return len(left), sorted(re.findall(r"checks='([^']*)'", text))


def neighbours(x):
    s = 0.0
    for i in range(1, len(x) - 1):
        s += x[i - 1] * 2 > x[i] + x[i + 1]
    return s


def all_around(x):
    """The first index is -1: it wraps."""
    s = 0
    for i in range(len(x)):
        s += 2 if x[i - 1] > x[i] else 1
    return s


def one_too_far(x):
    s = 0
    for i in range(len(x)):
        s += 2 if x[i + 1] > x[i] else 1
    return s


def guarded_by_hand(x):
    s = 0
    for i in range(len(x)):
        if i > 0 and i + 1 < len(x):
            s += 1 if x[i - 1] > x[i + 1] else 3
    return s


def guarded_wrongly(x):
    s = 0
    for i in range(len(x)):
        if i > 0 or i + 1 < len(x):
            s += 1 if x[i + 1] > x[i - 1] else 3
    return s


def backwards(x):
    s = 0
    for i in range(len(x) - 1, -1, -1):
        s += 1 if x[i] > 0.0 else 2
    return s


def mirrored(x):
    n, s = len(x), 0
    for i in range(n // 2):
        s += 1 if x[i] > x[n - 1 - i] else 2
    return s


def stepped_while(x):
    i = s = 0
    while i < len(x):
        s += 1 if x[i] > 0.0 else 2
        i += 3 if x[i] > 1.0 else 1
    return s


def steps_back(x):
    """The variable falls below what it began with."""
    i, s, left = 3, 0, 30
    while i < len(x) and left > 0:
        s += 1 if x[i] > 0.0 else 2
        i += 2 if x[i] > 0.0 else -5
        left -= 1
    return s, i


def halves(x, wanted):
    low, high = 0, len(x)
    while low < high:
        middle = (low + high) // 2
        if x[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


def rounds_up(x, wanted):
    low, high = 0, len(x)
    while low < high:
        middle = (low + high + 1) // 2
        if x[middle] < wanted:
            low = middle
        else:
            high = middle - 1
    return low


def windows(x, w):
    out = np.zeros(len(x) - len(w) + 1)
    for i in range(len(x) - len(w) + 1):
        for j in range(len(w)):
            if x[i + j] > w[j]:
                out[i] = x[i + j]
    return out


def smaller_of_two(x, y):
    s = 0
    for i in range(min(len(x), len(y))):
        s += 1 if x[i] > y[i] else 2
    return s


def larger_of_two(x, y):
    s = 0
    for i in range(max(len(x), len(y))):
        s += 1 if x[i] > y[i] else 2
    return s


def in_a_square(a):
    n, s = len(a), 0
    for i in range(n):
        for j in range(n):
            s += 1 if a[i, j] > 3.0 else 2
    return s


def merged(x, y):
    i = j = s = 0
    while i < len(x) and j < len(y):
        if x[i] < y[j]:
            i += 1
        else:
            j += 1
            s += i
    return s


def rest_of_division(x, n):
    s = 0
    for i in range(n):
        s += 1 if x[i % 5] > 0.0 else 2
    return s


def masked(x, n):
    s = 0
    for i in range(n):
        s += 1 if x[i & 7] > 0.0 else 2
    return s


def over_words(x, where):
    s = 0
    for k in where:
        s += 1 if x[k] > 0.0 else 2
    return s


def stores_between(x):
    y = x.copy()
    for i in range(1, len(y)):
        if y[i] > 0.0:
            y[i - 1] = y[i]
    return y


def chosen_index(x, n):
    s = 0
    for i in range(len(x) - 1):
        k = i if x[i] > 0.0 else i + 1
        s += 1 if x[k] > 2.0 else n
    return s


def chosen_too_far(x, n):
    s = 0
    for i in range(len(x)):
        k = i if x[i] > 0.0 else i + 1
        s += 1 if x[k] > 2.0 else n
    return s


def counts_to(n, k):
    i = 0
    while i < n:
        i += k
    return i


def product_of_rows(a, m):
    s = 0
    for i in range(len(a)):
        s += i * m
    return s


CASES = [
    (neighbours, (X,), [(X[:0],), (X[:1],), (X[:2],)], (0, [])),
    (all_around, (X,), [(X[:0],), (X[:1],)], (1, [])),
    (one_too_far, (X,), [(X[:0],), (X[:1],)], (1, ["c"])),
    (guarded_by_hand, (X,), [(X[:0],), (X[:1],), (X[:3],)], (0, [])),
    (guarded_wrongly, (X,), [(X[:1],), (X[:3],)], (2, ["c"])),
    (backwards, (X,), [(X[:0],), (X[:1],)], (0, [])),
    (mirrored, (X,), [(X[:0],), (X[:7],)], (0, [])),
    (stepped_while, (X,), [(X[:0],), (-X,)], (0, [])),
    (steps_back, (X,), [(X[:4],), (-X,), (np.abs(X) + 1.0,)], None),
    (halves, (X, 2.5), [(X, 100.0), (X, -100.0), (X[:0], 0.0)], (0, [])),
    (rounds_up, (X, 2.5), [(X, -100.0), (X[:0], 0.0), (X[:3], 100.0)], None),
    (windows, (X, X[4:7]), [(X, X), (X[:3], X[:4])], (0, [])),
    (smaller_of_two, (X, X[:7] + 1.0), [(X[:5], X), (X[:0], X)], (0, [])),
    (larger_of_two, (X, X + 1.0), [(X[:5], X), (X, X[:5]), (X[:0], X[:0])], (2, ["c", "c"])),
    (in_a_square, (SQUARE,), [(WIDE,), (TALL,)], (1, ["-c"])),
    (merged, (X, X[::2] + 0.5), [(X[:0], X), (X, X[:1])], (0, [])),
    (rest_of_division, (X, 12), [(X[:5], 4), (X[:3], 9)], (1, ["c"])),
    (masked, (X, 12), [(X[:8], 9), (X[:3], 9)], (1, ["c"])),
    (over_words, (X, WORDS), [(X[:6], WORDS), (X, WORDS.astype(np.int8)), (X, np.abs(WORDS).astype(np.uint8))], None),
    (stores_between, (X,), [(X[:0],), (X[:1],)], (0, [])),
    (chosen_index, (X, 5), [(X[:0], 5), (X[:1], 5)], None),
    (chosen_too_far, (np.abs(X) + 1.0, 5), [(X[:0], 5), (X[:1], 5), (-X, 5)], None),
    (counts_to, (20, 3), [(BIG, BIG // 2), (BIG - 1, 2 ** 62), (5, BIG)], None),
    (product_of_rows, (X, 3), [(X, BIG // 4), (X[:2], BIG)], None),
]
NAMES = [case[0].__name__ for case in CASES]


@pytest.mark.parametrize("backend", ["python", "numba"])
@pytest.mark.parametrize("f, args, others, left", CASES, ids=NAMES)
@fail_unless_captured()
def test_same_answers(f, args, others, left, backend):
    check(f, *args, others=others, config={"backend": backend})


@pytest.mark.parametrize("f, args, left", [(f, args, left) for f, args, _, left in CASES if left is not None])
def test_what_is_left(f, args, left):
    assert checks_left(f, args) == left
