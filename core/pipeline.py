"""The whole story: call -> capture -> graphs -> kernels -> linked code -> entry.

    on a miss:   capture (analysis, regions, graphs)  ->  compile each graph  ->  guards  ->  link  ->  entry
    first run:   the entry's linked code observes what fallback calls return
    next call:   captured again with the observed types; the entry joins the cache and C serves the hits
"""

from __future__ import annotations

import builtins as builtins_module
import types
import weakref
from typing import Any, Dict, List, Optional, Tuple

from ..guards.cache import EntryCache, warn_limit
from . import _hook
from ._launcher import Launcher
from .bytecode.decode import decode
from .bytecode.encode import Assembler, Op
from .bytecode.link import Call, ExitPlan, Probe, Site, link
from .capture.analysis import why_not_captured
from .capture.capture import Candidate, Capture, capture
from .capture.guarding import entry_program, launch_arguments, segment_program
from .capture.values import Abstract, abstract_of, join
from .errors import Break, report_internal
from .graph.printer import format_graph
from .kernel.compile import Kernel, compile_graph
from .kernel.errors import CompileError
from .reasons import REASONS, Reason, reason
from .records import BreakReport, CaptureRecord, Entry, SegmentReport, break_report
from .report import capture_record

MAX_OBSERVATIONS = 3


class State:
    """What pijit knows of one function; the code object's mark refers to it weakly."""

    def __init__(self, function: types.FunctionType, config: Any) -> None:
        self.py_func = function
        self.config = config
        self.skip: Optional[Reason] = None
        self.cache = EntryCache(config.cache_limit)
        self.entries: List[Entry] = []
        self.pending: List[Pending] = []
        self.recompiles: List[str] = []
        self.kernels: Dict[Any, Kernel] = {}

    def clear(self) -> None:
        """Forget all entries."""
        self.cache.clear()
        del self.entries[:], self.pending[:]
        self.kernels.clear()

    def on_miss(self, code: types.CodeType, localsplus: List[Any], globals: Dict[str, Any],
                builtins: Dict[str, Any]) -> Optional[types.CodeType]:
        """What the frame hook runs for a call that no entry serves."""
        try:
            return self._serve_miss(localsplus, globals, builtins)
        except Exception as error:  # a fault of ours must not reach the user
            report_internal("PJ901", self.py_func.__qualname__, error)
            return None

    def _serve_miss(self, localsplus: List[Any], globals: Dict[str, Any],
                    builtins: Dict[str, Any]) -> Optional[types.CodeType]:
        roots = (localsplus, globals, builtins)
        for pending in self.pending:
            if pending.entry.program.check(*roots) is not None:
                return self._observed(pending, roots)
        if self.cache.full:
            warn_limit(self.cache, self.py_func.__qualname__, *roots, stacklevel=3)
            return None
        why = self._why_again(roots)
        if why:
            self.recompiles.append(why)
        pending = Pending({})
        return self._add(pending, make_entry(self, roots, {}, pending.observe, why), roots)

    def _observed(self, pending: "Pending", roots: Tuple[Any, ...]) -> types.CodeType:
        """A call after the run that observed: capture again with what was seen."""
        news = {index for index in pending.observed if index not in pending.used}
        self.pending.remove(pending)
        self.entries.remove(pending.entry)
        pending.rounds += 1
        pending.used = dict(pending.observed)
        observer = pending.observe if news and pending.rounds < MAX_OBSERVATIONS else None
        why = reason("PJ302", values=len(news)) if news else ""
        if why:
            self.recompiles.append(why)
        return self._add(pending, make_entry(self, roots, pending.used, observer, why), roots)

    def _add(self, pending: "Pending", entry: Entry, roots: Tuple[Any, ...]) -> types.CodeType:
        self.entries.append(entry)
        if entry.observers:
            pending.entry = entry
            self.pending.append(pending)
            del self.pending[:-self.config.cache_limit]
        else:
            self.cache.add(entry.program, entry.linked_code)
        return entry.linked_code

    def _why_again(self, roots: Tuple[Any, ...]) -> str:
        """The guard of the newest entry that this call fails, as a sentence; "" for the first capture."""
        if not self.entries:
            return ""
        failure = self.entries[-1].program.explain_failure(*roots)
        return reason("PJ301", guard=failure) if failure else ""


