"""Stores that read what the kernel has computed before: in place where bounds say that nothing is to be reported."""

import numpy as np
import pytest

from tests.harness import check, fail_unless_captured

BACKENDS = pytest.mark.parametrize("backend", ["python", "numba"])
U = np.linspace(0.25, 1.5, 120)
V = np.cos(U)


def reacting(u, v, c):
    lap = u[:-2] + u[2:] - 2.0 * u[1:-1]
    both = lap * v[1:-1] ** 2
    inner = u[1:-1]
    inner += c * lap - both
    v[1:-1] += lap * c + both
    return lap, both


def changed_between(u, v, c):
    double = u * 2.0
    u[1:] *= double[1:] * c
    double *= c
    v -= double * u
    double[:60] = v[:60] * c
    u[:60] += double[:60] * v[:60]
    return double


def in_a_loop(u, v, c):
    for k in range(3):
        step = (u + v) * c
        if k == 1:
            step *= c
        u -= step * v
        v += step * u
    return step


@BACKENDS
@pytest.mark.parametrize("f", [reacting, changed_between, in_a_loop])
@pytest.mark.filterwarnings("always::RuntimeWarning")
def test_same_answers(f, backend):
    """Also where an operation overflows, the first or the last, and arguments show what was written until then."""
    high, odd = U * 1e154, U.copy()
    odd[[5, 70]] = np.inf, np.nan
    calls = [(U * 1e300, V, 2.0), (high, V, 1e154), (high, high, 1e-10), (U, high, 1e300), (odd, V, 0.5),
             (U, odd, 0.5), (U, V, np.inf), (U, V, 1e308), (U[:70], V[:70], 0.5), (U * 1e-300, V, 1e-200)]
    with np.errstate(all="warn"), fail_unless_captured():
        check(f, U.copy(), V.copy(), 0.125, others=calls, config={"backend": backend, "cache_limit": 16}, calls=2)
    with np.errstate(all="raise"):
        check(f, U.copy(), V.copy(), 0.125, others=calls[:5] + calls[-1:], config={"backend": backend}, calls=1)


def test_shared_memory():
    whole = np.linspace(0.5, 1.0, 130)
    with fail_unless_captured():
        check(reacting, U.copy(), V.copy(), 0.125, aliased=[(whole[:120], whole[5:125], 0.125)], calls=1)
