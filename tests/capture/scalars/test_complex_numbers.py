"""Complex numbers of Python and NumPy: every operation's bits, errors and warnings, alone and in loops."""

import cmath
import math

import numpy as np
import pytest

import pijit
from pijit.core.capture.models.scalars import complex as complex_numbers
from tests.capture.scalars.test_scalars import EVERY, agree, cases, define
from tests.harness import check, fail_unless_captured, jitted, kernel_count

PARTS = ((0.0, 0.0), (-0.0, 0.0), (0.0, -0.0), (-0.0, -0.0), (1.0, 0.0), (1.5, -2.25), (-3.0, 0.5), (0.0, 1.0), (2.0, 2.0),
         (1e200, -1e200), (1e-200, 3e-200), (5e-324, 1.0), (math.inf, 0.0), (1.0, -math.inf), (math.nan, 1.0),
         (1e308, 1e308), (0.1, 1e-310))
VALUES = {"complex": [complex(*parts) for parts in PARTS]}
with np.errstate(all="ignore"):
    VALUES.update((kind.__name__, [kind(complex(*parts)) for parts in PARTS]) for kind in (np.complex128, np.complex64))
REALS = {"float": (0.0, -0.0, 1.5, -2.0, 1e200, math.inf, math.nan, 5e-324), "int": (0, 1, -3, 2 ** 53 + 1, 2 ** 63 - 1),
         "bool": (True, False), "float64": np.array([0.0, -0.0, 2.5, -1e200, np.inf]), "float32": np.float32([0.5, -3.0]),
         "int64": (np.int64(3), np.int64(2 ** 62 + 1)), "uint8": (np.uint8(200),)}
OTHERS = dict(VALUES, **REALS)
BINARY = ("+", "-", "*", "/", "**", "==", "!=", "<", "//", "%")
pytestmark = pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")


@pytest.mark.parametrize("kind", sorted(VALUES))
@pytest.mark.parametrize("symbol", BINARY)
def test_binary(symbol, kind):
    """Each pair of types, both ways round, on the Python back end."""
    f = define("def f(a, b):\n    return a %s b" % symbol)
    for other in sorted(OTHERS):
        pairs = list(cases(VALUES[kind], OTHERS[other]))[::2]
        agree(f, jitted(f, EVERY), pairs + [(b, a) for a, b in pairs[::2]])


UNARY = ("-a", "+a", "abs(a)", "not a", "bool(a)", "a.real", "a.imag", "a.conjugate()", "complex(a)", "np.conj(a)",
         "np.abs(a)", "np.real(a)", "np.imag(a)", "np.complex128(a)", "np.complex64(a)", "a if a else 1", "type(a)",
         "isinstance(a, complex)", "float(a)", "int(a)", "round(a)", "~a", "math.sqrt(a)", "np.sqrt(a)", "np.exp(a)",
         "a.real * a.real + a.imag * a.imag", "complex(a.real, a.imag)", "complex(a, 1)", "complex(imag=a.real)", "a.dtype")


@pytest.mark.parametrize("kind", sorted(VALUES))
def test_unary(kind):
    for form in UNARY:
        f = define("def f(a):\n    return " + form)
        agree(f, jitted(f, EVERY), [(a,) for a in VALUES[kind]])


CONSTANTS = ("2", "2.0", "1j", "-1", "0", "(1-0j)", "0.5", "True", "2**60 + 1", "-0.0")
POWERS = ("0", "1", "2", "3", "-1", "-2", "7", "100", "-100", "101", "2.0", "0.5", "(2+0j)", "1j")


@pytest.mark.parametrize("kind", ("complex", "complex128"))
def test_with_constants(kind):
    forms = ["a %s %s" % (symbol, constant) for symbol in BINARY[:4] for constant in CONSTANTS]
    forms += ["%s %s a" % (constant, symbol) for symbol in BINARY[:4] for constant in CONSTANTS[:7]]
    forms += ["a ** %s" % power for power in POWERS] + ["a == 0", "1.5 == a", "a != 2j", "a ** True", "2 ** a"]
    for form in forms:
        f = define("def f(a):\n    return " + form)
        agree(f, jitted(f, EVERY), [(a,) for a in VALUES[kind]])


@pytest.mark.parametrize("kind", sorted(REALS))
def test_parts_of_real_numbers(kind):
    f = define("def f(a):\n    b = (a.real, a.imag, a.conjugate(), complex(a), complex(a, a))\n    return b, a.real is a")
    agree(f, jitted(f, EVERY), [(a,) for a in REALS[kind]])


