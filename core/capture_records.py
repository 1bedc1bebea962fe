"""What captures report: plain records that `pijit.explain`, the dumps and the tests read."""

from __future__ import annotations

from types import CodeType
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from pijit.core.errors import Step, place
from pijit.core.reasons import REASONS, reason


class SegmentReport(NamedTuple):
    """One segment: ``kind`` is "kernel", or "bytecode" with the ``reason`` why it was not compiled.

    ``lines`` are those on which the segment does something: more than putting on the stack what bytecode goes on
    with. ``inlined`` counts the instructions of callees.
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


class WayReport(NamedTuple):
    """A re-entry: the way back into a loop that a kernel has left in the middle, or that a running call moves to.

    ``line`` is that of the loop's header. Its kernel is compiled when it is first needed.
    """

    line: int
    start_line: int
    end_line: int
    instructions: int
    exits: int

    def __str__(self) -> str:
        return "line %d: back into lines %d-%d, %d instructions, %d exits; compiled when first needed" % self


class EffectReport(NamedTuple):
    """A store or another effect on what the function did not make: ``where`` is "k1, k3" in kernels
    1 and 3, or "bytecode". ``file`` is that of the line, if it is not the function's."""

    line: int
    what: str
    where: str
    file: str = ""

    def __str__(self) -> str:
        return "%s: %s in %s" % (place(self.line, self.file), self.what, self.where)


class InlinedReport(NamedTuple):
    """A function that was inlined into kernels - its name, file and first line - and a line of ``caller`` that calls
    it."""

    name: str
    filename: str
    line: int
    caller: str
    call_file: str
    call_line: int
    where: str


class BreakReport(NamedTuple):
    """One instruction that stays bytecode; ``trail`` leads into the function that is called there, see `Break`."""

    reason_id: str
    message: str
    hint: str
    filename: str
    lineno: int
    opname: str
    trail: Tuple[Step, ...] = ()


class ExitReport(NamedTuple):
    """How often kernels have left a line for bytecode because of one operation.

    Attributes:
        line: the line of the operation, or of the statement that called the function that it is in.
        kernels: the kernels, "k1", and "re-entry" for those by which control comes back.
        operation: an operator, or the name of a function or of an operation.
        why: what that operation leaves for.
        count: how often it was the reason.
        runs: how often the kernels ran.
        reason_id: "PJ310" if most runs ended there after few rounds, or "".
    """

    line: int
    kernels: str
    operation: str
    why: str
    count: int
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
        """What the user can do about it; "" where kernels are left now and then."""
        return REASONS[self.reason_id].hint if self.reason_id else ""

    def __str__(self) -> str:
        return "line %d: %s" % (self.line, self.message)


class ReentryReport(NamedTuple):
    """How often control came back into a loop that a kernel had left: ``runs`` of the kernel for that, and whether
    the loop's next rounds are bytecode's (``waits``)."""

    line: int
    runs: int
    waits: bool

    def __str__(self) -> str:
        return "line %d: %d times back in the loop%s" % (self.line, self.runs,
                                                         ", which now runs as bytecode" if self.waits else "")


class MissReport(NamedTuple):
    """How often a kernel was asked and did not run: ``guard`` is what failed last, "" if nothing of that kind did."""

    line: int
    kernel: str
    count: int
    asked: int
    guard: str

    def __str__(self) -> str:
        return "line %d: %s was not run %d of %d times%s" % (
            self.line, self.kernel, self.count, self.asked, " (guard: %s)" % self.guard if self.guard else "")


class ExitCounts(NamedTuple):
    """What has left and re-entered the kernels of an entry; ``polls`` were for the interpreter, not for the program."""

    exits: Tuple[ExitReport, ...] = ()
    reentries: Tuple[ReentryReport, ...] = ()
    polls: int = 0
    misses: Tuple[MissReport, ...] = ()

    @property
    def lists(self) -> List[Tuple[str, Tuple[Any, ...]]]:
        """What is listed of them: titles and reports, those that there are."""
        found = (("exits", self.exits), ("came back", self.reentries), ("not run", self.misses))
        return [(title, reports) for title, reports in found if reports]


