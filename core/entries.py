"""Creation of one entry: capture, compile each graph, guard, link.

`pipeline.State` calls it, and decides when and for which call.
"""

from __future__ import annotations

import time
import types
import weakref
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple, cast

from pijit.core import _hook
from pijit.core.asynchronous_exceptions import raise_asynchronous, signals_deferred
from pijit.core.break_causes import break_causes, break_reports
from pijit.core.bytecode.codec.decode import Function
from pijit.core.bytecode.linker.continuation import Announce
from pijit.core.bytecode.linker.link import Landings, Site, ValueProbe, link
from pijit.core.capture.build.guards import entry_program, lines_of
from pijit.core.capture.build.segment import Captured
from pijit.core.capture.driver import Candidate, Capture, CaptureRequest, capture
from pijit.core.capture.inline.inliner import Inliner
from pijit.core.capture.profile.type_feedback import MAX_RENEWALS, ObservedKinds, Pending
from pijit.core.capture.state.uncaptured_effects import unpacked
from pijit.core.capture.values.lattice import Abstract
from pijit.core.capture_records import Entry
from pijit.core.capture_report import CaptureRecord, Clock, reentry_report, segment_reports
from pijit.core.entry_timing import patience
from pijit.core.errors import Break, LinkError, first_line, is_strict
from pijit.core.exit_counts import counted
from pijit.core.frameless_calls import enlist_frameless_start, frameless_start_of
from pijit.core.graph.kernel_key import graph_key
from pijit.core.graph.passes import recorded
from pijit.core.internal_functions import stand_in
from pijit.core.kernel.compile import ForkedError, Kernel, TooDeep, compile_graph
from pijit.core.kernel.compile_permission import TooEarly
from pijit.core.kernel.options import flavour_of
from pijit.core.kernel_names import Numbering
from pijit.core.launch_sites import Reentry, make_osr_checks, make_reentry, make_sites
from pijit.core.loop_timing import measure_loops
from pijit.core.named_tuples import NamedTuple

if TYPE_CHECKING:
    from pijit.core.pipeline import State


class Start(NamedTuple):
    """The loop header at which a running call continues; for ``arrived`` see `Pending`."""

    header: int
    arrived: Dict[str, Abstract]


def make_entry(state: State, code: types.CodeType, roots: Tuple[Any, ...], observed: ObservedKinds,
               pending: Optional[Pending], why: str, start: Optional[Start] = None) -> Entry:
    """Capture, compile, guard and link for one call.

    ``roots`` are the call's locals with cells, its globals and its builtins. ``pending``, if given, observes values.
    ``start`` is the loop header at which a running call continues.
    """
    with signals_deferred():
        builder = _EntryBuilder(state, code, roots, observed, pending, start)
        builder.capture()
        builder.compile()
        builder.place_launchers()
        builder.place_observers()
        builder.place_calls()
        builder.link()
        builder.guard()
        return builder.entry(why)


