"""Rows of new arrays that are written with what is beside them, also past the caches."""

import contextlib
import itertools
from collections import OrderedDict
from unittest import mock

import numpy as np
import pytest

from pijit.core.kernel import compile
from pijit.core.kernel.emit.stores import deferred_fill
from pijit.core.kernel.llvm.nest import nontemporal, row_ends
from pijit.core.kernel.options import LEAST
from tests.harness import fail_unless_captured, jitted

NUMBA = {"backend": "numba", "force_breaks": None, "parallel": False, "cache": False, "cache_limit": 64}


@contextlib.contextmanager
def limits(past, shortest=64, longest=40):
    """Whether all results go past the caches, with rows from so many bytes on, and ends up to so many."""
    with contextlib.ExitStack() as stack:
        for module in (row_ends, deferred_fill):
            for name, value in (("SHORTEST", shortest), ("LONGEST", longest)):
                stack.enter_context(mock.patch.object(module, name, value))
        for module, name, value in ((nontemporal, "LEAST", 0 if past else 1 << 40),):
            stack.enter_context(mock.patch.object(module, name, value))
        stack.enter_context(mock.patch.object(compile, "_compiled", OrderedDict()))
        yield


def kinds(function):
    """What the nests of a function write beside their rows."""
    sources = "".join(kernel.source for entry in function.state.entries for kernel in entry.record.kernels)
    return {kind for kind in (row_ends.NUMBER, row_ends.COPY, row_ends.ANYTHING) if "ends='%s'" % kind in sources}


def agree(function, f, *args):
    wanted, got = f(*args), function(*args)
    assert (wanted.dtype, wanted.shape, wanted.strides) == (got.dtype, got.shape, got.strides)
    assert wanted.tobytes() == got.tobytes()


def values(shape, code):
    numbers = np.sin(np.arange(1.0, 1 + np.prod(shape)) * 1.7).reshape(shape) * 50
    return (numbers > 0 if code == "?" else numbers).astype(code)


def in_zeros(u, c):
    new = np.zeros_like(u)
    new[..., 1:-1, 1:-1] = u[..., 1:-1, 1:-1] + c * (u[..., 1:-1, 2:] + u[..., 1:-1, :-2] + u[..., 2:, 1:-1])
    return new


def in_a_copy(u, c):
    new = u.copy()
    new[..., 1:-1, 2:] = u[..., 2:, :-2] * c + u[..., :-2, 1:-1]
    return new


def in_a_number(u, c):
    new = np.full(u.shape, c)
    new[..., :-1] = u[..., 1:] * c + c
    return new


def anywhere(u, c):
    new = np.empty_like(u)
    new[..., 1:-2] = u[..., 3:] * c + u[..., :-3]
    new[..., 0] = c
    new[..., -1] = new[..., -2] = c
    return new


def quotients(u, c):
    new = np.ones_like(u)
    new[..., 2:-2] = (u[..., 4:] - u[..., :-4]) / c
    return new


def sizes(u, c):
    new = np.zeros_like(u)
    new[..., 1:-1] = np.abs(u[..., 2:] - c) * -u[..., 1:-1]
    return new


def broadcast(u, c):
    new = np.zeros_like(u)
    new[..., 1:] = u[..., :1] * c + u[..., 1:]
    return new


CASES = [(in_zeros, row_ends.NUMBER), (in_a_copy, row_ends.COPY), (in_a_number, row_ends.NUMBER),
         (anywhere, row_ends.ANYTHING), (quotients, row_ends.NUMBER), (sizes, row_ends.NUMBER),
         (broadcast, row_ends.NUMBER)]
SHAPES = [(3, 3), (4, 5), (5, 16), (3, 17), (7, 33), (4, 90), (3, 4, 5), (4, 3, 24), (3, 5, 19),
          (2, 3, 4, 21), (5, 4, 300)]


@pytest.mark.parametrize("past", [False, True])
@pytest.mark.parametrize("code", "dfi")
@pytest.mark.parametrize("f, kind", CASES)
def test_same_answers(f, kind, code, past):
    if f is quotients and code == "i":
        pytest.skip("quotients are floats")
    c = np.dtype(code).type(3)
    with limits(past), fail_unless_captured():
        function = jitted(f, NUMBA)
        for shape in SHAPES:
            u = values(shape, code)
            for _ in range(2):
                agree(function, f, u, c)
        for shape in ((3, 2), (2, 4), (0, 5), (5, 0), (2, 0, 3)):
            u = values(shape, code)
            try:
                f(u, c)
            except (IndexError, ValueError):
                continue
            agree(function, f, u, c)
    assert kinds(function) == ({kind} if code in "df" else set())


@pytest.mark.parametrize("past", [False, True])
def test_other_operands(past):
    """Columns, steps, other orders, memory at any address."""
    buffer = np.zeros(8 * 900 + 64, np.uint8)
    with limits(past), fail_unless_captured():
        for f, _ in CASES[:3]:
            function = jitted(f, NUMBA)
            u = values((18, 50), "d")
            for v in (u, u.T, u[:, ::2], u[::-1], u[:, ::-1], u[:1].repeat(4, 0), np.broadcast_to(u[:, :1], u.shape)):
                agree(function, f, v, 0.25)
            for offset in (0, 1, 8, 20, 33):
                v = buffer[offset:offset + 7200].view("d").reshape(18, 50)
                v[...] = u
                agree(function, f, v, 0.25)


