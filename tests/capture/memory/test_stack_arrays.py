"""Small arrays that stay in a kernel have no object; who needs one after all gets that of a copy."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

from pijit.core.kernel.llvm import codegen
from tests.harness import check, fail_unless_captured, jitted

NUMBA = {"backend": "numba"}


def starts(*sizes: int) -> np.ndarray:
    return np.concatenate(([0], np.cumsum(sizes)))


def kept(x: np.ndarray, first: np.ndarray, where: np.ndarray, table: np.ndarray) -> Any:
    """Bytecode gets the arrays of a round where an index is out of range."""
    out, found = np.zeros(len(first) - 1), []
    for i in range(len(first) - 1):
        t = x[first[i]:first[i + 1]] * 2.0
        u = np.cumsum(t)
        v = u[::-1]
        try:
            factor = table[where[i]]
        except IndexError:
            factor = -1.0
            found.append((t, u, t, t.flags.owndata, t.flags.writeable, u.base is None, v.base is u))
        out[i] = (t * u).sum() * factor + v[:1].sum() + np.dot(t, u)
    return out, found


@fail_unless_captured()
def test_exits_take_copies():
    """Of none, one, few and many elements, which need memory of their own."""
    x = np.random.RandomState(0).standard_normal(5000)
    sizes = [3, 0, 1, 1023, 1024, 1025, 7, 1500, 4, 8, 9]
    first, table = starts(*sizes), np.arange(4.0)
    where = [np.arange(len(sizes)) % size for size in (5, 4, 7)]
    check(kept, x, first, where[0], table, config=NUMBA, others=[
        (x, first, where[1], table), (x, first, where[2], table), (x.astype("f4"), first, where[0], table)])


def warned(x: np.ndarray, scale: np.ndarray) -> Any:
    last = None
    for i in range(len(scale)):
        small = np.zeros(3)
        small[0] = scale[i]
        grown = small * scale[i] + x[:3]
        last = grown * grown
        x[:3] += last * 1e-3
    return x, last


@fail_unless_captured()
def test_flags_of_few_elements():
    """LLVM must not move arithmetic on memory of the kernel's own past the look at the flags."""
    scale = np.array([1.0, 2.0, 1e200, 3.0, 1e-200, np.inf, 0.5])
    check(warned, np.arange(5.0), scale, config=NUMBA, others=[
        (np.arange(5.0), scale[::-1].copy()), (np.zeros(3), np.array([1e-300, 1e-310])), (np.zeros(2), scale[:2])])


def tables(x: np.ndarray, y: np.ndarray, count: int) -> Any:
    total = 0.0
    for i in range(count):
        a = x[i:] + y[i:, :1]
        b = np.zeros((2, 3, 1))
        b[1] = a[0, 0]
        c = np.minimum(a, a * a - 0.5)
        total += a.sum() + (b + 1.0).sum() + (c[:1] * 2.0).sum() + c.max()
    return total


@pytest.mark.parametrize("shape", [(3, 4), (2, 1), (1, 5), (40, 33), (600, 2)])
@fail_unless_captured()
def test_several_axes(shape):
    x, y = (np.random.RandomState(seed).standard_normal(shape) for seed in (0, 1))
    check(tables, x, y, min(shape[0], 5), config=NUMBA, others=[
        (x.T, y.T, 1), (x.astype("f4"), y.astype("f4"), 2), (x * np.inf, y, 1), (x, y, shape[0] + 1)])


def wide(x: np.ndarray, y: np.ndarray) -> Any:
    a = x * 0.5 + y
    return (a[:2, :3] * a[:2, :1]).sum() + a.max()


def outcome(f: Any, *args: Any) -> Any:
    try:
        return repr(f(*args))
    except (MemoryError, ValueError) as error:
        return type(error), str(error)


@fail_unless_captured()
def test_sizes_that_overflow():
    """Products of sizes are looked at only where each size is small."""
    f, one = jitted(wide, NUMBA), np.ones(1)
    column, row = (np.lib.stride_tricks.as_strided(one, shape, (0, 0)) for shape in ((1 << 40, 1), (1, 1 << 40)))
    small = np.ones((4, 1)), np.arange(3.0).reshape(1, 3)
    for args in (small, small, small, (column, row), (row, column), small):
        assert outcome(f, *args) == outcome(wide, *args)