def chosen(k, a, b):
    if k == 0:
        return a + b
    if k == 1:
        return a - b, b - a
    if k == 2:
        return a * b, b * a
    if k == 3:
        return a / b
    if k == 4:
        return b / a
    if k == 5:
        return a == b, a != b, b == a, bool(a), not a
    if k == 6:
        return -a, +a, a.real, a.imag, a.conjugate()
    if k == 7:
        return abs(a) + 1.0
    if k == 8:
        return a ** 2
    return (a if k == 9 else b) * 1.0


KERNELS = [("complex", other) for other in ("complex", "float", "int", "bool", "complex128", "float64")]
KERNELS += [("complex128", other) for other in ("complex128", "complex", "float", "int64")]
KERNELS += [("complex64", other) for other in ("complex64", "float", "complex128")]


@pytest.mark.parametrize("left, right", KERNELS)
def test_kernels(left, right):
    """All operators of a pair of types in one kernel."""
    j = jitted(chosen)
    agree(chosen, j, [(k, a, b) for a, b in cases(VALUES[left], OTHERS[right]) for k in range(11)])
    assert kernel_count(j)


def powers(z):
    return z ** 2, z ** 3, z ** -1, z ** -2, z ** 7 + z ** 0, z ** 1.0, z ** (2 + 0j)


@fail_unless_captured()
def test_powers():
    """Products and one division, as CPython has them; ZeroDivisionError and OverflowError are bytecode's."""
    j = jitted(powers)
    agree(powers, j, [(a,) for a in VALUES["complex"] + VALUES["complex128"]])


def power_of(z, n, steps):
    for _ in range(steps):
        z = z ** n + 0.25
    return z


def test_a_power_that_changes():
    j = jitted(power_of)
    agree(power_of, j, [(0.5 + 0.25j, n, 5) for n in (2, 3, 2, -1, 200, 4)] + [(3j, 2, 50), (0.5j, 0.5, 5)])


# ---- loops ----


def waves(z, k):
    return cmath.exp(z), cmath.exp(2j * z), cmath.phase(z), cmath.exp(z.real), cmath.phase(-1)


@fail_unless_captured()
def test_functions_written_out():
    """By the C library's functions, within the range in which CPython does the same; all else is bytecode's."""
    j = jitted(waves)
    more = [complex(re, im) for re in (-800.0, -745.0, -0.0, 0.5, 707.9, 708.1, 709.9, 720.0, -math.inf) for im in (0.0, -0.0, 2.5, 1e22)]
    agree(waves, j, [(z, 1) for z in VALUES["complex"] + more] + [(np.complex128(1 - 2j), 1), (np.complex64(1j), 1)])


def escape(c, limit):
    z = 0j
    n = 0
    for n in range(limit):
        if abs(z) > 2.0:
            break
        z = z * z + c
    return z, n


def escape_by_parts(z, c, limit):
    n = 0
    while n < limit and z.real * z.real + z.imag * z.imag <= 4.0:
        z = z * z + c
        n += 1
    return z, n


def rotated(z, steps):
    for k in range(steps):
        z = cmath.exp(1j * k / 8.0) * z + cmath.sqrt(z) / 3.0
        size, angle = cmath.polar(z)
        z = cmath.rect(size / 2.0, angle + cmath.phase(z)) + cmath.log(2.0)
    return z, cmath.isnan(z)


def horner(z, coefficients):
    value = 0
    for coefficient in coefficients:
        value = value * z + coefficient
    return value


def newton(z, steps):
    for k in range(steps):
        z = z - (z * z * z - 1) / (3 * z * z)
        if abs(z - 1) < 1e-12:
            return z, k
    return z, steps


def until_it_overflows(z):
    n = 0
    while n < 50:
        z = z * z
        n += 1
        if abs(z) < 1e-3:
            return n
    return z


def field(out, width, height, limit):
    for y in range(height):
        for x in range(width):
            c = complex(3.0 * x / width - 2.0, 3.0 * y / height - 1.5)
            z = 0j
            n = 0
            while n < limit and abs(z) <= 2.0:
                z = z * z + c
                n += 1
            out[y, x] = n
    return out


