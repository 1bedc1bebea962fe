"""Stores into parts of lists and deletes of them, and what else takes many items at once: once each, in order."""

import numpy as np
import pytest

from tests.capture.containers.effects_common import CUT, launches
from tests.harness import assert_nothing_breaks, check, fail_unless_captured, jitted

X = np.linspace(0.5, 4.0, 11)
MANY = {"backend": "python"}  # machine code is compared in the tests below
LONG = [float(k) for k in range(20)]


def stores(items, x):
    for i in range(len(x)):
        items[1:3] = [x[i], i]
        items[i:i] = (x[i] * 2.0,)
        items[-2:] = x[:2]
        items[::7] = items[::7]
    items[len(items):] = range(3)
    items[:0] = "ab"
    return items


def deletes(items, x):
    s = 0.0
    for i in range(3):
        s += x[i] * items[i]
        del items[1:3]
        del items[-1:]
        del items[i::5]
    return s, items


def one_part(items, other, part, x):
    items.append(x[0] * 2.0)
    items[part] = other
    other.append(x[1] * 2.0)
    del items[part]
    return x * 2.0 + len(items)


def into_itself(items, x):
    for i in range(3):
        items[1:2] = items
        items[:1] = [x[i], items[0]]
    return x * len(items)


def sizes_differ(items, x, n):
    done = []
    try:
        for i in range(n):
            done.append(x[i] * 2.0)
            items[::2] = x[:i]
            done.append(i)
    except ValueError as error:
        done.append(str(error))
    return done, items


def rare_break(items, x):
    for i in range(len(x)):
        items[1:2] = [x[i] * 2.0, i]
        if i % 4 == 3:
            print(len(items), items[1])
        del items[2:3]
    return items


def _moved(items, v):
    items[:1] = [v, v * 2.0]
    del items[2:3]
    return items[0] / (v - 4.0)


def in_callee(items, x):
    s = 0.0
    for i in range(len(x)):
        s += _moved(items, x[i])
    return s


def lengthens(items, d, x):
    for i in range(3):
        items.extend(x[i:i + 2])
        items.extend(range(i))
        items.extend("ab")
        items.extend(d)
        items += range(2)
        x = x + 1.0
    return x


def takes_tuples(x, n):
    stack, s, seen = [(0, 1.0)], 0.0, set()
    while stack:
        k, weight = stack.pop()
        if k in seen:
            continue
        seen.add(k)
        s += x[k] * weight
        if k + 2 < n:
            stack.append((k + 1, weight * 0.5))
            stack.append((k + 2, weight * 0.25))
    return s, len(seen)


def keeps_tuples(stack, x):
    s, last = 0.0, None
    for i in range(3):
        last = stack.pop(0)
        s += last[0] * x[i]
        stack.append(last)
    return s, last, stack


def sets(s, x):
    for i in range(len(x)):
        s.add(i)
        s.discard(i - 2)
        s.discard("none")
        if i % 5 == 4:
            s.remove(i)
    size = len(s)
    s.clear()
    return size, len(s), x * 2.0


def removes(s, out, x):
    for i in range(4):
        out.append(x[i] * 2.0)
        s.remove(i)
    return x * 2.0


def updates(d, x):
    for i in range(4):
        d.update(a=x[i], b=i)
        d.update(c=d["a"] * 2.0)
        x = x + d["c"]
    return x, d


CASES = [
    (stores, (list(LONG), X)), (deletes, (list(LONG), X)), (one_part, (list(LONG), [1.0], slice(1, 4), X)),
    (into_itself, ([1.0, 2.0, 3.0], X)), (sizes_differ, ([1.0, 2.0], X, 5)), (rare_break, ([1.0, 2.0, 3.0], X)),
    (in_callee, ([1.0, 2.0, 3.0], X[:-1])), (lengthens, ([], {"k": 1, 2: 3}, X)), (takes_tuples, (X, 11)),
    (keeps_tuples, ([(1.0, "a"), (2.0, "b")], X)), (sets, (set(), X)), (removes, ({0, 1, 2, 3, "z"}, [], X)), (updates, ({}, X)),
]


