"""Functions that inlined functions make and that share variables: cells of their own, seen by all that have them."""

import contextlib
import functools
import io
import types

import numpy as np
import pytest

import pijit
from tests.capture.containers.effects_common import CUT
from tests.capture.exits.test_polls import NATIVE
from tests.harness import jitted, kernel_count

X = np.linspace(0.5, 4.0, 12)
BIG = 2 ** 63 - 4


def counter(n=0):
    def inc(k=1):
        nonlocal n
        n += k
        return n

    def get():
        return n
    return inc, get


def two_deep(n):
    def outer(k):
        m = n * k

        def inner(v):
            nonlocal m, n
            m += v
            n += 1
            return m * n

        def both():
            return m, n
        return inner, both
    return outer, lambda: n


def late(x):
    k = 2.0

    def scaled(v):
        return v * k
    k = k + x
    return scaled


def kept(x):
    found = []
    for i in range(3):
        found.append(lambda v: v * i + x)
    return found


def folded(xs):
    total, count = 0.0, 1.0

    def add(v):
        nonlocal total, count
        total += v
        count += 1.0
    for v in xs:
        add(v)
    return total, count


def with_comprehension(n):
    def inc():
        nonlocal n
        n += 1
        return n
    return [inc() + n * k for k in (inc(), n)], sum(n * k for k in [inc(), 2]), inc


def putter(a):
    last = -1

    def put(i, v):
        nonlocal last
        last = i
        a[i] = v
        return a[i] * 2.0
    return put, lambda: last


def remembering(x0):
    seen, best = 0, x0

    def see(v):
        nonlocal seen, best
        seen = v * 2.0
        if v > best:
            best = v

    def answer():
        return seen, best
    return see, answer


def recursive(n):
    def down(k):
        nonlocal n
        n += k
        return down(k - 1) if k > 0 else n
    return down


def deleting(n):
    def inc():
        nonlocal n
        n += 1
        return n

    def drop():
        nonlocal n
        del n
    return inc, drop


def either(flag, n):
    def up():
        nonlocal n
        n += 1
        return n

    def down():
        nonlocal n
        n -= 1
        return n
    if flag:
        return up
    return down


# what is run

def counts(x):
    inc, get = counter()
    s = 0.0
    for v in x:
        s += v * inc() + get()
    return s, get(), inc(2), inc, get


def counts_from(x, n):
    inc, get = counter(n)
    for v in x:
        inc(v)
    return get(), inc(n), get(), inc, get


def prints_between(x):
    inc, get = counter(3)
    a = inc()
    print("one", get(), inc.__closure__[0].cell_contents, inc.__closure__[0] is get.__closure__[0])
    b = inc() * x[0]
    print("two", inc(), get())
    s = 0.0
    for i in range(len(x)):
        s += inc() * x[i]
        if i % 5 == 2:
            print("round", i, get(), inc(10))
    return a, b, s, get(), inc, get


def several(x):
    (one, see_one), (two, see_two) = counter(), counter(100)
    s = 0.0
    for v in x:
        s += one() * v - two(2)
    print("between", see_one(), see_two())
    two(one())
    return s, see_one(), see_two(), one, two, see_one, see_two


def in_each_round(x):
    found, kept = 0.0, []
    for i in range(len(x)):
        inc, get = counter(i)
        inc()
        found += get() * x[i]
        if i % 4 == 3:
            print(inc(), get())
            inc()
            found += get()
            kept.append(inc)
    return found, kept


def nests(x, n):
    outer, n_now = two_deep(n)
    one, both = outer(2)
    two, other = outer(3)
    s = 0.0
    for v in x:
        s += one(v) - two(v * 2.0)
    a = n_now(), both(), other()
    print("nested", a)
    return s, a, one(1.0), two(2.0), n_now(), both(), outer, one, two, both, other


def uses_late(x):
    f = late(1.5)
    return f(x) + f(2.0), f


def uses_kept(x):
    fs = kept(0.5)
    return fs[0](x) + fs[1](x) * fs[2](2.0), fs