NAN, INF = complex(math.nan, 1.0), complex(math.inf, 1.0)
LOOPS = [
    (escape, [(0.3 + 0.5j, 60), (1 + 1j, 60), (-1 + 0j, 9), (-0.5, 9), (1, 9), (np.complex128(0.25j), 9), (NAN, 9), (INF, 9)]),
    (escape_by_parts, [(0j, 0.3 + 0.5j, 40), (0.1j, 1j, 40), (1.0, 0.5, 4), (0j, 2, 9), (np.complex64(0.5j), 0.25, 5)]),
    (rotated, [(1 + 1j, 20), (0j, 3), (1e308j, 3), (INF, 3), (np.complex128(1j), 4), (2.0, 3), (NAN, 2)]),
    (horner, [(0.5 + 1j, [1.0, 2.0, -3.0, 0.5]), (2j, [1, 2, 3]), (1j, [1j, 2j, 3 + 1j] * 20), (1j, (1, 2.0, 3j)), (INF, [1.0])]),
    (newton, [(1 + 1j, 30), (0j, 3), (-1 + 0.5j, 50), (2.0, 20), (1e308j, 4), (NAN, 3)]),
    (until_it_overflows, [(1.5 + 1j,), (0.5j,), (1e200j,), (INF,), (NAN,), (-1j,)]),
    (field, [(np.zeros((6, 8), int), 8, 6, 20), (np.zeros((2, 3), np.uint8), 3, 2, 5), (np.zeros((2, 3)), 3, 2, 300)]),
]


@pytest.mark.parametrize("f, calls", LOOPS, ids=[f.__name__ for f, _ in LOOPS])
def test_loops(f, calls):
    with fail_unless_captured():
        check(f, *calls[0], others=calls[1:])


@pytest.mark.parametrize("f", (escape, escape_by_parts, newton, field))
def test_loops_are_one_kernel(f):
    arguments = dict(LOOPS)[f][0]
    report = pijit.explain(jitted(f, {"force_breaks": None}), *arguments)
    assert not report.breaks and len(report.segments) == 1, report


def sides(z, bound, times):
    n = 0
    for _ in range(times):
        n = n * 16 + (abs(z) < bound) + 2 * (abs(z) <= bound) + 4 * (bound < abs(z)) + 8 * (bound <= abs(z))
    return n


@pytest.mark.parametrize("kind", (complex, np.complex128))
@fail_unless_captured()
def test_sizes_beside_bounds(kind):
    """Sizes are compared by their squares where that is certain: not within some roundings of the bound."""
    j = jitted(sides)
    bounds = (2.0, 0.1, 1e-160, 1e160, 1e-154, 5e-324, 1.7e308, 0.0, -1.0, math.inf, math.nan)
    numbers = [(re * bound * (1 + scale * 2.0 ** -52), im * bound) for re, im in ((0.6, 0.8), (1.0, 0.0), (0.28, -0.96))
               for scale in (0, 1, -1, 2, -3, 2 ** 12, -2 ** 13, 2 ** 40) for bound in bounds[:7]]
    agree(sides, j, [(kind(complex(re, im)), bound, 2) for re, im in numbers for bound in bounds])


# ---- containers and effects ----


class Box:
    def __init__(self, z):
        self.z = z


def kept(z, box, numbers):
    pairs = [(z * k, z.imag) for k in range(3)]
    squares = [w * w for w in numbers]
    box.z = z * 2 + box.z
    numbers.append(z - 1)
    table = {"a": z + 1, "b": abs(z)}
    return pairs, squares, table, sum(squares), sum([z, 1, 2.0]), numbers[0] * 2, box.z, (z, -z), z in (1, 2j)


@fail_unless_captured()
def test_in_containers():
    def arguments(kind):
        return kind(1.5 - 2j), Box(kind(1j)), [kind(k - 1j) for k in range(3)]
    check(kept, *arguments(complex), others=[arguments(np.complex128), arguments(complex), (2.0, Box(1), [1.0, 2.0])])


def long_list(numbers, z):
    total = 0j
    for number in numbers:
        total += number * z
    return total, [number.conjugate() for number in numbers]


@fail_unless_captured()
def test_long_lists():
    numbers = [complex(k, -k) for k in range(40)]
    check(long_list, numbers, 0.5j, others=[(numbers[:30] + [1.0] + numbers, 2j), ([np.complex64(1j)] * 40, 1j)])


def helper(z, scale=2 + 1j):
    return z * scale, abs(z)


def inlined(z, n):
    total = 0.0
    for _ in range(n):
        z, size = helper(z / 3)
        total += size
    return z, total


@fail_unless_captured()
def test_inlined_callees():
    check(inlined, 1 + 1j, 20, others=[(np.complex128(2j), 5), (1.0, 3)])


def test_fused_products_are_not_captured(monkeypatch):
    """Where CPython was compiled to fused multiplications, kernels would round in another way."""
    monkeypatch.setitem(complex_numbers.ROUNDS_EACH, np.dtype(complex), {"py": False, "np": True})
    j = jitted(escape, {"force_breaks": None})
    assert j(0.3 + 0.5j, 60) == escape(0.3 + 0.5j, 60)
    assert "fused" in str(pijit.explain(j, 0.3 + 0.5j, 60))
