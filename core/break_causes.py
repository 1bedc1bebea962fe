"""Root causes of breaks: one break per construct of the user's source, without its consequences.

`pipeline` and the reports call it after a capture. It changes no capture.
"""

from __future__ import annotations

from itertools import groupby
from typing import Any, Dict, List, Sequence, Tuple

from pijit.core.bytecode.analysis.block_ends import leaves_block, unbinds_exception
from pijit.core.bytecode.instructions.predicates import stores_local
from pijit.core.capture.driver import Capture
from pijit.core.capture_records import BreakReport, break_report
from pijit.core.errors import Break

CONSEQUENCES = ("PJ212", "PJ218")
"""Breaks that one version of an instruction may have because of its predecessors."""

MAKING_EXCEPTIONS = frozenset(["PJ201", "PJ230"])
HANDLER, NO_FORM, UNCAPTURED, UNSEEN, RAISED = "PJ206", "PJ202", "PJ203", "PJ218", "PJ221"

FoundBreak = Tuple[int, Break]


def break_causes(results: Sequence[Capture], breaks: Sequence[FoundBreak]) -> List[FoundBreak]:
    """The breaks without those that follow from others.

    A break is a consequence if one version of an instruction knows nothing of its operands and another version is
    captured. CPython may have made copies of the instruction for several paths, such as a return after a with block.
    A break is also a consequence if an earlier break of the same line caused it.
    """
    instructions = results[0].cfg.function.instructions
    captured = {_source_of(instructions[index]) for one in results for index in one.captured()}
    causes = [(index, error) for index, error in breaks
              if error.reason_id not in CONSEQUENCES or _source_of(instructions[index]) not in captured]
    return told(instructions, causes)


def _source_of(instr: Any) -> Tuple[Any, ...]:
    """What the copies of an instruction have in common; only itself for an instruction without a line."""
    return (instr.lineno, instr.opname, repr(instr.value)) if instr.lineno else (instr.index,)


def break_reports(result: Capture, filename: str, breaks: Sequence[FoundBreak]) -> List[BreakReport]:
    """A report per instruction that stays bytecode. For a call it says whether the callee is or could be compiled."""
    instructions, callees, plain = result.cfg.function.instructions, result.callees(), result.uncompiled()
    blocks = result.cfg.flow.block_stack
    return [break_report(error, filename, line_of(instructions, index), instructions[index].opname,
                         "compiled on its own" if callees.get(index)
                         else "runs as plain Python" if index in plain else None,
                         any(entry.kind == "handler" for entry in blocks[index] or ()))
            for index, error in breaks]


def line_of(instructions: Sequence[Any], index: int) -> int:
    """The line of an instruction; for an instruction that the compiler added, the line of the code before it."""
    return next((one.lineno for one in instructions[index::-1] if one.lineno), 0)


def told(instructions: Sequence[Any], breaks: Sequence[FoundBreak]) -> List[FoundBreak]:
    """The breaks without those that follow from others on their line, or from the start of their block.

    Such breaks are the end of a block, operands that a break has made, and the call that creates a raised exception.
    """
    raised = {index - 1 for index, error in breaks if error.reason_id == RAISED}
    names = {instructions[index].value for index, error in breaks
             if error.reason_id == HANDLER and stores_local(instructions[index])}
    kept = [(index, error) for index, error in breaks
            if not (index in raised and error.reason_id in MAKING_EXCEPTIONS)
            and not (error.reason_id in (HANDLER, UNSEEN) and leaves_block(instructions, index))
            and not (error.reason_id == NO_FORM and unbinds_exception(instructions, index, names))]
    lines: Dict[int, List[FoundBreak]] = {
        line: list(found) for line, found in groupby(sorted(kept, key=lambda one: line_of(instructions, one[0])),
                                                     lambda one: line_of(instructions, one[0]))}
    return sorted((found for on_line in lines.values() for found in _said_once(on_line)), key=lambda one: one[0])


def _said_once(breaks: List[FoundBreak]) -> List[FoundBreak]:
    """The breaks of a line without their consequences, which have no facts to report."""
    plain = [one for one in breaks if one[1].facts or one[1].reason_id not in (HANDLER, UNCAPTURED, UNSEEN)]
    handlers = [one for one in breaks if one[1].reason_id == HANDLER and not one[1].facts]
    if handlers and not any(error.reason_id == HANDLER for _, error in plain):
        return plain + handlers[:1]
    return plain or breaks[:1]
