"""Exception edges: a kernel that predicts an exception jumps to the local handler that catches it.

`interpreter/exceptions.py` finds these edges; this module builds them. `graph_builder` calls it. It must not predict
exceptions: the models do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple

from pijit.core.capture.analysis.regions import RegionBlock
from pijit.core.capture.build import exits
from pijit.core.capture.build.segment import Unhandled
from pijit.core.capture.interpreter.exceptions import FIRST_EDGE, handler_edges
from pijit.core.capture.state.frame_state import FrameState
from pijit.core.capture.state.return_kinds import CallOutcome, CallOutcomes
from pijit.core.capture.values.base import raised_in
from pijit.core.errors import Break
from pijit.core.graph.ir import Block, Branch, Jump, Leave, SideExit, Value

if TYPE_CHECKING:
    from pijit.core.capture.build.graph_builder import GraphBuilder


def split(builder: GraphBuilder, flag: Value) -> Block:
    blocks: List[Block] = [builder.graph.new_block(builder.instr.lineno or 0) for _ in range(2)]
    builder.block.terminator = Branch(flag, Jump(blocks[1], []), Jump(blocks[0], []))
    builder.block = blocks[0]
    return blocks[1]


def either(builder: GraphBuilder, flag: Value, one: CallOutcome, other: CallOutcome) -> Dict[int, CallOutcome]:
    """The outcomes of a call, each in a block of its own."""
    blocks = [builder.graph.new_block(builder.instr.lineno or 0) for _ in range(2)]
    builder.block.terminator = Branch(flag, Jump(blocks[1], []), Jump(blocks[0], []))
    return {0: other._replace(block=blocks[0]), 1: one._replace(block=blocks[1])}


def resumption_of(builder: GraphBuilder, region_block: RegionBlock) -> Tuple[Optional[Tuple[int, FrameState]], bool]:
    """The resume point of side exits at the start of a block, and whether an effect has followed it.

    While an exception is handled whose object was not made, it lies before the raise. While a method is pending, it
    is the common one of all predecessors.
    """
    raised = raised_in(builder.state.stack)
    if raised is not None:
        return builder.resumptions[raised.defined_at, raised.version], raised.wrote
    before = [builder.ended.get(other, (None, False)) for other in region_block.predecessors if other in builder.blocks]
    if not before or not exits.has_kernel_local(builder) or any(resume is not before[0][0] for resume, _ in before):
        return None, False
    return before[0][0], any(wrote for _, wrote in before)


def note_end(builder: GraphBuilder, region_block: RegionBlock) -> None:
    """Note that only the terminator of a block is left to build."""
    builder.ended[region_block] = builder.resume, builder.wrote
    lead_to_handler(builder, region_block)


def lead_to_handler(builder: GraphBuilder, region_block: RegionBlock) -> None:
    """Add the edge to the handler where the last instruction of a block raises."""
    for slot, (target, after) in handler_edges(builder).items():
        here, edge = builder.block, builder.exception_edges[slot - FIRST_EDGE]
        if edge.again is None:
            _note_resumption(builder)
        builder.block = edge.block if edge.block is not None else here
        builder.block.terminator = arm_alone(builder.arm(region_block, slot, target, after))
        builder.block = here


def note_outcomes(builder: GraphBuilder, outcomes: CallOutcomes) -> None:
    """Note that a call has several outcomes, some of which may be exceptions."""
    if outcomes.raises():
        _note_resumption(builder)


def _note_resumption(builder: GraphBuilder) -> None:
    """Keep the present resume point for side exits while the exception of the instruction is handled."""
    if builder.wrote:
        builder.catch_no_more()
    builder.resumptions[builder.instr.index, builder.version] = builder.resume


def catch_no_more(builder: GraphBuilder) -> None:
    raise Unhandled(builder.instr.index, Break("PJ206", opcode=builder.instr.opname))


def arm_alone(arm: Any) -> Any:
    """The terminator of a block with a single successor."""
    return Leave(arm) if isinstance(arm, SideExit) else arm
