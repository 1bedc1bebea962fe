"""Closures, cells, and functions that are made inside a jitted one."""

import numpy as np

from tests.behaviour.cases import Case, X, Y, each, group
from tests.harness import check, fail_unless_captured, jitted, same


def rebound_after_a_break(x):
    k = 2.0

    def inner(y):
        return y * k + x
    y = inner(x)
    print("break", y[0])
    k = 3.0
    z = inner(y)
    k = x
    return inner(z) - y


def rebound_argument(x, n):
    def inner():
        return x * 2.0 + 1.0
    for i in range(n):
        y = inner()
        print("round", i)
        x = y - x
    return inner() - x


def deleted_cell(x, flag):
    def inner():
        return x * 2.0
    y = x + 1.0
    y = y * x
    if flag:
        del x
    print("before")
    return inner() + y


@each(
    Case(6, rebound_after_a_break, X, kernels=1, others=[(2.0,), (X.astype("f"),)]),
    Case(6, rebound_argument, X, 3, kernels=1, others=[(Y, 0), (2.0, 2)]),
    Case(6, deleted_cell, X, False, kernels=1, others=[(X, True)]),
)
def test_cells_rebound_after_a_break(case):
    case.run()


def captured_by_a_function(x):
    y = x * 2.0 + 1.0
    y = y - x * y

    def inner(z):
        return z + x
    print("break", y[0])
    return inner(y)


def captured_by_a_comprehension(x):
    y = x * 2.0 + 1.0
    y = y - x * y
    print("break")
    return [y[i] + x[i] for i in range(3)]


def captured_by_a_generator(x):
    y = x * 2.0 + 1.0
    y = y - x * y
    print("break")
    return sum(x[i] * y[i] for i in range(len(x)))


def captured_two_deep(x):
    y = x * 2.0 + 1.0

    def outer():
        def inner():
            return x * y
        return inner
    print("break")
    return outer()() - y


def captured_by_a_lambda_that_leaves(x):
    y = x * 2.0 + 1.0
    y = y * y - x
    print("break")
    return (lambda k: x * k + y), y


@each(
    Case(7, captured_by_a_function, X, kernels=1, others=[(Y,), (2.0,)]),
    Case(7, captured_by_a_comprehension, X, kernels=1, others=[(Y.astype("f"),), (X[:2],)]),
    Case(7, captured_by_a_generator, X, kernels=1, others=[(np.arange(4),)]),
    Case(7, captured_two_deep, X, kernels=1, others=[(3.0,)]),
    Case(7, captured_by_a_lambda_that_leaves, X, kernels=1),
)
def test_captured_arguments(case):
    case.run()


def make_siblings(start):
    k = start

    def change(value):
        nonlocal k
        k = value

    def consume(x):
        y = x * k + 1.0
        return y * x - k
    return change, consume


@group(8)
def test_a_sibling_changes_what_a_consumer_reads():
    change, plain = make_siblings(2.0)
    change_too, other = make_siblings(2.0)
    with fail_unless_captured():
        j = jitted(other)
        for value in [2.0, 2.0, 3.0, 3.0, 4.5, X, X, Y, 3, np.float32(2.0), 5.0]:
            change(value)
            change_too(value)
            for _ in range(2):
                same(plain(X), j(X))


@group(8)
def test_only_the_type_of_a_float_in_a_cell_is_known_after_its_second_value():
    change, consume = make_siblings(2.0)
    j = jitted(consume)
    for value in [2.0, 3.0, 4.0, 5.0, 6.0, 7.0]:
        change(value)
        j(X)
    assert len(j.state.entries) <= 2


def sibling_inside(x, n):
    k = 1.0

    def bump():
        nonlocal k
        k = k + 0.5
        return k
    y = x * k + 1.0
    for i in range(n):
        y = y * k - x
        bump()
    return y, k


