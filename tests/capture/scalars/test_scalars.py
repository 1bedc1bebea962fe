"""Operators on scalars: every pair of types, edge values, Python's and NumPy's answers, warnings and errors."""

import math
import struct
import warnings

import numpy as np
import pytest

from tests.harness import jitted, kernel_count

INTS = (0, 1, -1, 2, 3, 7, -7, 63, 64, 255, 2 ** 31, 2 ** 62, 2 ** 63 - 1, -2 ** 63)
FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -7.25, 1e308, -1e308, 5e-324, 2.0 ** 53, 2.0 ** 63, 3.5e38, 1e-46,
          math.inf, -math.inf, math.nan)
NUMPY = ("?", "b", "B", "h", "H", "i", "I", "l", "L", "f", "d")


def _of_dtype(code):
    dtype = np.dtype(code)
    if dtype.kind == "b":
        return [np.True_, np.False_]
    if dtype.kind == "f":
        with np.errstate(all="ignore"):
            return [dtype.type(value) for value in FLOATS]
    low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    values = [v for v in INTS if low <= v <= high] + [low, high]
    return [dtype.type(v) for v in values]


VALUES = {"int": INTS, "float": FLOATS, "bool": (True, False)}
VALUES.update((np.dtype(code).name, _of_dtype(code)) for code in NUMPY)

COMMON = ("int", "float", "bool", "uint8", "int64", "uint64", "float32", "float64")
BINARY = ("+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<<", ">>", "<", "<=", "==", "!=", ">", ">=")
UNARY = ("-%s", "+%s", "~%s", "abs(%s)", "not %s", "float(%s)", "int(%s)", "bool(%s)", "round(%s)",
         "math.sqrt(%s)", "math.log(%s)", "math.exp(%s)", "math.floor(%s)")


def define(source, name="f", **names):
    """The function `name` that the source defines."""
    namespace = dict({"np": np, "math": math}, **names)
    exec(compile(source, "<%s>" % source, "exec"), namespace)
    return namespace[name]


