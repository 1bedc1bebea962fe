"""The pipeline that makes an entry for a call: capture, plan and kernel of each graph, link, guards.

`function_state.State` decides for which call an entry is made, and calls `make_entry`. The steps:

    call:        `State.on_miss` finds out that the call needs a new entry
    entry:       `make_entry` takes the steps below
    capture:     `capture.driver.capture` analyses the code, makes a graph of each region and runs the passes over it
    plan:        `kernel.compile.Kernel` plans the kernel of a graph and writes its source; for a kernel that is left
                 for later the last passes run first
    kernel:      `Kernel.compile` has the back end make machine code
    link:        `bytecode.linker.link` writes bytecode that calls the kernels

Each step returns a record, which later steps take. Nothing here runs the user's function.
"""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple

from pijit.core import _hook
from pijit.core.asynchronous_exceptions import signals_deferred
from pijit.core.break_causes import break_causes, break_reports
from pijit.core.capture.build.guards import entry_program, lines_of
from pijit.core.capture.build.segment import Captured
from pijit.core.capture.context import CaptureOptions
from pijit.core.capture.driver import CaptureRequest, Captures, capture
from pijit.core.capture.profile.type_feedback import MAX_RENEWALS, ObservedKinds, Pending
from pijit.core.capture.values.lattice import Abstract
from pijit.core.capture_records import EntryReports
from pijit.core.capture_report import CaptureRecord, Clock, reentry_report, segment_reports
from pijit.core.entries.call_sites import CallSites, call_sites, inliner_of
from pijit.core.entries.entry import Entry, EntryFeedback
from pijit.core.entries.kernels import KernelOrBreak, kernel_of, reentries_of
from pijit.core.entries.launch_sites import Kept, Launchers, Reentry, make_osr_checks, make_sites
from pijit.core.entries.linked_code import LinkedCode, Observers, linked_code
from pijit.core.entry_timing import patience
from pijit.core.exit_counts import counted
from pijit.core.frameless_calls import enlist_frameless_start, frameless_start_of
from pijit.core.graph.passes import recorded
from pijit.core.kernel.compile import Kernel
from pijit.core.kernel_names import Numbering
from pijit.core.loop_timing import measure_loops
from pijit.core.named_tuples import NamedTuple
from pijit.guards.program import GuardProgram

if TYPE_CHECKING:
    from pijit.core.function_state import State


class Start(NamedTuple):
    """The loop header at which a running call continues; for ``arrived`` see `Pending`."""

    header: int
    arrived: Dict[str, Abstract]


class EntryRequest(NamedTuple):
    """The call for which an entry is made.

    Attributes:
        state: the state of the function.
        code: the code of the function.
        roots: the locals of the call with its cells, its globals and its builtins.
        observed: the kinds of values that earlier runs have shown.
        pending: observes more values; None if nothing is to be observed.
        why: why the function is captured again; empty for a first capture.
        start: where a running call continues, or None.
        clock: measures the steps.
    """

    state: State
    code: types.CodeType
    roots: Tuple[Any, ...]
    observed: ObservedKinds
    pending: Optional[Pending]
    why: str
    start: Optional[Start]
    clock: Clock


class Kernels(NamedTuple):
    """The kernel of each candidate or the Break that says why there is none, by capture, and the kernels alone."""

    outcomes: List[List[KernelOrBreak]]
    kept: List[Kept]

    @property
    def segments(self) -> List[Captured]:
        """The segments that became kernels."""
        return [candidate.segment for _, candidate, _ in self.kept]


def make_entry(state: State, code: types.CodeType, roots: Tuple[Any, ...], observed: ObservedKinds,
               pending: Optional[Pending], why: str, start: Optional[Start] = None) -> Entry:
    """The entry for one call; for the arguments see `EntryRequest`."""
    with signals_deferred():
        request = EntryRequest(state, code, roots, observed, pending, why, start, Clock())
        captures = _capture(request)
        kernels = _plan_and_compile(request, captures)
        launchers = _place_launchers(request, captures, kernels)
        observers = _place_observers(request, captures)
        calls = call_sites(state, captures.results)
        linked = _link(request, captures, launchers, observers, calls)
        program = _guard(request, captures, kernels, launchers)
        return _entry(request, captures, kernels, launchers, observers, calls, linked, program)


def _capture(request: EntryRequest) -> Captures:
    """One capture for each kind of observed values."""
    profiles, results = request.observed.profiles, []
    with recorded(request.state.config.print_after_all) as stages:
        numbering = Numbering(request.code.co_name, len(profiles) == 1, stages)
        for profile in profiles:
            results.append(capture(_capture_request(request, profile)))
            enlist_frameless_start(results[-1])
            numbering.add(results[-1])
    broken = sorted(dict(found for one in reversed(results) for found in one.breaks()).items())
    request.clock.done("capture")
    return Captures(results, broken, stages)


