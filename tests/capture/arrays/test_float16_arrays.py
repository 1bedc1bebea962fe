"""Arrays of float16: NumPy's bits, flags and warnings, for all numbers and for special pairs."""

import warnings

import numpy as np
import pytest

from tests.capture.arrays.indexing.test_gathers import NUMBA
from tests.capture.scalars.test_scalars import define
from tests.harness import check, fail_unless_captured, jitted

ALL = np.arange(65536, dtype=np.uint16).view("e")
QUIET = ALL[~((ALL.view("H") & 0x7e00 == 0x7c00) & np.isnan(ALL))]
SPECIAL = np.array([0, 1, 2, 3, 0x3ff, 0x400, 0x401, 0x7ff, 0x800, 0x1400, 0x2000, 0x3555, 0x3bff, 0x3c00, 0x3c01,
                    0x4248, 0x5bff, 0x6bcd, 0x77ff, 0x7800, 0x7bfe, 0x7bff, 0x7c00, 0x7e00, 0x7e01, 0x7fff], "H")
SPECIAL = np.concatenate([SPECIAL, SPECIAL | 0x8000]).astype("H").view("e")
LEFT, RIGHT = (grid.ravel().copy() for grid in np.meshgrid(SPECIAL, SPECIAL))
ONE_NAN = ~(np.isnan(LEFT) & np.isnan(RIGHT))
LEFT, RIGHT = LEFT[ONE_NAN], RIGHT[ONE_NAN]
TAME = np.linspace(-3.0, 3.0, 1000).astype("e").reshape(20, 50)


