"""Driver of capture: analyses one function for one call and builds the graphs of its regions.

`core/pipeline.py` calls it. It never runs the captured function, and it compiles nothing. The retry loop of `capture`
starts again where an attempt has found that less must be inlined or that blocks must be split.
"""

from __future__ import annotations

from types import CodeType
from typing import Any, Dict, List, Optional, Set, Tuple, cast

from pijit.core.bytecode.analysed_code import AnalysedCode
from pijit.core.bytecode.codec.decode import Function
from pijit.core.bytecode.instructions import opcodes
from pijit.core.capture.analysis.fixpoint import Analysis
from pijit.core.capture.analysis.regions import Region, RegionBlock, form_regions
from pijit.core.capture.build import cost_model
from pijit.core.capture.build.graph_builder import GraphBuilder, state_at
from pijit.core.capture.build.guards import launch_arguments
from pijit.core.capture.build.reentry import ReentryBuilder
from pijit.core.capture.build.segment import Captured, Refusal, Unhandled
from pijit.core.capture.context import CaptureContext, CaptureOptions, KnownTypes
from pijit.core.capture.inline.inliner import Inliner
from pijit.core.capture.profile.hints import Hinted, HintedTypes, Hints
from pijit.core.capture.profile.range_unrolling import RangeUnrolling, UnrollRanges
from pijit.core.capture.profile.samples import TypeSamples, Unlike
from pijit.core.capture.state.entry_state import entry_state
from pijit.core.capture.state.frame_state import FrameState
from pijit.core.capture.state.return_kinds import Cut, LeavesInside
from pijit.core.capture.state.saved_locals import maybe_empty
from pijit.core.capture.values.budgets import LARGER, TRIES, CaptureBudget, Exhausted
from pijit.core.capture.values.lattice import Abstract
from pijit.core.errors import Break
from pijit.core.graph.passes import Stages, run_passes
from pijit.core.graph.verify import verify
from pijit.core.named_tuples import NamedTuple

SHUFFLES = opcodes.STACK_MOVES | opcodes.LOCAL_LOADS | opcodes.LOCAL_STORES
"""Instructions that only move values between variables and the operand stack."""
NEVER_OBSERVED = opcodes.DROPS | opcodes.RETURNS
"""Instructions that need no type of their operand."""
OBSERVABLE = (opcodes.CALLS | opcodes.ATTRIBUTE_LOADS | opcodes.CELL_LOADS | opcodes.GLOBAL_LOADS
              | opcodes.SUBSCRIPT_LOADS | opcodes.ITERATIONS | opcodes.YIELDS | opcodes.WITH_ENTRIES
              | opcodes.UNPACKINGS)
"""Instructions whose results have types that only a run shows."""


class Candidate(NamedTuple):
    """A region with its graph, or with the reason why it has no kernel.

    ``captured`` is set although there is an ``error`` if the region was built, but was not worth a kernel.
    """

    region: Region
    captured: Optional[Captured]
    error: Optional[Break]

    @property
    def segment(self) -> Captured:
        """``captured`` of a candidate that is known to have been built."""
        return cast(Captured, self.captured)


