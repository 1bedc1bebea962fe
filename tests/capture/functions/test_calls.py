"""Calls that become operations: builtins, math, NumPy's constructors, casts, clip, mean."""


import numpy as np
import pytest

from tests.capture.arrays.test_arrays import DTYPES, array, layouts
from tests.capture.scalars.test_scalars import EVERY, VALUES, agree, cases, define, impossible
from tests.harness import check, fail_unless_captured, jitted, kernel_count

PAIRS = ("min(a, b)", "max(a, b)", "min(a, b, a)", "max(1, a, b)", "divmod(a, b)", "min(a)", "max((a, b))", "round(a, 1)",
         "min(a, b, key=abs)", "math.pow(a, b)", "math.atan2(a, b)", "math.hypot(a, b)", "np.maximum(a, b)",
         "np.power(a, b)", "float(a) ** 2", "float(a) ** -0.5", "int(a) ** 2", "2.0 ** a", "a ** 0", "a ** 3")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("call", PAIRS)
def test_of_two_numbers(call):
    f = define("def f(a, b):\n    return " + call)
    for left, right in (("int", "int"), ("float", "float"), ("int", "float"), ("bool", "int"), ("float64", "float64"),
                        ("int64", "int"), ("float", "float32")):
        pairs = [c for c in cases(VALUES[left], VALUES[right])
                 if not impossible("%", *c) and ("np.power" not in call or "int" not in left + right)]
        agree(f, jitted(f, EVERY), pairs)


def powers(x, y):
    s = 0.0
    for k in range(3):
        s = x ** y + s * 0.5
        s = s + min(x, y) - max(x, s)
    return s


def test_powers_in_a_kernel():
    j = jitted(powers)
    agree(powers, j, list(cases(VALUES["float"], VALUES["float"])))
    random = np.random.RandomState(3)
    agree(powers, j, [tuple(map(float, pair)) for pair in np.exp(random.normal(0.0, 3.0, (200, 2)))])
    assert kernel_count(j)


CONSTRUCTORS = ("float64", "float32", "int64", "int32", "int16", "int8", "uint8", "uint16", "uint32", "uint64", "bool_",
                "float16", "intc", "longlong", "complex128")


@pytest.mark.parametrize("name", CONSTRUCTORS)
def test_scalar_constructors(name):
    f = define("def f(a):\n    return np.%s(a)" % name)
    for kind in sorted(VALUES):
        agree(f, jitted(f, EVERY), [(a,) for a in VALUES[kind]])
    agree(f, jitted(f, EVERY), [("1",), (np.ones(2),), (np.array(1.0),), (1j,), (2 ** 70,)])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("to", DTYPES + ("e", "D", "q"))
def test_astype(to):
    for form in ("x.astype(t)", "x.astype(t).astype(x.dtype)", "x.astype(dtype=t)", "x.astype(t, copy=False)"):
        f = define("def f(x):\n    return " + form, t=np.dtype(to))
        for code in DTYPES:
            agree(f, jitted(f, EVERY), [(array(code),)])
    f = define("def f(x):\n    return x.astype(t)", t=np.dtype(to))
    arrays = layouts("h")
    check(f, arrays["c"], calls=1, config=EVERY, others=[(a,) for a in arrays.values()])


FULL = ("np.full(n, v)", "np.full((n, 2), v)", "np.full(n, v, np.float64)", "np.full(n, v, dtype=np.int64)",
        "np.full(shape=n, fill_value=v)", "np.full((), v)", "np.full(n, v, 'f')", "np.full(n, v, np.uint8)")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("form", FULL)
def test_full_and_fill(form):
    f = define("def f(n, v):\n    x = %s\n    r = x.fill(v)\n    return x, r" % form)
    values = (2, 2.5, True, 300, -1, 2 ** 62 + 1, 2 ** 63, np.float32(1.5), np.int8(3), np.uint64(5), float("nan"), 1j, "a")
    check(f, 3, 1.0, calls=2, config=EVERY, others=[(n, v) for v in values for n in (2, 0)] + [(-1, 1.0), (2.0, 1.0)])


@pytest.mark.parametrize("form", ("x.mean()", "np.mean(x)", "x.mean(0)", "x.mean(axis=-1)", "np.mean(x, axis=0)",
                                  "x.mean(dtype=np.float32)"))
