"""Exceptions that the function or an inlined caller catches: kernels go on at handlers that do not look at them."""

import math
import sys

import numpy as np
import pytest

from pijit.core.capture.models.predicted_exceptions import UNLIKELY
from pijit.core.graph.types import FLOAT, INT
from tests.capture.containers.effects_common import CUT, launches
from tests.harness import check, fail_unless_captured, jitted

MANY = {"backend": "python"}  # machine code is compared in the last test
ABSENT = UNLIKELY[INT]
EVEN = {k: float(k) for k in range(0, 90, 2)}
X = np.linspace(-3.0, 3.0, 13)
ROWS = [float(k) for k in range(20)]


def named(item):
    return getattr(item, "__name__", "")


class Stop(Exception):
    pass


class Further(Stop):
    """A kind of it."""


def missing_keys(d, n):
    s, lacking = 0.0, 0
    for k in range(n):
        try:
            v = d[k]
        except KeyError:
            v = 0.5
            lacking += 1
        s += v * 2.0
    return s, lacking


def numbers_and_lists(d, lists, n):
    total, longest = 0, 0
    for k in range(n):
        try:
            total += d[k % 50]
        except LookupError:
            total -= 1
        try:
            longest += len(lists["ab"[k % 2]])
        except KeyError:
            longest += 1
    return total, longest


def by_zero(xs, ys):
    s = 0.0
    for i in range(len(xs)):
        try:
            s += xs[i] / ys[i] + xs[i] % ys[i]
        except ZeroDivisionError as e:  # noqa: F841
            s -= 1.0
    return s


def ends_at_index(xs, x):
    i, s = 0, 0.0
    while True:
        try:
            s += xs[i + 1] * x[i, 0]
        except IndexError:
            break
        i += 1
    return s, i


def no_logarithm(x):
    s = 0.0
    for v in x:
        try:
            s += math.log(v) * math.sqrt(v - 1.0)
        except ValueError:
            continue
        s += 0.25
    return s


def too_large(x):
    out = np.zeros(len(x))
    for i, v in enumerate(x):
        try:
            out[i] = math.exp(-v)
        except OverflowError:
            out[i] = -1.0
    return out


def pulled(xs, n):
    s = 0.0
    for _ in range(n):
        it = iter(xs)
        while True:
            try:
                v = next(it)
            except StopIteration:
                break
            s += v
    return s


def every_block(n, out):
    s = 0
    for i in range(n):
        try:
            try:
                if i % 5 == 0:
                    raise KeyError(i)
                if i % 7 == 0:
                    raise Further("%d" % i)
                if i % 11 == 0:
                    raise Stop
            except KeyError:
                s += 1
            else:
                out[0] += 1.0
        except Stop as stop:  # noqa: F841
            s += 2
            out[1] += s
        out[2] += s
    return s, out


def checked(k, out):
    if k % 3 == 0:
        raise ValueError("bad %d" % k)
    if k % 5 == 0:
        raise Stop()
    return k * 2


def by_callees(n, out):
    s = 0
    for k in range(n):
        try:
            s += checked(k, out)
        except (ValueError, Stop):
            out[k % 3] += 1.0
    return s, out


def quotient(d, k, x):
    s = d[k] / x
    for j in range(3):
        s += math.log(x - j) / (k - j)
    return s


def below_callees(d, n):
    s = 0.0
    for k in range(n):
        try:
            y = quotient(d, k, k * 0.75)
        except (ZeroDivisionError, KeyError):
            y = -1.0
        except ValueError:
            s -= 2.0
            continue
        s += y
    return s


def in_comprehensions(d, n):
    s = 0.0
    for k in range(n):
        try:
            s += sum([d[j] for j in (k, k + 2)]) + sum(1.0 / (j - k) for j in range(4))
        except (KeyError, ZeroDivisionError):
            s -= 1.0
    return s


def safe(a, b):
    try:
        return a / b
    except ZeroDivisionError:
        return 0.0


def inside_callees(n):
    s = 0.0
    for i in range(n):
        s += safe(i, i % 4)
    return s


def effects_in_handlers(n, log, d):
    for i in range(n):
        try:
            d[i % 6] += 1 // (i % 3)
        except ZeroDivisionError:
            log.append(i)
        except KeyError:
            d[i % 6] = i
    return log, d