@pytest.mark.usefixtures("little_work")
@pytest.mark.parametrize("f, args", CASES, ids=lambda item: getattr(item, "__name__", ""))
def test_same_as_python(f, args):
    with fail_unless_captured():
        check(f, *args, calls=4, config=MANY)


@pytest.mark.parametrize("f, args", [CASES[k] for k in (0, 1, 2, 3, 6, 7, 10)], ids=lambda item: getattr(item, "__name__", ""))
def test_nothing_stays_bytecode(f, args):
    assert_nothing_breaks(f, *args, one_segment=False)


@pytest.mark.skipif(CUT, reason="cut everywhere")
@pytest.mark.parametrize("f, make, most", [
    (stores, lambda: (list(LONG), X), 2), (deletes, lambda: (LONG * 2000, X), 2), (in_callee, lambda: (list(LONG), X[:-1]), 1),
    (sets, lambda: (set(), X), 2), (takes_tuples, lambda: (X, 11), 3),
], ids=lambda item: getattr(item, "__name__", ""))
def test_the_loop_is_one_kernel(f, make, most):
    assert launches(jitted(f), *make()) <= most
    check(f, *make(), calls=4)


@pytest.mark.usefixtures("little_work")
def test_what_raises_comes_behind_the_effects_before():
    check(sizes_differ, [1.0, 2.0], X, 5, others=[([], X, 3), ([1.0] * 7, X, 4)])
    check(in_callee, [1.0, 2.0, 3.0], X[:-1], others=[([1.0, 2.0, 3.0], X), ([], X)])
    check(removes, {0, 1, 2, 3}, [], X, others=[({0, 1, 3}, [], X), (set(), [], X), ({0, 1.0, True, 2, 3}, [], X)])
    check(keeps_tuples, [(1.0, "a"), (2.0, "b")], X, others=[([], X), ([(1.0, "a"), (2, "b")], X), ([(1.0,)], X)], config=MANY)


@pytest.mark.usefixtures("little_work", "leaves_often")
def test_each_effect_once_whatever_exits_are_taken():
    for f, args in CASES:
        check(f, *args, calls=4, config=MANY)


@pytest.mark.usefixtures("little_work")
def test_one_list_under_two_names():
    one = list(LONG)
    check(one_part, list(LONG), [1.0], slice(2, 5), X, aliased=[(one, one, slice(2, 5), X)], config=MANY,
          others=[(list(LONG), [1.0], slice(None, None, -1), X), (list(LONG), [1.0], slice(4, 1), X), (list(LONG), [1.0], 3, X),
                  (list(LONG), [1.0], slice(None, 2.5), X), (list(LONG), [1.0], slice(0, 10 ** 30), X)])


class Dying:
    seen = []

    def __init__(self, owner):
        self.owner = owner

    def __del__(self):
        Dying.seen.append(len(self.owner))


def replaces(items, x):
    items.append(x[0] * 2.0)
    items[:2] = [x[1]]
    items.append(x[2] * 2.0)
    del items[1:3]
    return x * 2.0


@pytest.mark.usefixtures("little_work")
def test_finalizers_run_where_python_runs_them():
    j, seen = jitted(replaces), []
    for f in (replaces, j, j, j, j):
        f(list(LONG), X)
        items = list(LONG)
        items[0], items[3] = Dying(items), Dying(items)
        del Dying.seen[:]
        f(items, X)
        seen.append((list(Dying.seen), items))
    assert all(item == seen[0] for item in seen) and len(seen[0][0]) == 2


class Loud(list):
    def __setitem__(self, key, value):
        print("set", key)
        list.__setitem__(self, key, value)


def test_subclasses_do_as_they_like():
    check(into_itself, Loud([1.0, 2.0, 3.0]), X, config=MANY)
    check(into_itself, [1.0, 2.0, 3.0], X, others=[(Loud([1.0, 2.0]), X)], config=MANY)


def joined(items, x):
    items += x
    return items


def test_an_array_is_added_to_a_list_as_arrays_are():
    check(joined, list(X), X, others=[([1.0], X)], config=MANY)
