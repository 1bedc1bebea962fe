"""Functions that read the frame of their caller find there what they would without pijit, whether or not later code
reads it."""

import builtins
import contextlib
import functools
import inspect
import math
import operator
import sys

import numpy as np
import pytest

from pijit.core._hook import UNBOUND
from pijit.core.bytecode.analysed_code import analysed_code
from pijit.core.capture.driver import CaptureRequest, capture
from tests.harness import check, fail_unless_captured, jitted

a = 1000.0
X = np.arange(1.0, 7.0)


def evaluate(text):
    frame = sys._getframe(1)
    return eval(text, frame.f_globals, dict(frame.f_locals))


def named(*names, depth=1):
    """The variables of the caller with their values, those of these names alone."""
    found = sys._getframe(depth).f_locals
    return sorted((name, value) for name, value in found.items() if name in names)


def bound(depth=1):
    return sorted(sys._getframe(depth).f_locals)


def straight(x, n):
    a = x * 2.0
    b = a.sum() + n
    return evaluate("a * b + n")


def global_of_that_name(x):
    a = x * 2.0
    return evaluate("a + 1.0")


def array_of_each_round(x, n):
    total = 0.0
    for k in range(n):
        y = x * k + 1.0
        total += evaluate("y[0] * k")
    return total


def some_rounds(x, n):
    total, found = 0.0, None
    for k in range(n):
        total = total + x[k] * 2.0
        if k == 1:
            found = evaluate("k + total")
    return total, found


def bound_later(x, n):
    found = []
    for k in range(n):
        found.append(bound())
        late = x[k] * 2.0
    return found, late


def behind_a_loop(x):
    for i, v in enumerate(x):
        u = v * 2.0 + i
        if u > 2:
            break
    return bound(), evaluate("i + u + v")


def overwritten(x, n):
    k = n * 2
    first = named("k")
    k = x[0] + 0.5
    second = named("k")
    k = "text"
    return first, second, named("k")


def deleted(x, n):
    s = x[0] * 2.0
    t = s + n
    del s
    first = bound()
    s = t * 2.0
    return first, named("s", "t")


def deleted_before_and_inside(x, n):
    s = float(n)
    first = bound()
    s = x[0] + s
    t = s * 2.0
    del s
    return first, bound()


def work(x):
    return (x * 3.0 - np.sqrt(x)).sum() * 0.01


def in_an_operator(x, looker):
    part = work(x)
    r = looker + 1
    return r


def in_a_property(x, looker):
    part = work(x)
    return looker.seen


def in_a_missing_attribute(x, looker):
    part = work(x)
    return looker.any_name


def in_a_with_statement(x, looker):
    part = work(x)
    with looker as seen:
        part = work(x * part)
    part = None
    return seen, looker.left


def left_by_an_exception(x, looker):
    try:
        with looker:
            part = work(x)
            part = work(x * part) + x[len(x)]
    except IndexError:
        part = None
        return looker.left


def left_by_return(x, looker):
    with looker:
        part = work(x * 2.0)
        if part > 1.0:
            return looker
    part = None
    return looker


def of_an_unknown_class(x, looker):
    with looker.another as seen:
        part = work(x)
        late = x * part
    part = late = None
    return seen, looker.left, looker.another.left


def managed_by_a_generator(x, looker):
    part = work(x)
    with managing(looker):
        part = work(x * part)
    part = None
    return looker.left


@contextlib.contextmanager
def managing(looker):
    yield
    looker.left = named("part", depth=3)


def in_a_callback(x, n):
    part = x[0] * 3.0
    return sorted([2, 1], key=lambda k: -k * bound.__code__.co_argcount), max(
        [n, n + 1], key=lambda k: evaluate_outer("part") + k)


def evaluate_outer(text):
    return eval(text, {}, dict(sys._getframe(2).f_locals))


def of_the_stack(x):
    part = x[0] * 3.0
    whole = x.sum()
    frame = inspect.stack()[0][0]
    return frame.f_locals["part"], frame.f_locals["whole"]


def tuple_and_list(x, n):
    pair = (x[0] * 2.0, n)
    items = [x[1], n]
    r = evaluate("pair, items")
    return r


class Looker:
    left = None

    @property
    def another(self):
        self.__dict__.setdefault("other", Looker())
        return self.other

    def __add__(self, other):
        return named("part", depth=2)

    @property
    def seen(self):
        return named("part", depth=2)

    def __getattr__(self, name):
        if name != "any_name":
            raise AttributeError(name)
        return named("part", depth=2)

    def __enter__(self):
        return named("part", depth=2)

    def __exit__(self, *exception):
        self.left = named("part", depth=2)