def many(x: np.ndarray) -> Any:
    for _ in range(3):
        a = x[1:] * 0.5
        b = np.sort(a)[:-1] + a[1:]
        c = np.cumsum(b)
        d = np.cumsum(c) * 0.125
        e = np.cumsum(d)
        f = np.cumsum(e) - d
        g = np.cumsum(f)
        h = np.cumsum(g) + a[0]
        k = np.cumsum(h)
        m = np.cumsum(k) / (1.0 + abs(k).max())
        x[:-2] = m
    return x


@fail_unless_captured()
def test_more_arrays_than_slots():
    x = np.random.RandomState(0).standard_normal(20)
    check(many, x, config=NUMBA, others=[(x[:2],), (np.tile(x, 90),), (x * 1e308,)])


def on_small_stack(f: Any, *args: Any) -> Any:
    """The result of a call on a thread whose stack has 64 KiB."""
    found = []
    before = threading.stack_size(64 * 1024)
    try:
        thread = threading.Thread(target=lambda: found.append(f(*args)))
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    return found[0]


@fail_unless_captured()
def test_small_stacks():
    """There is no room for the slots, so bytecode runs. The program would end there."""
    f, x = jitted(many, NUMBA), np.random.RandomState(0).standard_normal(1000)
    wanted = many(x.copy())
    for _ in range(3):
        assert np.array_equal(f(x.copy()), wanted)
    assert np.array_equal(on_small_stack(f, x.copy()), wanted)
    assert np.array_equal(f(x.copy()), wanted)


def gathered(data: np.ndarray, columns: np.ndarray, first: np.ndarray, x: np.ndarray) -> np.ndarray:
    y = np.empty(len(first) - 1)
    for i in range(len(y)):
        a, b = first[i], first[i + 1]
        y[i] = np.dot(data[a:b], x[columns[a:b]])
        x[columns[a:b]] += y[i] * 1e-3
    return y


@fail_unless_captured()
def test_rows_of_sparse_matrices():
    """One product, which dot adds to nothing, is NumPy's: it gets the object of a copy."""
    sizes = [0, 1, 3, 1, 8, 40, 0, 600]
    first, source = starts(*sizes), np.random.RandomState(0)
    columns, x = source.randint(-30, 30, first[-1]), source.standard_normal(30)
    data = source.standard_normal(len(columns))
    beyond = columns.copy()
    beyond[20] = 30
    data[0] = -0.0
    check(gathered, data, columns, first, x, config=NUMBA, others=[
        (data, beyond, first, x), (data * 1e308, columns, first, x), (data, columns, first, x[:0]),
        (data, columns.astype("i4"), first, x), (data[:3], columns, first, x)])


@fail_unless_captured()
def test_memory_does_not_grow():
    """The objects of copies go when their round ends."""
    f = jitted(gathered, NUMBA)
    args = np.ones(4000), np.zeros(4000, int), np.arange(4001), np.ones(3)
    for _ in range(3):
        f(*args)
    import tracemalloc
    tracemalloc.start()
    f(*args)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200_000


def wanted_by_exits(x: np.ndarray, i: np.ndarray, few: bool) -> Any:
    a = x * 0.5
    b = np.cumsum(a)
    s = x[i[0]]
    if few:
        return s + a[0] * b[-1]
    s += x[i[1]] + x[i[2]] + x[i[3]] + x[i[4]] + x[i[5]]
    return s + a[0] * b[-1]


@pytest.mark.parametrize("few", [False, True])
def test_no_slots_for_what_many_exits_want(few, monkeypatch):
    """Each exit would have the code that makes objects of them."""
    sources = []

    def compiled(source, *more):
        sources.append(source)
        return compiles(source, *more)

    compiles = codegen.compiled
    monkeypatch.setattr(codegen, "compiled", compiled)
    x, i = np.arange(9.0), np.arange(6)
    check(wanted_by_exits, x, i, few, config=dict(NUMBA, force_breaks=None, specialize_scalar=True),
          others=[(x, i + 3, few), (x, i + 5, few)])
    assert any("slot(" in source for source in sources) is few
