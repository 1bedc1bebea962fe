"""Context managers of the user: entered and left once, in order, whatever is a kernel inside."""

import contextlib

from tests.behaviour.cases import Case, X, Y, each


class Manager:
    """Notes when it is entered and left; breaks there if asked to."""

    def __init__(self, name, log, talk=False):
        self.name, self.log, self.talk = name, log, talk

    def __enter__(self):
        if self.talk:
            print("enter", self.name)
        self.log.append("+" + self.name)
        return len(self.log)

    def __exit__(self, kind, value, trace):
        if self.talk:
            print("exit", self.name, kind)
        self.log.append("-" + self.name)


def plain(x, log):
    with Manager("a", log) as n:
        y = x * 2.0 + n
        y = y * x - 1.0
    return y * 2.0 + x, log


def nested(x, log):
    with Manager("a", log):
        y = x * 2.0 + 1.0
        with Manager("b", log) as n:
            y = y * x - n
            y = y * 2.0
        y = y - x * 3.0
    return y, log


def two_items(x, log):
    with Manager("a", log) as n, Manager("b", log) as m:
        y = x * n + m
        y = y * x - 1.0
    return y


def sequential(x, log):
    for name in "ab":
        with Manager(name, log):
            x = x * 0.5 + 1.0
            x = x - x * x
    with Manager("c", log):
        x = x * 2.0 - 1.0
        x = x * x
    return x


def returns_inside(x, log, k):
    with Manager("a", log):
        y = x * 2.0 + 1.0
        if k:
            return y * x - 1.0
        y = y * 3.0 - x
    return y


def raises_inside(x, log, k):
    with Manager("a", log):
        with Manager("b", log):
            y = x * 2.0 + 1.0
            y = y * x[k]
        y = y - 1.0
    return y * x


@each(
    Case(31, plain, X, [], kernels=1, others=[(2.0, []), (X, ["x"])]),
    Case(31, nested, X, [], kernels=1, others=[(Y, [1, 2])]),
    Case(31, two_items, X, [], others=[(Y, [])]),
    Case(31, sequential, X, [], kernels=1, others=[(0.5, [])]),
    Case(31, returns_inside, X, [], 1, kernels=1, others=[(X, [], 0), (X, [], "")]),
    Case(31, raises_inside, X, [], 1, kernels=1, others=[(X, [], 99), (X, [], "k")]),
)
def test_user_context_managers(case):
    case.run()


def break_inside(x, log):
    with Manager("a", log):
        y = x * 2.0 + 1.0
        print("inside", y[0])
        y = y * x - 1.0
    return y * 2.0 + x


def break_inside_loop_inside(x, log, n):
    with Manager("a", log):
        for i in range(n):
            x = x * 0.5 + 1.0
            print("round", i)
            x = x - x * x
    return x * 2.0 - 1.0


def with_in_loop_with_break(x, log, n):
    for i in range(n):
        with Manager("a", log):
            x = x * 0.5 + 1.0
            if i == 2:
                print("leaving")
                break
            x = x - x * x
    return x * 2.0 - 1.0, i


@each(
    Case(32, break_inside, X, [], kernels=2, others=[(Y, [])]),
    Case(32, break_inside_loop_inside, X, [], 3, kernels=1, others=[(X, [], 0)]),
    Case(32, with_in_loop_with_break, X, [], 5, kernels=1, others=[(X, [], 2)]),
)
def test_breaks_inside(case):
    case.run()


def break_in_enter_and_exit(x, log):
    y = x * 2.0 + 1.0
    with Manager("loud", log, True) as n:
        y = y * x - n
        y = y * 2.0
    return y * 3.0 - x


def loud_and_quiet(x, log, k):
    with Manager("loud", log, True):
        with Manager("quiet", log):
            y = x * 2.0 + 1.0
            y = y * x[k]
        print("between")
        y = y - x * 2.0
    return y * x


def suppressing(x, k):
    y = x * 1.0
    with contextlib.suppress(IndexError):
        y = y * 2.0 + 1.0
        y = y * x[k]
        y = y - 1.0
    return y * 2.0 + x


@each(
    Case(33, break_in_enter_and_exit, X, [], kernels=2, others=[(Y, [])]),
    Case(33, loud_and_quiet, X, [], 1, kernels=1, others=[(X, [], 99)]),
    Case(33, suppressing, X, 1, kernels=1, others=[(X, 99), (X, "k")]),
)
def test_breaks_in_enter_and_exit(case):
    case.run()


@contextlib.contextmanager
def scope(log, name):
    log.append("enter " + name)
    try:
        yield len(log)
    finally:
        log.append("leave " + name)


def decorated(factor):
    def decorator(f):
        def wrapper(x, log):
            with scope(log, "wrapper") as n:
                y = x * factor + n
                y = y * x - 1.0
                return f(y, log) * 2.0 - y
        return wrapper
    return decorator


@decorated(2.0)
def inner(x, log):
    log.append("inner")
    return x * 3.0 + 1.0


@decorated(0.5)
@decorated(3.0)
def twice(x, log):
    log.append("innermost")
    return x * 3.0 + 1.0


@each(
    Case(86, inner, X, [], kernels=1, others=[(Y, ["x"]), (2.0, [])]),
    Case(86, twice, X, [], kernels=1, others=[(Y, [])]),
)
def test_decorators_with_a_context_manager(case):
    case.run()