def grows(n, d):
    total = 2 ** 61
    for i in range(n):
        try:
            total += d[i]
        except KeyError:
            d[i] = 1
            total += 2 ** 61  # leaves behind an effect
        except ZeroDivisionError:
            total = 0
    return total, d


def name_is_gone(n, e):
    s = e
    for i in range(n):
        try:
            s += 1.0 / (i % 2)
        except ZeroDivisionError as e:
            s += 0.5
    try:
        return s, e
    except UnboundLocalError as error:
        return s, str(error)


NATIVE = [(missing_keys, (EVEN, 90), [(EVEN, 10), ({}, 30), (dict.fromkeys(range(20), 1), 30), (range(5), 5),
                                        (dict.fromkeys(range(20), UNLIKELY[FLOAT]), 30)]),
          (numbers_and_lists, ({k: k for k in range(45)}, {"b": [1, 2]}, 60),
           [(dict.fromkeys(range(40), ABSENT), {"a": [1], "b": []}, 60), ({}, {}, 9), ({1: 2.5}, {"a": (1,)}, 5)]),
          (by_zero, ([1.0, 2.0, 3.0] * 9, [0.0, -1.0, 2.5] * 9), [([1, 2] * 20, [0, 3] * 20), (X, X.copy()),
                                                                 ([1.5] * 20, [-0.0, float("nan")] * 10)]),
          (ends_at_index, (ROWS, np.ones((30, 2))), [(ROWS, np.ones((5, 2))), (ROWS, np.ones((5, 0))), ([], X)]),
          (no_logarithm, (X,), [(X.tolist(),), (np.array([np.nan, np.inf, 0.0, -0.0, 1.0]),), ([1, 0, -1, 7],)]),
          (too_large, (X * 400.0,), [(np.array([-709.782712893384, -709.7827128933841, np.nan, -np.inf]),)]),
          (pulled, (ROWS, 5), [(ROWS[:3], 4), ([], 3), (X, 2)]),
          (every_block, (80, np.zeros(3)), [(5, np.zeros(3)), (30, np.zeros(2))]),
          (by_callees, (40, np.zeros(3)), [(40, np.zeros(2)), (4, np.zeros(3))]),
          (below_callees, (EVEN, 40), [(EVEN, 3), ({}, 9), (dict.fromkeys(range(20), 1), 30), ([1.0] * 5, 9)]),
          (inside_callees, (40,), [(3,), (2.5,)]),
          (effects_in_handlers, (40, [], {0: 5}), [(3, [], {}), (9, [], {0: 1.5})]),
          (name_is_gone, (1, 2.5), [(7, 2.5), (0, 1.5), (2, None)])]
ALL = NATIVE + [(in_comprehensions, (EVEN, 9), [(EVEN, 99), ({}, 4)]), (grows, (9, {3: 0}), [(4, {}), (3, {1: 2.0})])]


@pytest.mark.parametrize("f, args, others", ALL, ids=named)
def test_same_as_python(f, args, others):
    with fail_unless_captured():
        check(f, *args, calls=4, others=others, config=MANY)


@pytest.mark.skipif(CUT, reason="cut everywhere")
@pytest.mark.parametrize("f, args", [case[:2] for case in NATIVE[:-1]], ids=named)
def test_what_is_raised_stays_in_the_kernel(f, args):
    assert launches(jitted(f, MANY), *args) <= 2


