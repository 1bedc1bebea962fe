"""Branches: on arguments, on data, short circuits, and what truth means for arrays."""

import numpy as np

from tests.behaviour.cases import Case, X, Y, each, group
from tests.harness import check, fail_unless_captured


def guarded(x, a=None, use_default=True):
    if use_default:
        k = 2.0
    elif isinstance(a, int):
        k = a + 1
    elif a is None:
        k = x
    else:
        k = a * 0.5
    y = x * k + 1.0
    return y - x


@each(
    Case(10, guarded, X, kernels=1,
         others=[(X, 3, False), (X, None, False), (X, Y, False), (X, True, 0), (X, 1.5, ""), (X, 3, [1])]),
)
def test_guards_on_conditions(case):
    case.run()


def on_sum(a, b):
    if b.sum() < 0:
        b = b * -1.0
        a = a + b
    return a * b - 1.0


def on_element(x, y):
    z = x * 2.0 + 1.0
    if z[0] > y[0]:
        return z - y
    if z[-1] < y[-1] and z[1] > 2:
        z = z * y
    return z + y * 0.5


def on_any_all(x):
    y = x * 2.0 - 3.0
    if (y > 0).all():
        return y * x
    if (y > 0).any():
        y = y + x
    return y * 0.5


DATA = [(X, Y), (Y, X), (X, -X), (-X, X), (X, Y * np.nan)]


@each(
    Case(12, on_sum, X, Y, kernels=1, others=DATA),
    Case(12, on_element, X, Y, kernels=1, others=DATA + [(X, Y[:0]), (X.astype(int), Y)]),
    Case(12, on_any_all, X, kernels=1, others=[(X + 9,), (-X,), (X[:0],), (X.astype("f"),)]),
)
def test_branches_on_data(case):
    case.run()


def single(x, y):
    if x[0] > 1.0:
        y = y * 2.0 + x
    return y - 1.0


def if_else(x, y):
    if x[0] > y[0]:
        z = x * 2.0 + y
    else:
        z = y * 3.0 - x
    return z * z


def chain(x, y):
    if x[0] > 2.0:
        z = x + y * 2.0
    elif x[0] > 1.0:
        z = x - y * 2.0
    elif y[0] > 1.0:
        z = x * y
    else:
        z = x * 0.5 + 1.0
    return z * 2.0


def nested(x, y):
    z = x * 1.0
    if x[0] > 1.0:
        if y[0] > 1.0:
            z = z + y * 2.0
        else:
            z = z - y
            if z[1] < 0.0:
                z = z * -1.0
    elif y[0] > 2.0:
        z = z * y + x
    return z + 1.0


def returns_in_arms(x, y):
    if x[0] > 1.0:
        return x * 2.0 + y
    if y[0] > 1.0:
        return y * 2.0 - x
    return x * y + 1.0


def ternary(x, y):
    z = (x * 2.0 + y) if x[0] > y[0] else (y * 2.0 - x)
    return z * (2.0 if z[0] > 3.0 else -1.0)


def both_inputs_change(x, y):
    if x[0] < y[0]:
        x, y = y, x
    else:
        x = x + y
        y = y * 0.5 - x
    return x * y, x, y


def of_different_kinds(x, y):
    if x[0] > 1.0:
        z = x * 2.0 + 1.0
    elif x[0] > 0.0:
        z = 2.0
    else:
        z = None
    return z if z is None else z * y - 1.0


ARMS = [(X, Y), (X + 1.0, Y), (X + 3.0, Y), (X, Y - 3.0), (X - 5.0, Y), (X[:1], Y[:1]), (X[:0], Y[:0])]
IFS = [single, if_else, chain, nested, returns_in_arms, ternary, both_inputs_change, of_different_kinds]


@each(*[Case(15, f, X, Y, kernels=1, others=ARMS, aliased=[(X, X), (X, X[::-1])]) for f in IFS])
def test_shapes_of_if(case):
    case.run()


def if_on_computed(x, m):
    z = x.sum() * 2.0
    if z > m:
        return x * z + 1.0
    return x - z * 0.5


def range_of_computed(x):
    m = int(x.sum()) % 5
    y = x * 1.0
    for i in range(m):
        y = y * 0.5 + i
    return y, m


def while_on_computed(x, limit):
    n = 0
    while x.sum() < limit:
        x = x * 1.5 + 0.1
        n += 1
    return x, n


def while_on_element(x):
    i = 0
    while i < len(x) and x[i] < 2.0:
        x[i] = x[i] * 2.0
        i += 1
    return i, x


