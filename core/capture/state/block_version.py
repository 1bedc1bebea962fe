"""Versions of blocks: what `analysis` finds, see docs/design.md."""

from __future__ import annotations

from typing import Dict, List

from pijit.core.bytecode.analysis.blocks import Block
from pijit.core.capture.state.frame_state import State
from pijit.core.capture.values.lattice import Abstract
from pijit.core.errors import Break


class Version:
    """One block under one set of types.

    Attributes:
        block: the bytecode block.
        number: unique among all versions.
        state: what is known at its start.
        lossy: whether joining paths forgot something here.
        breaks: the instructions that stay bytecode, with why.
        causes: values from outside that were the reason: others might not have been.
        edges: where control goes: (successor version, state on the edge); the slot is 0 for falling, 1 for jumping,
            and the number of the outcome behind a call that has several.
        is_entry: whether control comes from outside (function entry, exception handler).
        unrolled: whether it ends with a step of a loop that is unrolled.
        likely: not only reached where a loop has no rounds.
        predecessors: the versions that lead here, when the analysis is stable.
        states: what is known at instructions inside the block, of those that were asked for.
    """

    __slots__ = ("block", "number", "state", "lossy", "breaks", "causes", "edges", "is_entry", "unrolled",
                 "likely", "predecessors", "states")

    def __init__(self, block: Block, number: int, state: State) -> None:
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
        self.states: Dict[int, State] = {}

    def __repr__(self) -> str:
        return "v%d(block %d)" % (self.number, self.block.index)