def text_of(n):
    s = []
    for i in range(n):
        try:
            s.append(1 // (i % 3))
        except ZeroDivisionError as e:
            s.append(str(e))
    return s


def state_is_seen(n, seen):
    for i in range(n):
        try:
            seen.append(1.0 / (i % 4))
        except ZeroDivisionError:
            seen.append(sys.exc_info()[0].__name__)
    seen.append(sys.exc_info() == (None, None, None))
    return seen


def context_is_kept(n):
    s = 0.0
    for i in range(n):
        try:
            s += 1.0 / (i % 4)
        except ZeroDivisionError:
            try:
                raise Stop(i)
            except Stop as stop:
                s += len(type(stop.__context__).__name__)
    return s


def raised_again(d, n):
    s = 0.0
    for i in range(n):
        try:
            s += d[i]
        except KeyError:
            if i > 5:
                raise
            s -= 1.0
    return s


def another_clause(d, n):
    s = 0.0
    for i in range(n):
        try:
            s += d[i]
        except (IndexError, ValueError):
            s -= 1.0
    return s


def loop_in_handler(n):
    s = 0.0
    for i in range(n):
        try:
            s += 1.0 / (i % 4)
        except ZeroDivisionError:
            for j in range(i):
                s += j * 0.5
    return s


def nested_in_handler(d, n):
    s = 0.0
    for i in range(n):
        try:
            s += d[i]
        except KeyError:
            try:
                s += d[i + 1]
            except KeyError:
                s += 0.25
    return s


def raised_instead(d, n):
    """Nothing but a try statement is in the outer one: what its handlers raise is caught."""
    s = 0.0
    for i in range(n):
        try:
            try:
                s += d[i]
            except KeyError:
                raise ValueError from None
        except ValueError as error:
            s += 0.5 + len(error.args)
    return s


class Counts(Exception):
    made = 0

    def __init__(self, *args):
        Counts.made += 1


def counted(n):
    s = 0
    before = Counts.made
    for i in range(n):
        try:
            if i % 2:
                raise Counts(i)
            s += i
        except Counts:
            s -= 1
    return s, Counts.made - before


SEEN = [(text_of, (12,), [(3,)]), (state_is_seen, (12, []), [(3, [])]), (context_is_kept, (12,), [(3,)]),
        (raised_again, (dict.fromkeys(range(0, 40, 2), 1.5), 5), [(EVEN, 9), ({}, 3)]),
        (another_clause, (EVEN, 1), [(EVEN, 9), ({}, 3)]), (loop_in_handler, (12,), [(3,)]),
        (nested_in_handler, (EVEN, 20), [({5: 1.0}, 9)]), (raised_instead, (EVEN, 20), [({5: 1.0}, 9)]), (counted, (20,), [(3,)])]


@pytest.mark.parametrize("f, args, others", SEEN, ids=named)
def test_what_is_looked_at_is_python_s(f, args, others):
    check(f, *args, calls=4, others=others, config=MANY)


def defined_later():
    class Late(Exception):
        pass

    def f(n):
        s = 0
        for i in range(n):
            try:
                if i % 2:
                    raise Late(i)
                s += i
            except Late:
                s -= 1
        return s

    return f, Late


def test_a_class_that_gets_an_init_is_made_by_python():
    f, late = defined_later()
    j = jitted(f, MANY)
    assert [j(20) for _ in range(3)] == [f(20)] * 3
    made = []
    late.__init__ = lambda self, *args: made.append(args)
    assert j(20) == f(20) and len(made) == 20


def test_machine_code():
    for f, args, others in NATIVE[:2] + NATIVE[4:6] + NATIVE[7:10] + NATIVE[11:12]:
        with fail_unless_captured():
            check(f, *args, calls=4, others=others)


def padded(rows):
    try:
        rows = np.asarray(rows)
        if not np.issubdtype(rows.dtype, np.number):
            raise ValueError("no numbers")
        return rows
    except ValueError:
        rows = [np.atleast_1d(row) for row in rows]
        width = max(row.size for row in rows)
        found = np.zeros((len(rows), width))
        for index, row in enumerate(rows):
            found[index, -row.size:] = row
        return found


def test_loops_in_handlers_over_lists_that_they_made():
    """A read that follows an effect may not leave the kernel while the exception waits. Bytecode does it."""
    others = [([0, 0],), ([[1, 2], [3, 4]],), (np.arange(3.0),), (5.0,)]
    for first in ([0, 0], [np.array([1.0, 2.0]), np.array([1.0])], ["1", "2"]):
        check(padded, first, others=others, config={"backend": "python", "perf_statistics": False})


def handlers_of_equal_depth(x, y, z):
    for _ in range(1, len(x) - 1):
        try:
            try:
                x[1:] = x[1:] + unknown[0]  # noqa: F821
            finally:
                w = x * 2.0
                z[:] = y + 1.0
        except Exception:
            v = x * 2.0
            absent.append(v + w)  # noqa: F821
        finally:
            pass


def test_a_repeated_instruction_before_one_with_another_handler():
    """The block of `finally` ends with the same NOP as the statement before; only their handlers' handlers differ."""
    check(handlers_of_equal_depth, np.arange(7.0), np.arange(7.0), np.zeros((3, 7)))
