"""Names of kernels: `f_1` is the first kernel of `f`, with the short name `k1` in all reports.

`pipeline` numbers the graphs after each capture. The numbers are assigned before anything is compiled, so the option
`interpret` means the same kernel in each run. `core/pipeline.py` calls it. It must number kernels before one is
compiled.
"""

from __future__ import annotations

from typing import Any, Dict, Set, Tuple

from pijit.core.capture.build.guards import launch_arguments, segment_program
from pijit.core.capture.build.segment import Captured
from pijit.core.capture.driver import Capture
from pijit.core.graph.kernel_key import graph_key
from pijit.core.graph.passes import Stages


class Numbering:
    """Numbers an entry's graphs that are to become kernels: from 1, capture by capture, in program order.

    A graph that an earlier capture also has, or that takes other operands off the stack, keeps the number 0.

    Arguments:
        name: the name of the function.
        alone: whether there is only one capture, which contains no graph twice.
        stages: the graphs after each pass, by name.
    """

    def __init__(self, name: str, alone: bool, stages: Stages) -> None:
        self._name = name.strip("<>")
        self._alone = alone
        self._stages = stages
        self._kernels = self._ways = 0
        self._known: Set[Any] = set()
        self._depths: Dict[int, Tuple[int, int]] = {}

    def add(self, result: Capture) -> None:
        """Number the graphs of the next capture."""
        names: Dict[str, str] = {}
        for candidate in result.candidates:
            captured = candidate.captured
            if candidate.error is None and captured is not None and not self._is_repeated(captured):
                self._kernels += 1
                names.update(captured.renamed("%s_%d" % (self._name, self._kernels), self._kernels))
        for candidate in result.reentries.values():
            captured = candidate.captured
            if captured is not None:
                self._ways += 1
                names.update(captured.renamed("%s_back_%d" % (self._name, self._ways), self._ways))
        renamed = {names.get(name, name): stages for name, stages in self._stages.items()}
        self._stages.clear()
        self._stages.update(renamed)

    def _is_repeated(self, captured: Captured) -> bool:
        if self._alone:
            return False
        depth = captured.depth, captured.entry_depth
        exits = tuple((e.target, e.locals, e.stack, e.side, e.poll, e.rest, e.given, e.deleted, e.empty)
                      for e in captured.graph.exits)
        guards = segment_program(captured, launch_arguments(captured)).guards
        key = captured.start, graph_key(captured.graph).unnamed, exits, guards
        if key in self._known or self._depths.setdefault(captured.start, depth) != depth:
            return True
        self._known.add(key)
        return False