class _EntryBuilder:
    """The steps that make one entry, and what each of them leaves to the later ones."""

    def __init__(self, state: State, code: types.CodeType, roots: Tuple[Any, ...], observed: ObservedKinds,
                 pending: Optional[Pending], start: Optional[Start]) -> None:
        self.state, self.config, self.code, self.roots = state, state.config, code, roots
        self.observed, self.pending, self.start = observed, pending, start
        self.clock = Clock()

    def capture(self) -> None:
        """One capture for each kind of observed values."""
        config, start = self.config, self.start
        localsplus, globals, builtins = self.roots
        analysed = self.state.analysed(self.code)
        self.results: List[Capture] = []
        self.state.inlined.renew()
        with recorded(config.print_after_all) as self.stages:
            numbering = Numbering(self.code.co_name, len(self.observed.profiles) == 1, self.stages)
            for profile in self.observed.profiles:
                self.results.append(capture(CaptureRequest(
                    analysed, localsplus, _hook.UNBOUND, globals, builtins, profile, config.force_breaks,
                    self.state.specialisation, inliner_of(self.state),
                    config.max_loop_unrolling if config.loop_unrolling else 0,
                    start.arrived if start is not None else None, self.state.hints,
                    ignored_flags=self.state.ignored_flags, constant_globals=self.state.constant_globals,
                    precision=config.auto_mixed_precision)))
                enlist_frameless_start(self.results[-1])
                numbering.add(self.results[-1])
        self.result = self.results[0]
        self.function = self.result.cfg.function
        self.clock.done("capture")

    def compile(self) -> None:
        """A kernel for each candidate, or the reason why there is none."""
        self.compiled = [[_compile(self.state, candidate) for candidate in one.candidates] for one in self.results]
        self.kept = [(number, candidate, kernel) for number, one in enumerate(self.results)
                     for candidate, kernel in zip(one.candidates, self.compiled[number]) if isinstance(kernel, Kernel)]
        self.clock.done("compile")

    def place_launchers(self) -> None:
        """Launchers, the sites where linked code calls them, and re-entries."""
        self.sites, self.made, self.last = make_sites(self.kept, self.function)
        self.reentries: Dict[Any, Reentry] = {}
        for number, one in enumerate(self.results):
            self.reentries.update(_reentries(self.state, one, number,
                                             [c.segment for n, c, _ in self.kept if n == number]))
        measure_loops(self.state, self.result.cfg, self.made, list(self.reentries.values()))

    def place_observers(self) -> None:
        """Observers of unknown values, and the code by which a running call moves to newer code."""
        pending, results = self.pending, self.results
        self.broken = sorted(dict(found for one in reversed(results) for found in one.breaks()).items())
        self.observers: Dict[int, Any] = {}
        if pending is not None:
            found = pending.to_observe([index for one in results for index in one.observable()], dict(self.broken))
            self.observers = {index: pending.observe(index) for index in found}
        self.osr_checks, self.stays = make_osr_checks(
            self.result, pending, self.observers) if pending is not None and self.observers else ({}, [])

    def place_calls(self) -> None:
        """Call sites of functions that are compiled on their own."""
        self.calls = _compiled_calls(self.state, self.results)
        open_calls = {index for one in self.results for index, known in one.callees().items() if not known}
        self.call_sites = {index: _hook.CallSite(
            _callees_of(callees), _finder(self.state, index) if index in open_calls else None).callable
            for index, callees in self.calls.items()}
        self.announce, self.inner = _announcer(self.state)

    def link(self) -> None:
        """The linked code, and the code in which a running call continues."""
        self.landings: Landings = {}
        self.linked = self._linked_from(None, self.landings)
        self.moved = self._linked_from(self.start.header) if self.start is not None else None
        self.clock.done("link")

    def _linked_from(self, header: Optional[int], landings: Optional[Landings] = None) -> types.CodeType:
        instructions = self.function.instructions
        probes = [ValueProbe(index, observer, unpacked(instructions[index]))
                  for index, observer in self.observers.items()]
        return _linked(self.config, self.result, self.sites, probes,
                       {key: reentry.site for key, reentry in self.reentries.items()}, self.osr_checks, header,
                       self.call_sites, landings, self.announce)

    def guard(self) -> None:
        """The guard program, and the kernel that runs before the function has a frame."""
        causes = [cause for one in self.results for cause in one.causes()]
        by_shape = self.config.enable_dynamic_shape is False
        self.frameless_start = frameless_start_of(self.function, self.made)
        self.program = entry_program(
            (candidate.segment for _, candidate, _ in self.kept), causes, self.roots if by_shape else None,
            self.frameless_start.inputs if self.frameless_start is not None else (),
            [entry.program for entry in self.state.entries])

    def entry(self, why: str) -> Entry:
        """The entry, with its reports; captures drop the user's values."""
        results, reentries, first, program = self.results, self.reentries, self.frameless_start, self.program
        segments = segment_reports(self.result, self.compiled[0])
        for one, kernels_or_breaks in zip(results[1:], self.compiled[1:]):
            segments += [report for report in segment_reports(one, kernels_or_breaks) if report.kind == "kernel"]
        breaks = break_reports(self.result, self.code.co_filename, break_causes(results, self.broken))
        stay = break_reports(self.result, self.code.co_filename, self.stays)
        reentry_reports = [reentry_report(results[number], results[number].reentries[key]) for number, key in reentries]
        record = CaptureRecord(self.state.py_func, results, self.compiled,
                               [reentry.kernel for reentry in reentries.values()],
                               self.linked, program, segments, breaks + stay, why, reentry_reports, self.stages,
                               self.clock.seconds, [index for index, _ in self.broken])
        entrance = _hook.Entrance(self.linked, None, ()) if first is None else _hook.Entrance(
            self.linked, first.launcher, self.landings.get(first.launcher.callable, ()))
        hinted = {index: line for one in results for index, line in one.hinted().items()}
        observed, observers = self.observed, self.observers
        if (observed.kinds or hinted) and not observers and observed.renewals < MAX_RENEWALS:
            for launcher in self.last:
                launcher.entry = program
        counters = counted(self.function.instructions, self.made) + counted(
            self.function.instructions, reentries.values(), is_reentry=True)
        for one in results:
            one.release()
        called = list({id(callee): callee for found in [*self.calls.values(), *self.inner]
                       for callee in found}.values())
        return Entry(program, self.linked, segments, breaks, [one.launcher for one in self.made], observers, why,
                     [reentry.launcher for reentry in reentries.values()], self.moved, stay, called, reentry_reports,
                     entrance, observed, lines_of(candidate.segment for _, candidate, _ in self.kept), record,
                     patience(self.config, [candidate.segment for _, candidate, _ in self.kept]), hinted, counters)


