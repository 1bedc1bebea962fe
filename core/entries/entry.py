"""An entry: linked code, the guards under which it holds, and its reports.

`core.pipeline` makes entries. `core.function_state` keeps them, and notes the results of their timing. It must not
decide when an entry is made or dropped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, cast

from pijit.core import _hook
from pijit.core.capture.profile.type_feedback import ObservedKinds
from pijit.core.capture_records import EntryReports
from pijit.core.capture_report import CaptureRecord
from pijit.core.entries.linked_code import LinkedCode
from pijit.core.exit_counts import Counted
from pijit.core.named_tuples import NamedTuple
from pijit.guards.program import GuardProgram

if TYPE_CHECKING:
    from pijit.core.function_state import State


class EntryFeedback(NamedTuple):
    """The types of values with which an entry was captured, and those that its first run shows.

    Attributes:
        observed: the kinds that earlier runs have shown; see `type_feedback`.
        observers: the observers of the first run, by instruction.
        hinted: by instruction, the lines of values that the program has described by hints.
    """

    observed: ObservedKinds
    observers: Dict[int, Any]
    hinted: Dict[int, int]


class Entry:
    """A linked code object and the guards under which it holds. Only the timing changes after it is made.

    Attributes:
        program: the guard program over the frame at entry.
        code: the linked code.
        launchers: the launchers of the segments that became kernels, in the order of their sites.
        reentries: the launchers of re-entries into loops that a kernel has left in the middle.
        counters: the counters of its kernels' exits; see `exit_counts`.
        patience: factor by which its calls may take longer than others' and still be timed; see `entry_timing`.
        callees: the states of called functions that are compiled on their own.
        feedback: the types of values, as they were observed.
        reports: the reports of its segments and breaks.
        record: the texts of the capture.
        timing: the A/B timing against the original function, until its result is known; see `entry_timing`.
        retired: why it lost, or None.
    """

    def __init__(self, program: GuardProgram, code: LinkedCode, launchers: Sequence[Any], reentries: Sequence[Any],
                 counters: Sequence[Counted], patience: int, callees: Sequence[State], feedback: EntryFeedback,
                 reports: EntryReports, record: CaptureRecord) -> None:
        self.program = program
        self.code = code
        self.launchers = launchers
        self.reentries = reentries
        self.counters = counters
        self.patience = patience
        self.callees = callees
        self.feedback = feedback
        self.reports = reports
        self.record = record
        self.timing: Any = None
        self.retired: Optional[str] = None

    @property
    def payload(self) -> Any:
        """The cache's payload for calls that fit: an EntryTiming or an Entrance, or None if these gain nothing."""
        gains = self.launchers or not all(cast(_hook.Callee, callee.callee).idle for callee in self.callees)
        return (self.timing or self.code.entrance) if gains else None

    @property
    def rank(self) -> int:
        """The rank in the cache: of entries that fit a call, the one with the fewest breaks serves.

        An entry for any value of a number or length may have more breaks than those for one value.
        """
        return len(self.reports.breaks)

    @property
    def guards(self) -> List[str]:
        return [str(guard) for guard in self.program.guards]

    @property
    def kernels(self) -> Sequence[Any]:
        return self.launchers

    @property
    def calls(self) -> int:
        return int(self.program.hits)
