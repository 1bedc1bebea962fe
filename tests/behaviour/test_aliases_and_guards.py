"""Arguments that are one object, and what a second or tenth kind of argument costs."""

import numpy as np

from tests.behaviour.cases import CUT, Case, X, Y, each, expect, group
from tests.harness import check, fail_unless_captured, jitted, same


def two_lists(a, b, x):
    a.append(x * 2.0 + 1.0)
    b.append(len(a))
    a[0] = b[-1]
    y = x * len(b) - 1.0
    return y, a, b


def list_and_member(a, b, x):
    b.append(3)
    a[0] = x
    y = x * 2.0 + len(a)
    return y * len(b), a, b


def mixed(d, xs, x):
    d["xs"] = xs
    xs.append(x)
    y = xs[0] * 2.0 + x
    d["xs"].append(y)
    return y - d["xs"][0], xs, d


def write_through(x, y):
    x[1:] = y[:-1] * 2.0
    z = y + x
    y -= 1.0
    return z, x - y


SAME, DICT = [1, 2], {"xs": None}
INSIDE = [X, [0]]


@each(
    Case(47, two_lists, [1], [2], X, kernels=1, aliased=[(SAME, SAME, X)]),
    Case(47, list_and_member, [1, 2], [5], X, kernels=1,
         aliased=[(SAME, SAME, X), (SAME, [SAME], X), (INSIDE, INSIDE[1], X)]),
    Case(47, mixed, {}, [X], X, kernels=1, aliased=[(DICT, [X, DICT], X)]),
    Case(47, write_through, X, Y, kernels=1, aliased=[(X, X), (X, X[::-1]), (X[1:], X[:-1]), (X[:5], X[3:8])]),
)
def test_aliased_arguments(case):
    case.run()


def reads_two(x, y):
    z = x * 2.0 + y
    return z * y - x


def appends_twice(x, y, z):
    x.append(z * 2.0 + 1.0)
    y.append(z)
    if len(x) > 3:
        return x[-1] * 2.0 + z
    return z - 1.0


def steered_by_alias(x, y, z):
    x.append(z)
    y.append(z + 1)
    k = 0 if y[-2] else 1
    return np.ones(3) * k + x[k] * 2.0, x


ALIAS = []


@each(
    Case(48, reads_two, X, X, kernels=1, entries=1, others=[(X, Y), (Y, Y), (X, X.copy())]),
    Case(48, reads_two, X, Y, kernels=1, entries=1, others=[(X, X), (X, X[:])]),
    Case(49, appends_twice, [], [], X, kernels=1, others=[([1, 2, 3], [], X)], aliased=[(ALIAS, ALIAS, X)]),
    Case(49, steered_by_alias, [1], [1], 2, others=[([1], [1], 0)], aliased=[(ALIAS, ALIAS, 2), (ALIAS, ALIAS, 0)]),
)
def test_aliases_of_what_is_read(case):
    case.run()


def with_function(a, f):
    y = a * 2.0 + 1.0
    return f(y) * 3.0 - a


def double(y):
    return y * 2.0 + 1.0


def halve(y):
    return y * 0.5 - 1.0


def alternating(f, *argument_lists):
    """Call plain and jitted with each of the tuples in turn, two times each, and all of them again."""
    j = jitted(f)
    for args in argument_lists * 2:
        for _ in range(2):
            same(f(*args), j(*args))
    return j


@group(50)
def test_a_new_function_argument_keeps_the_old_entry():
    j = alternating(with_function, (X, double), (X, halve))
    expect(j, 1, 2)
    alternating(with_function, (X, double), (X, halve), (X, np.sqrt), (X, abs), (X, lambda y: y), (X, type(X).copy))


class Owner:
    def __init__(self, a, xs=()):
        self.a, self.xs = a, list(xs)


def over_attribute(o, x):
    y = x * 2.0 + len(o.xs)
    for one in o.xs:
        y = y * one + 1.0
    return y - x


@group(52)
def test_a_list_attribute_that_changes_between_calls():
    o = Owner(0, [2.0, 3.0])
    with fail_unless_captured():
        j = jitted(over_attribute)
        for change in [lambda: None, lambda: o.xs.append(X), lambda: o.xs.pop(0), lambda: o.xs.__setitem__(0, 5.0),
                       lambda: o.xs.clear(), lambda: setattr(o, "xs", (1, 2)), lambda: setattr(o, "xs", {1.0: 2})]:
            change()
            for _ in range(3):
                same(over_attribute(o, X), j(o, X))


def from_attribute(o, x):
    y = x * o.a + 1.0
    return y - o.a


def series(values):
    """An object whose attribute takes each of the values, in calls plain and jitted."""
    o = Owner(0)
    j = jitted(from_attribute)
    for value in values:
        o.a = value
        for _ in range(2):
            same(from_attribute(o, X), j(o, X))
    return j


@group(53)
def test_an_attribute_that_changes():
    expect(series([2.0, 3.0, X, Y, 2, np.float32(3), X.astype("f"), True]), 1)


@group(54)
def test_ten_numbers_cost_few_captures():
    expect(series(range(10)), 1, 3)
    expect(series([k * 1.5 for k in range(10)]), 1, 3)
    j = alternating(reads_two, *[(X, k) for k in range(10)])
    expect(j, 1, 3)


def steered(x, k, axis):
    y = x.reshape(k, -1) * 2.0 + 1.0
    for _ in range(k):
        y = y * 0.5 + k
    return y.sum(axis=axis)


@group(54)
def test_numbers_that_steer():
    m = np.arange(12.0)
    j = alternating(steered, *[(m, k, axis) for k in (1, 2, 3, 4) for axis in (0, 1)])
    assert not j.state.failures


@group(55)
def test_specialize_scalar_knows_each_number_by_value():
    o = Owner(0)
    j = jitted(from_attribute, {"specialize_scalar": True})
    for value in (1, 2, 3, 2, 1):
        o.a = value
        for _ in range(2):
            same(from_attribute(o, X), j(o, X))
    assert CUT or len(j.state.entries) == 3
    j = jitted(from_attribute, {"specialize_scalar": False})
    for value in (1, 2, 3, 2, 1):
        o.a = value
        same(from_attribute(o, X), j(o, X))
    assert len(j.state.entries) == 1


@group(56)
def test_types_of_an_attribute():
    expect(series([X, 2, 3.0, np.float16(4.0), X, 2, 3.0, np.float16(4.0)]), 1, 4)


@group(57)
def test_fifteen_shapes_cost_one_capture():
    arrays = [np.linspace(0.5, 2.0, n) for n in range(15)]
    expect(alternating(reads_two, *[(a, a * 2.0) for a in arrays]), 1, 1)
    grids = [np.ones((n % 4 + 1, n)) for n in range(15)]
    expect(alternating(reads_two, *[(a, 2.0) for a in grids]), 1, 1)


@group(57)
def test_a_new_rank_or_layout_is_captured_anew():
    calls = [(X, X), (X[None] * np.ones((2, 1)), X), (np.array(2.0), X), (X[::2], X[::2]),
             (X, np.ones((3, 11)).T[:, :1])]
    j = alternating(reads_two, *calls)
    expect(j, 1)
    assert CUT or len(j.state.entries) > 1


@group(56)
def test_all_kinds_of_numbers():
    kinds = [2, 2.5, True, np.float32(2.5), np.int8(3), np.uint64(2), np.bool_(1), 1 + 2j, 1 << 70,
             np.array(2.0), -0.0]
    with fail_unless_captured():
        check(reads_two, X, kinds[0], others=[(X, k) for k in kinds[1:]], config={"cache_limit": 16})
