"""What takes the place of NumPy's loops for np.power, against these loops: bits and floating-point flags."""

import ctypes
import platform

import numpy as np
import pytest

from pijit.core import _launcher

LOOP = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)
DISTANCES = 0, 8, 16, 512  # bytes; NumPy's loops take adjacent memory for overlapping, and go another way


def loop(code, replaced):
    return _launcher.ufunc_loop(np.power, np.power.types.index("{0}{0}->{0}".format(code)), replaced)


def run(code, base, exponent, out, replaced=True):
    """The loop that kernels use, or NumPy's, on arrays of one axis."""
    function, data = loop(code, replaced)
    exponent = np.array(exponent, code)
    pointers = np.array([array.ctypes.data for array in (base, exponent, out)], np.int64)
    steps = np.array([base.strides[0], 0, out.strides[0]], np.int64)
    count = np.array([len(base)], np.int64)
    LOOP(function)(pointers.ctypes.data, count.ctypes.data, steps.ctypes.data, data)
    return out


def bases(code, size):
    random = np.random.RandomState(size)
    x = random.standard_normal(size) * 10.0 ** random.randint(-3, 4, size)
    info = np.finfo(code)
    odd = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, -0.5, np.nan, -np.nan, np.inf, -np.inf, info.max, -info.max, info.tiny,
           -info.tiny, info.tiny / 4, 1.0 + info.eps, -1.0 - info.eps, -1.0 + info.eps, 3.0, -10.0, -1e30, 1e-30]
    x[:len(odd)] = odd[:size]
    return x.astype(code)


@pytest.mark.parametrize("code", "df")
@pytest.mark.parametrize("exponent", [3, 4, 5, 6, 9, 15, 16, 17, 2, -1, -2, -3, -16, -17, 0.5, -3.5, np.nan, 1e30])
def test_bits(code, exponent):
    for size in (0, 1, 5, 8, 31, 100, 1023, 1024, 1025, 5000):
        base = bases(code, size)
        for x in (base, np.abs(base), -np.abs(base), np.repeat(base, 2)[::2]):
            assert_same_bits(code, x, exponent, in_place)
            if x.flags.c_contiguous:
                assert_same_bits(code, x, exponent, behind(512))


def behind(distance):
    """Makes an array like x, so many bytes behind where x was copied to."""
    def place(x):
        memory = np.empty(2 * x.nbytes + distance, np.uint8)
        memory[:x.nbytes] = np.ascontiguousarray(x).view(np.uint8)
        return memory[:x.nbytes].view(x.dtype), memory[x.nbytes + distance:].view(x.dtype)
    return place


def in_place(x):
    own = x.copy() if x.flags.c_contiguous else np.repeat(x, 2)[::2]
    return own, own


def assert_same_bits(code, x, exponent, place):
    base, out = place(x)
    expected = run(code, base, exponent, out, False).tobytes()
    base, out = place(x)
    assert run(code, base, exponent, out).tobytes() == expected


@pytest.mark.parametrize("code", "df")
@pytest.mark.parametrize("exponent", [*range(3, 17), *range(-16, -1)])
def test_many_bits(code, exponent):
    random = np.random.RandomState(abs(exponent))
    for scale in (0, 30 // abs(exponent)):
        x = random.standard_normal(50000) * 10.0 ** random.randint(-scale, scale + 1, 50000)
        assert_same_bits(code, x.astype(code), exponent, behind(512))


@pytest.mark.parametrize("code", "df")
@pytest.mark.parametrize("distance", DISTANCES)
def test_where_operands_lie(code, distance):
    for size in (8, 100, 3000):
        assert_same_bits(code, bases(code, size), 3, behind(distance))


@pytest.mark.parametrize("code", "df")
def test_few_negative_bases(code):
    """Blocks with many, with few and without, in all orders."""
    random = np.random.RandomState(0)
    for size in (700, 20000):
        x = np.abs(random.standard_normal(size)) + 0.5
        share = np.repeat(random.choice([0.0, 0.005, 0.05, 1.0], size // 256 + 1), 256)[:size]
        x[random.random_sample(size) < share] *= -1
        for place in (behind(512), in_place):
            assert_same_bits(code, x.astype(code), 4, place)


@pytest.mark.parametrize("code", "df")
def test_the_probe_trusts_what_numpy_calls(code):
    function, data = loop(code, True)
    if (function, data) == loop(code, False) or platform.libc_ver() < ("glibc", "2.28"):
        pytest.skip("nothing takes the loop's place")
    run(code, np.full(50, -1.5, code), 3, np.empty(50, code))
    trusted = ctypes.c_int.from_address(data + 2 * ctypes.sizeof(ctypes.c_void_p)).value
    assert trusted in (2, 3)  # negative bases, all


@pytest.mark.parametrize("code", "df")
@pytest.mark.parametrize("exponent", [3, 4, 16, -2, -3])
def test_flags(table, code, exponent):
    run(code, np.ones(50, code), exponent, np.empty(50, code))  # behind the probe
    info = np.finfo(code)
    for value in (1.0, -3.0, 0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, info.max, -info.max, info.tiny, -info.tiny):
        seen = []
        for replaced in (True, False):
            x = np.full(50, -1.5, code)
            x[20] = value
            with np.errstate(all="warn"):
                table.call("flags_clear")
                run(code, x, exponent, np.empty_like(x), replaced)
                seen.append(table.call("flags_test", 15))
                table.call("flags_clear")
        assert seen[0] == seen[1], value


def test_only_numpys_own_is_replaced():
    for code in "df":
        assert loop(code, False) == _launcher.ufunc_loop(np.power, np.power.types.index("{0}{0}->{0}".format(code)))
    assert _launcher.ufunc_loop(np.add, 0, True) == _launcher.ufunc_loop(np.add, 0)
