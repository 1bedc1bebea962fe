"""Type feedback: the first run observes what fallback calls return; then the code behind them becomes kernels."""

import gc
import operator
import weakref

import numpy as np
import pytest

import pijit
from pijit.core import function_state
from pijit.core.capture.profile.type_feedback import MAX_OBSERVATIONS, MAX_RENEWALS
from pijit.differential import plain_twin
from tests.capture.containers.effects_common import CUT
from tests.harness import HIT, calls_of, check, jitted, kernel_count, same

stay = operator.methodcaller("__abs__")
"""A call that stays bytecode, and gives back a number that is not negative."""
X = np.linspace(-1.0, 2.0, 7)
SEGMENTED = {"force_breaks": None, "max_inline_depth": 0}


def behind_a_call(x, make):
    y = x * 2.0 + 1.0
    z = make(x)
    return z * y - z


def two_calls(x, first, second):
    a = first(x)
    b = a * 2.0 + x
    c = second(b)
    return c * b + a


@pytest.fixture
def captures(monkeypatch):
    """What captures were told that had been observed; without those of callees that are compiled on their own."""
    observed = []
    make_entry = function_state.make_entry

    def counting(state, code, roots, feedback, *others):
        if state.callee is None:
            observed.append(dict(feedback.kinds))
        return make_entry(state, code, roots, feedback, *others)
    monkeypatch.setattr(function_state, "make_entry", counting)
    return observed


def make_float(x):
    return x + 0.5


def make_int(x):
    return np.arange(7)


def test_segment_behind_a_call_is_compiled_after_the_first_run(captures):
    j = jitted(plain_twin(behind_a_call), SEGMENTED)
    same(j(X, make_float), behind_a_call(X, make_float))
    first = kernel_count(j)
    assert j.state.pending and j.cache_info().currsize == 0 and j.state.entries[0].feedback.observers
    same(j(X, make_float), behind_a_call(X, make_float))
    assert kernel_count(j) == first + 1
    assert not j.state.pending and j.cache_info().currsize == 1 and not j.state.entries[0].feedback.observers
    same(j(X, make_float), behind_a_call(X, make_float))
    assert len(captures) == 2 and captures[0] == {} and len(captures[1]) == 1
    assert [entry.reports.why.split()[0] for entry in j.state.entries] == ["PJ302"]
    assert calls_of(j, [(X, make_float)] * 3) == [HIT] * 3


def test_probes_are_gone_afterwards():
    j = jitted(plain_twin(behind_a_call), SEGMENTED)
    j(X, make_float)
    observing = j.state.entries[-1]
    observers = list(observing.feedback.observers.values())
    assert observers and all(observer in observing.code.linked.co_consts for observer in observers)
    j(X, make_float)
    final = j.state.entries[-1].code.linked
    assert observers[0].__name__ == "observe"
    assert not any(getattr(const, "__name__", None) == "observe" for const in final.co_consts)


def test_two_calls_in_a_row_take_two_rounds(captures):
    j = jitted(plain_twin(two_calls), SEGMENTED)
    for _ in range(5):
        same(j(X, make_float, make_int), two_calls(X, make_float, make_int))
    assert len(captures) <= MAX_OBSERVATIONS + 1
    assert j.cache_info().currsize == 1 and j.cache_info().hits >= 2
    assert len(captures[-1]) == 2


def test_result_of_another_type_than_observed(captures):
    j = jitted(plain_twin(behind_a_call), SEGMENTED)
    for make in (make_float, make_float, make_int, lambda x: 3, lambda x: 2.5, lambda x: x.astype("f4"), make_float):
        for _ in range(2):
            same(j(X, make), behind_a_call(X, make))


def test_result_of_a_new_type_in_each_call(captures):
    results = [X, np.arange(7), 3, 2.5, True, np.float32(2), X.astype("f4"), X[::1].reshape(1, 7), 2 ** 70, 1j, "text"]
    j = jitted(plain_twin(behind_a_call), SEGMENTED)
    call = {}

    def make(x):
        return call["result"]
    for _ in range(3):
        for result in results:
            call["result"] = result
            try:
                wanted = behind_a_call(X, make)
            except Exception as error:
                with pytest.raises(type(error)) as raised:
                    j(X, make)
                assert str(raised.value) == str(error)
            else:
                same(j(X, make), wanted)
    assert len(captures) <= (MAX_OBSERVATIONS + 1) * (MAX_RENEWALS + 1) and j.cache_info().currsize == 1


def test_captures_are_bounded_for_ever_new_arguments(captures):
    def f(x, name):
        y = x * 2.0 + 1.0
        z = stay(len(name))
        return y * z, name == "n3"
    j = jitted(plain_twin(f), {"cache_limit": 3})
    import warnings
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(3):
            for k in range(40):
                got, wanted = j(X, "n%d" % k), f(X, "n%d" % k)
                same(got[0], wanted[0])
                assert got[1] is wanted[1]
    assert len(captures) <= 3 * (MAX_OBSERVATIONS + 1)
    assert len(j.state.entries) <= 3
    assert len([w for w in caught if "limit" in str(w.message)]) <= 1


