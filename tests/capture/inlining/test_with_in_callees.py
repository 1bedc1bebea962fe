"""With statements in inlined callees: managers of the user's and ``np.errstate``, left in the middle or not."""

import contextlib
import warnings

import numpy as np
import pytest

import pijit
from tests.capture.containers.effects_common import CUT
from tests.harness import check, fail_unless_captured, jitted

MANY = {"backend": "python"}  # machine code is compared in the last tests
X = np.linspace(0.5, 4.0, 11)
Y = np.array([1.0, 2.0, 3.0, 0.0, 4.0, 5.0, 0.0, 7.0, 8.0, 9.0, 0.0])


class Nested:
    """Counts how deep it is entered, and what ends it."""

    def __init__(self, swallow=False):
        self.entered, self.left, self.failed, self.swallow = 0, 0, 0, swallow

    def __enter__(self):
        self.entered += 1
        return self

    def __exit__(self, kind, error, trace):
        self.left += 1
        if kind is not None:
            self.failed += len(str(error))
        return self.swallow

    def seen(self):
        return self.entered, self.left, self.failed


def plain(m, a, b, out):
    with m:
        return a / b


def with_effects(m, a, b, out):
    with m as same:
        out[0] += a
        v = a / b
        out[1] += v + same.entered
        if v > 1.0:
            return v
        out[2] += 1.0
    return v * 0.5


def two_managers(m, a, b, out):
    with m as one, m as other:
        out[0] += one.entered - other.left
        try:
            out[1] += a / b
        except ZeroDivisionError:
            out[2] += 1.0
        for i in range(3):
            if i == int(b):
                break
            out[i] -= a
    return out[0] / (b + 1.0)


def in_loop(m, a, b, out):
    s = 0.0
    for i in range(3):
        with m:
            if i == 1 and b < 1.0:
                continue
            s += a / (b - i)
            out[i] += s
    return s


def errors_and_manager(m, a, b, out):
    with np.errstate(divide="ignore", invalid="ignore"), m:
        out[0] += 1.0
        q = out / b
        out[1] += a / (b - 2.0)
    with np.errstate(over="ignore"):
        return q[0] + out[1]


def over(g):
    def f(m, a, n, out):
        s = 0.0
        for i in range(n):
            s += g(m, a, float(i % 5 + 3 if n < 3 else i % 5 - 1), out)
        return s, out, m.seen()
    return f


CALLEES = [plain, with_effects, two_managers, in_loop, errors_and_manager]


@pytest.mark.filterwarnings("always::RuntimeWarning")
@pytest.mark.parametrize("g", CALLEES, ids=lambda g: g.__name__)
def test_managers(g):
    f = over(g)
    with fail_unless_captured():
        j = check(f, Nested(), 2.0, 2, np.zeros(4), calls=4, config=MANY,
                  others=[(Nested(), 2.0, 9, np.zeros(4)), (Nested(True), 2.0, 9, np.ones(4)),
                          (Nested(), 2.0, 2, np.zeros(0)), (Nested(True), 3.0, 7, np.zeros(2))])
    assert CUT or not pijit.explain(j, Nested(), 2.0, 2, np.zeros(4)).breaks


def made_inside(a, b, out):
    with Nested() as m:
        m.entered += 5
        v = a / b
        out[0] += v * m.entered
    return v + m.left


def made_outside(n, out):
    m, s = Nested(), 0.0
    m.left = 3
    for i in range(n):
        s += made_inside(2.0, float(i % 5 - 1 if n > 5 else i + 1), out)
        s += plain(m, s, float(i + 1), out)
    return s, out, m.seen()


def test_managers_that_are_made_here():
    with fail_unless_captured():
        check(made_outside, 3, np.zeros(2), calls=4, config=MANY, others=[(9, np.zeros(2)), (3, np.zeros(0))])


class Other(Nested):
    def __exit__(self, kind, error, trace):
        self.left += 10
        return False