def part_of(u, a, b, c, d):
    new = np.full(u.shape, -1.0)
    new[a:b, c:d] = u[a:b, c:d] * 2.0 + 1.0
    return new


@pytest.mark.parametrize("past", [False, True])
@pytest.mark.parametrize("longest", [0, 16, 1 << 10])
def test_boxes_anywhere(past, longest):
    """Ends of any length: those too long for the buffer are written in place."""
    u = values((4, 40), "d")
    with limits(past, longest=longest), fail_unless_captured():
        function = jitted(part_of, NUMBA)
        for a, b, c, d in itertools.product((0, 1, 9), (3, -1, 9, 0), (0, 1, 7, 25, -1, 50), (0, 2, -1, -9, 99)):
            agree(function, part_of, u, a, b, c, d)
    assert kinds(function) == {row_ends.NUMBER}


@pytest.mark.parametrize("shortest", [37 * 8, 38 * 8, 39 * 8])
def test_limits(shortest):
    u = values((9, 40), "d")
    with limits(True, shortest), fail_unless_captured():
        agree(jitted(in_zeros, NUMBA), in_zeros, u, 0.5)
    with limits(True, longest=shortest - 38 * 8 + 8), fail_unless_captured():
        agree(jitted(in_zeros, NUMBA), in_zeros, u, 0.5)
    with limits(True), mock.patch.object(nontemporal, "LEAST", 7 * 38 * 8 + shortest - 38 * 8), fail_unless_captured():
        agree(jitted(in_zeros, NUMBA), in_zeros, u, 0.5)


def reported(f, *args):
    with np.errstate(all="raise"):
        try:
            return f(*args).tobytes()
        except FloatingPointError as error:
            return str(error)


@pytest.mark.parametrize("past", [False, True])
@pytest.mark.parametrize("f", [in_zeros, in_a_copy, quotients])
def test_errors_of_any_element(f, past):
    u = values((5, 40), "d")
    with limits(past), fail_unless_captured():
        function = jitted(f, NUMBA)
        agree(function, f, u, 0.5)
        for place in itertools.product((0, 2, 3), (0, 1, 2, 20, 37, 38, 39)):
            odd = u.copy()
            odd[place] = 1e308
            with np.errstate(all="ignore"):
                agree(function, f, odd, 1e300 if f is not quotients else 1e-300)
            assert reported(function, odd, 1e300) == reported(f, odd, 1e300), place


def kept(u, c):
    new = np.zeros_like(u)
    try:
        new[1:-1, 1:-1] = u[1:-1, 1:-1] * c + u[2:, 2:]
    except FloatingPointError:
        return new, 1
    return new, 2


@pytest.mark.parametrize("past", [False, True])
def test_what_an_error_leaves(past):
    u = values((5, 40), "d")
    with limits(past), fail_unless_captured(), np.errstate(all="raise"):
        function = jitted(kept, NUMBA)
        for scale in (1.0, 1e308, 1.0):
            wanted, got = kept(u, scale), function(u, scale)
            assert wanted[1] == got[1] and wanted[0].tobytes() == got[0].tobytes()


@pytest.mark.parametrize("past", [False, True])
@pytest.mark.parametrize("code", "df")
def test_threads(past, code):
    """Each has rows of its own."""
    c = np.dtype(code).type(0.5)
    with limits(past), mock.patch.dict(LEAST, {True: 1}), fail_unless_captured():
        for f, kind in CASES[:4]:
            function = jitted(f, dict(NUMBA, parallel=True))
            for shape in ((301, 37), (64, 9, 21), (3, 4, 300), (1, 50)):
                for _ in range(2):
                    if f not in (in_zeros, in_a_copy) or shape[-2] > 2:
                        agree(function, f, values(shape, code), c)
            assert kinds(function) == {kind}


def in_steps(u, n):
    for _ in range(n):
        new = np.zeros_like(u)
        new[1:-1, 1:-1] = 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2])
        u = new
    return u


@pytest.mark.parametrize("past", [False, True])
def test_loops(past):
    with limits(past), fail_unless_captured():
        function = jitted(in_steps, NUMBA)
        for shape in ((20, 37), (9, 100)):
            agree(function, in_steps, values(shape, "d"), 7)


def test_large_results():
    """With the limits as they are."""
    with fail_unless_captured():
        for shape, code in (((70, 160, 190), "d"), ((1300, 1700), "d"), ((45000, 100), "f"), ((64, 260, 262), "i")):
            function, u = jitted(in_zeros, NUMBA), values(shape, code)
            agree(function, in_zeros, u, u.dtype.type(2))
            assert kinds(function) == ({row_ends.NUMBER} if code in "df" else set())
