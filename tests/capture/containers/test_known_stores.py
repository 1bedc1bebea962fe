"""Stores into lists and dicts that the function makes: what they hold stays known; slices in them are one object."""

import numpy as np
import pytest

from tests.harness import check, fail_unless_captured, jitted, nothing_breaks, same

X = np.linspace(0.5, 4.0, 12).reshape(3, 4)
V = np.linspace(0.5, 4.0, 11)


def one_axis(x, axis):
    idx = [slice(None)] * x.ndim
    idx[axis] = slice(1, None)
    back = [slice(None)] * x.ndim
    back[axis] = slice(None, -1)
    return x[tuple(idx)] - x[tuple(back)], idx


def axes_from_numbers(x, n, axis):
    idx = [slice(None)] * n
    idx[axis] = 0
    ahead = (slice(None),) * axis + (slice(0, 1), Ellipsis)
    return x[tuple(idx)] * 2.0, x[ahead] + 1.0


def shape_with_one(x, axis):
    shape = [1] * x.ndim
    shape[axis] = -1
    weights = np.arange(float(x.shape[axis])).reshape(shape)
    kept = list(x.shape)
    kept[axis] = 1
    return x * weights + np.ones(kept), shape, kept


def two_names(x, axis):
    a = [slice(None), slice(None)]
    b = a
    b[axis] = slice(0, 2)
    return x[tuple(a)] * 2.0, a is b, a, b


def in_other_containers(x, axis):
    a = [0, 1]
    held = (a, {"a": a})
    a[axis] = 5
    held[1]["a"][0] += 2
    return a, held, x * (a[0] + held[0][1]), held[0] is a


def equal_lists(x, n):
    a, b = [0, 0], [0, 0]
    a[0] = n
    b[1] = 2 * n
    a[1], b[0] = b[1], a[0]
    return a, b, x * a[0] + b[0]


def made_in_rounds(x, n):
    last = [0, 0]
    kept = last
    for i in range(n):
        now = [0, 0]
        now[0] = i
        last[1] = i * 10
        kept, last = last, now
    return last, kept, x * last[0] + kept[1]


def swapped_in_rounds(x, n):
    a, b = [0.0, 1.0], [0.0, 1.0]
    for i in range(n):
        a[0] += x[0, 0]
        a, b = b, a
        b[1] = a[1] * 0.5
    return a, b


def either(x, flag):
    a, b = [0, 0], [1, 1]
    c = a if flag else b
    c[0] = 7
    return a, b, c, x * a[0] + b[0] + c[0]


def counts(x, n):
    info = {"calls": 0, "sum": 0.0, "last": None}
    for i in range(n):
        info["calls"] += 1
        info["sum"] += x[0, i]
        info["last"] = x[i] * 2.0
    info["calls"] += 10
    return info, x * info["calls"]


def another_type(x, n):
    pair = [0, 1]
    pair[0] = "text"
    pair[1] = x[0] * n
    pair[-1] += 1.0
    return pair, len(pair[0]) * x


def out_of_range(x, k):
    pair = [0, 1]
    y = x * 2.0
    pair[k] = 5
    return y - 1.0, pair


def missing_key(x, key):
    d = {"a": 1, 1: 2}
    d[key] = 3
    d[True] = 4
    return d, x * d["a"] + d[1]


def in_itself(x, n):
    pair = [0, n]
    pair[0] = pair
    return pair[0] is pair, pair[0][1], x * pair[1]


def through_a_method(x, n):
    pair = [0, n]
    add = pair.append
    pair[0] = 3
    add(4)
    return pair, x * pair[0]


def while_iterated(x, n):
    total = 0
    pair = [1, 2, 3]
    for one in pair:
        pair[2] = 10
        total += one
    return total, pair, x * total


def bump(v, count):
    count[0] += 1
    return v * 2.0 + 1.0


def counted_by_callee(x, n):
    count = [0]
    for _ in range(n):
        x = bump(x, count)
    x = bump(x, count)
    return x, count[0], count


def counted_by_closure(x, n):
    count, seen = [0], []

    def g(v):
        count[0] += 1
        seen.append(v[0, 0])
        return v * 0.5

    for _ in range(n):
        x = g(x)
    return g(x), count[0], count, seen


def collected_by_closure(x, n):
    seen, rows, sums = [], [], [0.0]

    def g(v):
        y = v * 0.5
        sums[0] += v[0, 1]
        seen.append(y)
        rows.append(v[0, 0])
        return y

    for _ in range(n):
        x = g(x)
    return x, np.array(seen), np.array(rows), sums


