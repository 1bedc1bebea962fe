"""Rows of new arrays that go past the caches: any length, any alignment, the same bits and flags."""

from collections import OrderedDict
from unittest import mock

import numpy as np
import pytest
from kernel_graphs import Builder
from pijit.core.graph.types import Array, WORD, numpy_scalar
from pijit.core.kernel import compile, streams


def made(b, kind, function, *args, exit):
    types = "{0}{0}->{0}".format(kind.dtype.char)
    return b.op("ufunc", kind, *args, exit=exit, ufunc=function, types=types, loop=function.types.index(types))


@mock.patch.object(streams, "LEAST", 0)
@mock.patch.object(streams, "LEAST_ROW", streams.LINE)
def smoothed(code, ndim):
    """x[a:-2] * 3 + x[b:] of a few rows, and a new array that is filled but for its ends."""
    kind, exit = Array(np.dtype(code), ndim, "C"), None
    b = Builder("smoothed", kind, WORD, WORD, WORD, WORD)
    x, exit = b.inputs[0], b.exit(1)
    index = ("e",) * (ndim - 1) + ("svv-",)
    parts = [b.op("view", Array(np.dtype(code), ndim, "A" if ndim > 1 else "C"), x, *b.inputs[k:k + 2], exit=exit,
                  index=index) for k in (1, 3)]
    part = parts[0].type
    three = b.const(np.dtype(code).type(3), numpy_scalar(np.dtype(code)))
    product = made(b, part, np.multiply, parts[0], three, exit=exit)
    total = made(b, part, np.add, product, parts[1], exit=exit)
    new = b.op("alloc", kind, *[b.op("dim", WORD, x, axis=k) for k in range(ndim)], exit=exit, fill=7, order="C")
    target = b.op("view", part, new, *b.inputs[1:3], exit=exit, index=index)
    difference = made(b, part, np.subtract, parts[1], parts[0], exit=exit)
    b.op("assign", None, target, made(b, part, np.multiply, difference, three, exit=exit), exit=exit)
    b.leave(2, total, new)
    with mock.patch.object(compile, "_compiled", OrderedDict()):
        run = b.run("numba")
    assert run.kernel.source.count("families=(0, 0)") == 2
    return run


@pytest.mark.parametrize("code", "df")
@pytest.mark.parametrize("ndim", [1, 2])
def test_all_lengths_and_places(code, ndim):
    run = smoothed(code, ndim)
    for width in range(2, 75):
        x = np.sin(np.arange(3.0 * width)).reshape(3, width).astype(code)
        x = x if ndim == 2 else x[1].copy()
        for first in (0, 1):
            last, size = first + 1, width - 2
            number, total, new = run(x, first, first + size, last, last + size)
            left, right = x[..., first:first + size], x[..., last:last + size]
            wanted = np.full_like(x, 7)
            wanted[..., first:first + size] = (right - left) * x.dtype.type(3)
            assert number == 2 and new.tobytes() == wanted.tobytes(), (width, first)
            assert total.tobytes() == (left * x.dtype.type(3) + right).tobytes(), (width, first)


def test_flags_of_any_element():
    run = smoothed("d", 1)
    for place in range(1, 40):
        x = np.ones(42)
        x[place] = 1e308
        assert run(x, 0, 40, 1, 41)[0] == 1, place
