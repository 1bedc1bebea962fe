"""``np.errstate`` that warns or raises: kernels do not set the state, they leave whatever it is around the block."""

import numpy as np
import pytest

from tests.harness import assert_nothing_breaks, check, fail_unless_captured, same_answers

PYTHON = {"backend": "python"}
NATIVE = {"backend": "numba", "force_breaks": None}
X = np.linspace(0.5, 4.0, 24)
ZERO, TINY, LARGE = (np.where(np.arange(24) == 7, value, X) for value in (0.0, 1e-200, 1e200))


def divides(a, b):
    with np.errstate(divide="raise", invalid="warn"):
        y = a / b + 1.0
    return y * 2.0


def squares(a, b):
    s = 0.0
    for k in range(3):
        with np.errstate(all="raise"):
            y = a * a * b
        s += y.sum() + k
    return s


def changes(a, b):
    a[0] = 3.0
    with np.errstate(all="warn"):
        a[1:] = a[1:] * a[:-1]
        b *= a
    a[2] = 4.0
    return a, b


def nested(a, b):
    with np.errstate(all="raise"):
        x = a * b
        with np.errstate(under="ignore", divide="ignore"):
            y = a * a * a / b
        z = y + 1.0 / b
    with np.errstate(divide="ignore"):
        with np.errstate(divide="raise", over="ignore"):
            w = a / b * 1e300
    return x + y, z - w


def inner(a, b):
    with np.errstate(over="raise", under="raise"):
        c = a * b
    return c * 2.0


def outer(a, b):
    with np.errstate(over="ignore", under="warn", divide="raise"):
        return inner(a * a, b * b) / b


def caught(a, b):
    found = []
    for k in range(4):
        try:
            with np.errstate(divide="raise", over="raise", under="raise"):
                y = a * a / (b * k + b[7])
                v = a[7] * a[7] / (b[7] + k)
        except FloatingPointError as error:
            found.append((k, str(error)))
            continue
        found.append((y[3], v))
    return found, np.geterr()


def scalars(a, b):
    s = a[0]
    with np.errstate(under="raise", over="raise", divide="raise", invalid="raise"):
        s = s + a[7] * a[7] * b[7] / a[3]
    s += a[7] * a[7] * 1e-300
    return s


def many_scalars(a, b):
    s = a[0] * 0.0
    for k in range(200):
        s += a[7] * 1e-300 * 1e-300
    for k in range(9):
        with np.errstate(under="raise"):
            s += a[k] * a[k]
    return s


def lines_up(a, b):
    with np.errstate(over="raise", invalid="raise"):
        m = np.outer(a, b) @ a
        v = np.linalg.norm(m)
    return m / v


def chosen(a, b):
    with np.errstate(all="raise"):
        y = np.where(a > b, a * a, b * 0.5)
    return np.minimum(y, a)


PAIRS = [(X, X[::-1].copy()), (X, ZERO), (TINY, X), (LARGE, X), (LARGE, TINY), (ZERO, ZERO.copy()),
         (TINY, TINY.copy())]
FUNCTIONS = [divides, squares, changes, nested, outer, caught, scalars, many_scalars, lines_up, chosen]

test_in_python = same_answers([(f, PAIRS[0], PAIRS[1:]) for f in FUNCTIONS], PYTHON)


@pytest.mark.parametrize("around", ["ignore", "warn", "raise"])
@pytest.mark.parametrize("f", FUNCTIONS, ids=[f.__name__ for f in FUNCTIONS])
def test_in_machine_code(f, around):
    with np.errstate(all=around), fail_unless_captured():
        check(f, *PAIRS[0], others=PAIRS[1:], config=NATIVE)


@pytest.mark.parametrize("f", [squares, outer])
def test_nothing_stays_bytecode(f):
    assert_nothing_breaks(f, *PAIRS[0], one_segment=False)


def test_what_needs_more_stays_bytecode():
    def called(a):
        with np.errstate(divide="call", call=seen.append):
            return 1.0 / a

    def named(a, how):
        with np.errstate(divide=how):
            return 1.0 / a
    seen = []
    check(called, ZERO, config=PYTHON)
    check(named, ZERO, "raise", others=[(ZERO, "warn"), (ZERO, "ignore"), (X, "no state"), (ZERO, "print")],
          config=PYTHON)