CASES = [(straight, (X, 4)), (global_of_that_name, (X,)), (array_of_each_round, (X, 4)), (some_rounds, (X, 4)),
         (bound_later, (X, 4)), (behind_a_loop, (X,)), (overwritten, (X, 3)), (deleted, (X, 3)),
         (deleted_before_and_inside, (X, 3)), (in_an_operator, (X, Looker())), (in_a_property, (X, Looker())),
         (in_a_missing_attribute, (X, Looker())), (in_a_with_statement, (X, Looker())),
         (left_by_an_exception, (X, Looker())), (of_an_unknown_class, (X, Looker())),
         (managed_by_a_generator, (X, Looker())), (in_a_callback, (X, 3)),
         (of_the_stack, (X,)), (tuple_and_list, (X, 3))]


@pytest.mark.parametrize("f, args", CASES, ids=[f.__name__ for f, _ in CASES])
def test_callees_find_all_variables(f, args):
    check(f, *args, config={"perf_statistics": False})


def apply(function, item, other):
    return function(item, second=other)


def labels(item, second=0, third=()):
    return item, second, bound()


def functions_of_callers(x, n):
    """Functions that the caller makes, later than any instruction of the short callee, in which they are called."""
    y = x * 2.0 + 1.0
    y = y * x - 1.0
    y = y * y + x
    label = functools.partial(labels, third=[n])

    def other(item, second):
        return labels(item, second)

    return apply(label, n, 3), apply(other, n, 4), [label(k, second=n) for k in range(2)], y


def test_functions_that_the_caller_of_a_callee_has_made():
    with fail_unless_captured():
        check(functions_of_callers, X, 2, others=[(X, 5)])


def test_managers_that_a_return_leaves_find_all_variables():
    assert jitted(left_by_return)(X, Looker()).left == left_by_return(X, Looker()).left


@fail_unless_captured()
def test_what_comes_before_is_compiled_all_the_same():
    for f, args in CASES[:4]:
        check(f, *args, config={"perf_statistics": False})


def with_locals(x, n):
    t = x[0] * 2.0
    s = t + n
    del t
    return sorted(locals()), locals()["s"]


def with_vars(x, n):
    s = x * n
    total = s.sum()
    return vars()["total"], sorted(vars())


def with_dir(x, n):
    s = x.sum() * n
    return dir()


def with_eval(x, n):
    s = x.sum() * n
    t = s + 1.0
    return eval("s * t")


def with_exec(x, n):
    s = x.sum() * n
    found = {}
    exec("found['s'] = s")
    return found


def by_another_name(x, n):
    s = x.sum() * n
    return look()


def locals_in_a_loop(x, n):
    found = []
    for k in range(n):
        y = x[k] + k
        found.append(sorted(locals().items(), key=lambda item: item[0])[-1])
    return found


look = locals


@pytest.mark.parametrize("f", [with_locals, with_vars, with_dir, with_eval, with_exec, by_another_name,
                               locals_in_a_loop], ids=lambda f: f.__name__)
def test_builtins_that_read_the_frame(f):
    check(f, X, 3, config={"perf_statistics": False})


def expressions(x, n):
    a = x * 2.0
    b = np.sqrt(x) + n
    return pytest.importorskip("numexpr").evaluate("a * b + 1")


def expressions_in_a_loop(x, n):
    evaluated = pytest.importorskip("numexpr").evaluate
    for i in range(n):
        y = x * 0.5 + 1.0
        x = evaluated("y * y + 1")
    return x


def test_numexpr():
    pytest.importorskip("numexpr")
    check(expressions, X, 2)
    check(expressions_in_a_loop, X, 2)


def rows_above(x, n):
    limit = x[0] * 2.0 + n
    return len(TABLES[0].query("c > @limit"))


TABLES = []


@pytest.mark.unshared
def test_queries_of_pandas():
    TABLES.append(pytest.importorskip("pandas").DataFrame({"c": [1.0, 2.0, 9.0]}))
    f = jitted(rows_above, {"allowed_inline_modules": ("numpy",)})  # to compile functions of pandas takes long
    assert [f(X, 2) for _ in range(3)] == [rows_above(X, 2)] * 3


def kept_by_nobody(x, note):
    d = x - 1.0
    e = d * d
    total = e.sum()
    note(-1.5)
    return total


@pytest.mark.parametrize("note, kept", [(operator.methodcaller("__abs__"), {"total"}), (math.gcd, {"total"}),
                                        (lambda k: k, {"d", "e", "total"})], ids=["object in C", "in C", "in Python"])
def test_exits_store_what_nobody_else_reads_only_where_it_may_be_seen(note, kept):
    code = kept_by_nobody.__code__
    slots = [X, note] + [UNBOUND] * (code.co_nlocals - 2)
    found = capture(CaptureRequest(analysed_code(code), (slots, globals(), vars(builtins)), UNBOUND, {}))
    exits = [exit for one in found.candidates if one.captured is not None for exit in one.captured.graph.exits]
    assert [set(exit.locals) for exit in exits if not exit.side and exit.locals] == [kept]
