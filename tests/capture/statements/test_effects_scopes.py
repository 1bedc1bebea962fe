"""Stores into globals and closure variables: native, at once, in order; reads after them see them."""

import builtins
import math
import types

import numpy as np
import pytest

from pijit.differential import plain_twin
from tests.capture.containers.effects_common import CUT, launches
from tests.harness import check, fail_unless_captured, jitted

X = np.linspace(0.5, 4.0, 11)
COUNT = 0
TOTAL = 0.0
LAST = None


def counts(x):
    global COUNT, TOTAL
    for i in range(len(x)):
        if x[i] > 1.0:
            COUNT += 1
        TOTAL += x[i]
    return COUNT


def resets(x):
    global COUNT, LAST
    COUNT = 0
    for i in range(len(x)):
        COUNT = COUNT + i
        LAST = x[i] * 2.0
    LAST = x + 1.0
    return COUNT, LAST


def sees_break(x):
    global TOTAL
    for i in range(len(x)):
        TOTAL += x[i]
        if i == 5:
            shows()
        TOTAL += 1.0
    return TOTAL


def shows():
    global TOTAL
    print("total", TOTAL)
    TOTAL = 10


def raises(x, n):
    global COUNT
    for i in range(n):
        COUNT += 1
        x[i] = COUNT
    return COUNT


def deletes(x):
    global MADE
    for i in range(len(x)):
        MADE = x[i] * 2.0
    first = MADE
    del MADE
    try:
        return MADE
    except NameError:
        return first


def shadows_builtin(x):
    global len
    size = len(x)
    for i in range(size):
        len = x[i] + 1.0
    last = len
    del len
    return last, len(x)


@pytest.mark.parametrize("f, args", [(counts, (X,)), (resets, (X,)), (sees_break, (X,)), (raises, (X, 11)), (deletes, (X,)),
                                     (shadows_builtin, (X,))], ids=lambda item: getattr(item, "__name__", ""))
def test_globals_as_python(f, args):
    with fail_unless_captured():
        check(f, *args)


def test_globals_and_exceptions():
    check(raises, X, 14, others=[(X, 12), (X, 2)])


@pytest.mark.skipif(CUT, reason="cut everywhere")
@pytest.mark.parametrize("f, args, most", [(counts, (X,), 1), (resets, (X,), 2), (raises, (X + 0.0, 11), 1)],
                         ids=lambda item: getattr(item, "__name__", ""))
def test_the_loop_is_one_kernel(f, args, most):
    namespace = {"COUNT": 0, "TOTAL": np.float64(0.0), "LAST": None, "__builtins__": builtins}
    function = types.FunctionType(f.__code__, namespace, f.__name__)
    assert launches(jitted(function), *args) <= most


def test_globals_of_two_types():
    namespace = {"COUNT": 0, "TOTAL": 0.0, "__builtins__": builtins}
    plain = dict(namespace)
    f, j = types.FunctionType(counts.__code__, plain), jitted(types.FunctionType(counts.__code__, namespace))
    for count, total in [(0, 0.0), (0, 0), (2.5, 1), (2 ** 62, np.float32(1)), (2 ** 63 - 3, 0.0), (True, 0.0), (0, 0.0)]:
        for space in (namespace, plain):
            space.update(COUNT=count, TOTAL=total)
        for _ in range(3):
            assert j(X) == f(X)
            for name in ("COUNT", "TOTAL"):
                assert namespace[name] == plain[name] and type(namespace[name]) is type(plain[name])


def test_a_missing_global():
    namespace = {"__builtins__": builtins}
    f = types.FunctionType(counts.__code__, namespace)
    j = jitted(f)
    for _ in range(3):
        with pytest.raises(NameError, match="TOTAL|COUNT"):
            j(X)
    namespace.update(COUNT=0, TOTAL=0.0)
    for _ in range(3):
        j(X)
    del namespace["COUNT"]
    with pytest.raises(NameError, match="TOTAL|COUNT"):
        j(X)


def counter(start):
    count = start

    def count_up(x):
        nonlocal count
        for i in range(len(x)):
            if x[i] > 1.0:
                count += 1
        return count

    def get():
        return count
    return count_up, get


def test_nonlocal():
    for start in (0, 0.0, np.float64(1)):
        (f, get), (twin, plain_get) = counter(start), counter(start)
        j, plain = jitted(f), plain_twin(twin)
        for _ in range(5):
            assert j(X) == plain(X) and get() == plain_get() and type(get()) is type(plain_get())


def cell_variable(x):
    total = 0.0

    def show():
        return total

    for i in range(len(x)):
        total += x[i]
    first = show()
    for i in range(len(x)):
        total += x[i]
        if i == 3:
            print("total", show())
    return first, total, show()


