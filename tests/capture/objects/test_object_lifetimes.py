"""Captures do not keep the user's classes, functions and arrays: these die as without pijit, entries for dead ones
make room, and new ones get entries of their own."""

import functools
import gc
import types
import warnings
import weakref

import numpy as np
import pytest

from pijit.differential import plain_twin
from tests.harness import fail_unless_captured, jitted, kernel_count

X = np.linspace(-1.0, 2.0, 50)
CYCLES = 60


def collect():
    """Code objects are invisible to the collector: a cycle behind one is found once the code object is gone."""
    for _ in range(3):
        gc.collect()


class Owner:
    """Weakly referable, with room for a weight."""


def new_instance(weight=2.0):
    made = type("Fresh", (), {"__slots__": ("weight", "__weakref__")} if weight is None else {})()
    made.weight = X + weight if weight is not None else X
    return made


def forward(model, x):
    y = x * model.weight + 1.0
    return y * y


def make_class():
    class Model:
        bias = 1.0

        def __init__(self):
            self.weight = X + 1.0

        @jitted
        def method(self, x):
            return x * self.weight + self.weight * x

        @classmethod
        @jitted
        def of_class(cls, x):
            y = x * 2.0 + 1.0
            return y * y if cls is not None else x

        @staticmethod
        @jitted
        def static(x):
            y = x * 2.0 + 1.0
            return y * y

        @property
        @jitted
        def prop(self):
            y = self.weight * 2.0 + 1.0
            return y * y
    return Model


USES = {
    "method": lambda model: model.method(X),
    "class method": lambda model: model.of_class(X),
    "static method": lambda model: model.static(X),
    "property": lambda model: model.prop,
    "partial": lambda model: functools.partial(type(model).method, model)(X),
}


@pytest.mark.parametrize("use", USES)
def test_a_class_made_in_a_function_is_collected(use):
    def run():
        cls = make_class()
        for _ in range(4):
            USES[use](cls())
        return weakref.ref(cls)
    alive = run()
    collect()
    assert alive() is None


def test_an_argument_type_is_collected_and_its_entry_makes_room():
    f = jitted(plain_twin(forward), {"cache_limit": 2})
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the limit is never reached
        for number in range(5):
            model = new_instance(float(number))
            alive = weakref.ref(type(model))
            for _ in range(3):
                np.testing.assert_array_equal(f(model, X), forward(model, X))
            assert kernel_count(f) >= 1
            del model
            collect()
            assert alive() is None
    assert len(f.state.entries) == 1 and f.cache_info().currsize == 1
    assert all("of another type Fresh" in why or why[:5] in ("PJ302", "PJ308") for why in f.state.recompiles)


def test_living_entries_outlast_dead_ones():
    f = jitted(plain_twin(forward))
    first, second, third = new_instance(1.0), new_instance(2.0), new_instance(3.0)
    for model in (first, second, third):
        f(model, X)
        f(model, X)
    entries = [weakref.ref(entry) for entry in f.state.entries]
    del second, model
    collect()
    f(new_instance(4.0), X)
    assert [entry() in f.state.entries for entry in entries] == [True, False, True]
    hits = f.cache_info().hits
    for model in (first, third):
        np.testing.assert_array_equal(f(model, X), forward(model, X))
    assert f.cache_info().hits == hits + 2


SOURCE = """
import numpy as np
TABLE = np.arange(50.0)

class Model:
    pass

def helper(x):
    return x

def f(x, other, h):
    y = x * 2.0 + TABLE
    k, h = Model, helper
    if k is other:
        y = y + 1.0
    if h is other:
        y = y * 3.0
    return y * y
"""


@pytest.mark.parametrize("name", ["Model", "helper", "TABLE"])
def test_what_a_global_named_is_collected_and_its_successor_met(name):
    namespace = {}
    exec(SOURCE, namespace)
    plain = namespace["f"]
    f = jitted(types.FunctionType(plain.__code__, namespace))
    for _ in range(4):
        np.testing.assert_array_equal(f(X, namespace[name], None), plain(X, namespace[name], None))
    assert kernel_count(f) >= 1
    alive = weakref.ref(namespace.pop(name))
    collect()
    assert alive() is None
    exec(SOURCE.split("def f")[0], namespace)
    for other in (namespace[name], None, namespace["helper"], namespace["Model"]):
        for _ in range(2):
            np.testing.assert_array_equal(f(X, other, None), plain(X, other, None))


def test_arrays_and_their_owners_die_with_their_last_reference():
    """At once, also without a collection."""
    owner, cell_content = Owner(), X + 5.0
    owner.weight = X + 1.0
    namespace = {"OWNER": owner, "TABLE": X + 2.0}

    def make(cell_content):
        def f(x):
            y = x * OWNER.weight + TABLE  # noqa: F821
            return y * cell_content
        return f
    f = make(cell_content)
    f = jitted(types.FunctionType(f.__code__, namespace, "f", None, f.__closure__))
    for _ in range(4):
        f(X)
    assert kernel_count(f) >= 1
    alive = [weakref.ref(thing) for thing in (owner, owner.weight, namespace["TABLE"])]
    gc.disable()
    try:
        del owner
        namespace.update(OWNER=None, TABLE=None)
        assert [ref() for ref in alive] == [None] * 3
    finally:
        gc.enable()
    with pytest.raises(AttributeError):
        f(X)


@fail_unless_captured()
def test_counts_of_weak_references_stay():
    model = new_instance(None)
    objects = [type(model), model, model.weight, forward, X]
    before = [weakref.getweakrefcount(thing) for thing in objects]
    f = jitted(plain_twin(forward))
    for _ in range(4):
        f(model, X)
    assert [weakref.getweakrefcount(thing) for thing in objects] == before


def grown(work, rounds):
    """How many more objects the collector knows after many rounds."""
    for _ in range(15):
        work()
    collect()
    before = len(gc.get_objects())
    for number in range(rounds):
        work()
        if number % 7 == 0:
            gc.collect()  # classes are in cycles: their entries would reach the limit before they die
    collect()
    return len(gc.get_objects()) - before


def test_nothing_grows_over_many_classes_of_one_function():
    f = jitted(plain_twin(forward), {"cache_limit": 32})

    def work():
        f(new_instance(1.0), X)
    assert grown(work, CYCLES) < 100
    assert f.cache_info().misses < CYCLES < sum(f.cache_info()[:2]) and len(f.state.entries) < 32


def test_nothing_grows_over_many_jitted_classes():
    def work():
        make_class()().method(X)
    assert grown(work, CYCLES // 3) < 100


def test_nothing_grows_over_many_functions_of_one_name():
    namespace = {}
    exec(SOURCE, namespace)
    f = jitted(types.FunctionType(namespace["f"].__code__, namespace))

    def work():
        exec(SOURCE.split("def f")[0], namespace)
        f(X, None, None)
    assert grown(work, CYCLES) < 100
