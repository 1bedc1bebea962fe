"""Exit counts: how often kernels were left, on which line and why, from the counters of launchers.

`explain` and the exit log read them.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Dict, Iterable, Iterator, List, Sequence, Tuple

from pijit.core.capture_records import ExitCounts, ExitReport, MissReport, ReentryCount, SlowKernel
from pijit.core.kernel.compile import Kernel
from pijit.core.named_tuples import NamedTuple

OFTEN = "PJ310"
SCALAR = "PJ320"
FEW = 2
"""Minimum of exits from which they can count as frequent."""
POLL = "poll"


class Counted(NamedTuple):
    """A launcher with its kernel, the kernel's number (0 for re-entries), and the line where the kernel starts.

    For each exit of the graph, ``lines`` has the line of its target, and ``side`` whether it is a side exit.
    """

    launcher: Any
    kernel: Kernel
    number: int
    start: int
    lines: Tuple[int, ...]
    side: Tuple[bool, ...]

    @property
    def runs(self) -> int:
        return int(self.launcher.calls - self.launcher.misses)

    @property
    def name(self) -> str:
        return "k%d" % self.number if self.number else "re-entry"

    @property
    def missed(self) -> MissReport:
        """How often the launcher was called and did not run."""
        failed = self.launcher.program.last_failed if self.launcher.program is not None else None
        guard = str(failed) if failed is not None else ""
        return MissReport(self.start, self.name, int(self.launcher.misses), int(self.launcher.calls), guard)

    def taken(self) -> Iterator[Tuple[Any, int]]:
        """((line, operation, why), count) of each cause of exits."""
        left = list(self.launcher.exit_counts)
        for cause, count in zip(self.kernel.causes, self.launcher.cause_counts):
            left[cause.exit] -= count
            if count:
                yield (cause.line or self._line(cause.exit), cause.operation, cause.why), count
        for exit, count in enumerate(left):
            if count > 0 and self.side[self.kernel.exits[exit][0]]:
                yield (self._line(exit), "path", "it is not compiled"), count

    def _line(self, exit: int) -> int:
        return self.lines[self.kernel.exits[exit][0]]


def counted(instructions: Sequence[Any], made: Iterable[Any], is_reentry: bool = False) -> List[Counted]:
    """The counters of launchers, each with its segment and kernel."""
    found = []
    for one in made:
        exits = one.captured.graph.exits
        lines = tuple(_line_of(instructions, exit.target) for exit in exits)
        found.append(Counted(one.launcher, one.kernel, 0 if is_reentry else one.captured.number,
                             _line_of(instructions, one.captured.start), lines,
                             tuple(exit.side and not exit.poll for exit in exits)))
    return found


def _line_of(instructions: Sequence[Any], index: int) -> int:
    return next((one.lineno for one in instructions[index::-1] if one.lineno), 0)


def exit_counts(counters: Sequence[Counted]) -> ExitCounts:
    """The current counts.

    Args:
        counters: the counters of an entry.

    Returns:
        Exits by line, operation and reason; re-entries; polls.
    """
    counts: Dict[Any, int] = Counter()
    where: Dict[Any, List[Counted]] = {}
    polls = 0
    for one in counters:
        for key, count in one.taken():
            if key[1] == POLL:
                polls += count
                continue
            counts[key] += count
            where.setdefault(key, []).append(one)
    reentries = [one for one in counters if not one.number]
    backs = tuple(ReentryCount(one.start, one.runs, one.launcher.wait > 0) for one in reentries if one.runs)
    shut = not reentries or any(one.launcher.wait > 0 for one in reentries)
    exits = tuple(_report(key, counts[key], where[key], shut) for key in sorted(counts))
    return ExitCounts(exits, backs, polls, tuple(one.missed for one in counters if one.launcher.misses))


def slow_kernels(counters: Sequence[Counted]) -> Tuple[SlowKernel, ...]:
    """The kernels of an entry that are slower than they could be.

    Arguments:
        counters: the counters of the entry.
    """
    return tuple(SlowKernel(one.start, one.name, SCALAR) for one in counters if one.kernel.has_scalar_loops)


def _report(key: Tuple[int, str, str], count: int, left: Sequence[Counted], shut: bool) -> ExitReport:
    """The report of one cause; ``shut`` says that bytecode runs loops that kernels have left."""
    runs = sum(one.runs for one in left)
    names = dict.fromkeys(one.name for one in left)
    often = shut and count >= FEW and 2 * count >= runs
    return ExitReport(key[0], ", ".join(names), key[1], key[2], count, runs, OFTEN if often else "")
