"""Loops over arrays, enumerate, zip, reversed and ranges: native, with Python's items, ends and leftover iterators."""

import numpy as np
import pytest

from tests.harness import check, fail_unless_captured, jitted, kernel_count

X = np.linspace(-2.0, 3.0, 211)
DTYPES = ["?", "b", "B", "h", "H", "i", "I", "l", "L", "f", "d"]
UNBOUND_AFTER = ("PJ212", "PJ218")
"""Breaks of the version of the code behind a loop that ran no round: its variables have no value there."""


def total(x):
    s = 0
    for v in x:
        s = s + v
    return s


def weighted(x):
    s = 0.0
    for i, v in enumerate(x):
        s += i * v
    return s, i, v


def dot(x, y):
    s = 0.0
    for a, b in zip(x, y):
        s += a * b
    return s


def backwards(x):
    s = 0.0
    for v in reversed(x):
        s = s * 0.5 + v
    return s


def nested(x, y, n):
    s = 0.0
    for i, (a, (k, b)) in enumerate(zip(x, zip(range(n), reversed(y))), 5):
        s += a * i - b * k
    return s


def rows(m):
    for i, row in enumerate(m):
        row *= 2.0
        row[0] = i
    return m


def row_sums(m):
    s = m[0] * 0.0
    for row in m:
        s = s + row
    return s, row


def deep(m):
    s = 0.0
    for plane in m:
        for row in plane:
            for v in row:
                if v > 20.0:
                    break
                s += v
            else:
                s += 100.0
    return s


def stepped(n, step):
    s = 0
    for i in range(2, n, step):
        s += i
    return s


def ranges_backwards(n):
    s = 0
    for i in reversed(range(n)):
        s = s * 2 % 1000003 + i
    for i in reversed(range(n, -n, -3)):
        s = s * 2 % 1000003 + i
    return s


def enumerate_from(x, start):
    s = 0.0
    for i, v in enumerate(x, start):
        s += i * v
    return s


def enumerate_keyword(x):
    s = 0.0
    for pair in enumerate(x, start=-3):
        s += pair[0] * pair[1]
    return s


CASES = [
    (total, (X,)), (weighted, (X,)), (dot, (X, X[::-1])), (backwards, (X,)), (nested, (X, X * 2, 100)),
    (rows, (np.ones((5, 4)),)), (row_sums, (np.arange(40.0).reshape(8, 5),)), (deep, (np.arange(60.0).reshape(3, 4, 5),)),
    (stepped, (100, 7)), (stepped, (-100, -7)), (stepped, (-100, 7)), (ranges_backwards, (20,)), (enumerate_from, (X, 7)),
    (enumerate_keyword, (X,)),
]


@pytest.mark.parametrize("function, args", CASES, ids=lambda value: getattr(value, "__name__", ""))
def test_loops_are_native(function, args):
    with fail_unless_captured():
        f = check(function, *args)
    assert not [b for entry in f.state.entries for b in entry.reports.breaks if b.reason_id not in UNBOUND_AFTER]


@pytest.mark.parametrize("dtype", DTYPES)
def test_items_have_the_dtype_of_the_array(dtype):
    x = np.array([0, 1, 1, 0, 1, 1, 1, 0, 1, 1, 0], dtype)

    def last_two(x):
        before = v = x[0]
        for i, w in enumerate(x):
            before, v = v, w
        return before, v, w, i

    with fail_unless_captured():
        check(last_two, x)
    check(total, x)


LAYOUTS = [X[::3], X[::-1], X[:0], X[:1], np.asfortranarray(X.reshape(1, -1))[0], np.broadcast_to(np.float64(2.5), 9)]


@pytest.mark.parametrize("x", LAYOUTS, ids=range(len(LAYOUTS)))
@pytest.mark.parametrize("function", [total, backwards, enumerate_keyword])
def test_layouts(function, x):
    check(function, x, others=[(X,), (X[::2],)])


