"""With statements of jitted functions: kernels run through them, and bytecode gets the manager where one is left."""

import contextlib
import dis
import threading
import warnings

import numpy as np
import pytest

import pijit
from tests.capture.containers.effects_common import CUT, launches
from tests.capture.exits.test_polls import NATIVE, alarm
from tests.capture.inlining.test_with_in_callees import Nested, Other, X, Y
from tests.harness import check, fail_unless_captured, jitted, kernel_count

MANY = {"backend": "python"}  # machine code is compared in the last tests


def quotients(m, x, y, out):
    s = 0.0
    for i in range(len(x)):
        with m as same:
            out[i] += same.entered
            s += float(x[i]) / float(y[i])
            out[i] += s
    return s, out, m.seen()


def every_way_out(m, x, y, out):
    s = 0.0
    for i in range(len(x)):
        for j in range(2):
            with m:
                out[j] += 1.0
                s += float(x[i]) / float(y[i + j])
                if s > 20.0:
                    return s, out, m.seen()
                if s > 9.0:
                    break
                if s > 4.0:
                    continue
                out[2] += s
            out[3] += m.left
    return s, out, m.seen()


def with_try(m, x, y, out):
    s = 0.0
    for i in range(len(x)):
        try:
            with m as one, m as other:
                out[0] += one.entered - other.left
                try:
                    s += float(x[i]) / float(y[i])
                except ZeroDivisionError:
                    out[1] += 1.0
                out[i] -= s
            out[0] -= 0.5
        except IndexError as error:
            s -= len(str(error))
        finally:
            s += 1.0
    return s, out, m.seen()


def rarely_breaks(m, x, y, out):
    s = 0.0
    for i in range(len(x)):
        with m as same:
            out[0] += 1.0
            if i % 4 == 3:
                print(i, same.entered, end=";")
                s += same.entered
            s += float(x[i]) / float(y[i])
        out[1] += m.left
    return s, out, m.seen()


def no_loop(m, x, y, out):
    with m:
        z = x * y + out
        z = z[2] / y * float(len(out))
        if out[0] > 0.5:
            return z * 2.0, m.seen()
    return z - 1.0, m.seen()


def made_here(m, x, y, out):
    s = 0.0
    for i in range(len(x)):
        with Nested(m.swallow) as mine:
            mine.entered += 5
            if i % 4 == 3:
                print(i, end=";")
                mine.entered += i
            s += float(x[i]) / float(y[i]) * mine.entered
        with Nested():
            s += 1.0
        out[i] += mine.left
    return s, out, mine.seen()


def counts_down(m, x, y, out):
    n = len(x) * 2
    while True:
        with m as same:
            n -= 1
            if n % 3 == 0:
                continue
            if n < 0:
                break
            out[n % 4] += same.entered
    return n, out, m.seen()


CASES = [quotients, every_way_out, with_try, rarely_breaks, no_loop, made_here, counts_down]


@pytest.mark.filterwarnings("always::RuntimeWarning")
@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
def test_same_as_python(f):
    others = [(Nested(), X, Y, np.zeros(11)), (Nested(True), X, Y, np.ones(11)), (Nested(True), X, Y, np.zeros(5)),
              (Nested(), X[:0], Y, np.zeros(4)), (Nested(True), X, Y[:3], np.ones(11)), (Other(), X, X, np.zeros(11)),
              (Other(True), X, Y, np.ones(11))]
    with fail_unless_captured():
        check(f, Nested(), X, X, np.zeros(11), calls=4, others=others, config=MANY)


@pytest.mark.skipif(CUT, reason="cut everywhere")
@pytest.mark.parametrize("f", [quotients, with_try], ids=lambda f: f.__name__)
def test_a_loop_with_managers_is_one_launch(f):
    assert launches(jitted(f, MANY), Nested(), X * 0.01, X, np.zeros(11)) == 1


class Opens(Nested):
    """Fails in the middle when it is entered the fourth time; what it has done then stays."""

    def __enter__(self):
        self.entered += 1
        self.failed += 12 // (4 - self.entered)
        self.left -= 2
        return self


def opens(m, x, y, out):
    s = 0.0
    for i in range(len(x)):
        try:
            with m as same, Nested() as other:
                s += same.failed + other.entered
                out[i] += s / float(y[i])
        except ZeroDivisionError as error:
            s -= len(str(error))
    return s, out, m.seen()


def opens_in_callee(m, x, y, out):
    def inner(i):
        with m as same:
            return same.failed + x[i] / float(y[i])
    return (inner(0), opened(m, x, y, out), opened(m, y, x, out), m.seen())


def opened(m, x, y, out):
    with m as same:
        out[0] += same.failed
        out[1] += float(x[1]) / float(y[1])
    return out[0] * 2.0 + out[1]


@pytest.mark.parametrize("f", [opens, opens_in_callee], ids=lambda f: f.__name__)
def test_managers_that_fail_when_they_are_entered(f):
    others = [(Opens(), X[:3], X, np.zeros(11)), (Opens(True), X, Y, np.ones(11)), (Opens(), X, Y, np.zeros(5)),
              (Opens(), X, Y[:2], np.zeros(11))]
    with fail_unless_captured():
        check(f, Opens(), X[:3], X, np.zeros(11), calls=4, others=others, config=MANY)


