"""Memory budget of a tape: a limit that the user sets, or a fraction of the free memory."""

from __future__ import annotations

import os
from typing import Optional

from pijit.core.tape.errors import refusal

SMALL = 64 << 20
"""Bytes (64 MiB) below which the free memory is not queried."""

SHARE = 4
"""Without a limit of the user's, a tape may hold the free memory divided by this factor."""

MEMINFO = "/proc/meminfo"


class Budget:
    """Counts the bytes of arrays that a tape holds for its sweep.

    Args:
        limit: maximum bytes; None: what the tape holds plus a quarter of the free memory, measured at `SMALL` bytes.
    """

    __slots__ = ("_limit", "_held")

    def __init__(self, limit: Optional[int] = None) -> None:
        self._limit = limit
        self._held = 0

    def hold(self, size: int) -> None:
        """Count an array.

        Raises:
            GradientError: PJ506 with the user's line, if the tape holds more than its limit.
        """
        self._held += size
        if self._limit is None:
            if self._held < SMALL:
                return
            self._limit = max(SMALL, self._held + free_memory() // SHARE)
        if self._held > self._limit:
            raise refusal("PJ506", held=_words(self._held), limit=_words(self._limit))


def default_limit() -> int:
    """The most bytes that a gradient may keep if the user sets no limit."""
    return max(SMALL, free_memory() // SHARE)


def free_memory() -> int:
    """Bytes available to processes; the machine's total memory if the system does not report them."""
    try:
        with open(MEMINFO) as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) << 10
    except OSError:
        pass
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _words(size: int) -> str:
    return "{:.1f} MiB".format(size / (1 << 20))
