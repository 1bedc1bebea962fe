"""Operators on arrays: dtypes, layouts, scalars, aliasing, warnings and error states, as NumPy does them."""

import numpy as np
import pytest

from tests.capture.scalars.test_scalars import BINARY, EVERY, agree, define
from tests.harness import check, fail_unless_captured, jitted

DTYPES = ("?", "b", "B", "h", "H", "i", "I", "l", "L", "f", "d")
SHAPE = (3, 4)


def array(code, shape=SHAPE, nan=np.nan):
    """Values of a dtype with edges among them; ``nan`` may be another value in its place."""
    dtype = np.dtype(code)
    size = int(np.prod(shape))
    if dtype.kind == "b":
        values = np.arange(size) % 3 == 0
    elif dtype.kind == "f":
        values = np.resize([0.0, -0.0, 1.5, -2.25, np.inf, nan, 1e30, 7.0, 3.0], size)
    else:
        info = np.iinfo(dtype)
        edges = (0, 1, 2, 3, 7, int(info.max), max(int(info.min), -7))
        values = np.array([edges[k % len(edges)] for k in range(size)], dtype)
    return values.astype(dtype).reshape(shape)


def layouts(code, nan=np.nan):
    """One array of each layout, by name; all of one shape unless the name says so."""
    base = array(code, nan=nan)
    big = array(code, (6, 8), nan)
    readonly = base.copy()
    readonly.flags.writeable = False
    raw = np.zeros(base.nbytes + 1, np.uint8)
    unaligned = raw[1:].view(code).reshape(SHAPE)
    unaligned[...] = base
    return {"c": base, "f": np.asfortranarray(base), "strided": big[::2, ::2], "reversed": base[::-1, ::-1],
            "broadcast": np.broadcast_to(base[0], SHAPE), "read-only": readonly, "unaligned": unaligned,
            "transposed": array(code, SHAPE[::-1], nan).T, "row": base[0], "column": base[:, :1],
            "one": np.ones((1, 1), code), "zero-d": np.array(base[1, 1]), "flat": base.ravel()[:4],
            "empty": base[:0], "cube": array(code, (2, 3, 4), nan), "subclass": base.view(np.matrix),
            "swapped": base.astype(base.dtype.newbyteorder()), "masked": np.ma.masked_array(base, base == 0),
            "half": base.astype(np.float16), "object": base.astype(object), "complex": base.astype(complex)}


NAMES = sorted(layouts("d"))


def one_operator(symbol):
    return define("def f(a, b):\n    return a %s b" % symbol)


@pytest.mark.parametrize("left", DTYPES)
@pytest.mark.parametrize("symbol", BINARY)
def test_dtypes(symbol, left):
    f = one_operator(symbol)
    j = jitted(f, EVERY)
    a = array(left)
    agree(f, j, [(a, array(right)) for right in DTYPES])


SCALARS = (2, -1, 0, 300, 2 ** 40, 2.5, 0.0, 1e300, True, np.float32(1.5), np.float64(2.0), np.int8(3), np.uint8(200),
           np.int64(5), np.uint64(7), np.bool_(True), 1j, np.float16(2), 2 ** 70, None)


@pytest.mark.parametrize("left", DTYPES)
@pytest.mark.parametrize("symbol", BINARY)
def test_scalar_operands(symbol, left):
    f = one_operator(symbol)
    j = jitted(f, EVERY)
    a = array(left)
    # Arrays of objects hold Python's integers, and those of some answers would fill the memory.
    scalars = [s for s in SCALARS if not (symbol in ("**", "<<") and type(s) is int and s > 2 ** 62)]
    agree(f, j, [(a, s) for s in scalars] + [(s, a) for s in scalars])


CONSTANTS = ("2", "-1", "0", "300", "2**40", "2.5", "0.5", "1e300", "True", "0.0", "3")


@pytest.mark.parametrize("left", ("B", "i", "l", "L", "f", "d", "?"))
@pytest.mark.parametrize("symbol", BINARY)
def test_constants(symbol, left):
    a = array(left)
    for constant in CONSTANTS:
        f = define("def f(a):\n    return a %s %s, %s %s a" % (symbol, constant, constant, symbol))
        agree(f, jitted(f, EVERY), [(a,)])


@pytest.mark.parametrize("left", NAMES)
@pytest.mark.parametrize("code", "dlB")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_layouts(left, code):
    """Shapes, strides and flags of results; shape mismatches; types that are not captured."""
    arrays = layouts(code)
    for symbol in ("+", "<"):
        check(one_operator(symbol), arrays[left], arrays["c"], calls=2, config=EVERY,
              others=[(arrays[left], arrays[right]) for right in NAMES])


def two_steps(a, b):
    c = a * b + a
    return c, c - b


