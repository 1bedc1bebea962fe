"""Complex arrays and their elements: NumPy's bits, whatever its loops fuse, views of parts, and warnings."""

import numpy as np
import pytest

from tests.capture.scalars.test_complex_numbers import PARTS
from tests.capture.scalars.test_scalars import agree, define
from tests.harness import check, fail_unless_captured, jitted, kernel_count

CODES = ("D", "F")


def complex_array(code, *shape):
    size = int(np.prod(shape))
    values = np.resize([complex(*parts) for parts in PARTS[:9]], size) * (1.0 + np.arange(size) / 8.0)
    return values.astype(code).reshape(shape)


EXPRESSIONS = ("x + y", "x - 2", "x * y", "x * 1j", "x / (y + 3)", "-x", "abs(x)", "np.abs(x) * 2.0", "np.conj(x) * y", "x ** 2",
               "x ** 3", "np.exp(x)", "np.sqrt(x)", "np.square(x)", "x == y", "x.real + x.imag", "x.conj() + 1", "x.T * 2.0",
               "x.sum()", "x.sum(axis=0)", "np.sum(x * y)", "np.prod(x + 1, axis=1)", "x.mean()", "x * np.complex64(2j)",
               "np.maximum(x, y)", "x.real.copy()", "x[0] * y[1, :2].sum()", "np.angle(x)", "np.zeros(3, complex) + x[0, :3]",
               "np.full(3, 1j) * 2", "np.ones_like(x) + x", "x.astype(np.complex128) + 1", "np.vdot(x, y)", "x @ y.T",
               "np.fft.fft(x)", "np.fft.ifft2(x) + 1", "np.where(x == y, x, 0)", "1j * x.real", "np.float64(2) * x", "x.imag[1:]",
               "np.linalg.norm(x)", "np.cumsum(x)", "np.sort(x)", "x.real.sum() + x.imag.max()", "np.real(x) - np.imag(y)")


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_expressions(expression):
    f = define("def f(x, y):\n    z = x * 2 + y\n    return %s, z - x" % expression)
    j = jitted(f, {"backend": "python"})
    x, y = complex_array("D", 3, 4), complex_array("D", 3, 4)[::-1] + 1
    agree(f, j, [(x, y), (x.astype("F"), y.astype("F")), (np.asfortranarray(x), y), (x[:, :0], y[:, :0]), (x.real, y),
                 (x.astype("F"), y)])
    assert kernel_count(j)


def many(x, y, z):
    a = x * y + z
    b = (x - 1j) / (y + 2)
    c = abs(x) + x.real * y.imag
    return a, b, c, np.conj(a), x == y, a.sum(), b.sum(axis=0), x.T.imag, np.exp(1j * c)


@pytest.mark.parametrize("code", CODES)
@fail_unless_captured()
def test_arrays(code):
    """NumPy's own loops, whose products may be fused where those of scalars are not."""
    x, y = complex_array(code, 7, 9), complex_array(code, 7, 9) * (1 - 0.5j)
    with np.errstate(over="ignore"):
        large = x * np.float32(1e38)
    check(many, x, y, 2 - 1j, others=[(y, x, 1j), (x[:0], y[:0], 2j), (large, y, 1j)])
    check(many, x.T, y[::-1, ::-1].T, 1j, config={"backend": "python"}, others=[(x, y.real, 0.5), (x, y, 0.5)])


def products(x, y, t, k):
    if k == 0:
        return x * np.conj(y), 2j * np.conj(y), np.complex128(0.5 + 1j) * (x + y)
    if k == 1:
        held = np.conj(y)
        return x * held, np.conj(x) * np.conj(y), np.conj(x) * y, (x * y) * np.conj(x)
    if k == 2:
        return x[::-1] * np.conj(y), x * (y + 1)[::-1], x[:1] * np.conj(y), x.real * np.conj(y), t * np.conj(y)
    return (x * y if k == 3 else x * np.conj(x)) * y, x * np.fft.fft(y), abs(x * np.conj(y)) ** 2, x * np.array(y)


@pytest.mark.parametrize("backend", ("numba", "python"))
@fail_unless_captured()
def test_products_with_large_temporaries(backend):
    """NumPy multiplies into a temporary from 256 KiB on; where it is the right operand it comes first, which bits show."""
    random = np.random.RandomState(3)
    x, y = (random.standard_normal(16384) + 1j * random.standard_normal(16384) for _ in range(2))
    j = jitted(products, {"backend": backend})
    for size in (16383, 16384):
        agree(products, j, [(x[:size].copy(), y[:size].copy(), x[:size].astype("F"), k) for k in range(5)])
    agree(products, j, [(x.reshape(128, 128), y.reshape(128, 128), x.reshape(128, 128).astype("F"), k) for k in range(3)])