class Thing:
    """An object that a fallback call returns, with a finaliser that the program may see."""


def test_observed_objects_are_not_kept_alive():
    alive = []

    def make(x):
        thing = Thing()
        thing.weight = 2.0
        alive.append(weakref.ref(thing))
        return thing

    def f(x, make):
        y = x * 2.0 + 1.0
        thing = make(x)
        return y * thing.weight
    j = jitted(plain_twin(f))
    for count in range(1, 5):
        same(j(X, make), (X * 2.0 + 1.0) * 2.0)
        assert len(alive) == count and alive[-1]() is None, count


def test_exception_during_the_observing_run():
    def f(x, make):
        y = x * 2.0 + 1.0
        z = make(x)
        w = z * y
        return w - make(w)

    def raising(x):
        raise KeyError("first run")
    j = jitted(plain_twin(f))
    with pytest.raises(KeyError, match="first run"):
        j(X, raising)
    for _ in range(4):
        same(j(X, make_float), f(X, make_float))
    with pytest.raises(KeyError, match="first run"):
        j(X, raising)
    assert kernel_count(j) >= 1


def test_observation_in_a_loop_sees_all_types():
    def f(x, makes):
        total = x * 0.0
        for k in range(len(makes)):
            z = makes[k](x)
            total = total + z * 2.0
        return total
    makes = [make_float, make_int, lambda x: 3, make_float]
    j = jitted(plain_twin(f))
    for _ in range(4):
        same(j(X, makes), f(X, makes))
    same(j(X, makes[::-1]), f(X, makes[::-1]))


FIRST = operator.methodcaller("pop", 0)


def pop_and_add(x, rows):
    total = 0.0
    while rows:
        weight, i = FIRST(rows)
        total += weight * x[i] + x[i + 1] * 2.0 - weight
    return total


def test_tuples_of_python_and_of_numpy_numbers_are_two_kinds():
    def rows():
        return [(0.5, 1), *zip(np.linspace(1.0, 2.0, 5), np.arange(5))]

    j = jitted(plain_twin(pop_and_add), SEGMENTED)
    for _ in range(3):
        same(j(X, rows()), pop_and_add(X, rows()))
    [entry] = j.state.entries
    assert not any(report.reason_id == "PJ218" for report in entry.reports.breaks)
    assert len(entry.feedback.observed.profiles) == 2
    before = [launcher.calls - launcher.misses for launcher in entry.launchers]
    same(j(X, rows()), pop_and_add(X, rows()))
    served = [launcher.calls - launcher.misses - ran for launcher, ran in zip(entry.launchers, before)]
    assert sum(served) >= 6, served
    lines = [line for line in str(pijit.explain(j)).splitlines() if "weight * x[i]" in line]
    assert len(lines) == 1 and len(set(lines[0].split()[0].split("/")[0].split(","))) == lines[0].split()[0].count("k")


def test_recursion_while_observing():
    def f(x, n, call):
        y = x * 2.0 + n
        if n == 0:
            return y
        z = call(x, n - 1, call)
        return z * y
    j = jitted(plain_twin(f))
    for n in (3, 3, 0, 5, 3):
        same(j(X, n, j), f(X, n, f))
    gc.collect()
    assert len(j.state.entries) <= 4


def distances(a, b):
    d = np.zeros((len(a) + 1, len(b) + 1))
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            cost = 0 if a.__getitem__(i - 1) == b.__getitem__(j - 1) else 1
            d[i, j] = min(d[i - 1, j] + 1.0, d[i, j - 1] + 1.0, d[i - 1, j - 1] + cost)
    return d


def test_texts_that_differ_are_some_texts():
    """Of letters, the last ones that were seen are no better than the first."""
    f = check(distances, "kitten sitting", "sitting kitten", others=[("kitten sitting", "sitting kitten")] * 3)
    behind = f.state.entries[-1].launchers[-1]
    assert CUT or behind.calls > 100 and behind.misses == 0


class Deeper:
    """Calls the function again, with a smaller number, until that is 0."""

    def __init__(self, f, number):
        self.f, self.number = f, number

    def __abs__(self):
        return self.f(X, Deeper(self.f, self.number - 1)).sum() if self.number else 2.0


def through_itself(x, deeper):
    y = x * 2.0 + 1.0
    below = stay(deeper)
    z = y * below - 0.5
    return z * y


def test_calls_inside_the_first_run_observe_as_well(captures):
    """They begin before it has observed anything."""
    j, plain = jitted(plain_twin(through_itself), SEGMENTED), plain_twin(through_itself)
    for number in range(5):
        same(plain(X, Deeper(plain, 2)), j(X, Deeper(j, 2)))
    assert [len(kinds) for kinds in captures] == [0, 1] and kernel_count(j) >= 2 and not j.state.pending


def test_an_entry_whose_first_run_observes_nothing_serves_one_call(captures):
    def sometimes(x, number):
        y = x * 2.0 + 1.0
        if x[0] > 5.0:
            y = y * stay(number)
        return y - 0.5

    check(sometimes, X, 2, calls=4)
    assert len(captures) == 2
