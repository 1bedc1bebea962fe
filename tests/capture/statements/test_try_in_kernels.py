"""Try statements inside one kernel: what raises leaves it with the blocks in place, effects exactly once."""

import numpy as np
import pytest

import pijit
from tests.capture.containers.effects_common import CUT, launches
from tests.capture.exits.test_polls import NATIVE, PYTHON, alarm
from tests.harness import check, fail_unless_captured, jitted, kernel_count

MANY = {"backend": "python"}  # machine code is compared in the last tests
X = np.linspace(0.5, 4.0, 11)
Y = np.array([1.0, 2.0, 3.0, 0.0, 4.0, 5.0, 0.0, 7.0, 8.0, 9.0, 0.0])
BIG = 2 ** 62


def quotients(x, y, out):
    s = 0.0
    for i in range(len(x)):
        try:
            out[i] += 1.0
            s += float(x[i]) / float(y[i])
            out[i] += s
        except ZeroDivisionError as error:
            out[i] = -len(str(error))
    return s, out


def every_clause(x, y, out):
    s = 0.0
    for i in range(len(x)):
        try:
            out[i] += 1.0
            for j in range(3):
                if j == 2 and i == 3:
                    continue
                if j == 1 and i == 4:
                    break
                s += float(x[i]) / float(y[i + j])
                out[i] += s
        except ZeroDivisionError:
            s -= 1.0
            out[i] -= s
        except IndexError as error:
            s -= len(str(error))
        else:
            out[0] += 1.0
        finally:
            out[1] += s
    return s, out


def leaves_from_inside(x, y, out):
    s = 0.0
    for i in range(len(x)):
        for j in range(2):
            try:
                try:
                    out[j] += 1.0
                    s += float(x[i]) / float(y[j + i])
                    if s > 20.0:
                        return s, out
                    if s > 9.0:
                        break
                    if s > 4.0:
                        continue
                except ZeroDivisionError:
                    s += 0.5
                    continue
                out[2] += s
            except IndexError:
                break
            out[3] += 1.0
    return s, out


def large(n, out):
    count = 1
    for i in range(n):
        try:
            out[i % 4] += 1
            count = count * 3 + i
            if count > BIG * 16:
                raise OverflowError(i)
        except OverflowError as error:
            count = error.args[0]
    return count, out


def unbound(n):
    s = 0
    for i in range(n):
        try:
            if i == 5:
                del late
            if i < 3 or i > 7:
                late = i * 2
            s += late
        except UnboundLocalError as error:
            s += len(str(error))
        except NameError:
            s -= 1
    return s


def shapes(x, ys, n):
    total = np.zeros(4)
    for i in range(n):
        y = ys[i % len(ys)]
        try:
            total += x[:4] * y
        except ValueError as error:
            total[i % 4] += len(str(error))
        total *= 0.5
    return total


def in_handler(x, y):
    s = 0.0
    for i in range(len(x)):
        try:
            s += float(x[i]) / float(y[i])
        except ZeroDivisionError:
            for j in range(3):
                try:
                    s += 1.0 / float(y[i + j])
                except ZeroDivisionError:
                    s += 0.25
                except IndexError:
                    raise ValueError("behind the end: %d" % i)
    return s


def behind_effects(x, y, log):
    s = 0.0
    for i in range(len(x)):
        log.append(i)
        try:
            log.append(float(x[i]))
            s += log[-1] / float(y[i])
        finally:
            log.append(s)
    return s


def returns_in_finally(x, y):
    s = 0.0
    try:
        for i in range(len(x)):
            s += float(x[i]) / float(y[i])
        return s * 2.0 + 1.0
    finally:
        x[0] = s + x[1] * 2.0


CASES = [(f, (X, X, np.zeros(11)), [(X, Y, np.zeros(11)), (X, Y, np.zeros(5)), (X[:0], Y, np.zeros(4)),
                                    (X, Y[:3], np.ones(11))])
         for f in (quotients, every_clause, leaves_from_inside)]
CASES += [(large, (60, np.zeros(4, int)), [(200, np.zeros(4, int)), (50, np.zeros(3, int))]),
          (unbound, (4,), [(12,), (3,), (20,)]),
          (shapes, (X, [X[:4], 2.0 * X[:4]], 9), [(X, [X[:4], X[:3]], 9), (X, [X[:5], X[:3]], 9), (X, [X[:4]], 8)]),
          (in_handler, (X, X), [(X, Y[:10]), (X, Y)]),
          (behind_effects, (X, X, []), [(X, Y, []), (X, Y[:2], [])]),
          (returns_in_finally, (X + 1.0, X), [(X + 2.0, X), (X + 1.0, Y), (X[:0], X), (X.tolist(), X)])]


@pytest.mark.parametrize("f, args, others", CASES, ids=lambda item: getattr(item, "__name__", ""))
def test_same_as_python(f, args, others):
    with fail_unless_captured():
        check(f, *args, calls=4, others=others, config=MANY)


@pytest.mark.skipif(CUT, reason="cut everywhere")
@pytest.mark.parametrize("f", [quotients, leaves_from_inside, in_handler])
def test_a_loop_with_try_is_one_launch(f):
    args = (X, X) if f is in_handler else (X, X, np.zeros(11))
    assert launches(jitted(f, MANY), *args) == 1


def divided(a, b, out):
    try:
        return a / b
    except ZeroDivisionError:
        return -1.0


