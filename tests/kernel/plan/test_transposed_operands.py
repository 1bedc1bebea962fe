"""Transposed operands beside those in C order, in one nest: bits, strides, warnings, memory used again."""

import numpy as np
import pytest

import pijit
from tests.harness import check, fail_unless_captured

DIRECT = {"force_breaks": None, "perf_statistics": False}


def symmetric(a, v):
    r = (a + a.T) * 0.5 - v[:, None] * v
    return r, r.strides, r.flags.c_contiguous


def of_temporaries(a, v):
    t = a * v
    r = t.T - t * 2
    s = (a * 3 + 1)
    q = s - s.T * v
    return r, r.strides, q, q.strides


def by_columns_first(a, v):
    r = a.T * v[:, None] + a
    s = a.T * 2 + a.T * v
    return r, r.strides, s, s.strides


def in_place(a, v):
    a[...] = (a + a.T) * 0.5
    b = a * v
    b += b.T * 0.25 + b
    return a, b, b.strides


def chosen(a, v):
    r = np.where(a.T > a, a.T - v, a * 2.0)
    s = np.maximum(a, a.T) + v
    return r, r.strides, s, s.strides, (a * a.T + v).sum(), (a.T * a + v).sum(axis=0), (a.T * a > v).sum()


def wide(a, b):
    """Other sizes, and axes of three."""
    r = a.T * 2.0 + b
    s = (a[:1].T + b) * 0.5
    c = (a[:, None, :] + b[None, :, :1]) * 1.0
    t = (c.transpose(2, 1, 0) - 1.0) * c.transpose(2, 1, 0).copy()
    return r, r.strides, s, s.strides, t, t.strides


def square(code, n):
    source = np.random.RandomState(n)
    return (source.standard_normal((n, n)) * 50).astype(code), (source.standard_normal(n) * 50).astype(code)


@pytest.mark.parametrize("function", (symmetric, of_temporaries, by_columns_first, in_place, chosen))
@pytest.mark.parametrize("code", "dfl")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_squares(function, code):
    others = [square(code, n) for n in (0, 1, 2, 7, 31, 32, 33, 100, 199)]
    others += [(np.asfortranarray(a), v) for a, v in others[3:5]]
    with fail_unless_captured():
        check(function, *square(code, 5), others=others, config=dict(DIRECT, cache_limit=32))


@pytest.mark.parametrize("code", "df")
def test_large(code):
    """By tiles, whole ones and others; operators may compute into their operands."""
    with fail_unless_captured():
        check(symmetric, *square(code, 5), others=[square(code, n) for n in (362, 363, 416, 511)], config=DIRECT)
        check(of_temporaries, *square(code, 5), others=[square(code, n) for n in (200, 450)], config=DIRECT)
        check(by_columns_first, *square(code, 5), others=[square(code, n) for n in (200, 450)], config=DIRECT)


@pytest.mark.parametrize("code", "df")
def test_shapes(code):
    def pair(rows, columns):
        source = np.random.RandomState(rows).standard_normal
        return source((columns, rows)).astype(code), source((rows, columns)).astype(code)

    others = [pair(*shape) for shape in ((1, 5), (5, 1), (40, 3), (3, 40), (0, 4), (3, 50000), (50000, 3))]
    with fail_unless_captured():
        check(wide, *pair(4, 6), others=others, config=DIRECT)


@pytest.mark.parametrize("how", ("warn", "raise"))
@pytest.mark.filterwarnings("always::RuntimeWarning")
def test_errors_are_reported(how):
    a, v = square("d", 6)
    others = [(a * 1e305, v), (np.full((6, 6), 1.7e308), v), (a * np.inf, v), (a * np.nan, v), (a * 1e-310, v * 1e-310)]
    with np.errstate(all=how), fail_unless_captured():
        check(symmetric, a, v, others=others, config=dict(DIRECT, backend="numba"))


def test_is_one_nest(capfd):
    j = pijit.jit(mode="PIJit", jit_config=dict(DIRECT, backend="numba", print_after_all=True))(symmetric)
    a, v = square("d", 50)
    j(a, v)
    told = capfd.readouterr()
    assert "nest_0(" in told.out + told.err and "nest_1(" not in told.out + told.err