@pytest.mark.parametrize("left", ["f", "strided", "reversed", "broadcast", "transposed",
                                  "row", "column", "empty", "cube"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_layouts_in_kernels(left):
    arrays = layouts("d", nan=0.5)  # of two NaN operands NumPy's build decides which one's bits survive
    with fail_unless_captured():
        check(two_steps, arrays[left] * 0.0, arrays["c"], calls=2,
              others=[(arrays[left], arrays["c"]), (arrays[left], arrays["f"]), (arrays["c"], arrays[left])])


def added(a, b):
    c = a
    a += b
    return a, c


@pytest.mark.parametrize("symbol", BINARY[:12])
def test_inplace(symbol):
    f = define("def f(a, b):\n    c = a\n    a %s= b\n    return a, c" % symbol)
    rights = "?BHILfd" if symbol == "**" else DTYPES  # what a power leaves behind that fails midway is arbitrary
    for left in DTYPES:
        a = array(left)
        check(f, a, array("d"), calls=1, config=EVERY,
              others=[(a, array(right)) for right in rights] + [(a, s) for s in (2, 2.5, 300, True, np.int8(3))])


@pytest.mark.parametrize("left", NAMES)
def test_inplace_layouts(left):
    a = layouts("d")
    check(added, a[left], a["c"], calls=2, config=EVERY, others=[(a[left], a[right]) for right in NAMES])


def shifted_update(a, b):
    a[1:] += b
    a *= 2.0
    return a


def overlaps():
    x = np.arange(9.0)
    y = np.arange(12.0).reshape(3, 4)
    return [(x, x[:-1]), (x, x[1:]), (x, x[:0:-1]), (y, y[1:]), (y[::-1], y[:-1]), (x, x[3:4]), (x, 1.0)]


@pytest.mark.parametrize("case", range(len(overlaps())))
def test_aliased_arguments(case):
    with fail_unless_captured():
        check(shifted_update, np.arange(5.0), np.arange(4.0), calls=2, aliased=[overlaps()[case]])


def same_object(x, y):
    x += y
    y *= x
    return x, y, x is y


def test_same_array_twice():
    x = np.arange(7.0)
    check(same_object, np.arange(7.0), np.ones(7), aliased=[(x, x), (x, x[::-1]), (x[1:], x[:-1])])


def warns(a, b):
    c = a + b
    d = c / b
    return d * 2.0


@pytest.mark.parametrize("b", [0.0, 1.0, np.inf, np.nan, 1e-320])
def test_warnings(b):
    a = np.array([1.0, 0.0, -1.0])
    with fail_unless_captured():
        check(warns, a, np.ones(3), others=[(a, a * 0.0 + b), (a * 1e308, np.array([1.0, 1e308, 1e-308]))])


def under_errstate(a, b, how):
    with np.errstate(all=how):
        c = a / b
        d = c * 1e200
        return d * d


@pytest.mark.parametrize("how", ["raise", "ignore", "warn", "print"])
def test_errstate(how):
    for config in (None, EVERY):
        check(under_errstate, np.array([1.0, 0.0, 1e-200]), np.array([0.0, 1.0, 1e200]), how, config=config,
              others=[(np.ones(3), np.ones(3), how), (np.array([1e-310, 1.0]), np.array([1e10, 3.0]), how)])


def caught(a, b):
    try:
        c = a + b
        c = c * a - b
    except ValueError as error:
        return str(error)
    return c


def test_shape_mismatch():
    with fail_unless_captured():
        check(caught, np.ones(3), np.ones(3), others=[(np.ones(3), np.ones(4)), (np.ones((2, 3)), np.ones(3)),
                                                      (np.ones((3, 2)), np.ones(3)), (np.ones(3), np.ones(1)),
                                                      (np.ones(0), np.ones(1)), (np.ones(0), np.ones(3))])


def returned(x):
    return x


def grown(x):
    y = x
    x += 1
    return x is y, x, y


def views(x):
    return x[1:], x[::-1], x.T, x[0], x[None], x[...], x[:, 1:2], x[1:][1:]


def test_identity_and_views():
    x = np.arange(12.0).reshape(3, 4)
    for f in (returned, grown, views):
        for config in (None, EVERY):
            check(f, x, config=config, others=[(x.T,), (x[::2, ::-1],), (x[:, :0],), (x[1:],)])


POWERS = ("2", "2.0", "0.5", "1", "-1", "3", "0", "1.5", "-0.5", "-2", "True")


@pytest.mark.parametrize("code", DTYPES)
def test_powers(code):
    for exponent in POWERS:
        f = define("def f(a):\n    return a ** %s" % exponent)
        agree(f, jitted(f, EVERY), [(array(code),)])
        f = define("def f(a):\n    a **= %s\n    return a" % exponent)
        check(f, array(code), calls=1, config=EVERY)


UFUNCS = sorted(name for name in dir(np) if isinstance(getattr(np, name), np.ufunc))


@pytest.mark.parametrize("name", UFUNCS)
def test_ufuncs(name):
    """Every ufunc of NumPy on every dtype, and with ``out``."""
    ufunc = getattr(np, name)
    operands = ", ".join("abc"[:ufunc.nin])
    f = define("def f(%s):\n    return u(%s)" % (operands, operands), u=ufunc)
    g = define("def f(%s, out):\n    r = u(%s, out=out)\n    return r is out, out" % (operands, operands), u=ufunc)
    j, k = jitted(f, EVERY), jitted(g, EVERY)
    for code in DTYPES:
        arguments = (array(code),) * ufunc.nin
        agree(f, j, [arguments, arguments[:-1] + (2,), arguments[:-1] + (0.5,)])
        agree(g, k, [arguments + (np.zeros(SHAPE),), arguments + (np.zeros(SHAPE, code),)])