def bits(f, *args):
    """What a function gives or raises, and the warnings."""
    args = [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = f(*args)
        except Exception as error:
            result = error
    found = [str(result)] if isinstance(result, Exception) else [
        (np.asarray(one).dtype, np.asarray(one).strides, np.asarray(one).tobytes())
        for one in (result if isinstance(result, tuple) else (result,))]
    return found, [str(arg.tobytes()) for arg in args if isinstance(arg, np.ndarray)], [str(w.message) for w in caught]


def agree(text, *calls, **config):
    """Compare a jitted function with the plain one, for several tuples of arguments, in two states of errors."""
    f = define("def f(%s):\n    %s" % (", ".join("abcd"[:len(calls[0])]), text))
    j = jitted(f, dict(config, cache_limit=64))
    for args in calls:
        for state in ({"all": "ignore"}, {}, {"all": "warn"}, {"all": "raise"}, {"under": "raise"}, {"over": "warn"}):
            with np.errstate(**state):
                wanted = bits(f, *args)
                for _ in range(2):
                    assert bits(j, *args) == wanted, (text, state)


UNARY = ("-a", "abs(a)", "a * a", "np.sqrt(a)", "np.square(a)", "np.reciprocal(a)", "np.sign(a)", "np.isnan(a)",
         "np.isinf(a)", "np.isfinite(a)", "a + a", "-a * a - a", "a.copy()", "a[::-1] + np.float16(1.5)", "np.maximum(a, -a)",
         "a.astype('f')", "a.astype('d') + 1.0", "a == a, a != a, a < -a, a >= a", "np.where(a < 0, -a, a)",
         "np.where(a * a > 2, a, -a)", "a * np.float16(0.3)", "a / np.float16(3.0)", "np.float16(-1.0) * a + a",
         "a[a < 0]", "a ** 2, a ** 0.5", "a > 0.5", "np.floor(a), np.rint(a)", "a * 2.5 + 1")


@pytest.mark.parametrize("text", UNARY)
def test_all_numbers(text):
    with fail_unless_captured(1):
        agree("return " + text, (QUIET,), (ALL[:31744],), (QUIET[::2],), (QUIET[:60000].reshape(300, 200).T,))


@pytest.mark.parametrize("symbol", "+ - * / < <= == != > >=".split())
def test_special_pairs(symbol):
    with fail_unless_captured(1):
        agree("return a %s b" % symbol, (LEFT, RIGHT), (LEFT[::3], RIGHT[::3]), (LEFT[:1000].reshape(10, 100), RIGHT[:100]))


@pytest.mark.parametrize("name", "minimum maximum fmin fmax copysign remainder floor_divide power arctan2".split())
def test_functions_of_special_pairs(name):
    with fail_unless_captured(1):
        agree("return np.%s(a, b)" % name, (LEFT, RIGHT), (LEFT[::3], RIGHT[::3]))


@pytest.mark.parametrize("name", "exp log sin cos tanh expm1 log1p cbrt arctan rint ceil exp2 log2".split())
def test_library_loops(name):
    with fail_unless_captured(1):
        agree("return np.%s(a)" % name, (QUIET,), (QUIET[::3],), (TAME,))


RANDOM = np.random.RandomState(0).randint(0, 65536, (3, 20000)).astype("H").view("e")
RANDOM[np.isnan(RANDOM)] = 1.0


@pytest.mark.parametrize("text", ("a * b + c", "(a - b) * (a + c) / b", "a / b - c", "a * b * c - a",
                                  "np.maximum(a * b, c)", "np.where(a < b, a * b, c)", "(a * b < c), a + b"))
def test_fused_arithmetic(text):
    with fail_unless_captured(1):
        agree("return " + text, tuple(RANDOM), tuple(RANDOM[:, ::2]), tuple(RANDOM.reshape(3, 200, 100)),
              tuple(np.float16(0.01) * RANDOM), (TAME, TAME[0], TAME[:, :1]))


@pytest.mark.parametrize("text", ("a += b", "a *= b", "a[1:] = a[:-1] * b[1:]", "a[...] = b - a", "a[b < 0] = 0.5",
                                  "a[b < 0] *= 2", "a[b < 0] = 1 / b[b < 0]", "np.multiply(a, b, out=a)", "a[3] = b[4]",
                                  "a.fill(2.5)", "a[:] = 7", "a /= 3", "a -= 0.5", "a[::2] = b[1::2]"))
def test_stores(text):
    with fail_unless_captured(1):
        agree(text + "\n    return a", tuple(RANDOM[:2]), (TAME.ravel(), TAME.ravel()[::-1]), (TAME.ravel(), RANDOM[0, :1000]))


def test_types_mix():
    half = TAME.ravel()
    for code in "?bBhHiIlLfdD":
        other = (np.arange(1000) % 50).astype(code)
        with fail_unless_captured(1):
            agree("return a + b, b * a, a.astype(b.dtype)" if code != "D" else "return a + b, b * a", (half, other))
            if code != "D":
                agree("a[...] = b\n    return a", (half, other))
            if code in "fd":
                agree("b[...] = a\n    return b", (half, other))


LARGE = np.array([1.0, 2049.0, 65519.0, 65520.0, 1e6, -7e4, 6e-5, 6.1e-5, 3e-8, 1e-9, np.nan, np.inf, 1 + 2 ** -11,
                  1 + 2 ** -11 + 2 ** -30, 0.1])


@pytest.mark.parametrize("code", "fd")
def test_casts(code):
    for numbers in (LARGE[[0, 1, -3, -2, -1]], LARGE, LARGE[[0, 6]], np.random.RandomState(1).randn(5000)):
        with fail_unless_captured(1):
            agree("return a.astype('e')", (numbers.astype(code),))
            agree("b[...] = a\n    return b", (numbers.astype(code), np.zeros(len(numbers), "e")))
            agree("b[0] = a[3]\n    return b", (numbers.astype(code), np.zeros(len(numbers), "e")))


def test_constructors():
    with fail_unless_captured(1):
        agree("return np.zeros(a, 'e'), np.ones((a, 2), np.float16), np.full(a, 2.5, 'float16')",
              (4,), (7,))
        agree("return np.zeros_like(a), np.ones_like(a), np.full_like(a, 0.1), np.concatenate([a, a])", (TAME,))


@pytest.mark.parametrize("text", (
    "a.sum(), a.sum(axis=0), a.sum(axis=-1), a.max(), a.min(axis=0), a.prod(axis=0)", "a.mean(), a.mean(axis=1)",
    "a.var(), a.std(axis=0)", "np.cumsum(a[0]), a.argmax(), (a > 0).sum(), (a * a).sum()", "a @ a.T, a[0] @ a[1]",
    "np.dot(a[0], a[1]), np.dot(a, a.T), a @ a[0], np.inner(a[0], a[1]), np.dot(a[0, :1], a[1, :1])",
    "np.sort(a), a.clip(-1, 1), np.clip(a, -0.5, 2.0)", "a.T.sum(axis=0), a[:, ::2].sum(), a.sum(axis=1, keepdims=True)"))
def test_reductions_and_products(text):
    with fail_unless_captured(1):
        agree("return " + text, (TAME,), (np.float16(1000) * TAME,), (RANDOM[0].reshape(100, 200),))


def test_elements():
    f = """s = a[0]
    for i in range(len(a)):
        s = s + a[i] * b[i]
        a[i] = s - b[i] / a[i]
    return s, a"""
    with fail_unless_captured(1):
        agree(f, (TAME.ravel()[:400], TAME.ravel()[:400]), (RANDOM[0, :300], RANDOM[1, :300]))


def test_check():
    def f(a, b):
        c = a * b + a
        c[1:] += a[:-1]
        return c, np.maximum(c, b), c.sum()

    with fail_unless_captured(1):
        check(f, TAME, TAME[::-1].copy(), config=NUMBA)
        check(f, TAME, TAME[::-1].copy())


@pytest.mark.parametrize("shape", ((1, 1, 1), (2, 0, 3), (1, 7, 1), (4, 9, 16), (5, 40, 17), (33, 12, 2), (1, 64, 50), (50, 64, 1)))
def test_products_of_matrices(shape):
    m, n, p = shape
    numbers = np.random.RandomState(sum(shape)).randn(m * n + n * p)
    for scale in (1.0, 1e-4, 3e-5, 300.0, 2e4, np.inf, np.nan):
        tame = numbers.copy()
        tame[::max(7, len(tame) // 5)] *= scale
        tame = tame.astype("e") if np.isinf(scale) or np.isnan(scale) else (numbers * scale).clip(-6e4, 6e4).astype("e")
        left, right = tame[:m * n].reshape(m, n), tame[m * n:].reshape(n, p)
        with fail_unless_captured(1):
            agree("return a @ b", (left, right), (np.asfortranarray(left), right), (left, np.asfortranarray(right)))
            agree("return np.dot(a, b), a.dot(b)", (left, right), (left[:, ::-1], right[::-1]))
            agree("return a @ b, np.dot(a, b)", (left[0], right), (left[0, ::-1], right))
            agree("return a @ b, np.dot(a, b)", (left, right[:, 0] if p else right))


@pytest.mark.parametrize("size", (1, 7, 8, 9, 100, 129, 1000, 8191, 8200, 20011, 300000))
def test_sums(size):
    numbers = np.random.RandomState(size).randn(size).astype("e")
    for scale in (1.0, 1e-3, 6e4):
        with np.errstate(over="ignore"):
            scaled = numbers * np.float16(scale)
        with fail_unless_captured(1):
            agree("return a.sum(), np.add.reduce(a), (a * a).sum()", (scaled,), (np.repeat(scaled, 2)[::2],))
    marked = numbers.copy()
    marked[size // 2] = np.nan
    agree("return a.sum()", (marked,))


@pytest.mark.parametrize("shape", ((3, 5), (20, 8), (40, 33), (200, 64), (9, 1000), (4, 5, 6), (30, 9, 17)))
def test_sums_along_axes(shape):
    numbers = np.random.RandomState(0).randn(*shape).astype("e")
    marked = numbers.copy()
    marked.ravel()[len(marked) // 2] = np.nan
    for axis in range(len(shape)):
        with fail_unless_captured(1):
            agree("return a.sum(axis=%d), a.sum(axis=%d, keepdims=True), a.max(axis=%d)" % ((axis,) * 3), (numbers,),
                  (marked,), (numbers[::-1].copy(),))
    agree("return a.T.sum(axis=0), a[::2].sum(axis=-1), a.sum()", (numbers,), (marked,))


@pytest.mark.parametrize("code", "efd")
@pytest.mark.parametrize("call", ("x.mean(axis=0, out=y)", "np.mean(x, 0, None, y)", "np.var(x, axis=0, out=y)",
                                  "x.sum(axis=0, out=y)"))
def test_outputs_of_sums(call, code):
    """An output of float16 rounds the sum from which a mean is computed."""
    x = np.random.RandomState(3).uniform(-1.0, 4.0, (77, 9)).astype("e")
    check(define("def f(x, y):\n    return %s\n" % call), x, np.zeros(9, code),
          others=[(x * np.float16(0.3), np.ones(9, code))])


@pytest.mark.parametrize("first", (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 6e-8))
def test_extremes(first):
    text = "return a.max(), a.min(), np.maximum.reduce(a), b.max(axis=0), b.min(axis=0), b.max(axis=1), b.min(axis=-1)"
    random = np.random.RandomState(4)
    for others in ([-0.0, 0.0], [-1.0, -0.0, 0.0], [1.0, 0.0, -0.0, np.inf], [-np.inf, np.nan, 2.0], list(range(-40, 0))):
        for size in (1, 5, 16, 90, 400):
            numbers = random.choice(others, size * 6).astype("e")
            numbers[0] = first
            with fail_unless_captured(1):
                agree(text, (numbers, numbers.reshape(6, size)), (numbers[::2], numbers.reshape(size, 6)),
                      (numbers[::-1], numbers[::-1].reshape(6, size)))


@pytest.mark.parametrize("text", (
    "return [v + 1 for v in a]", "return sum(v for v in a), max(a), list(a), [r.sum() for r in a.reshape(10, -1)]",
    "return a[np.array([3, 1, -1])] * 2, np.take(a, [1, 2]), a[::-1][5], a[a > 0.5].sum()",
    "return np.roll(a, 3) - a, np.diff(a), np.stack([a, a]), np.hstack([a, a[:3]]), np.tile(a, 2)",
    "np.add.at(a, np.array([1, 1, 2]), np.float16(2))\n    a[np.array([4, 5])] = a[:2]\n    return a",
    "return np.array([a[0], a[1]]), np.array([[a[0], a[1]], [a[2], a[3]]]), a.tolist(), float(a[3]), a.item(2)",
    "return np.outer(a[:9], a[:5]), a[:, None] - a[None, :20], np.linalg.norm(a.astype('f')), a.reshape(20, -1).T",
    "for k in range(3):\n        a[k:] += a[k] * a[k:]\n        a /= 1 + abs(a).max()\n    return a",
    "b = a.astype('f')\n    b += a\n    a += b\n    b[...] = a * 2\n    return a, b, (b * a).astype('e'), a.view('H')",
    "return a.real, np.clip(a, -0.5, 0.5), np.nan_to_num(a), np.abs(a) ** 3, np.minimum(a, 0) + np.maximum(a, 0)",
    "m = a.mean()\n    return (a - m) / a.std(), m, np.isfinite(a).all(), (a == 0).any(), np.count_nonzero(a > 0)"))
def test_other_uses(text):
    with fail_unless_captured(1):
        agree(text, (TAME.ravel()[:400].copy(),), (TAME.ravel()[::4],), (RANDOM[0, :60].copy(),))
