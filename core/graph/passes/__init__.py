"""Passes over a graph: their order, and a record of the graph after each of them.

Capture runs `run_passes`. Kernels that may never be needed, such as those of re-entries, run `improve` when compiled.
"""

from __future__ import annotations

import contextlib
import threading
from typing import Callable, Dict, Iterator, List, Optional, Tuple

from pijit.core.graph.ir import Graph
from pijit.core.graph.passes.compare_magnitude import compare_magnitudes
from pijit.core.graph.passes.cse_masks import share_masks
from pijit.core.graph.passes.eliminate_checks import eliminate_checks
from pijit.core.graph.passes.hoist_exits import hoist_exits
from pijit.core.graph.passes.hoist_sums import hoist_sums
from pijit.core.graph.passes.lower_precision import lower_precision
from pijit.core.graph.passes.merge_blocks import merge_blocks
from pijit.core.graph.passes.out_of_place import make_out_of_place
from pijit.core.graph.passes.rematerialize import rematerialize
from pijit.core.graph.passes.simplify import simplify
from pijit.core.graph.passes.store_to_load_forwarding import forward_stores
from pijit.core.graph.passes.strip_mining import mine_strips
from pijit.core.graph.printer import format_graph
from pijit.core.named_tuples import NamedTuple


class Stage(NamedTuple):
    """A graph's text without its name, after a pass that has changed it; the first stage is before all passes."""

    name: str
    text: str


Stages = Dict[str, List[Stage]]


def run_passes(graph: Graph, later: bool = False) -> List[int]:
    """Run all passes; the result is the numbers of the inputs that are left.

    With ``later``, `improve` does not run here; it runs when the graph's kernel is needed.
    """
    _note(graph, "before passes")
    kept = simplify(graph)
    _note(graph, "after simplify")
    if not later:
        improve(graph)
    return kept


def improve(graph: Graph) -> None:
    """Run the optimising passes."""
    for name, run in PASSES:
        run(graph)
        _note(graph, "after " + name)


PASSES: Tuple[Tuple[str, Callable[[Graph], None]], ...] = (
    ("lower_precision", lower_precision), ("compare_magnitude", compare_magnitudes), ("cse_masks", share_masks),
    ("out_of_place", make_out_of_place), ("rematerialize", rematerialize), ("hoist_exits", hoist_exits),
    ("eliminate_checks", eliminate_checks), ("store_to_load_forwarding", forward_stores),
    ("strip_mining", mine_strips), ("merge_blocks", merge_blocks), ("hoist_sums", hoist_sums))
"""Passes after `simplify`: inputs stay as they are, and an exit keeps the kinds of its values, or disappears."""


class _ThreadStages(threading.local):
    found: Optional[Stages] = None


_here = _ThreadStages()


@contextlib.contextmanager
def recorded(on: bool = True) -> Iterator[Stages]:
    """Record the stages of each graph that this thread builds, by its name; a rebuilt graph replaces its stages.

    If not ``on``, an outer call goes on recording, if there is one.
    """
    before = _here.found
    if on:
        _here.found = {}
    try:
        yield {} if _here.found is None else _here.found
    finally:
        _here.found = before


def _note(graph: Graph, name: str) -> None:
    found = _here.found
    if found is None or graph.name not in found and name != "before passes":
        return
    text = format_graph(graph).partition("\n")[2]
    stages = [] if name == "before passes" else found[graph.name]
    if not stages or stages[-1].text != text:
        found[graph.name] = stages + [Stage(name, text)]
