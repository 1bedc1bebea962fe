"""Loops: for over what there is, while, else, break and continue at any depth, appended and popped lists."""

import itertools

import numpy as np

from tests.behaviour.cases import Case, X, Y, each

GRID = np.arange(12.0).reshape(3, 4)


def break_at_inner_loop(x, names):
    y = x * 1.0
    for name in names:
        n = 0
        while n < 3:
            y = y * 0.5 + n
            print(name, n)
            n += 1
            y = y - x
    return y


def break_in_middle_loop(x, n):
    for i in range(n):
        for j in range(3):
            x = x * 0.5 + j
            x[0] = x[0] + i
        print("middle", i)
        while x[1] > 1.0:
            x = x * 0.5 - 0.1
    return x


@each(
    Case(11, break_at_inner_loop, X, ["a", "b"], kernels=1, others=[(X, []), (X, "xyz"), (Y, {"k": 1})]),
    Case(11, break_in_middle_loop, X, 3, kernels=1, others=[(X, 0), (X.astype("f"), 2)]),
)
def test_breaks_in_nested_loops(case):
    case.run()


def over_range(x, a, b, s):
    y = x * 1.0
    for i in range(a, b, s):
        y = y * 0.5 + i
    return y


def over_enumerate(x, xs):
    y = x * 1.0
    for i, one in enumerate(xs):
        y = y * one + i
    return y


def over_zip(x, xs, ys):
    y = x * 1.0
    for a, b in zip(xs, ys):
        y = y * a + b
    return y


def over_enumerated_zip(x, xs, ys):
    y = x * 1.0
    for i, (a, b) in enumerate(list(zip(xs, ys))):
        y = y * a - b * i
    return y, i


def over_rows(m):
    total = m[0] * 0.0
    for row in m:
        total = total + row * 2.0
    return total


def over_elements(x):
    total = 0.0
    for v in x:
        total += v * 2.0
        if v > 3.0:
            break
    return total * x


def over_reversed(x, xs):
    y = x * 1.0
    for one in reversed(xs):
        y = y * 0.5 - one
    return y


def over_dict(x, d):
    y = x * 1.0
    for key in d:
        y = y * d[key] + 1.0
    for key, value in d.items():
        y = y + value * len(key)
    for value in d.values():
        y = y - value
    return y


def over_mixed(x, layers):
    for w, b in layers:
        x = x * w + b
        x = np.maximum(x, 0.0)
    return x


def leftover(x, xs):
    it = iter(xs)
    y = x * 1.0
    for one in it:
        y = y * one + 1.0
        if one > 1.5:
            break
    return y, list(it)


def over_generator(x, n):
    y = x * 1.0
    for v in (i * 2.0 for i in range(n)):
        y = y * 0.5 + v
    return y


def over_chain(x, xs):
    y = x * 1.0
    for one in itertools.chain(xs, (2.0,), range(2)):
        y = y * 0.5 + one
    return y


def changed_while_iterating(x, xs):
    y = x * 1.0
    for one in xs:
        y = y * 0.5 + one
        if len(xs) < 5:
            xs.append(one + 1.0)
    return y, xs


LISTS = [[1.0, 2.0], (1, 2.5), [X, Y], [], [X, 2, np.float32(1)], X[:4], GRID[:, 0]]


@each(
    Case(17, over_range, X, 0, 4, 1, kernels=1,
         others=[(X, 5, 0, -2), (X, 3, 3, 1), (X, 0, 4, 0), (X, 0, 2.5, 1), (X, -2, 2, 3)]),
    Case(17, over_enumerate, X, [2.0, 3.0], kernels=1, others=[(X, one) for one in LISTS]),
    Case(17, over_zip, X, [2.0, 3.0], [1.0, 2.0, 3.0], others=[(X, one, LISTS[-k]) for k, one in enumerate(LISTS)]),
    Case(17, over_enumerated_zip, X, [2.0, 3.0], [1.0, Y],
         others=[(X, one, LISTS[-k]) for k, one in enumerate(LISTS)]),
    Case(17, over_rows, GRID, kernels=1, others=[(GRID[:0],), (GRID.T,), (X,), (GRID.astype(int),), ([X, Y],)]),
    Case(17, over_elements, X, others=[(Y,), (X[:0],), (X.astype("f"),), (X[::-1],), (np.float64(2.0),)]),
    Case(17, over_reversed, X, [1.0, Y], kernels=1, others=[(X, one) for one in LISTS + [{"a": 1}, None]]),
    Case(17, over_dict, X, {"ab": 2.0, "c": Y}, kernels=1,
         others=[(X, {}), (X, {"z": 1, "y": 2, "x": 3}), (X, [1])]),
    Case(17, over_mixed, X, [(2.0, 1.0), (Y, X)], others=[(X, ()), (X, [(2, -9)] * 3), (X, [(1, 2, 3)])]),
    Case(17, leftover, X, [1.0, 2.0, 3.0], others=[(X, (1, 2, "x")), (X, []), (X, Y[:3])]),
    Case(17, over_generator, X, 3, kernels=1, others=[(X, 0)]),
    Case(17, over_chain, X, [1.0, Y], others=[(X, ())]),
    Case(17, changed_while_iterating, X, [1.0, 2.0], others=[(X, []), (X, [Y])]),
)
def test_for(case):
    case.run()


