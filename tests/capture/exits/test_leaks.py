"""Nothing is kept: arguments, results, namespaces, entries, kernels. Every path is run often, then counted."""

import gc
import operator
import sys
import tracemalloc
import types
import weakref

import numpy as np
import pytest

from pijit.differential import plain_twin
from tests.harness import jitted, kernel_count

stay = operator.methodcaller("__abs__")
"""A call that stays bytecode, and gives back a number that is not negative."""
X = np.linspace(-1.0, 2.0, 50)
WARM, CALLS = 20, 3000


def hit(x, k):
    y = x * 2.0 + k
    return y * y


def with_break(x, k):
    y = x * 2.0 + k
    z = stay(k)
    return y * z + y


def loop_with_break(x, k):
    total = 0.0
    for i in range(4):
        total += x[i] * 2.0
        if i == 2:
            stay(total)
    return total


def side_exit(x, k):
    y = x * 2.0 + 1.0
    try:
        y[99] = k
    except IndexError:
        y = y + x
    return y


def raises(x, k):
    y = x * 2.0 + 1.0
    return y[99] + k


def operands_across_a_break(x, k):
    return (x * 2.0 + 1.0) * stay(k) + (x + k)


def holds_tuple(x, k):
    pair = (x * 2.0, k)
    a, b = pair
    return pair, a + b


def globals_and_cells():
    w = X + 1.0

    def reads(x, k):
        y = x * w + k
        return y * SCALE
    return reads


SCALE = 3.0


def collect():
    """Code objects are invisible to the collector: a cycle behind one is found once the code object is gone."""
    for _ in range(3):
        gc.collect()


def reads_twice(x):
    y = x * K + 1.0
    change()
    return y * K + x


def library_calls(x, k):
    y = np.sort(x * 2.0 + k)
    found = np.nonzero(y > 1.0)[0]
    y[y > 2.0] = k
    y[found[:2]] = x[:2]
    rows = (y * y).sum()
    for i in range(2):
        y = np.concatenate([y[:25], x[found[:1]], x[26:]])
        rows = rows + np.trace(y.reshape((-1, 5)), offset=0)
    return y[:50] + y.take([99])[0] * rows


FUNCTIONS = [hit, with_break, loop_with_break, side_exit, raises, operands_across_a_break, holds_tuple, globals_and_cells(),
             library_calls]


def call(f, *args):
    try:
        f(*args)
    except IndexError:
        pass


@pytest.mark.parametrize("function", FUNCTIONS, ids=[f.__name__ for f in FUNCTIONS])
def test_references_to_arguments(function):
    f = jitted(plain_twin(function))
    x, k = X + 0.0, 1234.5
    for _ in range(WARM):
        call(f, x, k)
    before = sys.getrefcount(x), sys.getrefcount(k), sys.getrefcount(None)
    for _ in range(CALLS):
        call(f, x, k)
    after = sys.getrefcount(x), sys.getrefcount(k), sys.getrefcount(None)
    assert before[:2] == after[:2] and abs(after[2] - before[2]) < CALLS // 10


@pytest.mark.parametrize("function", FUNCTIONS[:1] + FUNCTIONS[1:2] + FUNCTIONS[5:7], ids=lambda f: f.__name__)
def test_references_to_results(function):
    f, plain = jitted(plain_twin(function)), function
    for _ in range(WARM):
        call(f, X, 1.5)
    got, wanted = f(X, 1.5), plain(X, 1.5)
    if isinstance(got, tuple):
        got, wanted = got[1], wanted[1]
    assert sys.getrefcount(got) == sys.getrefcount(wanted)
    alive = weakref.ref(got)
    del got
    assert alive() is None


