"""Rows of floats that are written in place from elements near by: in registers, by blocks, and by way of the buffer."""

import numpy as np
import pytest

import pijit
from tests.capture.arrays.indexing.test_gathers import NUMBA
from tests.capture.scalars.test_scalars import define
from tests.harness import check, fail_unless_captured

STORES = ("u[1:] -= c * (u[1:] - u[:-1])", "u[:-1] = (u[1:] + u[:-1]) * c",
          "u[1:-1] = c * (u[2:] - 2.0 * u[1:-1] + u[:-2])",
          "u[15:] = u[:-15] * c + v[15:]; u[:-15] -= u[15:] * c", "u[16:] += u[:-16] * c; u[:-16] -= u[16:] * c",
          "u[17:] += u[:-17] * c; u[:-17] -= u[17:] * c", "u[32:-33] = u[:-65] * c - u[65:]",
          "u[4:-4] = abs(-u[8:]) - u[:-8] / c",
          "u[1:-1] = u[2:] * u[2:] - v[:-2]; v[2:] = u[2:] - v[:-2]", "u[5:6] = u[4:5] * c + u[6:7]",
          "u[2:-2] = (u[:-4] - u[1:-3] * v[:-4]) * c + v[4:] * u[4:] - v[1:-3]",
          "u[16:-16] = u[:-32] * c + u[16:-16] - u[32:]", "u[16:-15] = u[1:-30] * c - u[:-31] + v[31:] * u[31:]",
          "u[1:-1] = u[1:-1] - c * u[1:-1] * v[1:-1] + c * u[2:] * v[2:]",
          "u[2:-2] = c * (u[4:] - v[4:]) + c * (u[:-4] - v[:-4]) - c * (u[1:-3] - v[1:-3])",
          "u[1:-1] = u[1:-1] / (v[1:-1] - v[:-2] * v[:-2]) - u[2:] / (v[2:] - v[1:-1] * v[1:-1])",
          "u[:-16] = c * (u[16:] * v[16:]) - c * (u[:-16] * v[:-16])",
          "u[:-17] = c * (u[17:] * v[17:]) - c * (u[:-17] * v[:-17])",
          "u[3:-3] = (v[3:-3] - c) * u[3:-3] + (v[6:] - c) * u[6:] - (v[:-6] - c) * u[6:] + (c - v[6:]) * u[6:]",
          "u[1:-1] = u[1:-1] + (v[2:] - v[1:-1] * c) * u[1:-1] - (v[1:-1] - v[:-2] * c) * u[:-2]")

ROWS = ("a[:, 1:] -= c * (a[:, 1:] - a[:, :-1])", "a[:, 1:-1] = c * (a[:, 2:] + a[:, :-2]) + b[:, 1:-1]",
        "a[1:, 1:] = a[:-1, 1:] * c + a[1:, :-1]", "a[:, 20:-20] = (a[:, 40:] + a[:, :-40]) * c",
        "a[1:, 0] += a[:-1, 0] * c", "a[:, 1:-1] = c * (a[:, 2:] - a[:, :-2]) + b[:, 2:] * b[:, 1:-1]",
        "a[:, 3:] = a[:, :-3] * c + b[:1, 3:]")


@pytest.mark.parametrize("code", "df")
@pytest.mark.parametrize("store", STORES)
@pytest.mark.filterwarnings("always::RuntimeWarning")
def test_vectors(store, code):
    """Of sizes around whole vectors; apart and not; with steps; with elements that overflow or are no numbers."""
    f = define("def f(u, v, c):\n    %s\n    return u, v" % store)
    size = 3000
    u, v = np.sin(np.arange(size)).astype(code), np.cos(np.arange(size)).astype(code)
    half, three, large = map({"d": float, "f": np.float32}[code], (0.5, 3, np.inf))
    calls = [(u, v, half)] + [(u[:n], v[:n], three) for n in [70, 81, 82, 127, 128, 129, 130, 144, 145, 161, 1000]]
    calls += [(u, v, large), (u[::2], v[::2], half), (u[::-1], v[::-1], half), (u[:5], v[:5], half)]
    for number in (1e38, np.nan, -np.inf, 1.7e308 if code == "d" else 3e38):
        strange = u.copy()
        strange[size // 3:size // 3 + 2] = number
        calls += [(strange, v, three), (v, strange, three)]
    both = np.tan(np.arange(2 * size)).astype(code)
    aliased = [(u, u, half), (both[:size], both[1:size + 1], half), (both[5:size + 5], both[:size], half),
               (both[:size], both[size - 1:2 * size - 1], half)]
    with fail_unless_captured():
        check(f, *calls[0], others=calls[1:], aliased=aliased, config=NUMBA, calls=1)


@pytest.mark.parametrize("code", "df")
@pytest.mark.parametrize("store", ROWS)
@pytest.mark.filterwarnings("always::RuntimeWarning")
def test_rows(store, code):
    """Contiguous rows, parts of longer ones, and those that are turned round or across."""
    f = define("def f(a, b, c):\n    %s\n    return a, b" % store)
    a, b = (make(np.arange(90.0 * 130)).astype(code).reshape(90, 130) for make in (np.sin, np.cos))
    half = {"d": float, "f": np.float32}[code](0.5)
    strange = a.copy()
    strange[40, 50:52] = np.inf
    calls = [(a, b, half), (a[:, :97], b[:, :97], half), (a[:, ::2], b[:, ::2], half), (a[::-1], b, half),
             (np.asfortranarray(a), b, half), (a[:, ::-1], b, half), (a.T, b.T, half), (strange, b, half),
             (a, strange, half), (a[:3], b[:3], half)]
    with fail_unless_captured():
        check(f, *calls[0], others=calls[1:], aliased=[(a, a, half), (a[1:], a[:-1], half)], config=NUMBA, calls=1)


@pytest.mark.parametrize("code", ["f8", "f4", "f2", "c16", "i8", "u1", "?"])
def test_copies_of_vectors(code):
    """Few elements, many, none, and one for all of a row."""
    def f(x, rows, n):
        kept = np.zeros((rows, n), x.dtype)
        y = x.copy()
        for i in range(rows):
            kept[i] = y[i:]
            y[:1] = y[-1:]
        return kept, y

    def of(size):
        return (np.arange(size) * 3 % 7).astype(code)

    with fail_unless_captured():
        check(f, of(103), 3, 101, others=[(of(3), 3, 1), (of(1), 1, 1), (of(2), 2, 40), (of(9000), 1, 9000),
                                          (of(5000), 2, 5000), (of(8), 2, 5)], config=NUMBA, calls=1)


def test_kernels_slide():
    def f(u, c):
        u[1:-1] += c * (u[2:] - 2.0 * u[1:-1] + u[:-2])

    j = pijit.jit(f, jit_config=NUMBA)
    j(np.ones(200), 0.5)
    source, = [kernel.source for kernel in j.state.entries[0].record.kernels]
    assert "delays_stores=True" in source
