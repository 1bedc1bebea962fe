"""Reports of a capture: records of its segments and breaks, and the texts that `print_after_all` shows.

`pipeline` makes a record for each entry. It must compile nothing: texts are made on demand.
"""

from __future__ import annotations

import dis
import time
import types
from typing import Any, Dict, Iterable, Iterator, List, Sequence, Tuple

from pijit.core.break_causes import line_of
from pijit.core.bytecode.analysis.blocks import CFG
from pijit.core.bytecode.instructions import opcodes
from pijit.core.bytecode.instructions.predicates import stores_local
from pijit.core.capture.build.exits import ITERATIONS
from pijit.core.capture.build.guards import pair_guard
from pijit.core.capture.build.segment import Captured, InlinedCall
from pijit.core.capture.driver import Candidate, Capture, Captures
from pijit.core.capture_records import BreakReport, EntryReports, InlinedReport, ReentryReport, SegmentReport
from pijit.core.effect_reports import effect_reports
from pijit.core.errors import Break
from pijit.core.graph.passes.simplify import side_exits
from pijit.core.graph.printer import format_graph
from pijit.core.kernel.compile import Kernel
from pijit.core.partition_graph import PartitionGraph, parts_of, split_of
from pijit.core.reasons import reason

IDLE = (opcodes.LOCAL_LOADS | opcodes.CONSTANT_LOADS | opcodes.GLOBAL_LOADS | opcodes.CELL_LOADS | opcodes.STACK_MOVES
        | opcodes.PLAIN_JUMPS | opcodes.LOOP_SETUPS | opcodes.BLOCK_ENDS | opcodes.NO_OPERATIONS)
"""Instructions that push a variable or a constant, or only move control or operands."""


class Clock:
    """Measures the phases of a capture; ``seconds`` maps the name of each phase to its duration."""

    def __init__(self) -> None:
        self.seconds: Dict[str, float] = {}
        self._last = time.perf_counter()

    def done(self, phase: str) -> None:
        """End the phase that began with the last call of this method, or with this object."""
        now = time.perf_counter()
        self.seconds[phase], self._last = now - self._last, now