def _compile(state: State, candidate: Candidate, later: bool = False) -> Any:
    """A Kernel, or the Break that says why there is none; None if another capture has the same graph."""
    if candidate.error is not None:
        return candidate.error
    if not candidate.segment.number:
        return None
    graph = candidate.segment.graph
    if graph.name in state.config.interpret:
        return Break("PJ404", name=graph.name)
    text, objects = graph_key(graph)
    flavour = flavour_of(state.config)
    key = (state.config.backend, flavour, text)
    known = state.kernels.get(key) or (state.shared_kernels.get(key), ())
    if known[0] is not None and (later or known[0].kernel is not None):
        return state.slow.get(known[0], known[0])
    try:
        kernel = compile_graph(graph, state.config.backend, later, state.config.cache, flavour)
    except TooDeep:
        return Break("PJ405")
    except ForkedError as error:
        return Break("PJ406", because=first_line(error))
    except TooEarly:
        raise
    except Exception as error:
        raise_asynchronous(error)
        state.fail("PJ902", error)
        return Break("PJ902", error=first_line(error))
    if objects:
        state.kernels[key] = kernel, objects
    else:
        state.shared_kernels[key] = kernel
    return kernel


def _compiled_calls(state: State, results: List[Capture]) -> Dict[int, List[State]]:
    """The states of the functions that calls in bytecode are known to run, by instruction.

    The list is empty for a call whose first runs must show the callee.
    """
    found: Dict[int, List[State]] = {}
    for index, callees in [call for one in results for call in one.callees().items()]:
        states = [state.callee_of(code, name) for code, name in callees] if callees else state.met.get(index, [])
        if not callees or any(states):
            known = found.setdefault(index, [])
            known += [callee for callee in states if callee is not None and callee not in known]
    return found


def _announcer(state: State) -> Tuple[Announce, List[List[State]]]:
    """The announcement of calls in the linked code of callees, and the list of the states of these calls' functions."""
    sites: Dict[Any, Any] = {}
    found: List[List[State]] = []

    def announce(callees: Tuple[Tuple[types.CodeType, str], ...]) -> Any:
        key = tuple(id(code) for code, _ in callees)
        if key not in sites:
            states = [one for one in (state.callee_of(code, name) for code, name in callees) if one is not None]
            found.append(states)
            sites[key] = _hook.CallSite(_callees_of(states)).callable if states else None
        return sites[key]

    return announce, found


def _callees_of(states: List[State]) -> Tuple[_hook.Callee, ...]:
    """What a call site needs of functions that are compiled alone."""
    return tuple(cast(_hook.Callee, one.callee) for one in states)


def _finder(state: State, index: int) -> Any:
    """The function that a call site calls for functions that are new to it."""
    weak = weakref.ref(state)

    def find(code: types.CodeType, globals: Dict[str, Any]) -> Optional[_hook.Callee]:
        alive = weak()
        if alive is None or not inliner_of(alive).compiles_alone(stand_in(code, code.co_name, globals)):
            return None
        callee = alive.callee_of(code, code.co_name)
        if callee is not None:
            alive.met.setdefault(index, []).append(callee)
        return callee.callee if callee is not None else None

    return find


def inliner_of(state: State) -> Inliner:
    return Inliner(state.config.max_inline_depth, state.config.allowed_inline_modules, state.inlined)


def _linked(config: Any, result: Capture, sites: List[Site], *args: Any) -> types.CodeType:
    """The linked code object. With the option `check`, and in tests, the `bytecode` library verifies it."""
    try:
        linked = link(result.cfg, sites, *args)
        wrong = _second_opinion(linked, result.cfg.function) if config.check or is_strict() else None
    except Exception as error:
        raise_asynchronous(error)
        raise LinkError(str(error)) from error
    if wrong is not None:
        raise LinkError("the linked code does not verify: " + wrong)
    return linked


def _second_opinion(linked: types.CodeType, function: Function) -> Optional[str]:
    from pijit.core.bytecode.linker.verify import why_wrong  # imported late: it needs the `bytecode` library

    return why_wrong(linked, function)


def _reentries(state: State, result: Capture, number: int, kept: List[Captured]) -> Dict[Any, Reentry]:
    """The re-entries into loops of the kept segments; their kernels are compiled when first needed."""
    made: Dict[Any, Reentry] = {}
    todo = kept
    while todo:
        for key in {exit.reentry for exit in todo.pop().graph.exits}.intersection(result.reentries):
            candidate = result.reentries[key]
            kernel = _compile(state, candidate, later=True) if (number, key) not in made else None
            if isinstance(kernel, Kernel):
                made[(number, key)] = make_reentry(result, candidate, kernel, number, _preparer(state, kernel))
                todo.append(candidate.segment)
    return {(number, key): made[(number, key)] for key in result.reentries if (number, key) in made}


def _preparer(state: State, kernel: Kernel) -> Any:
    """The function that makes a launcher's missing kernel. It must not own the state, which leads to the launcher."""
    weak = weakref.ref(state)

    def prepare() -> Any:
        start = time.perf_counter()
        try:
            with signals_deferred(), _hook.disabled():
                return kernel.compile()
        except (TooDeep, ForkedError):
            return None
        except Exception as error:
            raise_asynchronous(error)
            alive = weak()
            if alive is not None:
                alive.fail("PJ902", error)
            return None
        finally:
            known = weak()
            if known is not None and known.budget is not None:
                known.budget.charge(time.perf_counter() - start)

    return prepare