def clauses(a, b, out):
    try:
        q = a // b
    except (ZeroDivisionError, TypeError):
        out[0] -= 1.0
        return 0.0
    else:
        out[1] += q
    return q * 0.5


def retries(a, b, out):
    for attempt in range(3):
        try:
            out[attempt] += 1.0
            value = a / (b - attempt)
            out[attempt] += value
            try:
                return value / (a - 1.0 - attempt)
            except ZeroDivisionError:
                out[3] += 1.0
                raise ValueError(attempt)
        except ZeroDivisionError:
            continue
        except ValueError as error:
            return float(error.args[0])
    return -5.0


def stores_then_fails(a, b, out):
    try:
        out[0] += a
        try:
            out[1] += 1.0
            v = a / b
        except IndexError:
            v = 0.0
        out[2] += v
    except ZeroDivisionError:
        out[3] += 100.0
        v = out[0]
    return v


def loops_inside(a, b, out):
    s = 0.0
    try:
        for i in range(4):
            out[i] += a
            s += a / (b - i)
    except ZeroDivisionError:
        out[0] -= s
    return s


def over(g):
    def f(a, n, out):
        s = 0.0
        for i in range(n):
            s += g(a, float(i % 5 - 1), out)
        return s, out
    return f


@pytest.mark.parametrize("g", [divided, clauses, retries, stores_then_fails, loops_inside], ids=lambda g: g.__name__)
def test_callees(g):
    f = over(g)
    with fail_unless_captured():
        j = check(f, 2.0, 2, np.zeros(4), calls=4, config=MANY,
                  others=[(3.0, 33, np.zeros(4)), (0.0, 7, np.zeros(4)), (2.0, 7, np.zeros(2))])
    assert CUT or not pijit.explain(j, 2.0, 2, np.zeros(4)).breaks


def finishes(a, b, out):
    try:
        out[0] += a
        v = a / b
        if v > 1.0:
            return v
        out[1] += v
    except ZeroDivisionError:
        v = 0.5
    finally:
        out[2] += 1.0
    return v * 2.0


def deep(a, b, out):
    try:
        return finishes(a, b, out) + loops_inside(a, b + 7.0, out)
    finally:
        out[3] += a


@pytest.mark.parametrize("g", [finishes, deep], ids=lambda g: g.__name__)
def test_callees_with_finally(g):
    j = check(over(g), 2.0, 2, np.zeros(4), calls=4, config=MANY,
              others=[(3.0, 33, np.zeros(4)), (2.0, 9, np.zeros(4)), (2.0, 7, np.zeros(3)), (2.0, 7, np.zeros(2))])
    assert CUT or not pijit.explain(j, 2.0, 2, np.zeros(4)).breaks


def finally_decides(a, b, out):
    if a > 2.5:
        return a
    try:
        out[0] += a / b
    finally:
        return 4


def loop_ends_in_finally(a, b, out):
    for k in range(3):
        try:
            out[k] += a / b
            return k
        finally:
            return 0.5


@pytest.mark.parametrize("g", [finally_decides, loop_ends_in_finally], ids=lambda g: g.__name__)
def test_callees_that_return_in_finally(g):
    """What is raised is lost."""
    check(over(g), 2.0, 2, np.zeros(4), calls=4, config=MANY,
          others=[(3.0, 33, np.zeros(4)), (2.0, 9, np.zeros(4)), (2.0, 7, np.zeros(0))])


def waits_in_try(x, y, log):
    try:
        for i in range(len(x)):
            try:
                yield float(x[i]) / float(y[i])
            except ZeroDivisionError:
                yield -1.0
    finally:
        log.append("finally")


def tries_between(x, y, log):
    for i in range(len(x)):
        try:
            v = float(x[i]) / float(y[i])
        except ZeroDivisionError:
            v = -1.0
        yield v


def sums_and_breaks(x, y, log, generator, last):
    s = sum(generator(x, y, log))
    for i, v in enumerate(generator(x, y, log)):
        s += v
        if i == last:
            break
    return s, log


@pytest.mark.parametrize("generator", [waits_in_try, tries_between])
def test_generators(generator):
    others = [(x, y, [], generator, last) for x, y, last in ((X, Y, 99), (X, X, 4), (X, Y, 4), (X, Y[:4], 9))]
    j = check(sums_and_breaks, X, X, [], generator, 99, calls=4, config=MANY, others=others)
    assert not j.state.failures


@pytest.mark.skipif(CUT, reason="cut everywhere")
def test_in_machine_code():
    for f, args, others in CASES[:3]:
        with fail_unless_captured():
            check(f, *args, others=others[:2])
    with fail_unless_captured():
        check(over(retries), 2.0, 2, np.zeros(4), others=[(3.0, 33, np.zeros(4)), (2.0, 7, np.zeros(2))])


def spins(x, limit):
    k, s = 0, 0.0
    while True:
        try:
            while k < limit:
                s += float(x[k % 11]) * 0.5
                k += 1
            return s
        except KeyboardInterrupt:
            limit = 0


@pytest.mark.parametrize("config", [PYTHON, NATIVE], ids=["python", "numba"])
def test_signals_find_the_handler(config):
    j = jitted(spins, config)
    j(X, 100)

    def interrupt():
        raise KeyboardInterrupt
    with alarm(0.05, interrupt):
        assert j(X, 2 ** 40) > 0.0
    assert kernel_count(j)