def changed_on_a_path(v, held, flag):
    if flag:
        held[0] = v[0, 0]
    else:
        held[0] = 2
    return v * 2.0


def of_two_kinds(x, n):
    held = [0, 1.5]
    for k in range(n):
        x = changed_on_a_path(x, held, k % 2)
    return x * held[0], held


def binds_anew(v, held):
    held[0] = 3
    held = [0.5]
    return v * held[0]


def kept_by_the_caller(x, n):
    held = [n]
    y = binds_anew(x, held)
    return y * held[0], held


def callee_with_two(a, b):
    a[0] = 5
    b[0] += 1
    return a[0]


def aliased_in_callee(x, n):
    one, two = [0, n], [0, n]
    first = callee_with_two(one, two)
    second = callee_with_two(one, one)
    return one, two, x * first + second


def callee_with_function(pair, read):
    pair[0] = 9
    return read()


def closure_sees_it(x, n):
    pair = [n, 1]
    return callee_with_function(pair, lambda: pair[0]) * x, pair


def slices_are_objects(x, n):
    one = [slice(0, n)]
    many, more, tupled = one * 2, one + one, (slice(1, n),) * 2
    named = {"s": one[0]}
    return (many[0] is one[0], many[0] is many[1], more[1] is one[0], named["s"] is one[0], tupled[0] is tupled[1],
            one, many, more, tupled, named, x[many[1]] * 2.0)


CASES = [
    (one_axis, (X, 0), [(X, 1), (X, -1), (V, 0), (X, 2)]),
    (axes_from_numbers, (X, 2, 1), [(X, 2, 0), (V, 1, 0), (X, 1, 0), (X, 3, 1)]),
    (shape_with_one, (X, 1), [(X, 0), (V, 0)]),
    (two_names, (X, 1), [(X, -2)]),
    (in_other_containers, (X, 1), []),
    (equal_lists, (X, 3), [(X, 2.5)]),
    (made_in_rounds, (X, 3), [(X, 0), (X, 1)]),
    (swapped_in_rounds, (X, 3), [(X, 0), (X, 4)]),
    (either, (X, True), [(X, False)]),
    (counts, (X, 3), [(X, 0)]),
    (another_type, (X, 3), []),
    (out_of_range, (X, 1), [(X, 2), (X, -2), (X, -3)]),
    (missing_key, (X, "a"), [(X, "b"), (X, 1)]),
    (in_itself, (X, 2), []),
    (through_a_method, (X, 2), []),
    (while_iterated, (X, 2), []),
    (counted_by_callee, (X, 3), [(X, 0)]),
    (counted_by_closure, (X, 3), [(X, 0)]),
    (collected_by_closure, (X, 3), [(X, 0)]),
    (of_two_kinds, (X, 3), [(X, 0), (X, 1)]),
    (kept_by_the_caller, (X, 3), []),
    (aliased_in_callee, (X, 2), []),
    (closure_sees_it, (X, 2), []),
    (slices_are_objects, (X, 2), []),
]
NAMES = [case[0].__name__ for case in CASES]


@pytest.mark.parametrize("f, args, others", CASES, ids=NAMES)
@fail_unless_captured()
def test_known_containers_are_stored_into(f, args, others):
    check(f, *args, others=others, config={"backend": "python"})


@pytest.mark.parametrize("f, args, others", [CASES[NAMES.index(f.__name__)] for f in (
    one_axis, swapped_in_rounds, counts, counted_by_callee, counted_by_closure)],
    ids=lambda value: getattr(value, "__name__", ""))
@fail_unless_captured()
def test_known_containers_in_this_mode(f, args, others):
    check(f, *args, others=others)


test_such_stores_break_nothing = nothing_breaks([CASES[NAMES.index(f.__name__)] for f in (
    one_axis, shape_with_one, equal_lists, counts, another_type, counted_by_callee, counted_by_closure,
    collected_by_closure, axes_from_numbers)])


def identities(values):
    return [[one is other for one in values] for other in values]


def test_slices_in_containers_are_the_objects_that_they_were():
    def f(x):
        one = [slice(0, 2)]
        pair = (slice(1, 3),) * 2
        return one[0], (one * 2)[0], (one + one)[1], pair[0], pair[1], x[one[0]] * 2.0

    j = jitted(f)
    for _ in range(3):
        same(f(V)[5], j(V)[5])
        assert identities(j(V)[:5]) == identities(f(V)[:5])
