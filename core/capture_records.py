"""Records of captures: plain data that `pijit.explain`, the dumps and the tests read.

`pipeline` and `exit_counts` create them. A record must keep no object of the user.
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence, Tuple

from pijit.core.errors import CauseStep, place
from pijit.core.named_tuples import NamedTuple
from pijit.core.reasons import REASONS, reason


class SegmentReport(NamedTuple):
    """One segment: ``kind`` is "kernel", or "bytecode" with the ``reason`` why it was not compiled.

    ``lines`` are the lines on which the segment does more than push operands with which bytecode continues.
    ``inlined`` counts the instructions of callees.
    """

    id: int
    kind: str
    start_line: int
    end_line: int
    instructions: int
    exits: int
    reason: str
    lines: Tuple[int, ...]
    inlined: int = 0


class ReentryReport(NamedTuple):
    """A re-entry into a loop that a kernel has left in the middle, or to which a running call moves.

    ``line`` is that of the loop's header. The kernel is compiled when it is first needed.
    """

    line: int
    start_line: int
    end_line: int
    instructions: int
    exits: int

    def __str__(self) -> str:
        return "line %d: back into lines %d-%d, %d instructions, %d exits; compiled when first needed" % self


class EffectReport(NamedTuple):
    """A store or another effect on an object that the function did not create.

    ``where`` is "k1, k3" for kernels 1 and 3, or "bytecode". ``file`` is the file of the line, if it is not the
    function's.
    """

    line: int
    what: str
    where: str
    file: str = ""

    def __str__(self) -> str:
        return "%s: %s in %s" % (place(self.line, self.file), self.what, self.where)


class InlinedReport(NamedTuple):
    """A function that was inlined into kernels: its name, file and first line, and a call of it in ``caller``."""

    name: str
    filename: str
    line: int
    caller: str
    call_file: str
    call_line: int
    where: str


class BreakReport(NamedTuple):
    """One instruction that stays bytecode; ``trail`` leads into the called function, see `Break`.

    ``in_handler``: it is part of an exception handler, which runs only after an exception.
    """

    reason_id: str
    message: str
    hint: str
    filename: str
    lineno: int
    opname: str
    trail: Tuple[CauseStep, ...] = ()
    in_handler: bool = False


class ExitReport(NamedTuple):
    """How often kernels have left a line for bytecode because of one operation.

    Attributes:
        line: the line of the operation, or of the statement that called the function with the operation.
        kernels: the kernels, such as "k1"; "re-entry" stands for re-entry kernels.
        operation: an operator, or the name of a function or of an operation.
        why: the reason why that operation leaves the kernel.
        count: how many exits it caused.
        runs: how often the kernels ran.
        reason_id: "PJ310" if most runs ended there after few iterations, or "".
    """

    line: int
    kernels: str
    operation: str
    why: str
    count: int  # type: ignore[assignment]  # hides tuple.count
    runs: int
    reason_id: str

    @property
    def message(self) -> str:
        """One line: how often, and why."""
        facts = {"operation": self.operation, "because": self.why, "exits": self.count, "runs": self.runs}
        if self.reason_id:
            return reason(self.reason_id, **facts)
        return "%s left %d of %d runs here (operation: %s, because: %s)" % (
            self.kernels, self.count, self.runs, self.operation, self.why)

    @property
    def hint(self) -> str:
        """Advice for the user; "" if the kernels are left only rarely."""
        return REASONS[self.reason_id].hint if self.reason_id else ""

    def __str__(self) -> str:
        return "line %d: %s" % (self.line, self.message)


class SlowKernel(NamedTuple):
    """A kernel that is slower than it could be.

    Attributes:
        line: the line where the kernel starts.
        kernel: its name, such as "k1"; "re-entry" stands for re-entry kernels.
        reason_id: the reason, "PJ32x".
    """

    line: int
    kernel: str
    reason_id: str

    @property
    def message(self) -> str:
        """One line: the kernel, and why it is slow."""
        return reason(self.reason_id, kernel=self.kernel)

    @property
    def hint(self) -> str:
        """Advice for the user."""
        return REASONS[self.reason_id].hint

    def __str__(self) -> str:
        return "line %d: %s" % (self.line, self.message)


class ReentryCount(NamedTuple):
    """How often control returned to a loop that a kernel had left.

    ``runs`` is the number of runs of the re-entry kernel. ``waits`` says whether bytecode runs the loop's next
    iterations.
    """

    line: int
    runs: int
    waits: bool

    def __str__(self) -> str:
        return "line %d: %d times back in the loop%s" % (self.line, self.runs,
                                                         ", which now runs as bytecode" if self.waits else "")


class MissReport(NamedTuple):
    """How often a kernel was called and did not run; ``guard`` is the last guard that failed, or "" if none did."""

    line: int
    kernel: str
    count: int  # type: ignore[assignment]  # hides tuple.count
    asked: int
    guard: str

    def __str__(self) -> str:
        return "line %d: %s was not run %d of %d times%s" % (
            self.line, self.kernel, self.count, self.asked, " (guard: %s)" % self.guard if self.guard else "")


class ExitCounts(NamedTuple):
    """Exits from and re-entries into the kernels of an entry. The interpreter, not the program, caused ``polls``."""

    exits: Tuple[ExitReport, ...] = ()
    reentries: Tuple[ReentryCount, ...] = ()
    polls: int = 0
    misses: Tuple[MissReport, ...] = ()

    @property
    def lists(self) -> List[Tuple[str, Tuple[Any, ...]]]:
        """The non-empty lists of reports, with their titles."""
        found = (("exits", self.exits), ("came back", self.reentries), ("not run", self.misses))
        return [(title, reports) for title, reports in found if reports]


class EntryReports(NamedTuple):
    """The reports of an entry, in program order.

    Attributes:
        segments: reports of the segments.
        breaks: reports of the instructions that stay bytecode.
        stays: the loops that a first call does not leave for newer code.
        reentries: reports of the re-entries.
        guard_lines: for each source of a guard, the first line of the program that relies on it.
        why: why the function was captured again for this entry; empty for a first capture.
    """

    segments: List[SegmentReport]
    breaks: List[BreakReport]
    stays: List[BreakReport]
    reentries: List[ReentryReport]
    guard_lines: Dict[Any, str]
    why: str


def break_report(error: Any, filename: str, lineno: int, opname: str, instead: Optional[str] = None,
                 in_handler: bool = False) -> BreakReport:
    """The report of a Break at an instruction; ``instead`` says how a Python function that is called there runs."""
    facts = dict(error.facts) if instead is None else dict(error.facts, instead=instead)
    if error.trail:
        facts["because"] = "%s: %s" % (_innermost(error.trail, filename), facts["because"])
    return BreakReport(error.reason_id, reason(error.reason_id, **facts), REASONS[error.reason_id].hint, filename,
                       lineno, opname, error.trail, in_handler)


def _innermost(trail: Sequence[CauseStep], filename: str) -> str:
    """The construct that prevents the inlining of a call; the functions on the way to it are left to the trail."""
    last = trail[-1]
    where = place(last.lineno, last.filename if last.filename != filename else "")
    return "%s, in %s" % (where, last.name) if len(trail) > 1 else where
