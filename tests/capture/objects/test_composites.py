"""Slices, and methods of containers, that variables, tuples, attributes and arguments hold."""

import collections

import numpy as np
import pytest

from tests.capture.containers.effects_common import CUT, launches
from tests.harness import assert_nothing_breaks, check, fail_unless_captured, jitted

X = np.linspace(0.5, 4.0, 11)
GRID = np.arange(20.0).reshape(4, 5)
MANY = {"backend": "python"}  # machine code is compared in the tests below
INNER = slice(1, -1)
CORNER = (slice(1, None), slice(None, 2))


class Holder:
    def __init__(self, part):
        self.part = part


def in_variable(x, n):
    left, right = slice(None, -1), slice(1, None)
    for i in range(n):
        y = x[right] - x[left]
        x[right] = y * 0.5
        x[left] += y
    return x, left, right


def made_in_loop(x):
    s = 0.0
    for i in range(len(x) - 2):
        part = slice(i, i + 3)
        s += x[part].sum() * 2.0
        x[part] *= 0.5
    return s, part


def rare_break(x):
    for i in range(6):
        part = slice(i, None, 2)
        x[part] += 1.0
        if i == 3:
            print(part)
        x[part] *= 0.5
    return part


def chosen(x, flag):
    part = slice(1, 4) if flag else slice(0, 8, 2)
    other = part
    y = x[part] * 2.0 + 1.0
    return y + x[other], part is other, other


def steps(x):
    part = slice(0, 5)
    s = 0.0
    for i in range(4):
        s += x[part].sum()
        part = slice(i, i + 5)
    return s, part


def argument(x, part):
    return x[part] * 2.0 + part.start


def of_globals(g):
    return g[CORNER] * 2.0 + g[INNER].sum()


def of_attribute(x, holder):
    holder.part = slice(2, holder.part.stop)
    return x[holder.part] * 2.0 + 1.0


def tuples(g):
    index = slice(1, -1), slice(None)
    rows = index[0]
    y = g[index] * 2.0 + g[rows, 1:4].sum()
    g[index] = y
    return g[rows], index, rows


def by_numpy(g):
    part, both, one = np.s_[1:-1], np.s_[1:, ::2], np.index_exp[2:]
    return g[part] * 2.0, g[both] + 1.0, g[one] - 1.0, part, both, one


def _difference(x, after, before):
    return x[after] - x[before]


def in_callee(x):
    s = 0.0
    for i in range(4):
        s += _difference(x, slice(1, None), slice(None, -1)).sum() * i
    return s


def _cut(i):
    return slice(i, i + 2)


def from_callee(x):
    s = 0.0
    for i in range(5):
        s += x[_cut(i)].sum() * 2.0
    return s


def raises(x, n):
    done = []
    part = slice(0, 4)
    for i in range(n):
        done.append(x[part][i] * 2.0)
    return done


SLICES = [
    (in_variable, (X, 3), []), (made_in_loop, (X,), []), (rare_break, (X,), []), (chosen, (X, True), [(X, False)]),
    (steps, (X,), []), (argument, (X, slice(1, 4)), [(X, slice(2, 8)), (X, slice(2, 8, 3)), (X, slice(np.int64(1), None)),
                                                     (X, slice(1.0, 2)), (X, slice(None)), (X, 3), (list(X), slice(1, 2))]),
    (of_globals, (GRID,), []), (of_attribute, (X, Holder(slice(1, 4))), [(X, Holder(slice(1, 6))), (X, Holder(slice(3)))]),
    (tuples, (GRID,), []), (by_numpy, (GRID,), []), (in_callee, (X,), []), (from_callee, (X,), []),
    (raises, (X, 4), [(X, 5)]),
]


def appends(x):
    out = []
    app = out.append
    for i in range(len(x)):
        app(x[i] * 2.0)
    return out, app.__self__ is out


def appends_to_argument(out, x):
    app = out.append
    for v in x:
        out.append(v)
        app(v * 2.0 + len(out))
    return out[-1]


def with_rare_break(x):
    out = []
    app = out.append
    for i in range(len(x)):
        app(x[i] * 2.0)
        if i == 5:
            print(len(out))
            out.append("printed")
        app(i)
    return out


def two_lists(x):
    small, large = [], []
    keep, drop = small.append, large.append
    for v in x:
        put = keep if v < 2.0 else drop
        put(v * 2.0)
    return small, large