def outcome(f, *args):
    """The type and bits of what a call returns or raises, and its warnings."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            answer = bits(f(*args))
        except Exception as error:
            answer = (type(error), str(error))
    return answer, [(w.category, str(w.message), w.lineno) for w in seen]


def bits(value):
    """A value that is equal only for the same type and bits."""
    if isinstance(value, tuple):
        return tuple(map(bits, value))
    if type(value) in (float, complex):
        return (type(value), struct.pack("dd", value.real, value.imag))
    if isinstance(value, np.ndarray) and value.dtype == object:
        return (type(value), value.shape) + tuple(map(bits, value.ravel().tolist()))
    if isinstance(value, (np.generic, np.ndarray)):
        return (type(value), value.dtype, value.tobytes())
    return (type(value), value)


EVERY = {"backend": "python", "force_breaks": "every", "cache_limit": 64}


def cases(left, right):
    """Each value of one side with some of the other, and all edges."""
    for i, a in enumerate(left):
        for k, b in enumerate(right):
            if (i + k) % 5 == 0 or i == 0 or k == 0 or i == len(left) - 1 or k == len(right) - 1:
                yield a, b


def agree(f, j, arguments):
    """Both give the same for every tuple of arguments, twice."""
    for args in arguments:
        expected = outcome(f, *args)
        assert outcome(j, *args) == expected, args
        assert outcome(j, *args) == expected, args


def impossible(symbol, a, b):
    """Whether the answer would fill the memory, or NumPy dies of it: np.int64(-2**63) % -1 before 1.23."""
    if symbol in "//%" and np.lib.NumpyVersion(np.__version__) < "1.23.0":
        return isinstance(a, (int, np.integer)) and a in (-2 ** 31, -2 ** 63) and b == -1
    return symbol in ("**", "<<") and type(a) in (int, bool) and type(b) in (int, bool) and b > 1000


@pytest.mark.parametrize("left", sorted(VALUES))
@pytest.mark.parametrize("symbol", BINARY)
def test_binary(symbol, left):
    f = define("def f(a, b):\n    return a %s b" % symbol)
    for right in sorted(set(COMMON) | {left}):
        arguments = [c for c in cases(VALUES[left], VALUES[right]) if not impossible(symbol, *c)]
        agree(f, jitted(f, EVERY), arguments)


CONSTANTS = ("0", "1", "2", "-1", "3", "255", "256", "2**62", "2**63 - 1", "0.5", "2.0", "-0.0", "1e300", "True")


@pytest.mark.parametrize("symbol", BINARY)
@pytest.mark.parametrize("kind", ("int", "float", "uint8", "int64", "float32", "float64", "uint64"))
def test_with_constants(symbol, kind):
    for constant in CONSTANTS:
        for form in ("a %s %s", "%s %s a"):
            parts = ((symbol, constant) if form[0] == "a" else (constant, symbol))
            f = define("def f(a):\n    return " + form % parts)
            arguments = [(a,) for a in VALUES[kind]
                         if not impossible(symbol, a, eval(constant)) and not impossible(symbol, eval(constant), a)]
            agree(f, jitted(f, EVERY), arguments)


@pytest.mark.parametrize("kind", sorted(VALUES))
@pytest.mark.parametrize("form", UNARY)
def test_unary(form, kind):
    f = define("def f(a):\n    return " + form % "a")
    agree(f, jitted(f, EVERY), [(a,) for a in VALUES[kind]])


@pytest.mark.parametrize("kind", sorted(VALUES))
@pytest.mark.parametrize("symbol", BINARY[:12])
def test_inplace(symbol, kind):
    f = define("def f(a, b):\n    c = a\n    a %s= b\n    return a, c" % symbol)
    arguments = [c for c in cases(VALUES[kind], VALUES[kind]) if not impossible(symbol, *c)]
    agree(f, jitted(f, EVERY), arguments)


def chosen(k, a, b):
    if k == 0:
        return a + b
    if k == 1:
        return a - b
    if k == 2:
        return a * b
    if k == 3:
        return a / b
    if k == 4:
        return a // b
    if k == 5:
        return a % b
    if k == 6:
        return a < b, a <= b, a == b, a != b, a > b, a >= b
    if k == 7:
        return -a
    if k == 8:
        return abs(a) + b
    if k == 9:
        return a and b
    if k == 10:
        return a or b
    if k == 11:
        return not a
    if k == 12:
        return float(a)
    if k == 13:
        return int(a)
    if k == 14:
        return math.sqrt(a) + math.exp(b)
    return a if a < b else b


def chosen_bits(k, a, b):
    if k == 0:
        return a & b
    if k == 1:
        return a | b
    if k == 2:
        return a ^ b
    if k == 3:
        return a << b
    if k == 4:
        return a >> b
    if k == 5:
        return ~a
    return a // b + a % b


PAIRS = [("int", "int"), ("float", "float"), ("int", "float"), ("float", "bool"), ("float64", "float64"),
         ("float32", "float32"), ("int64", "int64"), ("uint8", "uint8"), ("uint64", "uint64"), ("float64", "int")]


@pytest.mark.parametrize("left, right", PAIRS)
def test_kernels(left, right):
    """All operators of a pair of types in one kernel."""
    j = jitted(chosen)
    agree(chosen, j, [(k, a, b) for a, b in cases(VALUES[left], VALUES[right]) for k in range(16)
                      if not (k == 5 and impossible("%", a, b))])
    assert kernel_count(j)


@pytest.mark.parametrize("kind", ("int", "bool", "int64", "int8", "uint16", "uint64"))
def test_kernels_on_bits(kind):
    j = jitted(chosen_bits)
    agree(chosen_bits, j, [(k, a, b) for a, b in cases(VALUES[kind], VALUES[kind])
                           for k in range(7)
                           if not (k == 3 and impossible("<<", a, b) or k == 6 and impossible("%", a, b))])
    assert kernel_count(j)
