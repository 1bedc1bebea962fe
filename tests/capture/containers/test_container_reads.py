"""Reads of lists, tuples and dicts where the position is computed or captured code changes them: looked up natively."""

import weakref

import numpy as np
import pytest

from tests.capture.containers.effects_common import CUT, launches
from tests.harness import check, fail_unless_captured, jitted

MANY = {"backend": "python"}  # machine code is compared in the tests below
X = np.linspace(0.5, 4.0, 11)


def arrays(items, x, n):
    for i in range(n):
        x = x * items[i] + items[-1 - i]
    return x


def numbers(items, n):
    total = items[0]
    for i in range(n):
        total += items[i]
    return total


def one_of_three(x, n):
    total = 0.0
    for i in range(n):
        total += (0.25, 0.5, 0.75)[i % 3] * x[i]
    return total


def one_of_two_arrays(x, y, n):
    pair = (x, y)
    for i in range(n):
        pair[i % 2][i] += 1.0
    return pair[n % 2] * 2.0


def table(rows, n):
    total = 0
    for i in range(n):
        for j in range(n):
            total += rows[i][j]
            rows[j][i] = total
    return total


def running(x, n):
    sums = [0.0] * n
    for i in range(1, n):
        sums[i] = sums[i - 1] + x[i]
    return sums


def known_and_unknown(items, x, k):
    for i in range(len(x)):
        items[0] += x[i]
        items[k] = items[0] + i
        items[1] = items[k]
    return items[0], len(items)


def grows(items, x):
    for i in range(len(x)):
        items.append(items[0] + len(items))
        items[0] += x[i]
    return items


def dict_items(d, x):
    for i in range(len(x)):
        d["n"] += 1
        if x[i] > 2.0:
            d["last"] = x[i] * d["n"]
        d[7] = d["last"] + len(d)
    return d["n"], "last" in d, 7 in d, "other" in d, d.get("n", 0), d.get("other", 5)


def dict_arrays(d, x):
    for i in range(4):
        d["w"] = d["w"] * x
        d["w"] += x[i]
    return d["w"]


def made_here(x):
    d = {"sum": 0.0, "n": 0}
    for i in range(len(x)):
        d["sum"] += x[i]
        d["n"] += 1
    return d


def beside_a_new_list(weights, x):
    out = []
    for i in range(len(x)):
        out.append(x[i] * weights[0] + weights[1])
    return out, len(out)


def empties(items, x):
    total = 0.0
    while items:
        total += items.pop() * x[0]
    return total, not items


CASES = [
    (arrays, ([X, X + 1.0, X * 2.0, X], X, 3)), (arrays, ((X, X), X, 2)), (arrays, ([np.arange(11.0)[::-1], X], X, 2)),
    (numbers, ([1.5, 2.5, -0.0], 3)), (numbers, ((1, 2, 3, 4), 4)), (numbers, ([np.float32(0.1)] * 3, 2)),
    (numbers, ([np.uint8(7)] * 3, 2)), (numbers, ([np.uint64(2 ** 63)] * 2, 2)),
    (one_of_three, (X, 11)), (one_of_two_arrays, (X + 0.0, X * 2.0, 5)), (table, ([[1, 2], [3, 4]], 2)),
    (running, (X, 11)), (known_and_unknown, ([0.0, 1.0, X[0]], X, 2)), (known_and_unknown, ([0.0, 1.0, 2.0], X, 0)),
    (grows, ([1.0], X)), (dict_items, ({"n": 0, "last": X[0]}, X)), (dict_arrays, ({"w": X}, X)), (made_here, (X,)),
    (beside_a_new_list, ([2.0, 3.0], X)), (empties, ([1.0, 2.0, 3.0], X)),
]


@pytest.mark.parametrize("f, args", CASES, ids=lambda item: getattr(item, "__name__", ""))
def test_same_as_python(f, args):
    with fail_unless_captured():
        check(f, *args, calls=4, config=MANY)


@pytest.mark.skipif(CUT, reason="cut everywhere")
@pytest.mark.parametrize("f, args", [(arrays, ([X, X, X, X], X, 3)), (table, ([[1, 2], [3, 4]], 2)), (dict_arrays, ({"w": X}, X)),
                                     (known_and_unknown, ([X[0], X[0], X[0]], X, 2)), (beside_a_new_list, ([2.0, 3.0], X)),
                                     (made_here, (X,))], ids=lambda item: getattr(item, "__name__", ""))
def test_the_loop_is_one_kernel(f, args):
    assert launches(jitted(f), *args) <= 2
    check(f, *args, calls=4)


def test_items_of_other_types():
    check(numbers, [1, 2, 3], 3, others=[([1, 2.5, 3], 3), ([1, 2 ** 70, 3], 3), ([1, 2], 3), ([], 1), ([1, True, 2], 3),
                                         ((1, 2, 3), 3), ([np.int64(1)] * 3, 3)], config=MANY)
    check(arrays, [X, X], X, 2, others=[([X, X.astype("f")], X, 2), ([X, 2.0], X, 2), ([X, np.stack([X, X])], X, 2),
                                        ([X, X[::-1]], X, 2), ([X[:3], X], X, 2), ([X], X, 2), ([X, np.matrix(X)], X, 2)], config=MANY)


def test_keys_that_are_missing():
    check(dict_items, {"n": 0, "last": X[0]}, X, others=[({"n": 0}, X), ({}, X), ({"n": 0.5, "last": 1}, X)], config=MANY)
    check(dict_arrays, {"w": X}, X, others=[({"w": 1.0}, X), ({}, X), ({"w": X.astype("f")}, X)], config=MANY)


def test_positions_out_of_range():
    check(table, [[1, 2], [3, 4]], 2, others=[([[1, 2], [3]], 2), ([[1, 2], (3, 4)], 2), ([], 1)], config=MANY)
    check(running, X, 11, others=[(X[:5], 11), (X, 1)], config=MANY)


def test_one_container_under_two_names():
    row = [1, 2]
    check(table, [row, [3, 4]], 2, aliased=[([row, row], 2)])
    shared = [2.0, 3.0]

    def f(a, b, x):
        for i in range(len(x)):
            a[i % 2] += x[i] * b[1]
            b.append(a[i])
        return a[0]

    check(f, [2.0, 3.0], [4.0, 5.0], X, aliased=[(shared, shared, X)])


def test_an_array_that_is_in_two_places():
    y = X + 0.0
    check(one_of_two_arrays, X + 0.0, X * 2.0, 5, aliased=[(y, y, 5), (y, y[::-1], 5)])


def test_the_end_of_an_array_is_seen_where_it_is_replaced():
    def replaces(items, x, ends):
        for i in range(3):
            t = items[i] * 2.0
            items[i] = t
            ends.append(i)
        return len(ends)

    j, seen = jitted(replaces), []
    for f in (replaces, j, j, j, j):
        f([X, X, X], X, [])
        ends, watched = [], X + 1.0
        callback = weakref.ref(watched, lambda _, ends=ends: ends.append("end"))
        items = [X, watched, X]
        del watched
        f(items, X, ends)
        seen.append(ends)
        assert callback() is None
    assert all(item == seen[0] for item in seen) and "end" in seen[0], seen