@pytest.mark.parametrize("function", FUNCTIONS, ids=[f.__name__ for f in FUNCTIONS])
def test_memory_and_objects(function):
    f = jitted(plain_twin(function))
    for _ in range(WARM):
        call(f, X, 1.5)
    gc.collect()
    tracemalloc.start()
    try:
        for _ in range(CALLS // 3):  # until tables that are filled by chance are full
            call(f, X, 1.5)
        gc.collect()
        objects, memory = len(gc.get_objects()), tracemalloc.get_traced_memory()[0]
        for _ in range(CALLS):
            call(f, X, 1.5)
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - memory
        assert len(gc.get_objects()) - objects < 50
        assert grown < 20000, grown
    finally:
        tracemalloc.stop()


def test_misses_at_the_limit():
    f = jitted(plain_twin(hit), {"cache_limit": 1})
    y = np.arange(50)
    f(X, 1.0)
    with pytest.warns(RuntimeWarning):
        f(y, 1.0)
    for _ in range(WARM):
        f(y, 1.0)
    before = sys.getrefcount(y), sys.getrefcount(f.state), len(gc.get_objects())
    for _ in range(CALLS):
        f(y, 1.0)
    assert before[:2] == (sys.getrefcount(y), sys.getrefcount(f.state))
    collect()
    assert len(gc.get_objects()) - before[2] < 50


def test_segment_misses():
    """A global changes its type behind the entry's back: the launcher answers MISS in mid-call."""
    namespace = {"K": 2.0, "change": None}

    f = types.FunctionType(reads_twice.__code__, namespace)
    flips = []

    def change():
        namespace["K"] = 3
        flips.append(1)
    namespace["change"] = change
    j = jitted(f)
    for _ in range(WARM):
        namespace["K"] = 2.0
        np.testing.assert_array_equal(j(X), (X * 2.0 + 1.0) * 3 + X)
    x = X + 0.0
    before = sys.getrefcount(x)
    for _ in range(CALLS // 10):
        namespace["K"] = 2.0
        j(x)
    assert sys.getrefcount(x) == before


def test_everything_goes_with_the_function():
    f = jitted(plain_twin(with_break))
    for _ in range(4):
        f(X, 1.5)
    entry = f.state.entries[-1]
    assert kernel_count(f) >= 1
    alive = [weakref.ref(thing) for thing in [f, f.state, entry, entry.code.linked, f.py_func.__code__]]
    del f, entry
    collect()
    assert [ref() for ref in alive] == [None] * len(alive)


def test_entries_go_with_the_function_though_its_code_stays():
    plain = plain_twin(with_break)
    f = jitted(plain)
    for _ in range(4):
        f(X, 1.5)
    alive = [weakref.ref(f.state), weakref.ref(f.state.entries[-1].code.linked)]
    del f
    collect()
    assert [ref() for ref in alive] == [None, None]
    np.testing.assert_array_equal(plain(X, 1.5), with_break(X, 1.5))


def test_cache_clear_frees_linked_code_and_kernels():
    f = jitted(plain_twin(with_break))
    for _ in range(4):
        f(X, 1.5)
    entry = f.state.entries[-1]
    alive = [weakref.ref(entry), weakref.ref(entry.code.linked)]
    owners = [weakref.ref(launcher.owner) for launcher in entry.launchers if isinstance(launcher.owner, types.FunctionType)]
    del entry
    f.cache_clear()
    collect()
    assert [ref() for ref in alive + owners] == [None] * len(alive + owners)
    np.testing.assert_array_equal(f(X, 1.5), with_break(X, 1.5))


NAMESPACE = """
import numpy as np
SCALE = 2.0
TABLE = np.arange(50.0)

def helper(x):
    return x + 0.5

def f(x):
    y = x * SCALE + TABLE
    z = {callee}(x)
    return y * z - np.sqrt(TABLE)
"""


class Marker:
    """Weakly referable, unlike a dict."""


@pytest.mark.parametrize("callee", ["abs", "np.abs", "helper"])
def test_namespaces_are_collected(callee):
    namespace = {"marker": Marker()}
    exec(NAMESPACE.format(callee=callee), namespace)
    namespace["f"] = jitted(namespace["f"])
    for _ in range(4):
        namespace["f"](X)
    assert kernel_count(namespace["f"]) >= 1
    alive = weakref.ref(namespace["marker"])
    del namespace
    collect()
    assert alive() is None


def new_model():
    class Model:
        def __init__(self):
            self.weight = X + 1.0

        @jitted
        def forward(self, x):
            y = x * self.weight + 1.0
            return y * y
    model = Model()
    for _ in range(4):
        model.forward(X)
    assert kernel_count(Model.forward) >= 1
    return model


def test_object_with_a_jitted_method_is_freed_at_once():
    model = new_model()
    alive = weakref.ref(model)
    del model
    assert alive() is None


def test_class_with_a_jitted_method_is_collected():
    alive = weakref.ref(type(new_model()))
    collect()
    assert alive() is None


def test_locals_die_when_the_function_deletes_them():
    alive = []

    def f(x):
        y = x * 2.0 + 1.0
        alive.append(weakref.ref(y))
        z = y * 3.0
        del y
        dead = alive[-1]() is None
        return z, dead
    j = jitted(f)
    for _ in range(4):
        assert j(X)[1] is True


def test_capture_leaves_the_users_objects_at_once():
    """Also without a garbage collection: the program may see when an object dies."""
    class Model:
        weight = 2.0

    def f(model, x, other):
        y = x * model.weight + 1.0
        for k in range(3):
            y = y + other.get("missing", 1.0)
        z = y if x[0] > 0.0 else y * 2.0
        return z * y
    j = jitted(plain_twin(f))
    gc.disable()
    try:
        for _ in range(4):
            model, x = Model(), X + 0.0
            alive = weakref.ref(model), weakref.ref(x)
            model.weight = 3.0
            j(model, x, {})
            del model, x
            assert alive[0]() is None and alive[1]() is None
    finally:
        gc.enable()
