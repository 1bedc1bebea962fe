"""Rows of new arrays that go past the caches: any length, any alignment, the same bits and flags."""

from collections import OrderedDict
from unittest import mock

import numpy as np
import pytest
from kernel_graphs import Builder

from pijit.core.graph.library import CLIP
from pijit.core.graph.types import WORD, Array, numpy_scalar
from pijit.core.kernel import compile
from pijit.core.kernel.llvm.nest import nontemporal


def made(b, kind, function, *args, exit):
    types = "{0}{0}->{0}".format(kind.dtype.char)
    return b.op("ufunc", kind, *args, exit=exit, ufunc=function, types=types, loop=function.types.index(types))


@mock.patch.object(nontemporal, "LEAST", 0)
@mock.patch.object(nontemporal, "LEAST_ROW", nontemporal.LINE)
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


def values(size, code):
    """Numbers of both signs."""
    return np.sin(np.arange(1.0, size + 1) * 3.7).astype(code)


@mock.patch.object(nontemporal, "LEAST", 0)
@mock.patch.object(nontemporal, "LEAST_ROW", nontemporal.LINE)
def built(code, operations, operands=1):
    """A chain of operations; operands are arrays, or numbers, by position."""
    dtype = np.dtype(code)
    kind = Array(dtype, 1, "C")
    b = Builder("chain", *[kind] * operands)
    exit, last = b.exit(1), b.inputs[0]
    for function, types, *others in operations:
        others = [b.inputs[1] if other is None else b.const(dtype.type(other), numpy_scalar(dtype)) for other in others]
        last = b.op("ufunc", kind, last, *others, exit=exit, ufunc=function, types=types.replace("t", code),
                    loop=function.types.index(types.replace("t", code)))
    b.leave(2, last)
    with mock.patch.object(compile, "_compiled", OrderedDict()):
        run = b.run("numba")
    assert "families=(0" in run.kernel.source
    return run


@pytest.mark.parametrize("code", "df")
def test_extremes_of_any_element(code):
    """Minima and clips are looked at: of zeros of two signs, and of NaN, NumPy's loops give what they will."""
    run = built(code, [(np.minimum, "tt->t", None), (CLIP, "ttt->t", -0.5, 0.5)], 2)
    bounds = np.dtype(code).type(-0.5), np.dtype(code).type(0.5)
    for size in range(17, 50):
        x, y = values(size, code), values(size, code)[::-1].copy()
        assert run(x, y)[1].tobytes() == np.minimum(x, y).clip(*bounds).tobytes(), size
    for place in range(49):
        for one, other in ((0.0, -0.0), (-0.0, 0.0), (np.nan, 1.0), (1.0, np.nan)):
            x, y = values(49, code), values(49, code)[::-1].copy()
            x[place], y[place] = one, other
            assert run(x, y)[1].tobytes() == np.minimum(x, y).clip(*bounds).tobytes(), (place, one, other)


@pytest.mark.parametrize("code", "df")
def test_errors_before_an_extreme_are_seen(code):
    run = built(code, [(np.multiply, "tt->t", 4), (np.maximum, "tt->t", None)], 2)
    largest = np.finfo(code).max
    for place in range(49):
        x, y = values(49, code), values(49, code)[::-1].copy()
        assert run(x, y)[0] == 2
        x[place] = -largest
        assert run(x, y)[0] == 1, place


@pytest.mark.parametrize("code", "df")
@pytest.mark.parametrize("function, number", [(np.negative, None), (np.absolute, None), (np.multiply, -1.0)])
def test_signs_of_nan(code, function, number):
    """LLVM would make ``y - x`` of ``-x + y``, and ``x * x`` of ``abs(x * x)``."""
    first = (function, "t->t") if number is None else (function, "tt->t", number)
    run = built(code, [(np.square, "t->t")] * (function is np.absolute) + [first, (np.add, "tt->t", None)], 2)
    x, y = values(49, code), values(49, code)
    x[3::5], x[4::7] = np.nan, -np.nan
    square = np.square(x) if function is np.absolute else x
    wanted = (function(square) if number is None else function(square, square.dtype.type(number))) + y
    assert run(x, y)[1].tobytes() == wanted.tobytes()


@pytest.mark.parametrize("code", "df")
def test_choices_of_any_element(code):
    """A choice by comparisons, with arithmetic that raises no flag where it is not chosen, and one that does."""
    dtype, same = np.dtype(code), "{0}{0}->{0}".format(code)
    b = Builder("chosen", Array(dtype, 1, "C"))
    x, exit, truth = b.inputs[0], b.exit(1), Array(np.dtype(bool), 1, "C")
    with mock.patch.object(nontemporal, "LEAST", 0), mock.patch.object(nontemporal, "LEAST_ROW", nontemporal.LINE):
        number, types = b.const(dtype.type(0.25), numpy_scalar(dtype)), "{0}{0}->?".format(code)
        above = b.op("ufunc", truth, x, number, exit=exit, ufunc=np.greater, types=types,
                     loop=np.greater.types.index(types))
        scaled = made(b, x.type, np.multiply, x, b.const(dtype.type(3), numpy_scalar(dtype)), exit=exit)
        chosen = b.op("where", x.type, above, scaled, number, exit=exit, types="?%s->%s" % (code * 2, code))
        b.leave(2, b.op("ufunc", x.type, chosen, x, exit=exit, ufunc=np.add, types=same, loop=np.add.types.index(same)))
        with mock.patch.object(compile, "_compiled", OrderedDict()):
            run = b.run("numba")
    assert "families=(0" in run.kernel.source
    for size in range(17, 50):
        x = values(size, code)
        wanted = np.where(x > dtype.type(0.25), x * dtype.type(3), dtype.type(0.25)) + x
        assert run(x)[1].tobytes() == wanted.tobytes(), size
    for place in range(49):
        x = values(49, code)
        x[place] = np.finfo(code).max
        assert run(x) == (1,), place


@pytest.mark.parametrize("code", "df")
def test_products_with_truth(code):
    """Truths that are numbers have to be converted, which vectors are not."""
    dtype, same, truth = np.dtype(code), "{0}{0}->{0}".format(code), Array(np.dtype(bool), 1, "C")
    b = Builder("kept", Array(dtype, 1, "C"), Array(dtype, 1, "C"))
    (x, y), exit, types = b.inputs, b.exit(1), "{0}{0}->?".format(code)
    with mock.patch.object(nontemporal, "LEAST", 0), mock.patch.object(nontemporal, "LEAST_ROW", nontemporal.LINE):
        above = b.op("ufunc", truth, x, y, exit=exit, ufunc=np.greater_equal, types=types,
                     loop=np.greater_equal.types.index(types))
        b.leave(2, b.op("ufunc", x.type, above, x, exit=exit, ufunc=np.multiply, types=same,
                        loop=np.multiply.types.index(same)))
        with mock.patch.object(compile, "_compiled", OrderedDict()):
            run = b.run("numba")
    for size in range(17, 50):
        x, y = values(size, code), values(size, code)[::-1].copy()
        assert run(x, y)[1].tobytes() == ((x >= y) * x).tobytes(), size
