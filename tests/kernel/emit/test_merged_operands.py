"""Operands of nests that are the same array or the same number are read once."""

import re

import numpy as np
import pytest

import pijit
from tests.capture.arrays.indexing.test_gathers import NUMBA
from tests.capture.scalars.test_scalars import define
from tests.harness import check, fail_unless_captured

PROGRAMS = {
    "views of the same elements": ("v[1:] = u[1:] - c * u[1:] * (u[1:] - u[:-1])", "ddd", "d"),
    "of elements that differ": ("v[1:] = u[1:] - c * u[:-1]", "ddd", "d"),
    "steps of two": ("v[:40] = u[:80:2] * u[1:81:2] + u[:80:2] * u[1:81:2]", "ddd", ""),
    "the same number twice": ("v[:] = u * 0.5 + v * 0.5 + c * 2.0", "ddd", "dd"),
    "numbers that differ": ("v[:] = u * 0.5 + v * 0.25", "ddd", "dd"),
    "rows and columns": ("w = u.reshape(9, 10); v.reshape(9, 10)[1:, 1:] = w[1:, 1:] * w[:1, 1:] + w[1:, 1:] * w[:1, 1:]",
                         "ddd", ""),
    "a mask": ("v[1:] = np.where(u[1:] > c, u[1:] * c, u[1:] + v[1:])", None, None),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_results_and_operands(name):
    text, arrays, scalars = PROGRAMS[name]
    f = define("def f(u, v, c):\n    %s\n    return u, v" % text)
    u, v = np.sin(np.arange(90.0)), np.cos(np.arange(90.0))
    strange = u.copy()
    strange[40:44] = np.nan, np.inf, -0.0, 1e308
    both = np.tan(np.arange(180.0))
    with fail_unless_captured():
        check(f, u, v, 0.5, others=[(u, v, -3.0), (strange, v, 2.0), (v, strange, 2.0)], config=NUMBA, calls=1,
              aliased=[(u, u, 0.5), (both[:90], both[1:91], 0.5), (both[::2], both[1::2], 0.5)])
    j = pijit.jit(f, jit_config=NUMBA)
    j(u.copy(), v.copy(), 0.5)
    found = re.findall(r"arrays='(\w+)'.*?scalars='(\w*)'", j.state.entries[0].record.kernels[0].source)
    assert found and (arrays is None or (arrays, scalars) in found)


def test_sums_and_several_results():
    def f(u, c):
        a = u[1:] * c + u[1:] * c
        b = u[1:] - a * c
        return a, b, (a * u[1:] * u[1:]).sum(), (u[:-1] * u[:-1]).sum()

    u = np.sin(np.arange(500.0))
    with fail_unless_captured():
        check(f, u, 0.5, others=[(u[:40], -1.0), (u[::2], 2.0), (u[:1], 2.0)], config=NUMBA, calls=1)