class CaptureRecord:
    """The texts of one capture. It keeps no value of the user's; most texts are made when they are read.

    Attributes:
        name: the function's qualified name.
        filename: the file of its code.
        breaks: reports of the instructions that stay bytecode.
        effects: reports of stores and other effects.
        inlined: reports of the functions that were inlined into kernels.
        recompile: why the function was captured again; "" for a first capture.
        graph: the graphs after all passes.
        uses: the inputs of each kernel, its results, and what it leaves to bytecode.
        guards: the guards of the entry, then those of each segment and re-entry.
        kernels: the compiled kernels.
        kernel_lines: name, first and last line of each graph that was to become a kernel.
    """

    def __init__(self, function: types.FunctionType, captures: Captures, compiled: Sequence[Sequence[Any]],
                 reentries: Sequence[Kernel], linked: types.CodeType, program: Any, reports: EntryReports,
                 seconds: Dict[str, float]) -> None:
        instructions = captures.function.instructions
        candidates = [candidate for one in captures.results for candidate in one.all_candidates()]
        self.name = function.__qualname__
        self.filename = function.__code__.co_filename
        self.breaks = tuple(reports.breaks + reports.stays)
        self.recompile = reports.why
        self.graph = "\n".join(format_graph(candidate.captured.graph, True) for candidate in candidates
                               if candidate.captured is not None and (candidate.captured.number or candidate.error))
        numbered = [one for one in candidates if one.captured is not None and one.captured.number]
        graphs = [candidate.segment for candidate in numbered]
        self.uses = "\n".join(text for captured in graphs for text in format_use(captured, captures.function))
        self.guards = "\n".join(format_guards(graphs, program))
        made = [(candidate.segment, kernel) for one, kernels_or_breaks in zip(captures.results, compiled)
                for candidate, kernel in zip(one.candidates, kernels_or_breaks) if isinstance(kernel, Kernel)]
        self.effects = effect_reports([captured for captured, _ in made], instructions,
                                      [index for index, _ in captures.broken])
        self.inlined = inlined_reports([captured for captured, _ in made])
        self.kernels = [kernel for _, kernel in made] + list(reentries)
        self.kernel_lines = tuple(_lines_of(instructions, candidate) for candidate in numbered)
        self._parts = parts_of([captured for captured, _ in made])
        self._code = function.__code__
        self._analysed = captures.first.analysed
        self._linked = linked
        self._segments = tuple(reports.segments)
        self._reentry_reports = tuple(reports.reentries)
        self._stages = {captured.graph.name: captures.stages.get(captured.graph.name, []) for captured in graphs}
        self._seconds = seconds

    @property
    def bytecode(self) -> str:
        return dis.Bytecode(self._code).dis()

    @property
    def split(self) -> PartitionGraph:
        """The partition of the function, as boxes and edges."""
        return split_of(self._analysed, self._parts)

    @property
    def bytecode_lines(self) -> Tuple[int, ...]:
        """The source lines that do something outside of kernels, and those that are in no kernel at all."""
        inside = {i for part in self._parts for i in part.indices}
        instructions = self._analysed.function.instructions
        reached = [i for i, block in enumerate(self._analysed.cfg.block_of) if block is not None]
        outside = {instructions[i].lineno for i in reached if i not in inside}
        busy = set(busy_lines(instructions, [i for i in reached if i not in inside]))
        glue = outside - {instructions[i].lineno for i in inside}
        return tuple(sorted(line for line in busy | glue if line))

    def by_line(self, values: Dict[int, str]) -> Dict[str, str]:
        """Facts about values that instructions push, by source line."""
        found: Dict[str, List[str]] = {}
        for index, text in values.items():
            found.setdefault("line %d" % line_of(self._analysed.function.instructions, index), []).append(text)
        return {line: " and ".join(dict.fromkeys(texts)) for line, texts in found.items()}

    @property
    def blocks(self) -> str:
        return format_cfg(self._analysed.cfg)

    @property
    def segments(self) -> str:
        return "\n".join([format_segment(s) for s in self._segments]
                         + ["re-entry at " + str(reentry) for reentry in self._reentry_reports]
                         + [format_break(b) for b in self.breaks] + ["effect " + str(one) for one in self.effects])

    @property
    def passes(self) -> str:
        """The graphs before all passes and after each pass that changed them; unchanged graphs are left out."""
        return "\n".join("%s:\ngraph %s\n%s" % (stage.name, name, stage.text)
                         for name, stages in self._stages.items() if len(stages) > 1 for stage in stages)

    @property
    def plan(self) -> str:
        """The plan of each kernel: what was decided from the graph before the source was written."""
        return "\n".join("plan of %s:\n%s" % (kernel.name, kernel.plan) for kernel in self.kernels if kernel.plan)

    @property
    def source(self) -> str:
        return "\n".join(kernel.source for kernel in self.kernels)

    @property
    def linked(self) -> str:
        return dis.Bytecode(self._linked).dis()

    @property
    def times(self) -> str:
        return "\n".join(["%s: %.3f s" % item for item in self._seconds.items()]
                         + ["  %s: %.3f s" % (kernel.name, kernel.seconds) for kernel in self.kernels])


def _lines_of(instructions: Sequence[Any], candidate: Candidate) -> Tuple[str, int, int]:
    lines = [line for line in (instructions[i].lineno for i in candidate.region.instructions()) if line] or [0]
    return candidate.captured.graph.name if candidate.captured is not None else "", min(lines), max(lines)


def busy_lines(instructions: Sequence[Any], indices: Sequence[int]) -> Tuple[int, ...]:
    """The lines on which these instructions do more than push, jump, or store a value that bytecode has left."""
    inside = set(indices)
    lines = {instructions[index].lineno for index in indices
             if instructions[index].opname not in IDLE
             and (not stores_local(instructions[index]) or index - 1 in inside)}
    return tuple(sorted(line for line in lines if line))


def format_cfg(cfg: CFG) -> str:
    """The blocks, one per line, then the loops."""
    return "\n".join([repr(block).strip("<>") for block in cfg.blocks] + [repr(loop).strip("<>") for loop in cfg.loops])


