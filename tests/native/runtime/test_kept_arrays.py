"""Arrays that are given up are made again: which ones, and as what."""

import weakref

import numpy as np
import pytest

from tests.native.runtime.runtime_operands import new_descriptor

PRIVATE = 1 << 16


def make(table, shape, dtype="f8", order=0, private=0):
    """(a new array, its address); the frame owns the only reference once the caller has dropped it."""
    table.call("alloc", table.frame, new_descriptor(shape), np.dtype(dtype).num + private, len(shape), order)
    return table.objects()[-1]


def give_up(table, *shape, **kind):
    """The address of an array that was made and given up."""
    address = id(make(table, shape, **kind))
    table.call("release", table.frame, address)
    return address


@pytest.mark.parametrize("shape, kind, again", [
    ((3, 4), {}, True), ((4, 3), {}, True), ((12,), {}, False), ((3, 5), {}, False), ((6, 4), {"dtype": "f4"}, False),
    ((2, 6), {"order": 1}, True), ((3, 4), {"dtype": "i8"}, False)])
def test_memory_of_the_same_size_is_used_again(table, shape, kind, again):
    first = give_up(table, 3, 4)
    array = make(table, shape, **kind)
    expected = np.empty(shape, kind.get("dtype", "f8"), "F" if kind.get("order") else "C")
    assert (id(array) == first) == again
    assert (array.shape, array.strides, str(array.flags)) == (expected.shape, expected.strides, str(expected.flags))
    assert array.dtype is expected.dtype and array.base is None


def named(array):
    return array


def seen_weakly(array):
    return weakref.ref(array)


def read_only(array):
    array.flags.writeable = False


@pytest.mark.parametrize("use", [named, seen_weakly, read_only, lambda array: array[1:]])
def test_what_others_may_know_is_not_used_again(table, use):
    array = make(table, (6,))
    address, held = id(array), use(array)
    del array
    table.call("release", table.frame, address)
    other = make(table, (6,))
    assert other.flags.writeable and not weakref.getweakrefcount(other)
    if use is not read_only and use is not seen_weakly:
        assert id(other) != address and not np.shares_memory(other, held)
    if use is seen_weakly:
        assert held() is None


def test_dtypes_of_the_program_are_not_used_again(table):
    array = np.zeros(6, np.dtype("f8", metadata={"unit": "m"}))
    table.call("retain", table.frame, id(array))
    address = id(array)
    del array
    table.call("release", table.frame, address)
    assert make(table, (6,)).dtype.metadata is None


def test_sizes_that_vary_have_a_block_where_nobody_sees_it(table):
    """The first array is NumPy's; of the second it is known that its size will not stay."""
    plain = give_up(table, 50, 2, private=PRIVATE)
    block = give_up(table, 40, 2, private=PRIVATE)
    assert block != plain
    for size in (39, 1, 16, 30):
        array = make(table, (size, 2), private=PRIVATE)
        assert id(array) == block and array.nbytes == 16 * size and array.base is not None
        own = table.call("own", table.frame, id(array))
        assert own != block and table.objects()[-1].base is None
        del array
        table.release_all()
    array = make(table, (1, 2))
    assert id(array) != block and array.base is None


def test_the_oldest_go(table):
    sizes = {id(make(table, (size,))): size for size in range(1, 31)}
    for address in sizes:
        table.call("release", table.frame, address)
    kept = [sizes[kept.array] for kept in table.owned.kept]
    assert sorted(kept) == list(range(23, 31))


def test_nothing_large_and_nothing_empty_is_kept(table):
    give_up(table, 0)
    give_up(table, 200, 200)
    assert not any(kept.array for kept in table.owned.kept)