def elements(x, y, out):
    total = 0j
    for i in range(len(x)):
        z = x[i] * y[i] - x[i].conjugate() / 2.0
        z += out[i]
        out[i] = z
        total += z
        if abs(z) > 1e3:
            break
        out[i] /= 2
    out[0] = 3
    out[-1] = 2.5
    out[1:3] = 1j
    out[2:] = x[2:].real
    return total, z.real, z.imag, abs(z)


@pytest.mark.parametrize("code", CODES)
@fail_unless_captured()
def test_elements(code):
    x, y = complex_array(code, 20), complex_array(code, 20)[::-1]

    def out():
        return np.zeros(20, code)
    check(elements, x, y, out(), others=[(x * 100, y, out()), (x[:4], y, out()), (x, np.where(y == 0, np.nan, y), out())])
    check(elements, x.real, y, out(), config={"backend": "python"}, others=[(x, y, np.zeros(20)), (x, y, x), (x, x, y)])


def parts(x):
    re, im = x.real, x.imag
    re[0] = 7.0
    im += re
    re *= 2.0
    x[1:].imag[...] = 0.5
    return re, im, x.real.base is x, re[1:], x.real


@pytest.mark.parametrize("code", CODES)
@fail_unless_captured()
def test_parts_are_views(code):
    x = complex_array(code, 4, 5)
    check(parts, x, others=[(x[::2, ::-1],), (x[:0],)])
    check(parts, x.T, config={"backend": "python"}, others=[(complex_array(code, 6),), (complex_array(code, 1, 1),)])


def stored_parts(x, y):
    x.real *= 2
    x.imag += y.real
    x[1:].real = 3
    y.imag = x.real
    y.real = y.imag[::-1]
    z = x.real
    z -= 0.5
    x.real = z
    return x, y


@pytest.mark.parametrize("code", CODES)
@fail_unless_captured()
def test_parts_are_stored(code):
    x = complex_array(code, 6)
    config = {"backend": "python"} if code == "F" else None
    check(stored_parts, x, x[::-1].copy(), config=config, others=[(complex_array(code, 3, 4),) * 2, (x, x * 1j), (x.real, x)],
          aliased=[(x, x), (x[1:], x[:-1])])


def dropped(x, z, out):
    w = x * 2
    out[:] = w
    return out


def converted(x, dtype):
    w = x * 2
    return w.astype(float), w


def stored(x, z):
    x[0] = z
    return x * 2


def test_dropping_imaginary_parts_warns():
    """At the caller's line, so no kernel does it."""
    x = complex_array("D", 4)
    for f, arguments in ((dropped, (x, 1j, np.zeros(4))), (converted, (x, 1)), (stored, (np.zeros(4), np.complex128(1j))),
                         (stored, (np.zeros(4), 1j))):
        check(f, *arguments)


def power_of_parts(x, y):
    return np.sqrt((x * x.conj()).real * (y * y.conj()).real) / (1.5 + abs(x))


@pytest.mark.parametrize("code", CODES)
def test_parts_of_arrays_of_unknown_lengths_are_read_by_vectors(code):
    """The lengths of x and y may differ, so either may be broadcast; elsewhere parts have a stride of two elements."""
    x, y = complex_array(code, 67), complex_array(code, 67)[::-1] * 0.5
    few = [(x[:n], y[:n]) for n in (0, 1, 2, 9, 33)] + [(x[:1], y), (x, y[:1]), (x[::2], y[:34]), (x, y[:3])]
    with fail_unless_captured():
        check(power_of_parts, x, y, others=few, config={"backend": "numba"})
        check(power_of_parts, np.resize(x, (5, 7)), np.resize(y, (5, 7)), config={"backend": "numba"},
              others=[(np.resize(x, (5, 7)), np.resize(y, (5, 1))), (np.resize(x, (1, 7)), np.resize(y, (5, 7)))])
    j = jitted(power_of_parts, {"backend": "numba", "force_breaks": None})
    j(x, y)
    assert "lasts='bb" in "".join(kernel.source for kernel in j.state.entries[0].record.kernels)
