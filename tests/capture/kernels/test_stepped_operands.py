"""Elements that lie apart in memory - every second one, channels of colours, the other way round - in loops of the
kernel's own: the bits, layouts and reports are those of NumPy's loops."""

import numpy as np
import pytest

from tests.capture.arrays.indexing.test_gathers import NUMBA
from tests.capture.scalars.test_scalars import define
from tests.harness import check, fail_unless_captured

SPECIAL = (0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, 1e308)


def numbers(count, code="d", special=False):
    x = np.sin(np.arange(1.0, count + 1.0) * 3.0)
    if special:
        x[::3] = np.resize(SPECIAL, len(x[::3]))
    with np.errstate(all="ignore"):
        return x.astype(code)


VECTORS = ("x[::2] + x[1::2]", "x[::-1] * 0.5", "x[::3] * x[1::3] + x[2::3]", "abs(x[::4]) * c + x.size",
           "x[:n][::2] * x[:n][1::2] + x[:n][::2]", "x[-2::-2] - x[::-2]", "np.where(x[::2] > c, x[1::2], -x[::2])",
           "x[::n] * c - x[::n]", "np.minimum(x[::-1], x) + c", "abs(x[8:2:-1]) - x[2:8]")


@pytest.mark.parametrize("expression", VECTORS)
@pytest.mark.filterwarnings("always::RuntimeWarning")
def test_vectors(expression):
    """Of lengths around those of vectors, without elements, of other strides, of numbers that raise flags."""
    f = define("def f(x, c, n):\n    return %s" % expression)
    big = numbers(4000, special=True)
    calls = [(numbers(1200), 0.3, 10), (numbers(60), 2.0, 4), (big[:1200], 0.3, 10), (big[1:3601:3], 0.3, 2),
             (big[1200:0:-1], 0.5, 6), (numbers(0), 0.3, 2), (numbers(10), 1e308, 10),
             (numbers(1200, "f"), np.float32(3), 8), (np.resize(big, (1200, 2))[:, 1], 0.5, 4),
             (numbers(1200) * 1e308, 1e5, 4), (numbers(1), 0.5, 1)]
    with fail_unless_captured(1):
        check(f, *calls[0], others=calls[1:], config=NUMBA, calls=1)


SUMS = ("(x[::2] * x[1::2]).sum()", "(x[::3] * x[1::3] - x[2::3]).sum()", "(x[::4] * c).sum()", "(x[::-1] * c).sum()",
        "(x[::-1] * x).sum()", "(x[:-1] * x[:-1]).sum()", "(x[1:] - x[:-1]).mean()", "np.dot(x[::2], x[1::2])",
        "(x[1:] * x[:-1]).sum(), ((x[1:] - x[:-1]) * c).sum()", "((x[::2] - x[1::2]) ** 2).sum(), (x[::2] * c).sum()",
        "(x.reshape(-1, 12)[:, ::2] * x.reshape(-1, 12)[:, 1::2]).sum(axis=1)", "abs(x[::-1] * c).max()",
        "(-x[::-1]).sum()", "np.sqrt(abs(x[::-1])).sum()", "(x[::-1] + x[::-1] > c).any()",
        "(x[::-1] + x[::-1] > c).sum(), (abs(x[::-1]) + c).mean()", "np.where(x[::-1] > c, -x[::-1], x).sum()")


@pytest.mark.parametrize("code", "df")
@pytest.mark.parametrize("expression", SUMS)
@pytest.mark.filterwarnings("always::RuntimeWarning")
def test_sums(expression, code):
    """Of products whose elements lie apart: all of an array, and parts of it, of few elements and many."""
    f = define("def f(x, c):\n    return %s" % expression)
    c, big = np.dtype(code).type(0.5), numbers(12000, code)
    calls = [(numbers(1200, code), c), (big[::2], c), (big[1::3], c), (big[::4], c), (big[::-1], c), (big[:24], c),
             (big[:48:2], c), (big, c), (numbers(1200, code, special=True), c)]
    with fail_unless_captured(1):
        check(f, *calls[0], others=calls[1:], config=NUMBA, calls=1)


CHANNELS = ("0.299 * x[..., 0] + 0.587 * x[..., 1] + 0.114 * x[..., 2]", "x[..., 0] - x[..., 2] * c",
            "x[:, ::2, 0] + x[:, ::2, 1] * x[:, 1::2, 2]", "x[::-1, ::-1, 1] + x[..., 0]", "x[..., ::-1] * c + x",
            "x[..., 0] * x[0, :, 1] + x[:, :1, 2]", "x[:, ::2] - x[:, 1::2] + x[:, :1]")


