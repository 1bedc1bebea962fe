"""Operators that write an array in place: floating-point flags are reported when all is written, as NumPy does it."""

import warnings

import numpy as np
import pytest

from tests.harness import assert_nothing_breaks, fail_unless_captured, jitted


def scaled(u, a, b):
    u *= a
    u += b
    u[1:] -= u[:-1]
    return u


def test_items_stay_in_the_kernel():
    """Where a slice waits on the stack, the kernel cannot leave to behind the operator."""
    assert_nothing_breaks(scaled, *arguments(9, "nothing"))


def in_try(u, a, b):
    told = []
    for k in range(3):
        try:
            u /= a
            u *= b
        except FloatingPointError as error:
            told.append(str(error))
        except RuntimeWarning as error:
            told.append((k, str(error)))
        u += 1.0
    return u, told


def spread(u, a, b):
    v = u
    for k in range(4):
        v *= (
            a
        )
        v += a * b
        if k == 2:
            v = v[::-1]
    return v


def arguments(size, kind):
    u, a, b = np.linspace(1, 2, size), np.full(size, 0.5), np.linspace(-1, 1, size)
    if kind == "overflow":
        u[3], a[3] = 1e308, 100.0
    if kind == "invalid":
        b[2], u[2] = -np.inf, np.inf
    if kind == "several":
        u[0], a[0], a[1], u[2], a[2], b[4] = 0.0, 0.0, 0.0, 1e-308, 1e-10, np.inf
    return [u, a, b]


def outcome(call, args, state, action):
    """The result or exception with its line, what was told, and the arrays afterwards."""
    with warnings.catch_warnings(record=True) as told, np.errstate(**state):
        warnings.simplefilter(action)
        try:
            result = call(*args)
        except (FloatingPointError, RuntimeWarning) as error:
            trace = error.__traceback__
            while trace.tb_next is not None:
                trace = trace.tb_next
            result = type(error), str(error), trace.tb_lineno
    kept = [x.tobytes() for x in args]
    return kept, repr(result), [(str(one.message), one.lineno, one.filename) for one in told]


@pytest.mark.parametrize("backend", ("numba", "python"))
@pytest.mark.parametrize("f", (scaled, in_try, spread))
@fail_unless_captured()
def test_what_is_told(f, backend):
    j = jitted(f, {"backend": backend})
    outcome(j, arguments(9, "nothing"), {}, "always")
    for state in ({}, {"all": "raise"}, {"all": "warn"}, {"all": "ignore"}, {"over": "raise", "invalid": "ignore"}):
        for action in ("always", "error", "default"):
            for kind in ("nothing", "overflow", "invalid", "several"):
                found = outcome(j, arguments(9, kind), state, action)
                assert found == outcome(f, arguments(9, kind), state, action), (state, action, kind)


@fail_unless_captured()
def test_a_function_that_is_called_for_errors():
    heard = []
    j = jitted(scaled, {"backend": "numba"})
    before = np.seterrcall(lambda *what: heard.append(what))
    try:
        for call in (scaled, j, j):
            with np.errstate(all="call"):
                call(*arguments(9, "several"))
    finally:
        np.seterrcall(before)
    assert heard and heard == heard[:len(heard) // 3] * 3


def once(u, a):
    u *= a
    return u


@fail_unless_captured()
def test_a_place_is_told_of_once():
    j = jitted(once, {"backend": "numba"})
    counts = []
    for call in (once, j):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("default")
            for _ in range(3):
                call(*arguments(9, "overflow")[:2])
        counts.append(len(told))
        globals().pop("__warningregistry__", None)
    assert counts == [1, 1]


def shares(u, k):
    u[k:] *= u[:len(u) - k]
    u[::2] += u[1::2]
    u *= u
    return u


@fail_unless_captured()
def test_operands_that_share_memory():
    j = jitted(shares, {"backend": "numba"})
    for k in (0, 1, 5):
        for big in (1.0, 1e200):
            x = np.linspace(1.0, 2.0, 200) * big
            wanted = outcome(shares, [x.copy(), np.int64(k)], {}, "always")
            assert outcome(j, [x.copy(), np.int64(k)], {}, "always") == wanted
