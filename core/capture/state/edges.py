"""Control transfers of captured instructions, and their outgoing edges with the abstract state on each.

Analysis and graph building both use them.
"""

from __future__ import annotations

import enum
from typing import Callable, Dict, List, Optional, Tuple

from pijit.core.bytecode.codec.decode import Instr
from pijit.core.bytecode.instructions.predicates import steps_iterator
from pijit.core.capture.state.frame_state import FrameState
from pijit.core.capture.state.return_kinds import CallOutcomes
from pijit.core.capture.values.base import Raised
from pijit.core.capture.values.generator_frame import has_ended
from pijit.core.capture.values.lattice import Abstract
from pijit.core.graph.ir import Block, Value
from pijit.core.named_tuples import NamedTuple


class TransferKind(enum.Enum):
    """The ways in which an instruction can end."""

    FALL = "to the next instruction"
    JUMP = "to the target"
    BRANCH = "to the target if the condition holds, else to the next instruction"
    ITERATE = "to the next instruction, with the item, if there is one; else to the target"
    RETURN = "out of an inlined callee"
    RAISE = "nowhere here: an exception"


class Transfer(NamedTuple):
    """The control transfer at the end of an instruction.

    Attributes:
        condition: for a branch its flag; for an iteration whether there is an item.
        entering: makes the items that the operand stack gets where a branch jumps, or an iteration goes on.
    """

    kind: TransferKind
    condition: Optional[Value] = None
    entering: Callable[[], List[Abstract]] = list

    def branches_on(self) -> Value:
        """The condition of a branch or an iteration."""
        assert self.condition is not None
        return self.condition


FALL, JUMP = Transfer(TransferKind.FALL), Transfer(TransferKind.JUMP)
RETURN, RAISE = Transfer(TransferKind.RETURN), Transfer(TransferKind.RAISE)


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


def edges_of(transfer: Transfer, last: Instr, state: FrameState) -> Dict[int, Tuple[int, FrameState]]:
    """The edges of a captured instruction: target and state, by slot. Slot 0 falls through, slot 1 jumps."""
    target = last.target if last.target is not None else -1
    if transfer.kind is TransferKind.RAISE:
        return {}
    if transfer.kind is TransferKind.JUMP:
        return {1: (target, state)}
    if transfer.kind is TransferKind.FALL:
        return {0: (last.index + 1, state)}
    entered = FrameState(state.locals, state.stack + transfer.entering())
    if transfer.kind is TransferKind.BRANCH:
        return {0: (last.index + 1, state), 1: (target, entered)}
    return {0: (last.index + 1, entered), 1: (target, state)}
