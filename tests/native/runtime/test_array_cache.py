"""Small arrays that kernels have made are made again after their end: which ones, and as what."""

import gc
import sys
import tracemalloc
import weakref

import numpy as np
import pytest

from pijit.core import _launcher
from tests.capture.memory.test_buffer_pool import handler_name
from tests.harness import jitted

pytestmark = [pytest.mark.skipif(not _launcher.RESULTS_COME_BACK, reason="NumPy has no handlers"),
              pytest.mark.filterwarnings("ignore:Setting the:DeprecationWarning")]

CONFIG = {"backend": "numba", "force_breaks": None}


def times(x):
    return x * 2.0 + 1.0


@pytest.fixture
def made():
    """A kernel that makes one array, and an empty cache."""
    f = jitted(times, CONFIG)
    for _ in range(3):
        f(np.arange(3.0))
    _launcher.buffers_clear()
    return f


def place(array):
    return id(array), array.ctypes.data


def test_an_array_comes_back(made):
    x = np.arange(3.0)
    first = made(x)
    again = place(first)
    second = made(x)
    assert place(second) != again
    del first
    third, expected = made(x + 1.0), times(x + 1.0)
    counts = sys.getrefcount(third), sys.getrefcount(expected)
    assert place(third) == again
    assert third.tobytes() == expected.tobytes() and counts[0] == counts[1]


@pytest.mark.parametrize("shape", [(3,), (), (1,), (4, 3), (2, 3, 4)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_it_looks_like_a_new_one(made, shape, order):
    def seen(z):
        return (z.shape, z.strides, str(z.flags), z.dtype, z.base, type(z), handler_name(z), z.tobytes("A"))

    x = np.asarray(np.random.RandomState(0).rand(*shape), order=order)
    for turned in (x, x.T, x):
        for _ in range(3):
            z, expected = made(turned), times(turned)
            if shape:
                assert seen(z) == seen(expected) and z.dtype is expected.dtype
            del z


@pytest.mark.parametrize("use", [
    lambda z: z[1:], memoryview, lambda z: z.reshape(3, 1), lambda z: np.asarray(z).view("i8"), np.frombuffer])
def test_views_keep_the_memory(made, use):
    x = np.arange(3.0)
    z = made(x)
    held = use(z)
    before = bytes(memoryview(held).cast("B")) if isinstance(held, memoryview) else held.tobytes()
    del z
    others = [made(x + 10.0 * k) for k in range(20)]
    after = bytes(memoryview(held).cast("B")) if isinstance(held, memoryview) else held.tobytes()
    assert before == after and len({place(other) for other in others}) == 20


def test_weak_references_die(made):
    told = []
    z = made(np.arange(3.0))
    reference = weakref.ref(z, told.append)
    del z
    assert reference() is None and told == [reference]
    again = made(np.arange(3.0))
    assert reference() is None and weakref.getweakrefcount(again) == 0


def read_only(z):
    z.flags.writeable = False


def turned(z):
    z.shape = (3, 1)


def other_type(z):
    z.dtype = np.int64


def other_size(z):
    z.resize((50,), refcheck=False)


def swapped(z):
    z.dtype = z.dtype.newbyteorder()


def state(z):
    z.__setstate__((1, (2,), np.dtype("f8"), False, b"0" * 16))


def exported(z):
    memoryview(z).release()


@pytest.mark.parametrize("change", [read_only, turned, other_type, other_size, swapped, state, exported])
def test_what_was_changed_is_new_again(made, change):
    x = np.arange(3.0)
    for _ in range(30):
        z = made(x)
        change(z)
        del z
        again = made(x)
        assert again.flags.writeable and again.flags.owndata and again.shape == (3,) and again.dtype == np.dtype("f8")
        assert again.tobytes() == times(x).tobytes()
        again.resize((40,), refcheck=False)
        assert again[:3].tobytes() == times(x).tobytes()


def test_subclasses_end_as_before(made):
    class Mine(np.ndarray):
        def __del__(self):
            told.append(1)

    told = []
    for _ in range(3):
        z = made(np.arange(3.0)).view(Mine)
        del z
    assert told == [1, 1, 1]


def test_nothing_leaks(made):
    kinds = [np.arange(float(size)) for size in (*range(1, 130), 3, 5, 1000, 2048, 2049)]
    for _ in range(2):
        for x in kinds:
            held = [made(x) for _ in range(12)]
            del held
    _launcher.buffers_clear()
    gc.collect()
    before = sys.getallocatedblocks()
    for _ in range(20):
        for x in kinds:
            held = [made(x) for _ in range(12)]
            del held
    _launcher.buffers_clear()
    gc.collect()
    assert sys.getallocatedblocks() - before < 200


@pytest.mark.skipif(sys.getallocatedblocks() == 0, reason="objects are not on Python's own heap")
def test_the_cache_is_bounded(made):
    """At most 16 x 8 arrays are kept."""
    held = [made(np.arange(float(size))) for size in range(1, 129) for _ in range(10)]
    with_all = sys.getallocatedblocks()
    del held
    assert with_all - sys.getallocatedblocks() > 1280 - 16 * 8 - 10


@pytest.mark.skipif(sys.getallocatedblocks() == 0, reason="objects are not on Python's own heap")
@pytest.mark.parametrize("size, kept", [(1024, 8), (2048, 4), (2049, 0)])
def test_few_large_arrays_are_kept(made, size, kept):
    """At most 64 KiB of one size, and none of more than 16 KiB."""
    x = np.arange(float(size))
    held = [made(x) for _ in range(20)]
    with_all = sys.getallocatedblocks()
    held.clear()
    freed = with_all - sys.getallocatedblocks()
    assert abs(freed - (20 - kept)) <= 1


@pytest.mark.parametrize("size", [100, 2000])
def test_what_traces_memory_sees_them(made, size):
    x = np.arange(float(size))
    domain = [tracemalloc.DomainFilter(True, getattr(np.lib, "tracemalloc_domain", 389047))]
    made(x)  # one is kept
    for call in (made, times, made):
        tracemalloc.start()
        try:
            result = call(x)
            held = sum(one.size for one in tracemalloc.take_snapshot().filter_traces(domain).traces)
            del result
            left = sum(one.size for one in tracemalloc.take_snapshot().filter_traces(domain).traces)
        finally:
            tracemalloc.stop()
        assert (held, left) == (x.nbytes, 0), call
