"""Arrays on memory that NumPy does not own: shared memory, blocks of dask, and what zarr returns. Nothing is copied."""

import os

import numpy as np
import pytest

from tests.harness import fail_unless_captured, jitted


def smooth(x, rounds):
    for _ in range(rounds):
        x[1:-1] = 0.25 * x[:-2] + 0.5 * x[1:-1] + 0.25 * x[2:]
    return x


def values(size=40):
    return np.random.default_rng(3).normal(size=size)


def smoothed(x, rounds=3):
    """The bits of the result of plain Python."""
    return smooth(x.copy(), rounds).tobytes()


def test_shared_memory_is_written_in_place():
    shared_memory = pytest.importorskip("multiprocessing.shared_memory")
    expected = smoothed(values())
    block = shared_memory.SharedMemory(create=True, size=40 * 8)
    try:
        for _ in range(3):
            one, other = (np.ndarray((40,), "d", block.buf) for _ in range(2))
            one[:] = values()
            with fail_unless_captured():
                assert jitted(smooth)(one, 3) is one
            assert other.tobytes() == expected == bytes(block.buf[:320])
            del one, other
    finally:
        block.close()
        block.unlink()


def test_another_process_sees_the_stores():
    shared_memory = pytest.importorskip("multiprocessing.shared_memory")
    expected = smoothed(values())
    block = shared_memory.SharedMemory(create=True, size=40 * 8)
    try:
        x = np.ndarray((40,), "d", block.buf)
        f = jitted(smooth)
        f(values(), 1)
        x[:] = values()
        child = os.fork()
        if child == 0:
            f(x, 3)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0 and x.tobytes() == expected
        del x
    finally:
        block.close()
        block.unlink()


@pytest.mark.unshared
@pytest.mark.unshared
def test_blocks_of_dask():
    da = pytest.importorskip("dask.array")
    x, seen = values(64), []
    with fail_unless_captured():
        f = jitted(smooth)

        def work(block):
            seen.append(f(block, 3) is block)
            return block

        blocks = da.from_array(x.copy(), chunks=16).map_blocks(work, dtype="d", meta=np.empty(0))
        answer = blocks.compute(scheduler="synchronous")
    assert answer.tobytes() == b"".join(map(smoothed, x.reshape(4, 16)))
    assert seen == [True] * 4 and f.cache_info().hits == 3


@pytest.mark.unshared
@pytest.mark.unshared
def test_arrays_from_zarr():
    zarr = pytest.importorskip("zarr")
    x = values(64)
    stored = zarr.array(x, chunks=(16,))

    def work(source, size):
        for start in range(0, 64, size):
            part = source[start:start + size]
            for _ in range(3):
                part[1:-1] = 0.25 * part[:-2] + 0.5 * part[1:-1] + 0.25 * part[2:]
            source[start:start + size] = part
        return source[:].tobytes()

    expected = [work(x.copy(), 32)]
    with fail_unless_captured():
        f = jitted(work)
        for _ in range(3):
            stored[:] = x
            assert [f(stored, 32)] == expected