class Entry:
    """A linked code object and the guards under which it holds.

    Attributes:
        program: the guard program over the frame at entry.
        linked_code: what runs in a frame on a hit.
        segments, breaks: reports, in program order.
        launchers: of the kernels, in the order of ``segments`` of kind "kernel".
        observers: what the first run still has to observe, by instruction.
        why: why the function was captured again for this entry; "" for a first capture.
        reentries: the launchers by which control comes back into a loop that a kernel has left in the middle.
        moved_code: the same linked code, for the call in the middle of which it was captured; else None.
        stays: the loops that a first call does not leave for newer code.
        callees: the states of the functions that are called and compiled on their own.
        ways: reports of the re-entries.
        entrance: how calls get into ``linked_code``, an ``Entrance``.
        seen: what it was captured with, see `feedback`.
        lines: by source, the line of the program that relies on it first.
        record: a ``CaptureRecord``, the texts of the capture.
        patience: how many times as long as others its calls may take and be measured, see `trials`.
        hinted: by instruction, the lines of values of which the program said what they are like.
        trial: what measures it against the function as it is, as long as that is not decided; see `trials`.
        retired: why it lost, or None.
        counters: what counts the exits of its kernels, see `exits`.
    """

    def __init__(self, program: Any, linked_code: CodeType, segments: List[SegmentReport], breaks: List[BreakReport],
                 launchers: List[Any], observers: Dict[int, Any],
                 why: str = "", reentries: Sequence[Any] = (), moved_code: Optional[CodeType] = None,
                 stays: Sequence[BreakReport] = (), callees: Sequence[Any] = (),
                 ways: Sequence[WayReport] = (), entrance: Any = None, seen: Any = None,
                 lines: Optional[Dict[Any, str]] = None, record: Any = None, patience: int = 1,
                 hinted: Optional[Dict[int, int]] = None, counters: Sequence[Any] = ()) -> None:
        self.counters = tuple(counters)
        self.patience = patience
        self.hinted = hinted or {}
        self.record = record
        self.trial: Any = None
        self.retired: Optional[str] = None
        self.seen = seen
        self.lines = lines or {}
        self.program = program
        self.linked_code = linked_code
        self.entrance = entrance
        self.segments = segments
        self.breaks = breaks
        self.launchers = launchers
        self.observers = observers
        self.why = why
        self.reentries = tuple(reentries)
        self.moved_code = moved_code
        self.stays = tuple(stays)
        self.callees = tuple(callees)
        self.ways = tuple(ways)

    @property
    def payload(self) -> Any:
        """What the cache has for calls that fit: a Trial or an Entrance, or None if that gains nothing."""
        gains = self.launchers or not all(callee.callee.idle for callee in self.callees)
        return (self.trial or self.entrance) if gains else None

    @property
    def guards(self) -> List[str]:
        return [str(guard) for guard in self.program.guards]

    @property
    def kernels(self) -> List[Any]:
        return self.launchers

    @property
    def calls(self) -> int:
        return int(self.program.hits)


def break_report(error: Any, filename: str, lineno: int, opname: str, instead: Optional[str] = None) -> BreakReport:
    """The report of a Break at an instruction; ``instead`` says how a Python function runs that is called there."""
    facts = dict(error.facts) if instead is None else dict(error.facts, instead=instead)
    if error.trail:
        facts["because"] = "%s: %s" % (_innermost(error.trail, filename), facts["because"])
    return BreakReport(error.reason_id, reason(error.reason_id, **facts), REASONS[error.reason_id].hint, filename,
                       lineno, opname, error.trail)


def _innermost(trail: Sequence[Step], filename: str) -> str:
    """Where that is which is in the way of inlining a call; the functions on the way to it are left to the trail."""
    last = trail[-1]
    where = place(last.lineno, last.filename if last.filename != filename else "")
    return "%s, in %s" % (where, last.name) if len(trail) > 1 else where