MATRICES = [np.arange(24.0).reshape(4, 6), np.asfortranarray(np.arange(24.0).reshape(4, 6)), np.arange(48.0).reshape(4, 12)[:, ::2],
            np.arange(24.0).reshape(6, 4).T, np.ones((1, 5)), np.ones((5, 1))]


@pytest.mark.parametrize("m", MATRICES, ids=range(len(MATRICES)))
def test_rows_are_views(m):
    if m.shape[1]:
        check(rows, m)
    check(row_sums, m)


def test_rows_of_a_read_only_array():
    m = np.ones((4, 3))
    m.flags.writeable = False
    check(rows, m)
    check(row_sums, m)


def test_a_kept_row_aliases_the_array():
    def keep(m):
        for row in m:
            if row[0] > 3.0:
                break
        row += 10.0
        return row

    with fail_unless_captured():
        check(keep, np.arange(24.0).reshape(6, 4))


@pytest.mark.parametrize("value", [np.array(3.0), 5, None, 2.5, np.float64(1.0)], ids=str)
def test_what_cannot_be_iterated_raises_as_python_does(value):
    check(total, value)
    check(weighted, value)
    check(backwards, value)


def test_a_recarray_and_strings_run_as_bytecode():
    check(total, np.ma.masked_array([1.0, 2.0], [0, 1]))
    check(total, np.array([1.0, 2.0], ">f8"))
    check(backwards, [1.0, 2.5, 3.0])


def test_rebinding_the_array_does_not_change_the_loop():
    def rebind(x):
        s = 0.0
        for v in x:
            x = x[1:] * 2.0
            s += v
        return s, x

    with fail_unless_captured():
        check(rebind, X)


def test_items_see_what_the_body_writes():
    def running(x):
        for i, v in enumerate(x[:-1]):
            x[i + 1] += v
        return x

    with fail_unless_captured():
        check(running, X)


# ---- zip ----


@pytest.mark.parametrize("lengths", [(5, 9), (9, 5), (0, 5), (5, 0), (7, 7)], ids=str)
def test_zip_ends_with_the_shortest(lengths):
    with fail_unless_captured():
        check(dot, X[:lengths[0]], X[:lengths[1]])


def test_zip_of_one_array_twice():
    def pairs(x):
        s = 0.0
        for a, b in zip(x, x):
            s += a * b
        for a, b in zip(x[:-1], x[1:]):
            s += a - b
        return s

    with fail_unless_captured():
        check(pairs, X)


def test_zip_of_one_iterator_twice():
    def pairs(x):
        it = iter(x)
        s = 0.0
        for a, b in zip(it, it):
            s += a * b
        return s

    check(pairs, X)


def test_zip_of_nothing():
    def nothing(x):
        for pair in zip():
            x = x * 2.0
        return x + 1.0

    check(nothing, X)


# ---- leaving and coming back ----


def printing(x):
    s = 0.0
    for i, v in enumerate(x):
        s += v * v
        if i % 50 == 0:
            print(i, v, s)
    return s


def printing_zip(x, y):
    s = 0.0
    for a, (i, b) in zip(reversed(x), enumerate(y, 3)):
        s += a * b
        if i % 40 == 0:
            print(i, a, b)
    return s


def printing_rows(m):
    s = 0.0
    for row in m:
        s += row.sum()
        if s > 100.0:
            print(row)
    return s


@pytest.mark.usefixtures("little_work")
@pytest.mark.parametrize("function, args", [
    (printing, (X,)), (printing_zip, (X, X[5:150])), (printing_rows, (np.arange(40.0).reshape(10, 4),))],
    ids=lambda value: getattr(value, "__name__", ""))
def test_a_rare_break_keeps_the_kernel(function, args):
    with fail_unless_captured(2):
        f = check(function, *args, config={"force_breaks": None})
    launchers = f.state.entries[0].launchers
    before = [launcher.calls for launcher in launchers]
    f(*args)
    rounds = max(launcher.calls - old for launcher, old in zip(launchers, before))
    assert rounds < len(args[0]) / 5 or len(args[0]) < 20


