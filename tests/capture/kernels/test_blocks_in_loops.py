"""Kernels inside try and with blocks, before and behind them, in loops: effects exactly once, handlers in between."""

import contextlib
import warnings

import numpy as np
import pytest

from tests.capture.containers.effects_common import CUT
from tests.harness import check, fail_unless_captured, jitted, kernel_count

MANY = {"backend": "python"}  # machine code is compared in the last tests
X = np.linspace(0.5, 4.0, 11)


def handler_with_a_loop(x, n, log):
    total = 0.0
    for i in range(n):
        try:
            log.append(i)
            total += x[i] * 2.0 + 1.0
            log.append(total)
        except IndexError as error:
            log.append(str(error))
            for j in range(len(x)):
                total += x[j] * 0.5 - 1.0
                log.append(j)
        else:
            total = total * 0.5 + x[0]
        finally:
            log.append("finally")
            total = total - 1.0 + total * 0.25
    return total


def loop_in_try(x, n, d):
    total = 0.0
    try:
        for i in range(n):
            d["n"] += 1
            total += x[i] * 2.0 + 1.0
            d["total"] = total
    except (IndexError, KeyError) as error:
        d["error"] = repr(error)
        for i in range(len(x)):
            total = total * 0.5 + x[i]
    for i in range(len(x)):
        total = total * 0.5 + x[i] * 2.0
    return total


def raises_from(x, n, log):
    total = 0.0
    try:
        for i in range(n):
            total += x[i] * 2.0 + 1.0
            log.append(i)
    except IndexError as error:
        for i in range(len(x)):
            total = total * 0.5 + x[i]
        raise ValueError("total is %r" % float(total)) from error
    return total * 2.0 + 1.0


def raises_from_none(x, n, log):
    try:
        for i in range(n):
            log.append(x[i] * 2.0 + 1.0)
    except IndexError:
        raise KeyError(len(log)) from None
    return x * 2.0 + 1.0


def asserts(x, n, log):
    total = 0.0
    for i in range(n):
        total += x[i] * 2.0 + 1.0
        log.append(i)
        assert total < 40.0, "too much: %d" % i
    return total * 2.0 + 1.0


def caught_assert(x, n, log):
    total, failed = 0.0, 0
    for i in range(n):
        try:
            total += x[i] * 2.0 + 1.0
            assert total < 20.0
        except AssertionError:
            failed += 1
            total -= 10.0
            log.append(i)
    return total * 2.0 + failed


def suppresses(x, n, log):
    total = 0.0
    for i in range(n):
        with contextlib.suppress(IndexError):
            log.append(i)
            total += x[i] * 2.0 + 1.0
            log.append(total)
        total = total * 0.5 + x[0] * 2.0
    return total


class Manager:
    """Notes what happens; what ``__enter__`` gives is an array, a number or a tuple."""

    def __init__(self, value, log, swallow=False):
        self.value, self.log, self.swallow = value, log, swallow

    def __enter__(self):
        self.log.append("in")
        return self.value

    def __exit__(self, kind, error, trace):
        self.log.append((kind, str(error)))
        return self.swallow


def with_value(x, n, manager):
    total = 0.0
    for i in range(n):
        with manager as y:
            total += y * x[i] + 1.0
            manager.log.append(i)
            total = total * 0.5 + y
    return total * 2.0


def with_pair(x, n, manager):
    with manager as (y, k):
        z = y * x[:n] + k * 2.0
        z = z[n - 3] * z - y
    return z * 2.0 + x[0]


def nested(x, n, log):
    total = 0.0
    for i in range(n):
        try:
            try:
                total += x[i] * 2.0 + 1.0
                if i == 3:
                    continue
                log.append(i)
            finally:
                log.append("inner")
                total = total * 0.5 + x[0]
        except IndexError:
            log.append("outer")
            break
    else:
        log.append("else")
    return total * 2.0 + 1.0


CASES = [(f, (X, 11, []), [(X, 13, []), (X, 0, []), (X[:5], 11, [])])
         for f in (handler_with_a_loop, raises_from, raises_from_none, asserts, caught_assert, suppresses, nested)]
CASES += [
    (loop_in_try, (X, 11, {"n": 0}), [(X, 13, {"n": 0}), (X, 3, {}), (X, 3, {"n": "a"})]),
    (with_value, (X, 11, Manager(2.0, [])), [(X, 13, Manager(2.0, [])), (X, 13, Manager(X[0], [], True)), (X, 3, Manager(X, []))]),
    (with_pair, (X, 11, Manager((2.0, 3), [])), [(X, 2, Manager((2.0, 3), [])), (X, 11, Manager((X, 3.5), []))]),
]


@pytest.mark.parametrize("f, args, others", CASES, ids=lambda item: getattr(item, "__name__", ""))
def test_same_as_python(f, args, others):
    with fail_unless_captured():
        check(f, *args, calls=4, others=others, config=MANY)


def test_too_few_values():
    check(with_pair, X, 11, Manager((2.0, 3), []), calls=4, config=MANY, others=[(X, 11, Manager((2.0,), []))] * 3)


def ignored(x, y):
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        z = x / y + 1.0
        z = z * 1e308 * x
    return z * 2.0 - 1.0


def loud_behind(x, y):
    with np.errstate(all="ignore"):
        z = x / y * 2.0
    return z + x / y * 3.0


def raising(x, y):
    try:
        with np.errstate(all="raise"):
            z = x / y * 2.0 + 1.0
    except FloatingPointError as error:
        return x * 3.0 - 1.0, str(error)
    return z * 2.0 - x


def scalars(x, y):
    total = 0.0
    for i in range(len(x)):
        with np.errstate(divide="ignore", invalid="ignore"):
            total += x[i] / y[i] * 2.0 - x[i] * 0.5
        total = total * 0.5 + 1.0
    return total


def given(x, y, how):
    with np.errstate(all=how):
        z = x / y * 2.0 + 1.0
    return z * 2.0


ZEROS = np.array([1.0, 0.0] * 5 + [0.0])


@pytest.mark.parametrize("f", [ignored, loud_behind, raising, scalars])
def test_error_states(f):
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        with fail_unless_captured():
            check(f, X, X, calls=4, others=[(X, ZEROS), (X * 1e300, ZEROS), (X, X)], config=MANY)


def test_one_kernel_obeys_each_error_state():
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        check(given, X, X, "ignore", calls=4, others=[(X, ZEROS, how) for how in ("ignore", "warn", "raise", "ignore")])


@pytest.mark.skipif(CUT, reason="cut everywhere")
def test_blocks_in_machine_code():
    check(loop_in_try, X, 11, {"n": 0}, calls=4, others=[(X, 13, {"n": 0})])
    j = check(with_value, X, 11, Manager(2.0, []), calls=4, others=[(X, 13, Manager(2.0, []))])
    assert kernel_count(j) >= 2


@pytest.mark.skipif(CUT, reason="cut everywhere")
def test_loops_in_handlers_are_kernels():
    def f(x, n):
        total = 0.0
        try:
            total += x[n]
        except IndexError:
            for i in range(len(x)):
                total += x[i] * 0.5 - 1.0
        return total

    j = jitted(f, MANY)
    for _ in range(4):
        assert j(X, 99) == f(X, 99)
    calls = [launcher.calls - launcher.misses for entry in j.state.entries for launcher in entry.launchers]
    assert sum(calls) > 0
