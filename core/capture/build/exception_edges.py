"""Exception edges: a kernel that predicts an exception jumps to the local handler that catches it.

`interpreter/exceptions.py` finds these edges; this module builds them.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Tuple

from pijit.core.bytecode.codec.decode import Instr
from pijit.core.capture.analysis.regions import Piece
from pijit.core.capture.build.segment import Unhandled
from pijit.core.capture.interpreter.exceptions import FIRST_EDGE, ExceptionEdge, way_edges
from pijit.core.capture.state.frame_state import FrameState
from pijit.core.capture.state.return_kinds import CallOutcome, CallOutcomes
from pijit.core.capture.values.base import raised_in
from pijit.core.errors import Break
from pijit.core.graph.ir import Block, Branch, Graph, Jump, Leave, SideExit, Value


class Catching:
    """Mixin of the builder for edges to handlers.

    ``resumptions``: the resume point of side exits while an exception is handled whose object was not made. The key is
    the instruction that raises and the version of its block. ``ended``: the resume point at the end of each piece, and
    whether an effect has followed it.
    """

    graph: Graph
    block: Block
    instr: Instr
    version: int
    wrote: bool
    ways: List[ExceptionEdge]
    resume: Optional[Tuple[int, FrameState]]
    resumptions: Dict[Any, Optional[Tuple[int, FrameState]]]
    state: FrameState
    blocks: Dict[Piece, Block]
    ended: Dict[Piece, Tuple[Optional[Tuple[int, FrameState]], bool]]
    has_fragile: Callable[[], bool]
    _arm: Callable[..., Any]

    def split(self, flag: Value) -> Block:
        blocks = [self.graph.new_block(self.instr.lineno or 0) for _ in range(2)]
        self.block.terminator = Branch(flag, Jump(blocks[1], []), Jump(blocks[0], []))
        self.block = blocks[0]
        return blocks[1]

    def either(self, flag: Value, one: CallOutcome, other: CallOutcome) -> Dict[int, CallOutcome]:
        """The outcomes of a call, each in a block of its own."""
        blocks = [self.graph.new_block(self.instr.lineno or 0) for _ in range(2)]
        self.block.terminator = Branch(flag, Jump(blocks[1], []), Jump(blocks[0], []))
        return {0: other._replace(block=blocks[0]), 1: one._replace(block=blocks[1])}

    def resumption_of(self, piece: Piece) -> Tuple[Optional[Tuple[int, FrameState]], bool]:
        """The resume point of side exits at the start of a piece, and whether an effect has followed it.

        While an exception is handled whose object was not made, it lies before the raise. While a method is pending, it
        is the common one of all predecessors.
        """
        raised = raised_in(self.state.stack)
        if raised is not None:
            return self.resumptions[raised.born, raised.version], raised.wrote
        before = [self.ended.get(other, (None, False)) for other in piece.predecessors if other in self.blocks]
        if not before or not self.has_fragile() or any(resume is not before[0][0] for resume, _ in before):
            return None, False
        return before[0][0], any(wrote for _, wrote in before)

    def note_end(self, piece: Piece) -> None:
        """Note that only the terminator of a piece is left to build."""
        self.ended[piece] = self.resume, self.wrote
        self.lead_to_handler(piece)

    def lead_to_handler(self, piece: Piece) -> None:
        """Add the edge to the handler where the last instruction of a piece raises."""
        for slot, (target, after) in way_edges(self).items():
            here, way = self.block, self.ways[slot - FIRST_EDGE]
            if way.again is None:
                self._note_resumption()
            self.block = way.block if way.block is not None else here
            self.block.terminator = arm_alone(self._arm(piece, slot, target, after))
            self.block = here

    def note_outcomes(self, outcomes: CallOutcomes) -> None:
        """Note that a call has several outcomes, some of which may be exceptions."""
        if outcomes.raises():
            self._note_resumption()

    def _note_resumption(self) -> None:
        """Keep the present resume point for side exits while the exception of the instruction is handled."""
        if self.wrote:
            self.catch_no_more()
        self.resumptions[self.instr.index, self.version] = self.resume

    def catch_no_more(self) -> None:
        raise Unhandled(self.instr.index, Break("PJ206", opcode=self.instr.opname))


def arm_alone(arm: Any) -> Any:
    """The terminator of a block with a single successor."""
    return Leave(arm) if isinstance(arm, SideExit) else arm
