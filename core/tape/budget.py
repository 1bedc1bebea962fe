"""Memory budget of a tape: a limit that the user sets, or a fraction of the free memory.

`tape` and `pijit/gradient_kernels.py` ask it. It must not free memory.
"""

from __future__ import annotations

import os
from typing import Optional

from pijit.core.tape.errors import refusal

SMALL = 64 << 20
"""Bytes (64 MiB) below which the free memory is not queried."""

SHARE = 4
"""Without a limit of the user's, a tape may hold the free memory divided by this factor."""

MEMINFO = "/proc/meminfo"


def first_allowance(limit: Optional[int]) -> int:
    """The bytes that a tape may hold before it asks for more; `limit`: the user's, or None."""
    return SMALL - 1 if limit is None else limit


def allowance(held: int, limit: Optional[int]) -> int:
    """The bytes that a tape may hold, when it holds `held`.

    Without a limit of the user's it is what the tape holds plus a quarter of the free memory, measured once.

    Raises:
        GradientError: PJ506 with the user's line, if the tape holds more than its limit.
    """
    if limit is None:
        return max(SMALL, held + free_memory() // SHARE)
    if held > limit:
        raise refusal("PJ506", held=_words(held), limit=_words(limit))
    return limit


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
