"""Exceptions that leave the function, are caught in it, or are swallowed."""

import numpy as np

from tests.behaviour.cases import Case, Swallow, X, Y, each


def uncaught(x, k):
    y = x * 2.0 + 1.0
    if k > 1:
        raise ValueError("k is %r" % k)
    return y * x


def finally_overrides(x, k):
    try:
        y = x * 2.0 + 1.0
        y = y * x[k]
        return y - 1.0
    finally:
        z = x * 3.0 - 1.0
        if k > 100:
            return z * x


def finally_raises(x, k):
    try:
        y = x * 2.0 + 1.0
        y = y * x[k]
    finally:
        z = x * 3.0 - 1.0
        z = z.reshape(k, -1)
    return z


def except_raises(x, k):
    try:
        y = x * 2.0 + 1.0
        return y * x[k]
    except IndexError as error:
        z = x * 3.0 - 1.0
        raise KeyError(float(z[0])) from error


def reraised(x, k):
    try:
        y = x * 2.0 + 1.0
        return y * x[k]
    except IndexError:
        x *= 2.0
        x += 1.0
        raise


@each(
    Case(28, uncaught, X, 1, kernels=1, others=[(X, 2), (X, 1.5), (X, "k"), (X, Y)]),
    Case(28, finally_overrides, X, 1, kernels=1, others=[(X, 99), (X, 101), (X, -12)]),
    Case(28, finally_raises, X, 1, kernels=1, others=[(X, 99), (X, 11), (X, 0), (X, 3)]),
    Case(28, except_raises, X, 1, kernels=1, others=[(X, 99), (X[:0], 0)]),
    Case(28, reraised, X, 1, kernels=1, others=[(X, 11), (X.astype("f"), 12)]),
)
def test_what_leaves_the_function(case):
    case.run()


def raised_and_caught(x, k):
    y = x * 2.0 + 1.0
    try:
        if k > 1:
            raise ValueError("too large", k)
        y = y * x - 1.0
    except ValueError as error:
        y = y - x * 3.0
        return y, error.args
    return y * 2.0, None


def caught_by_base(x, k):
    try:
        y = x[k] * 2.0 + x
        y = y * x
    except LookupError as error:
        y = x * 3.0 - 1.0
        return y, type(error), str(error)
    return y


def nested_finally(x, k):
    log = []
    try:
        try:
            y = x * 2.0 + 1.0
            y = y * x[k]
            log.append("body")
        finally:
            log.append("inner")
            x = x * 2.0 - 1.0
        log.append("after")
    except IndexError:
        log.append("except")
        y = x * x + 1.0
    finally:
        log.append("outer")
    return y * x, log


def return_in_try(x, n):
    for i in range(n):
        try:
            x = x * 0.5 + i
            if x[0] > 1.0:
                return x * 2.0 - 1.0, i
        finally:
            x = x + 1.0
            x = x * 2.0
    return x, None


def raise_in_handler_caught(x, k):
    try:
        try:
            y = x * 2.0 + x[k]
        except IndexError:
            x = x * 2.0 - 1.0
            raise KeyError("inner")
    except KeyError as error:
        y = x * 3.0 + 1.0
        return y, repr(error), type(error.__context__)
    return y * x


def continue_in_try(x, n):
    hits = 0
    for i in range(n):
        try:
            if i % 2:
                continue
            x = x * 0.5 + 1.0
            if i > 6:
                break
        finally:
            hits += 1
            x = x - x * 0.25
    return x, hits


@each(
    Case(29, raised_and_caught, X, 1, kernels=1, others=[(X, 2), (X, 0.5), (X, "k")]),
    Case(29, caught_by_base, X, 1, kernels=1, others=[(X, 99), (X, -99), (X, slice(3)), (X, "k")]),
    Case(29, nested_finally, X, 1, kernels=1, others=[(X, 99), (X, "k")]),
    Case(29, return_in_try, X, 4, kernels=1, others=[(X, 0), (X * 9.0, 2), (-X, 12)]),
    Case(29, raise_in_handler_caught, X, 1, kernels=1, others=[(X, 99)]),
    Case(29, continue_in_try, X, 12, kernels=1, others=[(X, 3), (X, 0)]),
)
def test_caught_inside(case):
    case.run()


def no_match(x, k):
    try:
        y = x * 2.0 + 1.0
        y = y * x[k]
    except (KeyError, ValueError):
        y = x * 3.0 - 1.0
    return y * 2.0 - x


def swallowed(x, k, guard):
    y = x * 1.0
    with guard:
        y = y * 2.0 + 1.0
        y = y * x[k]
        y = y - 1.0
    return y * 2.0 + x


@each(
    Case(30, no_match, X, 1, kernels=1, others=[(X, 99), (X, "k")]),
    Case(30, swallowed, X, 1, Swallow(IndexError), kernels=1,
         others=[(X, 99, Swallow(IndexError)), (X, 99, Swallow(ValueError)), (X, "k", Swallow(BaseException))]),
)
def test_handlers_that_match_or_not(case):
    case.run()


def raise_in_a_branch(x, mode):
    y = x * 2.0 + 1.0
    if mode == 0:
        y = y * x - 1.0
    elif mode == 1:
        raise ValueError("mode")
    else:
        y = y - x
    return y * 2.0 + x


def raise_by_data(x, limit):
    for i in range(len(x)):
        if x[i] > limit:
            raise OverflowError("at {}".format(i))
        x[i] = x[i] * 2.0 + 1.0
    return x


def assertion(x):
    y = x * 2.0 + 1.0
    assert y[0] > 0, "not positive"
    return y * x - 1.0


@each(
    Case(34, raise_in_a_branch, X, 0, kernels=1, others=[(X, 1), (X, 2), (X, 0.0), (X, Y)]),
    Case(34, raise_by_data, X, 99.0, kernels=1, others=[(X, 2.0), (X, 0.0), (X, np.nan), (X, None)]),
    Case(34, assertion, X, kernels=1, others=[(-X,), (np.array([np.nan]),), (X[:0],)]),
)
def test_raised_in_branches(case):
    case.run()
