"""Arrays that a kernel makes and writes to: what is known of how large their numbers are holds, and no flag is missed."""

import warnings

import numpy as np
import pytest

from tests.harness import check, fail_unless_captured

BACKENDS = pytest.mark.parametrize("backend", ["python", "numba"])


def chain(x, k, rounds):
    stretch = np.diff(x)
    force = np.zeros_like(x)
    for _ in range(rounds):
        force[:-1] += k * stretch
        force[1:] -= k * stretch
    return force


def ends(x, k, rounds):
    y = np.zeros_like(x)
    for _ in range(rounds):
        y[1:-1] = x[:-2] * k + x[2:]
        y[:-1] += y[1:] * k
    return y


def made_anew(x, k, rounds):
    last = np.ones(x.size)
    for r in range(rounds):
        y = np.ones(x.size) if r % 2 else x * k
        y[2:] += y[:-2] * k
        z = y if r > 1 else last
        z[1:] = z[:-1] * k - y[1:]
        y[:3] += z[:3] * k
        last = y
    return last, y, z


def through_others(x, k, rounds):
    y = np.zeros(x.size)
    part = y[1:]
    for _ in range(rounds):
        part += x[1:]
        np.multiply(part, k, out=y[:-1])
        y[:] = y * k
        y.fill(y[0] * k)
        y[:-1] += y[1:] * k
        part *= 1e-200
        y[x > 3.0] = x[0] * k
        y[:2] -= y[2:4] * k
    return y, part


def started_full(x, k, rounds):
    y = np.full(x.size, k)
    w = np.empty(x.size)
    w[:] = x
    for _ in range(rounds):
        y[1:] += y[:-1] * y[1:]
        w[1:] -= y[1:] * k
    return y, w


FUNCTIONS = [chain, ends, made_anew, through_others, started_full]


@BACKENDS
@pytest.mark.parametrize("action", ["ignore", "always", "error"])
@pytest.mark.parametrize("f", FUNCTIONS)
@fail_unless_captured()
def test_same_answers_and_warnings(f, action, backend):
    x = np.linspace(1.0, 9.0, 150)
    odd = x.copy()
    odd[70:74] = np.inf, -np.inf, 1e308, 0.0
    calls = [(x, 1e60, 6), (x * 1e300, 1e4, 3), (odd, 0.5, 3), (x, 1e155, 4), (x, 1e-200, 5), (x[:5].copy(), 2.0, 3),
             (x * 1e200, 1e-100, 6)]
    with warnings.catch_warnings():
        warnings.simplefilter(action)
        check(f, x, 0.25, 4, others=calls, config={"backend": backend}, calls=1)


@pytest.mark.parametrize("f", FUNCTIONS)
@fail_unless_captured()
def test_where_overflows_pass(f):
    x = np.linspace(1.0, 9.0, 150)
    with np.errstate(over="ignore"), warnings.catch_warnings():
        warnings.simplefilter("always")
        check(f, x, 1e80, 6, others=[(x, 1e160, 5), (-x, 1e300, 4)], config={"backend": "numba"}, calls=2)
