"""Outgoing edges of captured instructions, with the abstract state on each.

Analysis and graph building both use them.
"""

from __future__ import annotations

from typing import Any, Dict, NamedTuple, Optional, Tuple

from pijit.core.bytecode.codec.decode import Instr
from pijit.core.bytecode.instructions.predicates import steps_iterator
from pijit.core.capture.state.frame_state import FrameState
from pijit.core.capture.state.return_kinds import CallOutcomes
from pijit.core.capture.values.base import Raised
from pijit.core.capture.values.generator_frame import has_ended
from pijit.core.graph.ir import Block


class ExceptionEdge(NamedTuple):
    """An edge to a handler: the class that is raised, the block of the graph from which it leaves, and the exception if
    it is raised again."""

    cls: type
    block: Optional[Block] = None
    again: Optional[Raised] = None


def outcome_edges(outcomes: CallOutcomes, last: Instr, state: FrameState) -> Dict[int, Tuple[int, FrameState]]:
    """The edges of a call or generator step that has several outcomes: target and state, by slot."""
    edges = {slot: (last.index + 1, after) for slot, after in outcomes.states(state).items()}
    for slot, (_, after) in edges.items() if steps_iterator(last) else ():
        result = after.stack.pop()
        if has_ended(result):
            edges[slot] = last.target, after  # type: ignore[assignment]
        else:
            after.stack += result.items  # type: ignore[attr-defined]
    return edges


def edges_of(flow: Any, last: Instr, state: FrameState) -> Dict[int, Tuple[int, FrameState]]:
    """The edges of a captured instruction: target and state, by slot. Slot 0 falls through, slot 1 jumps."""
    target = last.target if last.target is not None else -1
    if flow == "fall":
        return {0: (last.index + 1, state)}
    if flow == "raise":
        return {}
    if flow == "jump":
        return {1: (target, state)}
    kind, _, kept = flow
    if kind == "branch":
        return {0: (last.index + 1, state), 1: (target, FrameState(state.locals, state.stack + kept))}
    return {0: (last.index + 1, FrameState(state.locals, state.stack + kept())), 1: (target, state)}