class Loud(Nested):
    def __exit__(self, kind, error, trace):
        print("left", end=";")
        return Nested.__exit__(self, kind, error, trace)


LOCK = threading.Lock()


def with_lock(m, x, y, out):
    s = 0.0
    for i in range(len(x)):
        with LOCK:
            s += float(x[i]) / float(y[i]) * 2.0 + 1.0
            s = s * 0.5 + float(x[0]) * float(y[0]) - s * s
    return s, LOCK.locked()


def loop_inside(m, x, y, out):
    s = 0.0
    with m:
        for i in range(len(x)):
            s += float(x[i]) / float(y[i]) * 2.0 + 1.0
            out[i] += s
    return s, out, m.seen()


@pytest.mark.parametrize("f", [quotients, with_lock, loop_inside], ids=lambda f: f.__name__)
def test_what_bytecode_enters(f):
    """Kernels run beside what cannot be inlined, and loops inside keep kernels of their own."""
    others = [(Loud(), X, Y, np.zeros(11)), (Loud(True), X, Y, np.zeros(11)), (Loud(), X[:3], Y[:2], np.zeros(11))]
    with fail_unless_captured():
        j = check(f, Loud(), X, X, np.zeros(11), calls=4, others=others, config=MANY)
    found = pijit.explain(j, Loud(), X, X, np.zeros(11)).breaks
    assert any("SETUP_WITH" in str(one) for one in found), found


def quiet_steps(x, y, n):
    s = x * 0.0
    for _ in range(n):
        with np.errstate(divide="ignore", invalid="ignore"):
            s = s * 0.5 + x / y
        s = s + 1.0
    return s


def quiet_numbers(x, y, n):
    s = 0.0
    for i in range(n):
        with np.errstate(all="ignore"):
            s += x[i] / y[i]
            with np.errstate(over="ignore"):
                s = s * 2.0
        if s > 1e6:
            s = np.log(y[i])
    return s


def quiet_effects(x, y, n):
    out, s = np.ones(11), x * 0.0
    for _ in range(n):
        with np.errstate(divide="ignore"):
            out[0] += 1.0
            q = x / y * 2.0
            out += q
            if 1.0 / float(out[1]) > 1e3:
                return q, out
        s = s + q / y
    return s, out


def half_quiet(x, y, n):
    s = x * 0.0
    for _ in range(n):
        try:
            with np.errstate(invalid="ignore"):
                s = s + np.sqrt(x - 1.0) / y
        except FloatingPointError as error:
            s = s - len(str(error))
        s = s + x / (y + 1.0)
    return s


def other_states(x, y, n):
    s = x * 0.0
    for k in range(n):
        with np.errstate(divide="warn", over="ignore"):
            s = s + x / y * 1e300 * 1e10
        s = s * 1e-308
    return s


STATES = [(quiet_steps, (X, X, 4), [(X, Y, 4), (Y, Y, 4), (X, Y[:3], 2)]),
          (quiet_effects, (X, X, 3), [(X, Y, 3), (X, -X, 3), (X, Y[:2], 2)]),
          (quiet_numbers, (X, X, 9), [(X, Y, 9), (Y, Y, 11)]),
          (half_quiet, (X + 1.0, X, 3), [(X, X, 3), (X + 1.0, Y, 3), (X, Y, 3)]),
          (other_states, (X, X, 3), [(X, Y, 3), (X * 1e300, X, 3)])]


@pytest.mark.filterwarnings("always::RuntimeWarning")
@pytest.mark.parametrize("how", ["warn", "raise", "ignore"])
@pytest.mark.parametrize("f, args, others", STATES, ids=lambda item: getattr(item, "__name__", ""))
def test_error_states(f, args, others, how):
    with np.errstate(all=how), fail_unless_captured():
        check(f, *args, calls=4, others=others, config=MANY)


def suppresses(x, y, out, n):
    s = 0.0
    for i in range(n):
        with contextlib.suppress(ZeroDivisionError, IndexError):
            out[i] += 1.0
            s += float(x[i]) / float(y[i])
            out[i] += s
        with contextlib.nullcontext(), contextlib.nullcontext(x) as same, contextlib.nullcontext(s) as before:
            s = s * 0.5 + before + float(same[0]) / float(y[0])
    return s, out


@pytest.mark.parametrize("f, args, others", [
    (suppresses, (X, X, np.zeros(11), 11),
     [(X, Y, np.zeros(11), 11), (X, Y, np.zeros(5), 14), (X, Y - 1.0, X * 0.0, 3)]),
])
def test_managers_of_contextlib(f, args, others):
    with fail_unless_captured():
        j = check(f, *args, calls=4, others=others, config=MANY)
    assert CUT or not j.explain(*args).breaks


def changes_a_list(n):
    total = 0
    for i in range(n):
        log = [i]
        with Appends(log):
            log.append(i * 2)
            total += len(log)
        total += log[-1]
    return total


