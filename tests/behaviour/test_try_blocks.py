"""try, else, finally and with: breaks and kernels inside the blocks."""

import numpy as np

from tests.behaviour.cases import Case, Swallow, X, Y, each


def file_and_finally(x, name):
    y = x * 2.0 + 1.0
    log = []
    try:
        y = y * x
        if name:
            open(name)
        y = y - 1.0
    except FileNotFoundError as error:
        log.append(type(error).__name__)
        y = y * 3.0 + x
    finally:
        log.append("finally")
        z = y * 2.0 - x
    return y, z, log


class Recorder:
    def __init__(self):
        self.log = []

    def __enter__(self):
        self.log.append("in")
        return self

    def __exit__(self, *what):
        self.log.append(what[0])


def with_attributes(x, r):
    with r as inside:
        inside.first = x * 2.0 + 1.0
        inside.second = inside.first * x - 1.0
        y = inside.second - inside.first
    return y * 2.0, r.log


@each(
    Case(9, file_and_finally, X, "", kernels=1,
         others=[(X, "/no such/file"), (Y, ""), (2.0, "/no such/file"), (X, [1])]),
    Case(9, with_attributes, X, Recorder(), kernels=1, others=[(2.0, Recorder()), ("x", Recorder())]),
)
def test_blocks_keep_locals(case):
    case.run()


def quiet(x):
    try:
        y = x * 2.0 + 1.0
        y = y * y
    except ValueError:
        y = x
    else:
        y = y - x * 3.0
    finally:
        x = x + 1.0
        x = x * 2.0
    return y * x


def quiet_in_loop(x, n):
    for i in range(n):
        try:
            x = x * 0.5 + i
            x = x - x * x
        except (IndexError, KeyError):
            x = x + 1.0
        else:
            x = x * 2.0 - 1.0
    return x


def quiet_nested(x):
    try:
        try:
            y = x * 2.0 + 1.0
            y = y * x
        finally:
            x = x - 1.0
    except IndexError:
        y = x
    return y * x - 1.0


def quiet_with_a_named_error(x, flag):
    try:
        x[1:] += x[:-1]
    except (ZeroDivisionError, ValueError) as error:
        if flag:
            x = np.arange(len(x))
    x = x + x


@each(
    Case(25, quiet_with_a_named_error, X.copy(), False, kernels=1, others=[(X.astype(int), True), (X[:1].copy(), False)]),
    Case(25, quiet, X, kernels=1, others=[(2.0,), (X.astype("f"),)]),
    Case(25, quiet_in_loop, X, 4, kernels=1, others=[(X, 0), (1.5, 3), (X, "n")]),
    Case(25, quiet_nested, X, kernels=1, others=[(X.astype(int),), ([1.0],)]),
)
def test_nothing_raised(case):
    case.run()


def break_in_try(x):
    try:
        y = x * 2.0 + 1.0
        print("try", y[0])
        y = y * x - 1.0
    except ValueError:
        y = x
    return y * 2.0 - x


def break_in_else(x, k):
    try:
        y = x * 2.0 + 1.0
        y[k] = 0.0
    except IndexError as error:
        y = x - 1.0
        print("except", error)
        y = y * x
    else:
        y = y * y + x
        print("else", y[0])
        y = y - 1.0
    return y * 2.0 + 1.0


def break_in_finally(x, k):
    y = x * 1.0
    try:
        y = y * 2.0 + 1.0
        y = y * x[k]
    finally:
        x = x * 2.0 + y
        print("finally", x[0])
        x = x - 1.0
    return x * y


def breaks_nested(x, k):
    try:
        try:
            y = x * 2.0 + 1.0
            print("inner", y[0])
            y = y * x[k] - 1.0
        finally:
            x = x * 3.0 + 1.0
            print("inner finally", x[0])
    except IndexError:
        y = x * 2.0 - 1.0
        print("outer", y[0])
    return y * x + 1.0


@each(
    Case(26, break_in_try, X, kernels=2, others=[(X[:0],), ("no",)]),
    Case(26, break_in_else, X, 2, kernels=2, others=[(X, 99), (X, -1), (X, -99), (X, "k"), (X, None)]),
    Case(26, break_in_finally, X, 2, kernels=2, others=[(X, 99), (X, 1.5)]),
    Case(26, breaks_nested, X, 2, kernels=2, others=[(X, 99), (X, "k")]),
)
def test_breaks_in_blocks(case):
    case.run()


def with_in_try(x, k, guard):
    try:
        with guard as seen:
            y = x * 2.0 + 1.0
            y = y * x[k]
            seen.append("done")
        y = y - 1.0
    except IndexError as error:
        y = x * 3.0 - 1.0
        return y, str(error)
    finally:
        x = x * 2.0 - 1.0
        guard.x = x
    return y * x


def try_in_with(x, k, guard):
    y = x + 1.0
    with guard:
        try:
            y = y * 2.0 - x
            y = y * x[k]
        except KeyError:
            y = x
        else:
            y = y * 2.0 + 1.0
        finally:
            x = x * y + 1.0
    return x * 2.0 - y


def try_in_with_in_loop(x, guard):
    total = x * 0.0
    for k in (0, 1, 99, -1):
        with guard:
            try:
                total = total * 0.5 + x[k]
                total = total - x
            finally:
                total = total + 1.0
    return total


@each(
    Case(27, with_in_try, X, 1, Swallow(KeyError), kernels=1,
         others=[(X, 99, Swallow(IndexError)), (X, 99, Swallow(KeyError)), (X, 1, Swallow(Exception)),
                 (X, "k", Swallow(KeyError))]),
    Case(27, try_in_with, X, 1, Swallow(KeyError), kernels=1,
         others=[(X, 99, Swallow(IndexError)), (X, 99, Swallow(KeyError)), (X, "a", Swallow(LookupError))]),
    Case(27, try_in_with_in_loop, X, Swallow(IndexError), kernels=1, others=[(X, Swallow(KeyError))]),
)
def test_with_and_try(case):
    case.run()
