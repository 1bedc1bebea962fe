"""Powers of Python ints and of arrays, and integers of NumPy's compared with floats."""

import numpy as np

from tests.harness import check, fail_unless_captured, nothing_breaks, same_answers

X = np.array([2.5, -1.0, 7.0, 0.5, 3.0, -0.0])
I = np.array([3, 0, -2, 7, 2 ** 53 + 1, -(2 ** 62)])
PYTHON = {"backend": "python"}


def known(n):
    s = 0
    for i in range(-3, n):
        s += i ** 2 + i ** 3 - i ** 7 + i ** 1 + i ** 0 + pow(i, 5)
    return s


def inverse(n):
    s = 0.0
    for i in range(1, n):
        s += i ** -1 + i ** -2 + (-i) ** -3
    return s, n ** -1


def computed(n, k):
    s = 0
    for i in range(n):
        s += i ** k + k ** i + 2 ** i + (-1) ** i
    return s


def compared(x, limit):
    below = above = same = 0
    for v in x:
        if v < limit:
            below += 1
        elif v > limit * 2.0 or 1.5 <= v:
            above += 1
        same += int(v == 2.0 ** 53) + 2 * int(v != limit)
    return below, above, same, x[0] < 0.5 * limit


CASES = [
    (known, (9,), [(1,), (600,), (2000,), (True,)]),
    (inverse, (9,), [(1,), (0,), (700,), (2.5,)]),
    (computed, (8, 3), [(8, 0), (8, -1), (70, 2), (3, 63), (0, 0), (5, 2.5), (5, True)]),
    (compared, (I, 2.5), [(I, float("nan")), (I, float("inf")), (I, 9007199254740992.0), (I.astype("i4"), 2.5),
                          (I.astype("u8"), 2.5), (I, np.float64(3.0)), (I, np.float32(3.0)), (I, 3), (X, 2.5),
                          (I > 0, 0.5), (I, 1.5 + 0j)]),
]

test_same_answers = same_answers(CASES, PYTHON)
test_nothing_breaks = nothing_breaks(CASES)


@fail_unless_captured()
def test_in_machine_code():
    def f(x, n):
        s = 0
        for v in x:
            if v < 2.5:
                s += 1
        for i in range(1, n):
            s += i ** 3 + i ** n
        return s, n ** -2

    check(f, I, 5, others=[(I, 40), (I, 0)])


def test_a_power_that_never_fits():
    def f(x):
        return 2 ** 70, 10 ** 30, (-2) ** 63, x * 2.0 + 1.0

    def g(n, x):
        return n ** 64, n ** 63, x * 2.0 + 1.0

    check(f, X, config=PYTHON)
    check(g, 3, X, others=[(1, X), (0, X), (-1, X), (2, X)], config=PYTHON)


@fail_unless_captured()
def test_arrays_in_machine_code():
    def f(x, n):
        y = x ** 3
        return y + x ** -2.0, (x - 0.5) ** 4 * 2.0, np.mean(x ** n), np.power(x, n, out=x), y

    x = np.random.RandomState(0).standard_normal(3000)
    odd = [x, np.abs(x), -np.abs(x)]
    for value in (0.0, -1e-200, 1e100, np.inf, np.nan):  # divide, overflow, underflow
        odd.append(x.copy())
        odd[-1][1500] = value
    odd += [x.astype("f4"), x[:2990].reshape(-1, 10)[:, 3], x[:5]]
    check(f, x.copy(), 5, others=[(a.copy(), n) for a in odd for n in (5, -3, 1.5)])