class Appends:
    def __init__(self, log):
        self.log = log

    def __enter__(self):
        return None

    def __exit__(self, kind, error, trace):
        self.log.append(len(self.log))


def test_what_a_manager_holds_changes():
    check(changes_a_list, 4, calls=4, config=MANY, others=[(7,)])


@pytest.mark.skipif(CUT, reason="cut everywhere")
@pytest.mark.filterwarnings("always::RuntimeWarning")
def test_in_machine_code():
    with fail_unless_captured():
        check(with_try, Nested(), X, X, np.zeros(11), others=[(Nested(True), X, Y, np.ones(11)),
                                                              (Nested(), X, Y, np.zeros(5))])
        check(made_here, Nested(), X, X, np.zeros(11), others=[(Nested(True), X, Y, np.zeros(11))])
        check(quiet_effects, X, X, 3, others=[(X, Y, 3)])
        check(suppresses, X, X, np.zeros(11), 11, others=[(X, Y, np.zeros(5), 14)])


@pytest.mark.skipif(CUT, reason="cut everywhere")
def test_ignored_errors_stay_in_the_kernel():
    j = jitted(quiet_steps, {"backend": "numba"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(4):
            np.testing.assert_array_equal(j(X, Y, 50), quiet_steps(X, Y, 50))
    counts = [launcher.exit_counts for entry in j.state.entries for launcher in entry.launchers]
    assert max(sum(map(bool, one)) for one in counts) == 1, counts


def enters(m, x, limit):
    k, s = 0, 0.0
    while k < limit:
        with m:
            s += float(x[k % 11]) * 0.5
            k += 1
    return s


def test_signals_leave_no_manager_entered():
    """Those of the Python back end are handled in the middle of its kernels."""
    j, m = jitted(enters, NATIVE), Nested()
    j(m, X, 100)

    def interrupt():
        raise KeyboardInterrupt
    with alarm(0.05, interrupt), pytest.raises(KeyboardInterrupt):
        j(m, X, 2 ** 40)
    assert kernel_count(j) and m.entered == m.left > 100 and m.failed == 0


@contextlib.contextmanager
def scope(log, value):
    log.append(value)
    yield len(log)
    log.append(-value)


@contextlib.contextmanager
def guarded(log, value, swallow=False):
    before = len(log)
    log.append(value)
    try:
        yield before
    except ZeroDivisionError:
        log.append(before)
        if not swallow:
            raise
    finally:
        log.append(-value)


def generated(log, x, y, swallow):
    s = 0.0
    for i in range(len(x)):
        with scope(log, i) as n:
            s += float(x[i]) * n
        if i % 3 == 1:
            continue
        with guarded(log, i, swallow=swallow) as before:
            s += float(x[i]) / float(y[i]) + before
            if s > 400.0:
                return s, log
    return s, log


def generated_once(log, x, y, swallow):
    with guarded(log, 1, swallow), scope(log, 2) as n:
        z = x / float(y[0]) * n + x
        z = z * y[len(x) - 1]
    return z, log


class Timed:
    """Managers as methods, and with generators that go on."""

    def __init__(self, log):
        self.log, self.depth = log, 0

    @contextlib.contextmanager
    def deeper(self, by=1):
        self.depth += by
        try:
            yield self
        finally:
            self.depth -= by

    @contextlib.contextmanager
    def twice(self):
        yield 1
        yield 2


def methods(timed, x, y, often):
    s = 0.0
    for i in range(len(x)):
        with timed.deeper() as outer, timed.deeper(by=2) as inner:
            s += float(x[i]) / float(y[i]) + outer.depth - inner.depth * 2.0
        s += timed.depth
    if often:
        with timed.twice() as one:
            s += one
    return (x * s - y) * 2.0 / (y + x * x), timed.depth


def methods_alone(timed, x, y):
    """Without a call of unknown code after the loop: that could read the managers from the frame."""
    s = 0.0
    for i in range(len(x)):
        with timed.deeper() as outer, timed.deeper(by=2) as inner:
            s += float(x[i]) / float(y[i]) + outer.depth - inner.depth * 2.0
        s += timed.depth
    return (x * s - y) * 2.0 / (y + x * x), timed.depth


@pytest.mark.parametrize("f", [generated, generated_once, methods], ids=lambda f: f.__name__)
def test_generators_as_managers(f):
    log = Timed if f is methods else list
    others = [(log([]), X, Y, False), (log([]), X, Y, True), (log([]), X, Y[:2], False),
              (log([]), X * 100.0, X, False), (log([]), X[:0], Y, True)]
    with fail_unless_captured():
        j = check(f, log([]), X, X, False, calls=4, others=others, config=MANY)
    assert not j.state.failures


@pytest.mark.skipif(CUT or "END_FINALLY" in dis.opmap, reason="finally bodies are the interpreter's")
def test_a_loop_with_generators_as_managers_is_one_launch():
    assert launches(jitted(generated, MANY), [], X, X, False) == 1
    assert launches(jitted(methods_alone, MANY), Timed([]), X, X) == 1