def folds(x):
    a, b = folded(x)
    return a * 2.0 + b, folded(x * 2.0)


def comprehends(x, n):
    found, total, inc = with_comprehension(n)
    return x * total, found, inc() * x[0], inc


def leaves(x, a, n):
    put, last = putter(a)
    s = 0.0
    try:
        for i in range(n):
            s += put(i * 2, x[i])
    except IndexError as error:
        return str(error), last(), s, a, put
    return last(), s, a, put


def changes_kind(x):
    see, answer = remembering(x[0])
    a = answer()
    s = x[0]
    see(s)
    see(x[1] * 3.0)
    b = answer()
    for v in x:
        see(v)
    return a, b, s, answer(), see, answer


def goes_down(x, n):
    down = recursive(n)
    return down(3) * x, down(2)


def deletes(x, n):
    inc, drop = deleting(n)
    s = inc() * x[0] + inc()
    drop()
    try:
        inc()
    except NameError as error:
        return s, str(error)


def picks(x, flag):
    f = either(flag, 2)
    s = f() * x
    s += f()
    print(f())
    return s * f(), f


def apply(f, times):
    s = 0
    for _ in range(times):
        s += f()
    return s


def hands_on(x):
    inc, get = counter()
    a = apply(inc, 5) + apply(get, 2)
    held = [inc, get]
    b = held[0]() + held[1]() * x[0]
    table = {"inc": inc, "get": get}
    c = table["inc"](2) + table["get"]()
    p = functools.partial(inc, 10)
    d = p() + get() * x[1]
    return a, b, c, d, p(), get(), held, table


class Box:
    def __init__(self, f):
        self.f = f


def is_held(x, box):
    inc, get = counter(1)
    inc()
    mine = Box(inc)
    s = mine.f() * x[0]
    box.f = inc
    s += box.f() * x[1]
    print("held", get())
    s += box.f() * x[2] + get()
    return s, get(), mine.f(), box.f(), mine.f is box.f, inc, get


def outside_too(x, functions):
    inc, get = counter(1)
    s = inc() * x[0] + functions[0]() + get()
    print("swap", functions.__setitem__(0, inc))
    s += inc() * x[0] + get()
    s += functions[0]() * x[1]
    s += get() * x[2] + inc() * x[3]
    return s, get(), functions[0](), inc, get


def holds_a_list(x):
    log = []

    def maker():
        rows = log

        def add(v):
            nonlocal rows
            rows = rows + [v]
            return len(rows)
        return add, lambda: rows
    add, rows = maker()
    for v in x[:4]:
        add(v)
    return add(2.0) * x, rows(), log, rows


def holds_arrays(x):
    inc, get = counter(x * 0.0)
    for i in range(3):
        inc(x * i)
    a = get()
    inc(1.0)
    return a, get(), a is get(), x


def bound_before_it_is_read(x, n):
    def inc():
        nonlocal n
        n += 1
        return n
    return x * sum(n * k for k in [inc(), 2]), [n * k for k in (inc(), n)], {n + k for k in [inc()]}, n


def summed_behind(items, f):
    f()
    return sum(items)


def bound_before_it_is_summed(x, n):
    def inc():
        nonlocal n
        n += 1
        return n
    return x * summed_behind((n * k for k in (1.0, 2.0)), inc), n


