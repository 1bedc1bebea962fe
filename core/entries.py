"""Creation of one entry: capture, compile each graph, guard, link.

`pipeline.State` calls it, and decides when and for which call.
"""

from __future__ import annotations

import time
import types
import weakref
from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Optional, Tuple, cast

from pijit.core import _hook
from pijit.core.break_causes import break_causes, break_reports
from pijit.core.bytecode.codec.decode import Function
from pijit.core.bytecode.linker.continuation import Announce
from pijit.core.bytecode.linker.link import Landings, Probe, Site, link
from pijit.core.capture.build.guards import entry_program, lines_of
from pijit.core.capture.build.segment import Captured
from pijit.core.capture.driver import Candidate, Capture, CaptureRequest, capture
from pijit.core.capture.inline.inliner import Inliner
from pijit.core.capture.profile.type_feedback import MAX_RENEWALS, ObservedKinds, Pending
from pijit.core.capture.state.uncaptured_effects import unpacked
from pijit.core.capture.values.lattice import Abstract
from pijit.core.capture_records import Entry
from pijit.core.capture_report import CaptureRecord, Clock, segment_reports, way_report
from pijit.core.entry_timing import patience
from pijit.core.errors import Break, LinkError, first_line, is_strict
from pijit.core.exit_counts import counted
from pijit.core.frameless_calls import enlist_head, head_of
from pijit.core.graph.kernel_key import graph_key
from pijit.core.graph.passes import recorded
from pijit.core.internal_functions import stand_in
from pijit.core.kernel.compile import ForkedError, Kernel, TooDeep, compile_graph
from pijit.core.kernel.compile_permission import TooEarly
from pijit.core.kernel.options import flavour_of
from pijit.core.kernel_names import Numbering
from pijit.core.launch_sites import Reentry, make_movers, make_sites, make_way
from pijit.core.loop_timing import measure_loops

if TYPE_CHECKING:
    from pijit.core.pipeline import State


class Start(NamedTuple):
    """The loop header at which a running call continues; for ``arrived`` see `Pending`."""

    header: int
    arrived: Dict[str, Abstract]