def test_exceptions_from_the_body():
    def divide(x, d):
        s = 0
        for i, v in enumerate(x):
            s += 100 // (d - i)
        return s

    def index(x, y):
        s = 0.0
        for i, v in enumerate(x):
            s += y[i] * v
        return s

    with fail_unless_captured():
        check(divide, X, 50)
        check(index, X, X[:100])


def test_an_exception_handler_around_the_loop():
    def caught(x, y):
        s, i = 0.0, -1
        try:
            for i, (v, w) in enumerate(zip(x, reversed(x))):
                s += y[i] * v - w
        except IndexError as error:
            print(error)
        return s, i

    with fail_unless_captured():
        check(caught, X, X[:100])


def test_warnings_from_the_body():
    def overflow(x):
        s = x[0]
        for v in x:
            s = s * v
        return s

    with fail_unless_captured():
        check(overflow, np.full(400, 1e10))


def test_an_iterator_in_a_variable_keeps_its_position():
    def leftover(x):
        it = iter(x)
        for v in it:
            if v > 0.0:
                break
        return next(it), next(it), list(it)[:2], v

    def twice(x):
        it = enumerate(x)
        s = 0.0
        for i, v in it:
            s += v
            for j, w in it:
                s -= w * j
                if j % 3 == 0:
                    break
        return s, list(it)

    check(leftover, X)
    check(twice, X)


def test_an_iterator_that_has_two_names():
    def two(x):
        a = b = iter(x)
        next(a)
        return next(b), a is b

    def in_tuple(x):
        pair = (iter(x), 1.0)
        return next(pair[0]), next(pair[0])

    check(two, X)
    check(in_tuple, X)


def test_iterators_leave_with_pythons_own_state():
    def states(x, m):
        found = []
        for make in (iter, enumerate, reversed):
            it = make(x)
            next(it)
            found.append(it.__reduce__()[2:])
        z = zip(x, range(5))
        next(z)
        return found, type(z), [type(part) for part in z.__reduce__()[1]], enumerate(m).__reduce__()[1][1]

    check(states, X, X.reshape(1, -1))


def test_computed_steps_at_their_limits():
    big = 2 ** 63 - 1
    with fail_unless_captured():
        check(stepped, 10, 3, others=[(10, -3), (10, 0), (10, 2 ** 62), (-10, -2 ** 63), (-10, -big), (0, 1)])


def test_counts_that_leave_machine_words():
    for start in (2 ** 62, -2 ** 63, 2 ** 63 - 5, 2 ** 70):
        check(enumerate_from, X[:9], start, others=[(X[:9], 3)])
    check(enumerate_from, X[:9], 1.5)
    check(enumerate_from, X[:9], np.int64(4))
    check(enumerate_from, X[:9], True)


def test_other_arrays_take_other_kernels():
    f = jitted(total)
    with fail_unless_captured():
        check(total, X, others=[(X.astype("f4"),), (X.astype("i8"),), (X.reshape(1, -1),), ([1, 2],), (range(5),)])
    assert kernel_count(f) == 0


def test_a_range_that_is_chosen():
    def chosen(x, up):
        s = 0.0
        for i in (range(3, 40) if up else range(50, 2, -2)):
            s += x[i]
        return s

    check(chosen, X, True, others=[(X, False)])


def one_of_many_iterators(x, a, b, c, d, n):
    s = 0.0
    for i in range(n):
        for k, v in (enumerate(a) if i == 0 else enumerate(b) if i == 1 else enumerate(c) if i == 2 else enumerate(d)):
            s = s + k
    return s


def test_iterators_over_more_types_than_a_loop_has_versions():
    y = X[:5]
    check(one_of_many_iterators, y, y, y.astype("f4"), y.astype("i8"), y.astype("i1"), 5)
