"""Bounds of numbers, from which kernels know that no floating-point flag can be raised."""

import ctypes
import math

import numpy as np
import pytest

from pijit.core import _launcher
from pijit.core.kernel.llvm import codegen, exponent_intrinsics
from pijit.core.kernel.llvm.intrinsic_table import INTRINSICS
from pijit.core.kernel.runtime_entries import ENTRIES

NUMBERS = [0.0, 5e-324, 1e-310, 0.3, 0.5, 1.0, -1.5, 2.0, 3e5, -2.0 ** 900, 1.7e308, math.inf, -math.inf, math.nan]


def run(source, names, *words):
    address, owner = codegen.compiled("def kernel(frame):\n    return %s\n" % source,
                                      dict(INTRINSICS, **names), {}, on_disk=False, fast=False)
    frame = (ctypes.c_int64 * 4)(*words)
    result = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(address)(ctypes.addressof(frame))
    del owner
    return result


@pytest.mark.parametrize("code, least", [("d", 0), ("f", 0), ("d", 64)])
@pytest.mark.filterwarnings("ignore:overflow")
def test_bounds_of_arrays(code, least):
    """All are below 2 ** bound, which is at most a step too large; what is not finite has one that never counts."""
    names = {"all": exponent_intrinsics.below_all(np.dtype(code), least)}
    step, most = (16, 1023) if code == "d" else (2, 127)
    runtime = "ld_i8(%d, 0), " % (_launcher.RUNTIME_TABLE + ENTRIES["parallel"].offset) if least else ""
    for number in NUMBERS:
        for size, place in ((1, 0), (7, 6), (100, 50), (1000, 999)):
            x = np.linspace(-0.25, 0.25, size).astype(code)
            x[place] = number
            source = "all(%sld_i8(frame, 0), ld_i8(frame, 8), (%d))" % (runtime, x.itemsize)
            bound = run(source, names, size, x.ctypes.data)
            if not np.isfinite(x[place]):
                assert bound > most
                continue
            exact = max(0, math.frexp(np.abs(x).max())[1])
            assert exact <= bound < exact + step


@pytest.mark.parametrize("code", "df")
@pytest.mark.filterwarnings("ignore:overflow")
def test_bounds_of_numbers(code):
    dtype = np.dtype(code)
    for number in map(dtype.type, NUMBERS):
        x = np.array([number])
        bound = run("bound_of(ld_f%d(ld_i8(frame, 0), 0))" % dtype.itemsize, {}, x.ctypes.data)
        if not np.isfinite(number):
            assert bound > (1023 if code == "d" else 127)
        elif number == 0 or abs(number) < np.finfo(dtype).tiny:
            assert bound == (-1022 if code == "d" else -126)
        else:
            assert bound == math.frexp(number)[1]
