"""A/B timing of launchers in loops against bytecode, while the loop runs (the option perf_statistics).

`pipeline` calls `measure_loops` once per entry.
Whole calls are timed for entries (`entry_timing`). A call that runs for long is timed in its loops. The clock is in
core/native/launcher/timing/loop_timing.c. It measures the time between arrivals at one of the loop's segments. Control
must arrive there as often under bytecode as under kernels, so no kernel may pass this segment inside.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Sequence, Set, Union

from pijit.core import _hook
from pijit.core._launcher import LoopTiming
from pijit.core.bytecode.analysis.blocks import CFG
from pijit.core.capture.analysis.regions import Region
from pijit.core.entries.launch_sites import MadeSegment, Reentry
from pijit.core.entry_timing import is_measured, time_text
from pijit.core.errors import Break
from pijit.core.kernel.compile import Kernel

if TYPE_CHECKING:
    from pijit.core.function_state import State

LIMIT_NS = 200000
"""If more nanoseconds pass between two arrivals, bytecode is not timed: it may take a thousand times as long."""


def measure_loops(state: State, cfg: CFG, made: Sequence[MadeSegment], loop_reentries: Sequence[Reentry]) -> None:
    """Give launchers that begin in loops their timing; ``made`` lists each site's launchers, the last called first."""
    if not is_measured(state.config):
        return
    sites, reentries = _by_loop(cfg, made), _by_loop(cfg, loop_reentries)
    launched: List[Union[MadeSegment, Reentry]] = [*made, *loop_reentries]
    passed = _passed_inside([one.captured.region for one in launched])
    for header, members in sites.items():
        clock = next((one.launcher for one in reversed(members) if one.captured.start not in passed), None)
        if clock is not None:
            timing = LoopTiming(_report_result(state, [one.kernel for one in members]), LIMIT_NS)
            clock.clock = True
            for one in members + reentries.get(header, []):
                one.launcher.timing = timing


def _by_loop(cfg: CFG, launched: Sequence[Any]) -> Dict[int, List[Any]]:
    """Segments by the header of the innermost loop that contains their start."""
    found: Dict[int, List[Any]] = {}
    for one in launched:
        loop = cfg.loop_of(one.captured.region.entry.version.block.index)
        if loop is not None:
            found.setdefault(loop.header, []).append(one)
    return found


def _passed_inside(regions: Iterable[Region]) -> Set[int]:
    """The instructions that a kernel may run without having begun there."""
    found: Set[int] = set()
    for region in regions:
        for region_block in region.blocks:
            found.update(range(region_block.start + (region_block is region.entry), region_block.end))
            found.update(region.entry.start for successor in region_block.successors.values()
                         if successor is region.entry)
    return found


def _report_result(state: State, kernels: List[Kernel]) -> Any:
    """The callback of a timing. It must not own the state, which leads to the launcher."""
    weak = weakref.ref(state)

    def on_result(lost: bool, compiled: int, plain: int) -> None:
        alive = weak()
        if alive is not None and lost:
            with _hook.disabled():
                alive.on_slow_loop(kernels, Break("PJ402", compiled=time_text(compiled), bytecode=time_text(plain)))

    return on_result