def test_another_class_is_another_manager():
    others = [(Other(), 2.0, 2, np.zeros(4)), (Nested(), 2.0, 3, np.zeros(4)), (Other(True), 2.0, 9, np.zeros(4))]
    check(over(with_effects), Nested(), 2.0, 2, np.zeros(4), calls=4, config=MANY, others=others)


def quiet(x, y):
    with np.errstate(divide="ignore", invalid="ignore"):
        q = x / y
    return q


def quiet_with_effects(x, y, out):
    with np.errstate(all="ignore"):
        out[0] += 1.0
        q = x / y * 2.0
        out += q
        first = float(out[1])
        if 1.0 / first > 1e3:
            return q
    return q + 1.0


def half_quiet(x, y):
    with np.errstate(invalid="ignore"):
        return np.sqrt(x - 1.0) / y


def loud_behind(x, y):
    q = quiet(x, y)
    return q + x / y


def quotients(x, y, n):
    s = x * 0.0
    for _ in range(n):
        s = s * 0.5 + quiet(x, y)
    return s


def effects(x, y, out, n):
    s = x * 0.0
    for _ in range(n):
        s = s + quiet_with_effects(x, y, out)
    return s, out


def halves(x, y, n):
    s = x * 0.0
    for _ in range(n):
        s = s + half_quiet(x, y) - half_quiet(y, x + 1.0)
    return s


def loud(x, y, n):
    s = x * 0.0
    for _ in range(n):
        s = s + loud_behind(x, y)
    return s


def numbers(x, y, n):
    s = 0.0
    for i in range(n):
        s += quiet(x[i], y[i])
    return s


ERRORS = [(quotients, (X, X, 4), [(X, Y, 4), (Y, Y, 4), (X, Y[:3], 2)]),
          (effects, (X, X, np.ones(11), 3), [(X, Y, np.ones(11), 3), (X, X, np.zeros(11) - 1.0, 3),
                                             (X, Y[:2], np.ones(11), 2)]),
          (halves, (X + 1.0, X, 3), [(X, X, 3), (X + 1.0, Y, 3), (X, Y, 3)]),
          (loud, (X, X, 2), [(X, Y, 2), (Y, X, 2)]),
          (numbers, (X, X, 9), [(X, Y, 9), (Y, Y, 11)])]


@pytest.mark.filterwarnings("always::RuntimeWarning")
@pytest.mark.parametrize("how", ["warn", "raise", "ignore"])
@pytest.mark.parametrize("f, args, others", ERRORS, ids=lambda item: getattr(item, "__name__", ""))
def test_error_states(f, args, others, how):
    with np.errstate(all=how), fail_unless_captured():
        check(f, *args, calls=4, others=others, config=MANY)


def generated(x, y, n):
    @contextlib.contextmanager
    def scope():
        yield 2.0
    s = 0.0
    for i in range(n):
        with scope() as v:
            s += float(x[i]) * v
    return s


def test_other_managers_are_the_interpreters():
    check(generated, X, X, 9, calls=4, config=MANY)


@pytest.mark.skipif(CUT, reason="cut everywhere")
@pytest.mark.filterwarnings("always::RuntimeWarning")
def test_in_machine_code():
    with fail_unless_captured():
        check(quotients, X, X, 4, others=[(X, Y, 4)])
        check(effects, X, X, np.ones(11), 3, others=[(X, Y, np.ones(11), 3)])
        check(loud, X, X, 2, others=[(X, Y, 2)])
        check(over(errors_and_manager), Nested(), 2.0, 2, np.zeros(4), others=[(Nested(True), 2.0, 9, np.ones(4))])


@pytest.mark.skipif(CUT, reason="cut everywhere")
def test_ignored_errors_stay_in_the_kernel():
    def f(x, y, n):
        s = x * 0.0
        for _ in range(n):
            s = s * 0.5 + quiet(x, y)
        return s

    j = jitted(f, {"backend": "numba"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(4):
            np.testing.assert_array_equal(j(X, Y, 50), f(X, Y, 50))
    counts = [launcher.exit_counts for entry in j.state.entries for launcher in entry.launchers]
    assert [sum(map(bool, one)) for one in counts] == [1], counts