class Capture:
    """The result of one capture: control flow of the function, candidates in program order, breaks.

    ``reentries`` resume loops that kernels have left in the middle; they are keyed by the loop's header. ``given_up``
    says why the whole function stays bytecode.
    """

    def __init__(self, analysed: AnalysedCode, analysis: Analysis, candidates: List[Candidate],
                 reentries: Dict[Any, Candidate], given_up: Optional[Break] = None) -> None:
        self.analysed, self.cfg = analysed, analysed.cfg
        self.analysis = analysis
        self.candidates = candidates
        self.reentries = reentries
        self.given_up = given_up

    def all_candidates(self) -> List[Candidate]:
        """The candidates at which segments begin, then the re-entries."""
        return self.candidates + list(self.reentries.values())

    def breaks(self) -> List[Tuple[int, Break]]:
        """Instructions that stay bytecode in some version, each listed once. The return of the function is no break."""
        if self.given_up is not None:
            return [(0, self.given_up)]
        found: Dict[int, Break] = {}
        for version in self.analysis.versions:
            for index, error in version.breaks.items():
                opname = self.cfg.function.instructions[index].opname
                if opname not in opcodes.RETURNS and not (opname in SHUFFLES and error.reason_id == "PJ218"):
                    found.setdefault(index, error)
        for index, why in self.analysis.context.findings.leaving.items():
            cold = Break("PJ232", **why.facts)
            cold.trail = why.trail
            found.setdefault(index, cold)
        return sorted(found.items())

    def captured(self) -> Set[int]:
        """The instructions that are captured in at least one version."""
        return {index for version in self.analysis.versions
                for index in range(version.block.start, version.block.end) if index not in version.breaks}

    def callees(self) -> Dict[int, List[Tuple[CodeType, str]]]:
        """The functions whose calls stay bytecode although their code is known, by instruction. The list is empty where
        nothing is known of the callee."""
        callees = self.analysis.context.findings.callees
        return {index: callees[index] for index, _ in self.breaks() if index in callees}

    def uncompiled(self) -> Set[int]:
        """Instructions that call functions which could be compiled, but are not because of the way they are called."""
        return self.analysis.context.findings.uncompiled

    def causes(self) -> List[Tuple[Any, Any]]:
        """(source, value) of the facts that kept code from becoming kernels; other types might not."""
        if self.given_up is not None:
            return []  # other types would not help
        found = [(value.source, value) for version in self.analysis.versions for value in version.causes]
        for candidate in self.candidates:
            captured, error = candidate.captured, candidate.error
            if captured is not None and error is not None and (error.facts["work"] or captured.inlined):
                found += [(fact.source, fact.value) for fact in captured.facts.values()
                          if fact.source is not None]
        return found

    def hinted(self) -> Dict[int, int]:
        """The lines of instructions that stay bytecode and whose result types the program declares in hints."""
        hinted, instructions = self.analysis.context.types.hinted.found, self.cfg.function.instructions
        return {index: instructions[index].lineno or 0 for index, _ in self.breaks() if index in hinted}

    def release(self) -> None:
        """Drop references to the user's values, because the objects of a capture are in reference cycles."""
        self.analysis.forget()
        if self.analysis.context.inliner is not None:
            self.analysis.context.inliner.forget()
        self.analysis.entry = FrameState({}, [])
        self.analysis.context.locations.clear()
        self.analysis.context.types.samples.forget()
        self.analysis.context.findings.callees.clear()

    def observable(self) -> List[int]:
        """Instructions that push one value of unknown type that is read later, or one whose type was guessed."""
        if self.given_up is not None:
            return []
        instructions, types = self.cfg.function.instructions, self.analysis.context.types
        known, guessed = {**types.feedback, **types.hinted.found}, self.analysis.context.findings.guessed
        return [index for index in sorted({index for index, _ in self.breaks()} | guessed)
                if index not in known and instructions[index].opname in OBSERVABLE
                and index + 1 < len(instructions)
                and (instructions[index + 1].opname not in NEVER_OBSERVED or index in guessed)]


class Captures(NamedTuple):
    """The captures of one call.

    Attributes:
        results: a capture for each kind of observed values.
        broken: the instructions that stay bytecode in some capture, with the reasons.
        stages: the graphs after each pass.
    """

    results: List[Capture]
    broken: List[Tuple[int, Break]]
    stages: Stages

    @property
    def first(self) -> Capture:
        return self.results[0]

    @property
    def function(self) -> Function:
        return self.first.cfg.function


class CaptureRequest(NamedTuple):
    """One call whose function is to be captured.

    Attributes:
        analysed: the analysed code of the function.
        roots: the locals, cells and free variables of the call, the globals and the builtins.
        unbound: what ``roots`` has for a local without a value.
        feedback: observed values, by instruction.
        options: the options that count.
        inliner: inlines callees; without one no call is inlined.
        arrived: the abstract values of arguments that a running call has rebound.
        hints: the hints of the function.
    """

    analysed: AnalysedCode
    roots: Tuple[Any, ...]
    unbound: Any
    feedback: Dict[int, Abstract]
    options: CaptureOptions = CaptureOptions()
    inliner: Optional[Inliner] = None
    arrived: Optional[Dict[str, Abstract]] = None
    hints: Optional[Hints] = None