PROGRAMS = [
    (bound_before_it_is_read, [lambda: (X, 0.5), lambda: (X, 1), lambda: (X, BIG)]),
    (bound_before_it_is_summed, [lambda: (X, 0.5), lambda: (X, 1)]),
    (counts, [lambda: (X,), lambda: (X[:0],), lambda: (np.arange(3),)]),
    (counts_from, [lambda: (X, 0), lambda: (X, 0.5), lambda: (np.arange(6), BIG), lambda: (X, X * 2.0),
                   lambda: (X, "a")]),
    (prints_between, [lambda: (X,), lambda: (X[:2],), lambda: (X[:0],)]),
    (several, [lambda: (X,), lambda: (X[:0],)]),
    (in_each_round, [lambda: (X,), lambda: (np.arange(9),)]),
    (nests, [lambda: (X, 2), lambda: (X, 1.5), lambda: (X[:0], 2)]),
    (uses_late, [lambda: (X,), lambda: (2.0,)]),
    (uses_kept, [lambda: (X,), lambda: (3,)]),
    (folds, [lambda: (X,), lambda: (np.arange(4),)]),
    (comprehends, [lambda: (X, 1), lambda: (X, 0.5), lambda: (X, BIG)]),
    (leaves, [lambda: (X, X * 0.0, 5), lambda: (X, X[:5] * 0.0, 6), lambda: (X, X * 0.0, 13)]),
    (changes_kind, [lambda: (X,), lambda: (np.arange(5),)]),
    (goes_down, [lambda: (X, 1)]),
    (deletes, [lambda: (X, 1), lambda: (X, 0.5)]),
    (picks, [lambda: (X, True), lambda: (X, False)]),
    (hands_on, [lambda: (X,), lambda: (np.arange(4),)]),
    (is_held, [lambda: (X, Box(None))]),
    (outside_too, [lambda: (X, [counter()[0]]), lambda: (X, [counter(2)[0]])]),
    (holds_a_list, [lambda: (X,)]),
    (holds_arrays, [lambda: (X,), lambda: (np.arange(3),)]),
]
WHOLE = [counts, counts_from, nests, uses_late, changes_kind, holds_arrays]


def seen(value, cells):
    """What can be told of a result: functions by their code, what their cells hold, and which cells are one."""
    if isinstance(value, types.FunctionType):
        found = []
        for cell in value.__closure__ or ():
            known = id(cell) in cells
            number = cells.setdefault(id(cell), (len(cells), cell))[0]
            try:
                found.append((number, None if known else seen(cell.cell_contents, cells)))
            except ValueError:
                found.append((number, "empty"))
        return value.__qualname__, value.__defaults__, found
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [seen(one, cells) for one in value]
    if isinstance(value, dict):
        return [(key, seen(one, cells)) for key, one in value.items()]
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, str(value.tolist()) if value.dtype == object else value.tobytes()
    return type(value).__name__, repr(value)


def functions_in(value):
    if isinstance(value, (list, tuple)):
        for one in value:
            yield from functions_in(one)
    elif isinstance(value, types.FunctionType) and not value.__code__.co_argcount:
        yield value


def outcome(f, args):
    """The result, what was printed, and what the functions that have escaped do later."""
    out, cells = io.StringIO(), {}
    with contextlib.redirect_stdout(out):
        try:
            result = f(*args)
            found = [seen(result, cells)]
            found += [seen(one(), cells) for one in functions_in(result)] + [seen(result, cells)]
        except Exception as error:
            found = repr(error)
    return found, out.getvalue()


@pytest.mark.parametrize("f, makers", PROGRAMS, ids=[row[0].__name__ for row in PROGRAMS])
def test_functions_of_factories(f, makers):
    kernels = []
    for make in makers:
        j = jitted(f)
        for other in [make] + makers + [make]:
            for _ in range(3):
                assert outcome(j, other()) == outcome(f, other())
        kernels.append(kernel_count(j))
    assert max(kernels)


@pytest.mark.parametrize("f", WHOLE, ids=[f.__name__ for f in WHOLE])
def test_nothing_is_bytecode_but_what_prints(f):
    makers = dict(PROGRAMS)[f]
    j = jitted(f, NATIVE)
    outcome(j, makers[0]())
    report = pijit.explain(j)
    assert report.kernels
    assert not [one for one in report.breaks if one.reason_id != "PJ201"], str(report)


@pytest.mark.skipif(CUT, reason="each instruction is a kernel")
def test_cells_from_elsewhere_are_other_cells():
    """A function that comes from outside may have the cell that captured code has made, of a call before."""
    functions = [counter()[0]]
    plain = [counter()[0]]
    j = jitted(outside_too)
    for _ in range(4):
        assert outcome(j, (X, functions)) == outcome(outside_too, (X, plain))