def make_entry(state: State, code: types.CodeType, roots: Tuple[Any, ...], seen: ObservedKinds,
               pending: Optional[Pending], why: str, start: Optional[Start] = None) -> Entry:
    """Capture, compile, guard and link for one call.

    ``pending``, if given, observes values. ``start`` is the loop header at which a running call continues.
    """
    config = state.config
    localsplus, globals, builtins = roots
    clock = Clock()
    results: List[Capture] = []
    with recorded(config.print_after_all) as stages:
        numbering = Numbering(code.co_name, len(seen.profiles) == 1, stages)
        for profile in seen.profiles:
            results.append(capture(CaptureRequest(
                code, localsplus, _hook.UNBOUND, globals, builtins, profile, config.force_breaks, state.steering,
                _inliner(config), config.max_loop_unrolling if config.loop_unrolling else 0,
                start.arrived if start is not None else None, state.hints)))
            enlist_head(results[-1])
            numbering.add(results[-1])
    clock.done("capture")
    result = results[0]
    compiled = [[_compile(state, c) for c in one.candidates] for one in results]
    kept = [(number, candidate, kernel) for number, one in enumerate(results)
            for candidate, kernel in zip(one.candidates, compiled[number]) if isinstance(kernel, Kernel)]
    clock.done("compile")
    sites, made, last = make_sites(kept, result.cfg.function)
    launchers = [one.launcher for one in made]
    reentries: Dict[Any, Reentry] = {}
    for number, one in enumerate(results):
        reentries.update(_reentries(state, one, number, [c.segment for n, c, _ in kept if n == number]))
    measure_loops(state, result.cfg, made, list(reentries.values()))
    broken = sorted(dict(found for one in reversed(results) for found in one.breaks()).items())
    observers: Dict[int, Any] = {}
    if pending is not None:
        found = pending.to_observe([index for one in results for index in one.observable()], dict(broken))
        observers = {index: pending.observe(index) for index in found}
    movers, stays = make_movers(result, pending, observers) if pending is not None and observers else ({}, [])
    calls = _compiled_calls(state, results)
    open_calls = {index for one in results for index, known in one.callees().items() if not known}
    call_sites = {index: _hook.CallSite(_callees_of(callees),
                                        _finder(state, index) if index in open_calls else None).callable
                  for index, callees in calls.items()}

    announce, inner = _announcer(state)

    def linked_from(header: Optional[int], landings: Optional[Landings] = None) -> types.CodeType:
        instructions = result.cfg.function.instructions
        probes = [Probe(index, observer, unpacked(instructions[index])) for index, observer in observers.items()]
        return _linked(config, result, sites, probes, {key: way.site for key, way in reentries.items()}, movers,
                       header, call_sites, landings, announce)

    landings: Landings = {}
    linked = linked_from(None, landings)
    moved = linked_from(start.header) if start is not None else None
    clock.done("link")
    causes = [cause for one in results for cause in one.causes()]
    by_shape = config.enable_dynamic_shape is False
    head = head_of(result.cfg.function, made)
    program = entry_program((candidate.segment for _, candidate, _ in kept), causes, roots if by_shape else None,
                            head.inputs if head is not None else (), [entry.program for entry in state.entries])
    segments = segment_reports(result, compiled[0])
    for one, outcomes in zip(results[1:], compiled[1:]):
        segments += [report for report in segment_reports(one, outcomes) if report.kind == "kernel"]
    breaks = break_reports(result, code.co_filename, break_causes(results, broken))
    stay = break_reports(result, code.co_filename, stays)
    ways = [way_report(results[number], results[number].reentries[key]) for number, key in reentries]
    record = CaptureRecord(state.py_func, results, compiled, [way.kernel for way in reentries.values()], linked,
                           program, segments, breaks + stay, why, ways, stages, clock.seconds,
                           [index for index, _ in broken])
    entrance = (_hook.Entrance(linked, head.launcher, landings.get(head.launcher.callable, ())) if head is not None
                else _hook.Entrance(linked, None, ()))
    hinted = {index: line for one in results for index, line in one.hinted().items()}
    if (seen.kinds or hinted) and not observers and seen.renewals < MAX_RENEWALS:
        for launcher in last:
            launcher.entry = program
    counters = counted(result.cfg.function.instructions, made) + counted(
        result.cfg.function.instructions, reentries.values(), is_way=True)
    for one in results:
        one.release()
    called = list({id(callee): callee for found in [*calls.values(), *inner] for callee in found}.values())
    return Entry(program, linked, segments, breaks, launchers, observers, why,
                 [way.launcher for way in reentries.values()], moved, stay, called, ways, entrance, seen,
                 lines_of(candidate.segment for _, candidate, _ in kept), record,
                 patience(config, [candidate.segment for _, candidate, _ in kept]), hinted, counters)


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
        if alive is None or not _inliner(alive.config).compiles_alone(stand_in(code, code.co_name, globals)):
            return None
        callee = alive.callee_of(code, code.co_name)
        if callee is not None:
            alive.met.setdefault(index, []).append(callee)
        return callee.callee if callee is not None else None

    return find


def _inliner(config: Any) -> Inliner:
    return Inliner(config.max_inline_depth, config.allowed_inline_modules)


def _linked(config: Any, result: Capture, sites: List[Site], *args: Any) -> types.CodeType:
    """The linked code object. With the option `check`, and in tests, the `bytecode` library verifies it."""
    try:
        linked = link(result.cfg, sites, *args)
        wrong = _second_opinion(linked, result.cfg.function) if config.check or is_strict() else None
    except Exception as error:
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
        for key in {exit.way for exit in todo.pop().graph.exits}.intersection(result.reentries):
            candidate = result.reentries[key]
            kernel = _compile(state, candidate, later=True) if (number, key) not in made else None
            if isinstance(kernel, Kernel):
                made[(number, key)] = make_way(result, candidate, kernel, number, _preparer(state, kernel))
                todo.append(candidate.segment)
    return {(number, key): made[(number, key)] for key in result.reentries if (number, key) in made}


def _preparer(state: State, kernel: Kernel) -> Any:
    """The function that makes a launcher's missing kernel. It must not own the state, which leads to the launcher."""
    weak = weakref.ref(state)

    def prepare() -> Any:
        start = time.perf_counter()
        try:
            with _hook.disabled():
                return kernel.compile()
        except (TooDeep, ForkedError):
            return None
        except Exception as error:
            alive = weak()
            if alive is not None:
                alive.fail("PJ902", error)
            return None
        finally:
            known = weak()
            if known is not None and known.budget is not None:
                known.budget.charge(time.perf_counter() - start)

    return prepare