class Pending:
    """An entry whose fallback results are being observed."""

    def __init__(self, observed: Dict[int, Abstract]) -> None:
        self.entry: Any = None
        self.observed = observed
        self.used: Dict[int, Abstract] = {}
        self.rounds = 0

    def observe(self, index: int) -> Any:
        """A callable for linked code that records what instruction ``index`` pushed."""
        observed = self.observed

        def observer(value: Any) -> None:
            seen = abstract_of(value, born=index)
            observed[index] = join(observed[index], seen) if index in observed else seen

        return observer


def attach(function: types.FunctionType, config: Any) -> State:
    """Mark a function's code so that its calls are captured, or note why it is not."""
    state = State(function, config)
    skip = why_not_captured(function.__code__)
    if skip is not None:
        state.skip = REASONS[skip]
        return state
    weak = weakref.ref(state)

    def on_miss(code: types.CodeType, localsplus: List[Any], globals: Dict[str, Any],
                builtins: Dict[str, Any]) -> Optional[types.CodeType]:
        alive = weak()
        return alive.on_miss(code, localsplus, globals, builtins) if alive is not None else None

    _hook.mark(function.__code__, state.cache, on_miss)
    return state


def explain(function: types.FunctionType, config: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> List[Entry]:
    """The entries that a call with these arguments would lead to; nothing is run or remembered."""
    state = State(function, config)
    roots = (bound_locals(function, args, kwargs), function.__globals__, vars(builtins_module))
    return [make_entry(state, roots, {}, None, "")]


def bound_locals(function: types.FunctionType, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> List[Any]:
    """The locals, cells and free variables that a call's frame starts with; the function itself does not run.

    A copy of the function whose code returns its arguments at once is called, so that CPython does the binding.

    Raises:
        TypeError: the arguments do not fit the function.
    """
    decoded = decode(function.__code__)
    names = decoded.varnames[:decoded.argument_count]
    assembler = Assembler(decoded)
    cells = {name: number for number, name in enumerate(decoded.cellvars)}
    loads = [Op("LOAD_DEREF", cells[name]) if name in cells else Op("LOAD_FAST", number)
             for number, name in enumerate(names)]
    assembler.insert(0, loads + [Op("BUILD_TUPLE", len(names)), Op("RETURN_VALUE")])
    twin = types.FunctionType(assembler.assemble(), function.__globals__, function.__name__, function.__defaults__,
                              function.__closure__)
    twin.__kwdefaults__ = function.__kwdefaults__
    values = dict(zip(names, twin(*args, **kwargs)))
    fast = [values[name] if name in values and name not in cells else _hook.UNBOUND for name in decoded.varnames]
    return fast + [_cell(values.get(name, _hook.UNBOUND)) for name in decoded.cellvars] + list(function.__closure__ or ())


def _cell(value: Any) -> Any:
    """A cell with this content; an empty one for UNBOUND."""
    content = value

    def holder() -> Any:
        return content

    if value is _hook.UNBOUND:
        del content
    return holder.__closure__[0]  # type: ignore[index]


def make_entry(state: State, roots: Tuple[Any, ...], feedback: Dict[int, Abstract], observe: Any, why: str) -> Entry:
    """Capture, compile, guard, link."""
    code, config = state.py_func.__code__, state.config
    localsplus, globals, builtins = roots
    result = capture(code, localsplus, _hook.UNBOUND, globals, builtins, feedback, config.force_breaks)
    compiled = [_compile(state, candidate) for candidate in result.candidates]
    kept = [(candidate, kernel) for candidate, kernel in zip(result.candidates, compiled) if isinstance(kernel, Kernel)]
    sites, launchers = _sites(kept)
    observers = {index: observe(index) for index in result.observable()} if observe is not None else {}
    linked = link(result.cfg, sites, [Probe(index, observer) for index, observer in observers.items()])
    program = entry_program(candidate.captured for candidate, _ in kept)
    segments = _segment_reports(result, compiled)
    breaks = _break_reports(result, code.co_filename)
    record = capture_record(state.py_func, result, compiled, linked, program, segments, breaks, why)
    if config.on_capture is not None:
        config.on_capture(record)
    return Entry(program, linked, segments, breaks, launchers, observers, record)


def _compile(state: State, candidate: Candidate) -> Any:
    """A Kernel, or the Break that says why not."""
    if candidate.captured is None:
        return candidate.error
    graph = candidate.captured.graph
    key = (state.config.backend, format_graph(graph))
    if key not in state.kernels:
        try:
            state.kernels[key] = compile_graph(graph, state.config.backend)
        except CompileError as error:
            report_internal("PJ902", state.py_func.__qualname__, error)
            return Break("PJ902", error=str(error).splitlines()[0] if str(error) else "")
    return state.kernels[key]


def _sites(kept: List[Tuple[Candidate, Kernel]]) -> Tuple[List[Site], List[Any]]:
    by_start: Dict[int, List[Tuple[Any, Kernel]]] = {}
    for candidate, kernel in kept:
        by_start.setdefault(candidate.captured.start, []).append((candidate.captured, kernel))
    sites, launchers = [], []
    for start, pairs in sorted(by_start.items()):
        calls = []
        for captured, kernel in pairs:
            launcher, call = _launcher(captured, kernel)
            launchers.append(launcher)
            calls.append(call)
        sites.append(Site(start, pairs[0][0].depth, pairs[0][0].head_depth, tuple(calls)))
    return sites, launchers


def _launcher(captured: Any, kernel: Kernel) -> Tuple[Any, Call]:
    arguments = launch_arguments(captured)
    program = segment_program(captured, arguments)
    exits = captured.graph.exits
    order = sorted({number for number, _ in kernel.exits}, key=lambda number: (exits[number].side, number))
    numbers = tuple(order.index(number) or False for number, _ in kernel.exits)  # linked code asks `is False` first
    width = max(len(codes) for _, codes in kernel.exits)
    launcher = Launcher(program, None, None, kernel.inputs, kernel.words, kernel.output_word, kernel.kernel,
                        tuple(codes for _, codes in kernel.exits), width, kernel.name, kernel.owner, numbers)
    plans = tuple(ExitPlan(e.target, e.locals, e.stack, e.side) for e in (exits[number] for number in order))
    return launcher, Call(launcher.callable, tuple((root.kind, root.name) for root in arguments), width, plans)


def _segment_reports(result: Capture, compiled: List[Any]) -> List[SegmentReport]:
    reports = []
    instructions = result.cfg.function.instructions
    for number, (candidate, outcome) in enumerate(zip(result.candidates, compiled)):
        indices = sorted(set(candidate.region.instructions()))
        lines = [instructions[i].lineno for i in indices if instructions[i].lineno]
        is_kernel = isinstance(outcome, Kernel)
        exits = len(candidate.captured.graph.exits) if candidate.captured is not None else 0
        reports.append(SegmentReport(number, "kernel" if is_kernel else "bytecode", min(lines or [0]), max(lines or [0]),
                                     len(indices), exits, "" if is_kernel else reason(outcome.reason_id, **outcome.facts)))
    return reports


def _break_reports(result: Capture, filename: str) -> List[BreakReport]:
    instructions = result.cfg.function.instructions
    return [break_report(error, filename, instructions[index].lineno or 0, instructions[index].opname)
            for index, error in result.breaks()]
