"""The launchers of compiled segments, and the sites at which linked code calls them.

`pipeline` calls it for the segments that became kernels.
A function whose calls return values of several kinds is captured once per kind. The segments of all captures that
begin at one instruction share its site, and their guards choose. Captures are identified by their number.
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

from pijit.core._launcher import Launcher
from pijit.core.bytecode.assembler.emit import ANSWERS_BARE, USUAL_EXIT
from pijit.core.bytecode.codec.decode import Function
from pijit.core.bytecode.linker.link import Call, ExitPlan, Site, held_back
from pijit.core.bytecode.linker.osr import move_points
from pijit.core.capture.build.exits import ITERATIONS
from pijit.core.capture.build.graph_builder import state_at
from pijit.core.capture.build.guards import is_unsure, launch_arguments, may_wait, segment_program
from pijit.core.capture.build.segment import Captured
from pijit.core.capture.driver import Candidate, Capture
from pijit.core.capture.profile.type_feedback import Pending
from pijit.core.capture.state.frame_state import is_confined
from pijit.core.capture.state.osr_arguments import remembered
from pijit.core.errors import Break
from pijit.core.frameless_calls import FramelessStart, returning_exits
from pijit.core.kernel.compile import Kernel
from pijit.core.named_tuples import NamedTuple

Kept = Tuple[int, Candidate, Kernel]
"""A segment that became a kernel: the number of its capture, its candidate, its kernel."""


class Reentry(NamedTuple):
    """A re-entry with its launcher."""

    launcher: Any
    site: Site
    kernel: Kernel
    captured: Captured


class MadeSegment(NamedTuple):
    """A launcher, its segment and its kernel."""

    launcher: Any
    captured: Captured
    kernel: Kernel


class Launchers(NamedTuple):
    """The launchers of an entry.

    Attributes:
        sites: the sites where linked code calls them.
        made: the launchers, with their segments and kernels.
        last: the launcher of each site that is called last.
        reentries: the re-entries, by number of the capture and key.
        frameless_start: the kernel that runs before the function has a frame, or None.
    """

    sites: List[Site]
    made: List[MadeSegment]
    last: List[Any]
    reentries: Dict[Any, Reentry]
    frameless_start: Optional[FramelessStart]


def make_sites(kept: List[Kept], function: Function) -> Tuple[List[Site], List[MadeSegment], List[Any]]:
    """The sites, all launchers, and the launcher of each site that is called last.

    The launchers are grouped by site, the one called last first. If that one misses, all launchers of its site have.
    """
    by_start: Dict[int, List[Kept]] = {}
    for one in kept:
        by_start.setdefault(one[1].segment.start, []).append(one)
    sites: List[Site] = []
    all_made: List[MadeSegment] = []
    last: List[Any] = []
    for start, found in sorted(by_start.items()):
        found.sort(key=lambda one: one[1].region.entry.version.likely)
        made = [make_launcher(candidate.segment, kernel, number, function,
                              returning=returning_exits(candidate.segment, kernel, function))
                for number, candidate, kernel in found]
        all_made += [MadeSegment(launcher, candidate.segment, kernel)
                     for (launcher, _), (_, candidate, kernel) in zip(made, found)]
        last.append(made[0][0])
        captured = found[0][1].segment
        # Versions for later iterations and later captures come last and serve most calls, so they are called first.
        # Versions for loops without iterations are called last.
        sites.append(Site(start, captured.depth, captured.entry_depth, tuple(call for _, call in reversed(made))))
    return sites, all_made, last


def make_launcher(captured: Captured, kernel: Kernel, number: int, function: Function, prepare: Any = None,
                  returning: Tuple[int, ...] = (), gate: bool = False) -> Tuple[Any, Call]:
    """The launcher of a segment of the capture with this number, and the call of it in linked code."""
    arguments = launch_arguments(captured)
    slots = tuple(function.varnames.index(root.name) for root in arguments if is_unsure(root, captured))
    passed = tuple((root.kind, root.name) for root in arguments if not is_unsure(root, captured))
    program = segment_program(captured, arguments)
    exits = captured.graph.exits
    order = sorted({which for which, _ in kernel.exits}, key=lambda n: (exits[n].poll, exits[n].side, n))
    numbers = tuple(order.index(which) or USUAL_EXIT for which, _ in kernel.exits)
    width = max(len(codes) for _, codes in kernel.exits)
    iterations = [e.locals.index(ITERATIONS) if ITERATIONS in e.locals else None for e in exits]
    plans = [ExitPlan(e.target, tuple(None if name == ITERATIONS else name for name in e.locals), e.stack, e.side,
                      e.poll, None if e.reentry is None else (number, e.reentry), e.rest, e.given, e.deleted, e.empty)
             for e in (exits[which] for which in order)]
    bare = usual_exits(kernel, plans[0], numbers) if ANSWERS_BARE and not gate else ()
    held = held_back(plans)
    polls = tuple(id for id, (which, _) in enumerate(kernel.exits) if exits[which].poll)
    launcher = Launcher(program, None, None, kernel.inputs, kernel.words, kernel.output_word, kernel.kernel,
                        tuple(codes for _, codes in kernel.exits), width, kernel.name, kernel.owner, numbers, polls,
                        prepare, returning, tuple(held.get(which) for which in numbers), slots,
                        kernel.flavour.nogil and not (captured.has_loop and may_wait(program)),
                        tuple(iterations[which] for which, _ in kernel.exits), gate, bare)
    return launcher, Call(launcher.callable, passed, width, tuple(plans), numbers, bool(bare))


def usual_exits(kernel: Kernel, plan: ExitPlan, numbers: Tuple[Any, ...]) -> Tuple[int, ...]:
    """The kernel's exits with the plan of the usual exit, if linked code only stores one value there, or pushes it."""
    found = tuple(id for id, number in enumerate(numbers) if number is USUAL_EXIT)
    simple = plan == ExitPlan(plan.target, plan.locals, plan.stack, plan.side, reentry=plan.reentry)
    return found if simple and all(len(kernel.exits[id][1]) == 1 for id in found) else ()


def make_reentry(result: Capture, candidate: Candidate, kernel: Kernel, number: int, prepare: Any) -> Reentry:
    """A re-entry of the capture with this number, with its launcher."""
    captured = candidate.segment
    # Guards cannot tell the iteration of an enclosing unrolled loop in which bytecode arrives. A poll exit can.
    has_gate = not any(map(is_confined, state_at(result.analysis, captured.region.entry).stack))
    launcher, call = make_launcher(captured, kernel, number, result.cfg.function, prepare, gate=has_gate)
    site = Site(captured.start, captured.depth, captured.entry_depth, (call,), launcher if has_gate else None)
    return Reentry(launcher, site, kernel, captured)


def make_osr_checks(result: Capture, pending: Pending,
                observers: Dict[int, Any]) -> Tuple[Dict[int, Any], List[Tuple[int, Break]]]:
    """The makers of OSR checks by header, for loops where a call can move to newer code; the other loops, with reasons.
    """
    cfg = result.cfg
    pending.arrived = remembered(result.analysed, result.analysis.entry)
    points = move_points(cfg)
    inside = {cfg.blocks[loop.header].start: frozenset(index for index in observers
                                                       if cfg.block_of[index] in loop.body)
              for loop in cfg.loops}
    if pending.arrived is None:
        points = dict.fromkeys(points, "an argument was rebound")
    return ({header: pending.osr_check(header, inside[header])
             for header, because in points.items() if because is None},
            [(header, Break("PJ403", because=because)) for header, because in points.items() if because is not None])
