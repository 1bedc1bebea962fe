"""Appending to lists: native, at once, in order, exactly once."""

import sys
import weakref

import numpy as np
import pytest

import pijit
from tests.capture.containers.effects_common import CUT, launches
from tests.harness import check, fail_unless_captured, jitted

X = np.linspace(0.5, 4.0, 11)


def squares(x):
    out = []
    for i in range(len(x)):
        out.append(x[i] * x[i])
    return out


def into_argument(out, x):
    for i in range(len(x)):
        out.append(x[i] + 1.0)
    return out


def kinds(x, k, flag):
    out = list()
    for i in range(3):
        out.append(i)
        out.append(x[i])
        out.append(2.5)
        out.append(x[i] > 1.0)
        out.append(flag)
        out.append(None)
        out.append("text")
        out.append(k * 2)
    return out


def rows(x, y):
    out = []
    for i in range(len(x)):
        out.append(y + x[i])
    out.append(y)
    out.append(y[1:])
    return out


def two_lists(x):
    small, large = [], []
    for i in range(len(x)):
        if x[i] > 2.0:
            large.append(i)
        else:
            small.append(x[i])
    return small, large


def same_list_twice(a, b, x):
    for i in range(len(x)):
        a.append(x[i])
        b.append(i)
    return len(a), len(b)


def into_itself(x):
    out = []
    for i in range(len(x)):
        out.append(out)
        out.append(x[i])
    return len(out), out[0] is out


def with_a_cold_break(x):
    out = []
    for i in range(len(x)):
        out.append(x[i] * 2.0)
        if i == 5:
            print("at", i, len(out))
    return out


def raises(out, x, n):
    for i in range(n):
        out.append(i)
        out.append(x[i] * 2.0)
    return out


def caught(x, n):
    out = []
    try:
        for i in range(n):
            out.append(i)
            out.append(x[i] * 2.0)
    except IndexError as error:
        out.append(str(error))
    return out


def rebound(x):
    out = []
    for i in range(len(x)):
        if i == 4:
            out = []
        out.append(x[i] * 2.0)
    return out


def passed_on(x):
    first = []
    second = first
    for i in range(len(x)):
        first.append(x[i] * 2.0)
        second.append(i)
    return first, second, first is second


NATIVE = [(squares, (X,)), (into_argument, ([1, "a"], X)), (kinds, (X, 7, True)), (kinds, (X.astype("f4"), 2.5, False)),
          (rows, (X, np.arange(4))), (two_lists, (X,)), (same_list_twice, ([], [], X)), (with_a_cold_break, (X,)),
          (raises, ([], X, 11)), (caught, (X, 11)), (caught, (X, 14)), (rebound, (X,)), (passed_on, (X,)), (into_itself, (X,))]


@pytest.mark.usefixtures("little_work")
@pytest.mark.parametrize("f, args", NATIVE, ids=lambda item: getattr(item, "__name__", ""))
def test_same_as_python(f, args):
    with fail_unless_captured():
        check(f, *args)


def test_exceptions_leave_what_was_appended():
    check(raises, [], X, 14)
    check(raises, ["kept"], X, 11, others=[([], X, 12), ([], X, 0)])


@pytest.mark.skipif(CUT, reason="cut everywhere")
@pytest.mark.parametrize("f, args", [(squares, (X,)), (into_argument, ([], X)), (two_lists, (X,)), (rows, (X, X)),
                                     (raises, ([], X, 11))], ids=lambda item: getattr(item, "__name__", ""))
def test_the_loop_is_one_kernel(f, args):
    assert launches(jitted(f), *args) <= 2


def test_the_same_list_under_two_names():
    def pair():
        a = []
        return a, a, X
    check(same_list_twice, [], [], X, aliased=[pair()])
    check(same_list_twice, *pair())


def reads_what_it_changes(a, b, x):
    total = 0.0
    for i in range(3):
        total += b[0] * x[i] + len(b)
        a.append(total)
    return total, b[-1]


def reads_attribute_lists(model, out, x):
    for i in range(3):
        out.append(x[i] * model.weights[0] + model.weights[1])
    return len(model.weights)


class Model:
    pass


def test_reads_of_what_is_changed():
    shared = [1.5]
    with fail_unless_captured():
        check(reads_what_it_changes, [2.5], [0.5, 1.0], X)
    check(reads_what_it_changes, [2.5], [0.5, 1.0], X, aliased=[(shared, shared, X)])
    check(reads_what_it_changes, shared, shared, X)
    model = Model()
    model.weights = [2.0, 3.0]
    with fail_unless_captured():
        check(reads_attribute_lists, model, [], X)
    check(reads_attribute_lists, model, [], X, aliased=[(model, model.weights, X)])


def local_alias(model, x):
    out = []
    model.weights = out
    for i in range(3):
        out.append(x[i])
    total = 0.0
    for i in range(2):
        out.append(x[i] * 2.0)
        total += model.weights[0] + len(model.weights)
    return total


def test_a_local_list_that_an_attribute_holds():
    model = Model()
    model.weights = [1.0]
    check(local_alias, model, X)


def test_a_subclass_of_list_runs_its_own_method():
    class Loud(list):
        def append(self, item):
            list.append(self, -item)

    j = jitted(into_argument)
    for kind in (list, Loud, list, Loud):
        got, wanted = kind(), kind()
        j(got, X)
        into_argument(wanted, X)
        assert got == wanted and type(got) is kind


def test_identity_of_what_is_appended():
    def f(out, x, thing, number):
        for i in range(4):
            out.append(thing)
            out.append(x)
            out.append(number)
            y = x * i
        return y

    j, number = jitted(f), 12345.5
    for thing in (object(), [], "text", None, int, (1, 2), {}):
        for _ in range(3):
            got = []
            j(got, X, thing, number)
            assert all(item is wanted for item, wanted in zip(got, [thing, X, number] * 4)) and len(got) == 12


def test_references_of_appended_arrays():
    j, y = jitted(rows), np.arange(4.0)
    for _ in range(4):
        j(X, y)
    before = sys.getrefcount(y)
    for _ in range(200):
        got = j(X, y)
        count, wanted = sys.getrefcount(got[0]), sys.getrefcount(rows(X, y)[0])
        assert count == wanted + 1
        alive = weakref.ref(got[0])
        del got
        assert alive() is None
    assert sys.getrefcount(y) == before


def test_building_a_set_has_its_reason():
    report = pijit.explain(lambda x: {x[0] * 2.0, (1, x)}, X)
    assert "PJ205" in str(report)
