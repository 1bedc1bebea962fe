"""The breaks that are told: one per thing in the user's source, without those that others lead to."""

from __future__ import annotations

from itertools import groupby
from typing import Any, Dict, List, Sequence, Set, Tuple

from pijit.core.capture.driver import Capture
from pijit.core.capture_records import BreakReport, break_report
from pijit.core.errors import Break

CONSEQUENCES = ("PJ212", "PJ218")
"""Breaks that a version may have because of what led to it."""

LEAVING_BLOCKS = frozenset([
    "POP_BLOCK", "POP_EXCEPT", "POP_FINALLY", "BEGIN_FINALLY", "CALL_FINALLY", "END_FINALLY", "RERAISE",
    "JUMP_IF_NOT_EXC_MATCH", "PUSH_EXC_INFO", "WITH_EXCEPT_START", "WITH_CLEANUP_START", "WITH_CLEANUP_FINISH"])
"""What the compiler adds to a `with` or a handler; its beginning is a break already."""

CALLING_EXIT = (["DUP_TOP", "DUP_TOP", "CALL_FUNCTION"], ["LOAD_CONST", "LOAD_CONST", "CALL_FUNCTION"])
"""With three times None, where nothing was raised; the second from 3.11 on."""

SWALLOWING = (["POP_TOP", "POP_TOP", "POP_TOP", "POP_EXCEPT", "POP_TOP"], ["POP_TOP", "POP_EXCEPT", "POP_TOP", "POP_TOP"])
"""What follows where an ``__exit__`` has swallowed an exception, from 3.9 and from 3.11 on."""

MAKING_EXCEPTIONS = frozenset(["PJ201", "PJ230"])
HANDLER, NO_FORM, UNCAPTURED, UNSEEN, RAISED = "PJ206", "PJ202", "PJ203", "PJ218", "PJ221"

Found = Tuple[int, Break]


def break_causes(results: Sequence[Capture], breaks: Sequence[Found]) -> List[Found]:
    """The breaks without those that others lead to: where nothing is known of the operands of an instruction in one
    version of it, and another version is captured; and what one line of the source does because of an earlier one."""
    captured = {index for one in results for index in one.captured()}
    causes = [(index, error) for index, error in breaks
              if error.reason_id not in CONSEQUENCES or index not in captured]
    return told(results[0].cfg.function.instructions, causes)


def break_reports(result: Capture, filename: str, breaks: Sequence[Found]) -> List[BreakReport]:
    """A report per instruction that stays bytecode; says where what is called is compiled on its own, or could be."""
    instructions, callees, plain = result.cfg.function.instructions, result.callees(), result.uncompiled()
    return [break_report(error, filename, line_of(instructions, index), instructions[index].opname,
                         "compiled on its own" if callees.get(index) else "runs as plain Python" if index in plain else None)
            for index, error in breaks]


def line_of(instructions: Sequence[Any], index: int) -> int:
    """The line of an instruction; of one that the compiler has added, that of the code before it."""
    return next((one.lineno for one in instructions[index::-1] if one.lineno), 0)


def told(instructions: Sequence[Any], breaks: Sequence[Found]) -> List[Found]:
    """The breaks without those that follow from others on their line, or from the head of their block: what ends a
    block, operands that a break has made, the call that makes an exception to be raised."""
    raised = {index - 1 for index, error in breaks if error.reason_id == RAISED}
    names = {instructions[index].value for index, error in breaks
             if error.reason_id == HANDLER and instructions[index].opname == "STORE_FAST"}
    kept = [(index, error) for index, error in breaks
            if not (index in raised and error.reason_id in MAKING_EXCEPTIONS)
            and not (error.reason_id in (HANDLER, UNSEEN) and _leaves_block(instructions, index))
            and not (error.reason_id == NO_FORM and _ends_name(instructions, index, names))]
    lines: Dict[int, List[Found]] = {
        line: list(found) for line, found in groupby(sorted(kept, key=lambda one: line_of(instructions, one[0])),
                                                     lambda one: line_of(instructions, one[0]))}
    return sorted((found for on_line in lines.values() for found in _said_once(on_line)), key=lambda one: one[0])


def _leaves_block(instructions: Sequence[Any], index: int) -> bool:
    """Whether this is what the compiler adds behind a block, or takes what that returns."""
    names = [one.opname for one in instructions[max(index - 3, 0):index + 1] if one.opname != "TO_BOOL"][-3:]
    calls = names in CALLING_EXIT and instructions[index].arg == 3
    return calls or not LEAVING_BLOCKS.isdisjoint(names[-2:]) or _swallows(instructions, index)


def _swallows(instructions: Sequence[Any], index: int) -> bool:
    """Whether this is part of what follows where an ``__exit__`` has swallowed an exception."""
    around = [one.opname for one in instructions[max(index - 4, 0):index + 5]]
    here = min(index, 4)
    return any(around[here - k:here - k + len(names)] == names for names in SWALLOWING for k in range(min(len(names), here + 1)))


def _ends_name(instructions: Sequence[Any], index: int, names: Set[str]) -> bool:
    """Whether this is the `del` of the name of an exception at the end of its handler."""
    here, before = instructions[index], instructions[max(index - 1, 0)]
    return (here.opname == "DELETE_FAST" and here.value in names
            and before.opname == "STORE_FAST" and before.value == here.value)


def _said_once(breaks: List[Found]) -> List[Found]:
    """The breaks of a line without what follows from them: operands of which there is nothing to name."""
    plain = [one for one in breaks if one[1].facts or one[1].reason_id not in (HANDLER, UNCAPTURED, UNSEEN)]
    handlers = [one for one in breaks if one[1].reason_id == HANDLER and not one[1].facts]
    if handlers and not any(error.reason_id == HANDLER for _, error in plain):
        return plain + handlers[:1]
    return plain or breaks[:1]