class _Attempt:
    """What changes from one attempt of a capture to the next: the blocks, the limits, and the samples found so far.

    ``given_up`` is the reason why nothing is captured, once no smaller attempt is left.
    """

    def __init__(self, request: CaptureRequest) -> None:
        hints, (localsplus, globals, _) = request.hints, request.roots
        self.analysed = request.analysed.with_plain_calls(globals)
        self.inliner, self.unrolling = request.inliner, request.options.unrolling
        hinted = HintedTypes() if hints is None else hints.hinted(
            self.analysed.function, request.analysed.code, localsplus, globals)
        self.types = KnownTypes(request.feedback, hinted, TypeSamples(), RangeUnrolling(), set())
        self.work = CaptureBudget(LARGER if request.options.abandons else 1)
        self.smaller = list(TRIES)
        self.given_up: Optional[Break] = None

    def make_smaller(self) -> None:
        """The budget is used up: inline and unroll less, or give up."""
        self.work = CaptureBudget(self.work.factor)
        if not self.smaller:
            self.given_up = Break("PJ405")
            return
        depth, unrolls = self.smaller.pop(0)
        self.inliner, self.unrolling = _shallow(self.inliner, depth), self.unrolling if unrolls else 0

    def forget(self) -> None:
        """Drop what the last attempt found."""
        self.types.samples.forget()
        if self.inliner is not None:
            self.inliner.forget()


def capture(request: CaptureRequest) -> Capture:
    """Capture a function for one call.

    Another attempt follows one that must split a block, or has used up its budget. So it does if the attempt has met a
    hint, a new sample or a range to unroll.
    """
    attempt = _Attempt(request)
    while True:
        try:
            return _capture(request, attempt)
        except Cut as found:
            attempt.analysed = attempt.analysed.cut(found.index)
        except (Hinted, LeavesInside, Unlike, UnrollRanges):
            pass
        except Exhausted:
            attempt.make_smaller()
        attempt.forget()


def _shallow(inliner: Optional[Inliner], depth: int) -> Optional[Inliner]:
    """An inliner that inlines at most ``depth`` calls deep."""
    if inliner is None:
        return None
    inliner.forget()
    other = Inliner(min(depth, inliner.max_depth), inliner.modules, inliner.code)
    other.recursion.because = "to capture more takes too long"
    return other


def _capture(request: CaptureRequest, attempt: _Attempt) -> Capture:
    """One attempt. Raises Cut if a block must be split, Exhausted if the budget is used up."""
    analysed, name, options = attempt.analysed, request.analysed.code.co_name, request.options
    force_breaks = options.force_breaks
    analysis = Analysis(analysed, analysed.liveness(), _context(request, attempt), _entry(request, analysed),
                        frozenset([force_breaks]) if type(force_breaks) is int else frozenset())
    if attempt.given_up is not None:
        return Capture(analysed, analysis, [], {}, attempt.given_up)
    everything = force_breaks is not None
    while True:
        regions = _regions(analysis.run(), force_breaks == "every")
        candidates = _build_all(analysis, regions, name, everything, options.improved)
        refusals = [candidate.error for candidate in candidates if isinstance(candidate.error, Refusal)]
        if not refusals:
            candidates = _not_too_many(candidates, attempt.work)
            reentries = _build_reentries(analysis, candidates, name) if options.handlers else {}
            return Capture(analysed, analysis, candidates, reentries)
        analysis.unhandled.update(error.index for error in refusals if isinstance(error, Unhandled))
        analysis.refused.update((error.index, error) for error in refusals if not isinstance(error, Unhandled))


def _context(request: CaptureRequest, attempt: _Attempt) -> CaptureContext:
    """The context of one attempt."""
    function, (localsplus, globals, builtins) = attempt.analysed.function, request.roots
    context = CaptureContext(function, globals, builtins, localsplus[len(function.varnames):], request.options,
                             attempt.types, attempt.inliner, attempt.unrolling, attempt.work)
    context.find_written()
    context.within = (request.analysed.code,)
    return context


def _entry(request: CaptureRequest, analysed: AnalysedCode) -> FrameState:
    """The state at the function's entry, with the values that a running call has rebound."""
    entry = entry_state(analysed.function, request.roots[0], request.unbound, request.options.specialisation)
    entry.locals.update(request.arrived or {})
    return entry


