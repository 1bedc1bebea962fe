"""Stores into items of lists: native, at once, in order; reads after them see them, by whatever name."""

import numpy as np
import pytest

from tests.capture.containers.effects_common import CUT, launches
from tests.harness import check, fail_unless_captured, jitted

X = np.linspace(0.5, 4.0, 11)


def counts(count, x):
    for i in range(len(x)):
        if x[i] > 1.0:
            count[0] += 1
        count[1] = x[i] * count[0]
    return count[0]


def fills(out, x):
    for i in range(len(x)):
        out[i] = x[i] * 2.0
    return out


def fills_from_behind(out, x):
    for i in range(len(x)):
        out[-i - 1] = i
    return out


def arrays(out, x):
    for i in range(3):
        out[0] = x * i
        out[1] = out[0][1:]
    return out[0] + x


def two(a, b, x):
    for i in range(len(x)):
        a[0] += x[i]
        b[0] += a[0]
    return a[0]


def writes_one_reads_other(a, b, x):
    for i in range(len(x)):
        a[0] += x[i] * b[1]
    return a[0], len(b)


def known_and_unknown(a, x, k):
    for i in range(len(x)):
        a[0] += x[i]
        a[k] = i
    return a[0]


def negative(a, x):
    for i in range(len(x)):
        a[0] += x[i]
        a[-1] = a[0] + a[-1]
    return a[0]


def cold_break(a, x):
    for i in range(len(x)):
        a[0] += x[i]
        if i == 4:
            print("sum", a)
            a.insert(0, 100.0)
    return a


def grows(a, x):
    for i in range(len(x)):
        a.append(a[0])
        a[0] += x[i]
    return a


CASES = [(counts, ([0, 0.0], X)), (fills, ([0] * 11, X)), (fills_from_behind, ([None] * 11, X)), (arrays, ([X, X], X)),
         (two, ([0.0], [1.0], X)), (writes_one_reads_other, ([0.0], [1, 2.0], X)), (cold_break, ([0.0], X))]


@pytest.mark.parametrize("f, args", CASES, ids=lambda item: getattr(item, "__name__", ""))
def test_same_as_python(f, args):
    with fail_unless_captured():
        check(f, *args)


@pytest.mark.parametrize("f, args", [(known_and_unknown, ([0.0, 1], X, 1)), (known_and_unknown, ([0.0, 1], X, 0)),
                                     (negative, ([0.0, 1.0], X)), (negative, ([0.0], X)), (grows, ([1.0], X))],
                         ids=lambda item: getattr(item, "__name__", ""))
def test_places_that_may_be_one(f, args):
    check(f, *args)


@pytest.mark.skipif(CUT, reason="cut everywhere")
@pytest.mark.parametrize("f, args", [(counts, ([0, np.float64(0)], X)), (fills, ([0] * 11, X)),
                                     (two, ([X[0]], [X[0]], X))], ids=lambda item: getattr(item, "__name__", ""))
def test_the_loop_is_one_kernel(f, args):
    assert launches(jitted(f), *args) == 1


def test_exceptions_leave_the_stores_before_them():
    check(fills, [0] * 5, X, others=[([0] * 11, X), ([], X)])
    check(counts, [0], X, others=[([], X), ([0, 1], X)])


def test_one_list_under_two_names():
    for f in (two, writes_one_reads_other):
        one = [0.0, 2.0]
        check(f, [0.0, 1.0], [1.0, 2.0], X, aliased=[(one, one, X)])
        check(f, one, one, X, others=[([0.0, 1.0], [1.0, 2.0], X)])


def test_a_list_that_contains_itself():
    def make():
        itself = [0, 0]
        itself[0] = itself
        return itself

    j = jitted(fills)
    for _ in range(4):
        got, wanted = make(), make()
        for f, target in ((j, got), (fills, wanted)):
            with pytest.raises(IndexError):
                f(target, X)
        assert got == wanted


class Loud(list):
    def __setitem__(self, index, value):
        list.__setitem__(self, index, -value)


def test_subclasses_store_as_they_like():
    check(fills, Loud([0] * 11), X)
    check(fills, [0] * 11, X, others=[(Loud([0] * 11), X)])


class Dying:
    seen = []

    def __init__(self, owner):
        self.owner = owner

    def __del__(self):
        Dying.seen.append(list(self.owner[1:3]))


def test_finalizers_of_what_is_replaced():
    j, seen = jitted(fills), []
    for f in (fills, j, j, j, j):
        f([0] * 11, X)
        target = [0] * 11
        target[1] = Dying(target)
        del Dying.seen[:]
        f(target, X)
        seen.append((list(Dying.seen), target))
    assert all(item == seen[0] for item in seen) and seen[0][0] == [[X[1] * 2.0, 0]]
