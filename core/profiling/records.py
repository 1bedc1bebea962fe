"""Records of profiles: plain data about calls and kernel runs, which reports and tables read.

`collection.py` creates them. This module must not import an extension module: all Pythons import it.
"""

from __future__ import annotations

from typing import Tuple

from pijit.core.capture_records import ExitCounts
from pijit.core.named_tuples import NamedTuple


class FunctionPlace(NamedTuple):
    """A function by its definition: the functions of one definition are counted together."""

    name: str
    filename: str
    line: int


class KernelProfile(NamedTuple):
    """The runs of a kernel.

    Attributes:
        name: such as "k1"; "re-entry" for a kernel that goes back into a loop.
        first, last: its source lines.
        runs: how often it ran.
        timed: how many of these runs were timed; of short kernels one of sixteen is, and the others are estimated.
        seconds: the time of all runs.
        bytes_in: the size of the arrays that all runs got.
        bytes_out: the size of the arrays that all runs returned, or left for bytecode.
    """

    name: str
    first: int
    last: int
    runs: int
    timed: int
    seconds: float
    bytes_in: int
    bytes_out: int


class FunctionProfile(NamedTuple):
    """The calls of a function.

    Attributes:
        name, filename, line: the function.
        calls: the number of calls; those that compiled code makes of functions that are compiled with it are left out.
        bytecode: seconds in its bytecode and in functions that this calls. It is the time of the calls without kernels,
            without compilations, and without calls of other jitted functions.
        compiling: seconds in which calls of it were captured and compiled.
        kernels: its kernels, by line.
        exits: how often the kernels were left early, and re-entered.
    """

    name: str
    filename: str
    line: int
    calls: int = 0
    bytecode: float = 0.0
    compiling: float = 0.0
    kernels: Tuple[KernelProfile, ...] = ()
    exits: ExitCounts = ExitCounts()

    @property
    def in_kernels(self) -> float:
        """Seconds in its kernels."""
        return sum(one.seconds for one in self.kernels)

    @property
    def seconds(self) -> float:
        """Seconds in all."""
        return self.bytecode + self.compiling + self.in_kernels
