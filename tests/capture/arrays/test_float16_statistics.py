"""Arrays of float16: means, variances, running sums, bounds and conversions to integers, with NumPy's bits and warnings."""

import numpy as np
import pytest

import pijit
from pijit.core.graph.library import CLIP_WARNS
from tests.capture.arrays.test_float16_arrays import ALL, QUIET, RANDOM, SPECIAL, TAME, agree
from tests.capture.scalars.test_scalars import define
from tests.harness import check, fail_unless_captured, jitted


def numbers(shape, seed=0):
    return np.random.RandomState(seed).uniform(-3.0, 4.0, shape).astype("e")


def calls_of_numpy(text, array, folder):
    """The lines of a function's graphs that call functions of NumPy."""
    j = jitted(define("def f(a):\n    return %s\n" % text))
    with np.errstate(all="ignore"):
        j(array)
    pijit.dump(j, str(folder))
    graph, = folder.glob("**/graph.txt")
    return [line for line in graph.read_text().splitlines() if "invoke" in line]


SHAPES = ((200, 300), (3, 5), (1000, 3), (3, 9000), (2, 20001), (1, 1), (40, 1), (1, 40), (33, 4100), (0, 4), (4, 0))
CALLS = ("a.{0}(), a.{0}(axis=0), a.{0}(axis=-1), np.{0}(a, axis=1, keepdims=True), a.{0}(keepdims=True)",
         "a[:, ::2].{0}(), a[::2].{0}(axis=1), a.T.{0}(axis=0), a.T.{0}(1), a[::-1, 1:].{0}(axis=0)")


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", ("mean", "var", "std"))
def test_statistics(name, shape):
    a = numbers(shape)
    for text in CALLS:
        with fail_unless_captured(1):
            agree("return " + text.format(name), (TAME,), (a,), (a * np.float16(0.01),), (-a[::-1].copy(),))


@pytest.mark.parametrize("shape", ((4, 5, 6), (3, 300, 40), (2, 3000, 7)), ids=str)
@pytest.mark.parametrize("name", ("mean", "var"))
def test_statistics_along_several_axes(name, shape):
    text = "return " + ", ".join("a.%s(axis=%s)" % (name, axis) for axis in (None, 0, 1, 2, (0, 2), (1, 2), (0, 1)))
    with fail_unless_captured(1):
        agree(text, (numbers(shape),), (numbers(shape, 1) * np.float16(1e-3),))


@pytest.mark.parametrize("special", (np.nan, -np.nan, np.inf, -0.0, 6e-8, 65504.0))
@pytest.mark.parametrize("name", ("mean", "std"))
def test_statistics_of_special_numbers(name, special):
    a = numbers((40, 50))
    a[3, 4] = a[7] = special
    a[39, 49] = -special
    with fail_unless_captured(1):
        agree("return a.{0}(), a.{0}(axis=0), a.{0}(axis=1)".format(name), (a,), (np.full((4, 4), special, "e"),),
              (RANDOM[0, :600].reshape(20, 30),), (TAME[:3],))


def test_float32_sums():
    with fail_unless_captured(1):
        agree("return a.mean(dtype='f'), a.mean(axis=0, dtype=np.float32), a.sum(dtype='f'), "
              "np.sum(a, axis=1, dtype=np.float32, keepdims=True), a.sum(axis=(0, 1), dtype='f')", (TAME,), (TAME[:0],))
        agree("return a.var(dtype='f'), a.std(axis=0, dtype='f'), np.var(a, axis=1, dtype='f', ddof=1)", (TAME,),
              (numbers((3, 9000)),), (TAME[:0],))
        agree("return a.sum(dtype='d'), a.mean(dtype='e'), a.prod(dtype='f'), a.sum(dtype=None), a.sum(dtype='i8')", (TAME,))


def test_degrees_of_freedom():
    with fail_unless_captured(1):
        agree("return a.var(ddof=1), a.std(axis=0, ddof=5), np.var(a, axis=1, ddof=2)", (TAME,), (TAME[:5],), (TAME[:2],))


