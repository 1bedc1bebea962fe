"""Where numba, or torch.compile, differs from Python and NumPy: here each gives Python's answer, with a kernel running."""

import math

import numpy as np
import pytest

from tests.capture.scalars.test_scalars import agree
from tests.harness import check, fail_unless_captured, jitted

X = np.array([1.5, -2.0, 0.25, 8.0])


def grows(n):
    a, b = 0, 1
    for i in range(n):
        a, b = b, a + b
    return a


def negative_power(k):
    s = 0.0
    for i in range(3):
        s = s * 0.5 + 1.0
    for i in range(3):
        s = s * 0.25 + 2 ** -k
    return s, 2 ** -1


def shift(k, n):
    total = 0
    for i in range(n):
        total += 1 << k
    return total


def small_scalars(x, n):
    total = x[0]
    for i in range(n):
        total = total + x[0]
    return total, type(total).__name__


def unsigned_with_signed(a, b, n):
    r = a + b
    for i in range(n):
        r = a + b
    return r


def numpy_scalar_stays(x, n):
    s = x[0]
    for i in range(n):
        s = s * x[1] + x[2]
    return s


def whole(x, n):
    total = 0
    for i in range(n):
        total += int(x[i])
    return total


def root(x, n):
    total = 0.0
    for i in range(n):
        total += math.sqrt(x[i]) + math.log(x[i])
    return total


def maybe_unbound(n):
    for i in range(n):
        last = i * 2
        total = last + 1
    return last, total


def int_or_float(n, flag):
    r = 1
    for i in range(n):
        if flag:
            r = 1.0
        else:
            r = r + 1
    return r


def divides(a, b, n):
    total = 0.0
    for i in range(n):
        total += a / b
    return total, a // b, a % b


def float32_times_float(x):
    y = x * 2.5
    z = y + x
    return z, y * x[0]


def near(x):
    y = np.sqrt(x * 2) + 1.0
    return (x < 0.5) | (x > 2), y


def byte_division(x):
    y = x / x
    return y, y + y, x // x


def result_strides(x):
    y = x * 2
    return y, y + x, np.sqrt(x) + x


def zero_dimensional(x):
    s = x.sum() * 2.0
    y = x + s
    return s, y.max(), y[0], x[0] * 2


def in_place(x):
    y = x
    x *= 2
    x += y
    return x, y


def writes(x, y):
    x[1:] = y[:-1]
    x += y
    y *= x
    return x, y


def wrong_shape(x, y):
    try:
        z = x + y
        z = z * x
    except ValueError as error:
        return type(error).__name__, str(error)
    return z


def reads_beyond(x, n):
    s = 0.0
    try:
        for i in range(n):
            s += x[i]
    except IndexError as error:
        return s, str(error)
    return s


def appends(x, out, n):
    for i in range(n):
        y = x * 2.0 + i
        out.append(y[0])
        x[i] = y[i] + 1.0
    return out


def chained(a, b, c, n):
    total = 0
    for i in range(n):
        total += (a < b < c) + (a == i or b) * 2 + (not c)
    return total


CASES = [
    ("integers grow beyond 64 bits", grows, (50,), [(95,), (200,), (0,)]),
    ("negative integer powers are floats", negative_power, (1,), [(0,), (2,), (-3,)]),
    ("1 << 70 does not wrap", shift, (3, 4), [(62, 4), (63, 1), (70, 2), (-1, 1)]),
    ("uint8 scalars keep their width", small_scalars, (np.array([3], "B"), 4), [(np.array([100], "B"), 5)]),
    ("int32 scalars keep their width", small_scalars, (np.array([3], "i"), 4), [(np.array([2 ** 30], "i"), 5)]),
    ("float32 scalars compute in float32", numpy_scalar_stays, (X.astype("f"), 9), [(X.astype("f") * 1e30, 9)]),
    ("uint64 with int64 is float64", unsigned_with_signed, (np.uint64(2 ** 63), np.int64(-1), 2), []),
    ("np.float64 stays np.float64", numpy_scalar_stays, (X, 5), [(X * 1e200, 5), (X * np.nan, 2)]),
    ("int of NaN and infinity", whole, (X, 4), [(X * np.nan, 2), (X * np.inf, 1), (X * 1e30, 2), (X, 9)]),
    ("math.sqrt and math.log check their domain", root, (X + 3.0, 4), [(X, 4), (X * 0.0, 1), (X * np.nan, 4)]),
    ("variables without a value", maybe_unbound, (3,), [(0,)]),
    ("1 stays an int", int_or_float, (4, False), [(4, True), (0, True)]),
    ("division by zero of Python's numbers", divides, (3, 2, 4), [(3, 0, 4), (3.0, 0.0, 4), (3, 0, 0), (-3.5, 2.0, 1)]),
    ("division by zero of NumPy's numbers", divides, (np.float64(3), np.float64(2), 3),
     [(np.float64(3), np.float64(0), 3), (np.float64(0), np.float64(0), 3), (np.int64(3), np.int64(0), 1)]),
    ("float32 times a Python float is float32", float32_times_float, (X.astype("f"),), [(X.astype("f") * 1e38,), (X,)]),
    ("uint8 and 0.5 compare as in NumPy", near, (np.array([0, 1, 3], "B"),), [(np.array([0, 2], "b"),)]),
    ("uint8 / uint8 is as in NumPy", byte_division, (np.array([1, 2, 3], "B"),), [(np.array([0, 2], "B"),)]),
    ("results have NumPy's strides", result_strides, (np.arange(12.0).reshape(3, 4).T,),
     [(np.arange(24.0).reshape(4, 6)[::2, ::2],), (np.arange(24.0).reshape(2, 3, 4).transpose(2, 0, 1),)]),
    ("scalars are not 0-d arrays", zero_dimensional, (X,), [(X[::2],), (X.astype("f"),), (np.arange(5),)]),
    ("x *= 2 is the same object", in_place, (X,), [(X[::-1],), (np.arange(3),)]),
    ("errors keep type and text", wrong_shape, (X, X), [(X, X[:3]), (X.reshape(2, 2), X[:3])]),
    ("except IndexError is taken", reads_beyond, (X, 4), [(X, 5), (X, 0)]),
    ("an append before a raise stays", appends, (X, [], 4), [(X, [], 5), (X, [1], 9)]),
    ("chained comparisons and truth values", chained, (1, 2, 3, 4), [(3, 2, 1, 2), (1.0, 2.0, 0.0, 3), (0, 0, 0, 2)]),
]


