"""Block versions: basic blocks specialised by the types at their start.

`analysis/fixpoint.py` finds them. See docs/design.md, lazy basic block versioning. It must not decide when a block gets
another version.
"""

from __future__ import annotations

from typing import Dict, List

from pijit.core.bytecode.analysis.blocks import BasicBlock
from pijit.core.capture.state.frame_state import FrameState
from pijit.core.capture.values.lattice import Abstract
from pijit.core.errors import Break


class Version:
    """One basic block under one set of types.

    Attributes:
        block: the bytecode block.
        number: unique among all versions.
        state: the abstract state at its start.
        lossy: whether a join of paths has lost information here.
        breaks: the instructions that stay bytecode, with the reason.
        causes: values from outside that caused breaks; other values might not have.
        edges: successor versions by slot. The slot is 0 for falling through and 1 for jumping, or the number of the
            outcome after a call that has several.
        is_entry: whether it is entered from outside (function entry, exception handler).
        unrolled: whether it ends with a step of an unrolled loop.
        likely: whether it is also reached by paths on which each loop has an iteration.
        predecessors: the versions that lead here, once the analysis is stable.
        states: abstract states at requested instructions inside the block.
    """

    __slots__ = ("block", "number", "state", "lossy", "breaks", "causes", "edges", "is_entry", "unrolled",
                 "likely", "predecessors", "states")

    def __init__(self, block: BasicBlock, number: int, state: FrameState) -> None:
        self.block = block
        self.number = number
        self.state = state
        self.lossy = False
        self.breaks: Dict[int, Break] = {}
        self.causes: List[Abstract] = []
        self.edges: Dict[int, "Version"] = {}
        self.is_entry = False
        self.unrolled = False
        self.likely = True
        self.predecessors: List["Version"] = []
        self.states: Dict[int, FrameState] = {}

    def __repr__(self) -> str:
        return "v%d(block %d)" % (self.number, self.block.index)