@pytest.mark.parametrize("call", ("x.mean(axis=0, out=y)", "np.std(x, 0, None, y)", "x.clip(-1, 1, out=z)",
                                  "np.cumsum(x, axis=1, out=z)", "x.mean(axis=0, dtype='f')", "x.cumsum(dtype='f')",
                                  "np.clip(x, x[0], 2)", "np.clip(x, np.float32(0.1), None)"))
def test_other_arguments(call):
    x = numbers((77, 9))
    f = define("def f(x, y, z):\n    return %s, y, z\n" % call)
    check(f, x, np.zeros(9, "e"), np.zeros_like(x), others=[(x * np.float16(0.3), np.ones(9, "e"), np.ones_like(x))])


@pytest.mark.parametrize("size", (1, 2, 3, 20, 300, 5000))
def test_scans(size):
    a = numbers(size)
    with fail_unless_captured(1):
        agree("return np.cumsum(a), a.cumprod(), a[::-1].cumsum(), np.cumprod(a * np.float16(0.4))", (a,),
              (a * np.float16(0.01),), (np.repeat(a, 2)[::2],), (RANDOM[0, :size],), (-a * np.float16(1e-3),))


def test_scans_of_rows():
    with fail_unless_captured(1):
        agree("return np.cumsum(a, axis=1), a.cumprod(-1), a[:, ::2].cumsum(axis=1)", (TAME,), (TAME[:0],), (TAME[:, :0].copy(),),
              (RANDOM[0, :600].reshape(20, 30),))


@pytest.mark.parametrize("given", (
    [1, np.nan, 2], [np.nan, 1], [1, np.nan, np.nan], [1, np.nan, -np.nan], [np.inf, 1, -np.inf, 3, np.nan], [np.inf, 0, 5],
    [-0.0, -0.0], [-0.0], [6e4, 6e4, -np.inf, 1], [1e-4, 1e-3, 0.5, 0.5], [0.3, 2e-5, 0.7, 0.9]), ids=str)
def test_scans_of_special_numbers(given):
    signalling = np.array([0x3c00, 0x7c01, 0x3c00], "H").view("e")
    with fail_unless_captured(1):
        agree("return a.cumsum(), a.cumprod()", (np.array(given, "e"),), (signalling,), (signalling[1:],), (signalling[1:2],))


def test_bounds():
    random = np.random.RandomState(0)
    a = np.concatenate([ALL, SPECIAL])
    low, high = (SPECIAL[random.randint(len(SPECIAL), size=len(a))] for _ in range(2))
    with fail_unless_captured(1):
        agree("return np.clip(a, b, c)", (a, low, high), (a[::3], low[::3], high[::3]),
              (a[:6000].reshape(60, 100), low[:100], high[:60].reshape(60, 1)))
        agree("return a.clip(-1, 1), np.clip(a, -0.5, 2.0), a.clip(-0.0, 0.0), a.clip(None, 2), a.clip(1.5, None)", (ALL,),
              (ALL[::3],))
    if not CLIP_WARNS:
        with fail_unless_captured(1):
            agree("return a.clip(b, 2), a.clip(b, c)", (ALL, np.float16(0.3), np.float32(2.1)))


@pytest.mark.parametrize("code", "bBhHiIlLqQ")
def test_conversions_to_integers(code):
    with fail_unless_captured(1):
        agree("return a.astype('{0}'), (a * b + a).astype('{0}'), np.clip(a, 0, 100).astype('{0}')".format(code), (TAME, TAME),
              (TAME * np.float16(9), TAME), (QUIET, QUIET[::-1].copy()), (np.array([-1, -0.5, 0, 3, 127, -128], "e"), TAME[0, :1]),
              (np.array([65504, np.inf], "e"), TAME[0, :1]), (np.array([np.nan], "e"), TAME[0, :1]))


@pytest.mark.parametrize("text", ("a.mean(), a.mean(axis=(0, 1)), a[:, ::2].mean(dtype='f')", "a.cumsum(axis=1), a.cumprod(axis=1)",
                                  "a.clip(-1, 1), np.clip(a, 0, None)"))
def test_operations(text, tmp_path):
    assert not calls_of_numpy(text, TAME, tmp_path)
