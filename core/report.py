"""What is told of a capture: reports of its segments and breaks, and the texts that `print_after_all` shows."""

from __future__ import annotations

import dis
import types
from typing import Any, List, Sequence, Tuple

from pijit.core.bytecode.blocks import CFG
from pijit.core.capture.capture import Candidate, Capture
from pijit.core.capture.guarding import launch_arguments, segment_program
from pijit.core.errors import Break
from pijit.core.graph.printer import format_graph
from pijit.core.kernel.compile import Kernel
from pijit.core.reasons import reason
from pijit.core.records import BreakReport, SegmentReport, WayReport, break_report

IDLE = frozenset(["LOAD_FAST", "LOAD_CONST", "LOAD_GLOBAL", "LOAD_DEREF", "DUP_TOP", "POP_TOP", "ROT_TWO", "ROT_THREE",
                  "ROT_FOUR", "JUMP_ABSOLUTE", "JUMP_FORWARD", "POP_BLOCK", "SETUP_LOOP", "NOP"])


class CaptureRecord:
    """The texts of one capture, each made when it is read; good as long as the call that gives it lasts.

    Attributes:
        name: the function's qualified name.
        breaks: reports of the instructions that stay bytecode.
        recompile: why the function was captured again; "" for a first capture.
    """

    def __init__(self, function: types.FunctionType, result: Capture, compiled: Sequence[Any], linked: types.CodeType,
                 program: Any, segments: Sequence[SegmentReport], breaks: Sequence[BreakReport], recompile: str,
                 ways: Sequence[WayReport] = ()) -> None:
        self.name = function.__qualname__
        self.breaks = tuple(breaks)
        self.recompile = recompile
        self._code = function.__code__
        self._result = result
        self._kernels = [kernel for kernel in compiled if hasattr(kernel, "source")]
        self._linked = linked
        self._program = program
        self._segments = segments
        self._ways = ways

    @property
    def bytecode(self) -> str:
        return dis.Bytecode(self._code).dis()

    @property
    def blocks(self) -> str:
        return format_cfg(self._result.cfg)

    @property
    def graph(self) -> str:
        return "\n".join(format_graph(c.captured.graph) for c in self._result.all_candidates() if c.captured is not None)

    @property
    def segments(self) -> str:
        return "\n".join([format_segment(s) for s in self._segments] + ["re-entry at " + str(way) for way in self._ways]
                         + [format_break(b) for b in self.breaks])

    @property
    def source(self) -> str:
        return "\n".join(kernel.source for kernel in self._kernels)

    @property
    def linked(self) -> str:
        return dis.Bytecode(self._linked).dis()

    @property
    def guards(self) -> str:
        return "\n".join(format_guards(self._result, self._program))

    @property
    def times(self) -> str:
        return "\n".join("%s: %.3f s" % (kernel.name, kernel.seconds) for kernel in self._kernels)


def busy_lines(instructions: Sequence[Any], indices: Sequence[int]) -> Tuple[int, ...]:
    """The lines on which these instructions do more than push, jump, or take over what bytecode has left."""
    inside = set(indices)
    lines = {instructions[index].lineno for index in indices
             if instructions[index].opname not in IDLE
             and (instructions[index].opname != "STORE_FAST" or index - 1 in inside)}
    return tuple(sorted(line for line in lines if line))


def format_cfg(cfg: CFG) -> str:
    """One line per block, then one per loop."""
    return "\n".join([repr(block).strip("<>") for block in cfg.blocks] + [repr(loop).strip("<>") for loop in cfg.loops])


def format_segment(segment: SegmentReport) -> str:
    """``segment 0 [kernel] lines 3-9, 27 instructions, 2 exits``."""
    text = "segment %d [%s] lines %d-%d, %d instructions, %d exits" % (
        segment.id, segment.kind, segment.start_line, segment.end_line, segment.instructions, segment.exits)
    return "%s: %s" % (text, segment.reason) if segment.reason else text


def format_break(report: BreakReport) -> str:
    """``break line 5 CALL_FUNCTION: PJ201 ...``."""
    return "break line %d %s: %s" % (report.lineno, report.opname, report.message)


def format_guards(result: Capture, program: Any) -> List[str]:
    """The entry's guards, then each segment's and re-entry's."""
    lines = ["entry: %s" % guard for guard in program.guards]
    for candidate in result.all_candidates():
        if candidate.captured is not None:
            own = segment_program(candidate.captured, launch_arguments(candidate.captured))
            lines += ["%s: %s" % (candidate.captured.graph.name, guard) for guard in own.guards]
    return lines


def segment_reports(result: Capture, compiled: Sequence[Any]) -> List[SegmentReport]:
    """A report per segment, but for those that only move values; ids count those too."""
    reports = []
    instructions = result.cfg.function.instructions
    for number, (candidate, outcome) in enumerate(zip(result.candidates, compiled)):
        if outcome is None or isinstance(outcome, Break) and outcome.facts.get("work") == 0:
            continue
        indices = sorted(set(candidate.region.instructions()))
        lines = [instructions[i].lineno for i in indices if instructions[i].lineno]
        is_kernel = isinstance(outcome, Kernel)
        exits = len(candidate.captured.graph.exits) if candidate.captured is not None else 0
        reports.append(SegmentReport(number, "kernel" if is_kernel else "bytecode", min(lines or [0]), max(lines or [0]),
                                     len(indices), exits, "" if is_kernel else reason(outcome.reason_id, **outcome.facts),
                                     busy_lines(instructions, indices)))
    return reports


def way_report(result: Capture, way: Candidate) -> WayReport:
    """The report of a re-entry."""
    instructions = result.cfg.function.instructions
    indices = set(way.region.instructions())
    lines = [line for line in (instructions[index].lineno for index in indices) if line] or [0]
    assert way.captured is not None
    return WayReport(instructions[way.captured.start].lineno or 0, min(lines), max(lines), len(indices),
                     len(way.captured.graph.exits))


def break_reports(result: Capture, filename: str, breaks: Sequence[Tuple[int, Break]]) -> List[BreakReport]:
    """A report per instruction that stays bytecode; says where what is called is compiled on its own."""
    instructions, callees = result.cfg.function.instructions, result.callees()
    return [break_report(error, filename, instructions[index].lineno or 0, instructions[index].opname,
                         bool(callees.get(index))) for index, error in breaks]
