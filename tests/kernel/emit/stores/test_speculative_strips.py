"""Strips whose floating-point flags are looked at once: what was tried in vain shows nowhere."""

import numpy as np
import pytest

import pijit
from pijit.core.kernel.llvm.fp_status import READS_STATUS
from pijit.core.kernel.llvm.strip_intrinsics import LEAST
from tests.harness import check, fail_unless_captured

PLACES = (0, 1023, 1500)
"""Rounds at the ends of strips and within."""


def filtered(x, weight):
    total = state = 0.0
    for i in range(x.size):
        state = weight * state + (1.0 - weight) * x[i]
        if state > 0.0:
            total += state
    return total


def scaled(y, x, factor):
    for i in range(len(x)):
        y[i] = x[i] * factor + x[i]
    return y[0]


def in_place(x):
    for i in range(1, len(x)):
        x[i] = x[i - 1] * 0.5 + x[i] * x[i]


def wrapping(y, x):
    for i in range(len(x)):
        y[i] = x[i - 1] * x[i] - x[i - 3]


def backwards(y, x):
    for i in range(len(x) - 1, -1, -1):
        y[i] = x[i] / x[len(x) - 1 - i]


def pairs(y, x):
    for i in range(len(x) // 2):
        y[2 * i] = x[i] * x[i]
        y[2 * i + 1] = y[2 * i] - x[i]


def shifted(y, x, by):
    for i in range(len(x)):
        y[i + by] = x[i] * x[i]


def gathered(y, x, order):
    for i in range(len(order)):
        y[i] = x[order[i]] * x[i] + 1.0


def either_end(y, x):
    for i in range(len(x)):
        if x[i] > 0.1:
            y[i] = x[i] * x[i]
        else:
            y[len(y) - 1 - i] = x[i] + x[i]


def last_product(x):
    product = x[0]
    for i in range(len(x)):
        product = x[i] * x[i]
    return product


def unused(x, low):
    rounds = 0
    product = x[0]
    for i in range(len(x)):
        if x[i] > low:
            product = x[i] * x[i]
        else:
            product = x[i] + x[i]
        x[i] - product
        rounds += 1
    return rounds


def same_each_round(x, p, q):
    total = x[0]
    for i in range(len(x)):
        product = p[0] * q[0]
        total = total + x[i]
    return total, product


def until(x, most):
    total = x[0] * 0
    for i in range(len(x)):
        total = total + x[i] * x[i]
        if total > most:
            break
    return total, i


def made_here(x):
    y = np.full(len(x), -3, x.dtype)
    for i in range(len(x)):
        y[i] = x[i] * x[i] + x[i]
    return y


def table(m, x):
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            m[i, j] = m[i, j] * x[j] - x[i]


def whole_numbers(x, k):
    total = 0
    for i in range(len(x)):
        total = total + k[i] * k[i]
        x[i] = x[i] * total
    return total


def rotated(y, x, factor):
    z = x[0]
    for i in range(len(x)):
        z = z * z * factor + x[i]
        y[i] = z
    return z


def numbers(dtype, count=2100):
    x = (np.random.RandomState(3).standard_normal(count) * 0.7).astype(dtype)
    return x if x.dtype.kind == "f" else (x + 1j * x[::-1]).astype(dtype)


def odd_ones(dtype):
    """Arrays with a number that raises a flag, or is one that a flag leaves behind, in one round."""
    size = 1e200 if np.dtype(dtype).itemsize >= 8 * (1 + (np.dtype(dtype).kind == "c")) else 1e25
    for at in PLACES:
        for value in (size, 1 / size, np.inf, 0.0):
            x = numbers(dtype)
            x[at] = value
            yield x


def same(f, makes, dtype):
    config = {"force_breaks": None}
    odd = list(odd_ones(dtype))
    for state in ("warn", "raise"):
        with np.errstate(all=state, under="ignore" if state == "warn" else state):
            with fail_unless_captured():
                check(f, *makes(numbers(dtype)), config=config,
                      others=[makes(x) for x in odd] + [makes(numbers(dtype, count)) for count in (1, LEAST, 1025)])


KINDS = ("f8", "f4")


def until_not_below(x, y, n):
    i = 0
    while True:
        y[i] = x[i] * x[i]
        if not i < n:
            break
        i += 1
    return i


def down_to(x, y, n):
    i = len(x) - 1
    while not i < n:
        y[i] = x[i] * x[i]
        i += 1
    return i


def with_the_last(x, y, n):
    for i in range(len(x)):
        y[i] = x[i] * x[-1] - x[n]
    return y[-1]


@pytest.mark.parametrize("f", [until_not_below, down_to, with_the_last])
def test_other_loops(f):
    for n in (0, 500):
        same(f, lambda x: (x.copy(), np.full_like(x, -3), n), "f8")


@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("f", [filtered, last_product, unused, until, made_here, in_place])
def test_flags_are_raised_in_their_round(f, dtype):
    more = {filtered: (0.9,), unused: (0.1,), until: (1e3,)}.get(f, ())
    same(f, lambda x: (x.copy(),) + more, dtype)


@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("f", [scaled, wrapping, backwards, pairs, either_end, rotated])
def test_stores_end_in_the_round_that_raises(f, dtype):
    more = (np.dtype(dtype).type(0.1),) if f in (scaled, rotated) else ()
    same(f, lambda x: (np.full_like(x, -3), x.copy()) + more, dtype)


@pytest.mark.parametrize("dtype", ["c16", "c8"])
@pytest.mark.parametrize("f", [scaled, rotated, made_here])
def test_complex_numbers(f, dtype):
    factor = np.dtype(dtype).type(0.5j)
    same(f, lambda x: (x.copy(),) if f is made_here else (np.full_like(x, -3), x.copy(), factor), dtype)


@pytest.mark.parametrize("by", [0, 3, -1, -40])
def test_indices_out_of_range(by):
    same(shifted, lambda x: (np.full_like(x, -3), x.copy(), by), "f8")


def test_gathers_leave_in_their_round():
    for order in (np.arange(2100)[::-1], np.arange(2100) - 900, np.where(np.arange(2100) == 1500, 4000, 0)):
        same(gathered, lambda x: (np.full_like(x, -3), x.copy(), order), "f8")


def test_integers_that_overflow():
    for factor in (1, 10 ** 8):
        same(whole_numbers, lambda x: (x.copy(), np.arange(len(x)) * factor), "f8")


@pytest.mark.parametrize("size", [2.0, 1e200, 1e-200])
def test_what_is_the_same_each_round(size):
    same(same_each_round, lambda x: (x.copy(), np.array([size]), np.array([size])), "f8")


def test_rows_and_columns():
    def tables(x):
        m = np.resize(x, (3, 2100))
        return (m, np.resize(x, 2100))
    same(table, tables, "f8")
    same(table, lambda x: (tables(x)[0][:, ::-2], tables(x)[1]), "f8")
    same(table, lambda x: (np.asfortranarray(tables(x)[0]), tables(x)[1]), "f8")


@pytest.mark.parametrize("by", [0, 1, -1, 50])
def test_arrays_that_share_memory(by):
    def shared(x):
        both = np.concatenate([x, x, x])
        return both[len(x):2 * len(x)], both[len(x) + by if len(x) > 50 else len(x):][:len(x)]
    same(wrapping, shared, "f8")
    same(scaled, lambda x: shared(x) + (1.5,), "f8")
    same(wrapping, lambda x: (np.zeros(2 * len(x))[::-2], x[::-1]), "f8")


@pytest.mark.skipif(not READS_STATUS, reason="the flags are not read in machine code on this processor")
def test_a_strip_looks_at_no_result(tmp_path):
    for f, args in ((filtered, (numbers("f8"), 0.9)), (in_place, (numbers("f8"),))):
        jitted = pijit.jit(f, jit_config={"backend": "numba", "force_breaks": None})
        jitted(*args)
        pijit.dump(jitted, str(tmp_path / f.__name__))
        text = "".join(path.read_text() for path in (tmp_path / f.__name__).rglob("*") if path.is_file())
        strip = text.partition("watch_flags(")[2].partition("stayed_quiet(")[0]
        assert "pinned(" in strip and "float_suspect" not in strip and "leave(" not in strip


def test_nobody_takes_back_stores_without_the_gil():
    """Another thread may have stored there meanwhile."""
    sources = []
    for nogil in (False, True):
        f = pijit.jit(scaled, jit_config={"backend": "numba", "nogil": nogil})
        f(np.zeros(40), np.ones(40), 2.0)
        sources.append("".join(kernel.source for kernel in f.state.entries[0].record.kernels))
    assert ["keep_run(" in source for source in sources] == [READS_STATUS, False]
