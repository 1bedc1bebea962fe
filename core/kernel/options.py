"""Compile options of kernels: the settings of a function that affect machine code and are not in graphs.

`core/entries/kernels.py` computes them from a function's configuration. The plans and emitters read them.
"""

from __future__ import annotations

from typing import Any

from pijit.core import _launcher
from pijit.core.named_tuples import NamedTuple


class CompileOptions(NamedTuple):
    """The compile options of a kernel.

    ``nogil``: kernels that touch no Python objects run without the GIL. ``least``: the least work for which threads
    share a loop nest; 0: never. ``fast``: floating-point arithmetic may be rearranged, and its flags are not checked.
    """

    nogil: bool = False
    least: int = 0
    fast: bool = False


PLAIN = CompileOptions()

FAST = "# fastmath"
"""A comment for readers: the first source line of a kernel whose floating-point arithmetic may be rearranged."""


LEAST = {"auto": 2 ** 21, True: 2 ** 14, False: 0}
"""The least work for which threads are used, by the option `parallel`; 0: never.

A unit of work is about 1/32 ns: one operand or one operation of an element, with all data in the cache. Two threads
were faster than one for 40 to 60 us of work or more.
"""

FEW = 2
"""The largest number of threads that is no faster than one thread.

These threads compute a whole result and then copy it. One thread does both by blocks in the same time, which takes
half of the processor time.
"""


def flavour_of(config: Any) -> CompileOptions:
    """The compile options that a function's configuration asks for."""
    if config.backend != "numba":
        return PLAIN
    return CompileOptions(config.nogil, LEAST[config.parallel], config.fastmath)


def gains_little(least: int) -> bool:
    """Whether one thread that avoids a pass through memory is as fast as all, and the user asked for no threads."""
    return least == LEAST["auto"] and _launcher.threads()[0] <= FEW


def is_alone(least: int) -> bool:
    """Whether one thread does all work."""
    return least == 0 or _launcher.threads()[0] == 1
