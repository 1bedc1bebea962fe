"""How the kernels of a function are made beyond what their graphs say."""

from __future__ import annotations

from typing import Any, NamedTuple

from pijit.core import _launcher


class Flavour(NamedTuple):
    """``nogil``: kernels that touch no Python objects run without the GIL. ``least``: from how much work on threads
    share a loop nest; 0: never. ``fast``: floating-point arithmetic may be rearranged, and its flags are not looked
    at."""

    nogil: bool = False
    least: int = 0
    fast: bool = False


PLAIN = Flavour()

FAST = "# fastmath"
"""The first line of a kernel's source whose floating-point arithmetic may be rearranged."""


LEAST = {"auto": 2 ** 21, True: 2 ** 14, False: 0}
"""From how much work on threads are used, by the option `parallel`; 0: never. A unit is about 1/32 ns: an operand or
an operation of one element where all is in the cache. Two threads were faster than one from 40 to 60 us on."""

FEW = 2
"""So many threads compute a whole result and copy it no faster than one does both by blocks, in half the processors'
time."""


def flavour_of(config: Any) -> Flavour:
    """What the options of a function say."""
    if config.backend != "numba":
        return PLAIN
    return Flavour(config.nogil, LEAST[config.parallel], config.fastmath)


def gains_little(least: int) -> bool:
    """Whether one thread is as fast as all where that spares a way to memory and back, and nobody asked for threads."""
    return least == LEAST["auto"] and _launcher.threads()[0] <= FEW


def is_alone(least: int) -> bool:
    """Whether one thread computes all."""
    return least == 0 or _launcher.threads()[0] == 1