def _regions(analysis: Analysis, cut: bool) -> List[Region]:
    """The regions. None of them begins with a value that cannot leave a kernel."""
    regions = form_regions(analysis, cut)
    while any([analysis.poison(state_at(analysis, region.entry)) for region in regions]):
        analysis.run()
        regions = form_regions(analysis, cut)
    return regions


def _build_all(analysis: Analysis, found: List[Region], name: str, everything: bool,
               improved: bool) -> List[Candidate]:
    by_start: Dict[int, List[Region]] = {}
    for region in found:
        by_start.setdefault(region.entry.start, []).append(region)
    candidates: List[Candidate] = []
    for start in sorted(by_start):
        regions = by_start[start]
        idle = [not everything and cost_model.only_moves(region, analysis.function) for region in regions]
        working = [region for region, moves in zip(regions, idle) if not moves]
        depth = min(GraphBuilder(analysis, region, name).depth for region in working) if len(working) > 1 else None
        for region, moves in zip(regions, idle):
            label = "%s_segment_%d" % (name.strip("<>"), len(candidates))
            idler = Candidate(region, None, Break("PJ401", work=0))
            candidates.append(idler if moves else _build(analysis, region, label, depth, everything, improved))
    return candidates


def _not_too_many(candidates: List[Candidate], budget: CaptureBudget) -> List[Candidate]:
    """The candidates; those beyond the compile budget lose their graph."""
    kept = [number for number, candidate in enumerate(candidates) if candidate.error is None]
    found = [candidates[number].segment for number in kept]
    beyond = {kept[k] for k in budget.too_many([one.graph for one in found], [one.has_loop for one in found])}
    return [Candidate(candidate.region, None, Break("PJ405")) if number in beyond else candidate
            for number, candidate in enumerate(candidates)]


def _build(analysis: Analysis, region: Region, name: str, depth: Optional[int], everything: bool,
           improved: bool) -> Candidate:
    try:
        captured = _finished(analysis, GraphBuilder(analysis, region, name, depth).build(), not improved)
        return Candidate(region, captured, None if everything else cost_model.why_not_worth(captured, analysis.cfg))
    except Break as error:
        return Candidate(region, None, error.without_frames())


def _finished(analysis: Analysis, captured: Captured, later: bool = False) -> Captured:
    captured.graph.precision = analysis.context.options.precision
    captured.inputs = [captured.inputs[k] for k in run_passes(captured.graph, later)]
    captured.unwinding = analysis.cfg.unwinding_returns()
    captured.unsure = analysis.usedef.may_be_unbound(captured.start)
    empty = maybe_empty(analysis.cfg, analysis.usedef, captured.start)
    if any(root.kind == "stack" and root.name in empty for root in launch_arguments(captured)):
        raise Break("PJ212")
    verify(captured.graph)
    return captured


def _build_reentries(analysis: Analysis, candidates: List[Candidate], name: str) -> Dict[Any, Candidate]:
    """Re-entries into loops that kernels leave in the middle at headers where no segment begins.

    A re-entry may itself leave a loop, so its exits are searched as well.
    """
    entries = {candidate.region.entry.key for candidate in candidates if candidate.error is None}
    found: Dict[Any, Candidate] = {}
    for candidate in candidates:
        region_blocks = {one.key: one for one in candidate.region.blocks if one is one.twins[0]}
        todo = [candidate.segment] if candidate.error is None else []
        while todo:
            reentries = {exit.reentry for exit in todo.pop().graph.exits}.intersection(region_blocks)
            for key in sorted(reentries - entries - set(found)):
                made = _build_reentry(analysis, candidate.region, region_blocks[key], "%s_back_%d" % (name, len(found)))
                if made is not None:
                    found[key] = made
                    todo.append(made.segment)
    return found


def _build_reentry(analysis: Analysis, region: Region, start: RegionBlock, name: str) -> Optional[Candidate]:
    part = region.reentry(start, analysis.cfg)
    if part is None:
        return None
    try:
        built = ReentryBuilder(analysis, part, name.strip("<>")).build()
        return Candidate(part, _finished(analysis, built, later=True), None)
    except Break:
        return None