def test_mean(form):
    f = define("def f(x):\n    return " + form)
    random = np.random.RandomState(1)
    many = random.normal(size=(300, 70))
    arrays = [many, many.astype("f"), many[::2, ::3], many.T, many[:0], many[0], np.arange(7), many > 0,
              np.array([1e308, 1e308]), np.array([np.inf, -np.inf]), np.array([3e38, 3e38], "f"), np.array(2.0), np.matrix(many)]
    check(f, many, calls=2, config=EVERY, others=[(a,) for a in arrays])


@pytest.mark.parametrize("form", ("x.sum(axis=1)", "x.max(axis=0)", "np.min(x, axis=-1)", "x.prod(axis=0)", "x.sum(axis=None)"))
def test_methods_with_keywords(form):
    f = define("def f(x):\n    return (x * 2.0 - 1.0).%s" % form[2:] if form[:2] == "x." else
               "def f(x):\n    return np.min(x * 2.0 - 1.0, axis=-1)")
    many = np.random.RandomState(2).normal(size=(30, 7))
    with fail_unless_captured():
        check(f, many, others=[(many[:1],), (many.astype("f"),)])
    check(f, many, others=[(many.T,), (many[::2, ::3],), (many[0],), (np.arange(6).reshape(2, 3),)])


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("form", ("np.clip(x, a, b)", "x.clip(a, b)", "np.clip(x, 0, 2)", "x.clip(-1.0, 1.5)", "np.clip(x, a, 7)",
                                  "np.clip(x, None, 1.0)", "x.clip(0, 300)", "np.clip(x, float('nan'), 1.0)", "x.clip(a)"))
def test_clip(form):
    f = define("def f(x, a, b):\n    return " + form)
    bounds = [(0.0, 2.0), (1, 3), (2, 1), (float("nan"), 1.0), (np.float32(0.5), 2), (None, 2), (-300, 300)]
    for code in ("d", "f", "l", "B", "?"):
        x = array(code)
        check(f, x, 0.5, 1.5, calls=1, config=EVERY,
              others=[(x, a, b) for a, b in bounds] + [(x, x, x + x), (x.T, x.T, 3), (np.asfortranarray(x), 0, 1)])


def all_of_them(x, n):
    y = np.full(n, 2.5)
    y.fill(3.0)
    z = np.clip(x, 0.0, 2.0) + x.astype(np.float32) + y
    w = (x * np.pi).astype(np.float64)
    m = x.mean()
    k = max(n, 3) + min(n, 2, 1)
    q, r = divmod(k, 3)
    return z, w, np.float64(m) + np.float32(0.5), np.int64(k) * q, r, float(m) ** 2.0, bool(r)


def test_kernel():
    x = np.linspace(-1.0, 3.0, 7)
    with fail_unless_captured():
        check(all_of_them, x, 7, others=[(x, 6), (x[::-1], 7), (x[:0], 0), (x * np.nan, 7), (x * 0.0, 7)])


def casts(x):
    y = x.astype(np.int32)
    z = y.astype(np.uint8)
    return y.astype(np.float32) + 1, z, z.astype(np.float64), (y > 2).astype(np.int8) + z


def test_casts_in_a_kernel():
    with fail_unless_captured():
        check(casts, np.arange(-300, 300, 7), others=[(np.arange(-300, 300, 7)[::2],), (np.array([2 ** 40 + 7, -1]),),
                                                      (np.arange(12).reshape(3, 4).T,)])


def test_replaced_builtin():
    namespace = {"max": max}
    f = define("def f(a, b):\n    return max(a, b)", **namespace)
    j = jitted(f, EVERY)
    agree(f, j, [(1, 2), (2.0, 1.0)])
    f.__globals__["max"] = lambda a, b: "mine"
    agree(f, j, [(1, 2), (2.0, 1.0)])


def test_python_calls_stay():
    f = define("def f(x):\n    return math.floor(x), math.isnan(x), math.fabs(x), math.gcd(3, 6), math.pi * x, sum((x, x))")
    agree(f, jitted(f, EVERY), [(1.5,), (2,), (float("nan"),), (np.float64(2.5),)])