def _capture_request(request: EntryRequest, profile: Dict[int, Abstract]) -> CaptureRequest:
    state, config, start = request.state, request.state.config, request.start
    options = CaptureOptions(
        specialisation=state.specialisation, unrolling=config.max_loop_unrolling if config.loop_unrolling else 0,
        force_breaks=config.force_breaks, ignored_flags=state.ignored_flags, constant_globals=state.constant_globals,
        precision=config.auto_mixed_precision)
    return CaptureRequest(state.analysed(request.code), request.roots, _hook.UNBOUND, profile, options,
                          inliner_of(request.state), start.arrived if start is not None else None, state.hints)


def _plan_and_compile(request: EntryRequest, captures: Captures) -> Kernels:
    """A kernel for each candidate, or the reason why there is none. Each kernel is planned before it is compiled."""
    outcomes = [[kernel_of(request.state, candidate) for candidate in one.candidates] for one in captures.results]
    kept = [(number, candidate, kernel) for number, one in enumerate(captures.results)
            for candidate, kernel in zip(one.candidates, outcomes[number]) if isinstance(kernel, Kernel)]
    request.clock.done("compile")
    return Kernels(outcomes, kept)


def _place_launchers(request: EntryRequest, captures: Captures, kernels: Kernels) -> Launchers:
    """Launchers, the sites where linked code calls them, and re-entries."""
    sites, made, last = make_sites(kernels.kept, captures.function)
    reentries: Dict[Any, Reentry] = {}
    for number, one in enumerate(captures.results):
        segments = [candidate.segment for which, candidate, _ in kernels.kept if which == number]
        reentries.update(reentries_of(request.state, one, number, segments))
    measure_loops(request.state, captures.first.cfg, made, list(reentries.values()))
    return Launchers(sites, made, last, reentries, frameless_start_of(captures.function, made))


def _place_observers(request: EntryRequest, captures: Captures) -> Observers:
    """Observers of unknown values, and the code by which a running call moves to newer code."""
    pending = request.pending
    if pending is None:
        return Observers()
    found = pending.to_observe([index for one in captures.results for index in one.observable()], dict(captures.broken))
    observers = {index: pending.observe(index) for index in found}
    return Observers(observers, *make_osr_checks(captures.first, pending, observers)) if observers else Observers()


def _link(request: EntryRequest, captures: Captures, launchers: Launchers, observers: Observers,
          calls: CallSites) -> LinkedCode:
    """The linked code, and the code in which a running call continues."""
    header = request.start.header if request.start is not None else None
    linked = linked_code(request.state.config, captures.first, launchers, observers, calls, header)
    request.clock.done("link")
    return linked


def _guard(request: EntryRequest, captures: Captures, kernels: Kernels, launchers: Launchers) -> GuardProgram:
    """The guard program. It also fetches the inputs of a kernel that runs before the function has a frame."""
    causes = [cause for one in captures.results for cause in one.causes()]
    by_shape = request.state.config.enable_dynamic_shape is False
    start = launchers.frameless_start
    return entry_program(kernels.segments, causes, request.roots if by_shape else None,
                         start.inputs if start is not None else (),
                         [entry.program for entry in request.state.entries], request.state.specialisation.guesses_axes)


def _entry(request: EntryRequest, captures: Captures, kernels: Kernels, launchers: Launchers,
           observers: Observers, calls: CallSites, linked: LinkedCode, program: GuardProgram) -> Entry:
    """The entry, with its reports; captures drop the user's values."""
    instructions, reentries = captures.function.instructions, launchers.reentries.values()
    reports = _reports(request, captures, kernels, launchers, observers)
    record = CaptureRecord(request.state.py_func, captures, kernels.outcomes, [one.kernel for one in reentries],
                           linked.linked, program, reports, request.clock.seconds)
    hinted = {index: line for one in captures.results for index, line in one.hinted().items()}
    if (request.observed.kinds or hinted) and not observers.observers and request.observed.renewals < MAX_RENEWALS:
        for launcher in launchers.last:
            launcher.entry = program
    counters = counted(instructions, launchers.made) + counted(instructions, reentries, is_reentry=True)
    for one in captures.results:
        one.release()
    return Entry(
        program=program, code=linked, launchers=[one.launcher for one in launchers.made],
        reentries=[reentry.launcher for reentry in reentries], counters=counters,
        patience=patience(request.state.config, kernels.segments), callees=calls.states(),
        feedback=EntryFeedback(request.observed, observers.observers, hinted), reports=reports, record=record)


def _reports(request: EntryRequest, captures: Captures, kernels: Kernels, launchers: Launchers,
             observers: Observers) -> EntryReports:
    """The reports of an entry. A further capture adds only the segments that became kernels."""
    first, results, filename = captures.first, captures.results, request.code.co_filename
    segments = segment_reports(first, kernels.outcomes[0])
    for one, kernels_or_breaks in zip(results[1:], kernels.outcomes[1:]):
        segments += [report for report in segment_reports(one, kernels_or_breaks) if report.kind == "kernel"]
    return EntryReports(
        segments=segments, breaks=break_reports(first, filename, break_causes(results, captures.broken)),
        stays=break_reports(first, filename, observers.stays),
        reentries=[reentry_report(results[number], results[number].reentries[key])
                   for number, key in launchers.reentries],
        guard_lines=lines_of(kernels.segments), why=request.why)