def inner_writes(x):
    total = 0.0

    def add(value):
        nonlocal total
        total += value

    for i in range(len(x)):
        total += x[i]
        if i % 4 == 1:
            add(100)
    return total


def cell_argument(x, total):
    def show():
        return total, x

    for i in range(len(x)):
        total += x[i]
    return show()


def unbound_cell(x, flag):
    def show():
        return value

    if flag:
        value = 0.0
    try:
        for i in range(len(x)):
            value += x[i]
    except NameError as error:
        return str(error)
    return show()


@pytest.mark.parametrize("f, args", [(cell_variable, (X,)), (inner_writes, (X,)), (cell_argument, (X, 1.0))], ids=lambda item: getattr(item, "__name__", ""))
def test_cells_as_python(f, args):
    with fail_unless_captured():
        check(f, *args)


def test_unbound_cells():
    check(unbound_cell, X, False, others=[(X, True)])


@pytest.mark.skipif(CUT, reason="cut everywhere")
def test_a_closure_is_one_kernel():
    assert launches(jitted(counter(0)[0]), X) == 1


def test_closures_of_one_factory_keep_their_cells_apart():
    (one, get_one), (two, get_two) = counter(0), counter(100)
    j, k = jitted(one), jitted(two)
    for calls in range(1, 5):
        j(X)
        assert (get_one(), get_two()) == (9 * calls, 100 + 9 * (calls - 1))
        k(X)
        assert (get_one(), get_two()) == (9 * calls, 100 + 9 * calls)


class Dying:
    seen = []

    def __del__(self):
        Dying.seen.append(COUNT)


def replaces(x):
    global COUNT, LAST
    for i in range(len(x)):
        COUNT += 1
        LAST = x[i]
    return COUNT


def test_a_finalizer_of_what_a_global_held():
    global COUNT, LAST
    j, seen = jitted(replaces), []
    for f in (replaces, j, j, j, j):
        COUNT, LAST = 0, 1.0
        f(X)
        COUNT, LAST = 0, Dying()
        del Dying.seen[:]
        f(X)
        seen.append((list(Dying.seen), COUNT, LAST))
    assert all(item == seen[0] for item in seen) and seen[0][0] == [1]


def displays(x):
    global LAST
    LAST = [x * 2.0, x + 1.0]
    print(end="")
    LAST = {"a": x}
    return LAST["a"] * 2.0 + 1.0


def test_lists_and_dicts_in_globals():
    check(displays, X)


def two_variables():
    one, other = 0.0, 1.0

    def f(x):
        nonlocal one
        for i in range(len(x)):
            one += x[i]
            if i % 2:
                one = one + other * 2.0
        return one, other

    def g(x):
        nonlocal one, other
        for i in range(len(x)):
            one += x[i]
            other += one
        return one, other
    return f, g


@pytest.mark.parametrize("which", [0, 1])
def test_two_slots_that_hold_one_cell(which):
    def with_one_cell():
        shared = two_variables()[which].__closure__[0]
        f = two_variables()[which]
        return types.FunctionType(f.__code__, f.__globals__, f.__name__, None, (shared, shared)), shared

    (twin, cell), (f, plain_cell) = with_one_cell(), with_one_cell()
    j = jitted(twin, {"backend": "python"})
    for _ in range(4):
        assert j(X) == f(X) and cell.cell_contents == plain_cell.cell_contents


def deletes_locals(x, n):
    total = 0.0
    for i in range(n):
        y = x[i] * 2.0
        z = x * y
        total += y + z[0]
        del y, z
    return total


def deleted_and_read(x, n):
    y = x[0] * 2.0
    total = y * 3.0 + x[1] * 2.0
    if n:
        del y
    total = total * 2.0 + y
    return total


def deleted_twice(x, n):
    total = 0.0
    try:
        for i in range(n):
            y = x[i] * 2.0 + 1.0
            total += y
            del y
        del y
    except UnboundLocalError as error:
        return total, str(error)
    return total


@pytest.mark.parametrize("f", [deletes_locals, deleted_and_read, deleted_twice])
def test_deleted_locals(f):
    check(f, X, 0, calls=4, config={"backend": "python"}, others=[(X, 3), (X, 0)])


@pytest.mark.skipif(CUT, reason="cut everywhere")
def test_a_loop_that_deletes_locals_is_one_kernel():
    assert launches(jitted(deletes_locals), X, 11) <= 2


def deleted_first(s):
    for _ in range(3):
        del late
        late = math.floor(s)


@pytest.mark.parametrize("breaks", [None, "every"])
def test_deletes_of_variables_without_a_value(breaks):
    j = jitted(deleted_first, {"backend": "python", "force_breaks": breaks})
    for _ in range(3):
        with pytest.raises(UnboundLocalError):
            j(2.5)
