"""Re-entries: graphs that resume a loop. They count iterations, which measures what a re-entry is worth.

The driver builds them. A re-entry must start at the header of a loop.
"""

from __future__ import annotations

from typing import Any, Dict

from pijit.core.capture.analysis.regions import RegionBlock
from pijit.core.capture.build.exits import ITERATIONS
from pijit.core.capture.build.graph_builder import GraphBuilder
from pijit.core.capture.state.frame_state import FrameState
from pijit.core.capture.values.lattice import Number
from pijit.core.graph.ir import Block, Jump, SideExit
from pijit.core.graph.types import WORD


class ReentryBuilder(GraphBuilder):
    """Builder of one re-entry, used once. All exits except polls pass on the iteration count, if there was an
    iteration."""

    def _state_at_entry(self) -> FrameState:
        state = super()._state_at_entry()
        state.locals[ITERATIONS] = Number(WORD)
        self.stored.add(ITERATIONS)
        return state

    def _state_at_join(self, region_block: RegionBlock) -> FrameState:
        state = super()._state_at_join(region_block).copy()
        state.locals[ITERATIONS] = Number(WORD)
        return state

    def _start(self, block: Block, params: Dict[RegionBlock, FrameState]) -> None:
        self.block = block
        self.entry_state.locals[ITERATIONS].value = self.emit("const", [], WORD, {"value": 0})  # type: ignore[attr-defined]
        super()._start(block, params)

    def _poll(self, header: RegionBlock, state: FrameState) -> Jump:
        state = state.copy()
        one = self.emit("const", [], WORD, {"value": 1})
        count = self.emit("add", [state.locals[ITERATIONS].value, one], WORD)  # type: ignore[attr-defined]
        state.locals[ITERATIONS] = Number(WORD, count)
        return super()._poll(header, state)

    def exit_to(self, target: int, state: FrameState, side: bool, poll: bool = False, reentry: Any = None) -> SideExit:
        if poll:
            state = state.copy()
            del state.locals[ITERATIONS]
        return super().exit_to(target, state, side, poll, reentry)