def while_arms(x, mode):
    n = 0
    while n < 6:
        n += 1
        x = x * 0.5 + n
        if mode == 1 and n == 3:
            break
        if mode == 2 and n % 2:
            continue
        if mode == 3 and n == 4:
            return x * 2.0, "returned"
        x = x - 1.0
    else:
        x = x * 3.0 - 1.0
        return x, "else", n
    return x, "broke", n


def for_arms(x, mode):
    for n in range(6):
        x = x * 0.5 + n
        if mode == 1 and n == 3:
            break
        if mode == 2 and n % 2:
            continue
        if mode == 3 and x[0] > 2.0:
            return x * 2.0, "returned"
        x = x - 1.0
    else:
        x = x * 3.0 - 1.0
        return x, "else", n
    return x, "broke", n


def while_on_data(x, low):
    n = 0
    while x[0] > low:
        x = x - 0.25
        n += 1
        if x[-1] < 1.0:
            continue
        if n > 20:
            break
        x = x * 0.9
    else:
        n = -n
    return x, n


def while_true(x):
    n = 0
    while True:
        x = x * 0.5 + 0.1
        n += 1
        if x[-1] < 0.5:
            return x, n
        if n == 9:
            break
    return x - 1.0, n


@each(
    Case(21, while_arms, X, 0, kernels=1, others=[(X, k) for k in (1, 2, 3)] + [(2.0, 0)]),
    Case(21, for_arms, X, 0, kernels=1, others=[(X, k) for k in (1, 2, 3)] + [(X * 9.0, 3)]),
    Case(21, while_on_data, X, 0.0, kernels=1, others=[(X, 9.0), (X * 99.0, 0.0), (X, np.nan), (X[:0], 0.0)]),
    Case(21, while_true, X, kernels=1, others=[(X * 999.0,), (X * np.nan,)]),
)
def test_arms_of_loops(case):
    case.run()


def breaks_at_many_depths(x, a, b):
    hits = 0
    for i in range(4):
        if i == a:
            continue
        for j in range(4):
            if j == b:
                break
            k = 0
            while k < 3:
                k += 1
                if k == j:
                    continue
                if i + j + k == 7:
                    break
                x = x * 0.75 + k
                hits += 1
            else:
                x = x - 0.5
                continue
            break
        else:
            x = x + 1.0
    return x, hits, i, j, k


def found(m, wanted):
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            if m[i, j] == wanted:
                break
        else:
            continue
        break
    else:
        return m * 2.0 + 1.0, None
    return m - m[i, j] * 2.0, (i, j)


@each(
    Case(22, breaks_at_many_depths, X, 1, 2, kernels=1, others=[(X, 9, 9), (X, 0, 3), (2.0, 3, 1)]),
    Case(22, found, GRID, 6.0, kernels=1,
         others=[(GRID, 0), (GRID, 99.0), (GRID[:, :0], 1.0), (GRID[:0], 1.0), (GRID, "x")]),
)
def test_breaks_out_of_nested_loops(case):
    case.run()


def until_negative(values):
    x = np.array(values)
    x -= 4
    y = x * 2 + 40
    while (y >= 0).all():
        y -= 7
        x = x + y
    return x, y


def collect(x, out):
    while len(out) < 4:
        x = x * 0.5 + 1.0
        out.append(x[0])
    return x * 2.0, out


def running(x, k):
    out = []
    i = 0
    while i < len(x):
        v = x[i] * k + 1.0
        if v > 4.0:
            out.append(v)
        i += 1
    return out, x * 2.0 - 1.0


@each(
    Case(23, until_negative, [1, 2, 3], kernels=1, others=[([5.0, 6.5],), ((-99,),)]),
    Case(23, collect, X, [], kernels=1, others=[(X, [1, 2, 3, 4]), (Y, ["a"])]),
    Case(23, running, X, 2.0, kernels=1, others=[(X, 2), (Y, 1.0), (X[:0], 1.0), (X.astype("f"), np.float32(2))]),
)
def test_while_with_arrays_and_lists(case):
    case.run()