def nonlocal_read_after_write(x):
    total = x * 0.0

    def add(v):
        nonlocal total
        total = total + v * 2.0
        return total
    a = add(x)
    b = add(a) - total
    return a, b, total


@each(
    Case(8, sibling_inside, X, 3, kernels=1, others=[(X, 0), (Y, 5)]),
    Case(8, nonlocal_read_after_write, X, kernels=1, others=[(2.0,)]),
)
def test_nonlocal_inside(case):
    case.run()


def call_fresh(x, k):
    def scale(y):
        return y * k + 1.0
    return scale(x) - x * scale(k)


def pick_fresh(x, flag):
    if flag:
        def act(y):
            return y * 2.0 + 1.0
    else:
        def act(y):
            return y - x * 3.0
    return act(x) * x + act(2.0)


@each(
    Case(51, call_fresh, X, 2.0, kernels=1, others=[(X, 3.0), (Y, X), (X, 2)]),
    Case(51, pick_fresh, X, True, kernels=1, others=[(X, False), (Y, 1)]),
)
def test_functions_made_anew_in_each_call(case):
    case.run()


def apply(f, x):
    y = x * 2.0 + 1.0
    return f(y) - y * x


@group(51)
def test_a_closure_made_anew_for_each_call():
    with fail_unless_captured():
        j = jitted(apply)
        for k in [1.0, 2.0, 3.0, 3, X, 4.0]:
            for _ in range(3):
                same(apply(lambda y: y * k + 1.0, X), j(lambda y: y * k + 1.0, X))
        for f in [np.sqrt, abs, np.negative, lambda y: None]:
            try:
                wanted = apply(f, X)
            except TypeError as error:
                try:
                    j(f, X)
                except TypeError as other:
                    assert str(other) == str(error)
            else:
                same(wanted, j(f, X))


def returns_function(x, k):
    def counter(y):
        nonlocal k
        k += 1
        return y * k + x
    return counter


def call_returned(x, k):
    f = returns_function(x, k)
    y = f(x) * 2.0 - x
    return f(y) + y, f(2.0)


def returns_itself_or(x, flag):
    def f(y):
        return y * 2.0 + x
    return f if flag else None


def call_if_there(x, flag):
    f = returns_itself_or(x, flag)
    y = x * 2.0 - 1.0
    return f(y) if f is not None else y * x


def call_lambda_from_dict(x, name):
    acts = {"a": lambda y: y * 2.0 + x, "b": lambda y: y - x}
    return acts[name](x * 3.0 + 1.0) * x


def call_method_of_result(x):
    f = (x * 2.0 + 1.0).sum
    return f() * x - 1.0


@each(
    Case(70, call_returned, X, 1, kernels=1, others=[(X, 2.5), (2.0, 1), (X, Y)]),
    Case(70, call_if_there, X, True, kernels=1, others=[(X, False), (2.0, True)]),
    Case(70, call_lambda_from_dict, X, "a", kernels=1, others=[(X, "b"), (X, "c")]),
    Case(70, call_method_of_result, X, kernels=1, others=[(X.astype("f"),)]),
)
def test_functions_as_values(case):
    case.run()


def many(a, b, c, d, e, f):
    p = a * 2.0 + b
    names = {"p": p, "c": c}
    rest = [c, d]
    t = (e, f, p)

    def inner(q):
        return q * a + e
    print("one", len(rest))
    q = inner(p) - b * p
    rest.append(q[0])
    print("two", sorted(names))
    r = q * a + p - t[2]
    names["r"] = r
    print("three", t[:2], rest[:2])
    return inner(r) + q, names, rest, t, d


@group(71)
def test_many_live_values_across_breaks():
    with fail_unless_captured(2):
        check(many, X, Y, "c", None, 2.0, 3, others=[(X, 2.0, 1, [1], Y, "f"), (Y, X, X, X, 2, X)],
              aliased=[(X, X, X, X, X, X)])
