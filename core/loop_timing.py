"""Which launchers of linked code are measured against bytecode while a loop runs (the option perf_statistics).

Entries are measured by whole calls (`trials`); a call that runs for long is measured in its loops. The clock is
core/native/launcher/loop_timing.c's. What a loop of linked code costs is known from the time between arrivals at one of its
segments, if control arrives there as often when bytecode runs as when kernels do: none may pass it inside.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Sequence, Set

from pijit.core import _hook
from pijit.core._launcher import LoopTrial
from pijit.core.bytecode.analysis.blocks import CFG
from pijit.core.capture.analysis.regions import Region
from pijit.core.entry_timing import is_measured, time_text
from pijit.core.errors import Break
from pijit.core.kernel.compile import Kernel
from pijit.core.launch_sites import Made, Way

if TYPE_CHECKING:
    from pijit.core.pipeline import State

LIMIT_NS = 200000
"""Where more time lies between two arrivals, bytecode is not tried: it may take a thousand times as long."""


def measure_loops(state: State, cfg: CFG, made: Sequence[Made], ways: Sequence[Way]) -> None:
    """Give the launchers that begin in loops their trials; of one site, ``made`` has the one that is asked last first."""
    if not is_measured(state.config):
        return
    sites, reentries = _by_loop(cfg, made), _by_loop(cfg, ways)
    passed = _passed_inside([one.captured.region for one in [*made, *ways]])
    for header, members in sites.items():
        clock = next((one.launcher for one in reversed(members) if one.captured.start not in passed), None)
        if clock is not None:
            trial = LoopTrial(_verdict(state, [one.kernel for one in members]), LIMIT_NS)
            clock.clock = True
            for one in members + reentries.get(header, []):
                one.launcher.trial = trial


def _by_loop(cfg: CFG, launched: Sequence[Any]) -> Dict[int, List[Any]]:
    """Segments by the header of the innermost loop that they begin in."""
    found: Dict[int, List[Any]] = {}
    for one in launched:
        loop = cfg.loop_of(one.captured.region.head.version.block.index)
        if loop is not None:
            found.setdefault(loop.header, []).append(one)
    return found


def _passed_inside(regions: Iterable[Region]) -> Set[int]:
    """The instructions that a kernel may run without having begun there."""
    found: Set[int] = set()
    for region in regions:
        for piece in region.pieces:
            found.update(range(piece.start + (piece is region.head), piece.end))
            found.update(region.head.start for successor in piece.successors.values() if successor is region.head)
    return found


def _verdict(state: State, kernels: List[Kernel]) -> Any:
    """What a trial calls. It does not keep the state alive, which leads to the launcher."""
    weak = weakref.ref(state)

    def on_verdict(lost: bool, compiled: int, plain: int) -> None:
        alive = weak()
        if alive is not None and lost:
            with _hook.disabled():
                alive.on_slow_loop(kernels, Break("PJ402", compiled=time_text(compiled), bytecode=time_text(plain)))

    return on_verdict