@pytest.mark.parametrize("title, f, args, others", CASES, ids=[case[0] for case in CASES])
def test_python_and_numpy_decide(title, f, args, others):
    with fail_unless_captured():
        check(f, *args, calls=2, others=others)


def test_read_only_arrays_are_not_written():
    fixed = X.copy()
    fixed.flags.writeable = False
    with fail_unless_captured():
        check(writes, X, X * 2.0, others=[(fixed, X), (X, fixed), (fixed, fixed)])


def test_aliased_arguments():
    x = np.arange(9.0)
    with fail_unless_captured():
        check(writes, X, X * 2.0, aliased=[(x, x), (x, x[::-1]), (x[1:], x[:-1]), (x[::2], x[4:])])


LIMIT = 3.0


def reads_global(x):
    return x * LIMIT + LIMIT


def test_globals_are_not_frozen():
    j = jitted(reads_global)
    for value in (3.0, 4.0, 5, X):
        globals()["LIMIT"] = value
        agree(reads_global, j, [(X,), (X,)])
    globals()["LIMIT"] = 3.0


def test_nonlocal_writes_are_seen():
    def make():
        count = 0

        def f(x):
            nonlocal count
            count = count + 1
            y = x * 2.0 + count
            count += 1
            return y * count, count
        return f
    with fail_unless_captured():
        check(make(), X, calls=3)


def warned(x, n):
    for i in range(n):
        y = x / i
        y = y + np.log(x)
    return y


def test_warnings_are_not_lost():
    with fail_unless_captured():
        check(warned, X + 3.0, 3, others=[(X, 2), (X * 0.0, 2)])


def float_steps(a, b):
    steps = 0
    while a < b:
        a = a * 1.5 + 0.1
        steps += 1
    return a, steps


def test_while_on_floats():
    with fail_unless_captured():
        check(float_steps, 1.0, 50.0, others=[(1.0, math.nan), (-0.0, 1e308), (1, 10), (np.float64(1), 9.0)])


def type_changes(x, n):
    s = 0
    for i in range(n):
        s += x[i]
    return s


def test_first_iteration_changes_the_type():
    with fail_unless_captured():
        check(type_changes, X, 4, others=[(X, 0), (X, 1), (X.astype("f"), 4), (np.arange(4), 4), (X, 7)])


def ternaries(a, b):
    r = a if a > b else b
    s = (a and b) or (b - 1)
    t = not (a < b <= r)
    a, b = b, a
    return r, s, t, a - b, (a, (b, r))


def test_ternaries_and_swaps():
    with fail_unless_captured():
        check(ternaries, 1.0, 2.0, others=[(2.0, 1.0), (0.0, -0.0), (math.nan, 1.0), (3, 4), (0, 0), (2 ** 63 - 1, -2 ** 63)])


def divides_in_try(x, n):
    seen = 0
    for i in range(n):
        try:
            seen += 100 // (x - i)
        except ZeroDivisionError as error:
            seen -= 7
            print(error)
    return seen


def test_zero_division_in_try():
    check(divides_in_try, 3, 8, others=[(99, 8), (3.0, 8), (-1, 0)])
