"""Compile locks: of the processes that share a cache folder, one compiles a kernel while the others wait for its file.

A lock is a record lock on an empty file of the cache folder. It belongs to a process: a child does not inherit it, and
the system releases it when the process ends. Network file systems have such locks, too. Kernels whose keys begin with
the same byte share a file, so the folder has at most 256 of them.

Locks save time and nothing else. Where there are none, or one is not released in time, the kernel is compiled twice.
Called by `disk_cache.DiskCache`.
"""

from __future__ import annotations

import contextlib
import os
import time
from typing import Iterator

LONGEST_WAIT = 20.0
"""Seconds after which a process compiles the kernel itself: the holder may be stopped."""
_PREFIX = ".lock-"
_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.002, 0.05
"""Seconds between two attempts; the pauses grow."""


@contextlib.contextmanager
def compile_lock(folder: int, key: str) -> Iterator[None]:
    """Hold the lock of a kernel, if it can be had.

    Args:
        folder: the descriptor of the cache folder.
        key: the key of the kernel.
    """
    try:
        descriptor = os.open(lock_name(key), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600,
                             dir_fd=folder)
    except OSError:  # a folder that cannot be written
        yield
        return
    try:
        _wait(descriptor)
        yield
    finally:
        os.close(descriptor)  # which releases the lock


def lock_name(key: str) -> str:
    """The name of a kernel's lock file."""
    return _PREFIX + key[:2]


def is_lock(name: str) -> bool:
    """Whether a file of the cache folder is a lock file."""
    return name.startswith(_PREFIX)


def _wait(descriptor: int) -> None:
    """Wait until the lock is taken, or for the longest time."""
    import fcntl  # late, because only POSIX has it

    end, pause = time.monotonic() + LONGEST_WAIT, _SHORTEST_PAUSE
    while True:
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except (BlockingIOError, PermissionError):  # another process holds it
            if time.monotonic() > end:
                return
        except OSError:  # a file system without locks
            return
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)