@each(
    Case(16, if_on_computed, X, 3.0, kernels=1, others=[(X, 99.0), (X, 99), (-X, np.float32(1.0))]),
    Case(16, range_of_computed, X, kernels=1, others=[(X * 2.0,), (X[:2],), (X * np.nan,), (X * np.inf,)]),
    Case(16, while_on_computed, X, 50.0, kernels=1, others=[(X, -1.0), (X, 99), (X, X[0])]),
    Case(16, while_on_element, X, kernels=1, others=[(X + 2,), (X[:2],), (X[:0],), (X.astype(int),)]),
)
def test_steered_by_computed_values(case):
    case.run()


def in_place_in_a_branch(x, y):
    if x[0] > 1:
        x += 3.0
        x *= 0.5
    z = x * 2.0 + y
    return x, z


def in_place_both(x, y):
    if (x > y).any():
        x[:2] += 1.0
        y -= x
    else:
        y[1:] *= 2.0
        x = x + y
    return x, y


PLACES = [(X + 1.0, Y), (X, Y + 9.0), (X[:2], Y[:2])]


@each(
    Case(24, in_place_in_a_branch, X, Y, kernels=1, others=PLACES, aliased=[(X, X), (X[1:], X[:-1])]),
    Case(24, in_place_both, X, Y, kernels=1, others=PLACES, aliased=[(X, X), (X[1:], X[:-1])]),
)
def test_in_place_in_branches(case):
    case.run()


def if_and(x, y):
    z = x * 2.0 + y
    if (z > 1.0) and (z < 9.0):
        z = z - x
    return z * 0.5


def if_or(x, y):
    z = x * 2.0 + y
    if (z > 5.0) or (y > 0.0):
        z = z - x
    return z * 0.5


def if_not(x, y):
    z = x * 2.0 + y
    if not z:
        z = z - 1.0
    return z * 0.5


def elif_truth(x, y):
    z = x * 2.0 + y
    if z < 0.0:
        return z - 1.0
    elif z > 2.0 and not y > 2.0:
        return z * y
    return z * 0.5


def return_and(x, y):
    z = x * 2.0 + y
    return z and z * y


def return_or(x, y):
    z = x * 2.0 - y
    return z or (z - 1.0) * y


def chained_comparison(x, y):
    z = x * 2.0 + y
    if 0.0 < z < 5.0:
        z = z * y - 1.0
    return z, (x < y < z)


def truth_of_three(x, y):
    z = x * 2.0 + y
    return (x > 1) and z or y


def break_in_condition(x, y):
    z = x * 2.0 + y
    if z[0] > 1.0 and print("asked") is None or print("not asked"):
        z = z * y - x
    return z * 0.5


ONE = np.array([1.5])
TRUTHS = [(ONE, ONE), (ONE, -ONE), (-ONE, ONE), (ONE * 0.0, ONE * 0.0), (X, Y), (X[:0], Y[:0]), (1.5, 2.0), (0, 0.0),
          (np.float64(1.5), 1), (np.array(1.5), np.array(2.0)), (ONE, X)]
CONDITIONS = [if_and, if_or, if_not, elif_truth, return_and, return_or, chained_comparison, truth_of_three]


@each(*[Case(72, f, ONE, ONE, kernels=1, others=TRUTHS) for f in CONDITIONS])
def test_truth(case):
    case.run()


@group(72)
def test_breaks_in_conditions():
    with fail_unless_captured():
        check(break_in_condition, X, Y, others=[(-X, Y), (X, -Y), (X[:0], Y)])


def while_truth(x, y):
    n = 0
    while x < y and n < 6:
        x = x * 1.5 + 0.5
        n += 1
    return x, n


def while_with_break(x, y):
    n = 0
    while (x[0] < 9.0 or y[0] > 0.0) and n < 9:
        x = x * 2.0 + 0.5
        n += 1
        if x[0] > 5.0 and not y[0] > 2.0:
            break
        if n % 2 and x[-1] > 3.0:
            continue
        y = y - x * 0.5
    else:
        return x, y, "else"
    return x, y, n


@each(
    Case(72, while_truth, ONE, ONE * 9.0, kernels=1, others=TRUTHS),
    Case(72, while_with_break, X, Y, kernels=1, others=[(X * 9.0, Y), (X, Y * 9.0), (-X, Y), (X[:0], Y)]),
)
def test_truth_in_while(case):
    case.run()