def format_segment(segment: SegmentReport) -> str:
    """``segment 1 [kernel] lines 3-9, 27 instructions, 4 inlined, 2 exits``."""
    text = "segment%s [%s] lines %d-%d, %d instructions%s, %d exits" % (
        " %d" % segment.id if segment.id else "", segment.kind, segment.start_line, segment.end_line,
        segment.instructions, ", %d inlined" % segment.inlined if segment.inlined else "", segment.exits)
    return "%s: %s" % (text, segment.reason) if segment.reason else text


def format_break(report: BreakReport) -> str:
    """``break line 5 CALL_FUNCTION: PJ201 ...``."""
    return "break line %d %s: %s" % (report.lineno, report.opname, report.message)


def format_guards(graphs: Sequence[Captured], program: Any) -> List[str]:
    """The entry's guards, then those of each segment and re-entry."""
    lines = ["entry: %s" % guard for guard in program.guards]
    for captured in graphs:
        guards = [guard for fact in captured.facts.values() for guard in fact.value.guards(fact.root)]
        guards += [pair_guard(pair.root, pair.other, pair.same) for pair in captured.pairs]
        lines += ["%s: %s" % (captured.graph.name, guard) for guard in dict.fromkeys(map(str, guards))]
    return lines


def format_use(captured: Captured, function: Any) -> Iterator[str]:
    """The inputs of a kernel; for each exit the values that it computes, rebuilds as new objects, and hands on."""
    graph = captured.graph
    yield "%s takes %s" % (graph.name, ", ".join(map(str, captured.inputs)) or "nothing")
    taken = {exit.exit: exit.outputs for exit in reversed(side_exits(graph))}
    for number, outputs in sorted(taken.items()):
        exit = graph.exits[number]
        names = list(exit.locals) + ["stack[-%d]" % (k + 1) for k in range(exit.stack)]
        kept: Dict[str, List[str]] = {"computed": [], "rebuilt": [], "handed on": []}
        for name, output in zip(names, outputs):
            if name == ITERATIONS:
                continue
            kept[_GIVEN.get(output.kind, "rebuilt")].append(name)
        line = next((instr.lineno for instr in function.instructions[exit.target::-1] if instr.lineno), 0)
        yield "  exit%d to line %d%s: %s" % (
            number, line, " (repeats the statement)" if exit.side else "",
            "; ".join("%s %s" % (how, ", ".join(given)) for how, given in kept.items() if given) or "nothing")


_GIVEN = {"value": "computed", "input": "handed on", "const": "handed on"}


def segment_reports(result: Capture, compiled: Sequence[Any]) -> List[SegmentReport]:
    """A report per segment, except for those that only move values."""
    reports = []
    instructions = result.cfg.function.instructions
    for candidate, kernel_or_break in zip(result.candidates, compiled):
        if kernel_or_break is None or isinstance(kernel_or_break, Break) and kernel_or_break.facts.get("work") == 0:
            continue
        indices = sorted(set(candidate.region.instructions()))
        lines = [line for line in (instructions[i].lineno for i in indices) if line]
        is_kernel = isinstance(kernel_or_break, Kernel)
        captured = candidate.captured
        number, inlined = (captured.number, captured.inlined) if captured is not None else (0, 0)
        exits = len(captured.graph.exits) if captured is not None else 0
        reports.append(SegmentReport(
            number, "kernel" if is_kernel else "bytecode", min(lines or [0]), max(lines or [0]),
            len(indices), exits, "" if is_kernel else reason(kernel_or_break.reason_id, **kernel_or_break.facts),
            busy_lines(instructions, indices), inlined))
    return reports


def inlined_reports(made: Iterable[Captured]) -> Tuple[InlinedReport, ...]:
    """The functions that were inlined into kernels, with the kernels of each call."""
    places: Dict[InlinedCall, List[str]] = {}
    for captured in made:
        for call in captured.calls:
            places.setdefault(call, []).append("k%d" % captured.number)
    return tuple(InlinedReport(*call, ", ".join(where)) for call, where in places.items())


def reentry_report(result: Capture, reentry: Candidate) -> ReentryReport:
    """The report of a re-entry."""
    instructions = result.cfg.function.instructions
    indices = set(reentry.region.instructions())
    lines = [line for line in (instructions[index].lineno for index in indices) if line] or [0]
    assert reentry.captured is not None
    return ReentryReport(instructions[reentry.captured.start].lineno or 0, min(lines), max(lines), len(indices),
                     len(reentry.captured.graph.exits))