@pytest.mark.parametrize("expression", CHANNELS)
@pytest.mark.filterwarnings("always::RuntimeWarning")
def test_channels(expression):
    """Of images: contiguous and parts of others, in either order, with more channels, without rows, of bytes."""
    f = define("def f(x, c):\n    return %s" % expression)
    image = numbers(24 * 10 * 3).reshape(24, 10, 3)
    odd = numbers(24 * 10 * 3, special=True).reshape(24, 10, 3)
    pixels = (np.arange(24 * 10 * 3) * 37 % 256).astype(np.uint8).reshape(24, 10, 3)
    calls = [(image, 0.5), (odd, 0.5), (odd[1:, 2:], 0.5), (np.asfortranarray(image), 0.5),
             (image.transpose(1, 0, 2), 0.5), (numbers(24 * 10 * 4).reshape(24, 10, 4), 0.5), (image[:0], 0.5),
             (image[::-1, :, ::-1], 0.5), (image[:1, :2], 0.5), (image * 1e308, 1e308), (pixels, 0.5),
             (pixels[..., ::-1], 0.5), (image.astype(np.float32), 0.5),
             (numbers(2400 * 3).reshape(2, 1200, 3), 0.5)]
    with fail_unless_captured(1):
        check(f, *calls[0], others=calls[1:], config=NUMBA, calls=1)


STORES = ("r[::2] = a + b; r[1::2] = a - b", "r[::2] = r[1::2] * c + r[::2]", "r[::-1] = r * c",
          "r[2::2] = r[:-2:2] + b[1:] * c", "r[:-2:2] = r[2::2] * c; r[::2] -= r[::2] * b", "r[::2] = r[::-2] + a",
          "r[1::2] *= c; np.add(r[::2], a, out=r[1::2])")


@pytest.mark.parametrize("statement", STORES)
@pytest.mark.filterwarnings("always::RuntimeWarning")
def test_stores(statement):
    """In place, by blocks and by way of the buffer; operands that are the written array, or parts of it."""
    f = define("def f(r, a, b, c):\n    %s\n    return r, a" % statement)
    r, a, b = numbers(20000), numbers(10000) + 2.0, numbers(10000)
    strange = numbers(20000, special=True)
    calls = [(r, a, b, 0.5), (r[:160], a[:80], b[:80], 0.5), (r[:16], a[:8], b[:8], 3.0), (strange, a, b, 0.5),
             (r, a, b, 1e308), (r, a, strange[::2], 0.5), (np.repeat(r, 2)[::2], a, b, 0.5),
             (r[::-1], a[::-1], b, 0.5), (r, a - 5.0, b, np.inf), (r.astype("f"), a, b, 0.5), (r, a[:1], b, 0.5)]
    both = numbers(30000)
    aliased = [(both[:20000], both[3:10003], both[1:10001], 0.5),
               (both[:20000], both[:20000:2], both[1:20001:2], 0.5)]
    with fail_unless_captured(1):
        check(f, *calls[0], others=calls[1:], aliased=aliased, config=NUMBA, calls=1)


@pytest.mark.filterwarnings("always::RuntimeWarning")
def test_rows_that_are_one_run():
    """Axes that lie one behind the other are gone through at once, others are not."""
    def f(x, y, c):
        return x * c + y, (x > y).sum(), (x[:, 1:] - y[:, :-1]) * c, abs(x[1:]) + c

    x, y = numbers(12000).reshape(4000, 3), numbers(24000, special=True).reshape(4000, 6)
    calls = [(x, y[:, :3], 0.5), (x, x, 0.5), (x, y[:, ::2], 0.5), (x, x[:, :1], 0.5), (x, x[:1], 0.5),
             (x[::2], x[::2], 0.5), (np.asfortranarray(x), x, 0.5), (x[::-1], x, 0.5), (x[:, ::-1], x[:, ::-1], 0.5),
             (x[:1], y[:1, :3], 0.5),
             (x, np.broadcast_to(0.5, x.shape), 0.5)]
    with fail_unless_captured(1):
        check(f, *calls[0], others=calls[1:], config=NUMBA, calls=1)


@pytest.mark.parametrize("expression", ["x[::-1] / np.minimum(x, x)", "x[::-1] // 3 + x[::-1]", "np.arctan2(x[::-1], x)",
                                        "np.hypot(y[::-1], x[::-1]) + y", "x[::-1].astype('f8') * y[::-1]"])
def test_integers_that_are_converted(expression):
    """Reversed rows whose elements become floats first, one by one."""
    f = define("def f(x, y):\n    return %s" % expression)
    x, y = np.arange(1, 200) * 7 % 60 + 1, numbers(199)
    with fail_unless_captured(1):
        check(f, x, y, others=[(x[:5], y[:5]), (x[::2], y[::2]), (x.astype("i4"), y), (x[::-1], y)], config=NUMBA, calls=1)