def other_list(x):
    first, second = [], []
    app = first.append
    for i in range(len(x)):
        if i == 4:
            app = second.append
        app(x[i] * 2.0)
    return first, second


def stack(x, n):
    waiting = [0]
    push, pop = waiting.append, waiting.pop
    s = 0.0
    while waiting:
        k = pop()
        s += x[k]
        if 2 * k + 2 < n:
            push(2 * k + 1)
            push(2 * k + 2)
    return s


def of_dict_and_set(d, seen, x):
    get, add = d.get, seen.add
    s = 0.0
    for i in range(len(x)):
        d[i % 3] = x[i]
        s += get(i % 3, 0.0) * 2.0
        add(i % 4)
    return s, len(seen)


def queue(x):
    waiting = collections.deque([1.0])
    push, take = waiting.append, waiting.popleft
    s = 0.0
    for v in x:
        push(v * 2.0)
        s += take()
    return s, list(waiting)


def given(put, x):
    for v in x:
        put(v * 2.0)
    return x.sum()


def _fill(put, x):
    for v in x:
        put(v * 2.0)
    return len(x)


def handed_on(x):
    out = []
    n = _fill(out.append, x)
    return out, n * 2


def _collect(x):
    out = []
    put = out.append
    for v in x:
        put(v * 2.0)
    return out


def in_callees(x):
    return len(_collect(x)) * 2.0 + _collect(x)[1]


def raises_late(out, x, n):
    app = out.append
    for i in range(n):
        app(i)
        app(x[i] * 2.0)
    return len(out)


METHODS = [
    (appends, (X,), []), (appends_to_argument, ([], X), [([1], X), (collections.deque(), X)]), (with_rare_break, (X,), []),
    (two_lists, (X,), []), (other_list, (X,), []), (stack, (X, 11), []), (of_dict_and_set, ({}, set(), X), []), (queue, (X,), []),
    (handed_on, (X,), []), (in_callees, (X,), []), (raises_late, ([], X, 11), [([], X, 13)]),
]
CASES = SLICES + METHODS


@pytest.mark.usefixtures("little_work")
@pytest.mark.parametrize("f, args, others", CASES, ids=[case[0].__name__ for case in CASES])
def test_same_as_python(f, args, others):
    with fail_unless_captured():
        check(f, *args, others=others, calls=4, config=MANY)


WHOLE = (in_variable, made_in_loop, steps, argument, of_globals, of_attribute, tuples, by_numpy, in_callee, from_callee, raises,
         two_lists, other_list, of_dict_and_set, handed_on, raises_late)


@pytest.mark.usefixtures("little_work")
@pytest.mark.parametrize("f, args", [case[:2] for case in CASES if case[0] in WHOLE], ids=lambda item: getattr(item, "__name__", ""))
def test_nothing_stays_bytecode(f, args):
    assert_nothing_breaks(f, *args, one_segment=False)


@pytest.mark.skipif(CUT, reason="cut everywhere")
@pytest.mark.parametrize("f, make", [(made_in_loop, lambda: (X + 1.0,)), (in_variable, lambda: (X + 1.0, 3)),
                                     (from_callee, lambda: (X,)), (two_lists, lambda: (X,)), (raises_late, lambda: ([], X, 11)),
                                     (stack, lambda: (X, 11))], ids=lambda item: getattr(item, "__name__", ""))
def test_machine_code(f, make):
    assert launches(jitted(f), *make()) <= 2
    check(f, *make(), calls=4)


@pytest.mark.usefixtures("little_work", "leaves_often")
def test_each_effect_once_whatever_exits_are_taken():
    for f, args, _ in CASES:
        check(f, *args, calls=4, config=MANY)


@pytest.mark.usefixtures("little_work")
def test_a_method_as_an_argument():
    j = jitted(given, MANY)
    for kind in (list, list, set, list, collections.deque):
        for _ in range(3):
            wanted, got = kind(), kind()
            put = "add" if kind is set else "append"
            assert given(getattr(wanted, put), X) == j(getattr(got, put), X) and got == wanted
    seen = []
    assert j(seen.append, X[:2]) == X[:2].sum() and seen == [1.0, X[1] * 2.0]


def test_one_list_under_two_names():
    def f(a, b, x):
        app = a.append
        s = 0.0
        for v in x:
            app(v)
            s += len(b) + b[0]
        return s

    one = [0.5]
    check(f, [0.5], [1.5], X, aliased=[(one, one, X)], config=MANY)
    check(f, one, one, X, others=[([0.5], [1.5], X)], config=MANY)
